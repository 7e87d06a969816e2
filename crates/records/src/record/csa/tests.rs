use evalcurve_calibration::types::Outcome;
use proptest::prelude::*;

use super::*;

/// Reads all games of a text; errors come as their reason.
fn read(text: &[u8]) -> Vec<Result<Game, GameError>> {
    FORMAT.games(text, &Above::default()).collect()
}

fn one(text: &str) -> Game {
    let games = read(text.as_bytes());
    assert_eq!(games.len(), 1, "{games:?}");
    games.into_iter().next().and_then(Result::ok).unwrap_or_else(|| panic!("unreadable: {text}"))
}

fn scores(game: &Game) -> Vec<(u32, Color, i32)> {
    game.scores.iter().map(|s| (s.ply, s.color, s.score_cp)).collect()
}

const FLOODGATE: &str = "\
V2
N+Titanda_L
N-Ukamuse_6950XEE
$EVENT:wdoor+floodgate-300-10F+Titanda_L+Ukamuse_6950XEE+20161230010003
$START_TIME:2016/12/30 01:00:01
P1-KY-KE-GI-KI-OU-KI-GI-KE-KY
P2 * -HI *  *  *  *  * -KA *
P3-FU-FU-FU-FU-FU-FU-FU-FU-FU
P4 *  *  *  *  *  *  *  *  *
P5 *  *  *  *  *  *  *  *  *
P6 *  *  *  *  *  *  *  *  *
P7+FU+FU+FU+FU+FU+FU+FU+FU+FU
P8 * +KA *  *  *  *  * +HI *
P9+KY+KE+GI+KI+OU+KI+GI+KE+KY
+
'rating:Titanda_L+8f2c:Ukamuse_6950XEE+edea
'black_rate:Titanda_L+8f2c:3426.0
'white_rate:Ukamuse_6950XEE+edea:3509.0
+2726FU
T0
'** 0
-3334FU
T0
'** -57 +2625FU -2233KA
+2625FU
T12
'** 0 -2233KA
-2233KA
T1
'** 31 2g2f
%TORYO
'summary:toryo:Titanda_L lose:Ukamuse_6950XEE win
'$END_TIME:2016/12/30 01:35:26
";

#[test]
fn a_floodgate_game_is_read() {
    let game = one(FLOODGATE);
    assert_eq!(game.names, ["Titanda_L", "Ukamuse_6950XEE"]);
    assert_eq!(game.ratings, [Some(3426.0), Some(3509.0)]);
    assert_eq!(game.time_control, "300+10F");
    assert_eq!(game.start_time.map(|t| t.to_string()).as_deref(), Some("2016-12-30T01:00:01"));
    // Black's view in the file, the mover's here; `'** 0` alone is a book move, with a PV it is a score
    assert_eq!(scores(&game), [(2, Color::White, 57), (3, Color::Black, 0), (4, Color::White, -31)]);
    assert_eq!(game.book_moves, 1);
    // comments above the game are not about it
    let stray = "'** 0\n'** 1x\n'summary:abnormal:A win:B lose\n'black_rate:A:1.0\n'*#エンジン=C\n'*#評価値=5\n";
    let mut below = one(&format!("{stray}{FLOODGATE}"));
    below.line -= 6;
    below.scores.iter_mut().for_each(|score| score.line -= 6);
    assert_eq!(below, game);
    assert_eq!(game.scores[0].line, 23);
    assert_eq!((game.plies, game.termination), (4, Some(Termination::Resignation)));
    assert_eq!(game.outcome_for(Color::White), Some(Outcome::Win));
    assert!(game.oddities.is_empty(), "{:?}", game.oddities);
}

#[test]
fn line_ends_and_commas_do_not_matter() {
    let lf = one(FLOODGATE);
    let crlf = one(&FLOODGATE.replace('\n', "\r\n"));
    let no_last = one(FLOODGATE.trim_end());
    let commas = one(&FLOODGATE.replace("FU\nT", "FU,T").replace("KA\nT", "KA,T"));
    let bom = one(&format!("\u{feff}{FLOODGATE}"));
    for other in [&crlf, &no_last, &commas, &bom] {
        assert_eq!(other.id, lf.id);
        assert_eq!(scores(other), scores(&lf));
        assert_eq!(other.names, lf.names);
        assert_eq!(other.black_outcome, lf.black_outcome);
        assert!(other.oddities.is_empty(), "{:?}", other.oddities);
    }
}

#[test]
fn names_after_an_end_begin_a_game_also_without_moves() {
    let (_, game) = FLOODGATE.split_once('\n').unwrap();
    for before in ["%MAX_MOVESV2\n", "V2.2\nP1-XX\n%CHUDAN\n", "PI\n%TORYO\n"] {
        let text = format!("{before}{game}");
        let games = read(text.as_bytes());
        assert_eq!(games.len(), 2, "{before}");
        assert_eq!(games[1].as_ref().map(|g| (g.plies, g.id)), Ok((4, one(FLOODGATE).id)), "{before}");
        assert_eq!(FORMAT.last_boundary(text.as_bytes()), Some(before.len()), "{before}");
    }
}

#[test]
fn the_summary_decides_over_the_percent_line() {
    let with = |summary: &str| one(&FLOODGATE.replace("toryo:Titanda_L lose:Ukamuse_6950XEE win", summary));
    let game = with("abnormal:Titanda_L lose:Ukamuse_6950XEE win");
    assert_eq!(game.termination, Some(Termination::Abnormal));
    // shogi-server names the winner first in some endings, so the order means nothing
    let game = with("illegal kachi:Ukamuse_6950XEE lose:Titanda_L win");
    assert_eq!(game.termination, Some(Termination::IllegalDeclaration));
    assert_eq!(game.black_outcome, Some(Outcome::Win));
    let game = with("sennichite:Titanda_L draw:Ukamuse_6950XEE draw");
    assert_eq!(game.black_outcome, Some(Outcome::Draw));
    let strange = read(FLOODGATE.replace("toryo:Titanda_L lose", "toryo:Somebody lose").as_bytes());
    assert_eq!(strange[0].as_ref().err().map(|e| e.reason), Some(SkipReason::UnknownWinner));
}

#[test]
fn a_player_named_abnormal_is_not_an_abnormal_game() {
    let game = one(&FLOODGATE.replace("Titanda_L", "Azul_abnormalOu"));
    assert_eq!(game.termination, Some(Termination::Resignation));
    assert_eq!(game.black_outcome, Some(Outcome::Loss));
}

#[test]
fn special_lines_decide_for_the_side_to_move() {
    // after +2726FU it is White's turn
    for (line, black) in [
        ("%TORYO", Some(Outcome::Win)),
        ("%TSUMI", Some(Outcome::Win)),
        ("%TIME_UP", Some(Outcome::Win)),
        ("%ILLEGAL_MOVE", Some(Outcome::Win)),
        ("%KACHI", Some(Outcome::Loss)),
        ("%+ILLEGAL_ACTION", Some(Outcome::Loss)),
        ("%-ILLEGAL_ACTION", Some(Outcome::Win)),
        ("%SENNICHITE", Some(Outcome::Draw)),
        ("%JISHOGI,T3", Some(Outcome::Draw)),
        ("%MAX_MOVES", Some(Outcome::Draw)),
        ("%CHUDAN", None),
        ("%MATTA", None),
    ] {
        assert_eq!(one(&format!("V2.2\nPI\n+\n+2726FU\nT1\n{line}\n")).black_outcome, black, "{line}");
    }
}

#[test]
fn version_3_is_read() {
    let text = "'CSA encoding=UTF-8\nV3.0\nN+技巧\nN-b\n$TIME:900+0+5\nPI\n+\n+2726FU\nT6.123\n\
                '** 30 -8384FU +2625FU #1234\n-8384FU,T0.001\n'** -30000 #9\n%MAX_MOVES\n";
    let game = one(text);
    assert_eq!(game.names[0], "技巧");
    assert_eq!(game.time_control, "900+0+5");
    assert_eq!(scores(&game), [(1, Color::Black, 30), (2, Color::White, 30_000)]);
    assert!(game.oddities.is_empty(), "{:?}", game.oddities);
}

#[test]
fn several_games_with_and_without_separators() {
    let game = "N+a\nN-b\nPI\n+\n+2726FU\n'** 5 -8384FU\n%TORYO\n";
    let slash = read(format!("V2.2\n{game}/\nV2.2\n{game}/\r\n{game}/\n").as_bytes());
    assert_eq!(slash.len(), 3);
    assert_eq!(slash[2].as_ref().map(|g| g.line), Ok(18));
    assert_eq!(read(format!("V2.2\n{game}V2.2\n{game}").as_bytes()).len(), 2);
    assert_eq!(read(format!("{game}{game}").as_bytes()).len(), 2);
    assert_eq!(read(b"/\n/\n").len(), 0);
}

#[test]
fn a_broken_move_costs_its_own_game_only() {
    let good = "N+a\nN-b\nPI\n+\n+2726FU\n'** 5 -8384FU\n%TORYO\n";
    for (bad, value) in [("+2700FU", "+2700FU"), ("-3334XX", "-3334XX"), ("+7776FU", "+7776FU")] {
        let text = format!("{good}/\nN+a\nN-b\nPI\n+\n+2726FU\n{bad}\nT1\n%TORYO\n/\n{good}");
        let games = read(text.as_bytes());
        assert_eq!(games.len(), 3, "{bad}");
        let error = games[1].as_ref().err();
        assert_eq!(error.map(|e| (e.reason, e.line, e.value.as_str())), Some((SkipReason::BrokenMove, 13, value)));
        assert_eq!(games[0].as_ref().map(|g| g.id), games[2].as_ref().map(|g| g.id));
    }
}

#[test]
fn names_after_a_broken_game_begin_the_next() {
    let game = |name: &str| format!("N+{name}\nN-B\nPI\n+\n+7776FU\n'** 30\n-3334FU\n%TORYO\n");
    let names = |text: &str| -> Vec<String> {
        let games = read(text.as_bytes()).into_iter();
        games.map(|game| game.map_or_else(|e| e.reason.to_string(), |game| game.names[0].clone())).collect()
    };
    let broken = game("X").replace("+7776FU", "+77x6FU");
    let text = format!("{}{broken}{}{}", game("A"), game("C"), game("D"));
    assert_eq!(names(&text), ["A", "broken_move", "C", "D"]);
    // games without names begin with their position
    let unnamed = |text: &str| -> String {
        text.lines().filter(|line| !line.starts_with('N')).map(|l| format!("{l}\n")).collect()
    };
    let text: String = [unnamed(&broken), unnamed(&game("A")), unnamed(&game("B"))].concat();
    assert_eq!(names(&text), ["broken_move", "", ""]);
    // names that follow a broken position are those of the broken game
    let broken = "P1-XX\nN+X\nN-B\n+\n+7776FU\n-3334FU\n%TORYO\n";
    assert_eq!(names(&format!("{broken}{}", game("A"))), ["broken_position", "A"]);
    // a file without versions and separators is cut before names
    let text = format!("{}{}", game("A"), game("B"));
    assert_eq!(FORMAT.last_boundary(text.as_bytes()), Some(game("A").len()));
}

#[test]
fn of_several_analyses_the_first_counts() {
    // ShogiGUI writes the deepest iteration first; ShogiHome names the engine
    let text = "PI\n+\n+7776FU\n'** 候補1 深さ 34/44 評価値 126 読み筋 x\n'** 候補1 深さ 33/44 評価値 90 読み筋 x\n-3334FU\n\
                '*#評価値=-60\n'*#エンジン=水匠\n+2726FU\n'*#評価値=-70\n'*#エンジン=水匠\n%TORYO\n";
    let game = one(text);
    assert_eq!(scores(&game), [(2, Color::White, -126), (3, Color::Black, -60), (4, Color::White, 70)]);
    assert_eq!(game.annotator, "水匠");
    assert_eq!(one(&text.replacen("水匠", "技巧", 1)).annotator, "");
}

#[test]
fn numbers_at_the_edges() {
    let score = |text: &str| {
        let game = one(&format!("PI\n+\n+2726FU\n'** {text}\n"));
        (game.scores.first().map(|s| s.score_cp), game.oddities.first().map(|o| o.kind))
    };
    assert_eq!(score("2147483647"), (Some(i32::MAX), None));
    assert_eq!(score("-2147483648"), (Some(i32::MIN), None));
    assert_eq!(score("1148897 -3334FU"), (Some(1_148_897), None));
    for bad in ["2147483648", "99999999999999999999", "1.5", "12abc", "-", "+"] {
        assert_eq!(score(bad), (None, Some(OddityKind::UnreadableScore)), "{bad}");
    }
    assert_eq!(score("0 joseki"), (None, None));
    assert_eq!(score("0 %PASS"), (Some(0), None));
    assert_eq!(score("0 P*5e"), (Some(0), None));
    // White's lowest number must not overflow when it is turned
    let game = one("PI\n+\n+2726FU\n-3334FU\n'** -2147483648\n");
    assert_eq!(game.scores[0].score_cp, i32::MAX);
}

#[test]
fn what_the_csa_crate_cannot_read() {
    for text in [
        "N-b\nN+a\nPI\n+\n+2726FU\n%TORYO\n",
        "$EVENT:x\nN+a\nN-b\nPI\n+\n+2726FU\n%TORYO\n",
        "N+a\nN-b\n$START_TIME:2002/02/30\nPI\n+\n+2726FU\n'\n'a, b\nT99999999999999999999999\nT1\n-3334FU\n%TIME_UP",
    ] {
        let game = one(text);
        assert!(game.plies > 0 && game.black_outcome.is_some(), "{text}");
        assert_eq!(game.names, ["a", "b"]);
    }
}

#[test]
fn a_side_to_move_between_two_scores_of_a_move_gives_no_second_position() {
    let game =
        one("V2.2\nPI\n+\n+7776FU\n'** 0 -3334FU\n-3334FU\n'**評価値=-35\n+\n'** -57 +2625FU\n+2625FU\n%TORYO\n");
    assert_eq!(game.scores.iter().map(|s| s.ply).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn text_above_a_version_does_not_show_the_encoding_and_names_on_a_line_of_an_end_belong_to_it() {
    let game = b"V2.2\nN-\xE3\x82\x84\n+7776FU\n";
    let above = b"V2.2\x8A\x80eV\xD2N2\n";
    assert_eq!(read(&[above, &game[..]].concat())[0].as_ref().map(|game| &*game.names[1]), Ok("や"));
    let game = b"N-\xE3\x82\x84\n+7776FU\n";
    assert_eq!(read(&[b"\xff\xff\n/\n", &game[..]].concat())[0].as_ref().map(|game| &*game.names[1]), Ok("や"));
    let text = b"%CHUDAN,NaN\nN+a\n+7776FU\n";
    assert_eq!((read(text).len(), FORMAT.last_boundary(text)), (2, None));
    assert_eq!(FORMAT.last_boundary(b"+7776FU\n%CHUDAN\nN+a\n+7776FU\n"), Some(16));
}

#[test]
fn blocks_are_cut_between_games_only() {
    let game = "V2.2\nN+a\nN-b\nPI\n+\n+2726FU\n'** 5 -8384FU\n%TORYO\n";
    let text = format!("{game}/\n{game}/\n{game}");
    let whole = read(text.as_bytes()).len();
    for end in 0..=text.len() {
        let Some(cut) = FORMAT.last_boundary(&text.as_bytes()[..end]) else { continue };
        let (a, b) = (read(&text.as_bytes()[..cut]), read(&text.as_bytes()[cut..]));
        assert_eq!(a.len() + b.len(), whole, "cut at {cut} of {end}");
        assert!(a.iter().chain(&b).all(|g| g.as_ref().is_ok_and(|g| g.plies == 1)));
    }
}

#[test]
fn formats_are_recognised_by_content() {
    assert!(Format::detect(FLOODGATE.as_bytes()) == Some(&FORMAT));
    assert!(Format::detect(b"'comment\r\n'more\r\nN+:YSS\r\nN-:GPS\r\n") == Some(&FORMAT));
    assert!(Format::detect(b"PI\n+\n+2726FU\n") == Some(&FORMAT));
    assert!(Format::detect(b"V2.2") == Some(&FORMAT));
    // a zero byte hides no text
    assert!(Format::detect(b"V2.2\0") == Some(&FORMAT));
    for other in [
        &b"# Games played\n\n| folder | engines |\n"[..],
        b"[Event \"x\"]\n\n1. e4 e5\n",
        b"{\"format\": \"evalcurve-calibration\"}\n",
        "手合割：平手\n".as_bytes(),
        b"",
        b"V\n",
    ] {
        assert!(Format::detect(other) != Some(&FORMAT), "{}", String::from_utf8_lossy(other));
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
        FORMAT.last_boundary(&bytes);
    }

    #[test]
    fn a_record_with_a_byte_changed_or_cut_never_panics_and_loses_no_other_game(
        at in 0..FLOODGATE.len(), byte in any::<u8>(), cut in any::<bool>()
    ) {
        let mut damaged = FLOODGATE.as_bytes().to_vec();
        if cut { damaged.truncate(at) } else { damaged[at] = byte }
        let last = FLOODGATE.as_bytes();
        let text = [&damaged[..], b"\n/\n", last].concat();
        let games = read(&text);
        let whole = read(last).pop().unwrap().unwrap();
        prop_assert_eq!(games.last().unwrap().as_ref().map(|g| g.id), Ok(whole.id));
    }

    #[test]
    fn arbitrary_statements_never_panic(
        lines in proptest::collection::vec("(\\+2726FU|-3334FU|T1|T9\\.9|%TORYO|PI|P1-KY|P\\+00AL|\\+|-|/|V2|\
        N\\+.{0,3}|'\\*\\* -?[0-9]{0,12}.{0,4}|'summary:.{0,20}|\\$START_TIME:.{0,9}|.{0,5}),?\r?", 0..40)
    ) {
        read(lines.join("\n").as_bytes());
    }
}

#[test]
fn another_minus_is_read_and_other_forms_are_counted() {
    let comments = "+7776FU\n'** 30 -3334FU\n-3334FU\n'** −57 +2726FU\n+2726FU\n'**評価値=−8\n-8384FU\n'*評価値: +12\n";
    let game = one(&format!("V2.2\nPI\n+\n{comments}%CHUDAN\n"));
    assert_eq!(scores(&game), [(1, Color::Black, 30), (2, Color::White, 57), (3, Color::Black, -8)]);
    assert_eq!((game.unread, game.unread_comment.map(|first| first.line)), (1, Some(10)));
}
