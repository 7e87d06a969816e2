//! The help of the program in the language of the user. The command line is written in English; each of its texts is
//! looked up in the data file of translations when the help is needed.

use std::ffi::OsStr;

use clap::builder::StyledStr;
use clap::{Arg, Command};
use evalcurve_words::language::Language;
use evalcurve_words::{key, say};

/// The command with all texts in the language.
pub fn translated(mut command: Command, language: Language) -> Command {
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

/// Adds the texts of the help that have to be translated, for tests of the translations.
pub fn texts(command: &Command, out: &mut std::collections::BTreeSet<String>) {
    let mut add = |text: Option<&StyledStr>| {
        let text = text.map(ToString::to_string).unwrap_or_default();
        let words = text.split('\n').map(str::trim_start).filter(|line| {
            let command = ["evalcurve ", "evalcurve-lab ", "grep ", "--rule ", "diagnosis.json"]
                .iter()
                .any(|start| line.starts_with(start));
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
