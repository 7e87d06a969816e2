//! Files, links and archives that are damaged or unusual: what can be read is read, and the rest is reported.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_records::record::find::{Entry, find};
use evalcurve_records::record::{OddityKind, SkipReason};
use evalcurve_records::sample::collect::Problem;
use evalcurve_records::sample::{
    CollectOptions, Collected, Duplicates, Progress, SamplingOptions, collect, collect_with_rows,
};
use evalcurve_records::{Games, Record, games, games_of};

/// A new folder below the build folder.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn options() -> CollectOptions {
    CollectOptions {
        sampling: SamplingOptions { from_ply: 1, ..SamplingOptions::default() },
        threads: 2,
        ..CollectOptions::default()
    }
}

/// Reads a file or folder; a file also from memory, which must give the same.
fn read(path: &Path) -> Collected {
    let read = |entries: &[Entry]| collect(entries, &[], &options(), &Progress::default()).unwrap();
    let entries = find(&[path.to_owned()]).unwrap();
    let found = read(&entries);
    if path.is_file() {
        let bytes = fs::read(path).unwrap();
        let in_memory = read(&[Entry::in_memory(entries[0].display.clone(), bytes)]);
        let shown = |found: &Collected| format!("{:?} {:?}", found.table.samples, found.report);
        assert_eq!(shown(&found), shown(&in_memory));
    }
    found
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
    // the same for a link that is given by name
    assert_eq!(counts(&read(&folder.join("dangling.csa"))), (0, 0, 1));
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
    assert!(found.report.problems.iter().any(|p| p.line == 1 && p.kind == OddityKind::ZeroByte.into() && p.is_error));
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

/// A small zip whose members share their data made 40 GB.
#[test]
fn members_of_a_zip_do_not_overlap() {
    let games: String = (0..40).map(game).collect();
    let archive = zip(&[("a.csa", &games)], zip::CompressionMethod::Stored);
    let at = |mark: &[u8]| (0..archive.len()).find(|&i| archive[i..].starts_with(mark)).unwrap();
    let (directory, end) = (at(b"PK\x01\x02"), at(b"PK\x05\x06"));
    let listed = archive[directory..end].repeat(5);
    let mut tail = archive[end..].to_vec();
    tail[8..12].copy_from_slice(&[5, 0, 5, 0]);
    tail[12..16].copy_from_slice(&(listed.len() as u32).to_le_bytes());
    let path = folder("overlap").join("a.zip");
    fs::write(&path, [&archive[..directory], &listed, &tail].concat()).unwrap();
    let found = read(&path);
    assert_eq!(counts(&found), (40, 1, 1));
    let text = found.report.problems[0].to_string();
    assert!(
        text.contains("a.zip: unreadable: the members of the zip archive overlap; those from number 2 on"),
        "{text}"
    );
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
fn members_of_other_types_are_read_or_reported() {
    let folder = folder("types");
    let mut archive = tar::Builder::new(Vec::new());
    for (number, kind) in (1..).zip(b"07Z\0SM12345") {
        let game = game(number);
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::new(*kind));
        header.as_mut_bytes()[156] = *kind;
        // links, folders and devices have no content
        let content = if kind.is_ascii_digit() && !b"07".contains(kind) { "" } else { &game };
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, format!("{number}.csa"), content.as_bytes()).unwrap();
    }
    let path = folder.join("a.tar");
    fs::write(&path, archive.into_inner().unwrap()).unwrap();
    let found = read(&path);
    assert_eq!(counts(&found), (4, 4, 2));
    let texts: Vec<String> = found.report.problems.iter().map(ToString::to_string).collect();
    assert!(
        texts[0].ends_with(
            "a.tar/5.csa: unreadable: the member is a sparse file; pack it again without sparse files (tar without -S)"
        ),
        "{texts:?}"
    );
}

fn crc(bytes: &[u8]) -> [u8; 4] {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum().to_le_bytes()
}

/// A chunk of LZMA2 that is stored.
fn chunk(bytes: &[u8]) -> Vec<u8> {
    [&[1], &(bytes.len() as u16 - 1).to_be_bytes()[..], bytes, &[0]].concat()
}

/// A number of 7z below 2^28.
fn number_7z(n: usize) -> [u8; 4] {
    [0xe0 | (n >> 24) as u8, n as u8, (n >> 8) as u8, (n >> 16) as u8]
}

/// A 7z archive: its packed data and its list of members.
fn archive_7z(packed: &[u8], list: &[u8]) -> Vec<u8> {
    let mut start = (packed.len() as u64).to_le_bytes().to_vec();
    start.extend((list.len() as u64).to_le_bytes());
    start.extend(crc(list));
    [b"7z\xbc\xaf\x27\x1c\0\x04", &crc(&start)[..], &start, packed, list].concat()
}

/// A 7z archive whose list is a chunk of LZMA2 with these properties, which says that it expands to `size` bytes.
fn archive_7z_with_packed_list(packed: &[u8], list: &[u8], property: u8, size: usize) -> Vec<u8> {
    let stored = chunk(list);
    let (at, bytes, size) = (number_7z(packed.len()), number_7z(stored.len()), number_7z(size));
    let head = [&[23, 6][..], &at, &[1, 9], &bytes, &[0, 7, 11, 1, 0, 1, 0x21, 0x21, 1, property, 12], &size, &[0, 0]];
    archive_7z(&[packed, &stored].concat(), &head.concat())
}

/// The packed data and the list of members of a 7z archive with one block for each member: its name, the properties of
/// LZMA2, and its content, which is stored.
fn seven_zip(members: &[(&str, u8, &str)]) -> (Vec<u8>, Vec<u8>) {
    let packed: Vec<Vec<u8>> = members.iter().map(|(.., text)| chunk(text.as_bytes())).collect();
    let (count, mut list) = (members.len() as u8, vec![1, 4, 6, 0, members.len() as u8, 9]);
    packed.iter().for_each(|chunk| list.extend(number_7z(chunk.len())));
    list.extend([0, 7, 11, count, 0]);
    members.iter().for_each(|(_, property, _)| list.extend([1, 0x21, 0x21, 1, *property]));
    list.push(12);
    members.iter().for_each(|(.., text)| list.extend(number_7z(text.len())));
    let names: Vec<u8> =
        members.iter().flat_map(|(name, ..)| format!("{name}\0").into_bytes()).flat_map(|b| [b, 0]).collect();
    list.extend([0, 8, 0, 0, 5, count, 17]);
    list.extend(number_7z(names.len() + 1));
    list.push(0);
    list.extend(names);
    list.extend([0, 0]);
    (packed.concat(), list)
}

/// A list of members that packs into 150 KB took 1.8 GB.
#[test]
fn lists_of_7z_members_have_limits() {
    let folder = folder("lists");
    let path = folder.join("a.7z");
    let check = |bytes: &[u8], expected: (u64, u64, u64), words: &str| {
        fs::write(&path, bytes).unwrap();
        let found = read(&path);
        assert_eq!(counts(&found), expected, "{words}");
        let texts: Vec<String> = found.report.problems.iter().map(ToString::to_string).collect();
        assert!(texts.concat().contains(words) && texts.len() as u64 == expected.2, "{texts:?} without {words}");
    };
    let (one, two) = (game(1), game(2));
    let (packed, list) = seven_zip(&[("a.csa", 24, one.as_str()), ("b.csa", 24, &two)]);
    check(&archive_7z(&packed, &list), (2, 2, 0), "");
    let packed_list = |list: &[u8], property, size| archive_7z_with_packed_list(&packed, list, property, size);
    check(&packed_list(&list, 24, list.len()), (2, 2, 0), "");
    // properties 33 are a dictionary of 384 MiB
    check(&packed_list(&list, 33, list.len()), (0, 0, 1), "its dictionary is larger than 256 MiB");
    let too_large = "more than 1000000 members, 250000 blocks of data or 128 MiB of names; pack it again in several";
    check(
        &packed_list(&list, 24, 128 << 20),
        (0, 0, 1),
        "a.7z: unreadable: the 7z archive is damaged (unexpected end of file)",
    );
    check(&packed_list(&list, 24, (128 << 20) + 1), (0, 0, 1), too_large);
    let members = |count| [&[1, 5][..], &number_7z(count)].concat();
    let blocks = |count| [&[1, 4, 6, 0, 0, 0, 7, 11][..], &number_7z(count)].concat();
    let streams =
        |count| [&[1, 4, 6, 0, 0, 0, 7, 11, 1, 0, 1, 1, 0x21, 12, 1, 0, 8, 13][..], &number_7z(count)].concat();
    for list in [members(1_000_001), blocks(250_001), streams(1_000_001)] {
        check(&archive_7z(&packed, &list), (0, 0, 1), too_large);
        check(&packed_list(&list, 24, list.len()), (0, 0, 1), too_large);
    }
    for list in [members(1_000_000), blocks(250_000), streams(1_000_000)] {
        check(&archive_7z(&packed, &list), (0, 0, 1), "a.7z: unreadable: the 7z archive");
        check(&packed_list(&list, 24, list.len()), (0, 0, 1), "a.7z: unreadable: the 7z archive");
    }
    // every place of an archive without a start was tried as the begin of a list
    let mut unfinished = archive_7z(&[1, 0].repeat(500_000), &list);
    unfinished[8..32].fill(0);
    check(&unfinished, (0, 0, 1), "it was not written to its end");
}

/// All members after the first damage were lost without a word.
#[test]
fn a_damaged_block_of_a_7z_costs_its_own_members() {
    let path = folder("blocks").join("a.7z");
    let games = [game(1), game(2), game(3)];
    let members = [("a.csa", 24, games[0].as_str()), ("b.csa", 24, &games[1]), ("c.csa", 24, &games[2])];
    let (mut packed, list) = seven_zip(&members);
    // no control byte of LZMA2
    packed[chunk(games[0].as_bytes()).len()] = 0x7f;
    fs::write(&path, archive_7z(&packed, &list)).unwrap();
    let found = read(&path);
    assert_eq!(counts(&found), (2, 2, 1));
    assert!(found.report.problems[0].to_string().contains("a.7z/b.csa: unreadable: "), "{:?}", found.report.problems);
}

/// A few kilobytes could make the decoder hold 4 GiB.
#[test]
fn dictionaries_have_a_limit() {
    let folder = folder("dictionaries");
    let (one, two, three) = (game(1), game(2), game(3));
    let refused = |path: &Path, bytes: &[u8], expected: (u64, u64, u64), member: &str| {
        fs::write(path, bytes).unwrap();
        let found = read(path);
        assert_eq!(counts(&found), expected, "{member}");
        let texts: Vec<String> = found.report.problems.iter().map(ToString::to_string).collect();
        let message =
            format!("{member}: unreadable: its dictionary is larger than 256 MiB; pack it again with a smaller one");
        assert!(expected.2 == 0 || texts.iter().any(|text| text.ends_with(&message)), "{texts:?}");
    };
    // properties 32 are 256 MiB, 33 are 384 MiB
    let members = [("a.csa", 32, one.as_str()), ("b.csa", 33, &two), ("c.csa", 24, &three)];
    let (packed, list) = seven_zip(&members);
    refused(&folder.join("a.7z"), &archive_7z(&packed, &list), (2, 2, 1), "a.7z/b.csa");
    // two coders of one block, 192 MiB each, are there at once
    let nested = chunk(&chunk(one.as_bytes()));
    let sizes = [number_7z(one.len()), number_7z(nested.len() - 4)].concat();
    for (property, expected) in [(28, (1, 1, 0)), (31, (0, 0, 1))] {
        let coder = [0x21, 0x21, 1, property];
        let mut list =
            [&[1, 4, 6, 0, 1, 9][..], &number_7z(nested.len()), &[0, 7, 11, 1, 0, 2], &coder, &coder].concat();
        // the first coder reads what the second one writes
        list.extend([&[0, 1, 12][..], &sizes, &[0, 8, 0, 0, 5, 1, 17, 13, 0]].concat());
        list.extend("a.csa\0".bytes().flat_map(|byte| [byte, 0]));
        list.extend([0, 0]);
        refused(&folder.join("a.7z"), &archive_7z(&nested, &list), expected, "a.7z/a.csa");
    }
    for (property, expected) in [(32, (1, 1, 0)), (33, (0, 0, 1))] {
        refused(&folder.join("a.csa.xz"), &xz(property, &chunk(one.as_bytes()), one.len()), expected, "a.csa.xz");
    }
}

/// An xz stream of one block without a check, with the chunks of LZMA2 and the size of what they hold.
fn xz(property: u8, chunks: &[u8], size: usize) -> Vec<u8> {
    let with_crc = |bytes: &[u8]| [bytes, &crc(bytes)].concat();
    // numbers below 16,384 in two bytes
    let number = |n: usize| [0x80 | (n & 0x7f) as u8, (n >> 7) as u8];
    let block = with_crc(&[2, 0, 0x21, 1, property, 0, 0, 0]);
    let unpadded = block.len() + chunks.len();
    let mut stream = [&b"\xfd7zXZ\0"[..], &with_crc(&[0, 0]), &block, chunks].concat();
    stream.resize(stream.len().next_multiple_of(4), 0);
    let mut index = [&[0, 1][..], &number(unpadded), &number(size)].concat();
    index.resize(index.len().next_multiple_of(4), 0);
    let index = with_crc(&index);
    let footer = [&(index.len() as u32 / 4 - 1).to_le_bytes()[..], &[0, 0]].concat();
    [&stream[..], &index, &crc(&footer), &footer, b"YZ"].concat()
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

/// Bytes that are not UTF-8: Shift_JIS, as archives from Windows are unpacked to.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_found_by_globs() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("shift_jis");
    fs::write(folder.join("a.csa"), game(1)).unwrap();
    fs::write(folder.join(std::ffi::OsStr::from_bytes(b"\x8a\xfb\x95\x88.csa")), game(2)).unwrap();
    fs::write(folder.join(".c.csa"), game(3)).unwrap();
    for path in [folder.clone(), folder.join("*"), folder.join("*.csa"), folder.join("[!b]*.csa")] {
        assert_eq!(counts(&read(&path)), (2, 2, 0), "{}", path.display());
    }
}

/// The sample table of some files without sources and lines, and its counts of skipped games.
fn table_of(paths: &[&Path]) -> (String, String) {
    let paths: Vec<PathBuf> = paths.iter().map(|path| (*path).to_owned()).collect();
    let found = collect_with_rows(&paths, &[], &options(), &Progress::default()).unwrap();
    assert!(found.report.adds_up());
    let names = &found.table.names;
    let games = found.table.games.iter().map(|g| {
        let players = g.players.map(|id| names.get(id));
        format!("{players:?} {:?} {} {} {:?}", g.ratings, names.get(g.time_control), g.termination, g.black_outcome)
    });
    let samples =
        found.table.samples.iter().map(|s| format!("{} {} {:?} {:?}", s.ply, s.score_cp, s.reply_cp, s.declared));
    (games.chain(samples).collect::<Vec<_>>().join("\n"), format!("{:?}", found.report.games_skipped))
}

#[test]
fn which_record_of_a_game_counts_does_not_depend_on_their_order() {
    let folder = folder("copies");
    let pgn = |tags: &str, result: &str, wdl: &str| {
        format!(
            "[White \"A\"]\n[Black \"B\"]\n[Date \"2026.01.02\"]\n{tags}[Result \"{result}\"]\n\n\
             1. e4 {{+0.30/9 1s{wdl}}} e5 {{+0.10/8 1s}} 2. Nf3 {{+0.20/9 1s}} {result}\n\n"
        )
    };
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let plain = write("plain.pgn", pgn("", "1-0", ""));
    let rated = write("rated.pgn", pgn("[WhiteElo \"2500\"]\n[BlackElo \"2600\"]\n", "1-0", ""));
    let other = write("other.pgn", pgn("[WhiteElo \"2400\"]\n[BlackElo \"2600\"]\n", "1-0", ""));
    let timed = write("timed.pgn", pgn("[TimeControl \"60+1\"]\n", "1-0", ""));
    let ended = write("ended.pgn", pgn("[Termination \"time forfeit\"]\n", "1-0", ""));
    let rates = write("rates.pgn", pgn("", "1-0", ", wdl=600 300 100"));
    let lost = write("lost.pgn", pgn("", "0-1", ""));
    for copy in [&rated, &timed, &ended, &rates] {
        // the copy that says more counts
        let alone = table_of(&[copy]);
        for paths in [[copy, &plain], [&plain, copy]] {
            assert_eq!(table_of(&paths.map(PathBuf::as_path)).0, alone.0);
        }
        for (one, two) in [(copy, &other), (copy, &timed), (copy, &rates)] {
            assert_eq!(table_of(&[one, two]), table_of(&[two, one]));
        }
    }
    // a result that is not certain is not used
    for paths in [[&rated, &lost, &plain], [&lost, &plain, &rated], [&plain, &lost, &lost]] {
        let paths = paths.map(PathBuf::as_path);
        let skipped = r#"{"duplicate": 2, "unknown_result": 1}"#;
        assert_eq!(table_of(&paths), (String::new(), skipped.to_owned()));
    }
    let problems = collect_with_rows(&[rated, lost], &[], &options(), &Progress::default()).unwrap().report.problems;
    let text = problems.iter().find(|p| p.kind == SkipReason::UnknownResult.into()).unwrap().to_string();
    assert!(
        text.contains("rated.pgn:1: unknown result: the game has different results in ") && text.contains("lost.pgn")
    );
}

/// A link to a device without end took all memory, and a pipe without a writer hung.
#[cfg(unix)]
#[test]
fn devices_and_pipes_are_refused() {
    let folder = folder("devices");
    fs::write(folder.join("a.csa"), game(1)).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("zero.csa")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.csa")).status();
    let pipes = u64::from(made.is_ok_and(|status| status.success()));
    // folders pass over them, as over everything that is no file
    assert_eq!(counts(&read(&folder)), (1, 1, 0));
    let found = read(&folder.join("*"));
    assert_eq!(counts(&found), (1, 1, 1 + pipes));
    let text = found.report.problems.last().unwrap().to_string();
    assert!(
        text.contains("zero.csa: unreadable: it is a device, a pipe or a socket; read it by standard input"),
        "{text}"
    );
    assert_eq!(counts(&read(&folder.join("zero.csa"))), (0, 0, 1));
}

/// The name was expanded again as a glob, which matches nothing, and that ended the run.
#[cfg(unix)]
#[test]
fn a_broken_link_with_the_name_of_a_glob_is_counted() {
    let folder = folder("glob_link");
    fs::write(folder.join("a.csa"), game(1)).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("x[1].csa")).unwrap();
    for path in [folder.clone(), folder.join("*")] {
        assert_eq!(counts(&read(&path)), (1, 1, 1), "{}", path.display());
    }
    let paths: Vec<PathBuf> = ["a.csa", "x[1].csa"].map(|name| folder.join(name)).to_vec();
    assert_eq!(counts(&collect_with_rows(&paths, &[], &options(), &Progress::default()).unwrap()), (1, 1, 1));
}

/// The decoders make an error of what follows a stream, and the last game before an error does not count.
#[test]
fn what_follows_a_compressed_file_costs_no_game() {
    let folder = folder("trailing");
    for (name, text, games) in [("one", game(1), 1), ("many", (0..20).map(game).collect::<String>(), 20)] {
        let xz =
            xz(24, &[&[1], &(text.len() as u16 - 1).to_be_bytes()[..], text.as_bytes(), &[0]].concat(), text.len());
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let gz = encoder.finish().unwrap();
        let zst = zstd::stream::encode_all(text.as_bytes(), 1).unwrap();
        for (ending, packed) in [("gz", gz), ("zst", zst), ("bz2", bz2(text.as_bytes())), ("xz", xz)] {
            let path = folder.join(format!("{name}.csa.{ending}"));
            for (rest, is_other) in [(&[0; 512][..], 0), (b"junk", 1), (&[0xff; 100], 1)] {
                fs::write(&path, [&packed[..], rest].concat()).unwrap();
                let found = read(&path);
                assert_eq!(counts(&found), (games, 1, 0), "{name} {ending}");
                assert_eq!(found.report.oddities.get("trailing_data"), (is_other > 0).then_some(&is_other));
            }
            // a stream that is cut: the last game is not certain, and the file is reported
            fs::write(&path, &packed[..packed.len() - 3]).unwrap();
            let found = read(&path);
            assert!(found.report.games_used < games && counts(&found).2 == 1, "{name} {ending}");
            assert!(ending == "zst" || found.report.games_used == games - 1, "{name} {ending}");
        }
    }
}

/// The first 512 decoded bytes were dropped if an error followed them.
#[test]
fn games_right_before_damage_are_kept() {
    let folder = folder("short");
    let text = [game(1), game(2)].concat();
    assert!(text.len() < 512);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(text.as_bytes()).unwrap();
    let mut bytes = encoder.finish().unwrap();
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    let path = folder.join("a.csa.gz");
    fs::write(&path, bytes).unwrap();
    assert_eq!(counts(&read(&path)), (1, 1, 1));
}

#[test]
fn joined_archives_are_all_read() {
    let folder = folder("joined");
    let (one, two) = (tar(&[("a.csa", &game(1))]), tar(&[("a.csa", &game(2)), ("b.csa", &game(3))]));
    let path = folder.join("a.tar");
    fs::write(&path, [&one[..], &two].concat()).unwrap();
    assert_eq!(counts(&read(&path)), (3, 3, 0));
    fs::write(&path, [&one[..], &[b'x'; 700]].concat()).unwrap();
    let found = read(&path);
    assert_eq!(counts(&found), (1, 1, 1));
    let text = found.report.problems[0].to_string();
    let expected =
        "a.tar: unreadable: the tar archive is damaged: data that is no archive follows its end, and is not read";
    assert!(text.ends_with(expected), "{text}");
}

/// A game with this many plies, in which the score of ply 5 is `score`.
fn long_game(names: [&str; 2], start_time: &str, plies: usize, score: i32) -> String {
    let moves = ["+4958KI", "-4132KI", "+5849KI", "-3241KI"];
    let played = moves.iter().cycle().take(plies).enumerate().map(|(i, played)| {
        let score = if i == 4 { score } else { 10 * i as i32 };
        format!("{played}\n'** {score} {played}\n")
    });
    let [black, white] = names;
    let head = format!("V2.2\nN+{black}\nN-{white}\n$START_TIME:{start_time}\nPI\n+\n");
    format!("{head}{}%TORYO\n", played.collect::<String>())
}

#[test]
fn copies_under_other_names_or_times_count_once() {
    let folder = folder("copies");
    let [first, second, third] = ["2020/01/01 10:00:00", "2020/01/02 10:00:00", "2020/01/03 10:00:00"];
    let files = [
        ("a.csa", long_game(["C", "D"], third, 24, 40)),
        ("b.csa", long_game(["A", "B"], first, 24, 40)),
        ("c.csa", long_game(["A", "B"], second, 24, 40)),
        // other scores: a new search of the same game; other moves, and games that are too short
        ("d.csa", long_game(["A", "B"], third, 24, 41)),
        ("e.csa", long_game(["A", "B"], second, 25, 40)),
        ("f.csa", long_game(["A", "B"], first, 19, 40)),
        ("g.csa", long_game(["A", "B"], second, 19, 40)),
    ];
    files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    let read = |names: &[&str], duplicates, threads| {
        let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        let sampling = SamplingOptions { duplicates, ..options().sampling };
        let options = CollectOptions { sampling, threads, ..options() };
        let found = collect_with_rows(&paths, &[], &options, &Progress::default()).unwrap();
        assert!(found.report.adds_up());
        let (skipped, used) = (found.report.games_skipped.get("same_moves").copied(), found.report.games_used);
        let samples: Vec<_> = found
            .table
            .samples
            .iter()
            .map(|s| {
                (found.table.names.get(s.engine).to_owned(), s.ply, s.score_cp, found.table.games[s.game as usize].id)
            })
            .collect();
        let problems: Vec<String> = found.report.problems.iter().map(ToString::to_string).collect();
        (used, skipped, samples, problems)
    };
    let names = files.each_ref().map(|(name, _)| *name);
    let all = read(&names, Duplicates::ByMoves, 2);
    assert_eq!((all.0, all.1), (4, Some(3)));
    assert!(all.3.iter().all(|text| text.contains("same moves") && text.contains("b.csa:2")), "{:?}", all.3);
    let backwards: Vec<&str> = names.into_iter().rev().collect();
    for threads in [1, 3] {
        let other = read(&backwards, Duplicates::ByMoves, threads);
        assert_eq!((other.0, other.1, other.2), (all.0, all.1, all.2.clone()));
    }
    assert_eq!(read(&names, Duplicates::ByIdentity, 2).1, None);
}

#[test]
fn games_are_iterated_with_their_problems() {
    let folder = folder("games");
    let broken = "V2.2\nN+X\nN-B\nPI\n+\n+77FU\n%TORYO\n";
    let members =
        [("a.csa", game(1) + broken + &game(2)), ("b.txt", "no record".to_owned()), ("c.csa", "V2.2\n".to_owned())];
    let archive = zip(&members.each_ref().map(|(name, text)| (*name, &text[..])), zip::CompressionMethod::Stored);
    fs::write(folder.join("all.zip"), &archive).unwrap();
    let shown = |games: Games| -> Vec<String> {
        let shown = |read: Result<Record, Problem>| match read {
            Ok(Record { source, game, .. }) => {
                let place = source.rsplit_once("all.zip").map_or("", |(_, member)| member);
                let score = game.scores[0].line + 1;
                format!("{place}:{}: {}, score in line {score}", game.line + 1, game.names[0])
            }
            Err(problem) => problem.to_string().rsplit_once("all.zip").unwrap().1.chars().take(30).collect(),
        };
        games.map(shown).collect()
    };
    let found = shown(games(folder.join("all.zip")).unwrap());
    assert_eq!(found[0], "/a.csa:2: A1, score in line 7");
    assert_eq!(found[2], "/a.csa:20: A2, score in line 25");
    assert!(found[1].starts_with("/a.csa:17: broken move: "), "{found:?}");
    assert!(found[3].starts_with("/b.txt: unknown format: "), "{found:?}");
    assert!(found[4].starts_with("/c.csa: no games: "), "{found:?}");
    assert_eq!(found.len(), 5);
    assert_eq!(shown(games_of(vec![Entry::in_memory("all.zip", archive)])), found);
    assert!(games(folder.join("nothing")).is_err());
    // whoever stops early leaves no thread that waits
    let many: String = (0..40_000).map(game).collect();
    assert!(games_of(vec![Entry::in_memory("many.csa", many.into_bytes())]).next().is_some());
}

/// Records of a format of another crate are drawn from like those of the list, also beside them and in an archive.
#[test]
fn an_own_format_is_sampled() {
    use evalcurve_records::record::{Above, Cursor, Format, Formats, Game, GameError, GameHash, Reader, last_line_end};
    struct Lines;
    static LINES: Format = Format::of_games::<Lines>("lines", "lines of scores", "one game in each line");
    impl Reader for Lines {
        fn recognise(head: &[u8]) -> bool {
            head.starts_with(b"V2.2 of mine")
        }
        fn last_boundary(block: &[u8]) -> Option<usize> {
            last_line_end(block)
        }
        fn below(_: &Above) -> Self {
            Self
        }
        fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
            game.line = cursor.line;
            let Some(line) = cursor.next_line(block) else { return Ok(false) };
            game.names = ["mine".to_owned(), "other".to_owned()];
            (game.plies, game.black_outcome) = (1, Some(Outcome::Win));
            game.add_score(Color::Black, line.len() as i32, false, false, game.line);
            let mut hash = GameHash::default();
            hash.bytes(line);
            game.identify(hash);
            Ok(true)
        }
    }
    let text: String = (0..30_000).map(|i| format!("V2.2 of mine {i:040}\r\n")).collect();
    let packed = {
        let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        zip.write_all(text.as_bytes()).unwrap();
        zip.finish().unwrap()
    };
    let csa = "V2.2\nN+A\nN-B\nPI\n+\n+7776FU\n'** 30 -3334FU\n-3334FU\n%TORYO\n";
    let entries = [Entry::in_memory("mine.gz", packed), Entry::in_memory("b.csa", csa.as_bytes())];
    let found = |formats: Formats| {
        collect(&entries, &[], &CollectOptions { formats, ..options() }, &Progress::default()).unwrap()
    };
    let Collected { table, report, .. } = found(Formats::default().with(&LINES));
    assert_eq!((report.games_read, report.games_used, table.samples.len()), (30_001, 30_001, 30_001));
    assert!(table.samples.iter().filter(|s| table.names.get(s.engine) == "mine").all(|s| s.score_cp == 53));
    // the program without it
    assert!(found(Formats::default()).report.games_used < 2);
}
