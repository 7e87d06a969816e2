//! The help of the program in the language of the user. The command line is written in English; each of its texts is
//! looked up in the data file of translations when the help is needed.

use std::ffi::OsStr;

use clap::builder::StyledStr;
use clap::{Arg, Command};

use crate::language::Language;
use crate::{key, say};

/// The command with all texts in the language.
pub(super) fn translated(mut command: Command, language: Language) -> Command {
    if language == Language::English {
        return command;
    }
    // adds the options and the subcommand for help
    command.build();
    each(command, language)
}

fn each(command: Command, language: Language) -> Command {
    let word = |text: &StyledStr| lines(&text.to_string(), language);
    let (about, long_about) = (command.get_about().map(word), command.get_long_about().map(word));
    let (before, after) = (command.get_before_help().map(word), command.get_after_help().map(word));
    let header = command.get_styles().get_header();
    let usage = language.word(key!("Usage"));
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{header}{usage}:{header:#} {{usage}}\n\n{{all-args}}{{after-help}}"
    );
    let mut command = command
        .about(about.unwrap_or_default())
        .help_template(template)
        .subcommand_help_heading(language.word(key!("Commands")))
        .mut_args(|arg| argument(arg, language))
        .mut_subcommands(|command| each(command, language));
    if let Some(text) = long_about {
        command = command.long_about(text);
    }
    if let Some(text) = before {
        command = command.before_help(text);
    }
    match after {
        Some(text) => command.after_help(text),
        None => command,
    }
}

/// An argument with its help, under a heading, with what clap would add in English.
fn argument(mut arg: Arg, language: Language) -> Arg {
    let heading = match arg.get_help_heading() {
        // a heading of clap lives as long as the program
        Some(heading) => &*language.word(heading).to_owned().leak(),
        None if arg.is_positional() => language.word(key!("Arguments")),
        None => language.word(key!("Options")),
    };
    let mut added = Vec::new();
    let list = |values: &[&OsStr]| values.iter().map(|v| v.to_string_lossy()).collect::<Vec<_>>().join(", ");
    let (takes_value, defaults) = (arg.get_action().takes_values(), list(&default_values(&arg)));
    if takes_value && !arg.is_hide_default_value_set() && !defaults.is_empty() {
        added.push(say!(language, "[default: {defaults}]"));
    }
    let possible: Vec<_> = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect();
    let mut described = String::new();
    if takes_value && !arg.is_hide_possible_values_set() && !possible.is_empty() {
        let names: Vec<&str> = possible.iter().map(|value| value.get_name()).collect();
        let names = names.join(", ");
        added.push(say!(language, "[possible values: {names}]"));
        for value in &possible {
            if let Some(help) = value.get_help() {
                described += &format!("\n- {}: {}", value.get_name(), language.word(&help.to_string()));
            }
        }
    }
    let with = |text: &str, separator: &str| {
        let mut parts = vec![text.to_owned()];
        parts.extend(added.iter().cloned());
        parts.retain(|part| !part.is_empty());
        parts.join(separator)
    };
    let help = arg.get_help().map(|text| lines(&text.to_string(), language));
    let long = arg.get_long_help().map(|text| lines(&text.to_string(), language));
    if long.is_some() || !described.is_empty() {
        let text = long.or_else(|| help.clone()).unwrap_or_default();
        arg = arg.long_help(with(&text, "\n\n") + &described);
    }
    arg.help(with(&help.unwrap_or_default(), " "))
        .help_heading(heading)
        .hide_default_value(true)
        .hide_possible_values(true)
}

fn default_values(arg: &Arg) -> Vec<&OsStr> {
    arg.get_default_values().iter().map(AsRef::as_ref).collect()
}

/// A help text line by line, each with its indent; commands of examples are in no data file and stay.
fn lines(text: &str, language: Language) -> String {
    let one = |line: &str| {
        let plain = line.trim_start();
        let value = plain.strip_prefix("[default: ").and_then(|rest| rest.strip_suffix(']'));
        let text =
            value.map_or_else(|| language.word(plain).to_owned(), |defaults| say!(language, "[default: {defaults}]"));
        format!("{}{text}", &line[..line.len() - plain.len()])
    };
    text.split('\n').map(one).collect::<Vec<_>>().join("\n")
}

/// The texts of the help that have to be translated.
#[cfg(test)]
pub(super) fn texts(command: &Command, out: &mut std::collections::BTreeSet<String>) {
    let mut add = |text: Option<&StyledStr>| {
        let text = text.map(ToString::to_string).unwrap_or_default();
        let words = text.split('\n').map(str::trim_start).filter(|line| {
            let command =
                ["evalcurve ", "grep ", "--rule ", "diagnosis.json"].iter().any(|start| line.starts_with(start));
            !line.is_empty() && !line.starts_with("[default: ") && !command
        });
        out.extend(words.map(str::to_owned));
    };
    for text in [command.get_about(), command.get_long_about(), command.get_before_help(), command.get_after_help()] {
        add(text);
    }
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        add(arg.get_help());
        add(arg.get_long_help());
        let values = arg.get_possible_values();
        if arg.get_action().takes_values() && !arg.is_hide_possible_values_set() {
            values.iter().for_each(|value| add(value.get_help()));
        }
    }
    let headings = command.get_arguments().filter_map(Arg::get_help_heading).map(str::to_owned);
    let headings: Vec<String> = headings.collect();
    out.extend(headings);
    command.get_subcommands().for_each(|command| texts(command, out));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use clap::CommandFactory;
    use strum::VariantNames;

    use super::*;
    use crate::calibration::Doubt;
    use crate::fit::ModelKind;
    use crate::language::ToText;
    use crate::record::source::Refusal;
    use crate::record::{OddityKind, SkipReason};
    use crate::types::Termination;

    const DOUBTS: [Doubt; 11] = [
        Doubt::SignInverted,
        Doubt::NoCentipawns,
        Doubt::Adjudicated,
        Doubt::CutScores,
        Doubt::WorseThanConstant,
        Doubt::SlopeMayBeZero,
        Doubt::WideInterval,
        Doubt::SlopeOff,
        Doubt::Miscalibrated,
        Doubt::ManyLapses,
        Doubt::Conflict,
    ];

    /// Kinds of problems that no enum lists.
    const KINDS: [&str; 20] = [
        "bad_color",
        "bad_count",
        "bad_engine",
        "bad_game",
        "bad_opponent",
        "bad_player",
        "bad_ply",
        "bad_rating",
        "bad_result",
        "bad_row",
        "bad_score",
        "bad_window",
        "same_name",
        "same_player",
        "moves_differ",
        "no_effect",
        "not_replayed",
        "trailing_data",
        "unread_comment",
        "zero_byte",
    ];

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

    #[test]
    fn every_text_has_a_translation_and_every_translation_a_text() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders = vec![root.join("src"), root.join("crates")];
        let mut used = BTreeSet::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                let name = entry.file_name().unwrap().to_string_lossy().into_owned();
                if entry.is_dir() && !matches!(&name[..], "tests" | "target" | "testkit" | "xtask") {
                    folders.push(entry);
                } else if name.ends_with(".rs") && !name.contains("tests") && name != "language.rs" {
                    templates(&std::fs::read_to_string(entry).unwrap(), &mut used);
                }
            }
        }
        let mut program = super::super::Cli::command();
        program.build();
        texts(&program, &mut used);
        // texts of tables, which are looked up as they are
        used.extend(ModelKind::ALL.iter().map(|kind| kind.label().to_owned()));
        used.extend(super::super::HEADINGS.iter().map(|(heading, _)| (*heading).to_owned()));
        used.extend(DOUBTS.iter().map(|doubt| doubt.words().to_owned()));
        used.extend(Termination::ALL.iter().map(|termination| termination.to_text().to_string()));
        let kinds = [SkipReason::VARIANTS, Refusal::VARIANTS, OddityKind::VARIANTS, &KINDS].concat();
        used.extend(kinds.iter().map(|kind| kind.replace('_', " ")));
        used.extend([", ", "give the name of a calibration file"].map(str::to_owned));
        let file = include_str!("../../crates/core/src/language/ja.json");
        let file: std::collections::BTreeMap<String, String> = serde_json::from_str(file).unwrap();
        let missing: Vec<&String> = used.iter().filter(|t| has_words(t) && !file.contains_key(*t)).collect();
        let unused: Vec<&String> = file.keys().filter(|t| !used.contains(*t)).collect();
        if std::env::var_os("EVALCURVE_LIST").is_some() {
            std::fs::write(std::env::temp_dir().join("missing.json"), serde_json::to_string(&missing).unwrap())
                .unwrap();
            std::fs::write(std::env::temp_dir().join("unused.json"), serde_json::to_string(&unused).unwrap()).unwrap();
        }
        assert!(missing.is_empty(), "without Japanese: {missing:#?}");
        assert!(unused.is_empty(), "not in the program: {unused:#?}");
    }

    #[test]
    fn the_help_is_in_the_language() {
        let mut program = translated(super::super::Cli::command(), Language::Japanese);
        let help = program.render_long_help().to_string();
        assert!(help.contains("使い方:") && !help.contains("Usage:"), "{help}");
        let english = super::super::Cli::command().render_long_help().to_string();
        assert_eq!(translated(super::super::Cli::command(), Language::English).render_long_help().to_string(), english);
    }
}
