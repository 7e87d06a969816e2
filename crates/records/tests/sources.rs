//! Files, links and archives that are damaged or unusual: what can be read is read, and the rest is reported.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use evalcurve_records::match_stats::results::Pairing;
use evalcurve_records::match_stats::{Matches, read_matches};
use evalcurve_records::sample::{CollectOptions, Collected, Progress, SamplingOptions, collect};

/// A new folder below the build folder.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn read(path: &Path) -> Collected {
    let options = CollectOptions {
        sampling: SamplingOptions { from_ply: 1, ..SamplingOptions::default() },
        threads: 2,
        strict: false,
        verify: false,
        material: false,
        format: None,
    };
    collect(&[path.to_owned()], &options, &Progress::default()).unwrap()
}

/// A game that differs from others by its number.
fn game(number: u32) -> String {
    format!("V2.2\nN+A{number}\nN-B\nPI\n+\n+7776FU\n'** 30 -3334FU\n-3334FU\n'** 40 +2726FU\n+2726FU\n%TORYO\n")
}

/// The games used, the files read, and the refused files.
fn counts(found: &Collected) -> (u64, u64, u64) {
    let report = &found.report;
    (report.games_used, report.files_read, report.files_refused.values().sum())
}

#[cfg(unix)]
#[test]
fn broken_links_and_folders_are_counted_and_the_others_read() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("links");
    fs::write(folder.join("a.csa"), game(1)).unwrap();
    symlink("nowhere.csa", folder.join("dangling.csa")).unwrap();
    symlink("loop.csa", folder.join("loop.csa")).unwrap();
    symlink(".", folder.join("parent")).unwrap();
    symlink("nowhere", folder.join(".#lock")).unwrap();
    let closed = folder.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // the superuser may read it
    let unreadable = 3 + u64::from(fs::read_dir(&closed).is_err());
    let found = read(&folder);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(counts(&found), (1, 1, unreadable));
    let texts: Vec<String> = found.report.problems.iter().map(ToString::to_string).collect();
    let about = |name: &str| texts.iter().find(|t| t.contains(name)).unwrap_or_else(|| panic!("{name}: {texts:?}"));
    assert!(about("dangling.csa").ends_with("unreadable: the link leads to a file that does not exist"));
    assert!(
        about("loop.csa").contains("unreadable: ") && about("parent").contains("the link leads back to the folder")
    );
    assert!(unreadable == 3 || about("closed").ends_with("no permission to read it; change its permissions"));
    // the same for a link that is given by name, and for match statistics
    assert_eq!(counts(&read(&folder.join("dangling.csa"))), (0, 0, 1));
    let Matches { used, refused, .. } = read_matches(&[folder], Pairing::None, 1).unwrap();
    assert_eq!((used, refused["unreadable"]), (1, 3));
}

#[test]
fn a_zero_byte_costs_at_most_its_game() {
    let folder = folder("zero");
    let text = format!("'a\0comment\n{}{}{}", game(1), game(2).replace("-3334FU", "-33\x0034FU"), game(3));
    fs::write(folder.join("a.csa"), text).unwrap();
    let found = read(&folder);
    assert_eq!(counts(&found), (2, 1, 0));
    assert_eq!(found.report.games_skipped["broken_move"], 1);
    assert_eq!(found.report.oddities["zero_byte"], 1);
    assert!(found.report.problems.iter().any(|p| p.line == 1 && p.kind == "zero_byte" && p.strict));
    let pgn = "[White \"A\"]\n[Black \"B\0\"]\n[Result \"1-0\"]\n\n1. e4 {+0.30/9 1s} e5 {0.10/8 1s} 2. Nf3 1-0\n";
    fs::write(folder.join("b.pgn"), pgn).unwrap();
    assert_eq!(counts(&read(&folder)), (3, 2, 0));
    // other binary data is still not a record
    fs::write(folder.join("c.bin"), b"\x7fELF\x02\x01\x01\0\0\0\0V2.2\nN+A\n").unwrap();
    assert_eq!(counts(&read(&folder)), (3, 2, 1));
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn tar(members: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

fn zip(members: &[(&str, &str)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in members {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(*name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i..].starts_with(from)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

#[test]
fn bz2_is_read_wherever_archives_are() {
    let folder = folder("bz2");
    let (one, two, three) = (game(1), game(2), game(3));
    let members = [("one.csa", one.as_str()), ("two.csa", two.as_str())];
    let same = |name: &str, bytes: &[u8], expected: (u64, u64, u64)| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(counts(&read(&path)), expected, "{name}");
    };
    // two streams in one file, as pbzip2 and cat write them
    same("a.csa.bz2", &[bz2(one.as_bytes()), bz2(three.as_bytes())].concat(), (2, 1, 0));
    same("a.tar.bz2", &bz2(&tar(&members)), (2, 2, 0));
    let inner = bz2(one.as_bytes());
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_size(inner.len() as u64);
    archive.append_data(&mut header, "one.csa.bz2", &inner[..]).unwrap();
    same("b.tar", &archive.into_inner().unwrap(), (1, 1, 0));
    same("c.zip", &zip(&members, zip::CompressionMethod::Bzip2), (2, 2, 0));
    // a cut stream gives what it holds
    let many: String = (0..40_000).map(game).collect();
    let whole = bz2(many.as_bytes());
    let path = folder.join("cut.csa.bz2");
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let cut = read(&path);
    assert!(cut.report.games_used > 1_000 && cut.report.games_used < 40_000, "{}", cut.report.games_used);
    assert_eq!(cut.report.files_refused["unreadable"], 1);
}

#[test]
fn members_of_one_name_are_all_read() {
    let folder = folder("names");
    let games: Vec<String> = (1..=3).map(game).collect();
    let path = folder.join("a.zip");
    let members = [("a.csa", games[0].as_str()), ("b.csa", games[1].as_str()), ("c.csa", games[2].as_str())];
    let archive = replaced(&zip(&members, zip::CompressionMethod::Deflated), b"b.csa", b"a.csa");
    fs::write(&path, archive).unwrap();
    let found = read(&path);
    assert_eq!(counts(&found), (3, 3, 0));
    // lines count from the beginning of each member
    assert!(found.table.games.iter().all(|game| game.line == 2), "{:?}", found.table.games);
    let path = folder.join("a.tar");
    fs::write(&path, tar(&[("a.csa", &games[0]), ("a.csa", &games[1])])).unwrap();
    let found = read(&path);
    assert_eq!(counts(&found), (2, 2, 0));
    assert!(found.table.games.iter().all(|game| game.line == 2));
}

#[test]
fn a_name_without_end_costs_the_rest_of_its_tar() {
    let folder = folder("long");
    let longest = "a/".repeat(150) + "b.csa";
    let mut archive = tar::Builder::new(Vec::new());
    let mut append = |kind, name: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, bytes).unwrap();
    };
    append(tar::EntryType::Regular, &longest, game(1).as_bytes());
    append(tar::EntryType::GNULongName, "@LongLink", &[b'c'; 70_000]);
    append(tar::EntryType::Regular, "cut", game(2).as_bytes());
    let path = folder.join("a.tar");
    fs::write(&path, archive.into_inner().unwrap()).unwrap();
    let found = read(&path);
    assert_eq!(counts(&found), (1, 1, 1));
    let source = found.table.names.get(found.table.games[0].source);
    assert!(source.ends_with(&format!("a.tar/{longest}")), "{source}");
    let text = found.report.problems[0].to_string();
    let expected = "a.tar: unreadable: the tar archive is damaged: a name or an extended header has 70,000 bytes, more \
                    than 65,536; unpack it with another program first";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn methods_that_are_not_supported_are_named() {
    let folder = folder("methods");
    let (one, two) = (game(1), game(2));
    let members = [("a.csa", one.as_str()), ("b.csa", two.as_str())];
    let mut archive = zip(&members, zip::CompressionMethod::Stored);
    // method 98 (PPMd) in both headers of the second member
    for (mark, offset) in [(&b"PK\x03\x04"[..], 8), (b"PK\x01\x02", 10)] {
        let at = (0..archive.len()).filter(|&i| archive[i..].starts_with(mark)).nth(1).unwrap();
        archive[at + offset] = 98;
    }
    let path = folder.join("a.zip");
    fs::write(&path, archive).unwrap();
    let found = read(&path);
    assert_eq!(counts(&found), (1, 1, 1));
    let text = found.report.problems[0].to_string();
    let expected = "a.zip/b.csa: unreadable: compression method 98 of zip is not supported; unpack it with another \
                    program first";
    assert!(text.ends_with(expected), "{text}");
    // the texts of 7z are those of a program, not of its debugger
    let path = folder.join("a.7z");
    fs::write(&path, b"7z\xbc\xaf\x27\x1c\0\x04aaaabbbbbbbbccccccccddddeeeeeeee").unwrap();
    let found = read(&path);
    let text = found.report.problems[0].to_string();
    assert!(text.contains("unreadable: ") && !text.contains(['{', '(', '"']), "{text}");
}
