//! Output to the terminal: colours only on terminals and without `NO_COLOR`; a closed pipe is not an error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use evalcurve_fit::calibration::Calibration;
use evalcurve_words::language::Language;
use evalcurve_words::text::printable_json;
use evalcurve_words::{say, text};
use serde_json::Value;

use super::messages::About;
use crate::report::text::printable;
use crate::{Outcome, with_flags};

/// Writes to standard output, to a terminal without characters that could change what it shows: files and pipes get
/// names as they are. A closed pipe is not an error: the reader has seen enough.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let text = if out.is_terminal() {
        Cow::Owned(harmless(text, &["\n", "\t", BOLD[0], BOLD[1]]))
    } else {
        Cow::Borrowed(text)
    };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.about(|| text!("cannot write to standard output")),
    }
}

/// Writes a JSON document to standard output, without characters that could change what a terminal shows.
pub fn print_document(document: &Value) -> anyhow::Result<()> {
    print(&printable_json(&with_flags(&format!("{document:#}\n"))))
}

/// The width of text for standard output in columns: that of the terminal or `COLUMNS`, else 100.
pub fn width() -> usize {
    let variable = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    variable.or_else(terminal).map_or(100, |width: usize| width.clamp(60, 1_000))
}

/// The width of a table with columns to leave out: [`width`] on a terminal or with `COLUMNS`, else without a bound.
pub fn table_width() -> usize {
    let is_bounded =
        io::stdout().is_terminal() || std::env::var_os("COLUMNS").is_some_and(|columns| !columns.is_empty());
    if is_bounded { width() } else { usize::MAX }
}

fn wants_color(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

fn labelled(label: &'static str, color: &str, text: &str) {
    let text = safe(&with_flags(text));
    let mut err = io::stderr().lock();
    let line = if wants_color(err.is_terminal()) {
        format!("\u{1b}[1;{color}m{label}:\u{1b}[0m {text}\n")
    } else {
        format!("{label}: {text}\n")
    };
    let _ = err.write_all(line.as_bytes());
}

/// A text without unsafe characters but these codes, which are its own.
fn harmless(text: &str, codes: &[&str]) -> String {
    let Some((code, others)) = codes.split_first() else { return printable(text) };
    text.split(code).map(|part| harmless(part, others)).collect::<Vec<_>>().join(code)
}

/// The start and the end of bold text.
const BOLD: [&str; 2] = ["\u{1b}[1m", "\u{1b}[0m"];

/// A message without unsafe characters, since messages quote records, which may hold any. Lines after the first are
/// indented, so that a name with a line end cannot look like another message.
fn safe(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n  ")
}

/// Writes an error to standard error.
pub fn error(text: &str) {
    labelled("error", "31", text);
}

/// Writes a warning to standard error.
pub fn warning(text: &str) {
    labelled("warning", "33", text);
}

/// Reports what speaks against a calibration.
pub fn doubts(calibration: &Calibration, language: Language) {
    for doubt in &calibration.doubts {
        let name = printable(&calibration.engine.name);
        warning(&say!(language, "the calibration of {name} {doubt}"));
    }
}

/// Writes lines to standard error as they are; one that is closed is not an error.
pub fn report(text: &str) {
    let _ = io::stderr().lock().write_all(harmless(text, &["\n"]).as_bytes());
}

/// What to say when a signal ends this program; empty when there is nothing to say.
static LAST_WORDS: Mutex<String> = Mutex::new(String::new());

/// Sets what [`last_words`] says.
pub fn set_last_words(words: String) {
    // a text is valid after a panic elsewhere
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// Says what is to be said when a signal ends this program, such as the table of the games so far and how to go on.
pub fn last_words() {
    report(&LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Writes a note to standard error.
pub fn note(text: &str) {
    labelled("note", "36", text);
}

/// Writes the problems of reading and the notes to standard error.
pub fn tell<T>(outcome: &Outcome<T>, quiet: bool, language: Language) {
    if !quiet {
        outcome.tell(language, warning, note);
    }
}

/// The text in bold if standard output is a terminal.
pub fn heading(text: &str) -> String {
    if wants_color(io::stdout().is_terminal()) { BOLD.join(text) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_its_headings_and_no_other_codes() {
        let text = "\u{1b}[1mname\u{1b}[0m\tscore\nA\u{1b}[31m\u{9b}2J\t\u{202e}1\r\n";
        let shown = harmless(text, &["\n", "\t", BOLD[0], BOLD[1]]);
        assert_eq!(shown, "\u{1b}[1mname\u{1b}[0m\tscore\nA\u{fffd}[31m\u{fffd}2J\t\u{fffd}1\u{fffd}\n");
    }

    #[test]
    fn no_text_makes_a_message_of_its_own() {
        assert_eq!(safe("A\nerror: forged\r\n\u{1b}[2Jwarning"), "A\n  error: forged\n  \u{fffd}[2Jwarning");
        assert_eq!(safe("a.csv:1: bad"), "a.csv:1: bad");
    }
}
