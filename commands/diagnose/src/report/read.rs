//! What was read, in counts that add up.

use evalcurve_app::report::model::Block;
use evalcurve_app::report::text::{accounts, files, thousands};
use evalcurve_figures::PlotError;
use evalcurve_fit::calibration::MatePolicy;
use evalcurve_words::{key, say};

use super::{Report, Section};

pub(super) const SECTION: Section =
    Section { id: "read", words: key!("Samples"), title: key!("What was read"), answers, values: |_| None, body };

fn answers(report: &Report<'_>) -> Vec<String> {
    let base = &report.diagnosis.base;
    let (samples, games) = (thousands(base.samples), thousands(base.games));
    vec![say!(
        report.language,
        "{samples} of {games} games; {} of {} engines calibrated",
        base.calibrated,
        base.engines
    )]
}

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let Report { reading, options, language, .. } = *report;
    let base = &report.diagnosis.base;
    let games = report.word(" games");
    let mut items = vec![accounts(reading.games_read, games, reading.games_used, &reading.games_skipped, language)];
    items.extend(files(reading, report.word(" files"), language));
    let (drawn, fitted, mates) = (thousands(base.samples), thousands(base.fitted), thousands(base.mates_left_out));
    items.push(say!(language, "{drawn} samples drawn = {fitted} in the fits + {mates} mates left out"));
    let mates = match options.mate_policy {
        MatePolicy::Exclude => report.word("are left out").to_owned(),
        MatePolicy::Clip => say!(language, "count as ±{}", options.clip_cp),
        MatePolicy::Keep => report.word("are kept as they are").to_owned(),
    };
    let (window, from, least) = (options.sampling.window, options.sampling.from_ply, options.min_samples);
    items.push(say!(
        language,
        "one sample per window of {window} plies and side, from ply {from} on; mates {mates}; engines with fewer than \
         {least} samples are not calibrated"
    ));
    items.extend(report.notes.iter().map(|note| note.text(language).to_owned()));
    Ok(vec![Block::List(items.into_iter().map(|item| (String::new(), item)).collect())])
}
