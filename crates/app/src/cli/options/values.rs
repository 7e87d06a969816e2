//! How the values of shared options are read.

use std::str::FromStr;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, RangedI64ValueParser, TypedValueParser};
use evalcurve_engine::Game;
use evalcurve_fit::calibration::MatePolicy;
use evalcurve_fit::fit::ModelKind;
use evalcurve_records::record::{FORMATS, Format};
use evalcurve_records::sample::{Duplicates, View};
use evalcurve_tables::{Role, ScoreUnit};
use evalcurve_words::language::Text;
use evalcurve_words::text;

use crate::calibrate::CalibrateOptions;
use crate::calibrate::mates::Threshold;
use crate::{BinChoice, Binning, ChosenModel, FileFormat, Folds, MatesAs};

/// Parses one of the words of an enum of the library, and lists them in `--help`.
pub fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = strum::ParseError> + strum::VariantNames + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|word| word.parse::<T>())
}

/// The values of `--view`. White moves first in chess, and Black in shogi.
pub fn view() -> impl TypedValueParser<Value = View> {
    PossibleValuesParser::new(["auto", "mover", "white", "black"]).map(|word| match word.as_str() {
        "mover" => View::Mover,
        "white" | "black" => View::First,
        _ => View::Auto,
    })
}

/// Largest number of threads.
const MOST_THREADS: usize = 1_024;
/// Parses the value of `--threads`.
pub fn threads(value: &str) -> Result<usize, Text> {
    let threads = value.parse().ok().filter(|n| *n <= MOST_THREADS);
    threads.ok_or_else(|| text!("expected a whole number of threads up to {MOST_THREADS}"))
}

pub fn column(value: &str) -> Result<(Role, String), Text> {
    let roles = <Role as strum::VariantNames>::VARIANTS.join(", ");
    let (role, name) = value.split_once('=').ok_or_else(|| text!("write ROLE=NAME, with ROLE one of {roles}"))?;
    let role =
        role.trim().parse().map_err(|_| text!("'{role}' is not the role of a column; expected one of {roles}"))?;
    Ok((role, name.trim().to_owned()))
}

pub fn score_unit(value: &str) -> Result<(Option<String>, ScoreUnit), Text> {
    let (engine, unit) = match value.rsplit_once('=') {
        Some((engine, unit)) => (Some(engine.trim().to_owned()), unit.trim()),
        None => (None, value.trim()),
    };
    let units = <ScoreUnit as strum::VariantNames>::VARIANTS.join(", ");
    let unit = unit.parse().map_err(|_| text!("'{unit}' is not a unit of scores; expected one of {units}"))?;
    Ok((engine, unit))
}

/// The values of `--format`: the list of formats, and tables.
pub fn formats() -> impl TypedValueParser<Value = FileFormat> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name).chain(["table"]))
        .map(|name| Format::by_name(&name).map_or(FileFormat::Table, FileFormat::Records))
}

/// The games of which the program has positions.
pub fn games() -> impl TypedValueParser<Value = Game> {
    PossibleValuesParser::new(["shogi", "chess"]).try_map(|name| name.parse::<Game>())
}

pub fn percent(value: &str) -> Result<f64, Text> {
    let number = value.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    number
        .filter(|n| *n > 0.0 && *n <= 100.0)
        .map(|n| n / 100.0)
        .ok_or_else(|| text!("'{value}' is no share; write for example 10%"))
}

/// A number from 1 on.
pub fn positive() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

/// One of two words: whether it is the second.
pub fn either(one: &'static str, other: &'static str) -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new([one, other]).map(move |given| given == other)
}

/// The values of `--duplicates`.
pub fn duplicates() -> impl TypedValueParser<Value = Duplicates> {
    PossibleValuesParser::new(["by-moves", "by-identity"]).map(|word| match word.as_str() {
        "by-identity" => Duplicates::ByIdentity,
        _ => Duplicates::ByMoves,
    })
}

/// Every value of `--model` with its name; auto is none.
static MODELS: LazyLock<Vec<(ChosenModel, String)>> = LazyLock::new(|| {
    let kinds = ModelKind::calibrations().map(|kind| (Some(kind), kind.as_str().replace('_', "-")));
    kinds.chain([(None, "auto".to_owned())]).collect()
});

/// The other names of a model: short ones, and that in files.
fn aliases(kind: ModelKind) -> impl Iterator<Item = &'static str> {
    kind.aliases().iter().copied().chain([kind.as_str()])
}

/// The values of `--model`.
pub fn models() -> impl TypedValueParser<Value = ChosenModel> {
    let value = |(kind, name): &'static (ChosenModel, String)| match kind {
        Some(kind) => {
            let others = aliases(*kind).filter(|other| other != name);
            PossibleValue::new(name.as_str()).aliases(others).help(kind.summary())
        }
        None => PossibleValue::new(name.as_str())
            .help("The simplest model that is as good as the best out of sample, one for all engines"),
    };
    PossibleValuesParser::new(MODELS.iter().map(value)).map(|word| {
        let named = |(kind, name): &&(ChosenModel, String)| {
            *name == word || kind.is_some_and(|kind| aliases(kind).any(|other| other == word))
        };
        MODELS.iter().find(named).and_then(|(kind, _)| *kind)
    })
}

/// Parses the value of `--bin`.
pub fn bin(value: &str) -> Result<Binning, Text> {
    let width = CalibrateOptions::default().bin_cp;
    match (value, value.parse()) {
        ("auto", _) => Ok((width, BinChoice::Auto)),
        ("quantile", _) => Ok((width, BinChoice::Quantile)),
        (_, Ok(cp)) if cp > 0 => Ok((cp, BinChoice::Width)),
        _ => Err(text!("'{value}' is neither a width in centipawns nor auto or quantile")),
    }
}

/// Parses the value of `--mate-policy`.
pub fn mate_policy(value: &str) -> Result<MatesAs, Text> {
    let clip = CalibrateOptions::default().clip_cp;
    match value.split_once('=').unwrap_or((value, "")) {
        ("exclude", "") => Ok((MatePolicy::Exclude, clip)),
        ("keep", "") => Ok((MatePolicy::Keep, clip)),
        ("clip", "") => Ok((MatePolicy::Clip, clip)),
        ("clip", cp) if cp.parse::<u32>().is_ok() => Ok((MatePolicy::Clip, cp.parse().unwrap_or(clip))),
        _ => Err(text!("'{value}' is not what becomes of mates; write exclude, clip, clip=3000 or keep")),
    }
}

/// Largest number of folds.
const MOST_FOLDS: u64 = 100;

pub fn folds(value: &str) -> Result<Folds, Text> {
    match value.parse() {
        Ok(folds) if folds > MOST_FOLDS => Err(text!("expected at most {MOST_FOLDS} folds")),
        Ok(1) => {
            Err(text!("a model is evaluated on games that it has not seen; give 2 or more, or 0 for no evaluation"))
        }
        Ok(folds) => Ok((folds > 0).then_some(folds)),
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
