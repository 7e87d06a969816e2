//! How scores, bounds, names and calibrations are written in a log.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::calibration::{Calibration, Score};

/// A score in a log: a number of centipawns, or `"mate 5"`, `"mate -4"`, `"mate +"`, `"mate -"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoggedScore(pub Score);

impl Serialize for LoggedScore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            // an integer where it is one: engines say 152, not 152.0
            Score::Cp(cp) if cp.fract() == 0.0 && cp.abs() < 1e15 => serializer.serialize_i64(cp as i64),
            Score::Cp(cp) if !cp.is_finite() => Err(ser::Error::custom(format!("a score of {cp} is no number"))),
            Score::Cp(cp) => serializer.serialize_f64(cp),
            Score::Mate { wins, plies } => {
                let sign = if wins { "" } else { "-" };
                let text = match plies {
                    Some(plies) => format!("mate {sign}{plies}"),
                    None => format!("mate {}", if wins { "+" } else { "-" }),
                };
                serializer.serialize_str(&text)
            }
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
            Either::Mate(text) => mate(&text).map(Self).ok_or_else(|| wrong(&format!("{text:?}"))),
        }
    }
}

fn mate(text: &str) -> Option<Score> {
    let words = text.strip_prefix("mate ")?;
    let (wins, plies) = match words.strip_prefix('-') {
        Some(rest) => (false, rest),
        None => (true, words.strip_prefix('+').unwrap_or(words)),
    };
    match plies {
        "" => (!words.is_empty()).then_some(Score::Mate { wins, plies: None }),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            Some(Score::Mate { wins, plies: Some(digits.parse().ok()?) })
        }
        _ => None,
    }
}

/// Enums that go by their names.
pub(super) mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::rule::{Role, Rule, TieRule};

    pub trait Named: Sized + Copy + 'static {
        const WHAT: &'static str;
        fn name(self) -> &'static str;
        fn all() -> &'static [Self];
    }

    impl Named for Rule {
        const WHAT: &'static str = "rule";
        fn name(self) -> &'static str {
            self.as_str()
        }
        fn all() -> &'static [Self] {
            &Self::ALL
        }
    }

    impl Named for TieRule {
        const WHAT: &'static str = "tie rule";
        fn name(self) -> &'static str {
            self.as_str()
        }
        fn all() -> &'static [Self] {
            &Self::ALL
        }
    }

    impl Named for Role {
        const WHAT: &'static str = "role";
        fn name(self) -> &'static str {
            self.as_str()
        }
        fn all() -> &'static [Self] {
            &Self::ALL
        }
    }

    pub fn serialize<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value.name())
    }

    pub fn deserialize<'de, T: Named, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        T::all().iter().copied().find(|t| t.name() == text).ok_or_else(|| {
            let known: Vec<_> = T::all().iter().map(|t| t.name()).collect();
            de::Error::custom(format!("no {} is called {text:?}; there are {}", T::WHAT, known.join(", ")))
        })
    }
}

/// A bound as `lower` or `upper`.
pub(super) mod bound {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::rule::Bound;

    pub fn serialize<S: Serializer>(bound: &Option<Bound>, serializer: S) -> Result<S::Ok, S::Error> {
        match bound {
            Some(Bound::Lower) => serializer.serialize_str("lower"),
            Some(Bound::Upper) => serializer.serialize_str("upper"),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bound>, D::Error> {
        match Option::<String>::deserialize(deserializer)?.as_deref() {
            None => Ok(None),
            Some("lower") => Ok(Some(Bound::Lower)),
            Some("upper") => Ok(Some(Bound::Upper)),
            Some(other) => Err(de::Error::custom(format!("a bound is lower or upper, not {other:?}"))),
        }
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
