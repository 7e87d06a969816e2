//! Options that say how results are shown, and in which language.

use std::ffi::OsString;
use std::sync::OnceLock;

use evalcurve_words::language::Language;
use serde_json::Value;

use super::one_of;
use crate::cli::terminal;
use crate::with_flags;

/// Which engines a table shows, and how much of each.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct TableArgs {
    /// Show all engines, not only the ten with most samples
    #[arg(long)]
    pub all: bool,

    /// Show both sigmoids, offsets and scores out of sample too, in up to 150 columns
    #[arg(long)]
    pub wide: bool,

    /// Name no options of this command: another command, which has not got them, prints the table.
    #[arg(skip)]
    pub without_options: bool,
}

/// The language of what people read.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct LanguageArgs {
    /// Language of tables, messages, reports and figures [default: ja in a Japanese locale, else en]
    #[arg(long, value_parser = one_of::<Language>(), hide_short_help = true)]
    lang: Option<Language>,
}

impl LanguageArgs {
    /// The language that the user chose, or that of the locale.
    pub fn chosen(&self) -> Language {
        self.lang.unwrap_or_else(language)
    }
}

/// The language of the program's arguments, for commands whose results have no language.
static LANGUAGE: OnceLock<Language> = OnceLock::new();

/// Sets the language of the program, once.
pub fn set_language(language: Language) {
    let _ = LANGUAGE.set(language);
}

/// The language of the program.
pub fn language() -> Language {
    LANGUAGE.get().copied().unwrap_or_else(of_locale)
}

/// The language of the locale.
fn of_locale() -> Language {
    let variables = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().filter_map(|name| std::env::var(name).ok());
    let locale = variables.into_iter().find(|value| !value.is_empty());
    // a system without these variables
    #[cfg(windows)]
    let locale = locale.or_else(sys_locale::get_locale);
    locale.map_or_else(Language::default, |value| Language::of_locale(&value))
}

/// The language of messages about these arguments, which may be wrong.
pub fn language_of(arguments: &[OsString]) -> Language {
    let mut words = arguments.iter().map(|argument| argument.to_string_lossy()).take_while(|argument| argument != "--");
    let mut named = None;
    while let Some(word) = words.next() {
        let value =
            if word == "--lang" { words.next() } else { word.strip_prefix("--lang=").map(|v| v.to_owned().into()) };
        named = value.and_then(|value| value.parse().ok()).or(named);
    }
    named.unwrap_or_else(of_locale)
}

/// How results are printed.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,

    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

impl OutputArgs {
    /// Prints the document with `--json`, else the text unless `--quiet`.
    pub fn print(&self, document: impl FnOnce() -> Value, text: impl FnOnce() -> String) -> anyhow::Result<()> {
        match (self.json, self.quiet) {
            (true, _) => terminal::print_document(&document()),
            (false, true) => Ok(()),
            (false, false) => terminal::print(&with_flags(&text())),
        }
    }

    /// Whether nothing but a document or errors is printed.
    pub fn is_quiet(&self) -> bool {
        self.quiet || self.json
    }
}
