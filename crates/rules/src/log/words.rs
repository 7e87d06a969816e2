//! The notation of scores and calibrations in a log.

use evalcurve_calibration::{Calibration, Score};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::decision::mate_text;

/// A score in a log: a number of centipawns, or `"mate 5"`, `"mate -4"`, `"mate +"`, `"mate -"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoggedScore(pub Score);

impl LoggedScore {
    /// Parses the text of a mate: whether it wins, and in how many plies. `None` if the text is something else.
    pub fn parse_mate(text: &str) -> Option<(bool, Option<u32>)> {
        let words = text.strip_prefix("mate ").filter(|words| !words.is_empty())?;
        let (wins, digits) = match words.strip_prefix('-') {
            Some(rest) => (false, rest),
            None => (true, words.strip_prefix('+').unwrap_or(words)),
        };
        match digits {
            "" => Some((wins, None)),
            _ if digits.bytes().all(|b| b.is_ascii_digit()) => Some((wins, Some(digits.parse().ok()?))),
            _ => None,
        }
    }
}

impl Serialize for LoggedScore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            // an integer if it is one: engines write 152, not 152.0
            Score::Cp(cp) if cp.fract() == 0.0 && cp.abs() < 1e15 => serializer.serialize_i64(cp as i64),
            Score::Cp(cp) if !cp.is_finite() => Err(ser::Error::custom(format!("a score of {cp} is not a number"))),
            Score::Cp(cp) => serializer.serialize_f64(cp),
            Score::Mate { wins, plies } => serializer.serialize_str(&mate_text(wins, plies)),
        }
    }
}

impl<'de> Deserialize<'de> for LoggedScore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Cp(f64),
            Mate(String),
        }
        let wrong = |found: &str| {
            de::Error::custom(format!(
                "a score is a number of centipawns or \"mate 5\", \"mate -4\", \"mate +\", \"mate -\", not {found}"
            ))
        };
        match Either::deserialize(deserializer).map_err(|_| wrong("this"))? {
            Either::Cp(cp) => Ok(Self(Score::Cp(cp))),
            Either::Mate(text) => {
                let (wins, plies) = Self::parse_mate(&text).ok_or_else(|| wrong(&format!("{text:?}")))?;
                Ok(Self(Score::Mate { wins, plies }))
            }
        }
    }
}

/// Moves before the start position of a `position` command or of a line of a log, by the number in its SFEN or FEN; 0
/// for `startpos` and where there is no number.
pub fn plies_before(position: &str) -> u32 {
    let position = position.strip_prefix("position ").unwrap_or(position);
    let start = position.split_once(" moves").map_or(position, |(start, _)| start);
    let mut words = start.split_whitespace();
    let kind = words.next();
    let (side, number) = (words.nth(1), words.next_back().and_then(|number| number.parse::<u32>().ok()));
    let before = number.unwrap_or(1).saturating_sub(1);
    match kind {
        // SFEN counts plies, FEN moves of both sides
        Some("sfen") => before,
        Some("fen") => before.saturating_mul(2).saturating_add(u32::from(side == Some("b"))),
        _ => 0,
    }
}

pub(super) fn write_calibration<S: Serializer>(
    calibration: &Option<Calibration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(calibration) = calibration else { return serializer.serialize_none() };
    let text = calibration.to_json().map_err(ser::Error::custom)?;
    let tree: serde_json::Value = serde_json::from_str(&text).map_err(ser::Error::custom)?;
    tree.serialize(serializer)
}

pub(super) fn read_calibration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Calibration>, D::Error> {
    let Some(tree) = Option::<serde_json::Value>::deserialize(deserializer)? else { return Ok(None) };
    Calibration::from_json(&tree.to_string(), "calibration").map(Some).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::plies_before;

    #[test]
    fn positions_count_on_from_their_number() {
        for (position, before) in [
            ("startpos", 0),
            ("startpos moves e2e4 e7e5", 0),
            ("position fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 30", 58),
            ("fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 30", 58),
            ("fen 4k3/8/8/8/8/8/4P3/4K3 b - - 0 30 moves e8e7", 59),
            ("sfen lnsgkgsnl/1r5b1/p1ppppppp/1p7/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 3 moves 7g7f", 2),
            ("fen 4k3/8/8/8/8/8/4P3/4K3 w - -", 0),
            ("fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 4294967295", u32::MAX),
            ("sfen 4k4/9/9/9/9/9/9/9/4K4 b - 0", 0),
            ("", 0),
        ] {
            assert_eq!(plies_before(position), before, "{position}");
        }
    }
}
