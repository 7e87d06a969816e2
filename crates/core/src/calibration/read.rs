//! Reads calibration files strictly: nothing missing, nothing unknown, nothing that contradicts itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::error::CalibrationError;
use super::file::*;
use super::json;
use super::model;
use super::node::Node;
use crate::types::Termination;

type Result<T> = std::result::Result<T, CalibrationError>;

/// No calibration file comes near this size; another file given by mistake may.
const MAX_BYTES: u64 = 64 << 20;

impl Calibration {
    /// Reads a calibration file.
    ///
    /// # Errors
    /// [`CalibrationError::Io`] where the file cannot be read, else as [`Calibration::from_json`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let io = |source| CalibrationError::Io {
            action: "read",
            path: path.to_owned(),
            source,
            remedy: "give the name of a file that `evalcurve calibrate` wrote",
        };
        if fs::metadata(path).map_err(io)?.len() > MAX_BYTES {
            return Err(io(std::io::Error::other("larger than 64 MiB, so no calibration file")));
        }
        Self::from_json(&fs::read_to_string(path).map_err(io)?, &path.display().to_string())
    }

    /// Reads the text of a calibration file; `source_name` stands in front of every error. A byte order mark is allowed.
    ///
    /// # Errors
    /// [`CalibrationError::Syntax`] where the text is no JSON, names a field twice or holds a number that is not
    /// finite; [`CalibrationError::Field`] for another format or version, a missing or unknown field, a wrong
    /// type, and values that cannot be: w1 of 0 or less, a covariance that is not symmetric and positive, a
    /// chosen model that differs from its entry in `models`. Both name the JSON path.
    pub fn from_json(text: &str, source_name: &str) -> Result<Self> {
        let tree = json::parse(text, source_name)?;
        calibration(&Node::root(source_name, &tree))
    }
}

fn calibration(root: &Node) -> Result<Calibration> {
    // format and version come first: the fields of another version are not this version's business
    let format = root.get("format")?;
    if format.text()? != FORMAT {
        return Err(format.error(
            format!("the format is {:?}, not {FORMAT:?}", format.text()?),
            "give a file that `evalcurve calibrate` wrote",
        ));
    }
    let version = root.get("version")?;
    if version.count()? != u64::from(VERSION) {
        return Err(version.error(
            format!("version {} of the format is unknown here, only {VERSION} is known", version.count()?),
            "use the evalcurve that wrote the file, or recreate the file with this one",
        ));
    }
    let [_, _, e, unit, chosen, fitted, standard, counts, mate, seen, drawn, origin, proper, wrote] = root.fields([
        "format",
        "version",
        "engine",
        "score_unit",
        "model",
        "models",
        "standardization",
        "curve",
        "mates",
        "scores",
        "sampling",
        "provenance",
        "proper_scores",
        "tool",
    ])?;
    let models = model::fitted(&fitted)?;
    Ok(Calibration {
        engine: engine(&e)?,
        score_unit: unit.word(&[("centipawn", ScoreUnit::Centipawn)])?,
        model: model::chosen(&chosen, &models)?,
        models,
        standardization: standard.optional(standardization)?,
        curve: counts.optional(curve)?,
        mates: mate.optional(mates)?,
        scores: seen.optional(scores)?,
        sampling: drawn.optional(sampling)?,
        provenance: origin.optional(provenance)?,
        proper_scores: proper.optional(proper_scores)?,
        tool: tool(&wrote)?,
    })
}

fn engine(node: &Node) -> Result<Engine> {
    let [name, aliases] = node.fields(["name", "aliases"])?;
    Ok(Engine { name: name.name()?, aliases: aliases.list(Node::name)? })
}

fn standardization(node: &Node) -> Result<Standardization> {
    let [mean, sd, samples] = node.fields(["mean", "sd", "samples"])?;
    Ok(Standardization { mean: mean.number()?, sd: sd.positive()?, samples: samples.count()? })
}

fn curve(node: &Node) -> Result<Curve> {
    let [width, bins] = node.fields(["bin_cp", "bins"])?;
    let bin_cp = width.count_from(1)?;
    let mut read: Vec<CurveBin> = Vec::new();
    for item in bins.items()? {
        let bin = curve_bin(&item, bin_cp)?;
        if read.last().is_some_and(|last| last.bin >= bin.bin) {
            return Err(item.wrong(format!("bin {} does not follow in ascending order", bin.bin)));
        }
        read.push(bin);
    }
    Ok(Curve { bin_cp, bins: read })
}

fn curve_bin(node: &Node, bin_cp: u64) -> Result<CurveBin> {
    let [bin, low_cp, wins, draws, losses, score_sum] =
        node.fields(["bin", "low_cp", "wins", "draws", "losses", "score_sum"])?;
    let read = CurveBin {
        bin: bin.integer()?,
        low_cp: low_cp.integer()?,
        wins: wins.count()?,
        draws: draws.count()?,
        losses: losses.count()?,
        score_sum: score_sum.integer()?,
    };
    if i128::from(read.low_cp) != i128::from(read.bin) * i128::from(bin_cp) {
        return Err(low_cp.wrong(format!("bin {} of width {bin_cp} does not begin at {}", read.bin, read.low_cp)));
    }
    let count = i128::from(read.wins) + i128::from(read.draws) + i128::from(read.losses);
    // in f64, with room for its rounding: the products may pass 128 bits
    let (sum, low, n) = (read.score_sum as f64, read.low_cp as f64, count as f64);
    let slack = (sum.abs() + (n * low).abs()) * 1e-9;
    if sum < n * low - slack || sum > n * (low + bin_cp as f64) + slack {
        return Err(score_sum.wrong(format!(
            "{count} scores from {} to below {} cannot sum to {}",
            read.low_cp,
            i128::from(read.low_cp) + i128::from(bin_cp),
            read.score_sum
        )));
    }
    Ok(read)
}

fn mates(node: &Node) -> Result<Mates> {
    let [policy, clip, threshold, beyond, wrong] =
        node.fields(["policy", "clip_cp", "threshold_cp", "beyond", "wrong_sided"])?;
    let mates = Mates {
        policy: policy.word(&[
            ("exclude", MatePolicy::Exclude),
            ("clip", MatePolicy::Clip),
            ("keep", MatePolicy::Keep),
        ])?,
        clip_cp: clip.optional(Node::positive)?,
        threshold_cp: threshold.optional(Node::positive)?,
        beyond: beyond.count()?,
        wrong_sided: wrong.count()?,
    };
    if (mates.policy == MatePolicy::Clip) != mates.clip_cp.is_some() {
        return Err(clip.wrong("clip_cp stands for a mate where policy is clip, and is null elsewhere"));
    }
    if mates.wrong_sided > mates.beyond {
        return Err(wrong.wrong(format!("{} wrong-sided mates among {}", mates.wrong_sided, mates.beyond)));
    }
    Ok(mates)
}

fn scores(node: &Node) -> Result<ScoreRange> {
    let [min, max, left] = node.fields(["min_cp", "max_cp", "largest_cp_left"])?;
    let range =
        ScoreRange { min_cp: min.number()?, max_cp: max.number()?, largest_cp_left: left.optional(Node::number)? };
    if range.min_cp > range.max_cp {
        return Err(min.wrong(format!("the smallest score {} is above the largest {}", range.min_cp, range.max_cp)));
    }
    if range.largest_cp_left.is_some_and(|x| x < 0.0) {
        return Err(left.wrong("an absolute value is below 0"));
    }
    Ok(range)
}

fn sampling(node: &Node) -> Result<Sampling> {
    let [from_ply, window, per_window, seed, draws, min_samples, filters] =
        node.fields(["from_ply", "window", "per_window", "seed", "draws", "min_samples", "filters"])?;
    Ok(Sampling {
        from_ply: from_ply.count()?,
        window: window.count_from(1)?,
        per_window: per_window.count_from(1)?,
        seed: seed.count()?,
        draws: draws.word(&[("half", Draws::Half), ("drop", Draws::Drop)])?,
        min_samples: min_samples.count()?,
        filters: filters.list(Node::name)?,
    })
}

fn provenance(node: &Node) -> Result<Provenance> {
    let [inputs, digest, games, samples, dates, opponents, time_controls, terminations, source] = node.fields([
        "inputs",
        "digest",
        "games",
        "samples",
        "dates",
        "opponents",
        "time_controls",
        "terminations",
        "source",
    ])?;
    let mut ends = BTreeMap::new();
    for (word, entry) in terminations.members()? {
        if Termination::parse(word).is_none() {
            let known = Termination::ALL.map(Termination::as_str).join(", ");
            return Err(entry.error("no game ends by this word", format!("remove it, or correct it to one of {known}")));
        }
        ends.insert(word.to_owned(), entry.count()?);
    }
    Ok(Provenance {
        inputs: inputs.list(Node::name)?,
        digest: digest.optional(sha256)?,
        games: games.optional(Node::count)?,
        samples: samples.optional(Node::count)?,
        dates: dates.optional(|days| {
            let [first, last] = days.fields(["first", "last"])?;
            let read = Dates { first: day(&first)?, last: day(&last)? };
            if read.first > read.last {
                return Err(first.wrong(format!("the first day {} is after the last {}", read.first, read.last)));
            }
            Ok(read)
        })?,
        opponents: opponents.list(|item| {
            let [name, games] = item.fields(["name", "games"])?;
            Ok(Opponent { name: name.name()?, games: games.count()? })
        })?,
        time_controls: time_controls.list(Node::name)?,
        terminations: ends,
        source: source.optional(Node::name)?,
    })
}

fn sha256(node: &Node) -> Result<String> {
    let text = node.text()?;
    if text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        Ok(text.to_owned())
    } else {
        Err(node.wrong(format!("{text:?} is not 64 lower-case hexadecimal digits")))
    }
}

fn day(node: &Node) -> Result<String> {
    let text = node.text()?;
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() });
    if shaped { Ok(text.to_owned()) } else { Err(node.wrong(format!("{text:?} is not a day as 2018-05-25"))) }
}

fn estimate(node: &Node) -> Result<Estimate> {
    let [value, interval] = node.fields(["value", "interval"])?;
    let read = Estimate { value: value.number()?, interval: interval.optional(|i| i.pair(Node::number))? };
    match read.interval {
        Some([low, high]) if low > high => Err(interval.wrong(format!("the lower end {low} is above {high}"))),
        _ => Ok(read),
    }
}

fn proper_scores(node: &Node) -> Result<ProperScores> {
    let [
        folds,
        samples,
        log_loss,
        brier,
        miscalibration,
        discrimination,
        uncertainty,
        slope,
        intercept,
        ece,
        z,
        others,
    ] = node.fields([
        "folds",
        "samples",
        "log_loss",
        "brier",
        "miscalibration",
        "discrimination",
        "uncertainty",
        "slope",
        "intercept",
        "ece",
        "spiegelhalter_z",
        "baselines",
    ])?;
    let mut baselines = BTreeMap::new();
    for (name, entry) in others.members()? {
        let Some(kind) = ModelKind::parse(name).filter(|k| k.is_baseline()) else {
            let known = ModelKind::baselines().map(ModelKind::as_str).collect::<Vec<_>>().join(", ");
            return Err(entry.error(
                "no baseline of this name is known here",
                format!("remove it, or correct its name to one of {known}"),
            ));
        };
        baselines.insert(kind, estimate(&entry)?);
    }
    Ok(ProperScores {
        folds: folds.count_from(2)?,
        samples: samples.count()?,
        log_loss: estimate(&log_loss)?,
        brier: estimate(&brier)?,
        miscalibration: miscalibration.optional(estimate)?,
        discrimination: discrimination.optional(estimate)?,
        uncertainty: uncertainty.optional(estimate)?,
        slope: slope.optional(estimate)?,
        intercept: intercept.optional(estimate)?,
        ece: ece.optional(estimate)?,
        spiegelhalter_z: z.optional(Node::number)?,
        baselines,
    })
}

fn tool(node: &Node) -> Result<Tool> {
    let [name, version] = node.fields(["name", "version"])?;
    Ok(Tool { name: name.name()?, version: version.name()? })
}
