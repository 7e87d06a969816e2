//! `evalcurve evaluate`

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::bail;
use serde_json::{Value, json};

use super::files::{calibration, is_calibration, shown};
use super::load::{load, unmatched};
use super::options::{InputArgs, OutputArgs};
use super::{Done, terminal};
use crate::calibration::Calibration;
use crate::diagnose::evaluation::{Evaluation, evaluate};
use crate::language::{Language, Text};
use crate::record::find::expand_globs;
use crate::report::json::{about_records, rounded};
use crate::report::text;
use crate::validate::{ScoreOptions, ValidateError};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve evaluate evalcurve-out/Gikou.json new-games/
  evalcurve evaluate evalcurve-out/*.json new-games/ --since 2017-01-01 --json

Judges calibrations on games that they were not made from, with the scores of `diagnose`. The PATHs that end in .json \
are the calibrations; the options of mates are those of the files. A slope below 1 means that the win rates are too \
bold, an intercept below 0 that they are too high.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let (files, paths): (Vec<PathBuf>, Vec<PathBuf>) =
        expand_globs(&args.input.paths)?.into_iter().partition(|path| is_calibration(path));
    let in_memory = !super::embed::given().unwrap_or_default().tables.is_empty();
    if files.is_empty() {
        bail!(crate::text!(
            "no calibration: give the file of an engine, ENGINE.json, before the games",
            "較正ファイルがありません: エンジンのファイル(エンジン名.json)を対局の前に書いてください"
        ));
    }
    if paths.is_empty() && !in_memory {
        bail!(crate::text!(
            "no games: give records or a sample table after the calibration",
            "対局がありません: 較正ファイルの後に棋譜か標本表を書いてください"
        ));
    }
    let calibrations: Vec<Calibration> = files.iter().map(|path| calibration(path)).collect::<Result<_, _>>()?;
    let input = InputArgs { paths, ..args.input.clone() };
    let mut loaded = load(&input, args.output.quiet)?;
    let options = ScoreOptions { seed: input.seed, resamples: input.fit.bands.max(1) };
    let table = &mut loaded.collected.table;
    let mut found = Vec::with_capacity(calibrations.len());
    for (file, calibration) in files.iter().zip(&calibrations) {
        let name = &calibration.engine.name;
        found.push(evaluate(calibration, table, &options).map_err(|error| {
            let engines = table.engines();
            let names: BTreeSet<&str> = engines.iter().map(|id| table.names.get(*id)).collect();
            let words = match unmatched(("engine of the games", "対局のエンジン"), name, &names) {
                Some(mut nearest) => {
                    nearest.push(&crate::text!(
                        "; rename the engine with --alias 'NAME IN THE GAMES = NAME IN THE FILE'",
                        "。--alias '対局での名前 = ファイルでの名前' で合わせてください"
                    ));
                    nearest
                }
                None if error == ValidateError::Empty => {
                    crate::text!("no samples of {name}", "{name} の標本がありません")
                }
                None => error.words(),
            };
            words.about(&Text::same(shown(file)))
        })?);
    }
    let (report, language) = (&loaded.collected.report, input.language.chosen());
    let document = || {
        let engine = |(file, found): (&PathBuf, &Evaluation)| {
            let mut value = json!(found);
            value["calibration"] = shown(file).into();
            value["verdict"] = found.verdict(Language::English).into();
            value["reliability"] = json!(found.reliability.pools);
            value
        };
        let engines: Vec<Value> = files.iter().zip(&found).map(engine).collect();
        let more = json!({ "format": "evalcurve-evaluation", "version": 1, "seed": input.seed, "engines": engines });
        rounded(about_records(report, &loaded.notes, more))
    };
    let text = || {
        let width = terminal::width();
        let columns = text::evaluations(width, language);
        let head = columns.head();
        format!(
            "{}{}\n{}",
            text::wrap(&text::reading(report, language), width, text::LABEL),
            terminal::heading(head.trim_end()),
            columns.rows(&found)
        )
    };
    args.output.print(document, text)?;
    loaded.warn(args.output.is_quiet());
    Ok(Done::Yes)
}
