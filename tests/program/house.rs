//! The rules of the house, held over the project's own files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::root;

/// The rooms in their order: a file imports from its own and from what stands before it. Rooms of one row share a step.
const ORDER: [&[&str]; 20] = [
    &["types", "error", "random", "normal", "whole_file"],
    &["record"],
    &["sample"],
    &["curve"],
    &["standardize"],
    &["rating"],
    &["fit"],
    &["validate"],
    &["calibration"],
    &["calibrate"],
    &["match_stats"],
    &["rule"],
    &["theory"],
    &["usi"],
    &["council"],
    &["diagnose"],
    &["plot"],
    &["report"],
    &["cli"],
    &["lib", "main"],
];

fn step(room: &str) -> Option<usize> {
    ORDER.iter().position(|rooms| rooms.contains(&room))
}

/// All Rust files under `src`, with their text.
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
    found.sort();
    assert!(found.len() > 50, "only {} files", found.len());
    found
}

/// `src/fit/mod.rs` as `fit/mod.rs`, with `/`.
fn shown(path: &Path) -> String {
    path.strip_prefix(root().join("src")).unwrap().to_string_lossy().replace('\\', "/")
}

fn room_of(path: &str) -> &str {
    path.split('/').next().unwrap().trim_end_matches(".rs")
}

/// The code without comments and without what stands under `#[cfg(test)]`, by line. The layout is rustfmt's: an item
/// ends at a closing brace in the column of its attribute. Modules in files of their own that are for tests come second.
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

/// The files of `src` that belong to the program, with their code.
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
            // `#[path]` may put it beside the file
            tests.insert(folder.join(format!("{module}.rs")));
            tests.insert(folder.join(&module).join("mod.rs"));
            tests.insert(path.with_file_name(format!("{module}.rs")));
            tests.insert(path.with_file_name(format!("{name}_{module}.rs")));
        }
        files.push((path.clone(), code));
    }
    files.into_iter().filter(|(p, _)| !tests.contains(p)).map(|(p, code)| (shown(&p), code)).collect()
}

/// Rooms that a line names by `crate::ROOM`, or by `super::` out of its own room.
fn rooms_named(file: &str, line: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    let mut add = |rest: &str| match rest.strip_prefix('{') {
        // `use crate::{fit::Fit, types::Color}` on one line
        Some(list) => found.extend(list.split(',').map(|item| word(item.trim_start()))),
        None => found.push(word(rest)),
    };
    for (at, _) in line.match_indices("crate::") {
        if !line[..at].ends_with('$') {
            add(&line[at + 7..]);
        }
    }
    let parts = file.split('/').count();
    let depth = if file.ends_with("/mod.rs") { parts - 1 } else { parts };
    let outwards = "super::".repeat(depth);
    for (at, _) in line.match_indices(&outwards) {
        if !line[..at].ends_with("::") {
            add(&line[at + outwards.len()..]);
        }
    }
    found.retain(|room| !room.is_empty() && room != "super");
    found
}

#[test]
fn files_import_only_what_stands_before_them() {
    let all = sources();
    let mut broken = Vec::new();
    let mut imports = 0;
    for (file, code) in program_files(&all) {
        let room = room_of(&file);
        let own = step(room).unwrap_or_else(|| panic!("src/{file}: give the room '{room}' its place in ORDER"));
        if room == "lib" || room == "main" {
            continue;
        }
        for (number, line) in code {
            for named in rooms_named(&file, line) {
                imports += 1;
                let Some(other) = step(&named) else {
                    // an item of the room's own, by a path through `super`
                    if line.contains("crate::") {
                        broken.push(format!("src/{file}:{number}: '{named}' has no place in ORDER"));
                    }
                    continue;
                };
                if other > own {
                    broken.push(format!("src/{file}:{number}: {room} imports {named}, which stands behind it"));
                }
                if named == "plot" && !["plot", "report", "cli"].contains(&room) {
                    broken.push(format!("src/{file}:{number}: only report and cli import plot"));
                }
                if named == "cli" && room != "cli" {
                    broken.push(format!("src/{file}:{number}: nobody imports cli"));
                }
            }
        }
    }
    assert!(imports > 100, "only {imports} imports seen");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The rules themselves, on lines that break them.
#[test]
fn the_rules_see_what_they_look_for() {
    assert_eq!(rooms_named("fit/mod.rs", "use crate::report::text;"), ["report"]);
    assert_eq!(rooms_named("fit/mod.rs", "use crate::{cli::Args, types::Color};"), ["cli", "types"]);
    assert_eq!(rooms_named("fit/mod.rs", "use super::plot;"), ["plot"]);
    assert_eq!(rooms_named("fit/solve.rs", "let x = super::super::cli::main();"), ["cli"]);
    assert!(rooms_named("fit/solve.rs", "use super::sigmoid;").is_empty());
    let text =
        "a();\n// b.unwrap()\n#[cfg(test)]\nmod tests {\n    c.unwrap();\n}\nd();\n#[cfg(test)]\nmod more;\ne();\n";
    let (code, modules) = program_code(text);
    assert_eq!(code, [(1, "a();"), (7, "d();"), (10, "e();")]);
    assert_eq!(modules, ["more"]);
    assert!(forbidden_reference("see Issue #12").is_some() && forbidden_reference("fixes #3").is_some());
    assert!(forbidden_reference("fill=\"#123456\" +2625FU #1234").is_none());
}

#[test]
fn nothing_in_the_program_panics_on_purpose() {
    let all = sources();
    let words = [".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!(", "unreachable!(", "process::exit"];
    let mut broken = Vec::new();
    for (file, code) in program_files(&all) {
        for (number, line) in code {
            if let Some(word) = words.iter().find(|w| line.contains(**w)) {
                broken.push(format!("src/{file}:{number}: {word}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn nothing_belongs_to_one_system_unless_it_says_so() {
    let all = sources();
    let mut broken = Vec::new();
    for (file, code) in program_files(&all) {
        for (i, (number, line)) in code.iter().enumerate() {
            let own = line.contains("os::unix") || line.contains("os::windows") || line.contains("os::linux");
            // the attribute stands on the item, a few lines above at most
            let said = code[i.saturating_sub(3)..=i].iter().any(|(_, l)| l.contains("cfg(") || l.contains("cfg_attr("));
            if own && !said {
                broken.push(format!("src/{file}:{number}: {}", line.trim()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A number of an issue or of a pull request, which says nothing to who reads the file.
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

/// The files under version control; `None`, told loudly, where there is none.
fn tracked() -> Option<Vec<String>> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let Some(out) = listed.ok().filter(|o| o.status.success() && !o.stdout.is_empty()) else {
        eprintln!("SKIPPED: no git or no repository, tracked files are not looked at");
        return None;
    };
    Some(String::from_utf8_lossy(&out.stdout).split('\0').filter(|f| !f.is_empty()).map(str::to_owned).collect())
}

#[test]
fn files_speak_of_the_project_alone() {
    let Some(files) = tracked() else { return };
    let outside = concat!("../", "shared");
    let paths = [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/"), concat!("C:\\", "Users")];
    let mut broken = Vec::new();
    for file in files {
        let Ok(text) = fs::read_to_string(root().join(&file)) else { continue };
        // played games and reference numbers are data
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
    if let Some(files) = tracked() {
        for file in
            files.iter().filter(|f| f.starts_with(".cargo/") || f.ends_with("pip.conf") || f.ends_with(".npmrc"))
        {
            let text = fs::read_to_string(root().join(file)).unwrap_or_default();
            assert!(!text.contains("replace-with") && !text.contains("registry"), "{file} names a registry");
        }
    }
}
