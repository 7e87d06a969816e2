use evalcurve_calibration::types::Termination;
use proptest::prelude::*;

use super::*;
use crate::record::{ANNOUNCED_MATE_CP, Format};

/// Reads all games of a text; errors come as they are.
fn read(text: &[u8]) -> Vec<Result<Game, GameError>> {
    let mut games = FORMAT.games(text, &Above::default());
    let mut all = Vec::new();
    loop {
        let before = games.place().offset;
        let Some(read) = games.next() else { break };
        all.push(read);
        assert!(games.place().offset > before, "no progress at {before}");
    }
    let end = Cursor { offset: text.len(), line: memchr::memchr_iter(b'\n', text).count() as u64 };
    assert_eq!(games.place(), end);
    all
}

fn one(text: &str) -> Game {
    let games = read(text.as_bytes());
    assert_eq!(games.len(), 1, "{text}: {games:?}");
    games.into_iter().next().and_then(Result::ok).unwrap_or_else(|| panic!("unreadable: {text}"))
}

fn scores(game: &Game) -> Vec<(u32, Color, i32)> {
    game.scores.iter().map(|s| (s.ply, s.color, s.score_cp)).collect()
}

/// As cutechess writes: wrapped at 80 columns, also inside a comment.
const CUTECHESS: &str = r#"[Event "Test match"]
[Site "?"]
[Date "2024.01.14"]
[Round "3"]
[White "Tofu 1.0"]
[Black "Natto \"x\" 2"]
[Result "0-1"]
[GameStartTime "2024-01-14T17:51:36.458 CST"]
[PlyCount "8"]
[TimeControl "53.596+0.536"]
[WhiteElo "2900"]
[BlackElo "3100.5"]

1. e4 {book} e5 {book} 2. Nf3 {+0.35/16 0.57s} Nc6 {-0.60/15 0.57s}
3. Bc4 {0.00/17 0.27s} Nf6 {+0.25/14
0.81s} 4. Ng5 {-M4/15 0.26s} Bxf2+ {+M3/14 0.12s, White loses on time} 0-1

"#;

#[test]
fn another_minus_is_a_minus() {
    let ascii = one(CUTECHESS);
    for minus in ["\u{2212}", "\u{ff0d}", "\u{2013}"] {
        let other = one(&CUTECHESS.replace("{-", &format!("{{{minus}")));
        assert_eq!(other.scores, ascii.scores, "{minus}");
        assert_eq!((other.unread, other.unread_comment), (0, None));
    }
    let tcec = one(&TCEC.replace("wv=-", "wv=\u{2212}"));
    assert_eq!(tcec.scores, one(TCEC).scores);
}

#[test]
fn comments_to_the_end_of_the_line_hold_scores_too() {
    let text = "[White \"a\"]\n\n1. e4 ; +0.35/16 0.57s\r\n1... e5 ; -0.60/15\n2. Nf3 ; good\n2... Nc6 {0.10/9} 1-0\n";
    assert_eq!(scores(&one(text)), [(1, Color::White, 35), (2, Color::Black, -60), (4, Color::Black, 10)]);
}

#[test]
fn comments_that_look_like_scores_are_counted() {
    let comments =
        ["+0.35/16 1s", "0,47/14 1s", "eval: 35", "[%eval 47,22]", "book", "0.00/0", "good", "12 Nf3", "-x/3"];
    let moves = "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6".split(' ');
    let moves: Vec<String> = moves.zip(comments).map(|(san, comment)| format!("{san} {{{comment}}}")).collect();
    let game = one(&format!("[White \"a\"]\n\n{} *\n", moves.join("\n")));
    let first = UnreadComment { line: 3, value: "0,47/14 1s".to_owned() };
    assert_eq!((game.scores.len(), game.unread, game.unread_comment), (1, 4, Some(first)));
    // values alone in a game with other comments
    let game = one("[White \"a\"]\n\n1. e4 {+0.35} e5 {-0.20}\n2. Nf3 {better was Nc3} Nc6 {0.10} *\n");
    let first = UnreadComment { line: 2, value: "+0.35".to_owned() };
    assert_eq!((game.scores.len(), game.unread, game.unread_comment), (0, 3, Some(first)));
    // what lichess and players say in words
    let game = one("[White \"a\"]\n\n1. e4 {(0.12 → 0.75) Inaccuracy.} e5 {[%emt 0.5]} 2. Nf3 {+0.1/3} *\n");
    assert_eq!((game.scores.len(), game.unread, game.unread_comment), (1, 0, None));
}

/// As TCEC writes: a move a line, White's view.
const TCEC: &str = r#"[Event "Test season"]
[Site "https://example.org"]
[Date "2025.03.31"]
[Round "1.1"]
[White "Tofu"]
[Black "Natto"]
[Result "1-0"]
[BlackElo "2217"]
[TerminationDetails "White mates"]
[TimeControl "1800+3"]
[WhiteElo "2950"]

{WhiteEngineOptions: Protocol=uci; Threads=256;, BlackEngineOptions: Protocol=uci;}
1. d4 {book, mb=+0+0+0+0+0,} d5 {d=1, sd=1, mt=58184, n=0, pv=, tb=null, wv=0.00, R50=50, mb=+0+0+0+0+0,}
2. c4 {d=64, sd=64, mt=119830, pv=c4 e6, tb=null, wv=0.09, R50=50, mb=+0+0+0+0+0,}
e6 {d=24, sd=30, mt=1, pv=e6, tb=null, wv=-1.25, R50=50, mb=+0+0+0+0+0,}
3. Nc3 {d=1, sd=1, pv=Nc3, wv=M12, R50=49, mb=+0+0+0+0+0,}
Qh4 {d=30, sd=1, pv=Qh4, wv=#5, R50=49, mb=+0+0+0+0+0, White mates}
1-0

"#;

/// As lichess writes: an analysis of the position after the move.
const LICHESS: &str = r#"[Event "Rated Blitz game"]
[Site "https://lichess.org/abcdefgh"]
[Date "2025.05.01"]
[Round "-"]
[White "aoi"]
[Black "kuro"]
[Result "1/2-1/2"]
[UTCDate "2025.05.01"]
[UTCTime "00:00:06"]
[WhiteElo "1028"]
[BlackElo "?"]
[TimeControl "-"]
[Termination "Normal"]

1. e4 { [%eval 0.25] [%clk 0:05:00] } 1... e5?! $6 { [%eval -0.31] [%clk 0:05:00] }
( 1... c5 { better [%eval 9.9] } (1... e6) )
2. Nf3 { [%clk 0:05:01] } 2... f6?? { [%eval #3] } 3. Nxe5 { [%eval #-2] } 1/2-1/2

"#;

#[test]
fn cutechess_is_read_in_the_view_of_the_mover() {
    use Color::{Black, White};
    let game = one(CUTECHESS);
    assert_eq!(game.names, ["Natto \"x\" 2", "Tofu 1.0"]);
    assert_eq!(game.ratings, [Some(3100.5), Some(2900.0)]);
    assert_eq!(game.time_control, "53.596+0.536");
    assert_eq!(game.start_time.map(|t| t.to_string()).as_deref(), Some("2024-01-14T17:51:36"));
    let mate = ANNOUNCED_MATE_CP;
    assert_eq!(
        scores(&game),
        [(3, White, 35), (4, Black, -60), (5, White, 0), (6, Black, 25), (7, White, -mate), (8, Black, mate)]
    );
    assert!(game.scores.iter().all(|s| s.mate == (s.score_cp.abs() == mate) && !s.analysis));
    assert_eq!((game.scores[0].line, game.scores[3].line, game.scores[5].line), (13, 14, 15));
    assert_eq!((game.plies, game.book_moves, game.plies_before), (8, 2, 0));
    assert_eq!(game.termination, Some(Termination::TimeUp));
    assert_eq!(game.outcome_for(White), Some(Outcome::Loss));
    assert_eq!(game.outcome_for(Black), Some(Outcome::Win));
    assert!(game.oddities.is_empty(), "{:?}", game.oddities);
}

#[test]
fn chessbase_is_read_in_the_view_of_white() {
    let game = |annotator: &str, first: &str| {
        format!(
            "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n{annotator}\n1. e4 {{B 0}} c5 {{{first}}} \
             2. Nf3 {{0.41/20 329}} d6 {{0.44/\n30 350 (Nc6)}} 3. d4 {{0.\n64/30 246}} cxd4 {{0.52/30 9}} 1-0\n"
        )
    };
    let scores = |text: &str| scores(&one(text));
    use Color::{Black, White};
    let rest = [(3, White, 41), (4, Black, -44), (5, White, 64), (6, Black, -52)];
    let expected: Vec<_> = [&[(2, Black, -30)], &rest[..]].concat();
    assert_eq!(scores(&game("[Annotator \"0.41;0.44\"]\n", "0.30/20 12")), expected);
    // the first expected reply turns the scores above it
    assert_eq!(scores(&game("", "0.30/20 12")), expected);
    // without tag and reply, the mover's
    let text = game("", "0.30/20 12").replace(" (Nc6)", "");
    assert_eq!(scores(&text)[0], (2, Black, 30));
    // comments of cutechess in a game with that tag stay the mover's
    assert_eq!(scores(&game("[Annotator \"0.41;0.44\"]\n", "+0.30/20 1.2s"))[0], (2, Black, 30));
}

#[test]
fn tcec_is_read_in_the_view_of_white() {
    use Color::{Black, White};
    let game = one(TCEC);
    let mate = ANNOUNCED_MATE_CP;
    assert_eq!(scores(&game), [(3, White, 9), (4, Black, 125), (5, White, mate), (6, Black, -mate)]);
    assert_eq!((game.plies, game.book_moves), (6, 1));
    assert_eq!((game.termination, game.outcome_for(White)), (Some(Termination::Checkmate), Some(Outcome::Win)));
}

#[test]
fn lichess_is_an_analysis_of_what_comes_next() {
    use Color::{Black, White};
    let game = one(LICHESS);
    let mate = ANNOUNCED_MATE_CP;
    assert_eq!(scores(&game), [(2, Black, -25), (3, White, -31), (5, White, mate), (6, Black, mate)]);
    assert!(game.scores.iter().all(|s| s.analysis));
    assert_eq!(game.start_time.map(|t| t.to_string()).as_deref(), Some("2025-05-01T00:00:06"));
    assert_eq!((game.ratings, game.time_control.as_str()), ([None, Some(1028.0)], ""));
    assert_eq!((game.plies, game.termination), (5, Some(Termination::Draw)));
    let options = crate::sample::SamplingOptions::default();
    assert_eq!(crate::sample::sampler::usable(&game, &options), Err(SkipReason::AnalysisWithoutEngine));
}

#[test]
fn a_fen_sets_the_side_to_move_and_the_number() {
    let fen = |fen: &str, moves: &str| format!("[White \"a\"]\n[FEN \"{fen}\"]\n[Result \"1-0\"]\n\n{moves} 1-0\n");
    let board = "rnbqkb1r/p2ppppp/2p4n/1p6/4P3/3P1Q2/PPP2PPP/RNB1KBNR";
    for (rest, moves, before) in [
        ("b KQkq - 0 4", "4... g6 {+0.10/9 1s} 5. h4 {+0.20/9 1s}", 7),
        // cutechess numbers from 1 whatever the FEN gives
        ("b KQkq - 0 4", "1... g6 {+0.10/9 1s} 2. h4 {+0.20/9 1s}", 7),
        ("b KQkq - 0 4", "1. ... g6 {+0.10/9 1s} 2. h4 {+0.20/9 1s}", 7),
        ("b KQkq -", "g6 {+0.10/9 1s} h4 {+0.20/9 1s}", 1),
        ("b KQkq - 0 0", "1... g6 {+0.10/9 1s} h4 {+0.20/9 1s}", 1),
    ] {
        let game = one(&fen(&format!("{board} {rest}"), moves));
        assert_eq!(scores(&game), [(1, Color::Black, 10), (2, Color::White, 20)], "{rest}");
        assert_eq!(game.plies_before, before, "{rest}");
    }
    let white = one(&fen(&format!("{board} w KQkq - 0 4"), "1. h4 {+0.20/9 1s}"));
    assert_eq!((scores(&white), white.plies_before), (vec![(1, Color::White, 20)], 6));
    let text = fen("8/8 w - - 0 1", "1. h4") + CUTECHESS;
    let games = read(text.as_bytes());
    assert_eq!(games[0].as_ref().err().map(|e| (e.reason, e.line)), Some((SkipReason::BrokenPosition, 1)));
    assert_eq!(games[1].as_ref().map(|g| g.id), Ok(one(CUTECHESS).id));
}

#[test]
fn line_ends_and_a_byte_order_mark_do_not_matter() {
    for text in [CUTECHESS, TCEC, LICHESS] {
        let lf = one(text);
        let crlf = text.replace('\n', "\r\n");
        let last = text.trim_end();
        for other in [&crlf, last, &format!("\u{feff}{text}"), &format!("\n\n% escape [Event \"x\"]\n; note\n{text}")] {
            let game = one(other);
            assert_eq!((game.id, scores(&game)), (lf.id, scores(&lf)));
            assert_eq!(
                (&game.names, game.black_outcome, game.termination),
                (&lf.names, lf.black_outcome, lf.termination)
            );
            assert!(game.oddities.is_empty(), "{:?}", game.oddities);
        }
    }
}

#[test]
fn what_is_not_the_game_is_passed_over() {
    let plain = one("1. e4 e5 2. Nf3 {+0.20/9 1s} Nc6 *\n");
    for text in [
        "1. e4 e5 (1... c5 2. Nf3 {+9.99/9 (} (2. c3) d6) 2. Nf3 {+0.20/9 1s} Nc6 *\n",
        "1.e4 e5 2.Nf3{+0.20/9 1s}Nc6*\n",
        "1. e4! e5?! $1 $146 2. Nf3!! $10 {+0.20/9 1s} Nc6 +- = \u{b1} *\n",
        "1. e4 e5 ; 2. d4 {+9.99/9 1s}\n2. Nf3\n% 7. h4 {+9.99/9 1s}\n{+0.20/9 1s} Nc6 *\n",
        "1 e4 e5 2 Nf3 {+9.99/9 1s} {+0.20/9 1s} Nc6 *\n",
        "1. e4 ( {open (} ; ) still open\n 1. d4 ) e5 2. Nf3 {[%clk 0:01:00]} {+0.20/9 1s} Nc6 *\n",
    ] {
        let game = one(text);
        assert_eq!((scores(&game), game.plies, game.id), (scores(&plain), 4, plain.id), "{text}");
        assert!(game.oddities.is_empty(), "{text}: {:?}", game.oddities);
    }
}

#[test]
fn the_same_moves_are_the_same_game() {
    let id = |text: &str| one(text).id;
    let plain = id("1. e4 d5 2. exd5 O-O 3. e8=Q+ Nbxd2 *");
    assert_eq!(plain, id("1. e4 d5 2. ed5 0-0 3. e8Q Nbd2# *"));
    assert_eq!(
        plain,
        id("[SetUp \"1\"]\n[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\"]\n\n1. e4 d5 exd5 O-O \
            e8=q Nbxd2\n")
    );
    assert_ne!(plain, id("1. e4 d5 2. exd5 O-O-O 3. e8=Q+ Nbxd2 *"));
    assert_ne!(plain, id("1. e4 d5 2. exd5 O-O 3. e8=R+ Nbxd2 *"));
    assert_ne!(plain, id("1. e4 d5 2. exd5 O-O 3. e8=Q+ N1xd2 *"));
    for change in [("\"3\"", "\"4\""), ("Tofu", "Tofuu"), ("17:51:36", "17:51:37"), ("2. Nf3", "2. Nc3")] {
        assert_ne!(id(CUTECHESS), id(&CUTECHESS.replace(change.0, change.1)), "{change:?}");
    }
    // what somebody wrote beside the game is not the game
    assert_eq!(id(CUTECHESS), id(&CUTECHESS.replace("Test match", "x").replace("+0.35/16", "+0.99/1")));
}

#[test]
fn results_and_how_they_came_about() {
    let game = |tags: &str, end: &str| one(&format!("{tags}\n\n1. e4 e5 2. Nf3 {end}\n"));
    let white = |g: &Game| g.outcome_for(Color::White);
    for (tags, end, outcome) in [
        ("[Result \"1-0\"]", "1-0", Some(Outcome::Win)),
        ("[Result \"*\"]", "0-1", Some(Outcome::Loss)),
        ("[White \"a\"]", "1/2-1/2", Some(Outcome::Draw)),
        ("[Result \"1/2\"]", "*", Some(Outcome::Draw)),
        ("[Result \"0-1\"]", "", Some(Outcome::Loss)),
        ("[Result \"*\"]", "*", None),
        ("[White \"a\"]", "", None),
        // they contradict each other
        ("[Result \"1-0\"]", "0-1", None),
    ] {
        let game = game(tags, end);
        assert_eq!(white(&game), outcome, "{tags} {end}");
        assert_eq!(game.oddities.is_empty(), !(tags.contains("1-0") && end == "0-1"), "{tags} {end}");
    }
    for (tag, end, termination) in [
        ("[Termination \"adjudication\"]", "1-0", Termination::Adjudication),
        ("[Termination \"Time forfeit\"]", "1-0", Termination::TimeUp),
        ("[Termination \"abandoned\"]", "1-0", Termination::Abnormal),
        ("[Termination \"stalled connection\"]", "1-0", Termination::Abnormal),
        ("[Termination \"illegal move\"]", "1-0", Termination::IllegalMove),
        ("[Termination \"rules infraction\"]", "1-0", Termination::IllegalMove),
        ("[Termination \"unterminated\"]", "*", Termination::Interrupted),
        ("[Termination \"Normal\"]", "1-0", Termination::Unknown),
        ("[Termination \"normal\"]", "1/2-1/2", Termination::Draw),
        ("[Termination \"normal\"]", "d6 3. Bb5# 1-0", Termination::Checkmate),
        ("[TerminationDetails \"3-Fold repetition\"]", "1/2-1/2", Termination::Repetition),
        ("[White \"a\"]", "{0.00/9 1s, Draw by 3-fold repetition} 1/2-1/2", Termination::Repetition),
        ("[White \"a\"]", "{+0.10/9 1s, White wins by adjudication} 1-0", Termination::Adjudication),
        ("[White \"a\"]", "1-0 {Black resigns}", Termination::Resignation),
        // said before the last move, so not of the end
        ("[White \"a\"]", "{Black resigns} d6 1-0", Termination::Unknown),
        ("[White \"a\"]", "*", Termination::Unknown),
    ] {
        assert_eq!(game(tag, end).termination, Some(termination), "{tag} {end}");
    }
}

#[test]
fn headers_with_quirks() {
    let game =
        one("[White \"Müller \\\\ \\\"M\\\"\"]\n[Black \"?\"]\n[Date \"????.??.??\"]\n[WhiteElo \"-\"]\n[BlackEl\
        o \"x\"]\n[Foo]\n[TimeControl \"?\"]\n\n1. e4 *\n");
    assert_eq!(game.names, ["", "Müller \\ \"M\""]);
    assert_eq!((game.start_time, game.time_control.as_str(), game.ratings), (None, "", [None, None]));
    let kinds: Vec<_> = game.oddities.iter().map(|o| (o.kind, o.line)).collect();
    assert_eq!(kinds, [(OddityKind::UnknownStatement, 5), (OddityKind::UnreadableHeader, 4)]);
    // the standard of 1994 requires ISO 8859-1
    let latin = read(b"[White \"M\xfcller\"]\n\n1. e4 *\n");
    assert_eq!(latin[0].as_ref().map(|g| g.names[1].as_str()), Ok("Müller"));
    // by all tags of the text; in Shift_JIS ソ ends with a backslash
    for encoding in [encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP] {
        let text = "[White \"エンジン乙\"]\n\n1. e4 *\n\n[White \"乙\"]\n[Black \"ソ \\\"ソ\\\"\"]\n\n1. e4 *\n";
        let games = read(&encoding.encode(text).0);
        assert_eq!(games[1].as_ref().map(|g| &g.names), Ok(&["ソ \"ソ\"".to_owned(), "乙".to_owned()]));
    }
    let date = one("[Date \"2016.12.08\"]\n[Time \"09:10:11\"]\n\n1. e4 *\n");
    assert_eq!(date.start_time.map(|t| t.to_string()).as_deref(), Some("2016-12-08T09:10:11"));
}

#[test]
fn games_without_tags_and_without_moves() {
    let games = read(b"1. e4 e5 1-0\n1. d4 {+0.10/9 1s} 0-1 1. c4 *\n");
    assert_eq!(games.iter().map(|g| g.as_ref().map(|g| g.plies).ok()).collect::<Vec<_>>(), [Some(2), Some(1), Some(1)]);
    let games =
        read(b"[White \"a\"]\n\n*\n\n[White \"b\"]\n[Result \"1-0\"]\n\n1-0\n\n{a note}\n\n[White \"c\"]\n\n1. e4 *\n");
    assert_eq!(games.iter().map(|g| g.as_ref().map(|g| g.plies).ok()).collect::<Vec<_>>(), [Some(0), Some(0), Some(1)]);
    assert!(read(b"\n\n; nothing\n% here\n{or here}\n").is_empty());
}

#[test]
fn broken_movetext_costs_its_own_game_only() {
    let head = "[White \"a\"]\n[Black \"b\"]\n\n";
    let whole = one(TCEC);
    for (bad, value) in [
        ("1. e4 e9 2. Nf3 *", "e9 2. Nf3 *"),
        ("1. e4 e5 3. Nf3 *", "3. Nf3 *"),
        ("1. e4 {open e5 2. Nf3 {+0.20/9 1s} Nc6 3. Bc4 *", "3. Bc4 *"),
        ("1. e4 -- 2. Nf3 *", "-- 2. Nf3 *"),
        ("1. e4 } e5 *", "} e5 *"),
        ("1. e4 e5) *", ") *"),
        ("1. e4 {never closed\n\n", "{never closed"),
        ("1. e4 e5 (1... c5 2. Nf3 *", "(1... c5 2. Nf3 *"),
        ("1. e4 e5 (1... c5 {never closed *", "(1... c5 {never closed *"),
        ("1. e4 1-0x", "1-0x"),
        ("1. e4 [x", "[x"),
        ("1. e4 <x>", "<x>"),
        ("1. e4 Qa1b2c3d4", "Qa1b2c3d4"),
    ] {
        let text = format!("{CUTECHESS}{head}{bad}\n\n{TCEC}");
        let games = read(text.as_bytes());
        assert_eq!(games.len(), 3, "{bad}: {games:?}");
        let error = games[1].as_ref().err();
        assert_eq!(error.map(|e| (e.reason, e.value.as_str())), Some((SkipReason::BrokenMove, value)), "{bad}");
        assert_eq!(games[2].as_ref().map(|g| (g.id, g.scores.len())), Ok((whole.id, whole.scores.len())), "{bad}");
    }
    // cut in the middle, and the next game follows at once
    for cut in [CUTECHESS.len() - 20, CUTECHESS.len() - 60, CUTECHESS.len() - 200, 100] {
        let games = read(format!("{}\n{TCEC}", &CUTECHESS[..cut]).as_bytes());
        assert_eq!(games.len(), 2);
        assert_eq!(games[1].as_ref().map(|g| g.id), Ok(whole.id));
    }
}

#[test]
fn tags_in_comments_begin_no_game() {
    let text = "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {see\n\n[Event \"x\"]\nand\n[%clk 0:01:00]} e5 1-0\n\n";
    let (game, both) = (one(text), format!("{text}{CUTECHESS}"));
    assert_eq!((game.plies, game.names[1].as_str()), (2, "a"));
    assert_eq!(FORMAT.last_boundary(both.as_bytes()), Some(text.len()));
    assert_eq!(FORMAT.last_boundary(text.as_bytes()), None);
}

#[test]
fn of_several_scores_of_a_position_a_player_s_last_and_the_first_of_an_analysis_count() {
    let game = one("[White \"a\"]\n[Black \"b\"]\n\n1. e4 {[%eval 0.5]} {+0.30/9 1s} {[%eval 0.25]} {+0.20/10 2s} *\n");
    let found: Vec<_> = game.scores.iter().map(|s| (s.ply, s.analysis, s.score_cp)).collect();
    assert_eq!(found, [(2, true, -50), (1, false, 20)]);
}

#[test]
fn tags_after_other_text_begin_a_game_wherever_the_block_is_cut() {
    let broken = "[White \"a\"]\n[Bla\n\n";
    let text = [broken, CUTECHESS].concat();
    let games = read(text.as_bytes());
    let plies: Vec<u32> = games.iter().flatten().map(|game| game.plies).collect();
    assert_eq!((games.len(), plies), (2, vec![0, one(CUTECHESS).plies]));
    assert_eq!(FORMAT.last_boundary(text.as_bytes()), Some(broken.len()));
    // an indented tag is a tag
    let indented = "[White \"a\"]\n [Black \"b\"]\n\n[Site \"x\"]\n[Date \"y\"]\n\n1. e4 *\n";
    assert_eq!((read(indented.as_bytes()).len(), FORMAT.last_boundary(indented.as_bytes())), (1, None));
}

#[test]
fn blocks_are_cut_between_games_only() {
    let commented = "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {see\n\n[Event \"x\"]\nand} e5 1-0\n\n";
    for text in [
        [CUTECHESS, TCEC, LICHESS, commented, CUTECHESS].concat(),
        [CUTECHESS, TCEC, LICHESS, commented, CUTECHESS].concat().replace('\n', "\r\n"),
        // no blank line between the games
        [CUTECHESS.trim_end(), TCEC.trim_end(), LICHESS].join("\n"),
        [&CUTECHESS[..CUTECHESS.len() - 40], TCEC, LICHESS].join("\n\n"),
    ] {
        let summary = |games: Vec<Result<Game, GameError>>| -> Vec<(u64, usize)> {
            games.iter().map(|g| g.as_ref().map_or((0, 0), |g| (g.id, g.scores.len()))).collect()
        };
        let whole = summary(read(text.as_bytes()));
        let mut cuts = std::collections::BTreeSet::new();
        for end in 0..=text.len() {
            let Some(cut) = FORMAT.last_boundary(&text.as_bytes()[..end]) else { continue };
            cuts.insert(cut);
            let parts = [&text.as_bytes()[..cut], &text.as_bytes()[cut..]].map(|part| summary(read(part)));
            assert_eq!(parts.concat(), whole, "cut at {cut} of {end}");
        }
        assert_eq!(cuts.len(), whole.len() - 1);
    }
}

#[test]
fn openbench_is_read_in_the_view_of_the_mover() {
    let head = "[White \"dev\"]\n[Black \"base\"]\n[Result \"1-0\"]\n\n";
    let verbose = "e4 {book} e5 {book} Nf3 {+0.57 17/28 583 363004} Nc6 {-0.31 15/22 401 200100} \
                   Bb5 {+M5 30/12 12 999, White mates} 1-0\n";
    let compact = "e4 {book} e5 {book} Nf3 {+0.57} Nc6 {-0.31} Bb5 {+M5} 1-0\n";
    let scores = |movetext: &str| {
        let game = one(&format!("{head}{movetext}"));
        let scores: Vec<_> = game.scores.iter().map(|s| (s.ply, s.color, s.score_cp, s.mate)).collect();
        (scores, game.book_moves)
    };
    let expected = vec![
        (3, Color::White, 57, false),
        (4, Color::Black, -31, false),
        (5, Color::White, crate::record::ANNOUNCED_MATE_CP, true),
    ];
    for movetext in [verbose, compact] {
        assert_eq!(scores(movetext), (expected.clone(), 2), "{movetext}");
    }
    // a move without a score has a mark
    assert_eq!(scores(&compact.replace("{-0.31}", "{unknown}")).0, [expected[0], expected[2]]);
    // the form since December 2025
    let newer = "e4 {book} e5 {unknown} Nf3 {+0.57/17 0.583s, n=363004, sd=28} Nc6 {-0.31/15} Bb5 {+M5/30} 1-0\n";
    assert_eq!(scores(newer), (expected.clone(), 1));
    // the end may be written in words, and the last move may lack a value
    assert_eq!(scores(&compact.replace("{+M5}", "{White mates}")).0, expected[..2]);
    // a value alone counts only if all comments are of that form, and all moves have one
    for other in ["{-0.31/15 1s}", "{a blunder}", "{[%clk 0:01:00]}", "{-0.31 15 400}", ""] {
        let mixed = scores(&compact.replace("{-0.31}", other).replace("{book}", "")).0;
        assert!(mixed.iter().all(|s| s.0 == 4), "{other}: {mixed:?}");
    }
    assert!(scores(&compact.replace("{+0.57}", "{prose}")).0.is_empty());
    // a move without a search, and fields that are missing or not numbers
    for nothing in ["{0.00 0/0 0 0}", "{+0.57 17/28 583}", "{+0.57 17/28 583 x}", "{+0.57 17 583 363004}"] {
        assert!(scores(&format!("e4 {nothing} 1-0\n")).0.is_empty(), "{nothing}");
    }
}

#[test]
fn formats_are_recognised_by_content() {
    for text in
        [CUTECHESS, TCEC, LICHESS, "% x\n; y\n\n[Event \"\"]\n", "1. e4 e5\n", "\u{feff}\r\n[White \"a\"]", "1.Nf3"]
    {
        assert_eq!(Format::detect(text.as_bytes()), Some(&FORMAT), "{text}");
    }
    for other in
        ["", "[section]\nkey = \"x\"\n", "[\"a\", 1]", "1. First do this\n", "1.", "V2.2\nPI\n", "[Event x]", "; only"]
    {
        assert_ne!(Format::detect(other.as_bytes()), Some(&FORMAT), "{other}");
    }
    // a zero byte in a text is damage, which is reported, but the text is still read
    assert_eq!(Format::detect(b"[Event \"x\"]\n\0"), Some(&FORMAT));
    assert_eq!(Format::detect(b"\0[Event \"x\"]\n"), None);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
        FORMAT.last_boundary(&bytes);
    }

    #[test]
    fn arbitrary_tokens_never_panic(
        tokens in proptest::collection::vec("(\\[Event \"x\"\\]|\\[FEN \".{0,9}\"\\]|[0-9]{1,12}\\.{0,3}|e4|Nf\
        3\\+|O-O|--|\\{|\\}|\\(|\\)|;|%|\\$5|1-0|\\*|\\{[+-]?M?[0-9]{0,12}\\.?[0-9]{0,4}/[0-9]{0,3}.{0,3}\\}|wv=\
        .{0,5}|d=1,|\\[%eval .{0,5}\\]|.{0,5})[ \n]{0,2}", 0..40)
    ) {
        let text = tokens.concat();
        read(text.as_bytes());
        FORMAT.last_boundary(text.as_bytes());
    }

    #[test]
    fn a_record_with_a_byte_changed_or_cut_never_panics_and_loses_no_other_game(
        which in 0..3usize, at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
        special in any::<prop::sample::Index>(), plain in any::<bool>()
    ) {
        let mut damaged = [CUTECHESS, TCEC, LICHESS][which].as_bytes().to_vec();
        let at = at.index(damaged.len());
        let byte = if plain { byte } else { b"{}()[];%\"\n\\ *.-01"[special.index(17)] };
        if cut { damaged.truncate(at); damaged.push(b'\n') } else { damaged[at] = byte }
        let text = [TCEC.as_bytes(), &damaged, CUTECHESS.as_bytes(), LICHESS.as_bytes()].concat();
        let games = read(&text);
        for whole in [TCEC, CUTECHESS, LICHESS] {
            let whole = one(whole);
            let of = |g: &Game| (g.id, scores(g), g.black_outcome);
            let found = games.iter().flatten().any(|g| of(g) == of(&whole));
            prop_assert!(found, "{} at {at} loses {:?}", byte as char, whole.names);
        }
        let Some(cut) = FORMAT.last_boundary(&text) else { return Err(TestCaseError::fail("no boundary")) };
        prop_assert_eq!(cut, text.len() - LICHESS.len());
    }
}

/// What python-chess finds in real files: games, scored positions, book moves, and the checksum of
/// `tests/oracle/pgn_scores.py`.
const REAL: [(&str, usize, usize, u32, u64); 5] = [
    ("TCEC_Season_13_-_Superfinal.pgn", 100, 11_842, 1_440, 6_985_107),
    ("TCEC_Season_28_-_4k_V.pgn", 168, 11_734, 1_092, 1_222_374_228),
    ("asmfish-vs-sf8-dasm_sf8d.pgn", 50, 6_678, 437, 689_372_419),
    ("fishtest-65a3aca179aa8af82b96f4b9-0.pgn", 12, 1_667, 0, 65_507_819),
    ("lichess_db_1000k.pgn", 438, 2_216, 0, 455_594_768),
];

fn real(file: &str) -> Vec<u8> {
    let folder = std::env::var_os("EVALCURVE_RECORDS").expect("EVALCURVE_RECORDS names a folder of records");
    std::fs::read(std::path::Path::new(&folder).join("pgn").join(file)).unwrap()
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn real_files_give_what_python_chess_finds() {
    for (file, games, positions, book_moves, checksum) in REAL {
        let text = real(file);
        let found: Vec<Game> = read(&text).into_iter().map(Result::unwrap).collect();
        assert!(found.iter().all(|g| g.oddities.is_empty()));
        let scores: Vec<&ScoredPosition> = found.iter().flat_map(|g| &g.scores).collect();
        let sum = scores.iter().fold(0u64, |sum, s| {
            let weight = if s.analysis { 2 } else { 1 };
            sum.wrapping_add((i64::from(s.ply) * i64::from(s.score_cp) * weight) as u64)
        });
        assert_eq!((found.len(), scores.len(), sum), (games, positions, checksum), "{file}");
        assert_eq!(found.iter().map(|g| g.book_moves).sum::<u32>(), book_moves, "{file}");
        let mut ids: Vec<u64> = found.iter().map(|g| g.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), games, "{file}: games with one identity");
    }
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn real_files_with_a_byte_changed_lose_no_other_game() {
    for (file, games, ..) in REAL {
        let text = real(file);
        let whole: Vec<u64> = read(&text).iter().flatten().map(|g| g.id).collect();
        // a stretch of a few games is enough, at places spread over it
        let start = |n: usize| memchr::memmem::find_iter(&text, b"\n[Event ").nth(n).map(|i| i + 1).unwrap();
        let (from, to) = (start(3), start(6));
        let stretch = &text[from..to];
        let bytes = b"{}([;%\"\n x1*";
        for step in 0..200 {
            let mut damaged = stretch.to_vec();
            let at = step * stretch.len() / 200;
            damaged[at] = bytes[step % bytes.len()];
            let found: Vec<u64> = read(&damaged).iter().flatten().map(|g| g.id).collect();
            let lost = whole[4..7].iter().filter(|id| !found.contains(id)).count();
            assert!(lost <= 1, "{file}: byte {at} costs {lost} games");
        }
        assert_eq!(whole.len(), games);
    }
}

#[test]
fn declared_rates_have_the_view_of_their_score() {
    let of = |movetext: &str| -> Vec<_> {
        let game = one(&format!("[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n{movetext} 1-0\n"));
        assert!(game.chess);
        game.scores.iter().map(|s| (s.ply, s.score_cp, s.declared.map(|rates| rates.to_string()))).collect()
    };
    let rates = |text: &str| Some(text.to_owned());
    // the mover's
    let own = of("1. e4 {+0.30/9 1s, wdl=80 900 20} e5 {-0.20/9 1s, wdl=30 900 70} 2. Nf3 {+0.30/9 1s}");
    assert_eq!(own, [(1, 30, rates("80 900 20")), (2, -20, rates("30 900 70")), (3, 30, None)]);
    // White's
    let white = of("1. e4 {d=9, wv=0.30, wdl=80 900 20,} e5 {d=9, wv=0.20, wdl=70 900 30,}");
    assert_eq!(white, [(1, 30, rates("80 900 20")), (2, -20, rates("30 900 70"))]);
    // an analysis is of the position after the move
    let analysis = of("1. e4 {[%eval 30,29] [%wdl 80,900,20]}");
    assert_eq!(analysis, [(2, -30, rates("20 900 80"))]);
}

#[test]
fn the_annotator_is_the_engine_of_the_analyses() {
    let annotator = |value: &str| {
        let tags = format!("[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n[Annotator \"{value}\"]\n");
        one(&format!("{tags}\n1. e4 {{[%eval 0.25]}} e5 {{[%eval 0.3]}} 1-0\n")).annotator
    };
    assert_eq!(annotator("Stockfish 17"), "Stockfish 17");
    for value in ["?", "0.22;0.30", "https://lichess.org/@/someone"] {
        assert_eq!(annotator(value), "", "{value}");
    }
}
