//! The constants of a calibration in the formats of other programs, and what each format loses.

use std::fmt;

use serde_json::json;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::code::{Language, code, stockfish};
use super::file::{Calibration, ModelKind, Situation};
use super::write::{nine_digits, significant};
use super::{Reading, Score};
use crate::fit::{Normalization, NormalizationError};
use crate::text::{is_unsafe, json_escape};

/// A program, format or language to export to. All take the win rate between equals ([`Reading::Equal`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum Target {
    /// The constant K = 1 / w1 of 1 / (1 + exp(-x / K)), customarily Ponanza's 600.
    Ponanza,
    /// ShogiHome's 勝率換算係数, `coefficientInSigmoid` (1 to 10,000, default 600) of `app_setting.json`: 1 / w1
    /// rounded to an integer, the same for all engines. The engine's name is lost.
    #[strum(serialize = "shogihome")]
    ShogiHome,
    /// dlshogi's USI option `Eval_Coef` (integer, 1 to 10,000, default 756), which converts win rates
    /// to scores: 1 / w1 puts its scores on this engine's scale.
    Dlshogi,
    /// `winrate_regression` of an engine in shogi-gougi's configuration: `weight` is w1, `bias` is 0, as
    /// between equals; a mate counts as a score of 32,000 less its plies, not as win rate 1.
    ShogiGougiYaml,
    /// C++ in the form of Stockfish's `win_rate_params`, with `NormalizeToPawnValue`; only for models that separate
    /// draws.
    Stockfish,
    /// Rust functions.
    Rust,
    /// A Python module.
    Python,
    /// A header for C and C++.
    CHeader,
    /// An object with `name`, `w1` and `w2` for other uses. Covariance, curve and provenance are lost.
    Json,
}

impl Target {
    /// All targets, in the order of declaration.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What the target loses of a calibration, for the user.
    pub fn lost(self, calibration: &Calibration) -> String {
        let lost = match self {
            Self::Ponanza => {
                "the rate is that between equals: what the opponents of the calibration added (w2) is left out"
            }
            Self::ShogiHome => {
                "the rate is that between equals, without w2; the coefficient is rounded to an integer and holds for \
                all engines"
            }
            Self::Dlshogi => "the rate is that between equals, without w2; the coefficient is rounded to an integer",
            Self::ShogiGougiYaml => {
                "the rate is that between equals, without w2; mates go through the sigmoid as scores of about 32,000"
            }
            Self::Stockfish => "covariance, curve and provenance are lost; pos.count and pos.game_ply are Stockfish's",
            Self::Rust | Self::Python | Self::CHeader => {
                return "the rate is that between equals; covariance, curve and provenance are lost".to_owned();
            }
            Self::Json => "the rate is that between equals, without w2; covariance, curve and provenance are lost",
        };
        // source code has the lapses, too
        let most = 100.0 * calibration.limits(Reading::Equal)[1];
        if self == Self::Stockfish || most >= 99.95 {
            return lost.to_owned();
        }
        format!(
            "{lost}; results that follow no score are left out: at large scores the formula says 100%, the calibration \
             {most:.1}%"
        )
    }
}

/// Why a calibration cannot be exported to a target.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The coefficient is outside the range that the program accepts.
    #[error(
        "{engine}: {target} does not accept 1/w1 = {coefficient} as its coefficient (1 to 10000); check the unit of \
         the scores"
    )]
    OutOfRange {
        /// The engine.
        engine: String,
        /// The target.
        target: Target,
        /// 1 / w1, centipawns.
        coefficient: f64,
    },
    /// The chosen model is not a sigmoid of the score alone.
    #[error(
        "{engine}: {target} expects a sigmoid of the score, but the chosen model is {model}; calibrate with \
         --model maximum-likelihood, or export to rust, python or c-header"
    )]
    NoSigmoid {
        /// The engine.
        engine: String,
        /// The chosen model.
        model: ModelKind,
        /// The target.
        target: Target,
    },
    /// The chosen model does not separate draws.
    #[error(
        "{engine}: {target} expects a model that separates draws, but the chosen model is {model}; calibrate with \
         --model wdl-material or wdl"
    )]
    NoDraws {
        /// The engine.
        engine: String,
        /// The chosen model.
        model: ModelKind,
        /// The target.
        target: Target,
    },
    /// The chosen model is a table of points.
    #[error(
        "{engine}: {target} expects a formula, but the chosen model, {model}, is a list of points: read `model.points` \
         of the calibration file, or calibrate with another --model"
    )]
    NoFormula {
        /// The engine.
        engine: String,
        /// The chosen model.
        model: ModelKind,
        /// The target.
        target: Target,
    },
    /// The scores cannot be converted to internal units.
    #[error("{engine}: {problem}")]
    Normalization {
        /// The engine.
        engine: String,
        /// Why.
        problem: NormalizationError,
    },
}

/// The text for the target, with a newline at the end. With a normalisation the constants are those of the internal
/// scores of an engine that prints normalised ones.
///
/// # Errors
/// [`ExportError`] if the target cannot express the chosen model.
pub fn export(
    calibration: &Calibration,
    target: Target,
    normalization: Option<&Normalization>,
) -> Result<String, ExportError> {
    let engine = calibration.engine.name.clone();
    let mut remarks = Vec::new();
    let undone;
    let calibration = match normalization {
        None => calibration,
        Some(normalization) => {
            let (found, error) = calibration
                .undo_normalization(normalization)
                .map_err(|problem| ExportError::Normalization { engine, problem })?;
            remarks.push(format!("Internal scores: printed centipawns times ({normalization})/100"));
            if error > 1e-6 {
                remarks.push(format!("a and b differ from the product by up to {error:.2}"));
            }
            undone = found;
            &undone
        }
    };
    let engine = || calibration.engine.name.clone();
    let model = calibration.model.kind;
    let source = |language| {
        code(calibration, language, &remarks).ok_or(ExportError::NoFormula { engine: engine(), model, target })
    };
    let sigmoid = || calibration.sigmoid().ok_or(ExportError::NoSigmoid { engine: engine(), model, target });
    // two digits fewer than in the file, so that 1/600 becomes 600 again
    let coefficient = || sigmoid().map(|sigmoid| significant(1.0 / sigmoid.w1, 7));
    let out_of_range = |coefficient| ExportError::OutOfRange { engine: engine(), target, coefficient };
    let rounded = || match coefficient()?.round() {
        k if (1.0..=10_000.0).contains(&k) => Ok(k as u64),
        _ => Err(out_of_range(coefficient()?)),
    };
    let name = quoted(&calibration.engine.name);
    // what a GUI needs: the opponents of the calibration are not those of its users
    let method = format!("{model}, between equals");
    Ok(match target {
        Target::Stockfish => {
            stockfish(calibration, &remarks).ok_or(ExportError::NoDraws { engine: engine(), model, target })?
        }
        Target::Rust => source(Language::Rust)?,
        Target::Python => source(Language::Python)?,
        Target::CHeader => source(Language::C)?,
        Target::Ponanza => {
            let coefficient = coefficient()?;
            if !coefficient.is_finite() {
                return Err(out_of_range(coefficient));
            }
            let at_zero = 100.0 * calibration.win_rate_in(Reading::Field, Score::Cp(0.0), &Situation::default());
            format!(
                "# {name}, {method}: K of 1 / (1 + exp(-score / K))\n\
                 # against the opponents of the calibration, score 0 won {at_zero:.1}%\n\
                 {coefficient}\n"
            )
        }
        Target::ShogiHome => format!("{:#}\n", json!({ "coefficientInSigmoid": rounded()? })),
        Target::Dlshogi => format!("setoption name Eval_Coef value {}\n", rounded()?),
        Target::ShogiGougiYaml => format!(
            "# {name}, {method}; put the engine's program in exe, and add params\n\
             # mates go through this sigmoid as scores of about 32000\n\
             engines:\n    - exe: {}\n      winrate_regression:\n        weight: {w1:?}\n        bias: 0.0\n",
            yaml_quoted(&calibration.engine.name),
            w1 = Yaml(nine_digits(sigmoid()?.w1)),
        ),
        // written by hand to keep the order of the fields
        Target::Json => {
            let w1 = nine_digits(sigmoid()?.w1);
            format!("{{\n  \"name\": {name},\n  \"w1\": {},\n  \"w2\": 0.0\n}}\n", json!(w1))
        }
    })
}

/// A float that YAML 1.1 reads as a float: with a dot, also before an exponent, and with a signed exponent.
struct Yaml(f64);

impl fmt::Debug for Yaml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:?}", self.0);
        match text.split_once('e') {
            Some((digits, exponent)) => {
                let dot = if digits.contains('.') { "" } else { ".0" };
                let sign = if exponent.starts_with('-') { "" } else { "+" };
                write!(f, "{digits}{dot}e{sign}{exponent}")
            }
            None => f.write_str(&text),
        }
    }
}

/// A text in double quotes on one line, valid in JSON. Characters that hide text or change its direction are escaped,
/// and so are those that YAML takes for line breaks.
pub(super) fn quoted(text: &str) -> String {
    escaped(text, json_escape)
}

/// A text in double quotes on one line, valid in YAML, which has an escape of its own for characters beyond U+FFFF.
fn yaml_quoted(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::super::tests::sigmoid_only;
    use super::super::{FittedModel, Model};
    use super::*;

    #[test]
    fn ponanza_gets_the_constant_and_what_is_lost() {
        let text = export(&sigmoid_only("YaneuraOu", 0.002895, 0.1613), Target::Ponanza, None).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "# \"YaneuraOu\", least_squares, between equals: K of 1 / (1 + exp(-score / K))");
        assert_eq!(lines[1], "# against the opponents of the calibration, score 0 won 46.0%");
        assert_eq!(lines[2], "345.4231");
        let ponanza = export(&sigmoid_only("x\ny", 0.001_666_666_67, 0.0), Target::Ponanza, None).unwrap();
        assert!(ponanza.starts_with("# \"x\\u000ay\",") && ponanza.ends_with("\n600\n"), "{ponanza}");
    }

    /// U+202E, as it was, shows the rest of its line reversed.
    #[test]
    fn no_target_gets_characters_that_hide_text() {
        let name = "a\u{9b}\u{202e}\u{61c}\u{e0041}b";
        let calibration = sigmoid_only(name, 0.002895, 0.1613);
        for target in Target::ALL {
            let Ok(text) = export(&calibration, *target, None) else { continue };
            assert!(!text.chars().any(|c| is_unsafe(c) && c != '\n'), "{}: {text:?}", target.as_str());
        }
        let json: serde_json::Value = serde_json::from_str(&export(&calibration, Target::Json, None).unwrap()).unwrap();
        assert_eq!(json["name"], name);
        let yaml = export(&calibration, Target::ShogiGougiYaml, None).unwrap();
        assert!(yaml.contains("exe: \"a\\u009b\\u202e\\u061c\\U000e0041b\"\n"), "{yaml}");
    }

    #[test]
    fn shogihome_gets_an_integer_in_its_settings() {
        let text = export(&sigmoid_only("YaneuraOu", 0.002895, 0.1613), Target::ShogiHome, None).unwrap();
        assert_eq!(text, "{\n  \"coefficientInSigmoid\": 345\n}\n");
    }

    #[test]
    fn dlshogi_gets_a_usi_option() {
        let text = export(&sigmoid_only("dlshogi", 1.0 / 756.0, 0.1), Target::Dlshogi, None).unwrap();
        assert_eq!(text, "setoption name Eval_Coef value 756\n");
    }

    #[test]
    fn shogi_gougi_gets_the_sigmoid_between_equals() {
        let text = export(&sigmoid_only("技\"巧", 0.0026, 0.1638), Target::ShogiGougiYaml, None).unwrap();
        let end = "engines:\n    - exe: \"技\\\"巧\"\n      winrate_regression:\n        weight: 0.0026\n        \
                   bias: 0.0\n";
        assert!(text.ends_with(end), "{text}");
        let tiny = export(&sigmoid_only("x", 2e-7, 0.0), Target::ShogiGougiYaml, None).unwrap();
        assert!(tiny.ends_with("weight: 2.0e-7\n        bias: 0.0\n"), "{tiny}");
    }

    #[test]
    fn json_is_minimal_and_in_order() {
        let text = export(&sigmoid_only("a\\b", 0.0026, -0.5), Target::Json, None).unwrap();
        assert_eq!(text, "{\n  \"name\": \"a\\\\b\",\n  \"w1\": 0.0026,\n  \"w2\": 0.0\n}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["name"], "a\\b");
    }

    #[test]
    fn a_coefficient_out_of_range_is_an_error() {
        for (target, w1) in [(Target::ShogiHome, 3.0), (Target::Dlshogi, 1e-6), (Target::Ponanza, 1e-320)] {
            let error = export(&sigmoid_only("x", w1, 0.0), target, None).unwrap_err().to_string();
            assert!(error.contains("as its coefficient (1 to 10000)"), "{error}");
        }
    }

    #[test]
    fn source_code_needs_a_formula_and_stockfish_draws() {
        let sigmoid = sigmoid_only("x", 0.004, 0.3);
        let error = export(&sigmoid, Target::Stockfish, None).unwrap_err().to_string();
        assert!(error.contains("separates draws") && error.contains("--model wdl-material"), "{error}");
        let rust = export(&sigmoid, Target::Rust, None).unwrap();
        assert!(rust.contains("const W1: f64 = 0.004;") && !rust.contains("0.3"), "{rust}");
        let points = vec![[-100.0, 0.2], [100.0, 0.9]];
        let isotonic = FittedModel {
            model: serde_json::from_value::<crate::fit::Isotonic>(json!({ "points": points }))
                .map(Model::Isotonic)
                .unwrap(),
            covariance: None,
            samples: None,
            games: None,
        };
        let kind = ModelKind::Isotonic;
        let table = Calibration::from_models("x", [(kind, isotonic)], kind).unwrap();
        let error = export(&table, Target::Python, None).unwrap_err().to_string();
        assert!(error.contains("list of points"), "{error}");
    }

    #[test]
    fn a_normalisation_is_taken_back() {
        let of_stage = "300".parse().unwrap();
        let text = export(&sigmoid_only("x", 0.003, 0.0), Target::Json, Some(&of_stage)).unwrap();
        assert!(text.contains("\"w1\": 0.001,"), "{text}");
        let by_stage = "1,2,3,4".parse().unwrap();
        let error = export(&sigmoid_only("x", 0.003, 0.0), Target::Rust, Some(&by_stage)).unwrap_err().to_string();
        assert!(error.contains("x: the model sigmoid cannot take back"), "{error}");
    }

    #[test]
    fn every_target_has_a_word() {
        for &target in Target::ALL {
            assert_eq!(target.as_str().parse(), Ok(target));
        }
        assert!("bonanza".parse::<Target>().is_err());
    }

    #[test]
    fn what_a_target_loses_is_said_with_its_size() {
        let joint =
            serde_json::from_value(json!({ "w1": 0.005, "w2": 0.1, "w3": 0.8, "lapse": 0.02, "optimism": 0.3 }));
        let model = FittedModel { model: Model::Joint(joint.unwrap()), covariance: None, samples: None, games: None };
        let kind = ModelKind::Joint;
        let lapsing = Calibration::from_models("x", [(kind, model)], kind).unwrap();
        let plain = sigmoid_only("x", 0.004, 0.3);
        for &target in Target::ALL {
            let source = matches!(target, Target::Stockfish | Target::Rust | Target::Python | Target::CHeader);
            assert_eq!(target.lost(&lapsing).contains("the calibration 98.0%"), !source, "{target}");
            assert!(!target.lost(&plain).contains("follow no score"), "{target}");
        }
    }
}
