//! Real records, which the project does not ship: the folder that EVALCURVE_RECORDS names.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::record::{csa, encoding};

fn files(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = std::env::var_os("EVALCURVE_RECORDS").expect("EVALCURVE_RECORDS names a folder of records");
    let mut found: Vec<_> = std::fs::read_dir(PathBuf::from(folder).join(name))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_file())
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&p).unwrap()))
        .collect();
    found.sort();
    found
}

fn read(reader: &Format, text: &[u8]) -> Vec<Result<Game, GameError>> {
    reader.games(text, &Above { encoding: encoding::declared(text), ..Above::default() }).collect()
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn every_kif_file_is_read() {
    for (name, text) in files("kif") {
        assert_eq!(Format::detect(&text), Some(&FORMAT), "{name}");
        let games = read(&FORMAT, &text);
        assert_eq!(games.len(), 1, "{name}: {games:?}");
        let game = games[0].as_ref().unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert!(game.oddities.is_empty(), "{name}: {:?}", game.oddities);
        let own = game.scores.iter().filter(|s| !s.analysis).count();
        eprintln!(
            "{name}: {:?} {:?} {} plies, {own} own scores, {} of analyses, {:?} {:?} {:?}",
            game.names,
            game.start_time.map(|t| t.to_string()),
            game.plies,
            game.scores.len() - own,
            game.termination,
            game.black_outcome,
            game.annotator
        );
        if name.starts_with("kiou") {
            assert!(game.scores.is_empty());
        }
    }
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn any_file_cut_or_changed_loses_no_other_game() {
    let files = files("kif");
    for (name, text) in &files {
        let (_, last) = files.iter().find(|(n, _)| n.starts_with("saito")).unwrap();
        let id = read(&FORMAT, last).pop().unwrap().unwrap().id;
        let step = (text.len() / 400).max(1);
        for at in (0..text.len()).step_by(step) {
            let mut changed = text.clone();
            changed[at] ^= 0x55;
            for damaged in [&text[..at], &changed] {
                let games = read(&FORMAT, &[damaged, b"\n", last].concat());
                assert_eq!(games.last().unwrap().as_ref().map(|g| g.id), Ok(id), "{name} at {at}");
                assert!(games.len() <= 3, "{name} at {at}");
            }
        }
    }
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn the_same_game_in_csa_and_kif_is_the_same() {
    let kif = files("kif").into_iter().find(|(n, _)| n.starts_with("saito"));
    let csa = files("csa").into_iter().find(|(n, _)| n.starts_with("saito"));
    let ((_, kif), (_, csa)) = (kif.unwrap(), csa.unwrap());
    let (kif, csa) = (read(&FORMAT, &kif).pop().unwrap().unwrap(), read(&csa::FORMAT, &csa).pop().unwrap().unwrap());
    assert_eq!(kif.id, csa.id);
    assert_eq!((kif.termination, kif.black_outcome), (csa.termination, csa.black_outcome));
    // this KIF file keeps the comments of the first seven moves only
    let plain =
        |g: &Game| g.scores.iter().map(|s| (s.ply, s.color, s.score_cp, s.mate, s.analysis)).collect::<Vec<_>>();
    let first = plain(&csa).into_iter().filter(|s| s.0 <= 8 && s.4).collect::<Vec<_>>();
    assert_eq!(plain(&kif), first);

    // the player's own score repeats the analysis of the same position: before the move, and after the one before it
    let of = |analysis| csa.scores.iter().filter(move |s| s.analysis == analysis);
    let analyses: BTreeMap<u32, _> = of(true).map(|s| (s.ply, s)).collect();
    let [mut same, mut other, mut mates] = [0; 3];
    for own in of(false) {
        match analyses.get(&own.ply) {
            Some(analysis) if analysis.mate => mates += 1,
            Some(analysis) if analysis.score_cp == own.score_cp => same += 1,
            found => {
                eprintln!("{own:?} {found:?}");
                other += 1;
            }
        }
    }
    eprintln!("own scores: {same} repeat the analysis, {mates} are beside an announced mate, {other} differ");
    assert!(same >= 10 * other);
    assert!(csa.scores.iter().filter(|s| !s.analysis).all(|s| s.color == Color::White));
}

/// CSA text as KIF: a converter for tests that knows the board.
fn kif_of_csa(text: &str) -> Option<String> {
    let mut out = String::from("手合割：平手\n");
    let mut board: BTreeMap<(u8, u8), String> = BTreeMap::new();
    let (mut number, mut head) = (0, true);
    for line in text.lines() {
        let line = line.split(",T").next().unwrap_or(line);
        if let Some(name) = line.strip_prefix("N+") {
            out += &format!("先手：{}\n", name.trim_start_matches(':'));
        } else if let Some(name) = line.strip_prefix("N-") {
            out += &format!("後手：{}\n", name.trim_start_matches(':'));
        } else if let Some(time) = line.strip_prefix("$START_TIME:") {
            out += &format!("開始日時：{time}\n");
        } else if line.len() == 7 && line.starts_with(['+', '-']) {
            if head {
                out += "手数----指手---------消費時間--\n";
                head = false;
            }
            number += 1;
            let b = line.as_bytes();
            let (from, to, piece) = ((b[1], b[2]), (b[3], b[4]), &line[5..7]);
            let before = match from {
                (b'0', b'0') => None,
                _ => Some(board.remove(&from).unwrap_or_else(|| even(from).to_owned())),
            };
            board.insert(to, piece.to_owned());
            let file = ["１", "２", "３", "４", "５", "６", "７", "８", "９"][usize::from(to.0 - b'1')];
            let rank = ["一", "二", "三", "四", "五", "六", "七", "八", "九"][usize::from(to.1 - b'1')];
            let name = |csa: &str| {
                let all = [
                    ("FU", "歩"),
                    ("KY", "香"),
                    ("KE", "桂"),
                    ("GI", "銀"),
                    ("KI", "金"),
                    ("KA", "角"),
                    ("HI", "飛"),
                    ("OU", "玉"),
                    ("TO", "と"),
                    ("NY", "成香"),
                    ("NK", "成桂"),
                    ("NG", "成銀"),
                    ("UM", "馬"),
                    ("RY", "龍"),
                ];
                all.iter().find(|(c, _)| *c == csa).map_or("", |(_, k)| k)
            };
            let moved = match &before {
                None => format!("{}打", name(piece)),
                Some(before) if before == piece => format!("{}({})", name(piece), &line[1..3]),
                Some(before) => format!("{}成({})", name(before), &line[1..3]),
            };
            out += &format!("{number:4} {file}{rank}{moved}   ( 0:01/00:00:01)\n");
        } else if let Some(comment) = line.strip_prefix('\'').filter(|c| c.starts_with('*')) {
            out += comment;
            out.push('\n');
        } else if line.starts_with("%TORYO") {
            out += &format!("{:4} 投了\n", number + 1);
        } else if line.starts_with("%CHUDAN") {
            out += &format!("{:4} 中断\n", number + 1);
        } else if (line.starts_with("PI") && line.len() > 2) || line.starts_with("P+") || line.starts_with("P-") {
            return None;
        }
    }
    (number > 0).then_some(out)
}

fn even(square: (u8, u8)) -> &'static str {
    match square {
        (b'2', b'8') | (b'8', b'2') => "HI",
        (b'8', b'8') | (b'2', b'2') => "KA",
        (_, b'3' | b'7') => "FU",
        (file, _) => ["KY", "KE", "GI", "KI", "OU", "KI", "GI", "KE", "KY"][usize::from(file - b'1')],
    }
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn csa_games_turned_into_kif_keep_their_identity_and_scores() {
    let mut compared = 0;
    for (name, text) in files("floodgate").into_iter().chain(files("csa")) {
        let csa = read(&csa::FORMAT, &text);
        let [Ok(csa)] = &csa[..] else { continue };
        let text = encoding::decode(&text, encoding::declared(&text), &text);
        let Some(kif) = kif_of_csa(&text) else { continue };
        for encoded in [kif.clone().into_bytes(), encoding_rs::SHIFT_JIS.encode(&kif).0.into_owned()] {
            let games = read(&FORMAT, &encoded);
            let [Ok(kif)] = &games[..] else { panic!("{name}: {games:?}") };
            assert_eq!(kif.plies, csa.plies, "{name}");
            let plain = |g: &Game| g.scores.iter().map(|s| (s.ply, s.score_cp, s.analysis)).collect::<Vec<_>>();
            assert_eq!(plain(kif), plain(csa), "{name}");
            assert_eq!(kif.book_moves, csa.book_moves, "{name}");
            assert_eq!(
                kif.id, csa.id,
                "{name}: {:?} {:?} {:?} {:?}",
                kif.names, csa.names, kif.start_time, csa.start_time
            );
        }
        compared += 1;
    }
    eprintln!("{compared} games compared");
    assert!(compared > 0);
}
