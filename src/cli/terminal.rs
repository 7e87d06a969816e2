//! Output to the terminal: colours only on terminals and without `NO_COLOR`; a closed pipe is not an error.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;

use super::embed;
use crate::report::text::printable;

/// Writes to standard output. A closed pipe is not an error: the reader has seen enough.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    if embed::keep_text(text) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.context("cannot write to standard output")?),
    }
}

/// The width of text for standard output in columns: that of the terminal or `COLUMNS`, else 100.
pub(super) fn width() -> usize {
    let variable = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    variable.or_else(terminal).map_or(100, |width: usize| width.clamp(60, 1_000))
}

fn wants_color(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

fn labelled(label: &'static str, color: &str, text: &str) {
    // messages quote records, which may hold any character; line ends are preserved
    let text = text.lines().map(printable).collect::<Vec<_>>().join("\n");
    if embed::keep_message(label, &text) {
        return;
    }
    let mut err = io::stderr().lock();
    let line = if wants_color(err.is_terminal()) {
        format!("\u{1b}[1;{color}m{label}:\u{1b}[0m {text}\n")
    } else {
        format!("{label}: {text}\n")
    };
    let _ = err.write_all(line.as_bytes());
}

/// Writes an error to standard error.
pub(super) fn error(text: &str) {
    labelled("error", "31", text);
}

/// Writes a warning to standard error.
pub(super) fn warning(text: &str) {
    labelled("warning", "33", text);
}

/// Writes a note to standard error.
pub(super) fn note(text: &str) {
    labelled("note", "36", text);
}

/// The text in bold if standard output is a terminal.
pub(super) fn heading(text: &str) -> String {
    if wants_color(io::stdout().is_terminal()) { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}
