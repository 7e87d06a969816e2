//! `evalcurve simulate`

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde_json::json;

use super::options::TellArgs;
use super::{Done, terminal};
use crate::plot::PlotOptions;
use crate::report::simulation;
use crate::rule::{Rule, TieRule};
use crate::theory::estimate::simulated_log;
use crate::theory::simulate::sweep::Sweep;
use crate::theory::simulate::{CalibrationOf, Contender, Model, RunOptions, Synchronisation, simulate};
use crate::whole_file;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve simulate --noise 1,1.5,1.5 --candidates 3
      three engines, the leader first: which rule finds the best of three moves most often?
  evalcurve simulate --noise 1,1.5,1.5 --sync 2:3:0.5
      engine 3 shows the move and the value of engine 2 half of the time
  evalcurve simulate --noise 1,1.2,1.2 --gain 1,2,2 --spread 1.5 --rule optimistic,standardized-optimistic,winrate-optimistic
      scores on different scales: raw, standardised and win-rate optimism
  evalcurve simulate --figures plots
      the figures of LFICS (合議の効能, 2016-12) and two about scales

The model: the best candidate is worth A, the others A - gap; engine i sees each with normal noise, votes for the best it
sees, and scores it gain·value + offset. A list of numbers has one for each engine, or one for all.")]
pub(super) struct Args {
    /// Noise of each engine, the leader first, in units of the gap's
    #[arg(long, value_name = "S,S,…", value_delimiter = ',', required_unless_present = "figures")]
    noise: Vec<f64>,

    /// Moves worth a thought
    #[arg(long, value_name = "N", default_value_t = 2)]
    candidates: usize,

    /// What the best move is worth more than the others (logits, for rules over win rates)
    #[arg(long, value_name = "D", default_value_t = 1.0)]
    gap: f64,

    /// Engine J shows engine I's move and value with this probability; may be repeated
    #[arg(long, value_name = "I:J:PROBABILITY", value_delimiter = ',', value_parser = synchronisation)]
    sync: Vec<Synchronisation>,

    /// Positions
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,

    /// Rules, as councils have them; optimal-known is optimal with the best move's worth known
    /// [default: majority, optimistic, pessimistic, optimal-known, optimal; and where scales differ
    /// standardized-optimistic, winrate-optimistic]
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    rule: Vec<String>,

    /// How ties are broken [default: both, for majorities]
    #[arg(long, value_enum)]
    tie: Option<TieArg>,

    /// Score of each engine for a value of 1
    #[arg(long, value_name = "G,…", value_delimiter = ',', default_value = "1", help_heading = "Scales")]
    gain: Vec<f64>,

    /// Score of each engine for a value of 0
    #[arg(
        long,
        value_name = "O,…",
        value_delimiter = ',',
        default_value = "0",
        allow_negative_numbers = true,
        allow_hyphen_values = true,
        help_heading = "Scales"
    )]
    offset: Vec<f64>,

    /// How far each calibration has w1 wrong: standard deviation of its logarithm
    #[arg(long, value_name = "E,…", value_delimiter = ',', default_value = "0", help_heading = "Scales")]
    calibration_error: Vec<f64>,

    /// How far each calibration has w2 wrong: its standard deviation
    #[arg(long, value_name = "E,…", value_delimiter = ',', default_value = "0", help_heading = "Scales")]
    shift_error: Vec<f64>,

    /// What calibrations give: the value that the engine saw, or what its score predicts (noise and winner's curse taken off)
    #[arg(long, value_enum, default_value_t = CalibrationArg::Scale, help_heading = "Scales")]
    calibration: CalibrationArg,

    /// Mean worth of the best move
    #[arg(long, value_name = "A", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Scales")]
    level: f64,

    /// Standard deviation of the best move's worth from position to position
    #[arg(long, value_name = "SD", default_value_t = 0.0, help_heading = "Scales")]
    spread: f64,

    /// Standard errors that corrected-optimistic takes off a logit
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    caution: f64,

    /// Seed; the same seed gives the same figures for any number of threads
    #[arg(long, default_value_t = 20_161_231)]
    seed: u64,

    /// Threads at work [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Draw all figures into this folder, as SVG, PNG and CSV, with --trials positions a point
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    figures: Option<PathBuf>,

    /// Write the votes of --trials positions into this file instead, as the log of a council
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with = "figures")]
    votes: Option<PathBuf>,

    #[command(flatten)]
    tell: TellArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TieArg {
    Leader,
    Draw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CalibrationArg {
    Scale,
    Prediction,
}

fn synchronisation(text: &str) -> Result<Synchronisation, String> {
    let wrong = || format!("'{text}' is no synchronisation: write I:J:PROBABILITY, as in 2:3:0.5");
    let [of, follower, probability] = text.split(':').collect::<Vec<_>>()[..] else { return Err(wrong()) };
    let engine = |t: &str| t.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).ok_or_else(wrong);
    let probability = probability.parse().map_err(|_| wrong())?;
    Ok(Synchronisation { of: engine(of)?, follower: engine(follower)?, probability })
}

/// One number for each engine, of a list that has one for each or one for all.
fn spread_over(values: &[f64], engines: usize, option: &str) -> anyhow::Result<Vec<f64>> {
    match values {
        [one] => Ok(vec![*one; engines]),
        many if many.len() == engines => Ok(many.to_vec()),
        many => bail!("--{option} has {} numbers for {engines} engines: give one for each, or one for all", many.len()),
    }
}

impl Args {
    fn model(&self) -> anyhow::Result<Model> {
        let n = self.noise.len();
        let mut model = Model::lfics(&self.noise, self.candidates, self.gap);
        let gain = spread_over(&self.gain, n, "gain")?;
        let offset = spread_over(&self.offset, n, "offset")?;
        let calibration_error = spread_over(&self.calibration_error, n, "calibration-error")?;
        let shift_error = spread_over(&self.shift_error, n, "shift-error")?;
        for (i, engine) in model.engines.iter_mut().enumerate() {
            (engine.gain, engine.offset) = (gain[i], offset[i]);
            (engine.calibration_error, engine.shift_error) = (calibration_error[i], shift_error[i]);
        }
        model.synchronisations.clone_from(&self.sync);
        model.calibration = match self.calibration {
            CalibrationArg::Scale => CalibrationOf::Scale,
            CalibrationArg::Prediction => CalibrationOf::Prediction,
        };
        (model.level, model.spread, model.caution) = (self.level, self.spread, self.caution);
        Ok(model)
    }

    fn contenders(&self, model: &Model) -> anyhow::Result<Vec<Contender>> {
        let mut all = Vec::new();
        let scaled = model
            .engines
            .iter()
            .any(|e| e.gain != 1.0 || e.offset != 0.0 || e.calibration_error > 0.0 || e.shift_error > 0.0);
        if self.rule.is_empty() {
            all = Contender::lfics();
            if scaled || model.calibration == CalibrationOf::Prediction {
                let more = Contender::optimisms().into_iter().filter(|c| c.rule != Rule::Optimistic);
                all.extend(more);
            }
            if let Some(tie) = self.tie {
                all.retain(|c| c.rule != Rule::Majority || c.tie == tie.rule());
            }
            return Ok(all);
        }
        for name in &self.rule {
            let (rule, best_known) = match name.as_str() {
                "optimal-known" => (Rule::Optimal, true),
                name => match Rule::parse(name) {
                    Some(rule) => (rule, false),
                    None => {
                        let known: Vec<&str> = Rule::ALL.iter().map(|r| r.as_str()).collect();
                        bail!("no rule is called '{name}': there are {}, optimal-known", known.join(", "));
                    }
                },
            };
            let ties = match (self.tie, rule) {
                (Some(tie), _) => vec![tie.rule()],
                (None, Rule::Majority | Rule::Weighted) => vec![TieRule::Leader, TieRule::Draw],
                (None, _) => vec![TieRule::Leader],
            };
            all.extend(ties.into_iter().map(|tie| Contender { tie, best_known, ..Contender::new(rule) }));
        }
        Ok(all)
    }
}

impl TieArg {
    fn rule(self) -> TieRule {
        match self {
            Self::Leader => TieRule::Leader,
            Self::Draw => TieRule::Draw,
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let options = RunOptions { trials: args.trials, seed: args.seed, threads: args.threads };
    if let Some(folder) = &args.figures {
        return figures(args, folder, options);
    }
    let model = args.model()?;
    if let Some(file) = &args.votes {
        whole_file::write(file, simulated_log(&model, args.trials, args.seed)?.as_bytes())?;
        return Ok(Done::Yes);
    }
    let found = simulate(&model, &args.contenders(&model)?, options)?;
    if args.tell.json {
        terminal::print(&format!("{:#}\n", simulation::document(&model, &found)))?;
    } else if !args.tell.quiet {
        terminal::print(&simulation::text(&model, &found))?;
    }
    Ok(Done::Yes)
}

fn figures(args: &Args, folder: &PathBuf, options: RunOptions) -> anyhow::Result<Done> {
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot make the folder", folder.display()))?;
    let mut written = Vec::new();
    for varied in Sweep::ALL {
        let path = simulation::write_figure(&Sweep::new(varied, options)?, folder, &PlotOptions::default())?;
        written.push(path.to_string_lossy().replace('\\', "/"));
    }
    if args.tell.json {
        terminal::print(&format!("{:#}\n", json!({ "plots": written })))?;
    } else if !args.tell.quiet {
        terminal::print(&written.iter().map(|p| format!("{p}, .png and .csv\n")).collect::<String>())?;
    }
    Ok(Done::Yes)
}
