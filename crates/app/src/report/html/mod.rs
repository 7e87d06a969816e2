//! Pages: HTML that is also well-formed XML, and loads no other file.

mod markup;

use evalcurve_words::language::Language;
pub use markup::{Safe, figure, folded};
use maud::{Markup, html};

/// Marks a file as written by evalcurve, so that a later run may replace it.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"evalcurve";

const STYLE: &str = include_str!("style.css");

/// A page with its title, a style of its own beside that of all pages, and the elements of its body.
pub fn document(title: &str, style: &str, language: Language, body: Markup) -> String {
    let title = html! { (Safe(title)) }.into_string();
    // maud writes void elements such as meta as in HTML, without the slash that XML needs
    format!(
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         {GENERATOR} {}\"/>\n<title>evalcurve: {title}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n\
         <body>\n{}</body>\n</html>\n",
        language.code(),
        env!("CARGO_PKG_VERSION"),
        body.into_string()
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::STYLE;
    use evalcurve_figures::contrast;

    /// The colours that a rule of `:root` defines.
    fn colors(rule: &str) -> BTreeMap<&str, (u8, u8, u8)> {
        let value = |text: &str| {
            let hex = text.trim().strip_prefix('#')?;
            // #abc is short for #aabbcc
            let hex = if hex.len() == 3 { hex.chars().flat_map(|c| [c, c]).collect() } else { hex.to_owned() };
            let part = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
            Some((part(0)?, part(2)?, part(4)?))
        };
        let declarations = rule.split(';').filter_map(|d| d.trim().strip_prefix("--")?.split_once(':'));
        declarations.filter_map(|(name, text)| Some((name, value(text)?))).collect()
    }

    /// Level AA of WCAG 2 on the screen, in light and dark mode, and on paper.
    #[test]
    fn words_can_be_read_on_every_background() {
        let rules: Vec<_> =
            STYLE.split(":root {").skip(1).map(|rest| colors(rest.split('}').next().unwrap())).collect();
        assert_eq!(rules.len(), 3, "light, dark, print");
        for (rule, mode) in rules.iter().zip(["light", "dark", "print"]) {
            for words in ["ink", "soft", "mark", "warn", "fine", "wrong"] {
                for background in ["paper", "tint"] {
                    let ratio = contrast(rule[words], rule[background]);
                    assert!(ratio >= 4.5, "{mode}: {words} on {background} has {ratio:.2}");
                }
            }
        }
        // no rule has a colour of its own but the figures, which are white, and their boxes of numbers
        let others = STYLE.lines().filter(|line| line.contains('#') && !line.contains("--"));
        for line in others {
            assert!(line.contains("figure") || line.contains(".spots"), "{line}");
        }
        assert!(contrast((0xFF, 0xFF, 0xFF), (0x22, 0x22, 0x22)) >= 4.5);
        // the words of figures on white, as invert(.9) shows them in dark mode
        let inverted = |c: u8| (229.5 - 0.8 * f64::from(c)) as u8;
        for words in [0x22, 0x66].map(inverted) {
            assert!(contrast([words; 3].into(), [inverted(0xFF); 3].into()) >= 4.5, "{words}");
        }
    }
}
