//! Text for people: numbers with separators, paths, and characters that are safe to show.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;

pub use evalcurve_calibration::plain_types;

/// A whole number with a comma between groups of three digits: `1,148,897`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with a real minus sign; `-0.0` is 0.
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let digits = text.trim_start_matches('-');
    let zero = digits.chars().all(|c| matches!(c, '0' | '.'));
    if zero { digits.to_owned() } else { text.replace('-', "−") }
}

/// A difference with its sign, for tables: `+12`, `-3`; 0 has none.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    let zero = text.trim_start_matches(['+', '-']);
    if zero.chars().all(|c| matches!(c, '0' | '.')) { zero.to_owned() } else { text }
}

/// A path in files, with `/` between folders on all systems. Except on Windows, `\` is a character of a name.
pub fn portable_path(path: &Path) -> String {
    let path = path.to_string_lossy();
    if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() }
}

/// A path in messages, as the system writes it.
pub fn shown_path(path: &Path) -> String {
    shown_source(&path.to_string_lossy())
}

/// A [`portable_path`] in messages.
pub fn shown_source(source: &str) -> String {
    if cfg!(windows) { source.replace('/', "\\") } else { source.to_owned() }
}

/// A name as it is compared with others: half-width letters for full-width ones, and no capitals.
pub fn folded(name: &str) -> String {
    name.nfkc().collect::<String>().to_lowercase()
}

/// The number that a reader means by full-width digits, commas between groups of three digits, or a unit: `1200` for
/// `１，２００点`, `0.75` for `75%`. `None` if the text is a plain number already, or none.
pub fn plain_number(text: &str) -> Option<String> {
    let text = text.trim();
    let half_width: String = text.nfkc().collect::<String>().replace(['−', '‐', 'ー'], "-");
    let without_unit = |unit: &&str| half_width.strip_suffix(*unit).map(str::trim_end);
    let digits = ["点", "cp", "%"].iter().find_map(without_unit).unwrap_or(&half_width);
    let groups: Vec<&str> = digits.trim_start_matches(['+', '-']).split(',').collect();
    let grouped = groups[1..].iter().all(|g| g.len() == 3 && g.bytes().all(|b| b.is_ascii_digit()));
    let number = if grouped { digits.replace(',', "") } else { digits.to_owned() };
    let value: f64 = number.parse().ok().filter(|x: &f64| x.is_finite())?;
    let number = if half_width.ends_with('%') { (value / 100.0).to_string() } else { number };
    (number != text).then_some(number)
}

/// The beginning of a text that a message quotes; a line of a damaged file may have millions of characters.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns `true` for characters that are unsafe to show: control characters, which could move the cursor or change
/// colours, characters
/// that XML forbids, and invisible ones, which could hide text or reverse its direction.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffd}'..='\u{ffff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Replaces every character that [is unsafe](is_unsafe).
pub fn printable(text: &str, replacement: char) -> String {
    text.chars().map(|c| if is_unsafe(c) { replacement } else { c }).collect()
}

/// The escapes of a character in JSON: `\u001b`, two for those beyond U+FFFF.
pub fn json_escape(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// The same JSON document with escapes for all characters that [are unsafe](is_unsafe): JSON asks for those of control
/// characters below U+0020 only.
pub fn printable_json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        // a line end is between values: within a string it is escaped
        if is_unsafe(c) && c != '\n' { out += &json_escape(c) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_separators() {
        assert_eq!([0, 7, 999, 1000, 1_148_897].map(thousands), ["0", "7", "999", "1,000", "1,148,897"]);
    }

    #[test]
    fn numbers_are_understood_as_people_write_them() {
        for (text, plain) in [
            ("５００", "500"),
            ("－３００", "-300"),
            ("300点", "300"),
            ("+150 cp", "+150"),
            ("1,200", "1200"),
            ("75%", "0.75"),
            ("７５％", "0.75"),
            ("−20", "-20"),
        ] {
            assert_eq!(plain_number(text).as_deref(), Some(plain), "{text}");
        }
        for text in ["500", "-1.5", "abc", "", "1,2", "1,2000", "点", "mate5", "inf"] {
            assert_eq!(plain_number(text), None, "{text}");
        }
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!([number(-0.0001, 3), number(-0.0, 0), number(-1.25, 1)], ["0.000", "0", "−1.2"]);
        assert_eq!([signed(-0.3, 0), signed(2.5, 1), signed(-7.0, 0)], ["0", "+2.5", "-7"]);
    }

    #[test]
    fn paths_are_shown_with_their_names() {
        assert_eq!(shown_path(&Path::new("a").join("b.csa")), if cfg!(windows) { r"a\b.csa" } else { "a/b.csa" });
        assert_eq!(portable_path(Path::new(r"a\b.csa")), if cfg!(windows) { "a/b.csa" } else { r"a\b.csa" });
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!([shortened("技巧", 2), shortened("技巧x", 2)], ["技巧", "技巧…"]);
    }

    #[test]
    fn unsafe_characters_are_replaced() {
        assert_eq!(printable("技巧\u{1b}[31m\u{0}\n\u{202e}\u{ffff}", '□'), "技巧□[31m□□□□");
        assert_eq!(printable("a\u{61c}\u{e0001}\u{e007f}辻\u{e0100}👍\u{fe0f}", '□'), "a□□□辻\u{e0100}👍\u{fe0f}");
    }

    #[test]
    fn documents_have_no_unsafe_characters() {
        let name = "技巧\u{1b}\u{9b}31m\u{7f}\u{202e}\u{2028}\u{e0001}\"";
        let document = format!("{:#}\n", serde_json::json!({ "name": name }));
        let safe = printable_json(&document);
        assert_eq!(safe, "{\n  \"name\": \"技巧\\u001b\\u009b31m\\u007f\\u202e\\u2028\\udb40\\udc01\\\"\"\n}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap()["name"], name);
    }
}
