//! Files, links and archives that are damaged or unusual count as where samples are drawn.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use evalcurve_match::match_stats::results::Pairing;
use evalcurve_match::match_stats::{Matches, read_matches};

/// A new folder below the build folder.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn read(paths: &[PathBuf]) -> Matches {
    read_matches(paths, Pairing::None, 2).unwrap()
}

/// A game that differs from others by its number.
fn game(number: u32) -> String {
    format!("V2.2\nN+A{number}\nN-B\nPI\n+\n+7776FU\n-3334FU\n+2726FU\n%TORYO\n")
}

#[cfg(unix)]
#[test]
fn broken_links_are_counted_and_the_others_read() {
    use std::os::unix::fs::symlink;
    let folder = folder("links");
    fs::write(folder.join("a.csa"), game(1)).unwrap();
    symlink("nowhere.csa", folder.join("dangling.csa")).unwrap();
    symlink("loop.csa", folder.join("loop.csa")).unwrap();
    symlink(".", folder.join("parent")).unwrap();
    let Matches { used, refused, .. } = read(&[folder]);
    assert_eq!((used, refused["unreadable"]), (1, 3));
}

#[test]
fn members_of_other_types_are_read_or_reported() {
    let mut archive = tar::Builder::new(Vec::new());
    for (number, kind) in (1..).zip(b"07Z\0SM12345") {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[156] = *kind;
        // links, folders and devices have no content
        let content = if kind.is_ascii_digit() && !b"07".contains(kind) { String::new() } else { game(number) };
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, format!("{number}.csa"), content.as_bytes()).unwrap();
    }
    let path = folder("types").join("a.tar");
    fs::write(&path, archive.into_inner().unwrap()).unwrap();
    let Matches { used, refused, .. } = read(&[path]);
    assert_eq!((used, refused["unreadable"]), (4, 2));
}

#[test]
fn a_game_with_different_results_does_not_count() {
    let folder = folder("copies");
    let write = |name: &str, result: &str| {
        let head = "[White \"A\"]\n[Black \"B\"]\n[Date \"2026.01.02\"]\n";
        let text = format!("{head}[Result \"{result}\"]\n\n1. e4 e5 2. Nf3 {result}\n\n");
        fs::write(folder.join(name), text).unwrap();
        folder.join(name)
    };
    let (won, again, lost) = (write("won.pgn", "1-0"), write("again.pgn", "1-0"), write("lost.pgn", "0-1"));
    for paths in [[&won, &lost, &again], [&lost, &again, &won], [&again, &lost, &lost]] {
        let matches = read(&paths.map(PathBuf::clone));
        let skipped = format!("{:?}", matches.skipped);
        assert_eq!((matches.used, &skipped[..]), (0, r#"{"duplicate": 2, "unknown_result": 1}"#));
    }
}

#[test]
fn what_follows_a_compressed_file_costs_no_game() {
    let folder = folder("trailing");
    for games in [1, 20] {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        (0..games).for_each(|number| encoder.write_all(game(number).as_bytes()).unwrap());
        let packed = encoder.finish().unwrap();
        for (rest, others) in [(&[0; 512][..], 0), (b"junk", 1), (&[0xff; 100], 1)] {
            let path = folder.join("a.csa.gz");
            fs::write(&path, [&packed[..], rest].concat()).unwrap();
            let Matches { used, problems, .. } = read(&[path]);
            assert_eq!((used, problems.len()), (u64::from(games), others));
        }
    }
}
