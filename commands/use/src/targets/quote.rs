//! Texts of a calibration file as comments and strings of other languages.

use evalcurve_words::text::{is_unsafe, json_escape};

/// A line that is a comment in the language of `mark`, whatever the text contains: line breaks and hidden characters
/// are escaped. C would continue a comment that ends in a backslash, also in one written `??/`, in the next line.
pub(super) fn comment(mark: &str, text: &str) -> String {
    let line: String = text.chars().map(|c| if is_unsafe(c) { json_escape(c) } else { c.to_string() }).collect();
    let line = line.trim_end();
    let end = if line.ends_with(['\\', '/']) { "." } else { "" };
    format!("{mark} {line}{end}\n")
}

/// A text in double quotes on one line, valid in JSON. Characters that hide text or change its direction are escaped,
/// and so are those that YAML takes for line breaks.
pub(super) fn quoted(text: &str) -> String {
    escaped(text, json_escape)
}

/// A text in double quotes on one line, valid in YAML, which has an escape of its own for characters beyond U+FFFF.
pub(super) fn yaml_quoted(text: &str) -> String {
    escaped(text, |c| if c > '\u{ffff}' { format!("\\U{:08x}", u32::from(c)) } else { json_escape(c) })
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if is_unsafe(c) => out += &escape(c),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
