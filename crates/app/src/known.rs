//! Calibrations that the program has, by the name of an engine: what its scores meant in games that others published.
//!
//! The table is `data/atlas/engines.tsv`, made by `benches/atlas.py`. See `docs/atlas.md` for what it is worth.

use std::collections::BTreeSet;
use std::path::Path;

use evalcurve_calibration::Joint;
use evalcurve_fit::calibration::{
    Calibration, Curve, CurveBin, Dates, FittedModel, MatePolicy, Mates, Model, ModelKind, Provenance,
};
use evalcurve_records::sample::alias::matches_glob;
use evalcurve_words::language::Text;
use evalcurve_words::text::folded;
use evalcurve_words::{key, text};

use crate::unmatched;

/// Before a name that could also be that of a file.
pub const KNOWN: &str = "known:";

const TABLE: &str = evalcurve_data::ENGINES;
/// Where the calibration says what it is; the digest of its samples finds the row again.
const SOURCE: &str = "the atlas of evalcurve, by `benches/atlas.py`";
/// Parameters of the joint model, the order of its covariance.
const PARAMETERS: usize = 9;

/// An engine whose calibration the program has: a row of the table.
#[derive(Debug, Clone)]
pub struct Known {
    cells: Vec<&'static str>,
}

impl Known {
    /// A cell by its column; empty if there is none.
    fn cell(&self, column: &str) -> &'static str {
        let head = TABLE.lines().next().unwrap_or_default();
        let at = head.split('\t').position(|name| name == column);
        at.and_then(|at| self.cells.get(at)).copied().unwrap_or_default()
    }

    fn number<T: std::str::FromStr>(&self, column: &str) -> Option<T> {
        self.cell(column).parse().ok()
    }

    fn list(&self, column: &str) -> impl Iterator<Item = &'static str> {
        self.cell(column).split(';').filter(|word| !word.is_empty())
    }

    /// Name of the engine, or of an engine and a year.
    pub fn name(&self) -> &'static str {
        self.cell("name")
    }

    /// All names that it is found by.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.list("also").chain(self.list("stands_for")).chain([self.name()])
    }

    /// First and last year of the games.
    pub fn years(&self) -> String {
        let [first, last] = ["first", "last"].map(|column| self.cell(column).get(..4).unwrap_or_default());
        if first == last { first.to_owned() } else { format!("{first}–{last}") }
    }

    /// Number of its games.
    pub fn games(&self) -> u64 {
        self.number("games").unwrap_or_default()
    }

    /// Whether the engine plays chess, else shogi.
    pub fn is_chess(&self) -> bool {
        self.cell("game") == "chess"
    }

    /// Where the games were played.
    pub fn tournament(&self) -> &'static str {
        if self.is_chess() { "TCEC" } else { "floodgate" }
    }

    /// The standard deviation of the logarithm of the constant between events, beyond chance.
    pub fn elsewhere(&self) -> f64 {
        self.number("elsewhere").unwrap_or_default()
    }

    /// The row as a calibration; `None` if the table is damaged, which a test excludes.
    pub fn calibration(&self) -> Option<Calibration> {
        let joint = Joint {
            w1: self.number("w1")?,
            w2: self.number("w2")?,
            w3: self.number("w3")?,
            lapse: self.number("lapse")?,
            drawn: self.number("drawn")?,
            draw_width: self.number("draw_width")?,
            optimism: self.number("optimism")?,
            strength: self.number("strength")?,
            field_w1: self.number("field_w1")?,
        };
        let mut covariance = vec![vec![0.0; PARAMETERS]; PARAMETERS];
        let mut upper = self.cell("covariance").split(' ').map(str::parse::<f64>);
        for (row, column) in (0..PARAMETERS).flat_map(|row| (row..PARAMETERS).map(move |column| (row, column))) {
            let value = upper.next()?.ok()?;
            covariance[row][column] = value;
            covariance[column][row] = value;
        }
        let fit = FittedModel {
            model: Model::Joint(joint),
            covariance: Some(covariance),
            samples: self.number("samples"),
            games: self.number("fitted_games"),
        };
        let mut calibration = Calibration::from_models(self.name(), [(ModelKind::Joint, fit)], ModelKind::Joint)?;
        calibration.engine.aliases = self.list("also").map(str::to_owned).collect();
        let doubt = |word: &str| serde_json::from_value(word.into()).ok();
        calibration.doubts = self.list("doubts").map(doubt).collect::<Option<_>>()?;
        calibration.mates = Some(Mates {
            policy: MatePolicy::Exclude,
            clip_cp: None,
            threshold_cp: self.number("mate_threshold"),
            beyond: 0,
            wrong_sided: 0,
        });
        calibration.curve = Some(curve(self.cell("curve"))?);
        calibration.provenance = Some(Provenance {
            inputs: vec![self.tournament().to_owned()],
            digest: Some(self.cell("digest").to_owned()),
            games: Some(self.games()),
            samples: self.number("samples"),
            dates: Some(Dates { first: self.cell("first").to_owned(), last: self.cell("last").to_owned() }),
            opponents: Vec::new(),
            time_controls: self.cell("controls").split_whitespace().map(str::to_owned).collect(),
            terminations: [].into(),
            source: Some(SOURCE.to_owned()),
        });
        Some(calibration)
    }

    /// Of which games it is, and how far it can be used elsewhere.
    pub fn note(&self) -> Text {
        let (name, games, tournament, years) = (self.name(), self.games(), self.tournament(), self.years());
        let (controls, builds) = (self.cell("controls").replace(' ', ", "), self.number("builds").unwrap_or(1_u64));
        let percent = 100.0 * libm::expm1(1.96 * self.elsewhere());
        let of = match (builds, self.list("stands_for").next()) {
            (2.., Some(_)) => {
                let releases: Vec<&str> = self.list("stands_for").filter(|word| word.is_ascii()).collect();
                let releases = releases.join(", ");
                text!("{name}: all {builds} builds of that year together, which also stand for {releases}")
            }
            (2.., None) => text!("{name}: all {builds} builds of that year together"),
            _ => Text::same(name),
        };
        text!(
            "{of}: known from {games} games of {tournament} of {years} ({controls}), not from games of your own; in \
             other events the scale may be {percent:.0}% off"
        )
    }
}

/// The curve of `WIDTH BIN WINS DRAWS LOSSES SUM;BIN …`.
fn curve(cell: &str) -> Option<Curve> {
    let (bin_cp, bins) = cell.split_once(' ')?;
    let bin_cp: u64 = bin_cp.parse().ok()?;
    let one = |bin: &str| {
        let numbers: Vec<i64> = bin.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [bin, wins, draws, losses, score_sum] = numbers[..] else { return None };
        let [wins, draws, losses] = [wins, draws, losses].map(i64::unsigned_abs);
        Some(CurveBin { bin, low_cp: bin * bin_cp as i64, wins, draws, losses, score_sum })
    };
    Some(Curve { bin_cp, bins: bins.split(';').map(one).collect::<Option<_>>()? })
}

/// All rows, by game and name.
fn rows() -> impl Iterator<Item = Known> {
    TABLE.lines().skip(1).map(|line| Known { cells: line.split('\t').collect() })
}

/// A name without case, width, spaces, hyphens and underscores, and without the mark of a known name.
fn plain(name: &str) -> String {
    let name = folded(name.strip_prefix(KNOWN).unwrap_or(name));
    name.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_')).collect()
}

/// The known engine of that name; a release that no event had is that of the builds of its year.
pub fn find(name: &str) -> Option<Known> {
    let wanted = plain(name);
    let is = |word: &'static str| plain(word) == wanted;
    let own = |known: &Known| is(known.name()) || known.list("also").any(is);
    rows().find(own).or_else(|| rows().find(|known| known.list("stands_for").any(is)))
}

/// The known engines whose names match a glob; all with none.
///
/// # Errors
/// The nearest names if none matches.
pub fn matching(glob: Option<&str>) -> Result<Vec<Known>, Text> {
    let Some(glob) = glob else { return Ok(rows().collect()) };
    let glob = glob.strip_prefix(KNOWN).unwrap_or(glob);
    let matches = |name: &str| matches_glob(glob, name);
    let mut found: Vec<Known> = rows().filter(|known| known.names().any(matches)).collect();
    found.extend(find(glob).filter(|_| found.is_empty()));
    if found.is_empty() { Err(not_known(glob)) } else { Ok(found) }
}

/// That no engine of that name is known, with the nearest names.
pub(crate) fn not_known(name: &str) -> Text {
    let name = name.strip_prefix(KNOWN).unwrap_or(name);
    let all: Vec<Known> = rows().collect();
    let names: BTreeSet<&str> = all.iter().flat_map(Known::names).collect();
    let nearest = unmatched(key!("known engine"), name, &names).unwrap_or_default();
    text!("{nearest}; `evalcurve constant --known` lists them")
}

/// Whether a path is the name of a known engine: nothing is there, and it has the mark or is a name.
pub(crate) fn is_name(path: &Path) -> bool {
    path.to_str().is_some_and(|name| name.starts_with(KNOWN))
        || (path.extension().is_none_or(|e| !e.eq_ignore_ascii_case("json"))
            && path.symlink_metadata().is_err()
            && path.to_str().and_then(find).is_some())
}

/// The row that a calibration is made of; `None` for a calibration of other games.
pub fn row(calibration: &Calibration) -> Option<Known> {
    let provenance = calibration.provenance.as_ref().filter(|p| p.source.as_deref() == Some(SOURCE))?;
    rows().find(|known| provenance.digest.as_deref() == Some(known.cell("digest")))
}

/// What to say of the calibrations that are known and not one's own.
pub fn notes<'a>(calibrations: impl IntoIterator<Item = &'a Calibration>) -> Vec<Text> {
    calibrations.into_iter().filter_map(row).map(|known| known.note()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_calibration_that_a_file_could_hold() {
        let mut names = BTreeSet::new();
        for known in rows() {
            let calibration = known.calibration().unwrap_or_else(|| panic!("{}", known.name()));
            let json = calibration.to_json().unwrap();
            assert_eq!(Calibration::from_json(&json, known.name()).unwrap(), calibration, "{}", known.name());
            assert_eq!(row(&calibration).unwrap().name(), known.name());
            assert!(names.insert(plain(known.name())), "{} twice", known.name());
            assert!(known.games() > 0 && known.elsewhere() > 0.0 && known.years().starts_with("20"));
        }
        assert!(names.len() > 200, "{}", names.len());
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        for name in ["Stockfish 2024", "known:stockfish_2024", "ｓｔｏｃｋｆｉｓｈ２０２４", "ストックフィッシュ 2024"]
        {
            assert_eq!(find(name).unwrap().name(), "Stockfish 2024", "{name}");
        }
        // a release without events of its own
        let release = find("Stockfish 17").unwrap();
        assert_eq!(release.name(), "Stockfish 2024");
        assert!(release.note().to_string().contains("stand for Stockfish 16.1, Stockfish 17"), "{}", release.note());
        assert!(find("Stockfish").is_none() && find("").is_none());
        let why = not_known("Stokfish 2024").to_string();
        assert!(why.contains("Stockfish 2024"), "{why}");
        assert!(matching(Some("Houdini*")).unwrap().len() > 3);
        assert!(matching(Some("no such*")).is_err());
    }
}
