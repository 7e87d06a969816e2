//! Engines in one line: a command, options and a limit, in the words of fastchess and cutechess.
//!
//! ```text
//! fairy-stockfish option.UCI_Variant=shogi depth=7
//! "/opt/my engines/e" --quiet name=E "option.Number of Threads=1" nodes=10k
//! ```

use std::path::Path;

use thiserror::Error;

use crate::usi::Launch;
use crate::{EngineConfig, Game, Limit};

/// Why a text is no engine.
#[derive(Debug, Clone, PartialEq, Eq, Error, evalcurve_words::language::ToText)]
#[non_exhaustive]
pub enum EngineError {
    /// No word is a program.
    #[error("'{0}' names no program; write the path of an engine, or a name on PATH, first")]
    NoProgram(String),
    /// A quote is open.
    #[error("a double quote is missing in the command: {0}")]
    Quote(String),
    #[error("'{0}' is no limit; write nodes=10k, depth=7, movetime=100 or byoyomi=100 (milliseconds)")]
    Limit(String),
}

/// Reads an engine. Words of the form `name=`, `option.NAME=VALUE`, `nodes=`, `depth=`, `movetime=` and `byoyomi=` are
/// settings; the first other word is the program and further ones are its arguments. Double quotes keep blanks. A file
/// that exists is a program, blanks and all.
///
/// # Errors
/// [`EngineError`].
pub fn parse_engine(text: &str, game: Game) -> Result<EngineConfig, EngineError> {
    let words = if Path::new(text).is_file() { vec![text.to_owned()] } else { words(text)? };
    let mut engine = EngineConfig { protocol: game.protocol(), ..EngineConfig::default() };
    let mut command = Vec::new();
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((&word, ""));
        match key {
            _ if !word.contains('=') => command.push(word),
            "name" if !value.trim().is_empty() => engine.name = value.trim().to_owned(),
            "nodes" | "depth" | "movetime" | "byoyomi" => engine.limit = Some(parse_limit(&word)?),
            _ => match key.strip_prefix("option.") {
                Some(option) => engine.options.push((option.to_owned(), value.to_owned())),
                None => command.push(word),
            },
        }
    }
    if command.first().is_none_or(String::is_empty) {
        return Err(EngineError::NoProgram(text.to_owned()));
    }
    let program = command.remove(0);
    engine.launch =
        Launch { command: program.into(), args: command.into_iter().map(Into::into).collect(), ..Launch::default() };
    Ok(engine)
}

/// Reads a limit: `nodes=10k`, `depth=7`, `movetime=100`, `byoyomi=100`; `k` and `M` are thousands and millions.
///
/// # Errors
/// [`EngineError::Limit`].
pub fn parse_limit(text: &str) -> Result<Limit, EngineError> {
    let limit = || {
        let (key, value) = text.split_once('=')?;
        let (digits, unit) = match value.strip_suffix(['k', 'K']) {
            Some(digits) => (digits, 1_000),
            None => value.strip_suffix('M').map_or((value, 1), |digits| (digits, 1_000_000)),
        };
        let number = digits.parse::<u64>().ok()?.checked_mul(unit).filter(|n| (1..=i64::MAX as u64).contains(n))?;
        match key {
            "nodes" => Some(Limit::Nodes(number)),
            "depth" => Some(Limit::Depth(number)),
            "movetime" => Some(Limit::MoveTime(number)),
            "byoyomi" => Some(Limit::Byoyomi(number)),
            _ => None,
        }
    };
    limit().ok_or_else(|| EngineError::Limit(text.to_owned()))
}

/// The words of a command. Double quotes keep blanks, and a backslash is one, as in the paths of Windows.
///
/// # Errors
/// [`EngineError::Quote`].
pub fn words(command: &str) -> Result<Vec<String>, EngineError> {
    let mut words = Vec::new();
    let (mut word, mut quoted) = (None::<String>, false);
    for c in command.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if quoted {
        return Err(EngineError::Quote(command.to_owned()));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_written_in_one_line() {
        let text =
            r#"name=F "/opt/my engines/f" --quiet option.UCI_Variant=shogi "option.Number of Threads=1" nodes=10k"#;
        let engine = parse_engine(text, Game::Shogi).unwrap();
        assert_eq!((engine.name.as_str(), engine.limit), ("F", Some(Limit::Nodes(10_000))));
        assert_eq!((engine.launch.command, engine.launch.args), ("/opt/my engines/f".into(), vec!["--quiet".into()]));
        let options = [("UCI_Variant", "shogi"), ("Number of Threads", "1")];
        assert_eq!(engine.options, options.map(|(name, value)| (name.to_owned(), value.to_owned())));
        // an argument may have an equals sign
        let engine = parse_engine("e --net=a.bin", Game::Chess).unwrap();
        assert_eq!((engine.launch.args, engine.limit), (vec!["--net=a.bin".into()], None));
    }

    #[test]
    fn what_is_wrong_with_an_engine_is_named() {
        let error = |text: &str| parse_engine(text, Game::Shogi).unwrap_err();
        assert_eq!(error("depth=7"), EngineError::NoProgram("depth=7".to_owned()));
        assert_eq!(error("e \"x"), EngineError::Quote("e \"x".to_owned()));
        for limit in ["depth=0", "nodes=", "nodes=x", "depth=99999999999999999999", "movetime=-1"] {
            assert_eq!(error(&format!("e {limit}")), EngineError::Limit(limit.to_owned()));
        }
        assert_eq!(parse_limit("depth=7"), Ok(Limit::Depth(7)));
        assert_eq!(parse_limit("nodes=2M"), Ok(Limit::Nodes(2_000_000)));
        assert!(parse_limit("7").is_err());
    }
}
