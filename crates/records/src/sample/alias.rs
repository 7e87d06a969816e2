//! Aliases: several names of one engine, as lines `alias = name` with globs.

use evalcurve_words::text::shortened;
use thiserror::Error;

/// A line of an alias file, or a text, that is not an alias.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
#[error("{place}: '{text}' is not of the form 'alias = name'; write for example 'Gikou_* = Gikou'")]
pub struct AliasError {
    /// The file and line, or the option.
    pub place: String,
    pub text: String,
}

/// Patterns with the names that replace what they match. The first match counts.
#[derive(Debug, Clone, Default)]
pub struct Aliases {
    rules: Vec<(String, String)>,
}

impl Aliases {
    /// Whether there is no alias.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Adds `alias = name`.
    ///
    /// # Errors
    /// [`AliasError`] if there is no `=`, or nothing on one side of it.
    pub fn add(&mut self, text: &str, place: &str) -> Result<(), AliasError> {
        let parts = text.split_once('=').map(|(a, b)| (a.trim(), b.trim()));
        match parts {
            Some((alias, name)) if !alias.is_empty() && !name.is_empty() => {
                self.rules.push((alias.to_owned(), name.to_owned()));
                Ok(())
            }
            _ => Err(AliasError { place: place.to_owned(), text: shortened(text, 200) }),
        }
    }

    /// Adds the aliases of a file, one per line. `#` begins a comment; CRLF and a byte order mark are allowed.
    ///
    /// # Errors
    /// [`AliasError`] for the first line that is not an alias.
    pub fn add_file(&mut self, text: &str, file: &str) -> Result<(), AliasError> {
        for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                self.add(line, &format!("{file}:{}", number + 1))?;
            }
        }
        Ok(())
    }

    /// The name that replaces `raw`; `raw` itself if no alias matches.
    pub fn resolve(&self, raw: &str) -> String {
        let rule = self.rules.iter().find(|(pattern, _)| matches_glob(pattern, raw));
        rule.map_or(raw, |(_, name)| name).to_owned()
    }
}

/// Whether a name matches a pattern with `*` (any text) and `?` (one character).
pub fn matches_glob(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, name, yes) in [
            ("Gikou*", "Gikou_20160606", true),
            ("*技巧*", "新技巧2", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
            ("exact", "exact", true),
            ("exact", "exactly", false),
        ] {
            assert_eq!(matches_glob(pattern, name), yes, "{pattern} {name}");
        }
    }

    #[test]
    fn files_with_comments_and_errors() {
        let mut aliases = Aliases::default();
        assert!(aliases.add_file("\u{feff}# names\r\nGikou_* = 技巧\r\n\r\nx=y\n", "a.txt").is_ok());
        assert_eq!(aliases.resolve("Gikou_2016"), "技巧");
        assert_eq!(aliases.resolve("z"), "z");
        let error = aliases.add_file("a=b\nnonsense\n", "a.txt").map_err(|e| e.to_string());
        assert!(error.is_err_and(|e| e.starts_with("a.txt:2: 'nonsense'")));
    }
}
