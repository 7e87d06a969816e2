use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use encoding_rs::{EUC_JP, SHIFT_JIS};
use evalcurve_calibration::types::Color;
use evalcurve_records::games_of;
use evalcurve_records::record::Game;
use evalcurve_records::record::find::Entry;

use super::*;

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

/// All games of a file with the remarks on each, what was inserted, and the games.
fn annotated(bytes: &[u8], name: &str, remarks: &dyn Fn(usize) -> Vec<Option<Remark>>, form: Form) -> Annotated {
    let mut games = games_of(vec![Entry::in_memory("game", bytes.to_vec())]).with_moves();
    let (mut inserted, mut read, mut refused) = (Vec::new(), 0, 0);
    for record in games.by_ref().flatten() {
        let written = record.written.unwrap();
        let at = written.place.1;
        read += 1;
        match insertions(&written, record.game.plies, name, &remarks(record.game.plies as usize + 1), form) {
            Ok(found) => inserted.extend(found.into_iter().map(|(place, text)| (at + place, text))),
            // a log has no comments
            Err(_) => refused += usize::from(written.format.name != "usi-log"),
        }
    }
    let originals = games.originals();
    let text = originals.first().filter(|original| original.is_whole).map(|original| original.with(&inserted));
    Annotated { text, inserted: inserted.into_iter().map(|(_, text)| text).collect(), read, refused }
}

struct Annotated {
    /// `None` for what is no record.
    text: Option<Vec<u8>>,
    inserted: Vec<Vec<u8>>,
    read: usize,
    refused: usize,
}

/// Ply, side, score and whether it is a mate.
type Score = (u32, Color, i32, bool);

/// The scores that are read from the record with these remarks, those of an analysis or of the players.
fn read_back(record: &[u8], form: Form) -> (String, String, Vec<Score>) {
    let text = annotated(record, "名前 \"x\"\n", &|_| remarks(), form).text.unwrap();
    let (game, _) = read(&text);
    let analysis = form != Form::Floodgate;
    let scores = game.scores.iter().filter(|s| s.analysis == analysis);
    let scores = scores.map(|s| (s.ply, s.color, s.score_cp, s.mate)).collect();
    (String::from_utf8_lossy(&text).into_owned(), game.annotator, scores)
}

const CSA: &str = "V2.2\nN+a\nN-b\nPI\n+\n+7776FU\nT1\n'** 55 -3334FU\n-3334FU,T12\n+2726FU,T3,-8384FU\nT4\n%TORYO\n\
                   'summary:toryo:a win:b lose\n/\n";
const KIF: &str = "手合割：平手\n先手：技巧\n後手：b\n手数----指手---------消費時間--\n*prose\n   1 ７六歩(77)   \
                   ( 0:02/00:00:02)\n*#評価値=9\n*note\n   2 ３四歩(33)   ( 1:00/00:01:00)\n   3 ２六歩(27)\n   \
                   4 ８四歩(83)\n   5 投了\n変化：3手\n   3 ７五歩(76)\n";
const KI2: &str = "先手：a\n後手：b\n\n▲７六歩    △３四歩    ▲２六歩\n*note\n△８四歩\nまで4手で後手の勝ち\n";
const JUDGED: &str = "[White \"W\"]\n[Result \"1-0\"]\n\n1. e4 {why} $1 $14 {more} e5 {[%eval 0.1]} $2 2. Nf3\n; a\n! \
                      Nc6 {x} (2... d6) $3 1-0\n";
const PGN: &str = "[White \"W\"]\n[Black \"B\"]\n[TimeControl \"300+2\"]\n[Result \"1-0\"]\n\n1. e4 {[%eval 0.17] \
                   [%clk 0:05:00]} e5 $1 {+0.30/9 1.5s} (1... c5 {[%eval 9.0]} 2. Nf3) 2.Nf3$1 Nc6 ; d4\n1-0\n";

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
            let (text, engine, scores) = read_back(record, form);
            assert_eq!(scores, shogi, "{form:?}\n{text}");
            assert_eq!(engine, "名前 \"x\"");
        }
    }
    let (text, engine, scores) = read_back(PGN.as_bytes(), Form::ShogiHome);
    let chess = [
        (1, White, 10, false),
        (2, Black, -20, false),
        (3, White, -30, false),
        (4, Black, -100_000, true),
        (5, White, -100_000, true),
    ];
    assert_eq!((scores, &*engine), (chess.to_vec(), "名前 \"x\""), "{text}");
    assert!(text.contains("[Annotator \"名前 \\\"x\\\"\"]\n\n"), "{text}");
    assert!(
        text.contains(
            "1. {[%eval 0.10,9]} e4 {[%eval 0.20,9]} {[%eval 0.17] [%clk 0:05:00]} e5 $1 {[%eval -0.30,9]} {+0.30"
        ),
        "{text}"
    );
    assert!(text.contains("(1... c5 {[%eval 9.0]} 2. Nf3) 2.Nf3$1 {[%eval #3]} Nc6 {[%eval #-3]} ; d4"), "{text}");
}

#[test]
fn a_judgement_stands_before_the_analysis() {
    let text = annotated(JUDGED.as_bytes(), "Zz", &|_| remarks(), Form::ShogiHome).text.unwrap();
    let text = String::from_utf8(text).unwrap();
    for expected in [
        "e4 {why} $1 $14 {[%eval 0.20,9]} {more}",
        // an older analysis would be read first
        "e5 {[%eval -0.30,9]} {[%eval 0.1]} $2",
        "Nf3\n; a\n! {[%eval #3]} Nc6 {[%eval #-3]} {x} (2... d6) $3",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn what_is_there_already_is_not_inserted_again() {
    let (sjis, ..) = SHIFT_JIS.encode(KIF);
    let windows = CSA.replace('\n', "\r\n");
    let judged = JUDGED.replace("[%eval 0.1]", "worse");
    let pgn = [PGN.as_bytes(), judged.as_bytes()];
    for record in [CSA.as_bytes(), windows.as_bytes(), KIF.as_bytes(), &sjis, KI2.as_bytes(), pgn[0], pgn[1]] {
        for form in [Form::ShogiHome, Form::ShogiGui, Form::Floodgate] {
            for remarks in [remarks(), vec![None, remark(20), None, remark(-7), None]] {
                let once = annotated(record, "Zz", &|_| remarks.clone(), form).text.unwrap();
                assert!(once.len() > record.len());
                let twice = annotated(&once, "Zz", &|_| remarks.clone(), form);
                let shown = String::from_utf8_lossy(&once);
                assert!((twice.refused, twice.inserted.len()) == (0, 0), "{form:?}\n{shown}");
                // what it says now stands first, and is read
                let other = annotated(&once, "Zz", &|_| vec![remark(1); 5], form).text.unwrap();
                let analysis = form != Form::Floodgate || pgn.contains(&record);
                let scores: Vec<i32> =
                    read(&other).0.scores.iter().filter(|s| s.analysis == analysis).map(|s| s.score_cp).collect();
                assert!(scores.len() > 3 && scores.iter().all(|cp| cp.abs() == 1), "{scores:?}");
            }
        }
    }
}

/// A score of another engine was read as that of the new one, where the new one had failed.
#[test]
fn an_older_score_is_not_read_as_that_of_the_new_engine() {
    let gap = || vec![None, remark(20), None, remark(-7), remark(5)];
    let old = PGN.replace("Nc6", "Nc6 {[%eval 0.55]}").replace("e5 $1", "e5 $1 {[%eval 3.00]}");
    let found = annotated(old.as_bytes(), "Zz", &|_| gap(), Form::ShogiHome);
    assert_eq!((found.refused, found.inserted.len(), found.text.unwrap()), (1, 0, old.clone().into_bytes()));
    // nothing is mistaken if it scores that position, or if the older scores are its own
    for (text, remarks) in [(old.clone(), remarks()), (old.replacen("\n\n", "\n[Annotator \"Zz\"]\n\n", 1), gap())] {
        let found = annotated(text.as_bytes(), "Zz", &|_| remarks.clone(), Form::ShogiHome);
        assert!((found.refused, found.inserted.is_empty()) == (0, false), "{text}");
    }
    // a score without a name in KIF, where the new one names itself
    let old = KIF.replace("*#評価値=9\n", "*#評価値=-9\n");
    let silent = || vec![remark(1), None, remark(2), None, None];
    assert_eq!(annotated(old.as_bytes(), "Zz", &|_| silent(), Form::ShogiHome).refused, 1);
    // two names: neither is believed
    let named = old.replace("*#評価値=-9\n", "*#評価値=-9\n*#エンジン=Old\n");
    let found = annotated(named.as_bytes(), "Zz", &|_| silent(), Form::ShogiHome);
    assert_eq!((found.refused, read(&found.text.unwrap()).0.annotator), (0, String::new()));
}

#[test]
fn another_engine_is_named_beside_the_first_one() {
    let other = PGN.replace("\n\n", "\n[Annotator \"Old\"]\n\n");
    let (text, engine, scores) = read_back(other.as_bytes(), Form::ShogiHome);
    assert_eq!((&*engine, scores.len(), scores[1].2), ("名前 \"x\"", 5, -20), "{text}");
    // two engines that both have no number: neither can be told
    let old = KIF.replace("*note", "*#エンジン=Old");
    let (text, engine, scores) = read_back(old.as_bytes(), Form::ShogiHome);
    assert_eq!((&*engine, scores[0].2), ("", -20), "{text}");
    // ChessBase keeps the first two scores there, which its reader needs
    let chessbase = PGN.replace("\n\n", "\n[Annotator \"0.41;0.44\"]\n\n");
    assert_eq!(read_back(chessbase.as_bytes(), Form::ShogiHome).1, "");
}

#[test]
fn scores_of_floodgate_are_those_of_the_mover() {
    use Color::{Black, White};
    let own = [(1, Black, 10, false), (2, White, -20, false), (3, Black, -30, false), (4, White, -30_000, false)];
    for record in [CSA, KIF] {
        let (text, _, scores) = read_back(record.as_bytes(), Form::Floodgate);
        assert_eq!(scores, own, "{text}");
        assert!(text.contains("** 30000 %TORYO\n"), "{text}");
    }
}

#[test]
fn lines_end_as_they_did_and_a_line_of_two_moves_is_cut() {
    let windows = CSA.replace('\n', "\r\n");
    let (text, ..) = read_back(windows.as_bytes(), Form::ShogiHome);
    assert!(
        text.contains("-3334FU,T12\r\n'*#評価値=-30\r\n") && text.contains("+2726FU,T3,\r\n'*#詰み=先手勝ち:5手\r\n")
    );
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    let (text, ..) = read_back(KI2.as_bytes(), Form::ShogiHome);
    assert!(
        text.contains("△３四歩    \n*#評価値=-30\n") && text.contains("\n▲２六歩\n*#詰み=先手勝ち:5手\n"),
        "{text}"
    );
}

/// Without its numbers, all that is inserted is as long as one of these.
fn remarks_of(plies: usize) -> Vec<Option<Remark>> {
    (0..plies).map(|ply| if ply % 7 == 3 { None } else { remark(31_337) }).collect()
}

/// Records of the repository: files, and the inputs of fuzzing.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    let packed = fs::File::open(root.join("fuzz/corpus.tar.gz")).unwrap();
    for entry in tar::Archive::new(flate2::read::GzDecoder::new(packed)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let (name, mut bytes) = (entry.path().unwrap().to_string_lossy().into_owned(), Vec::new());
        if ["csa", "kif", "pgn", "usi_log"].iter().any(|target| name.starts_with(&format!("corpus/{target}/"))) {
            entry.read_to_end(&mut bytes).unwrap();
            found.push((name, bytes));
        }
    }
    let mut folders: Vec<PathBuf> = ["data", "tests", "crates", "examples"].map(|folder| root.join(folder)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if [".csa", ".kif", ".kifu", ".ki2", ".pgn"].iter().any(|end| name.ends_with(end)) {
                // the first games of large files
                let mut bytes = fs::read(&path).unwrap();
                bytes.truncate(200_000);
                found.push((name, bytes));
            }
        }
    }
    found.extend([CSA, KIF, KI2, PGN, JUDGED].map(|text| (text.to_owned(), text.as_bytes().to_vec())));
    found
}

/// What was inserted, taken out again, gives the file: whole, cut, joined, damaged, in every encoding and with every
/// line end.
#[test]
fn a_record_without_what_was_inserted_is_the_record() {
    let corpus = corpus();
    let add = |a: [usize; 4], b: [usize; 4]| std::array::from_fn(|i| a[i] + b[i]);
    // files, games read, games refused, and pieces
    let of_file = |number: usize| {
        let (name, bytes) = &corpus[number];
        let (mut files, mut games, mut refused, mut pieces) = (0, 0, 0, 0);
        let mut forms: Vec<Vec<u8>> = vec![bytes.clone()];
        if let Ok(text) = std::str::from_utf8(bytes) {
            let plain = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
            forms.extend([
                SHIFT_JIS.encode(&plain).0.into_owned(),
                EUC_JP.encode(&plain).0.into_owned(),
                format!("\u{feff}{plain}").into_bytes(),
                plain.replace('\n', "\r\n").into_bytes(),
                plain.replace('\n', "\r").into_bytes(),
                format!("\u{feff}{plain}\n").repeat(2).into_bytes(),
                plain.trim_end().as_bytes().to_vec(),
            ]);
        }
        let at = bytes.len() / 2;
        forms.push([&bytes[..at], b"\n+9999XX\n", &bytes[at..]].concat());
        for (kind, input) in forms.iter().enumerate() {
            let form = [Form::ShogiHome, Form::ShogiGui, Form::Floodgate][(number + kind) % 3];
            let found = annotated(input, "Zz", &remarks_of, form);
            let Some(output) = found.text else { continue };
            (files, games, refused) = (files + 1, games + found.read, refused + found.refused);
            pieces += found.inserted.len();
            let inserted: usize = found.inserted.iter().map(Vec::len).sum();
            assert_eq!(output.len(), input.len() + inserted, "{name}, form {kind}");
            // each piece is taken out where it stands
            let (mut rest, mut back) = (&output[..], Vec::new());
            for piece in &found.inserted {
                let piece: Vec<u8> = match input.contains(&b'\n') {
                    true => piece.clone(),
                    false => piece.iter().map(|b| if *b == b'\n' { b'\r' } else { *b }).collect(),
                };
                let at = memchr::memmem::find(rest, &piece).unwrap_or_else(|| panic!("{name}, form {kind}"));
                back.extend_from_slice(&rest[..at]);
                rest = &rest[at + piece.len()..];
            }
            back.extend_from_slice(rest);
            assert!(back == *input, "{name}, form {kind}");
        }
        [files, games, refused, pieces]
    };
    let next = AtomicUsize::new(0);
    let of_thread = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|number| *number < corpus.len()).map(of_file).fold([0; 4], add)
    };
    let [files, games, refused, pieces] = std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(of_thread));
        threads.map(|thread| thread.join().unwrap()).into_iter().fold([0; 4], add)
    });
    println!("{files} files, {games} games, {refused} not annotated, {pieces} comments");
    assert!(files > 1_000 && games > 3_000 && pieces > 100_000 && refused * 20 < games);
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
