//! `evalcurve-lab simulate`

#[cfg(feature = "program")]
mod command;

use std::path::PathBuf;

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use evalcurve_app::cli::options::{OutputArgs, one_of, threads};
use evalcurve_rules::weights::Weights;
use evalcurve_rules::{Options, Rule, TieRule};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use serde_json::Value;

use crate::simulate::{CalibrationOf, Contender, Engine, Model, RunOptions, Synchronisation, document, simulate};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-lab simulate --noise 1,1.5,1.5 --candidates 3
      three engines, the leader first: which rule finds the best of three moves most often?
  evalcurve-lab simulate --noise 1,1.5,1.5 --sync 2:3:0.5
      engine 3 copies the move and the value of engine 2 half of the time
  evalcurve-lab simulate --noise 1,1.2,1.2 --gain 1,2,2 --spread 1.5 \\
      --rule optimistic,winrate-optimistic,standardized-optimistic
      scores on different scales: optimism over raw scores and over win rates
  evalcurve-lab simulate --figures plots
      the figures of LFICS (合議の効能, 2016-12) and two about scales

The model: the best candidate is worth A, the others A - gap. Engine i sees each with normal noise, votes for the best \
it sees, and gives it the score gain·value + offset. Lists of numbers have one number per engine, or one for all \
engines.")]
pub struct Args {
    /// Noise of each engine in the unit of --gap, the leader first
    #[arg(long, value_name = "S,S,…", value_delimiter = ',', required_unless_present = "figures")]
    noise: Vec<f64>,

    /// Number of candidate moves
    #[arg(long, value_name = "N", default_value_t = 2)]
    candidates: usize,

    /// How much more the best move is worth than the others (in logits for rules over win rates)
    #[arg(long, value_name = "D", default_value_t = 1.0)]
    gap: f64,

    /// Engine J copies the move and value of engine I with this probability; may be repeated
    #[arg(long, value_name = "I:J:PROBABILITY", value_delimiter = ',', value_parser = synchronisation)]
    sync: Vec<Synchronisation>,

    /// Number of positions
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,

    /// Rules by name; optimal-known is the optimal rule with A known
    /// [default: majority, optimistic, pessimistic, optimal-known, optimal; if scales differ, also
    /// standardized-optimistic and winrate-optimistic]
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    rule: Vec<String>,

    /// Learned weights, in the order of the engines; cross-examination and weighted use them
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    weights: Option<PathBuf>,

    /// The tie rule [default: both, for rules that count votes]
    #[arg(long, hide_short_help = true)]
    #[arg(value_parser = PossibleValuesParser::new(["leader", "draw"]).try_map(|word| word.parse::<TieRule>()))]
    tie: Option<TieRule>,

    /// Standard errors that corrected-optimistic subtracts from a logit
    #[arg(long, value_name = "N", default_value_t = Options::default().caution, hide_short_help = true)]
    caution: f64,

    /// Seed; equal seeds give equal results for any number of threads
    #[arg(long, default_value_t = 20_161_231, hide_short_help = true)]
    seed: u64,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads, hide_short_help = true)]
    threads: Option<usize>,

    /// Replace the file of --votes if it exists
    #[arg(long, requires = "votes", hide_short_help = true)]
    force: bool,

    #[command(flatten)]
    scales: Scales,

    /// Draw all figures into this folder, as SVG, PNG and CSV, with --trials positions per point
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    figures: Option<PathBuf>,

    /// Write the votes of --trials positions into this file instead, as a vote log
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with = "figures", hide_short_help = true)]
    votes: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

/// How the scores of engines differ from the worth of moves.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Scales")]
struct Scales {
    /// Gain of each engine: score per unit of value
    #[arg(long, value_name = "G,…", value_delimiter = ',', default_value = "1", hide_short_help = true)]
    gain: Vec<f64>,

    /// Offset of each engine: score for a value of 0
    #[arg(long, value_name = "O,…", value_delimiter = ',', default_value = "0", allow_hyphen_values = true)]
    #[arg(hide_short_help = true)]
    offset: Vec<f64>,

    /// Error of each calibration in w1: standard deviation of its logarithm
    #[arg(long, value_name = "E,…", value_delimiter = ',', default_value = "0", hide_short_help = true)]
    calibration_error: Vec<f64>,

    /// Error of each calibration in w2: its standard deviation
    #[arg(long, value_name = "E,…", value_delimiter = ',', default_value = "0", hide_short_help = true)]
    shift_error: Vec<f64>,

    /// What calibrations return: the value that the engine saw, or the prediction of its score (without noise and
    /// winner's curse)
    #[arg(long, default_value_t, value_parser = one_of::<CalibrationOf>(), hide_short_help = true)]
    calibration: CalibrationOf,

    /// Mean worth A of the best move
    #[arg(long, value_name = "A", default_value_t = 0.0, allow_negative_numbers = true, hide_short_help = true)]
    level: f64,

    /// Standard deviation of A between positions
    #[arg(long, value_name = "SD", default_value_t = 0.0, hide_short_help = true)]
    spread: f64,
}

/// Ending of a rule's name if the logit of the best move is known.
const KNOWN: &str = "-known";

/// The names of the rules that can be simulated.
fn rules() -> Vec<String> {
    let names = |rule: Rule| {
        let known = rule.needs().log_ratios.then(|| format!("{rule}{KNOWN}"));
        std::iter::once(rule.to_string()).chain(known)
    };
    Rule::ALL.into_iter().filter(|rule| rule.needs().can_be_simulated()).flat_map(names).collect()
}

/// One value per engine or group, from a list with one value for each, or one for all.
pub(in crate::cli) fn one_per<T: Clone>(
    what: &'static str,
    count: usize,
    option: &str,
    values: &[T],
) -> anyhow::Result<Vec<T>> {
    match values {
        [one] => Ok(vec![one.clone(); count]),
        many if many.len() == count => Ok(many.to_vec()),
        many => {
            let (n, what) = (many.len(), Text::word(what));
            bail!(text!("--{option} has {n} values for {count} {what}s; give one per {what}, or one for all"))
        }
    }
}

fn synchronisation(text: &str) -> Result<Synchronisation, Text> {
    let wrong = || text!("'{text}' is not a synchronisation; write I:J:PROBABILITY, as in 2:3:0.5");
    let [of, follower, probability] = text.split(':').collect::<Vec<_>>()[..] else { return Err(wrong()) };
    let engine = |t: &str| t.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).ok_or_else(wrong);
    let probability = probability.parse().map_err(|_| wrong())?;
    Ok(Synchronisation { of: engine(of)?, follower: engine(follower)?, probability })
}

impl Args {
    fn model(&self) -> anyhow::Result<Model> {
        let (n, scales) = (self.noise.len(), &self.scales);
        let mut model = Model::lfics(&self.noise, self.candidates, self.gap);
        type Field = fn(&mut Engine) -> &mut f64;
        let lists: [(&str, &[f64], Field); 4] = [
            ("gain", &scales.gain, |e| &mut e.gain),
            ("offset", &scales.offset, |e| &mut e.offset),
            ("calibration-error", &scales.calibration_error, |e| &mut e.calibration_error),
            ("shift-error", &scales.shift_error, |e| &mut e.shift_error),
        ];
        for (option, values, field) in lists {
            for (engine, value) in model.engines.iter_mut().zip(one_per("engine", n, option, values)?) {
                *field(engine) = value;
            }
        }
        if let Some(file) = &self.weights {
            let members = Weights::read(file).map_err(anyhow::Error::msg)?.members;
            let weights: Vec<f64> = members.iter().map(|member| member.weight).collect();
            for (engine, weight) in model.engines.iter_mut().zip(one_per("engine", n, "weights", &weights)?) {
                engine.weight = Some(weight);
            }
        }
        model.synchronisations.clone_from(&self.sync);
        model.calibration = scales.calibration;
        (model.level, model.spread, model.caution) = (scales.level, scales.spread, self.caution);
        Ok(model)
    }

    fn contenders(&self, model: &Model) -> anyhow::Result<Vec<Contender>> {
        let is_scaled =
            |e: &Engine| e.gain != 1.0 || e.offset != 0.0 || e.calibration_error > 0.0 || e.shift_error > 0.0;
        if self.rule.is_empty() {
            let mut all = Contender::lfics();
            if model.engines.iter().any(is_scaled) || model.calibration == CalibrationOf::Prediction {
                all.extend(Contender::optimisms().into_iter().filter(|c| c.rule != Rule::Optimistic));
            }
            all.retain(|c| !c.rule.counts_votes() || self.tie.is_none_or(|tie| c.tie == tie));
            return Ok(all);
        }
        let mut all = Vec::new();
        for name in &self.rule {
            let rule = match name.strip_suffix(KNOWN) {
                Some(known) => Rule::parse(known).filter(|rule| rule.needs().log_ratios),
                None => Rule::parse(name),
            };
            let Some(rule) = rule else {
                bail!(text!("'{name}' is not a rule; expected one of {}", rules().join(", ")));
            };
            let best_known = name.ends_with(KNOWN);
            let ties = match self.tie {
                Some(tie) => vec![tie],
                None if rule.counts_votes() => vec![TieRule::Leader, TieRule::Draw],
                None => vec![TieRule::Leader],
            };
            all.extend(ties.into_iter().map(|tie| Contender { tie, best_known, ..Contender::new(rule) }));
        }
        Ok(all)
    }
}

impl Args {
    fn options(&self) -> RunOptions {
        RunOptions { trials: self.trials, seed: self.seed, threads: self.threads }
    }

    /// The JSON document.
    pub fn document(&self) -> anyhow::Result<Value> {
        let model = self.model()?;
        Ok(document(&model, &simulate(&model, &self.contenders(&model)?, self.options())?))
    }
}
