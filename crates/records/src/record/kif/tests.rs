mod real;

use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS, UTF_8};
use evalcurve_calibration::types::{Outcome, Termination};
use proptest::prelude::*;

use super::*;
use crate::record::{Format, csa};

/// Reads all games of a text; errors come as their reason.
fn read_by(reader: &Format, text: &[u8]) -> Vec<Result<Game, GameError>> {
    reader.games(text, &Above::default()).take(text.len() + 1).collect()
}

fn read(text: &[u8]) -> Vec<Result<Game, GameError>> {
    read_by(&FORMAT, text)
}

fn only(games: Vec<Result<Game, GameError>>) -> Game {
    assert_eq!(games.len(), 1, "{games:?}");
    games.into_iter().next().and_then(Result::ok).unwrap_or_else(|| panic!("unreadable"))
}

fn one(text: &str) -> Game {
    only(read(text.as_bytes()))
}

fn encoded(text: &str, encoding: &'static Encoding) -> Vec<u8> {
    encoding.encode(text).0.into_owned()
}

fn scores(game: &Game) -> Vec<(u32, Color, i32)> {
    game.scores.iter().map(|s| (s.ply, s.color, s.score_cp)).collect()
}

const GAME: &str = "\
#KIF version=2.0 encoding=UTF-8
# ---- a program ----
開始日時：2016/12/30 01:00:01
棋戦：試験
持ち時間：5分+10秒
手合割：平手　　
先手：技巧
後手：ソフト乙　
先手省略名：技
手数----指手---------消費時間--
*評価値は 300 点ほど、と解説者
   1 ７六歩(77)        ( 0:00/00:00:00)
**対局 深さ 2 ノード数 960 評価値 100 読み筋 ▲７六歩(77) △３四歩(33)
   2 ３四歩(33)   ( 0:02/00:00:02)
**評価値=-35
**読み筋=▲２二角成
**エンジン=ソフト乙
   3 ２二角成(88) ( 0:00/00:00:00)+
** 30 -3122GI
   4 同　銀(31)   ( 0:00/00:00:00)
*互角
   5 ６五角打     ( 0:00/00:00:00)
** 0
   6 ６二銀不成(71)
**詰み=後手勝ち:5手
**評価値=-900
   7 ４三角成(65)
   8 投了         ( 0:00/00:00:00)
まで7手で先手の勝ち

変化：3手
   3 ６六歩(67)
**評価値=999
   4 ８四歩(83)
";

const SAME_IN_CSA: &str = "\
V2.2
N+技巧
N-ソフト乙
$START_TIME:2016/12/30 01:00:01
PI
+
+7776FU
'**対局 深さ 2 ノード数 960 評価値 100 読み筋 ▲７六歩(77) △３四歩(33)
-3334FU
'**評価値=-35
+8822UM
'** 30 -3122GI
-3122GI
+0065KA
'** 0
-7162GI
'**詰み=後手勝ち:5手
'**評価値=-900
+6543UM
%TORYO
";

#[test]
fn a_game_is_read() {
    let game = one(GAME);
    assert_eq!(game.names, ["技巧", "ソフト乙"]);
    assert_eq!(game.time_control, "5分+10秒");
    assert_eq!(game.start_time.map(|t| t.to_string()).as_deref(), Some("2016-12-30T01:00:01"));
    // Black's view in the file, the mover's here; `** 0` alone is a book move; the mate counts over the number
    let expected = [(1, Color::Black, 100), (2, Color::White, 35), (3, Color::Black, 30), (6, Color::White, 100_000)];
    assert_eq!(scores(&game), expected);
    assert!(game.scores[3].mate && game.scores.iter().all(|s| !s.analysis));
    assert_eq!((game.book_moves, game.scores[0].line), (1, 12));
    assert_eq!((game.plies, game.termination), (7, Some(Termination::Resignation)));
    assert_eq!(game.black_outcome, Some(Outcome::Win));
    assert!(game.oddities.is_empty(), "{:?}", game.oddities);
}

#[test]
fn the_same_game_in_csa_is_the_same() {
    let (kif, csa) = (one(GAME), only(read_by(&csa::FORMAT, SAME_IN_CSA.as_bytes())));
    assert_eq!(kif.id, csa.id);
    assert_eq!(scores(&kif), scores(&csa));
    assert_eq!((kif.termination, kif.black_outcome), (csa.termination, csa.black_outcome));
}

#[test]
fn encodings_and_line_ends_do_not_matter() {
    let whole = one(GAME);
    let texts = [
        encoded(GAME, SHIFT_JIS),
        encoded(&GAME.replace("UTF-8", "Shift_JIS"), SHIFT_JIS),
        encoded(GAME, EUC_JP),
        GAME.replace('\n', "\r\n").into_bytes(),
        GAME.trim_end().as_bytes().to_vec(),
        format!("\u{feff}{GAME}").into_bytes(),
        GAME.replace("#KIF version=2.0 encoding=UTF-8\n", "\u{feff}").into_bytes(),
        GAME.replace("   4 同　銀", "4 同銀").into_bytes(),
        GAME.replace("同　銀", "同 銀").into_bytes(),
    ];
    for text in texts {
        let other = only(read(&text));
        assert_eq!(other.id, whole.id);
        assert_eq!(scores(&other), scores(&whole));
        assert_eq!(other.names, whole.names);
        assert_eq!(other.time_control, whole.time_control);
        assert_eq!(other.black_outcome, whole.black_outcome);
        assert!(Format::detect(&text) == Some(&FORMAT));
    }
}

/// The identity of a CSA game with this start position and these moves, without names.
fn csa_id(body: &str) -> u64 {
    only(read_by(&csa::FORMAT, body.as_bytes())).id
}

#[test]
fn a_handicap_lets_white_begin() {
    let kif = "手合割：二枚落ち\n下手：a\n上手：b\n手数----指手--\n   1 ６二銀(71)\n**評価値=50\n   2 ７六歩(77)\n   3 投了\n";
    let game = one(kif);
    assert_eq!(game.id, csa_id("N+a\nN-b\nPI82HI22KA\n-\n-7162GI\n+7776FU\n%TORYO\n"));
    assert_eq!(scores(&game), [(1, Color::White, -50)]);
    assert_eq!((game.names[0].as_str(), game.black_outcome), ("a", Some(Outcome::Win)));
    assert_ne!(game.id, one(&kif.replace("二枚", "四枚")).id);
}

#[test]
fn a_diagram_is_a_start_position() {
    let even = "\
後手の持駒：なし
  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
|v香v桂v銀v金v玉v金v銀v桂v香|一
| ・v飛 ・ ・ ・ ・ ・v角 ・|二
|v歩v歩v歩v歩v歩v歩v歩v歩v歩|三
| ・ ・ ・ ・ ・ ・ ・ ・ ・|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| ・ ・ ・ ・ ・ ・ ・ ・ ・|六
| 歩 歩 歩 歩 歩 歩 歩 歩 歩|七
| ・ 角 ・ ・ ・ ・ ・ 飛 ・|八
| 香 桂 銀 金 玉 金 銀 桂 香|九
+---------------------------+
先手の持駒：なし
先手：
後手：
手数----指手--
   1 ７六歩(77)
   2 投了
";
    assert_eq!(one(even).id, csa_id("PI\n+\n+7776FU\n%TORYO\n"));
    let tsume = even
        .replace("後手の持駒：なし", "後手の持駒：飛二　角　歩十八　")
        .replace("先手の持駒：なし", "先手の持駒：銀\n後手番")
        .replace("|v香v桂v銀v金v玉v金v銀v桂v香|一", "| ・ ・ ・ ・v王 ・ ・v龍 全|一")
        .replace("   1 ７六歩(77)", "   1 １一龍(21)");
    let rows = "P1 *  *  *  * -OU *  * -RY+NG\nP2 * -HI *  *  *  *  * -KA * \nP3-FU-FU-FU-FU-FU-FU-FU-FU-FU\n\
                P7+FU+FU+FU+FU+FU+FU+FU+FU+FU\nP8 * +KA *  *  *  *  * +HI * \nP9+KY+KE+GI+KI+OU+KI+GI+KE+KY\n";
    let fu = "00FU".repeat(18);
    let csa = format!("{rows}P-00HI00HI00KA{fu}\nP+00GI\n-\n-2111RY\n%TORYO\n");
    assert_eq!(one(&tsume).id, csa_id(&csa));
    let short = even.replace("| ・ ・ ・ ・ ・ ・ ・ ・ ・|五\n", "");
    assert_eq!(read(short.as_bytes())[0].as_ref().err().map(|e| e.reason), Some(SkipReason::BrokenPosition));
}

#[test]
fn ends_decide_for_the_side_to_move() {
    use Termination::*;
    // after ７六歩 it is White's turn
    for (word, termination, black) in [
        ("投了", Resignation, Some(Outcome::Win)),
        ("詰み", Checkmate, Some(Outcome::Win)),
        ("切れ負け", TimeUp, Some(Outcome::Win)),
        ("時間切れ", TimeUp, Some(Outcome::Win)),
        ("反則負け", IllegalMove, Some(Outcome::Win)),
        ("反則勝ち", IllegalMove, Some(Outcome::Loss)),
        ("入玉勝ち", Declaration, Some(Outcome::Loss)),
        ("不戦敗", Abnormal, Some(Outcome::Win)),
        ("千日手", Repetition, Some(Outcome::Draw)),
        ("持将棋", Impasse, Some(Outcome::Draw)),
        ("最大手数", MaxMoves, Some(Outcome::Draw)),
        ("中断", Interrupted, None),
        ("封じ手", Interrupted, None),
        ("不詰", Unknown, None),
    ] {
        for encoding in [UTF_8, SHIFT_JIS] {
            let game =
                only(read(&encoded(&format!("手合割：平手\n   1 ７六歩(77)\n   2 {word}      ( 0:00/)\n"), encoding)));
            assert_eq!((game.termination, game.black_outcome), (Some(termination), black), "{word}");
        }
    }
    for (until, termination, black) in [
        ("まで115手で先手の勝ち", Resignation, Some(Outcome::Win)),
        ("まで115手で上手の勝ち", Resignation, Some(Outcome::Loss)),
        ("まで52手で先手の反則負け", IllegalMove, Some(Outcome::Loss)),
        ("まで281手で後手の反則勝ち", IllegalMove, Some(Outcome::Loss)),
        ("まで80手で時間切れにより後手の勝ち", TimeUp, Some(Outcome::Loss)),
        ("まで120手で先手の入玉勝ち", Declaration, Some(Outcome::Win)),
        ("まで96手で千日手", Repetition, Some(Outcome::Draw)),
        ("まで96手で持将棋", Impasse, Some(Outcome::Draw)),
        ("まで30手で中断", Interrupted, None),
        ("まで33手で詰", Unknown, None),
    ] {
        let game = one(&format!("手合割：平手\n   1 ７六歩(77)\n{until}\n"));
        assert_eq!((game.termination, game.black_outcome), (Some(termination), black), "{until}");
    }
    assert_eq!(one("手合割：平手\n   1 ７六歩(77)\n").termination, None);
}

#[test]
fn analyses_belong_to_the_position_after_the_move() {
    let text = "先手：a\n後手：b\n手数----\n   1 ７六歩(77)\n** 候補1 深さ 34/44 評価値 126 読み筋 ３四歩(33)\n\
                ** 候補2 深さ 34/44 評価値 500 読み筋 ８四歩(83)\n** 候補1 深さ 33/44 評価値 90 読み筋 ３四歩(33)\n\
                   2 ３四歩(33)\n*#評価値=-60\n*#エンジン=水匠\n   3 ２六歩(27)\n*#詰み=後手勝ち\n*#エンジン=水匠\n\
                   4 ８四歩(83)\n** 検討 評価値 300↑ 読み筋 x\n   5 中断\n*#評価値=1\n";
    for encoding in [UTF_8, SHIFT_JIS, EUC_JP] {
        let game = only(read(&encoded(text, encoding)));
        let expected = [(2, Color::White, -126), (3, Color::Black, -60), (4, Color::White, 100_000)];
        assert_eq!(scores(&game), expected);
        assert!(game.scores.iter().all(|s| s.analysis));
        assert_eq!(game.annotator, "水匠");
    }
    assert_eq!(one(&text.replacen("水匠", "技巧", 1)).annotator, "");
}

#[test]
fn several_games_follow_each_other() {
    let second = GAME.replace("技巧", "三人目");
    let head = "手合割：平手\n先手：c\n後手：d\n   1 ７六歩(77)\n   2 投了\n";
    let games = read([GAME, &second, head, head, "   1 ２六歩(27)\n   2 中断\n"].concat().as_bytes());
    let names: Vec<_> = games.iter().map(|g| g.as_ref().map(|g| (g.names[0].as_str(), g.plies))).collect();
    assert_eq!(names, [Ok(("技巧", 7)), Ok(("三人目", 7)), Ok(("c", 1)), Ok(("c", 1)), Ok(("", 1))]);
    let lines = GAME.lines().count() as u64;
    assert_eq!(games[1].as_ref().map(|g| g.line), Ok(lines));
    // each in its own encoding, and a head without moves
    let mixed =
        [encoded(GAME, SHIFT_JIS), "先手：x\n".into(), second.clone().into_bytes(), encoded(head, EUC_JP)].concat();
    let games = read(&mixed);
    let names: Vec<_> = games.iter().map(|g| g.as_ref().map(|g| g.names[0].as_str())).collect();
    assert_eq!(names, [Ok("技巧"), Ok("x"), Ok("三人目"), Ok("c")]);
    // the encoding of a game is not that of the game before it
    let broken = "#KIF version=2.0\n   2 ３四歩(33)\n";
    let games = read(&[GAME.as_bytes(), &encoded(head, EUC_JP), broken.as_bytes()].concat());
    assert_eq!(games[2].as_ref().map_err(|e| e.value.as_str()), Err("2 ３四歩(33)"));
}

#[test]
fn a_broken_move_costs_its_own_game_only() {
    for (good, bad) in [
        ("   4 同　銀(31)", "   4 ９九銀(01)"),
        ("   4 同　銀(31)", "   5 同　銀(31)"),
        ("   4 同　銀(31)", "   4 パス"),
        ("   4 同　銀(31)", "   4 ２二銀左"),
        ("   1 ７六歩(77)", "   1 同　歩(77)"),
        ("   1 ７六歩(77)", "   2 ７六歩(77)"),
        ("６五角打", "６五馬打"),
        ("２二角成(88)", "２二金成(88)"),
    ] {
        let text = [GAME, &GAME.replace(good, bad), GAME].concat();
        let games = read(text.as_bytes());
        assert_eq!(games.len(), 3, "{bad}");
        assert_eq!(games[1].as_ref().err().map(|e| e.reason), Some(SkipReason::BrokenMove), "{bad}");
        assert_eq!(games[0].as_ref().map(|g| g.id), games[2].as_ref().map(|g| g.id));
    }
    let games = read(GAME.replace("   4 同　銀(31)", "   4 ９九銀(01)").as_bytes());
    let error = games[0].as_ref().err();
    assert_eq!(error.map(|e| (e.line, &e.value[..])), Some((19, "4 ９九銀(01)   ( 0:00/00:00:00)")));
}

#[test]
fn numbers_at_the_edges() {
    let score = |text: &str| {
        let game = one(&format!("手合割：平手\n   1 ７六歩(77)\n{text}\n"));
        (game.scores.first().map(|s| s.score_cp), game.oddities.first().map(|o| o.kind))
    };
    let odd = Some(OddityKind::UnreadableScore);
    assert_eq!(score("**評価値=2147483647"), (Some(i32::MAX), None));
    assert_eq!(score("**評価値=+5"), (Some(5), None));
    assert_eq!(score("**評価値=2147483648"), (None, odd));
    assert_eq!(score("**評価値=1.5"), (None, odd));
    assert_eq!(score("**評価値="), (None, odd));
    assert_eq!(score("** 0 joseki"), (None, None));
    assert_eq!(score("** 0 P*5e"), (Some(0), None));
    assert_eq!(score("** 12abc"), (None, odd));
    for prose in
        ["* 123", "*評価値=5", "** 読み筋 評価値 5", "**深さ=5", "**対局", "*", "**", "*#", "**詰み=x", "&しおり"]
    {
        assert_eq!(score(prose), (None, None), "{prose}");
    }
}

#[test]
fn blocks_are_cut_between_games_only() {
    let text = [GAME, &GAME.replace("#KIF version=2.0 encoding=UTF-8\n", ""), GAME].concat();
    for text in [text.clone().into_bytes(), encoded(&text, SHIFT_JIS)] {
        let whole: Vec<_> = read(&text).into_iter().map(|g| g.map(|g| (g.id, scores(&g)))).collect();
        let mut cuts = std::collections::BTreeSet::new();
        for end in 0..=text.len() {
            let Some(cut) = FORMAT.last_boundary(&text[..end]) else { continue };
            cuts.insert(cut);
            let parts = [read(&text[..cut]), read(&text[cut..])].concat();
            let parts: Vec<_> = parts.into_iter().map(|g| g.map(|g| (g.id, scores(&g)))).collect();
            assert_eq!(parts, whole, "cut at {cut} of {end}");
        }
        assert_eq!(cuts.len(), 2);
    }
}

const SAME_IN_KI2: &str = "\
開始日時：2016/12/30 01:00:01
手合割：平手
先手：技巧
後手：ソフト乙

▲７六歩
**対局 深さ 2 ノード数 960 評価値 100 読み筋 ▲７六歩(77) △３四歩(33)
△３四歩
**評価値=-35
▲２二角成
** 30 -3122GI
△同　銀　▲６五角
** 0
△６二銀不成
**詰み=後手勝ち:5手
**評価値=-900
▲４三角成
まで7手で先手の勝ち

変化：3手
▲６六歩
**評価値=999
";

#[test]
fn the_same_game_in_ki2_is_the_same() {
    for encoding in [UTF_8, SHIFT_JIS, EUC_JP] {
        let ki2 = only(read(&encoded(SAME_IN_KI2, encoding)));
        let kif = one(GAME);
        // KIF and KI2 may write 不成 for a piece that could not promote
        assert_eq!((ki2.id, ki2.plies, scores(&ki2)), (kif.id, kif.plies, scores(&kif)));
        assert_eq!((ki2.names, ki2.black_outcome, ki2.termination), (kif.names, kif.black_outcome, kif.termination));
    }
}

/// The moves of a KI2 text that begins at `board` (CSA rows), as CSA would write them; `None` for a broken game.
fn ki2_moves(board: &str, moves: &str) -> Option<u64> {
    let kif = format!("後手の持駒：なし\n{board}先手：a\n後手：b\n{moves}\n");
    let games = read(kif.as_bytes());
    assert_eq!(games.len(), 1);
    games.into_iter().next().and_then(Result::ok).map(|g| g.id)
}

#[test]
fn words_tell_which_piece_moves() {
    // three golds around 7八, two silvers, two dragons that see 5五, as the Japan Shogi Association writes it
    let board = "\
| ・ ・ ・ ・v玉 ・ ・ ・ ・|一
| ・ ・ ・ ・ ・ ・ ・ ・ ・|二
| ・ ・ ・ ・ ・ ・ ・ ・ ・|三
| ・ ・ ・ ・ ・ ・ ・ ・ ・|四
| 龍 ・ ・ ・ ・ ・ ・ ・ 龍|五
| ・ ・ ・ ・ ・ ・ 銀 ・ 銀|六
| ・ ・ ・ ・ ・ ・ ・ ・ ・|七
| ・ ・ ・ ・ ・ ・ 銀 ・ ・|八
| 金 金 金 ・ 玉 ・ ・ ・ ・|九
";
    let same = |ki2: &str, kif: &str| {
        let (a, b) = (ki2_moves(board, &format!("▲{ki2}")), ki2_moves(board, &format!("   1 {kif}")));
        assert!(a.is_some() && a == b, "{ki2}: {kif}");
    };
    same("８八金左", "８八金(99)");
    same("８八金直", "８八金(89)");
    same("８八金右", "８八金(79)");
    same("２七銀左上", "２七銀(38)");
    same("２七銀右", "２七銀(16)");
    same("２七銀左引", "２七銀(36)");
    same("５五龍左", "５五龍(95)");
    same("５五竜右", "５五竜(15)");
    same("５八玉", "５八玉(59)");
    same("１四龍", "１四龍(15)");
    for open in ["８八金", "５五龍", "２七銀左", "２七銀引", "７七金", "５八金打", "５八歩"] {
        assert_eq!(ki2_moves(board, &format!("▲{open}")), None, "{open}");
    }
    // out of turn
    assert_eq!(ki2_moves(board, "△５二玉"), None);
}

#[test]
fn formats_are_recognised_by_content() {
    for text in ["1 ７六歩(77)\n* 123\n", "手合割：平手\n", "# KIF形式棋譜ファイル\n手合割：平手\n"]
    {
        for encoding in [UTF_8, SHIFT_JIS, EUC_JP] {
            assert!(Format::detect(&encoded(text, encoding)) == Some(&FORMAT), "{text}");
        }
    }
    assert!(Format::detect("\u{feff}先手：a\n".as_bytes()) == Some(&FORMAT));
    // a zero byte hides no text
    assert!(Format::detect("手合割：平手\n\0".as_bytes()) == Some(&FORMAT));
    let ki2 = "開始日時：2000/01/01\n手合割：平手\n先手：a\n後手：b\n\n▲７六歩    △３四歩    ▲２六歩\n";
    for encoding in [UTF_8, SHIFT_JIS] {
        assert!(Format::detect(&encoded(ki2, encoding)) == Some(&FORMAT));
        assert!(Format::detect(&encoded("▲７六歩 △３四歩\n", encoding)) == Some(&FORMAT));
    }
    assert!(Format::detect("▲注意：これは棋譜ではない\n".as_bytes()) != Some(&FORMAT));
    for other in [
        "# 棋譜\n\n将棋の棋譜について書く。\n手合割：平手\n",
        "[Event \"x\"]\n\n1. e4 e5\n",
        "V2.2\nN+先手\n",
        "  1 apple\n  2 pear\n",
        "| 先手：| x |\n",
        "",
    ] {
        assert!(Format::detect(other.as_bytes()) != Some(&FORMAT), "{other}");
    }
}

#[test]
fn rows_before_the_head_are_of_no_game() {
    for before in ["|v香v桂\n", "| ・ ・ ・ ・ ・ ・ ・ ・ ・|一\n"] {
        assert_eq!(one(&format!("{before}{GAME}")).id, one(GAME).id, "{before}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
        look_at(&bytes);
    }

    #[test]
    fn a_record_with_a_byte_changed_or_cut_never_panics_and_loses_no_other_game(
        at in 0..GAME.len(), byte in any::<u8>(), cut in any::<bool>(), sjis in any::<bool>()
    ) {
        let last = encoded(GAME, if sjis { SHIFT_JIS } else { UTF_8 });
        let mut damaged = last.clone();
        let at = at % last.len();
        if cut { damaged.truncate(at) } else { damaged[at] = byte }
        let text = [&damaged[..], b"\n", &last].concat();
        let games = read(&text);
        let whole = one(GAME);
        prop_assert_eq!(games.last().unwrap().as_ref().map(|g| (g.id, scores(g))), Ok((whole.id, scores(&whole))));
        prop_assert!(games.len() <= 3);
        look_at(&text);
    }

    #[test]
    fn arbitrary_lines_never_panic(
        lines in proptest::collection::vec("(   1 ７六歩\\(77\\)|   2 同　歩\\(33\\)|  3 \
        .{0,6}|先手：.{0,3}|手合割：[平香]手|手数----|[0-9]{1,11} 投了|\\|[v ]香.{0,9}|先手の持駒：[飛十二 　]{0,5}|まで.{0,5}|変化：3手|▲７六歩|△３四歩 \
        ▲２二角成|▲.{0,5}|\\*\\*評価値=-?[0-9]{0,12}.{0,2}|\\*\\* ?候補1 評価値 .{0,5}|\\*#エンジン=.{0,3}|開始日時：.{0,9}|#KIF \
        encoding=(Shift_JIS|UTF-8)|後手番|.{0,5})\r?", 0..40),
        sjis in any::<bool>()
    ) {
        let text = lines.join("\n");
        let text = encoded(&text, if sjis { SHIFT_JIS } else { UTF_8 });
        let whole = read(&text).len();
        if let Some(cut) = FORMAT.last_boundary(&text) {
            prop_assert_eq!(read(&text[..cut]).len() + read(&text[cut..]).len(), whole);
        }
        look_at(&text);
    }
}

fn look_at(bytes: &[u8]) {
    let _ = Format::detect(bytes);
    FORMAT.last_boundary(bytes);
}

#[test]
fn another_minus_and_analyses_of_piyo_shogi_are_read() {
    let text = "\
手合割：平手
手数----指手---------消費時間--
   1 ７六歩(77)
*#指し手[62]▲７六歩  △３四歩
*#推奨手[80]▲２六歩
   2 ３四歩(33)
** −30 -3334FU
   3 ２六歩(27)
**評価値=−35
   4 ８四歩(83)
*評価値: +157 先手有望
*評価値は 300 点ほど
   5 ２五歩(26)
** 対局 評価値 −7 読み筋 ▲２五歩
";
    for encoding in [UTF_8, SHIFT_JIS, EUC_JP] {
        let game = only(read(&encoded(text, encoding)));
        let expected = [(2, Color::White, -62), (2, Color::White, 30), (3, Color::Black, -35), (5, Color::Black, -7)];
        assert_eq!(scores(&game), expected, "{}", encoding.name());
        let analyses: Vec<bool> = game.scores.iter().map(|score| score.analysis).collect();
        assert_eq!((analyses, game.unread), (vec![true, false, false, false], 1));
        let first = game.unread_comment.unwrap();
        assert_eq!((first.line, first.value.as_str()), (10, "*評価値: +157 先手有望"));
    }
}
