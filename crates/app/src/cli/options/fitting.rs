//! Options that say how scores are prepared and engines are fitted.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use evalcurve_fit::calibration::MatePolicy;
use evalcurve_fit::fit::ModelKind;
use evalcurve_words::language::Text;
use evalcurve_words::text;

use crate::Fitting;
use crate::calibrate::mates::Threshold;
use crate::calibrate::{DEFAULT_MIN_GAMES, DEFAULT_MODEL};

/// How scores are prepared and engines are fitted.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Fitting")]
pub struct FitArgs {
    /// Exclude mates, clip them to ±CLIP, or keep them as they are
    #[arg(long, value_parser = mate_policies(), default_value = "exclude", hide_short_help = true)]
    mate_policy: MatePolicy,

    /// Mate threshold: a score of at least this size is a mate. CP or auto, for all engines or for one (sjaakii=15000);
    /// may be repeated [default: 20000]
    #[arg(long, value_name = "[ENGINE=]CP|auto", value_parser = threshold)]
    mate_threshold: Vec<(Option<String>, Threshold)>,

    /// Score of a mate in centipawns under --mate-policy clip
    #[arg(long, value_name = "CP", default_value_t = 3000, hide_short_help = true)]
    clip: u32,

    /// Width of a bin of the evaluation curve in centipawns
    #[arg(long, value_name = "CP", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..),
          hide_short_help = true)]
    bin: u32,

    /// Fewest samples of a bin that is plotted
    #[arg(long, value_name = "N", default_value_t = 50, hide_short_help = true)]
    min_bin: u64,

    /// Fewest samples of an engine that is fitted
    #[arg(long, value_name = "N", default_value_t = 30)]
    min_samples: u64,

    /// Fewest games with samples of an engine that is calibrated
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MIN_GAMES, hide_short_help = true)]
    min_games: u64,

    /// Games in which the sign of an engine's scores looks inverted: keep the scores as they are, or turn their sign
    /// (auto)
    #[arg(long, value_parser = ["keep", "auto"], default_value = "keep", hide_short_help = true)]
    signs: String,

    /// Bootstrap resamples of the games, for intervals and bands; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(..=1_000_000),
          hide_short_help = true)]
    bands: u32,

    /// The model of the calibration. The file also holds both sigmoids
    #[arg(long, value_enum, default_value_t = ModelArg::Kind(DEFAULT_MODEL), value_name = "MODEL",
          default_value_if("like_wdl_model", "true", "wdl-material"))]
    model: ModelArg,

    /// Folds over games for evaluating the model out of sample; 0 for no evaluation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = folds, hide_short_help = true)]
    folds: u64,
}

/// The value of `--model`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelArg {
    /// A model of the list.
    Kind(ModelKind),
    /// The model is chosen later.
    Auto,
}

/// Every value of `--model` with its name.
static MODELS: LazyLock<(Vec<ModelArg>, Vec<String>)> = LazyLock::new(|| {
    let kinds = ModelKind::calibrations().map(|kind| (ModelArg::Kind(kind), kind.as_str().replace('_', "-")));
    kinds.chain([(ModelArg::Auto, "auto".to_owned())]).unzip()
});

impl ValueEnum for ModelArg {
    fn value_variants<'a>() -> &'a [Self] {
        &MODELS.0
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (models, names) = &*MODELS;
        let name: &'static str = names.get(models.iter().position(|model| model == self)?)?;
        let value = PossibleValue::new(name);
        Some(match self {
            Self::Kind(kind) => {
                let in_files = Some(kind.as_str()).filter(|word| *word != name);
                value.aliases(kind.aliases().iter().copied().chain(in_files)).help(kind.summary())
            }
            Self::Auto => {
                value.help("The simplest model that is as good as the best out of sample, one for all engines")
            }
        })
    }
}

/// The values of `--mate-policy`.
fn mate_policies() -> impl TypedValueParser<Value = MatePolicy> {
    PossibleValuesParser::new(["exclude", "clip", "keep"]).map(|word| match word.as_str() {
        "clip" => MatePolicy::Clip,
        "keep" => MatePolicy::Keep,
        _ => MatePolicy::Exclude,
    })
}

/// Largest number of folds.
const MOST_FOLDS: u64 = 100;

fn folds(value: &str) -> Result<u64, Text> {
    match value.parse() {
        Ok(folds) if folds > MOST_FOLDS => Err(text!("expected at most {MOST_FOLDS} folds")),
        Ok(1) => {
            Err(text!("a model is evaluated on games that it has not seen; give 2 or more, or 0 for no evaluation"))
        }
        Ok(folds) => Ok(folds),
        Err(_) => Err(text!("expected a whole number of folds")),
    }
}

/// Parses a value of `--mate-threshold`.
pub fn threshold(value: &str) -> Result<(Option<String>, Threshold), Text> {
    let (engine, value) = match value.rsplit_once('=') {
        Some((engine, value)) => (Some(engine.trim().to_owned()), value.trim()),
        None => (None, value.trim()),
    };
    let threshold = match value {
        "auto" => Threshold::Auto,
        number => Threshold::Cp(number.parse().map_err(|_| {
            text!("'{number}' is neither a number of centipawns nor auto; write 20000, auto or ENGINE=15000")
        })?),
    };
    Ok((engine, threshold))
}

impl FitArgs {
    /// The options as values.
    pub fn fitting(&self) -> Fitting {
        Fitting {
            mate_policy: self.mate_policy,
            mate_threshold: self.mate_threshold.clone(),
            clip: self.clip,
            bin: self.bin,
            min_bin: self.min_bin,
            min_samples: self.min_samples,
            min_games: self.min_games,
            bands: self.bands,
            bootstrap_sigmoids: true,
            bootstrap_of: None,
            turn_signs: self.signs == "auto",
            model: match self.model {
                ModelArg::Kind(kind) => Some(kind),
                ModelArg::Auto => None,
            },
            folds: (self.folds > 0).then_some(self.folds),
        }
    }
}
