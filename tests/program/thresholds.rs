//! `evalcurve thresholds`: options for match runners, checked against a count of our own over the same games.

use std::collections::BTreeMap;

use evalcurve_testkit::attack::{Attack, csv as attack_csv};
use serde_json::Value;

use crate::material;
use crate::support::{Folder, Ran, csv};

/// Games that are played to the end: those that somebody else ended certify nothing.
fn games(count: u64) -> String {
    let mates = |text: String, result: &str, side: &str| {
        text.replace(&format!(" 1s}}\n{result}\n"), &format!(" 1s, {side} mates}}\n{result}\n"))
    };
    mates(mates(material::games(count), "1-0", "White"), "0-1", "Black")
}

/// A game: ply, whether White moves, and score of each position; and the result for White.
type Scored = (Vec<(u32, bool, i64)>, f64);

/// The scored positions of each game.
fn scored(folder: &Folder) -> Vec<Scored> {
    folder.good(&["sample", "games.pgn", "--window=1", "--from-ply", "1", "--out", "all.csv"]);
    let (head, rows) = csv(&folder.text("all.csv"));
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (game, ply, score, result) = (at("game"), at("ply"), at("score_cp"), at("result"));
    let mut all: BTreeMap<&str, Scored> = BTreeMap::new();
    for row in &rows {
        let ply: u32 = row[ply].parse().unwrap();
        let white = ply % 2 == 1;
        let own: f64 = row[result].parse().unwrap();
        let entry = all.entry(&row[game]).or_insert((Vec::new(), if white { own } else { 1.0 - own }));
        entry.0.push((ply, white, row[score].parse().unwrap()));
    }
    all.into_values().collect()
}

/// Games that resigning ends, and those of them that the side to resign did not lose.
fn count(games: &[Scored], moves: usize, score: i64) -> (u64, u64) {
    let (mut ended, mut turned) = (0, 0);
    for (scores, for_white) in games {
        // the first ply at which either side has `moves` low scores in a row
        let of_side = |white: bool| {
            let own: Vec<_> = scores.iter().filter(|s| s.1 == white).collect();
            own.windows(moves).find(|w| w.iter().all(|s| s.2 <= -score)).map(|w| (w[moves - 1].0, white))
        };
        let Some((_, white)) = [of_side(true), of_side(false)].into_iter().flatten().min() else { continue };
        ended += 1;
        turned += u64::from((if white { *for_white } else { 1.0 - *for_white }) != 0.0);
    }
    (ended, turned)
}

#[test]
fn options_say_what_they_would_have_done() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    let document: Value = serde_json::from_str(
        &folder.good(&["thresholds", "games.pgn", "--json", "--win-rate", "10", "--win-rate", "20"]).out,
    )
    .unwrap();
    let games = scored(&folder);
    assert_eq!((document["games"].as_u64().unwrap(), games.len()), (300, 300));
    let rules = document["resign"].as_array().unwrap();
    assert_eq!(rules.len(), 10, "{document:#}");
    for entry in rules {
        let rule = &entry["rule"];
        let number = |name: &str| rule[name].as_i64().unwrap();
        let found = (number("ended") as u64, number("turned") as u64);
        assert_eq!(found, count(&games, number("move_count") as usize, number("score_cp")), "{entry:#}");
        let option = format!("-resign movecount={} score={}", number("move_count"), number("score_cp"));
        assert_eq!(entry["option"], option);
    }
    assert!(rules.iter().any(|r| r["rule"]["ended"].as_u64() > Some(20)), "{document:#}");
    // the threshold is that of the engine whose scores are largest, rounded up
    let losing = document["engines"].as_array().unwrap().iter().filter(|e| e["percent"] == 20.0);
    let largest = losing.map(|e| -e["score_cp"].as_i64().unwrap()).max().unwrap();
    let used = rules.iter().find(|r| r["percent"] == 20.0).unwrap()["rule"]["score_cp"].as_i64().unwrap();
    assert!(used >= largest && used < largest + 10, "{used} {largest}");

    let ran = folder.good(&["thresholds", "games.pgn", "--win-rate", "40", "--draw-from", "5", "--move-count", "2"]);
    for part in ["score that wins              40%", "-resign movecount=2 score=", "wrong [95%]"] {
        assert!(ran.out.contains(part), "{}", ran.out);
    }
    let ran = folder.good(&["thresholds", "games.pgn", "--win-rate", "0.001", "--lang", "ja"]);
    let ran = ran.says(&["結果の変わる対局を 0.001% 以下にする引き分けのしきい値はありません"]);
    assert!(ran.out.contains("この勝率の評価値") && !ran.out.contains("score that"), "{}", ran.out);
    folder.good(&["thresholds", "games.pgn"]).says(&["300 of 300 games have no score from move 40 on, where draws"]);
    let ran = folder.good(&["thresholds", "games.pgn", "--win-rate", "0.001", "--quiet"]);
    ran.says(&["no threshold for draws turns at most 0.001% of the games at movecount 1, 2, 3, 5, 8"]);
}

#[test]
fn wrong_percentages_are_refused() {
    let folder = Folder::new();
    folder.write("games.pgn", games(30));
    for wrong in ["0", "50", "nan"] {
        let ran = folder.run(&["thresholds", "games.pgn", "--win-rate", wrong]).ends(2);
        ran.says(&["is not a percentage between 0 and 50"]);
    }
    folder.run(&["thresholds", "none.pgn"]).ends(2).says(&["none.pgn"]);
    folder.run(&["thresholds", "games.pgn", "--move-count", "0"]).ends(2).says(&["--move-count"]);
}

/// Where a share of the results follows no score, no score wins less than that share: the note says so, and what to do.
#[test]
fn engines_without_a_threshold_are_named_with_the_reason() {
    let folder = Folder::new();
    let flipped = |text: &str| text.replace("1-0", "x").replace("0-1", "1-0").replace('x', "0-1");
    let all = games(300).replace("[White", "\u{0}[White");
    let odd = |(i, game): (usize, &str)| if i % 8 == 0 { flipped(game) } else { game.to_owned() };
    let few = games(3).replace("\"A\"", "\"Rare\"");
    folder.write("games.pgn", all.split('\u{0}').enumerate().map(odd).collect::<String>() + &few);
    let thresholds = ["thresholds", "games.pgn", "--move-count", "2"];
    let ran = folder.good(&[&thresholds[..], &["--win-rate", "1"]].concat());
    let ran = ran.says(&[
        "A, B: up to ",
        "of the results are wins that follow no score, such as those on time; the scores are those that win so much of",
        "not calibrated, so without a score here: Rare",
    ]);
    // the scores of the games that follow them
    assert!(ran.out.contains("score that wins") && ran.out.contains("-resign movecount=2"), "{}", ran.out);
    let ran = folder.good(&[&thresholds[..], &["--win-rate", "1", "--model", "wdl"]].concat());
    assert!(!ran.err.contains("follow no score") && ran.out.contains("-resign movecount=2"), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("A: the scores are those at ply "), "{}", ran.err);
}

/// What to write comes first: of the rules that keep their promise the one that saves most.
#[test]
fn the_first_line_is_for_the_match_runner() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    let options = ["thresholds", "games.pgn", "--win-rate", "2", "--draw-from", "5"];
    let document: Value = serde_json::from_str(&folder.good(&[&options[..], &["--json"]].concat()).out).unwrap();
    let good = |rule: &&Value| {
        let rule = &rule["rule"];
        let ended = rule["ended"].as_u64().unwrap();
        ended >= 20 && rule["move_count"].as_u64() >= Some(3) && 50 * rule["turned"].as_u64().unwrap() <= ended
    };
    let saved = |rule: &&Value| (1e9 * rule["rule"]["saved"].as_f64().unwrap()) as u64;
    let mut lines = Vec::new();
    for kind in ["resign", "draw"] {
        let best = document[kind].as_array().unwrap().iter().filter(good).max_by_key(saved);
        let Some(best) = best else {
            assert!(document["recommended"][kind].is_null(), "{document:#}");
            continue;
        };
        let of_best =
            document[kind].as_array().unwrap().iter().filter(|r| r["option"] == document["recommended"][kind]);
        assert!(of_best.clone().all(|r| saved(&r) == saved(&best)) && of_best.count() > 0, "{document:#}");
        lines.push(document["recommended"][kind].as_str().unwrap().to_owned());
    }
    assert!(!lines.is_empty(), "{document:#}");
    let out = folder.good(&options).out;
    for (line, option) in out.lines().zip(&lines) {
        assert!(line.starts_with(&format!("for the match runner: {option} (ends ")), "{out}");
    }
    let few = folder.good(&["thresholds", "games.pgn", "--win-rate", "0.001"]).out;
    assert!(few.starts_with("for the match runner: no option, as too few of these games"), "{few}");
}

/// A rule is certified with the bound of Clopper and Pearson over all games, and held against a count of our own; or
/// the number of games that would do is named, and the exit code is 3.
#[test]
fn a_bound_is_kept_or_cannot_be_told() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    let run = |more: &[&str]| folder.run(&[&["thresholds", "games.pgn", "--draw-from", "5"], more].concat());
    let document: Value = serde_json::from_str(&run(&["--most-wrong", "10%", "--json"]).ends(0).out).unwrap();
    let scored = scored(&folder);
    let rules = document["certified"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 3, "{document:#}");
    let mut certified = 0;
    for entry in rules {
        let Some(rule) = entry["rule"].get("rule") else {
            assert_eq!(entry["rule"]["cannot_tell"]["games"], 300, "{entry:#}");
            continue;
        };
        let applied = &entry["rule"]["applied"];
        let [ended, turned] = ["ended", "turned"].map(|name| applied[name].as_u64().unwrap());
        if rule["kind"] == "resign" {
            let [moves, score] = ["move_count", "score_cp"].map(|name| rule[name].as_i64().unwrap());
            assert_eq!((ended, turned), count(&scored, moves as usize, score), "{entry:#}");
        }
        let upper = entry["rule"]["upper"].as_f64().unwrap();
        assert!(upper > turned as f64 / 300.0 && upper <= 0.1, "{entry:#}");
        assert!(!entry["options"].as_array().unwrap().is_empty());
        certified += 1;
    }
    assert!(certified > 0, "{document:#}");
    let ran = run(&["--most-wrong", "1/10"]).ends(0);
    for words in ["at most 1000.0/10000 games end wrongly, with 95% confidence", "    fastchess, cutechess  -", "≤ "]
    {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    // ln(0.05) / ln(1 - 1/10000), and as many more for two kinds of rules
    let ran = run(&["--most-wrong", "1/10000"]).ends(3);
    assert!(ran.out.contains("cannot tell: the most cautious rule ends "), "{}", ran.out);
    for wrong in ["0", "2", "1/0", "x", "60%"] {
        run(&["--most-wrong", wrong]).ends(2).says(&["is not a share of games; write 1/10000"]);
    }
}

/// Results that the scores made say nothing of errors: neither those of games that somebody adjudicated, as the record
/// says, nor those of games that end where the scores end games.
#[test]
fn games_that_the_scores_ended_certify_nothing() {
    let folder = Folder::new();
    let all = games(300);
    folder.write("games.pgn", &all);
    let run = |file: &str| folder.run(&["thresholds", file, "--draw-from", "5", "--most-wrong", "20%", "--json"]);
    let certified = |document: &Value| {
        let rules = document["certified"]["rules"].as_array().unwrap();
        rules.iter().filter(|rule| rule["rule"].get("rule").is_some()).count()
    };
    let read = |ran: Ran| -> Value { serde_json::from_str(&ran.out).unwrap() };
    let document = read(run("games.pgn").ends(0));
    assert_eq!((&document["ended_by_scores"], certified(&document) > 0), (&0.into(), true), "{document:#}");
    // two of three by the tag
    let parts = all.split("[White \"A\"]").skip(1).enumerate();
    let tag = |i: usize| if !i.is_multiple_of(3) { "[Termination \"adjudication\"]\n" } else { "" };
    let tagged: String = parts.map(|(i, game)| format!("{}[White \"A\"]{game}", tag(i))).collect();
    folder.write("tagged.pgn", tagged);
    let document = read(run("tagged.pgn").ends(3));
    assert_eq!((&document["games"], &document["ended_by_scores"]), (&100.into(), &200.into()));
    let reasons = document["certified"]["rules"].as_array().unwrap();
    assert!(reasons.iter().all(|rule| rule["rule"]["cannot_tell"]["games"] == 100), "{document:#}");
    let text = folder.run(&["thresholds", "tagged.pgn", "--draw-from", "5", "--most-wrong", "20%"]).ends(3);
    let text = text.says(&["200 of 300 games were adjudicated, as the records say", "100 games remain"]);
    assert!(text.out.starts_with("no rule is known to end at most 2000.0/10000 games wrongly"), "{}", text.out);
    assert!(text.out.contains("100 games with scores were played out; 200 were adjudicated"), "{}", text.out);
    // by the shape of the ends, without a tag
    let mut attack = Attack::clean(4, 300, 81);
    attack.adjudicated = Some(300.0);
    folder.write("cut.csv", attack_csv(&attack.samples(0)).replace(",adjudication\n", ",resignation\n"));
    let document = read(run("cut.csv").ends(3));
    assert!(document["ended_by_scores"].as_u64() > Some(200), "{}", document["ended_by_scores"]);
    let text = folder.run(&["thresholds", "cut.csv", "--draw-from", "5"]).ends(3);
    assert!(text.out.starts_with("for the match runner: no option"), "{}", text.out);
}
