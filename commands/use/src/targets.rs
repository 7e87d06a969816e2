//! The constants of a calibration in the formats of other programs, and what each format loses.

use std::borrow::Cow;
use std::fmt;

use evalcurve_calibration::write::{nine_digits, significant};
use evalcurve_calibration::{Calibration, ModelKind, Reading, Score, Situation};
use evalcurve_fit::calibration::{Normalization, NormalizationError};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use serde_json::json;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use self::code::{Language, code, stockfish};
use self::quote::{comment, quoted, yaml_quoted};

mod code;
mod quote;

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
    /// Options of nnue-pytorch's loss, `LossParams` of its `model/config.py`: 1/(1 + exp(-(x - offset)/scaling)) of a
    /// score less that of its negative is wins less losses, of the data (`out`) and of the net (`in`).
    NnuePytorch,
    /// bullet's `eval_scale` of `TrainingSchedule`: the win rate of a score in the data is 1/(1 + exp(-x/eval_scale)).
    Bullet,
    /// The USI option `Eval_Coef` of YaneuraOu's engine for networks of dlshogi (integer, 1 to 10,000, default 285).
    #[strum(serialize = "yaneuraou")]
    YaneuraOu,
    /// lc0's `WDLDrawRateTarget`, the share of draws in equal positions; only for models that separate draws.
    Lc0,
    /// `winrate_regression` of an engine in shogi-gougi's configuration: `weight` is w1, `bias` is 0, as
    /// between equals; a mate counts as a score of 32,000 less its plies, not as win rate 1.
    ShogiGougiYaml,
    /// C++ in the form of Stockfish's `win_rate_params`, with `to_cp` and `wdl` as its `uci.cpp` has them; only for
    /// models that separate draws.
    Stockfish,
    /// Rust functions.
    Rust,
    /// A Python module.
    Python,
    /// A header for C and C++.
    CHeader,
    /// A JavaScript module.
    #[strum(serialize = "javascript")]
    JavaScript,
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
    pub fn lost(self, calibration: &Calibration) -> Text {
        if calibration.wdl_model().is_some() {
            return text!(
                "the rate is that of the games of the calibration, whoever their players were; covariance, curve and \
                 provenance are lost"
            );
        }
        let lost = match self {
            Self::Ponanza => {
                text!("the rate is that between equals: what the opponents of the calibration added (w2) is left out")
            }
            Self::ShogiHome => text!(
                "the rate is that between equals, without w2; the coefficient is rounded to an integer and holds for \
                 all engines"
            ),
            Self::Dlshogi | Self::YaneuraOu => {
                text!("the rate is that between equals, without w2; the coefficient is rounded to an integer")
            }
            Self::NnuePytorch => text!(
                "the rate is that between equals; of a model by ply or material, the constants at its reference stage"
            ),
            Self::Bullet => text!("the rate is that between equals, without w2; a draw counts as half a win"),
            Self::Lc0 => text!("WDLDrawRateReference, the share of draws of the network, is not known from games"),
            Self::ShogiGougiYaml => text!(
                "the rate is that between equals, without w2; mates go through the sigmoid as scores of about 32,000"
            ),
            Self::Stockfish => {
                return text!("covariance, curve and provenance are lost; pos.count and pos.game_ply are Stockfish's");
            }
            Self::Rust | Self::Python | Self::CHeader | Self::JavaScript => {
                return text!("the rate is that between equals; covariance, curve and provenance are lost");
            }
            Self::Json => {
                text!("the rate is that between equals, without w2; covariance, curve and provenance are lost")
            }
        };
        let has_draws = [Self::Lc0, Self::NnuePytorch].contains(&self);
        if let Some(off) = draws_lost(calibration).filter(|_| !has_draws) {
            return text!("{lost}; draws bend the curve, so that the formula is off by up to {off:.2} in the win rate");
        }
        // source code has the lapses, too
        let most = 100.0 * calibration.limits(Reading::Equal)[1];
        if most >= 99.95 {
            return lost;
        }
        text!(
            "{lost}; results that follow no score are left out: at large scores the formula says 100%, the calibration \
             {most:.1}%"
        )
    }
}

/// An error of the win rate that a sigmoid in place of a curve with draws may have without a word.
const OFF: f64 = 0.01;

/// By how much the sigmoid with the same constant is off at most; `None` where it hardly is.
fn draws_lost(calibration: &Calibration) -> Option<f64> {
    let sigmoid = calibration.sigmoid().filter(|_| calibration.separates_draws())?;
    let off = |share: i32| {
        let score = f64::from(share) / (20.0 * sigmoid.w1);
        (calibration.win_rate(Score::Cp(score)) - sigmoid.win_rate(score)).abs()
    };
    Some((1..=80).map(off).fold(0.0, f64::max)).filter(|off| *off > OFF)
}

/// Why a calibration cannot be exported to a target.
#[derive(Debug, Clone, PartialEq, thiserror::Error, evalcurve_words::language::ToText)]
#[non_exhaustive]
pub enum ExportError {
    /// The coefficient is outside the range that the program accepts.
    #[error(
        "{engine}: {target} does not accept 1/w1 = {coefficient} as its coefficient (1 to 10000); check the unit of \
         the scores"
    )]
    OutOfRange {
        engine: String,
        target: Target,
        /// 1 / w1, centipawns.
        coefficient: f64,
    },
    /// The chosen model is not a sigmoid of the score alone.
    #[error(
        "{engine}: {target} expects a sigmoid of the score, but the chosen model is {model}; calibrate with \
         `model` maximum-likelihood, or export to rust, python, c-header or javascript",
        model = .model.as_str()
    )]
    NoSigmoid { engine: String, model: ModelKind, target: Target },
    /// The chosen model does not separate draws.
    #[error(
        "{engine}: {target} expects a model that separates draws, but the chosen model is {model}; calibrate with \
         `model` wdl-material or wdl",
        model = .model.as_str()
    )]
    NoDraws { engine: String, model: ModelKind, target: Target },
    /// The chosen model is a table of points.
    #[error(
        "{engine}: {target} expects a formula, but the chosen model, {model}, is a list of points: read `model.points` \
         of the calibration file, or calibrate with another `model`",
        model = .model.as_str()
    )]
    NoFormula { engine: String, model: ModelKind, target: Target },
    /// The scores cannot be converted to internal units.
    #[error("{engine}: {problem}")]
    Normalization { engine: String, problem: NormalizationError },
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
    let (calibration, remarks) = match normalization {
        None => (Cow::Borrowed(calibration), Vec::new()),
        Some(normalization) => internal(calibration, normalization)?,
    };
    let calibration = &*calibration;
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
        Target::JavaScript => source(Language::JavaScript)?,
        Target::Ponanza => {
            let coefficient = coefficient()?;
            if !coefficient.is_finite() {
                return Err(out_of_range(coefficient));
            }
            let at_zero = 100.0 * calibration.win_rate_in(Reading::Field, Score::Cp(0.0), &Situation::default());
            let about = format!("{name}, {method}: K of 1 / (1 + exp(-score / K))");
            let zero = format!("against the opponents of the calibration, score 0 won {at_zero:.1}%");
            format!("{}{}{coefficient}\n", comment("#", &about), comment("#", &zero))
        }
        Target::ShogiHome => format!("{:#}\n", json!({ "coefficientInSigmoid": rounded()? })),
        Target::Dlshogi => format!("setoption name Eval_Coef value {}\n", rounded()?),
        Target::YaneuraOu => {
            let about = format!("{name}, {method}: source/engine/dlshogi-engine/SearchOptions.cpp");
            format!("{}setoption name Eval_Coef value {}\n", comment("#", &about), rounded()?)
        }
        Target::NnuePytorch => {
            let (offset, scaling) = match calibration.wdl_constants() {
                Some(wdl) => wdl.a_and_b(wdl.stage.target()),
                None => (0.0, coefficient()?),
            };
            let about = format!("{name}, {method}: LossParams of model/config.py, scores as they are in the data");
            let [offset, scaling] = [offset, scaling].map(|number| significant(number, 7));
            format!(
                "{}--out-offset={offset} --out-scaling={scaling}\n{}--in-offset={offset} --in-scaling={scaling}\n",
                comment("#", &about),
                comment("#", "the same for the scores of the net, so that it gives scores on the scale of the data")
            )
        }
        Target::Bullet => {
            let about = format!("{name}, {method}: TrainingSchedule of crates/bullet_lib/src/trainer/schedule.rs");
            format!("{}eval_scale: {:?},\n", comment("//", &about), coefficient()?)
        }
        Target::Lc0 => {
            let no_draws = || ExportError::NoDraws { engine: engine(), model, target };
            let at = calibration.wdl_constants().ok_or_else(no_draws)?.stage.at_target();
            let draws = calibration.wdl(Reading::Equal, 0.0, &at).ok_or_else(no_draws)?.draw;
            let ends = draws.interval.map_or_else(String::new, |[low, high]| format!(" [{low:.3}, {high:.3}]"));
            let about = format!("{name}, {method}: {:.3}{ends} of the games are drawn at score 0", draws.value);
            let source = "src/search/classic/params.cc; set WDLDrawRateReference to the share of draws of the network";
            let target = draws.value.clamp(0.001, 0.999);
            format!(
                "{}{}setoption name WDLDrawRateTarget value {target:.3}\n",
                comment("#", &about),
                comment("#", source)
            )
        }
        Target::ShogiGougiYaml => format!(
            "{}# mates go through this sigmoid as scores of about 32000\n\
             engines:\n    - exe: {}\n      winrate_regression:\n        weight: {w1:?}\n        bias: 0.0\n",
            comment("#", &format!("{name}, {method}; put the engine's program in exe, and add params")),
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

/// The calibration for the internal scores of an engine that prints normalised ones, with remarks on it.
fn internal<'a>(
    calibration: &Calibration,
    normalization: &Normalization,
) -> Result<(Cow<'a, Calibration>, Vec<String>), ExportError> {
    let engine = calibration.engine.name.clone();
    let (found, error) =
        normalization.undo(calibration).map_err(|problem| ExportError::Normalization { engine, problem })?;
    let mut remarks = vec![format!("Internal scores: printed centipawns times ({normalization})/100")];
    if error > 1e-6 {
        remarks.push(format!("a and b differ from the product by up to {error:.2}"));
    }
    Ok((Cow::Owned(found), remarks))
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

#[cfg(test)]
mod tests;
