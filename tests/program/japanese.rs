//! The Japanese of the program: every text of a use is in its `ja.json` or in that of the base, and every translation
//! is of a text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use evalcurve_app::cli::{Flat, Program, help};
use evalcurve_calibration::types::Termination;
use evalcurve_fit::calibration::Doubt;
use evalcurve_fit::fit::ModelKind;
use evalcurve_records::record::source::Refusal;
use evalcurve_records::record::{OddityKind, SkipReason};
use evalcurve_words::language::{Language, ToText, check_dictionary};
use strum::VariantNames;

const DOUBTS: [Doubt; 15] = [
    Doubt::SignInverted,
    Doubt::NoCentipawns,
    Doubt::Adjudicated,
    Doubt::CutScores,
    Doubt::RowsAsGames,
    Doubt::UnknownOpponents,
    Doubt::WorseThanConstant,
    Doubt::SlopeMayBeZero,
    Doubt::WideInterval,
    Doubt::SlopeOff,
    Doubt::Miscalibrated,
    Doubt::Misshapen,
    Doubt::OneSided,
    Doubt::ManyLapses,
    Doubt::Conflict,
];

/// Kinds of problems that no enum lists.
const KINDS: [&str; 16] = [
    "bad_color",
    "bad_count",
    "bad_engine",
    "bad_game",
    "bad_model",
    "bad_opponent",
    "bad_player",
    "bad_ply",
    "bad_rating",
    "bad_result",
    "bad_row",
    "bad_score",
    "bad_win_rate",
    "bad_window",
    "same_player",
    "no_effect",
];

/// What could not be done with a file: the word in "cannot … FILE".
const ACTIONS: [&str; 8] = ["create", "create the folder", "delete", "lock", "open", "read", "replace", "write"];

/// The templates in a source file: the literal that begins `text!` or `key!`, or follows the language in `say!`,
/// those of `word` and `counted`, and those of errors that derive `ToText`.
fn templates(source: &str, out: &mut BTreeSet<String>) {
    let program = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    for start in ["text!(", "key!(", "say!(", "word(", "counted(", "label(", "#[error("] {
        for (at, _) in program.match_indices(start) {
            let line = program[..at].rsplit('\n').next().unwrap();
            let derived = program[..at].rsplit("#[derive(").next().unwrap();
            let is_error = start == "#[error(" && !derived.split(']').next().unwrap().contains("ToText");
            if is_error || line.trim_start().starts_with("//") {
                continue;
            }
            let mut rest = program[at + start.len()..].trim_start();
            if matches!(start, "say!(" | "counted(" | "label(") {
                let Some((_, after)) = rest.split_once(',') else { continue };
                rest = after.trim_start();
            }
            while let Some((literal, after)) = literal(rest) {
                rest = after.trim_start();
                // of a function of this name with other arguments
                if start == "word(" && !rest.trim_start_matches(',').trim_start().starts_with(')') {
                    break;
                }
                out.insert(literal);
                match rest.strip_prefix(',').filter(|_| start == "counted(") {
                    Some(after) => rest = after.trim_start(),
                    None => break,
                }
            }
        }
    }
}

/// The string literal at the beginning of a source text, and what follows it.
fn literal(source: &str) -> Option<(String, &str)> {
    let rest = source.strip_prefix('"')?;
    let (mut out, mut chars) = (String::new(), rest.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &rest[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                '\n' => {
                    let tail = chars.as_str();
                    for _ in 0..tail.chars().count() - tail.trim_start().chars().count() {
                        chars.next();
                    }
                }
                'u' => {
                    let (code, _) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                    out.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
                    chars.by_ref().take(code.len() + 2).for_each(drop);
                }
                other => out.push(other),
            },
            c => out.push(c),
        }
    }
    None
}

/// Without letters there is nothing to translate.
fn has_words(template: &str) -> bool {
    let mut inside = false;
    template.chars().any(|c| {
        inside = (inside || c == '{') && c != '}';
        !inside && c.is_alphabetic()
    })
}

/// The templates in the Rust files below folders.
fn templates_below(mut folders: Vec<PathBuf>) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_name().unwrap().to_string_lossy().into_owned();
            if entry.is_dir() && !matches!(&name[..], "tests" | "target" | "testkit" | "xtask") {
                folders.push(entry);
            } else if name.ends_with(".rs") && !name.contains("tests") && name != "language.rs" {
                templates(&fs::read_to_string(entry).unwrap(), &mut used);
            }
        }
    }
    used
}

/// The folder of a use: the one whose Japanese it has.
fn folder_of(root: &Path, flat: &Flat) -> PathBuf {
    let of = |folder: &PathBuf| {
        fs::read_to_string(folder.join("src/ja.json")).is_ok_and(|text| text == flat.japanese)
            && flat.commands.iter().all(|c| file_names(&folder.join("src/cli")).contains(&c.name.replace('-', "_")))
    };
    let mut folders = fs::read_dir(root.join("commands")).unwrap().map(|entry| entry.unwrap().path());
    folders.find(of).unwrap_or_else(|| panic!("no folder of {}", flat.commands[0].name))
}

/// The names of Rust files in a folder, and the words that begin them.
fn file_names(folder: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    names.map(stem).collect()
}

/// Checks the Japanese of a program whose own files are in `folders`, and of the uses that it has.
pub(crate) fn check(program: &Program, root: &Path, folders: &[&str]) {
    let read = |path: PathBuf| -> BTreeMap<String, String> {
        let text = fs::read_to_string(&path).unwrap();
        let problems = check_dictionary(&text);
        assert!(problems.is_empty(), "{}: {problems:#?}", path.display());
        serde_json::from_str(&text).unwrap()
    };
    let shared = read(root.join("crates/words/src/language/ja.json"));
    let mut base = templates_below(folders.iter().map(|folder| root.join(folder)).collect());
    let mut command_line = program.command_line();
    command_line.build();
    // the program without uses
    let mut own = Program { flats: &[], ..*program }.command_line();
    own.build();
    help::texts(&own, &mut base);
    // texts of tables, which are looked up as they are
    base.extend(ModelKind::ALL.iter().map(|kind| kind.label().to_owned()));
    base.extend(DOUBTS.iter().map(|doubt| doubt.words().to_owned()));
    base.extend(Termination::ALL.iter().map(|termination| termination.to_text().to_string()));
    let kinds = [SkipReason::VARIANTS, Refusal::VARIANTS, OddityKind::VARIANTS, &KINDS].concat();
    base.extend(kinds.iter().map(|kind| kind.replace('_', " ")));
    base.extend([", "].iter().chain(&ACTIONS).map(|&word| word.to_owned()));
    let mut used = base.clone();
    let missing: Vec<&String> = base.iter().filter(|t| has_words(t) && !shared.contains_key(*t)).collect();
    assert!(missing.is_empty(), "without Japanese in crates/words: {missing:#?}");
    for flat in program.flats {
        let folder = folder_of(root, flat);
        let own = read(folder.join("src/ja.json"));
        let mut texts = templates_below(vec![folder.join("src")]);
        for command in flat.commands {
            help::texts(command_line.find_subcommand(command.name).unwrap(), &mut texts);
        }
        let known = |text: &String| shared.contains_key(text) || own.contains_key(text);
        let missing: Vec<&String> = texts.iter().filter(|text| has_words(text) && !known(text)).collect();
        assert!(missing.is_empty(), "without Japanese in {}: {missing:#?}", folder.display());
        let unused: Vec<&String> = own.keys().filter(|text| !texts.contains(*text)).collect();
        assert!(unused.is_empty(), "not in {}: {unused:#?}", folder.display());
        used.extend(texts);
    }
}

#[test]
fn every_text_has_a_translation_and_every_translation_a_text() {
    check(&evalcurve::PROGRAM, crate::support::root(), &["src", "crates"]);
}

#[test]
fn the_help_is_in_the_language() {
    let mut program = help::translated(evalcurve::PROGRAM.command_line(), Language::Japanese);
    let help = program.render_long_help().to_string();
    assert!(help.contains("使い方:") && !help.contains("Usage:"), "{help}");
    let english = evalcurve::PROGRAM.command_line().render_long_help().to_string();
    let same = help::translated(evalcurve::PROGRAM.command_line(), Language::English).render_long_help().to_string();
    assert_eq!(same, english);
}
