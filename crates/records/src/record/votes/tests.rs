use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::record::ANNOUNCED_MATE_CP;
use crate::record::format::remove_marks;
use crate::sample::SamplingOptions;
use crate::sample::sampler::{annotator, usable};

const HEADER: &str = "{\"format\":\"evalcurve-votes\",\"version\":1,\"tool\":{\"name\":\"evalcurve\",\"versio\
    n\":\"0.1.0\"},\"voters\":[]}";

fn decision(id: &str, ply: u32, side: &str, votes: serde_json::Value, played: &str) -> String {
    json!({ "game_id": id, "ply": ply, "position": "startpos moves 7g7f", "side": side, "time_ms": 5, "votes": votes,
            "decision": null, "played": played })
    .to_string()
}

fn vote(voter: &str, score: serde_json::Value) -> serde_json::Value {
    json!({ "voter": voter, "move": "2g2f", "score": score, "list": [{"move": "2g2f", "score": 1}], "time_ms": 3 })
}

fn end(id: &str, word: &str, side: &str, ply: u32) -> String {
    json!({ "game_id": id, "end": word, "side": side, "ply": ply }).to_string()
}

/// Three games: White wins by a mate, one without a result, Black resigns.
fn log() -> String {
    let bound = json!({ "voter": "B", "move": "2g2f", "score": 99, "bound": "lower" });
    let silent = json!({ "voter": "A", "fault": "no answer in time" });
    let book = json!({ "voter": "B", "move": "3c3d" });
    [
        HEADER.to_owned(),
        decision("1", 2, "white", json!([vote("A", json!(10)), book]), "3c3d"),
        // a change of the rule: the game goes on
        HEADER.to_owned(),
        decision("1", 4, "white", json!([vote("A", json!(-20)), bound]), "2g2f"),
        // an answer to a move that was not played, and the move to which an answer was needed
        decision("1", 6, "white", json!([vote("A", json!(5000)), vote("B", json!(5000))]), "2g2f"),
        decision("1", 6, "white", json!([silent, vote("B", json!("mate 3"))]), "2g2f"),
        decision("1", 8, "white", json!([vote("A", json!(7000)), vote("B", json!(7000))]), "2g2f"),
        end("1", "win", "white", 6),
        String::new(),
        decision("2", 1, "black", json!([vote("A", json!(1.6))]), "2g2f"),
        decision("3", 1, "black", json!([vote("C", json!("mate -")), vote("A", json!("mate -7"))]), "2g2f"),
        decision("3", 3, "black", json!([vote("A", json!(-3000))]), "resign"),
        end("3", "loss", "black", 3),
    ]
    .map(|line| line + "\n")
    .concat()
}

fn games(text: &[u8]) -> Vec<Result<Game, SkipReason>> {
    FORMAT.games(text, &Above::default()).map(|read| read.map_err(|error| error.reason)).collect()
}

fn scores(game: &Game) -> Vec<(u32, i32, bool)> {
    game.scores.iter().map(|s| (s.ply, s.score_cp, s.mate)).collect()
}

#[test]
fn a_game_is_read_once_for_each_member() {
    let all: Vec<Game> = games(log().as_bytes()).into_iter().map(Result::unwrap).collect();
    let found: Vec<_> =
        all.iter().map(|g| (g.annotator.as_str(), scores(g), g.black_outcome, g.line, g.plies)).collect();
    let (loss, mate) = (Some(Outcome::Loss), ANNOUNCED_MATE_CP);
    assert_eq!(
        found,
        [
            ("A", vec![(2, 10, false), (4, -20, false)], loss, 1, 6),
            // no bound, no move without a score, nothing after the end
            ("B", vec![(6, mate, true)], loss, 1, 6),
            ("A", vec![(1, 2, false)], None, 9, 1),
            ("C", vec![(1, -mate, true)], loss, 10, 2),
            ("A", vec![(1, -mate, true), (3, -3000, false)], loss, 10, 2),
        ]
    );
    assert_eq!(all[0].scores[1].line, 3);
    assert_eq!(all[1].book_moves, 1);
    let ids: std::collections::BTreeSet<u64> = all.iter().map(|g| g.id).collect();
    // the games of the log, whatever the number of members
    assert_eq!(ids.len(), 3);
    let endings = [Termination::Unknown, Termination::Resignation].map(Some);
    assert_eq!([all[0].termination, all[3].termination], endings);
    let options = SamplingOptions::default();
    assert_eq!(usable(&all[0], &options), Ok(Outcome::Loss));
    assert_eq!(usable(&all[2], &options), Err(SkipReason::UnknownResult));
    // the name of another analysis is not a member's
    let named = SamplingOptions { annotator: Some("X".to_owned()), ..options };
    assert_eq!(annotator(&all[1], &named), Some("B"));
}

#[test]
fn logs_with_a_byte_order_mark_can_be_joined() {
    let marked = format!("\u{feff}{}", log());
    let mut twice = format!("{marked}{marked}").into_bytes();
    let length = remove_marks(&mut twice, 0);
    let twice = games(&twice[..length]);
    assert_eq!(twice.len(), 2 * games(log().as_bytes()).len());
    assert!(twice.iter().flatten().all(|game| game.oddities.is_empty()), "{twice:?}");
}

#[test]
fn votes_carry_declared_rates() {
    let vote = json!([{ "voter": "A", "move": "e2e4", "score": 30, "wdl": [80, 900, 20], "win_rate": 0.53 }]);
    let line = decision("1", 1, "white", vote, "e2e4").replace("startpos moves 7g7f", "startpos");
    let log = [HEADER, &line, &end("1", "win", "white", 1)].map(|line| line.to_owned() + "\n").concat();
    let all = games(log.as_bytes());
    let game = all[0].as_ref().unwrap();
    assert_eq!(game.scores[0].declared.map(|rates| rates.to_string()).as_deref(), Some("80 900 20"));
    assert!(game.chess);
    assert!(games(super::tests::log().as_bytes()).iter().all(|game| !game.as_ref().unwrap().chess));
}

#[test]
fn content_identifies_a_log_of_this_version() {
    assert!(Format::detect(log().as_bytes()) == Some(&FORMAT));
    assert_eq!(Format::detect(log().as_bytes()), Some(&FORMAT));
    assert!(Format::detect(format!("\u{feff}{HEADER}").as_bytes()) == Some(&FORMAT));
    assert_eq!(version(HEADER.replace("\"version\":1", "\"version\": 12").as_bytes()), Some(12));
    for other in ["", "{}", "{\"format\":\"evalcurve-calibration\",\"version\":1}", "evalcurve-votes \"version\":1"] {
        assert!(Format::detect(other.as_bytes()) != Some(&FORMAT), "{other}");
    }
}

#[test]
fn a_position_in_the_middle_of_a_game_counts_on() {
    let line = decision("1", 1, "white", json!([vote("A", json!(5))]), "3c3d");
    let line =
        line.replace("startpos moves 7g7f", "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 12");
    assert_eq!(games(line.as_bytes())[0].as_ref().unwrap().plies_before, 11);
}

#[test]
fn a_line_that_cannot_be_read_costs_itself() {
    let text = log();
    let bad = text.replacen("\"score\":-20", "\"score\":\"mate soon\"", 1);
    let game = games(bad.as_bytes()).remove(0).unwrap();
    assert_eq!((scores(&game), game.oddities[0].kind), (vec![(2, 10, false)], OddityKind::UnreadableScore));
    let bad = text.replacen("\"ply\":4", "\"ply\":-4", 1);
    let all = games(bad.as_bytes());
    assert_eq!(all.len(), 5);
    let odd: Vec<_> = all.iter().flatten().flat_map(|g| &g.oddities).map(|o| (o.kind, o.line)).collect();
    assert_eq!(odd, [(OddityKind::UnknownStatement, 3)]);
    // a line that is both, or neither
    let neither = "{\"game_id\":\"1\",\"ply\":1,\"side\":\"black\"}";
    assert_eq!(games(neither.as_bytes()), [Err(SkipReason::BrokenRecord)]);
    // an end alone is a game without moves
    let alone = games(end("9", "draw", "black", 3).as_bytes()).remove(0).unwrap();
    assert_eq!((alone.plies, alone.black_outcome), (0, Some(Outcome::Draw)));
}

#[test]
fn a_game_has_few_voters() {
    let votes = |from: usize, to: usize| (from..to).map(|i| vote(&format!("v{i}"), json!(i))).collect();
    let line = |id: &str, ply: u32, from: usize, to: usize| decision(id, ply, "white", votes(from, to), "2g2f");
    let read = |lines: &[String]| games((lines.join("\n") + "\n").as_bytes());
    let most = read(&[line("1", 2, 0, 60), line("1", 4, 40, MOST_VOTERS), end("1", "win", "white", 4)]);
    assert_eq!(most.iter().flatten().count(), MOST_VOTERS);
    let more =
        [line("1", 2, 0, 60), line("1", 4, 40, MOST_VOTERS + 1), end("1", "win", "white", 4), line("2", 2, 0, 1)];
    let all = read(&more);
    assert_eq!((all.len(), all[0].as_ref().err(), all[1].is_ok()), (2, Some(&SkipReason::BrokenRecord), true));
    let error = FORMAT.games(more.join("\n").as_bytes(), &Above::default()).next().unwrap().unwrap_err();
    assert_eq!((error.line, error.value.as_str()), (1, "more than 100 voters in one game; a council has at most 100"));
}

#[test]
fn blocks_end_where_games_do() {
    let text = log();
    let bytes = text.as_bytes();
    let whole: Vec<_> = games(bytes).into_iter().flatten().map(|g| (g.id, g.scores.len())).collect();
    for at in 0..=bytes.len() {
        let Some(cut) = FORMAT.last_boundary(&bytes[..at]) else { continue };
        assert!(cut > 0 && cut <= at && bytes[cut - 1] == b'\n');
        let parts = games(&bytes[..cut]).into_iter().chain(games(&bytes[cut..])).flatten();
        assert_eq!(parts.map(|g| (g.id, g.scores.len())).collect::<Vec<_>>(), whole, "cut at {cut}");
    }
    assert_eq!(FORMAT.last_boundary(bytes), Some(bytes.len()));
}

#[test]
fn unreadable_lines_bound_no_game() {
    let of = |id: &str, ply: u32| decision(id, ply, "white", json!([vote("A", json!(10))]), "3c3d");
    for unreadable in [
        // words that are no results, a ply that is no number, an end in a header
        end("1", "lossn", "white", 4),
        of("2", 3).replace("\"ply\":3", "\"ply\":\"x\""),
        end("1", "loss", "white", 4).replace('{', "{\"format\":\"evalcurve-votes\",\"version\":1,"),
    ] {
        let text = [HEADER, &of("1", 2), &unreadable, &of("1", 4), ""].join("\n");
        let whole = games(text.as_bytes());
        assert_eq!((whole.len(), whole[0].as_ref().map(|g| g.scores.len())), (1, Ok(2)), "{unreadable}");
        assert_eq!(FORMAT.last_boundary(text.as_bytes()), None, "{unreadable}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        games(&bytes);
        let _ = Format::detect(&bytes);
        FORMAT.last_boundary(&bytes);
    }

    /// Lines in any order, cut anywhere: nothing panics, and plies grow.
    #[test]
    fn any_lines_are_read(places in proptest::collection::vec((0usize..13, 0usize..400), 0..20)) {
        let text = log();
        let lines: Vec<&str> = text.lines().collect();
        let mut all = Vec::new();
        for (line, cut) in places {
            let line = lines[line].as_bytes();
            all.extend(&line[..cut.min(line.len())]);
            all.push(b'\n');
        }
        FORMAT.last_boundary(&all);
        for game in games(&all).into_iter().flatten() {
            prop_assert!(game.scores.windows(2).all(|w| w[0].ply < w[1].ply));
        }
    }

    /// A changed byte in the first game leaves the last as it was, and a cut one leaves the first.
    #[test]
    fn one_changed_byte_costs_one_game(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let text = log();
        let whole = games(text.as_bytes());
        let first_end = text.find("\n\n").unwrap();
        let mut changed = text.clone().into_bytes();
        changed[at.index(first_end)] = byte;
        let read = games(&changed);
        let last = |games: &[Result<Game, SkipReason>]| {
            let game = games.last().unwrap().as_ref().unwrap();
            (game.id, game.annotator.clone(), scores(game), game.black_outcome)
        };
        prop_assert_eq!(last(&read), last(&whole));
        let cut = first_end + 1 + at.index(text.len() - first_end - 1);
        let read = games(&text.as_bytes()[..cut]);
        prop_assert_eq!(&read[..2], &whole[..2]);
    }
}
