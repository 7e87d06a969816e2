use encoding_rs::SHIFT_JIS;

use super::*;
use crate::games_of;
use crate::record::Game;
use crate::record::find::Entry;
use evalcurve_core::types::Color;

fn read(bytes: &[u8]) -> (Game, Written) {
    let mut games = games_of(vec![Entry::in_memory("game", bytes.to_vec())]).with_moves();
    let record = games.next().unwrap().unwrap_or_else(|problem| panic!("{problem}"));
    assert!(games.next().is_none());
    (record.game, record.written.unwrap())
}

fn remark(score_cp: i32) -> Option<Remark> {
    let best = Some(["▲７六歩(77)".to_owned(), "+7776FU".to_owned()]);
    Some(Remark { score_cp, best, depth: Some(9), nodes: Some(1_234), ..Remark::default() })
}

fn mate(wins: bool) -> Option<Remark> {
    Some(Remark { mate: Some((wins, Some(5))), ..Remark::default() })
}

/// Ply, side, score and whether it is a mate.
type Score = (u32, Color, i32, bool);

/// The scores that are read from the record with these remarks, those of an analysis or of the players.
fn read_back(written: &Written, remarks: &[Option<Remark>], form: Form) -> (Vec<u8>, String, Vec<Score>) {
    let text = annotated(written, "名前 \"x\"\n", remarks, form).unwrap();
    let (game, again) = read(&text);
    // once more changes nothing
    assert_eq!(annotated(&again, "名前 \"x\"", remarks, form).unwrap(), text);
    let analysis = form != Form::Floodgate;
    let scores = game.scores.iter().filter(|s| s.analysis == analysis);
    (text, game.annotator.clone(), scores.map(|s| (s.ply, s.color, s.score_cp, s.mate)).collect())
}

const CSA: &str = "V2.2\nN+a\nN-b\nPI\n+\n+7776FU\nT1\n'** 55 -3334FU\n-3334FU,T12\n+2726FU,T3,-8384FU\nT4\n%TORYO\n\
                   'summary:toryo:a win:b lose\n/\n";
const KIF: &str = "手合割：平手\n先手：技巧\n後手：b\n手数----指手---------消費時間--\n*prose\n   1 ７六歩(77)   \
                   ( 0:02/00:00:02)\n*#評価値=9\n*note\n   2 ３四歩(33)   ( 1:00/00:01:00)\n   3 ２六歩(27)\n   \
                   4 ８四歩(83)\n   5 投了\n変化：3手\n   3 ７五歩(76)\n";
const KI2: &str = "先手：a\n後手：b\n\n▲７六歩    △３四歩    ▲２六歩\n*note\n△８四歩\nまで4手で後手の勝ち\n";
const PGN: &str = "[White \"W\"]\n[Black \"B\"]\n[TimeControl \"300+2\"]\n[Result \"1-0\"]\n\n1. e4 {[%eval 0.17] \
                   [%clk 0:05:00]} e5 {+0.30/9 1.5s} (1... c5 {[%eval 9.0]} 2. Nf3) 2.Nf3$1 Nc6 ; d4\n1-0\n";

/// Scores of the start position and after each of four moves, in view of the side that begins.
fn remarks() -> Vec<Option<Remark>> {
    vec![remark(10), remark(20), remark(-30), mate(true), mate(false)]
}

#[test]
fn analyses_are_read_back_as_they_were() {
    use Color::{Black, White};
    let shogi =
        [(2, White, -20, false), (3, Black, -30, false), (4, White, -100_000, true), (5, Black, -100_000, true)];
    let (sjis, ..) = SHIFT_JIS.encode(KIF);
    for record in [CSA.as_bytes(), KIF.as_bytes(), &sjis, KI2.as_bytes()] {
        for form in [Form::ShogiHome, Form::ShogiGui] {
            let (_, written) = read(record);
            let (text, engine, scores) = read_back(&written, &remarks(), form);
            assert_eq!(scores, shogi, "{form:?}\n{}", String::from_utf8_lossy(&text));
            assert_eq!(engine, "名前 \"x\"");
        }
    }
    let (_, written) = read(PGN.as_bytes());
    let (text, _, scores) = read_back(&written, &remarks(), Form::ShogiHome);
    let text = String::from_utf8(text).unwrap();
    let chess = [
        (1, White, 10, false),
        (2, Black, -20, false),
        (3, White, -30, false),
        (4, Black, -100_000, true),
        (5, White, -100_000, true),
    ];
    assert_eq!(scores, chess, "{text}");
    assert!(text.contains("[Annotator \"名前 \\\"x\\\"\"]\n\n"), "{text}");
    assert!(text.contains("1. {[%eval 0.10,9]} e4 {[%eval 0.20,9]} {[%clk 0:05:00]} e5 {[%eval -0.30,9]}"), "{text}");
    assert!(text.contains("(1... c5 {[%eval 9.0]} 2. Nf3) 2.Nf3$1 {[%eval #3]} Nc6 {[%eval #-3]} ; d4"), "{text}");
}

#[test]
fn scores_of_floodgate_are_those_of_the_mover() {
    use Color::{Black, White};
    let own = [(1, Black, 10, false), (2, White, -20, false), (3, Black, -30, false), (4, White, -30_000, false)];
    for record in [CSA, KIF] {
        let (_, written) = read(record.as_bytes());
        let (text, _, scores) = read_back(&written, &remarks(), Form::Floodgate);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(scores, own, "{text}");
        assert!(!text.contains("** 55") && text.contains("** 30000 %TORYO\n"), "{text}");
    }
}

#[test]
fn what_is_no_analysis_stays_as_it_is() {
    let (sjis, ..) = SHIFT_JIS.encode(KIF);
    for record in [KIF.as_bytes(), &sjis] {
        let (_, written) = read(record);
        let text = annotated(&written, "x", &[], Form::ShogiHome).unwrap();
        let old = encoding(&written).encode("*#評価値=9\n").0.into_owned();
        let at = memchr::memmem::find(record, &old).unwrap();
        assert_eq!(text, [&record[..at], &record[at + old.len()..]].concat());
    }
    let (_, csa) = read(CSA.as_bytes());
    assert_eq!(annotated(&csa, "x", &[], Form::ShogiHome).unwrap(), CSA.as_bytes());
    // lines end as they did, and a statement that a comma ended has a line of its own
    let (_, windows) = read(CSA.replace('\n', "\r\n").as_bytes());
    let text = String::from_utf8(annotated(&windows, "x", &remarks(), Form::ShogiHome).unwrap()).unwrap();
    assert!(
        text.contains("-3334FU,T12\r\n'*#評価値=-30\r\n") && text.contains("+2726FU,T3\r\n'*#詰み=先手勝ち:5手\r\n")
    );
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
}

#[test]
fn times_are_seconds() {
    let of = |record: &str| {
        let (game, written) = read(record.as_bytes());
        times(&written, &game.time_control)
    };
    assert_eq!(of(CSA), [Some(1.0), Some(12.0), Some(3.0), Some(4.0)]);
    assert_eq!(of(KIF), [Some(2.0), Some(60.0), None, None]);
    assert_eq!(of(KI2), [None; 4]);
    assert_eq!(of(PGN), [None, Some(1.5), None, None]);
    let clocks = PGN.replace("2.Nf3$1", "2.Nf3 {[%clk 0:04:52]}").replace("Nc6", "Nc6 {[%emt 0:00:07]}");
    assert_eq!(of(&clocks), [None, Some(1.5), Some(10.0), Some(7.0)]);
}
