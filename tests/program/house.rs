//! Rules that hold over the text of the project's own files.
//!
//! Only rules that neither the compiler nor clippy can check are here. The direction of imports used to be one of them;
//! now each crate can import only what its `Cargo.toml` names, so a test has to look at those lists alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::root;

/// The columns of a line of code or comment at most.
const MAX_COLUMNS: usize = 120;

/// The Rust files of every folder `src` in the workspace, with their text. The testkit is included.
fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join("src"), &mut found);
    for (_, folder) in crates() {
        walk(&folder.join("src"), &mut found);
    }
    found.sort();
    assert!(found.len() > 100, "only {} files", found.len());
    found
}

/// The members of the workspace below `crates`, as (name of the folder, folder).
fn crates() -> Vec<(String, PathBuf)> {
    let mut found: Vec<_> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .map(|folder| (folder.file_name().unwrap().to_string_lossy().into_owned(), folder))
        .collect();
    found.sort();
    assert!(found.len() >= 5, "only {} crates", found.len());
    found
}

/// The path from the root of the project, with `/`.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/")
}

/// The numbered lines of code, without comments and without items under `#[cfg(test)]`, and the names of test modules
/// in separate files. The layout is rustfmt's: an item ends at a closing brace in the column of its attribute.
fn program_code(text: &str) -> (Vec<(usize, &str)>, Vec<String>) {
    let (mut code, mut test_modules) = (Vec::new(), Vec::new());
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("//") {
            continue;
        }
        if !trimmed.starts_with("#[cfg(test)]") {
            code.push((number + 1, line));
            continue;
        }
        let indent = &line[..line.len() - trimmed.len()];
        for (_, line) in lines.by_ref() {
            let trimmed = line.trim();
            if let Some(module) = trimmed.strip_prefix("mod ").and_then(|m| m.strip_suffix(';')) {
                test_modules.push(module.to_owned());
            }
            let one_line = line.starts_with(indent) && !trimmed.starts_with('#') && trimmed.ends_with(';');
            if line == format!("{indent}}}") || (one_line && line[indent.len()..].starts_with(|c: char| c != ' ')) {
                break;
            }
        }
    }
    (code, test_modules)
}

/// The files that belong to the programs, with their code; files of tests are left out.
fn program_files(all: &[(PathBuf, String)]) -> Vec<(String, Vec<(usize, &str)>)> {
    let mut tests = BTreeSet::new();
    let mut files = Vec::new();
    for (path, text) in all {
        let (code, modules) = program_code(text);
        let name = path.file_stem().unwrap().to_string_lossy();
        let folder = if name == "mod" || name == "lib" || name == "main" {
            path.parent().unwrap().to_owned()
        } else {
            path.with_extension("")
        };
        for module in modules {
            // `#[path]` may put the module next to the file
            tests.insert(folder.join(format!("{module}.rs")));
            tests.insert(folder.join(&module).join("mod.rs"));
            tests.insert(path.with_file_name(format!("{module}.rs")));
            tests.insert(path.with_file_name(format!("{name}_{module}.rs")));
        }
        files.push((path.clone(), code));
    }
    files
        .into_iter()
        .filter(|(path, _)| !tests.contains(path))
        .map(|(path, code)| (shown(&path), code))
        // only tests call it, and fuzz targets panic where a promise is broken
        .filter(|(file, _)| file != "crates/testkit/src/lib.rs" && !file.starts_with("crates/testkit/src/fuzz/"))
        .collect()
}

/// The names of the dependencies in one section of a manifest, and in the same section of its targets.
fn dependencies(manifest: &str, section: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            let name = line.trim_matches(['[', ']']);
            inside = name == section || (name.starts_with("target.") && name.ends_with(&format!(".{section}")));
        } else if inside && line.starts_with(char::is_alphanumeric) {
            found.push(line.split(['=', '.', ' ']).next().unwrap().to_owned());
        }
    }
    found
}

/// The helpers, on text that breaks the rules.
#[test]
fn the_checks_find_what_they_look_for() {
    let text =
        "a();\n// b.unwrap()\n#[cfg(test)]\nmod tests {\n    c.unwrap();\n}\nd();\n#[cfg(test)]\nmod more;\ne();\n";
    let (code, modules) = program_code(text);
    assert_eq!(code, [(1, "a();"), (7, "d();"), (10, "e();")]);
    assert_eq!(modules, ["more"]);
    let manifest = "[dependencies]\na.workspace = true\nb = \"1\"\n# c\n\n[dev-dependencies]\nd = \"1\"\n\n\
                    [target.'cfg(unix)'.dependencies]\ne.workspace = true\n";
    assert_eq!(dependencies(manifest, "dependencies"), ["a", "b", "e"]);
    assert_eq!(dependencies(manifest, "dev-dependencies"), ["d"]);
    assert!(forbidden_reference("see Issue #12").is_some() && forbidden_reference("fixes #3").is_some());
    assert!(forbidden_reference("fill=\"#123456\" +2625FU #1234").is_none());
    assert_eq!(odd_word("/// Nobody voted."), Some("nobody"));
    assert_eq!(odd_word("the fault is told before the move"), Some("told"));
    assert_eq!(odd_word("    \"'x' is none of them\""), Some("is none"));
    assert_eq!(odd_word("fn voters_behind(x: u32)"), Some("behind"));
    assert_eq!(odd_word("p stands for the win rate, and the standard error is understood"), None);
    assert_eq!(odd_word("if x is None or y.is_none(): there is none"), None);
}

#[test]
fn program_code_does_not_panic_on_purpose() {
    let all = sources();
    let words = [".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!(", "unreachable!(", "process::exit"];
    let mut broken = Vec::new();
    for (file, code) in program_files(&all) {
        for (number, line) in code {
            if let Some(word) = words.iter().find(|w| line.contains(**w)) {
                broken.push(format!("{file}:{number}: {word}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn platform_code_is_under_a_cfg() {
    let all = sources();
    let mut broken = Vec::new();
    for (file, code) in program_files(&all) {
        for (i, (number, line)) in code.iter().enumerate() {
            let platform = line.contains("os::unix") || line.contains("os::windows") || line.contains("os::linux");
            // the attribute is on the item, at most a few lines above
            let guarded =
                code[i.saturating_sub(3)..=i].iter().any(|(_, l)| l.contains("cfg(") || l.contains("cfg_attr("));
            if platform && !guarded {
                broken.push(format!("{file}:{number}: {}", line.trim()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The crates form two layers: core, and those that depend only on core. Play lets the engines of council play, and
/// counts as records does. The root package and the testkit combine them; the
/// Python package shows the root package to Python.
#[test]
fn crates_depend_on_core_only() {
    for (name, folder) in crates() {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let all = dependencies(&manifest, "dependencies");
        let own: Vec<_> = all.iter().filter(|d| d.starts_with("evalcurve")).map(String::as_str).collect();
        match name.as_str() {
            "testkit" => assert!(manifest.contains("publish = false"), "the testkit is never shipped"),
            "core" => assert!(own.is_empty(), "core depends on {own:?}"),
            "python" => assert_eq!(own, ["evalcurve"], "the Python package has what the program has"),
            "play" => assert_eq!(own, ["evalcurve-core", "evalcurve-council", "evalcurve-records"], "play"),
            _ => assert_eq!(own, ["evalcurve-core"], "dependencies of {name}"),
        }
        // a GUI or an engine embeds core: no archives, no encodings, no tables, no figures, no command line
        for heavy in ["clap", "encoding_rs", "plotters", "polars", "resvg", "sevenz-rust2", "tar", "zip", "zstd"] {
            assert!(name != "core" || !all.iter().any(|d| d == heavy), "core depends on {heavy}");
        }
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(!dependencies(&manifest, "dependencies").iter().any(|d| d == "evalcurve-testkit"));
}

#[test]
fn every_package_has_the_licence_and_the_lints_of_the_workspace() {
    let mut folders: Vec<_> = crates().into_iter().map(|(_, folder)| folder).collect();
    folders.push(root().to_owned());
    for folder in folders {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for line in ["license.workspace = true", "[lints]\nworkspace = true"] {
            assert!(manifest.contains(line), "{}: no `{line}`", folder.join("Cargo.toml").display());
        }
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for line in ["license = \"MIT OR Apache-2.0\"", "unsafe_code = \"forbid\"", "missing_docs = \"warn\""] {
        assert!(manifest.contains(line), "Cargo.toml: no `{line}`");
    }
}

/// A reference to an issue or a pull request; a reader of the file cannot look it up.
fn forbidden_reference(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    for word in ["issue", "issues", "fixes", "closes", "resolves", "pull request", "pr", "bug"] {
        for (at, _) in lower.match_indices(word) {
            let apart = !lower[..at].chars().next_back().is_some_and(char::is_alphanumeric);
            let rest = lower[at + word.len()..].trim_start_matches(' ');
            if apart && rest.strip_prefix('#').is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())) {
                return Some(lower[at..].chars().take(20).collect());
            }
        }
    }
    ["/issues/", "/pull/"].iter().find(|w| lower.contains(**w)).map(|w| (*w).to_owned())
}

/// The files under version control; `None`, with a message, if git or the repository is missing.
fn tracked() -> Option<Vec<String>> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let Some(out) = listed.ok().filter(|o| o.status.success() && !o.stdout.is_empty()) else {
        eprintln!("SKIPPED: git or the repository is missing, tracked files are not checked");
        return None;
    };
    Some(String::from_utf8_lossy(&out.stdout).split('\0').filter(|f| !f.is_empty()).map(str::to_owned).collect())
}

#[test]
fn files_name_no_machine_and_no_issue() {
    let Some(files) = tracked() else { return };
    let outside = concat!("../", "shared");
    let paths = [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/"), concat!("C:\\", "Users")];
    let mut broken = Vec::new();
    for file in files {
        let Ok(text) = fs::read_to_string(root().join(&file)) else { continue };
        // game records are data
        if file.ends_with(".csa") {
            continue;
        }
        for (i, line) in text.lines().enumerate() {
            if file != ".ci/run" && line.contains(outside) {
                broken.push(format!("{file}:{}: {outside}", i + 1));
            }
            if let Some(path) = paths.iter().find(|p| line.contains(**p)) {
                broken.push(format!("{file}:{}: a path of one machine, {path}", i + 1));
            }
            // this file quotes what it forbids
            if file != "tests/program/house.rs"
                && let Some(reference) = forbidden_reference(line)
            {
                broken.push(format!("{file}:{}: {reference}", i + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// rustfmt keeps code within the limit, but neither comments nor strings.
#[test]
fn lines_fit_in_120_columns() {
    let Some(files) = tracked() else { return };
    let mut broken = Vec::new();
    for file in files.iter().filter(|f| f.ends_with(".rs")) {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        for (i, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > MAX_COLUMNS {
                broken.push(format!("{file}:{}: {columns} columns", i + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{} lines\n{}", broken.len(), broken.join("\n"));
}

/// Words that the project does not use in comments, documentation, messages and names, because plain English has a
/// clearer one: "reported" instead of "told", "is in" instead of "stands in", "after" instead of "behind".
const ODD_WORDS: [&str; 13] = [
    "nobody", "whoever", "told", "stands", "stand", "stood", "behind", "heard", "spoken", "farewell", "bids",
    "is none", "are none",
];
/// Phrases in which such a word is plain English, and names in our files that have to stay.
const FINE: [&str; 10] = [
    "stands for",
    "stand for",
    "stand alone",
    "lines_stand_out",
    "there is none",
    "there are none",
    "falls behind",
    "the side that is behind",
    "behind_best",
    "behind_chosen",
];

/// The first odd word or phrase of a line. An underscore separates words, so names are checked as well.
fn odd_word(line: &str) -> Option<&'static str> {
    let text = FINE.iter().fold(line.to_owned(), |text, fine| text.replace(fine, ""));
    let lower = text.to_lowercase();
    let apart = |c: Option<char>| !c.is_some_and(char::is_alphabetic);
    let has = |odd: &&&str| {
        // `is None` is Python
        let text = if odd.contains(' ') { &text } else { &lower };
        text.match_indices(**odd)
            .any(|(at, _)| apart(text[..at].chars().next_back()) && apart(text[at + odd.len()..].chars().next()))
    };
    ODD_WORDS.iter().find(has).copied()
}

#[test]
fn prose_is_plain_english() {
    let Some(files) = tracked() else { return };
    let prose = |file: &&String| {
        [".rs", ".md", ".py", ".toml", ".mjs"].iter().any(|end| file.ends_with(end)) || file.as_str() == ".ci/run"
    };
    let mut broken = Vec::new();
    // this file quotes the words
    for file in files.iter().filter(prose).filter(|f| f.as_str() != "tests/program/house.rs") {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        for (i, line) in text.lines().enumerate() {
            if let Some(word) = odd_word(line) {
                broken.push(format!("{file}:{}: {word}: {}", i + 1, line.trim()));
            }
        }
    }
    assert!(broken.is_empty(), "{} lines\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn packages_come_from_the_public_registry() {
    let Ok(lock) = fs::read_to_string(root().join("Cargo.lock")) else {
        eprintln!("SKIPPED: the package holds no Cargo.lock");
        return;
    };
    let mut seen = 0;
    for line in lock.lines().filter_map(|l| l.strip_prefix("source = ")) {
        assert_eq!(line, "\"registry+https://github.com/rust-lang/crates.io-index\"");
        seen += 1;
    }
    assert!(seen > 50, "only {seen} packages");
    // chess libraries under the GPL; cozy-chess and haitaka are under the MIT licence
    for name in ["pgn-reader", "shakmaty"] {
        assert!(!lock.contains(&format!("name = \"{name}\"\n")), "{name} is under the GPL");
    }
    if let Some(files) = tracked() {
        for file in
            files.iter().filter(|f| f.starts_with(".cargo/") || f.ends_with("pip.conf") || f.ends_with(".npmrc"))
        {
            let text = fs::read_to_string(root().join(file)).unwrap_or_default();
            assert!(!text.contains("replace-with") && !text.contains("registry"), "{file} names a registry");
        }
    }
}
