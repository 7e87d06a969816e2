//! Rules of the calibration file that its types do not express.

use crate::file::*;
use crate::fitted;
use crate::located::{Checked, wrong};

fn positive(path: &str, x: f64) -> Checked {
    if x > 0.0 { Ok(()) } else { wrong(path, format!("expected a number above 0, found {x:?}")) }
}

fn at_least(path: &str, x: u64, least: u64) -> Checked {
    if x >= least { Ok(()) } else { wrong(path, format!("expected an integer from {least}, found {x}")) }
}

fn not_empty(path: &str, text: &str) -> Checked {
    if text.is_empty() { wrong(path, "the text is empty") } else { Ok(()) }
}

fn all_not_empty(path: &str, texts: &[String]) -> Checked {
    texts.iter().enumerate().try_for_each(|(i, text)| not_empty(&format!("{path}[{i}]"), text))
}

impl Calibration {
    /// Checks everything that the types do not express. The first violation is the error.
    pub(crate) fn check(&self) -> Checked {
        not_empty(".engine.name", &self.engine.name)?;
        all_not_empty(".engine.aliases", &self.engine.aliases)?;
        fitted::check(&self.model, &self.models)?;
        if let Some(standardization) = &self.standardization {
            positive(".standardization.sd", standardization.sd)?;
        }
        self.field.iter().try_for_each(Field::check)?;
        self.curve.iter().try_for_each(Curve::check)?;
        self.mates.iter().try_for_each(Mates::check)?;
        self.scores.iter().try_for_each(ScoreRange::check)?;
        if let Some(sampling) = &self.sampling {
            at_least(".sampling.window", sampling.window, 1)?;
            at_least(".sampling.per_window", sampling.per_window, 1)?;
            all_not_empty(".sampling.filters", &sampling.filters)?;
        }
        self.provenance.iter().try_for_each(Provenance::check)?;
        self.proper_scores.iter().try_for_each(ProperScores::check)?;
        not_empty(".tool.name", &self.tool.name)?;
        not_empty(".tool.version", &self.tool.version)
    }
}

impl Field {
    fn check(&self) -> Checked {
        let ratings = [("own_rating", self.own_rating), ("opponents_rating", self.opponents_rating)];
        for (name, rating) in ratings {
            if rating.is_some() != (self.rated_samples > 0) {
                let problem = format!("a mean rating of {} samples; give it with samples only", self.rated_samples);
                return wrong(format!(".field.{name}"), problem);
            }
        }
        Ok(())
    }
}

impl Curve {
    fn check(&self) -> Checked {
        at_least(".curve.bin_cp", self.bin_cp, 1)?;
        for (i, bin) in self.bins.iter().enumerate() {
            let at = format!(".curve.bins[{i}]");
            bin.check(&at, self.bin_cp)?;
            if i > 0 && self.bins[i - 1].bin >= bin.bin {
                return wrong(at.as_str(), format!("bin {} does not follow in ascending order", bin.bin));
            }
        }
        Ok(())
    }
}

impl CurveBin {
    fn check(&self, at: &str, bin_cp: u64) -> Checked {
        let (bin, low_cp) = (self.bin, self.low_cp);
        if i128::from(low_cp) != i128::from(bin) * i128::from(bin_cp) {
            return wrong(format!("{at}.low_cp"), format!("bin {bin} of width {bin_cp} does not begin at {low_cp}"));
        }
        let count = i128::from(self.wins) + i128::from(self.draws) + i128::from(self.losses);
        // in f64 with slack for its rounding, since the products may exceed 128 bits
        let (sum, low, n) = (self.score_sum as f64, low_cp as f64, count as f64);
        let slack = (sum.abs() + (n * low).abs()) * 1e-9;
        if sum < n * low - slack || sum > n * (low + bin_cp as f64) + slack {
            let (end, sum) = (i128::from(low_cp) + i128::from(bin_cp), self.score_sum);
            let problem = format!("{count} scores from {low_cp} to below {end} cannot sum to {sum}");
            return wrong(format!("{at}.score_sum"), problem);
        }
        Ok(())
    }
}

impl Mates {
    fn check(&self) -> Checked {
        self.clip_cp.iter().try_for_each(|x| positive(".mates.clip_cp", *x))?;
        self.threshold_cp.iter().try_for_each(|x| positive(".mates.threshold_cp", *x))?;
        if (self.policy == MatePolicy::Clip) != self.clip_cp.is_some() {
            return wrong(".mates.clip_cp", "expected a number if the policy is clip, and null otherwise");
        }
        if self.wrong_sided > self.beyond {
            let problem = format!("{} wrong-sided mates among {}", self.wrong_sided, self.beyond);
            return wrong(".mates.wrong_sided", problem);
        }
        Ok(())
    }
}

impl ScoreRange {
    fn check(&self) -> Checked {
        if self.min_cp > self.max_cp {
            let problem = format!("the smallest score {} is above the largest {}", self.min_cp, self.max_cp);
            return wrong(".scores.min_cp", problem);
        }
        match self.largest_cp_left {
            Some(x) if x < 0.0 => wrong(".scores.largest_cp_left", format!("the absolute value {x} is below 0")),
            _ => Ok(()),
        }
    }
}

impl Provenance {
    fn check(&self) -> Checked {
        all_not_empty(".provenance.inputs", &self.inputs)?;
        all_not_empty(".provenance.time_controls", &self.time_controls)?;
        for (i, opponent) in self.opponents.iter().enumerate() {
            not_empty(&format!(".provenance.opponents[{i}].name"), &opponent.name)?;
        }
        self.source.iter().try_for_each(|source| not_empty(".provenance.source", source))?;
        if let Some(digest) = &self.digest
            && !(digest.len() == 64 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
        {
            return wrong(".provenance.digest", format!("{digest:?} is not 64 lower-case hexadecimal digits"));
        }
        let Some(Dates { first, last }) = &self.dates else { return Ok(()) };
        day(".provenance.dates.first", first)?;
        day(".provenance.dates.last", last)?;
        if first > last {
            return wrong(".provenance.dates.first", format!("the first day {first} is after the last {last}"));
        }
        Ok(())
    }
}

fn day(path: &str, text: &str) -> Checked {
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() });
    if shaped { Ok(()) } else { wrong(path, format!("{text:?} is not a day such as 2018-05-25")) }
}

impl ProperScores {
    fn check(&self) -> Checked {
        at_least(".proper_scores.folds", self.folds, 2)?;
        let always = [("log_loss", Some(self.log_loss)), ("brier", Some(self.brier))];
        let sometimes = [
            ("miscalibration", self.miscalibration),
            ("discrimination", self.discrimination),
            ("uncertainty", self.uncertainty),
            ("slope", self.slope),
            ("intercept", self.intercept),
            ("ece", self.ece),
        ];
        let named = always.into_iter().chain(sometimes).map(|(name, estimate)| (name.to_owned(), estimate));
        let baselines = self.baselines.iter().map(|(kind, estimate)| (format!("baselines.{kind}"), Some(*estimate)));
        for (name, estimate) in named.chain(baselines) {
            if let Some([low, high]) = estimate.and_then(|e| e.interval)
                && low > high
            {
                let path = format!(".proper_scores.{name}.interval");
                return wrong(path.as_str(), format!("the lower end {low} is above {high}"));
            }
        }
        Ok(())
    }
}
