//! Finds what globs match. The `glob` crate matches the parts of a pattern; its own search of folders passes over names
//! that are not UTF-8, which files with Japanese names often have.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use evalcurve_words::language::Text;
use evalcurve_words::text;
use glob::{Pattern, PatternError};

use super::{SourceError, is_hidden};

/// Replaces the globs among the paths by the files that they match; shells on Windows leave that to the program. As in
/// a shell, `*`, `?` and `[…]` match no name that begins with a dot, unless the pattern's part begins with one. What
/// exists under the name of a glob is no glob.
///
/// # Errors
/// [`SourceError`] for a glob that matches nothing. Paths that are not globs are not checked.
pub fn expand_globs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SourceError> {
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        // a link that leads nowhere exists, too
        if has_wildcard(&path.to_string_lossy()) && path.symlink_metadata().is_err() {
            all.extend(matches_of(path)?);
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The paths that a glob matches, sorted; at least one.
fn matches_of(glob: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let shown = glob.to_string_lossy();
    let failed = |kind, message: Text| SourceError { path: shown.clone().into_owned(), kind, message };
    let invalid = |error: PatternError| failed(ErrorKind::InvalidInput, error.to_string().into());
    Pattern::new(&shown).map_err(invalid)?;
    let (root, parts) = parts(glob).map_err(invalid)?;
    let mut found = Vec::new();
    walk(&root, &parts, &mut found);
    if shown.ends_with(std::path::is_separator) {
        found.retain(|path| path.is_dir());
    }
    found.sort();
    found.dedup();
    if found.is_empty() {
        return Err(failed(ErrorKind::NotFound, text!("no file matches")));
    }
    Ok(found)
}

/// A part of a glob, between separators.
enum Part<'a> {
    Name(&'a OsStr),
    /// Names that match.
    Pattern(Pattern),
    /// `**`: folders of any depth.
    Folders,
}

impl Part<'_> {
    /// Whether it matches the name of a file in a folder.
    fn matches(&self, name: &OsStr) -> bool {
        match self {
            Self::Name(wanted) => *wanted == name,
            // what is not UTF-8 in a name is matched by wildcards
            Self::Pattern(pattern) => {
                (!is_hidden(name) || pattern.as_str().starts_with('.')) && pattern.matches(&name.to_string_lossy())
            }
            Self::Folders => false,
        }
    }
}

/// The folder where a glob begins, and its parts below.
fn parts(glob: &Path) -> Result<(PathBuf, Vec<Part<'_>>), PatternError> {
    let (mut root, mut parts) = (PathBuf::new(), Vec::new());
    for component in glob.components() {
        match component {
            Component::Normal(name) => {
                let text = name.to_string_lossy();
                parts.push(match &*text {
                    "**" => Part::Folders,
                    text if has_wildcard(text) => Part::Pattern(Pattern::new(text)?),
                    _ => Part::Name(name),
                });
            }
            other if parts.is_empty() => root.push(other),
            other => parts.push(Part::Name(other.as_os_str())),
        }
    }
    Ok((root, parts))
}

/// Adds what the parts match below `base`.
fn walk(base: &Path, parts: &[Part<'_>], found: &mut Vec<PathBuf>) {
    let Some((part, rest)) = parts.split_first() else {
        found.push(base.to_owned());
        return;
    };
    match part {
        Part::Name(name) => {
            let path = base.join(name);
            if path.symlink_metadata().is_ok() {
                walk(&path, rest, found);
            }
        }
        Part::Pattern(_) => match names(base) {
            Ok(names) => {
                for name in names.iter().filter(|name| part.matches(name)) {
                    let path = base.join(name);
                    if rest.is_empty() || path.is_dir() {
                        walk(&path, rest, found);
                    }
                }
            }
            // a folder that cannot be read is reported when it is walked
            Err(_) if base.as_os_str().is_empty() || base.is_dir() => found.push(base.to_owned()),
            // a file has nothing below it
            Err(_) => {}
        },
        Part::Folders => folders(base, rest, found),
    }
}

/// The names in a folder.
fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::fs::read_dir(here)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Adds what `parts` match below `base` and all folders below it, links among them. `**` at the end of a glob matches
/// the folders themselves.
fn folders(base: &Path, parts: &[Part<'_>], found: &mut Vec<PathBuf>) {
    let here = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let below = walkdir::WalkDir::new(here).follow_links(true).into_iter();
    for folder in below.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name())) {
        match folder {
            Ok(folder) if folder.file_type().is_dir() => {
                let path = match folder.path().strip_prefix(here) {
                    Ok(below) if below.as_os_str().is_empty() => base.to_owned(),
                    Ok(below) => base.join(below),
                    Err(_) => folder.path().to_owned(),
                };
                if !parts.is_empty() || folder.depth() > 0 {
                    walk(&path, parts, found);
                }
            }
            Ok(_) => {}
            // a link back to a folder above leads to what is found anyway, and `parts` match other broken links
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => found.extend(error.path().filter(|path| path.is_dir()).map(Path::to_owned)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A new folder with these files, each with its name as its content.
    fn folder(name: &str, files: &[&str]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("evalcurve-globs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        for file in files {
            let file = path.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, file.to_string_lossy().as_bytes()).unwrap();
        }
        path
    }

    /// What a glob in a folder matches, with `/` between folders.
    fn found(folder: &Path, glob: &str) -> Vec<String> {
        let paths = expand_globs(&[folder.join(glob)]).unwrap_or_default();
        let shown = |path: &PathBuf| path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
        paths.iter().map(shown).collect()
    }

    #[test]
    fn globs_match_as_in_a_shell() {
        let files = ["a.csa", "b.csa", "c.kif", ".d.csa", "x/a.csa", "x/y/a.csa", ".h/a.csa", "z[1].csa"];
        let folder = folder("shell", &files);
        for (glob, expected) in [
            ("*.csa", &["a.csa", "b.csa", "z[1].csa"][..]),
            ("?.k*", &["c.kif"]),
            ("[bc].*", &["b.csa", "c.kif"]),
            (".*.csa", &[".d.csa"]),
            ("*/a.csa", &["x/a.csa"]),
            ("x/*/*", &["x/y/a.csa"]),
            // a file has nothing below it
            ("a.csa/*", &[]),
            ("*/a.csa/*.csa", &[]),
            ("**/a.csa", &["a.csa", "x/a.csa", "x/y/a.csa"]),
            ("x/**/*.csa", &["x/a.csa", "x/y/a.csa"]),
            ("*/", &["x"]),
            ("**", &["x", "x/y"]),
            ("x/../?.kif", &["x/../c.kif"]),
            // a file that has the name of a glob
            ("z[1].csa", &["z[1].csa"]),
            ("*.pgn", &[]),
            ("no/*.csa", &[]),
        ] {
            assert_eq!(found(&folder, glob), expected, "{glob}");
        }
        let error = |glob: &str| expand_globs(&[folder.join(glob)]).unwrap_err();
        assert!(error("*.pgn").to_string().ends_with("*.pgn: no file matches"));
        assert!(error("[a").to_string().contains("[a: Pattern syntax error"), "{}", error("[a"));
        assert_eq!([error("*.pgn").kind, error("[a").kind], [ErrorKind::NotFound, ErrorKind::InvalidInput]);
        let below = |name: &str| crate::record::find::find(&[folder.join(name)]).unwrap_err().kind;
        assert_eq!(below("none"), ErrorKind::NotFound);
        #[cfg(unix)]
        assert_eq!(below("a.csa/b"), ErrorKind::NotADirectory);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_nowhere_or_back_are_found_once() {
        use std::os::unix::fs::symlink;
        let folder = folder("links", &["a/b.csa"]);
        symlink("nowhere", folder.join("a/x[1].csa")).unwrap();
        symlink(".", folder.join("a/loop")).unwrap();
        symlink("a", folder.join("c")).unwrap();
        assert_eq!(found(&folder, "a/*.csa"), ["a/b.csa", "a/x[1].csa"]);
        assert_eq!(found(&folder, "a/x[1].csa"), ["a/x[1].csa"]);
        assert_eq!(found(&folder, "**/b.csa"), ["a/b.csa", "c/b.csa"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
