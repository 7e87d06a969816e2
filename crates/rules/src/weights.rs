//! Learned weights as a file: how much the judgement of each voter counts, by whose preferences, and from which votes.

use std::collections::HashSet;
use std::path::Path;

use evalcurve_calibration::file::Tool;
use evalcurve_words::text::plain_types;
use evalcurve_words::whole_file::read_text;
use serde::{Deserialize, Serialize};

use super::{PhaseWeight, Rule};

/// The value of `format` in every file.
pub const FORMAT: &str = "evalcurve-weights";
/// The version that this program writes and reads.
pub const VERSION: u32 = 1;
pub const UNIT: &str = "share of what the rule adds up, mean 1";

/// A file of learned weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The program that wrote the file.
    pub tool: Tool,
    /// The game, such as `shogi`.
    pub game: String,
    /// [`UNIT`].
    pub unit: String,
    /// The rule that they are for: votes, lists and judgements are of different worth.
    pub rule: Rule,
    /// The voter whose preferences were learned.
    pub teacher: String,
    /// The vote logs that they were learned from.
    pub votes: Learning,
    /// The seed of the parts of cross-validations and of the draws of games for intervals.
    pub seed: u64,
    /// How strongly the weights were drawn towards equal ones, in units of the mean curvature of the loss; `null` for
    /// equal weights, from which the votes did not differ.
    pub shrinkage: Option<f64>,
    pub members: Vec<MemberWeight>,
}

/// What weights were learned from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// The vote logs.
    pub sources: Vec<String>,
    /// A digest of the votes, 16 hexadecimal digits.
    pub digest: String,
    pub games: usize,
    pub decisions: usize,
    /// Number of pairs of moves.
    pub pairs: usize,
}

/// The weight of one voter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberWeight {
    pub name: String,
    /// Its weight, 0 or more.
    pub weight: f64,
    /// The 95% interval of the weight; `null` if it is not known.
    pub interval: Option<[f64; 2]>,
    /// Its weights in later phases of a game, by rising ply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseWeight>,
}

impl Weights {
    /// Reads a file.
    ///
    /// # Errors
    /// A message with the name of the file and a remedy.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = read_text(path).map_err(|error| format!("{name}: cannot read the weights: {error}"))?;
        Self::parse(&text).map_err(|error| format!("{name}: {error}"))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong, where, and a remedy.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            format: String,
            version: u32,
        }
        let syntax = |e: serde_json::Error| {
            let text = plain_types(&e.to_string());
            format!("{text}; write the weights again with `replay`")
        };
        let Version { format, version } = serde_json::from_str(text).map_err(syntax)?;
        if (format.as_str(), version) != (FORMAT, VERSION) {
            return Err(format!(
                "format {format:?} of version {version}; give a file of format {FORMAT:?}, version {VERSION}"
            ));
        }
        let weights: Self = serde_json::from_str(text).map_err(syntax)?;
        weights.problem().map_or(Ok(weights), Err)
    }

    fn problem(&self) -> Option<String> {
        let mut names = HashSet::new();
        for member in &self.members {
            let name = &member.name;
            if !names.insert(name.as_str()) {
                return Some(format!("{name:?} has two weights; remove one of them"));
            }
            let phases = &member.phases;
            let all = std::iter::once(member.weight).chain(phases.iter().map(|phase| phase.weight));
            if let Some(weight) = all.into_iter().find(|w| !(w.is_finite() && *w >= 0.0)) {
                return Some(format!("the weight {weight} of {name:?} is below 0; write a number of 0 or more"));
            }
            if !phases.is_sorted_by(|a, b| a.from_ply < b.from_ply) {
                return Some(format!("the phases of {name:?} are not in the order of their plies; sort them"));
            }
        }
        let none = self.members.iter().all(|member| member.weight == 0.0);
        none.then(|| "no member has a weight above 0; learn the weights again".to_owned())
    }

    /// The weight of a voter.
    pub fn of(&self, name: &str) -> Option<&MemberWeight> {
        self.members.iter().find(|member| member.name == name)
    }

    /// The names of voters without a weight, for a message.
    ///
    /// # Errors
    /// The message, if there is one.
    pub fn check<'a>(&self, voters: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
        let missing: Vec<&str> = voters.into_iter().filter(|name| self.of(name).is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let known: Vec<&str> = self.members.iter().map(|member| member.name.as_str()).collect();
        Err(format!(
            "the weights have none of {}, only of {}; learn them again with these members, or leave others out",
            missing.join(", "),
            known.join(", ")
        ))
    }

    /// The text of the file.
    ///
    /// # Errors
    /// Never with these types; serde's signature requires a result.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Weights {
        let phases = vec![PhaseWeight { from_ply: 40, weight: 0.5 }, PhaseWeight { from_ply: 80, weight: 0.0 }];
        let member = |name: &str, weight, phases| MemberWeight {
            name: name.to_owned(),
            weight,
            interval: Some([0.0, 2.0 * weight]),
            phases,
        };
        Weights {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: Tool::current(),
            game: "shogi".to_owned(),
            unit: UNIT.to_owned(),
            rule: Rule::CrossExamination,
            teacher: "GPSShogi".to_owned(),
            votes: Learning {
                sources: vec!["votes.jsonl".to_owned()],
                digest: "0".repeat(16),
                games: 3,
                decisions: 9,
                pairs: 12,
            },
            seed: 1,
            shrinkage: Some(0.1),
            members: vec![member("A", 1.5, phases), member("B", 0.5, Vec::new())],
        }
    }

    #[test]
    fn files_are_read_as_written_and_checked() {
        let text = file().to_json().unwrap();
        assert_eq!(Weights::parse(&text), Ok(file()));
        let problem = |from: &str, to: &str| Weights::parse(&text.replacen(from, to, 1)).unwrap_err();
        for (from, to, says) in [
            (FORMAT, "evalcurve-votes", "give a file of format \"evalcurve-weights\""),
            ("\"version\": 1", "\"version\": 2", "version 2"),
            ("\"seed\"", "\"sead\"", "unknown field 'sead'"),
            ("\"weight\": 1.5", "\"weight\": -1.5", "the weight -1.5 of \"A\" is below 0"),
            ("\"name\": \"B\"", "\"name\": \"A\"", "\"A\" has two weights"),
            ("\"from_ply\": 40", "\"from_ply\": 80", "not in the order of their plies"),
            ("{", "", "write the weights again"),
        ] {
            assert!(problem(from, to).contains(says), "{}", problem(from, to));
        }
        let none = text.replace("\"weight\": 1.5", "\"weight\": 0").replace("\"weight\": 0.5", "\"weight\": 0");
        assert!(Weights::parse(&none).unwrap_err().starts_with("no member has a weight above 0"));
        assert_eq!(file().check(["B", "A"]), Ok(()));
        assert!(file().check(["A", "C"]).unwrap_err().contains("none of C, only of A, B;"));
    }
}
