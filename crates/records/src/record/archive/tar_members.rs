//! Walks through the files of a tar archive with memory that has a bound: the `tar` crate reads a long name, or the
//! records of pax, into memory whatever their length.

use std::io::{self, Read, Take};

use evalcurve_words::text::thousands;
use tar::{EntryType, GnuExtSparseHeader, Header, PaxExtensions};

use super::REMEDY;

/// Bytes of a block; a header is one block, and what follows it fills whole blocks.
const BLOCK: u64 = 512;
/// Bytes of the longest header that extends the next one: a long name, or records of pax.
const LONGEST_EXTENSION: u64 = 1 << 16;

/// A file of an archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Its name, in an unknown encoding.
    pub name: Vec<u8>,
    /// Why its content cannot be read, with the remedy.
    pub problem: Option<&'static str>,
}

/// The problem of a file with holes.
const SPARSE: &str = "the member is a sparse file; pack it again without sparse files (tar without -S)";
/// The problem of a file that began in another archive.
const CONTINUED: &str = "the member begins in another volume of the archive; pack it again in one volume";

/// The files of an archive, one after the other.
pub(super) struct Files<R> {
    /// The stream, limited to the unread rest of the current member.
    content: Take<R>,
    /// Bytes after the current member, up to the next header.
    padding: u64,
}

impl<R: Read> Files<R> {
    pub(super) fn new(archive: R) -> Self {
        Self { content: archive.take(0), padding: 0 }
    }

    /// Goes to the next file, also if the content of the last one was not read; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Member>> {
        let mut extended = Extensions::default();
        loop {
            self.skip()?;
            let may_end = extended.is_empty();
            let Some(header) = self.header(may_end)? else {
                return if may_end { Ok(None) } else { Err(damaged("it ends where a file with a long name begins")) };
            };
            let size = header.entry_size()?;
            let kind = header.entry_type();
            if is_extension(kind) && (header.as_gnu().is_some() || header.as_ustar().is_some()) {
                self.enter(size);
                self.extension(kind, &mut extended)?;
                continue;
            }
            if header.as_gnu().is_some_and(|gnu| kind.is_gnu_sparse() && gnu.is_extended()) {
                self.skip_map()?;
            }
            let Extensions { name, pax } = extended;
            self.enter(pax.as_deref().and_then(pax_size).unwrap_or(size));
            let records = pax.as_deref().unwrap_or_default();
            let name = name.or_else(|| pax_value(records, b"GNU.sparse.name")).or_else(|| pax_value(records, b"path"));
            let name = name.unwrap_or_else(|| header.path_bytes().into_owned());
            if is_file(kind, &name) {
                let problem = match kind {
                    EntryType::GNUSparse => Some(SPARSE),
                    _ if kind.as_byte() == b'M' => Some(CONTINUED),
                    _ => has_sparse_map(records).then_some(SPARSE),
                };
                return Ok(Some(Member { name, problem }));
            }
            extended = Extensions::default();
        }
    }

    /// The content of the current file.
    pub(super) fn content(&mut self) -> &mut impl Read {
        &mut self.content
    }

    fn enter(&mut self, size: u64) {
        self.content.set_limit(size);
        self.padding = size.wrapping_neg() % BLOCK;
    }

    /// Skips the unread rest of the current member.
    fn skip(&mut self) -> io::Result<()> {
        self.content.set_limit(self.content.limit().saturating_add(std::mem::take(&mut self.padding)));
        io::copy(&mut self.content, &mut io::sink())?;
        if self.content.limit() > 0 { Err(damaged("it ends within a member")) } else { Ok(()) }
    }

    /// The next block, or what is left of the stream.
    fn block(&mut self) -> io::Result<Vec<u8>> {
        let mut block = Vec::new();
        self.content.set_limit(BLOCK);
        self.content.read_to_end(&mut block)?;
        Ok(block)
    }

    /// The next header; `None` at the end of the stream. Zeros end an archive; if `may_end`, another archive may follow
    /// them, where files were joined.
    fn header(&mut self, may_end: bool) -> io::Result<Option<Header>> {
        let mut has_ended = false;
        loop {
            let block = self.block()?;
            let is_whole = block.len() as u64 == BLOCK;
            let is_zero = block.iter().all(|&byte| byte == 0);
            if block.is_empty() || is_zero && (has_ended && !is_whole || is_whole && !may_end) {
                return Ok(None);
            }
            if is_zero && is_whole {
                has_ended = true;
                continue;
            }
            let header = if is_whole { checked(&block) } else { Err(damaged("it ends within a header")) };
            return match header {
                Err(_) if has_ended => Err(damaged("data that is no archive follows its end, and is not read")),
                header => header.map(Some),
            };
        }
    }

    /// Reads an extension as far as the name and the size of the next member need it.
    fn extension(&mut self, kind: EntryType, extended: &mut Extensions) -> io::Result<()> {
        let bytes = self.content.limit();
        if bytes > LONGEST_EXTENSION {
            let (bytes, most) = (thousands(bytes), thousands(LONGEST_EXTENSION));
            let what = format!("a name or an extended header has {bytes} bytes, more than {most}; {REMEDY}");
            return Err(damaged(&what));
        }
        let place = match kind {
            EntryType::GNULongName => &mut extended.name,
            EntryType::XHeader => &mut extended.pax,
            // targets of links, and what holds for all members, which is never a name
            _ => return Ok(()),
        };
        let mut text = Vec::new();
        self.content.read_to_end(&mut text)?;
        if kind.is_gnu_longname() && text.last() == Some(&0) {
            text.pop();
        }
        match place.replace(text) {
            Some(_) => Err(damaged("a file has two long names")),
            None => Ok(()),
        }
    }

    /// Skips the blocks that go on with the map of a sparse file.
    fn skip_map(&mut self) -> io::Result<()> {
        let mut map = GnuExtSparseHeader::new();
        loop {
            let block = self.block()?;
            if block.len() as u64 != BLOCK {
                return Err(damaged("it ends within a header"));
            }
            map.as_mut_bytes().copy_from_slice(&block);
            if !map.is_extended() {
                return Ok(());
            }
        }
    }
}

/// What comes before the header of a file.
#[derive(Default)]
struct Extensions {
    /// Its name, in archives of GNU tar.
    name: Option<Vec<u8>>,
    pax: Option<Vec<u8>>,
}

impl Extensions {
    fn is_empty(&self) -> bool {
        self.name.is_none() && self.pax.is_none()
    }
}

/// The header in a block, if its checksum is right.
fn checked(block: &[u8]) -> io::Result<Header> {
    let mut header = Header::new_old();
    header.as_mut_bytes().copy_from_slice(block);
    // the checksum counts its own eight bytes as spaces
    let sum = |bytes: &[u8]| bytes.iter().map(|&b| u32::from(b)).sum::<u32>();
    match sum(&block[..148]) + 8 * 32 + sum(&block[156..]) == header.cksum()? {
        true => Ok(header),
        false => Err(damaged("the checksum of a header does not match")),
    }
}

fn is_extension(kind: EntryType) -> bool {
    kind.is_gnu_longname()
        || kind.is_gnu_longlink()
        || kind.is_pax_local_extensions()
        || kind.is_pax_global_extensions()
}

/// Whether a member is a file. POSIX wants types that a reader does not know to be read as files.
fn is_file(kind: EntryType, name: &[u8]) -> bool {
    match kind {
        // archives from before POSIX have no type for folders
        EntryType::Regular => !name.ends_with(b"/"),
        EntryType::Continuous | EntryType::GNUSparse => true,
        // the list of a folder, and the label of a volume, of GNU tar
        EntryType::__Nonexhaustive(b'D' | b'V') => false,
        EntryType::__Nonexhaustive(_) => true,
        // links, devices, folders, pipes, and the extensions, which are read before
        _ => false,
    }
}

/// A value in records of pax. Damaged records are passed over.
fn pax_value(records: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let record = PaxExtensions::new(records).flatten().find(|record| record.key_bytes() == key)?;
    Some(record.value_bytes().to_vec())
}

/// Whether records of pax say that the content of a file begins with, or lacks, the map of its holes.
fn has_sparse_map(records: &[u8]) -> bool {
    PaxExtensions::new(records).flatten().any(|record| record.key_bytes().starts_with(b"GNU.sparse."))
}

/// The size in records of pax, which a header cannot hold from 8 GiB on.
fn pax_size(records: &[u8]) -> Option<u64> {
    let mut records = PaxExtensions::new(records).map_while(Result::ok);
    records.find(|record| record.key_bytes() == b"size")?.value().ok()?.parse().ok()
}

fn damaged(what: &str) -> io::Error {
    io::Error::other(format!("the tar archive is damaged: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header and what follows it, in whole blocks.
    fn member(name: &str, kind: EntryType, content: &[u8]) -> Vec<u8> {
        let mut bytes = header(name, kind, content.len() as u64);
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes
    }

    fn header(name: &str, kind: EntryType, size: u64) -> Vec<u8> {
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_cksum();
        header.as_bytes().to_vec()
    }

    fn pax(records: &[(&str, &str)]) -> Vec<u8> {
        let mut out = String::new();
        for (key, value) in records {
            // the length counts itself; two digits are enough here
            out += &format!("{} {key}={value}\n", key.len() + value.len() + 5);
        }
        out.into_bytes()
    }

    /// The names and contents of all files that can be read, and the error that ended the walk.
    fn walk(archive: impl Read) -> (Vec<(String, String)>, Option<String>) {
        let (mut files, mut found) = (Files::new(archive), Vec::new());
        loop {
            match files.next() {
                Ok(Some(Member { problem: Some(_), .. })) => {}
                Ok(Some(Member { name, .. })) => {
                    let mut content = String::new();
                    files.content().read_to_string(&mut content).unwrap();
                    found.push((String::from_utf8(name).unwrap(), content));
                }
                Ok(None) => return (found, None),
                Err(error) => return (found, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn long_names_and_records_of_pax_name_the_next_file() {
        use EntryType as Kind;
        let long = "a/".repeat(32_700) + "b";
        let other = "c/".repeat(200);
        let archive = [
            member("plain", Kind::Regular, b"1"),
            member("././@LongLink", Kind::GNULongName, format!("{long}\0").as_bytes()),
            member("cut", Kind::Regular, b"2"),
            member("pax", Kind::XGlobalHeader, &pax(&[("path", "of all")])),
            member("././@LongLink", Kind::GNULongLink, other.as_bytes()),
            member("link", Kind::Symlink, b""),
            member("pax", Kind::XHeader, &pax(&[("mtime", "1.5"), ("path", "棋譜/先手.csa"), ("size", "600")])),
            [header("cut", Kind::Regular, 0), vec![b'3'; 600], vec![0; 424]].concat(),
            // a folder has the name, not the file after it
            member("././@LongLink", Kind::GNULongName, other.as_bytes()),
            member("folder", Kind::Directory, b""),
            member("last", Kind::Regular, b"4"),
            vec![0; 1024],
        ];
        let (files, error) = walk(&archive.concat()[..]);
        assert_eq!(error, None);
        let expected =
            [("plain", "1"), (long.as_str(), "2"), ("棋譜/先手.csa", "3".repeat(600).as_str()), ("last", "4")]
                .map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(files, expected);
    }

    #[test]
    fn members_of_all_types_are_files_except_links_folders_and_devices() {
        use EntryType as Kind;
        let mut archive = member("folder/", Kind::Regular, b"");
        for kind in *b"0123456\x007ZAMVD" {
            let name = if kind == 0 { "nul".to_owned() } else { char::from(kind).to_string() };
            archive.extend(member(&name, Kind::new(kind), b"1"));
        }
        let files = walk(&archive[..]).0;
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["0", "nul", "7", "Z", "A"]);
    }

    #[test]
    fn a_file_that_is_not_whole_has_a_reason() {
        use EntryType as Kind;
        let sparse = [("GNU.sparse.major", "1"), ("GNU.sparse.name", "a.csa"), ("path", "GNUSparseFile.0/a.csa")];
        let archive = [
            member("old", Kind::GNUSparse, b"1"),
            member("pax", Kind::XHeader, &pax(&sparse)),
            member("cut", Kind::Regular, b"1"),
            member("continued", Kind::new(b'M'), b"1"),
            member("whole", Kind::Regular, b"1"),
        ]
        .concat();
        let mut files = Files::new(&archive[..]);
        let found = std::iter::from_fn(|| files.next().unwrap());
        let found: Vec<(String, Option<&str>)> =
            found.map(|member| (String::from_utf8(member.name).unwrap(), member.problem)).collect();
        let expected =
            [("old", Some(SPARSE)), ("a.csa", Some(SPARSE)), ("continued", Some(CONTINUED)), ("whole", None)];
        assert_eq!(found, expected.map(|(name, problem)| (name.to_owned(), problem)));
    }

    #[test]
    fn the_map_of_a_sparse_file_is_skipped() {
        let mut sparse = header("sparse", EntryType::GNUSparse, 600);
        // the mark that the map goes on in another block
        sparse[482] = 1;
        let mut corrected = Header::new_gnu();
        corrected.as_mut_bytes().copy_from_slice(&sparse);
        corrected.set_cksum();
        let (mut more, last) = (vec![0; 512], vec![0; 512]);
        more[504] = 1;
        let archive =
            [corrected.as_bytes().to_vec(), more, last, vec![b'x'; 1024], member("after", EntryType::Regular, b"1")];
        assert_eq!(walk(&archive.concat()[..]), (vec![("after".to_owned(), "1".to_owned())], None));
    }

    /// Counts what is read.
    struct Counted<'a, R>(R, &'a mut u64);

    impl<R: Read> Read for Counted<'_, R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.0.read(buffer)?;
            *self.1 += n as u64;
            Ok(n)
        }
    }

    /// 300 MB of a name in 300 kB of gzip took a gigabyte.
    #[test]
    fn nothing_of_an_endless_extension_is_read() {
        use EntryType as Kind;
        for kind in [Kind::GNULongName, Kind::GNULongLink, Kind::XHeader, Kind::XGlobalHeader] {
            let before = member("before", Kind::Regular, b"1");
            let allowed = |bytes| [before.clone(), header("long", kind, bytes)].concat();
            let mut read = 0;
            let endless = allowed(300_000_000);
            let (files, error) = walk(Counted(endless.chain(io::repeat(b'a')), &mut read));
            assert_eq!(files.len(), 1);
            let error = error.unwrap();
            assert!(error.contains("has 300,000,000 bytes, more than 65,536"), "{error}");
            assert_eq!(read, 3 * 512, "{kind:?}");
            // the longest that is allowed, before a file; with one byte more, the file is not read under a part of it
            for (more, names) in [(0_u64, 2), (1, 1)] {
                let content = io::repeat(b'a').take((65_536 + more).next_multiple_of(512));
                let after = [member("after", Kind::Regular, b"2"), vec![0; 1024]].concat();
                let begin = allowed(65_536 + more);
                let archive = begin.chain(content).chain(&after[..]);
                assert_eq!(walk(archive).0.len(), names, "{kind:?}");
            }
        }
    }

    #[test]
    fn damage_ends_the_walk_with_its_reason() {
        use EntryType as Kind;
        let name = member("././@LongLink", Kind::GNULongName, b"name");
        let file = member("file", Kind::Regular, b"1");
        let sum = [&file[..], &[1; 512]].concat();
        let end = [&file[..], &[0; 1024]].concat();
        let with = |rest: &[u8]| [&end[..], rest].concat();
        let no_archive = Some("data that is no archive follows its end, and is not read");
        for (archive, files, reason) in [
            (&file[..512], 1, Some("it ends within a member")),
            (&file[..700], 1, Some("it ends within a member")),
            (&file[..300], 0, Some("it ends within a header")),
            (&name[..], 0, Some("it ends where a file with a long name begins")),
            (&[&name[..], &name, &file].concat(), 0, Some("a file has two long names")),
            (&[&file[..], &header("huge", Kind::Directory, u64::MAX)].concat(), 1, Some("it ends within a member")),
            (&file[..], 1, None),
            // after the end: padding, another archive, and other data
            (&with(&[0; 10_000])[..], 1, None),
            (&with(&end), 2, None),
            (&with(&[&[0; 512][..], &file].concat()), 2, None),
            (&with(b"what follows"), 1, no_archive),
            (&with(&[b'x'; 2_000]), 1, no_archive),
            (
                &[&with(&[])[..], &name, &[0; 512], &file].concat(),
                1,
                Some("it ends where a file with a long name begins"),
            ),
        ] {
            let (found, error) = walk(archive);
            assert_eq!((found.len(), error), (files, reason.map(|r| format!("the tar archive is damaged: {r}"))));
        }
        assert!(walk(&sum[..]).1.is_some());
    }
}
