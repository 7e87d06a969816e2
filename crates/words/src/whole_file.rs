//! Files that are written whole or not at all, and files of text that a user writes.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

pub use evalcurve_calibration::read_bounded;
use thiserror::Error;

/// The temporary files of this process that exist now.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The folders from which this process removed the temporary files of dead processes.
static CLEANED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The age of a temporary file of another machine, or of an unknown process, that is removed.
const STALE: Duration = Duration::from_hours(24);

/// Why a file could not be written; the old file is unchanged.
#[derive(Debug, Error, crate::language::ToText)]
#[error("{path}: cannot {action} the file: {source}; {remedy}")]
pub struct WriteError {
    /// `create`, `write` or `replace`.
    pub action: &'static str,
    pub path: String,
    /// The system's error.
    pub source: io::Error,
    pub remedy: &'static str,
}

/// What tells a file from all others, whatever names and links lead to it.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(windows)]
type Identity = same_file::Handle;
#[cfg(not(any(unix, windows)))]
type Identity = PathBuf;

/// `None` if there is no such file.
fn identity(path: &Path) -> Option<Identity> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
    }
    #[cfg(windows)]
    {
        Identity::from_path(path).ok()
    }
    #[cfg(not(any(unix, windows)))]
    {
        path.canonicalize().ok()
    }
}

/// Files that are read, and that no output may replace by any of their names.
#[derive(Debug, Default)]
pub struct Inputs(HashMap<Identity, PathBuf>);

impl Inputs {
    /// The files with these paths; those that are not there are no inputs.
    pub fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(paths.into_iter().filter_map(|path| Some((identity(&path)?, path))).collect())
    }

    /// The input that an output would replace: the same path, or a symbolic or hard link.
    pub fn replaced_by(&self, output: &Path) -> Option<&Path> {
        self.0.get(&identity(output)?).map(PathBuf::as_path)
    }
}

/// Whether a path leads to an input.
type IsInput = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

static IS_INPUT: Mutex<Option<IsInput>> = Mutex::new(None);

/// From now on, no file is replaced of which this is true. A program says so once, when it knows what it reads.
pub fn protect(is_input: impl Fn(&Path) -> bool + Send + Sync + 'static) {
    *IS_INPUT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(is_input));
}

/// Asks whether a file may be replaced, before the work that would be lost.
///
/// # Errors
/// [`WriteError`] if the program has [protected](protect) it.
pub fn check(path: &Path) -> Result<(), WriteError> {
    let is_input = IS_INPUT.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if is_input.is_some_and(|is_input| is_input(path)) {
        let read = io::Error::new(io::ErrorKind::InvalidInput, crate::key!("this command reads it"));
        return Err(fail("replace", path, crate::key!("choose another name or folder"))(read));
    }
    Ok(())
}

/// Files that are flushed at the same time.
const FLUSHES: usize = 16;

/// Largest size of a text file that a user writes, in bytes.
const MOST_TEXT: u64 = 16 << 20;

/// Reads a text file of at most 16 MiB without its byte order mark.
///
/// # Errors
/// The system's error with a remedy; a file that is not UTF-8, as editors on Windows may save it.
pub fn read_text(path: &Path) -> io::Result<String> {
    let words = |kind, words| io::Error::new(kind, words);
    let bytes = read_bounded(path, MOST_TEXT).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => words(error.kind(), crate::key!("there is no such file; check its name")),
        _ => error,
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        words(io::ErrorKind::InvalidData, crate::key!("it is not UTF-8; save it in the encoding UTF-8"))
    })?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// Writes a new file in the same folder, flushes it to the disk and renames it over the old one. The folder must exist.
///
/// # Errors
/// [`WriteError`] with a remedy.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let mut one = WholeFiles::default();
    one.add(path, bytes)?;
    one.finish()
}

/// Files that belong together: all are written beside the old ones before the first is replaced, so that an error in
/// one of them leaves all old files as they are. Their folders must exist.
///
/// Only a file that the system does not let replace after all, as another program has it open, parts them.
#[derive(Debug, Default)]
pub struct WholeFiles {
    /// The temporary files with the files that they become, in the order of the calls.
    written: Vec<(PathBuf, PathBuf)>,
}

fn fail<'a>(action: &'static str, path: &'a Path, remedy: &'static str) -> impl Fn(io::Error) -> WriteError + 'a {
    move |source| WriteError { action, path: path.to_string_lossy().into_owned(), source, remedy }
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl WholeFiles {
    /// Writes the new file beside the old one.
    ///
    /// # Errors
    /// [`WriteError`] with a remedy.
    pub fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        let (mut file, fail) = self.begin(path)?;
        file.write_all(bytes).map_err(fail)
    }

    /// Takes over the files of another one.
    pub fn append(&mut self, mut other: Self) {
        self.written.append(&mut other.written);
    }

    /// Begins the new file beside the old one, for content that is not held in memory: the caller writes it, and turns
    /// an error into one with a remedy by the function. If it fails, it drops all of the files.
    ///
    /// # Errors
    /// [`WriteError`] with a remedy.
    pub fn begin(&mut self, path: &Path) -> Result<(File, impl Fn(io::Error) -> WriteError + use<>), WriteError> {
        let is_directory = |action| {
            let source = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
            fail(action, path, "give the name of a file, not of a directory")(source)
        };
        let name = path.file_name().ok_or_else(|| is_directory("create"))?;
        if path.is_dir() {
            return Err(is_directory("replace"));
        }
        check(path)?;
        let (file, temporary) = create_beside(folder_of(path), name).map_err(fail(
            "create",
            path,
            "create the directory or choose another",
        ))?;
        // from here on it is removed if anything fails
        self.written.push((temporary, path.to_owned()));
        let path = path.to_owned();
        let failed = move |error: io::Error| {
            let remedy = match error.kind() {
                io::ErrorKind::FileTooLarge => "raise the limit of the system on the size of files (ulimit -f)",
                _ => "free space on the disk or choose another directory",
            };
            fail("write", &path, remedy)(error)
        };
        Ok((file, failed))
    }

    /// Flushes the new files to the disk and replaces the old ones.
    ///
    /// # Errors
    /// [`WriteError`] with a remedy: all files are the old ones if one cannot be flushed, or those from the first on
    /// that cannot be replaced.
    pub fn finish(self) -> Result<(), WriteError> {
        self.flush()?;
        self.replace()
    }

    /// Several at a time: the disk has one commit for them, and the threads only wait.
    fn flush(&self) -> Result<(), WriteError> {
        let flush = |(temporary, path): &(PathBuf, PathBuf)| {
            let flushed = OpenOptions::new().write(true).open(temporary).and_then(|file| file.sync_all());
            flushed.map_err(fail("write", path, "free space on the disk or choose another directory"))
        };
        let [first, rest @ ..] = self.written.as_slice() else { return Ok(()) };
        flush(first)?;
        let all = |files: &[(PathBuf, PathBuf)]| files.iter().try_for_each(flush);
        std::thread::scope(|scope| {
            let part = rest.len().div_ceil(FLUSHES).max(1);
            let threads: Vec<_> = rest.chunks(part).map(|files| scope.spawn(move || all(files))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// Replaces the old files without a flush: for files that are made again in no time, should the machine lose power
    /// now.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn replace(mut self) -> Result<(), WriteError> {
        let mut folders = BTreeSet::new();
        let mut done = Ok(());
        let written = std::mem::take(&mut self.written);
        let mut rest = written.into_iter();
        for (temporary, path) in rest.by_ref() {
            let remedy = "close the program that has it open, or choose another name";
            done = rename(&temporary, &path).map_err(fail("replace", &path, remedy));
            if done.is_err() {
                self.written.push((temporary, path));
                break;
            }
            lock(&TEMPORARY).remove(&temporary);
            folders.insert(folder_of(&path).to_owned());
        }
        self.written.extend(rest);
        for folder in folders.iter().filter(|_| cfg!(unix)) {
            if let Ok(handle) = File::open(folder) {
                // makes the rename itself durable, if the file system supports it
                let _ = handle.sync_all();
            }
        }
        done
    }
}

/// Removes what was not finished.
impl Drop for WholeFiles {
    fn drop(&mut self) {
        for (temporary, _) in &self.written {
            // report the first error only
            let _ = fs::remove_file(temporary);
            lock(&TEMPORARY).remove(temporary);
        }
    }
}

/// Renames a file, over another one if there is one. Windows refuses that while any program has the file open, even to
/// read it, as a virus scanner does for a moment: there it is tried again for a second.
///
/// # Errors
/// The system's error of the last try.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    // access denied, sharing violation
    let is_open = |error: &io::Error| cfg!(windows) && matches!(error.raw_os_error(), Some(5 | 32));
    for wait in (0..10).map(|exponent| Duration::from_millis(1 << exponent)) {
        match fs::rename(from, to) {
            Err(error) if is_open(&error) => std::thread::sleep(wait),
            done => return done,
        }
    }
    fs::rename(from, to)
}

/// Appends whole text to a file that was opened for appending, or nothing: what a failure leaves of it is taken back.
///
/// # Errors
/// The file cannot be written.
pub fn append(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let before = file.metadata()?.len();
    file.write_all(bytes).inspect_err(|_| {
        // more than a part of these bytes is from another process that appends to the same file
        let is_part = |now: u64| now > before && now - before < bytes.len() as u64;
        if file.metadata().is_ok_and(|now| is_part(now.len())) {
            // report the first error only
            let _ = file.set_len(before);
        }
    })
}

/// Removes the temporary files of this process when it ends early, by a signal. Later writes of other threads wait for
/// ever, so the process must end next.
pub fn remove_temporary_files() {
    let temporary = lock(&TEMPORARY);
    for path in temporary.iter() {
        let _ = fs::remove_file(path);
    }
    std::mem::forget(temporary);
}

fn lock(paths: &'static Mutex<BTreeSet<PathBuf>>) -> std::sync::MutexGuard<'static, BTreeSet<PathBuf>> {
    // a set of paths is valid after a panic elsewhere
    paths.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a new file in the directory and returns its path; skips names of leftover files.
fn create_beside(directory: &Path, name: &std::ffi::OsStr) -> io::Result<(File, PathBuf)> {
    if lock(&CLEANED).insert(directory.to_owned()) {
        remove_stale(directory);
    }
    let mut attempt = 0u32;
    loop {
        // a hash of the name, since the name itself with additions may exceed the limit of the file system
        let temporary = directory.join(format!(
            ".evalcurve-{}-{:016x}-{attempt}-{:016x}.tmp",
            std::process::id(),
            *MACHINE,
            fingerprint(name)
        ));
        // listed under the lock that a signal waits for, so that a signal at any time removes it
        let mut known = lock(&TEMPORARY);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => {
                known.insert(temporary.clone());
                return Ok((file, temporary));
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            Err(e) => return Err(e),
        }
    }
}

/// Identifies the machine since its start and the name space of process numbers, so that processes of other machines
/// that write into the same folder are left alone; 0 where the system has no `/proc`.
static MACHINE: LazyLock<u64> = LazyLock::new(|| {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let processes = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    if boot.is_empty() { 0 } else { fingerprint(processes.as_os_str()) ^ fingerprint(boot.as_ref()) }
});

/// Removes temporary files that processes left in the directory when they were killed.
fn remove_stale(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|n| n.strip_prefix(".evalcurve-")?.strip_suffix(".tmp")) else {
            continue;
        };
        let mut parts = rest.split('-');
        let process = parts.next().and_then(|p| p.parse::<u32>().ok());
        let machine = parts.next().and_then(|m| u64::from_str_radix(m, 16).ok());
        let is_dead = match process {
            // another thread writes it; its age may not be known yet
            Some(process) if process == std::process::id() && machine == Some(*MACHINE) => false,
            Some(process) if *MACHINE != 0 && machine == Some(*MACHINE) => {
                !Path::new("/proc").join(process.to_string()).exists()
            }
            Some(_) => {
                let modified = entry.metadata().and_then(|m| m.modified()).ok();
                modified.and_then(|m| m.elapsed().ok()).is_some_and(|age| age > STALE)
            }
            None => false,
        };
        if is_dead {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A hash that distinguishes the names in one directory.
fn fingerprint(name: &std::ffi::OsStr) -> u64 {
    name.as_encoded_bytes().iter().fold(0, |state, &b| crate::random::mix(state ^ u64::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next write into a folder removes what a killed process left, and nothing that may be in use.
    #[test]
    fn leftovers_of_dead_processes_are_removed() {
        if *MACHINE == 0 {
            eprintln!("SKIPPED: the system has no /proc");
            return;
        }
        let folder = std::env::temp_dir().join(format!("evalcurve-whole-file-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // process numbers are below 2^22
        let (dead, own) = (4_194_305, std::process::id());
        let name = |process: u32, machine: u64| format!(".evalcurve-{process}-{machine:016x}-0-0000000000000000.tmp");
        let [of_dead, of_living, of_another] = [name(dead, *MACHINE), name(own, *MACHINE), name(dead, *MACHINE ^ 1)];
        for name in [&of_dead, &of_living, &of_another] {
            fs::write(folder.join(name), "half").unwrap();
        }
        write(&folder.join("a.json"), b"{}").unwrap();
        let mut left: Vec<String> =
            fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        left.sort();
        let mut expected = [of_living, of_another, "a.json".to_owned()];
        expected.sort();
        assert_eq!(left, expected);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn files_are_read_up_to_a_limit() {
        let path = std::env::temp_dir().join(format!("evalcurve-bounded-{}", std::process::id()));
        fs::write(&path, "\u{feff}four").unwrap();
        assert_eq!(read_bounded(&path, 7).unwrap(), "\u{feff}four".as_bytes());
        assert_eq!(read_bounded(&path, 6).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_text(&path).unwrap(), "four");
        File::create(&path).unwrap().set_len(MOST_TEXT + 1).unwrap();
        assert_eq!(read_text(&path).unwrap_err().to_string(), "it is larger than 16 MiB; check its name");
        fs::remove_file(&path).unwrap();
        if cfg!(target_os = "linux") {
            let error = read_bounded(Path::new("/dev/zero"), 1 << 20).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        }
    }

    #[test]
    fn files_that_belong_together_are_all_old_or_all_new() {
        let folder = std::env::temp_dir().join(format!("evalcurve-together-{}", std::process::id()));
        fs::create_dir_all(folder.join("b")).unwrap();
        fs::write(folder.join("a"), "old").unwrap();
        let mut files = WholeFiles::default();
        files.add(&folder.join("a"), b"new").unwrap();
        files.add(&folder.join("c"), b"new").unwrap();
        let error = files.add(&folder.join("b"), b"new").unwrap_err().to_string();
        assert!(error.contains("it is a directory; give the name of a file"), "{error}");
        drop(files);
        let names = || fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect::<BTreeSet<_>>();
        assert_eq!(names(), ["a", "b"].map(Into::into).into());
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "old");
        let mut files = WholeFiles::default();
        files.add(&folder.join("a"), b"new").unwrap();
        files.add(&folder.join("c"), b"new").unwrap();
        // it becomes a directory in between
        fs::create_dir(folder.join("c")).unwrap();
        files.add(&folder.join("d"), b"new").unwrap();
        files.finish().unwrap_err();
        assert_eq!(names(), ["a", "b", "c"].map(Into::into).into());
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "new");
        // more than are flushed at a time, of several
        let mut all = WholeFiles::default();
        for i in 0..40 {
            let mut one = WholeFiles::default();
            one.add(&folder.join(format!("b/{i}")), i.to_string().as_bytes()).unwrap();
            all.append(one);
        }
        assert!(!folder.join("b/39").exists());
        all.finish().unwrap();
        for i in 0..40 {
            assert_eq!(fs::read_to_string(folder.join(format!("b/{i}"))).unwrap(), i.to_string());
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn an_input_is_known_by_every_name() {
        let folder = std::env::temp_dir().join(format!("evalcurve-inputs-{}", std::process::id()));
        fs::create_dir_all(folder.join("b")).unwrap();
        let at = |name: &str| folder.join(name);
        fs::write(at("a"), "record").unwrap();
        fs::write(at("other"), "record").unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("a", at("soft")).unwrap();
        let inputs = Inputs::of([at("a"), at("none")]);
        let names = ["a", "hard", "b/../a", if cfg!(unix) { "soft" } else { "a" }];
        assert!(names.iter().all(|name| inputs.replaced_by(&at(name)) == Some(&*at("a"))));
        assert!(["other", "none", "b"].iter().all(|name| inputs.replaced_by(&at(name)).is_none()));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn an_append_that_fails_adds_nothing() {
        let path = std::env::temp_dir().join(format!("evalcurve-append-{}", std::process::id()));
        fs::write(&path, "one\n").unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        append(&mut file, b"two\n").unwrap();
        append(&mut File::open(&path).unwrap(), b"three\n").unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        fs::remove_file(&path).unwrap();
    }
}
