//! Results of matches: Elo, intervals, tests between systems, power.

use std::collections::HashSet;

use evalcurve_app::report::json::rounded;
use evalcurve_app::{Error, Input, InputSource, Outcome, Progress};
use evalcurve_words::language::ToText;
use evalcurve_words::{key, text};
use serde_json::{Map, Value, json};

use crate::match_stats::results::Pairing;
use crate::match_stats::results_csv::read_tables;
use crate::match_stats::summary::{Summary, totals};
use crate::match_stats::{
    Entry, Match, Matches, PowerQuestion, RatingGroup, SprtOptions, rating_list, read_matches, summarize,
};
use crate::report::matches;

/// Analyses results that are given, tables of results (.csv) and records.
#[derive(Debug, Clone)]
pub struct MatchStats {
    /// Results besides those of the input.
    pub entries: Vec<Entry>,
    /// Pair successive games of the same players with colours swapped.
    pub paired: bool,
    /// Only matches of this player, in the view of this player.
    pub player: Option<String>,
    /// Only matches against this opponent.
    pub opponent: Option<String>,
    /// Rate all players on one scale.
    pub ratings: bool,
    /// Players whose rating is given, at most one in each group; with any, all players are rated.
    pub anchors: Vec<(String, f64)>,
    /// A sequential test.
    pub sprt: Option<SprtOptions>,
    /// Level of the tests between systems, before correction.
    pub level: f64,
    /// Two win rates to distinguish.
    pub power: Option<PowerQuestion>,
    /// Games of each system, for the power.
    pub games: Option<u64>,
    /// Powers to reach.
    pub targets: Vec<f64>,
}

impl Default for MatchStats {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            paired: false,
            player: None,
            opponent: None,
            ratings: false,
            anchors: Vec::new(),
            sprt: None,
            level: 0.05,
            power: None,
            games: None,
            targets: vec![0.8, 0.9],
        }
    }
}

/// What matches say.
#[derive(Debug, Clone)]
pub struct MatchResults {
    /// What was read of tables.
    pub tables: Option<Matches>,
    /// What was read of records.
    pub records: Option<Matches>,
    /// Of the records of the chosen players, the number of pairs, and of games in none.
    pub paired: [u64; 2],
    /// One row per result or match, and the comparisons.
    pub summary: Summary,
    /// The sums of players with several opponents.
    pub totals: Summary,
    /// All players on one scale, by group, if it was asked for.
    pub ratings: Option<Vec<RatingGroup>>,
}

impl MatchStats {
    /// Reads and analyses.
    ///
    /// # Errors
    /// [`Error`] if the test or an anchor is wrong, a source cannot be read, or no match is of the chosen players.
    pub fn run(&self, input: &Input, _: &Progress) -> Result<Outcome<MatchResults>, Error> {
        self.sprt.as_ref().map_or(Ok(()), SprtOptions::check).map_err(Error::said)?;
        if let Some(InputSource::Bytes(name, _) | InputSource::Table(name, _)) =
            input.sources.iter().find(|source| !matches!(source, InputSource::Path(_)))
        {
            return Err(text!("{name}: matches are read from files; count the results, and give the counts").into());
        }
        let is_csv = |path: &std::path::Path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        let (tables, records): (Vec<_>, Vec<_>) = input.files().into_iter().partition(|path| is_csv(path));
        let pairing = if self.paired { Pairing::InOrder } else { Pairing::None };
        let threads = rayon::current_num_threads();
        let records = (!records.is_empty()).then(|| read_matches(&records, pairing, threads)).transpose();
        let records = records.map_err(|error| {
            error.to_text().about(&text!("an argument is neither a result (423-8-569) nor a path that can be read"))
        })?;
        let tables = (!tables.is_empty()).then(|| read_tables(&tables)).transpose()?;
        if let Some(problem) = tables.as_ref().filter(|t| t.used == 0).and_then(|t| t.problems.first())
            && self.entries.is_empty()
            && records.is_none()
        {
            return Err(problem.to_text().into());
        }
        let chosen = |player: &String, opponent: &String| {
            self.player.as_ref().is_none_or(|p| p == player) && self.opponent.as_ref().is_none_or(|o| o == opponent)
        };
        let wanted = |m: &Match| chosen(&m.player, &m.opponent);
        let in_either_view = |m: &&Match| wanted(m) || chosen(&m.opponent, &m.player);
        let filtered = self.player.is_some() || self.opponent.is_some();
        let (mut entries, mut all) = (self.entries.clone(), Vec::new());
        for (matches, is_record) in [(&tables, false), (&records, true)] {
            let Some(matches) = matches else { continue };
            let both_views = matches.both_views();
            let listed = if filtered { &both_views } else { &matches.list };
            entries.extend(listed.iter().filter(|m| wanted(m)).map(Entry::from));
            // a table of systems against others has no sums of the others; records, and those who met, have all
            let opponents: HashSet<&str> = matches.list.iter().map(|m| &*m.opponent).collect();
            let met = is_record || matches.list.iter().any(|m| opponents.contains(&*m.player));
            all.extend(totals(if met { &both_views } else { listed }.iter().filter(|m| wanted(m))));
        }
        if filtered && entries.is_empty() {
            return Err(text!("no match has that player and opponent; write names as in the records").into());
        }
        let mut summary = summarize(&entries, self.sprt.as_ref());
        // in a collection of records, all players may have met the same opponents: too many comparisons
        if records.is_none() || self.opponent.is_some() {
            summary = summary.compared();
        }
        let rated = self.ratings || !self.anchors.is_empty();
        let ratings = rated.then(|| {
            let matches = [&tables, &records].into_iter().flatten().flat_map(|read| &read.list);
            rating_list(&matches.filter(in_either_view).collect::<Vec<_>>(), &self.anchors)
        });
        let ratings = ratings.transpose()?;
        let of_records = || records.iter().flat_map(|read| &read.list).filter(in_either_view);
        let paired = [of_records().map(|m| m.pairs.pairs()).sum(), of_records().map(|m| m.unpaired).sum()];
        let value = MatchResults { tables, records, paired, summary, totals: summarize(&all, None), ratings };
        let mut outcome = Outcome::from(value);
        outcome.report.problems = outcome.value.read().flat_map(|(read, _)| &read.problems).cloned().collect();
        Ok(outcome)
    }

    /// The JSON document of what was found.
    ///
    /// # Errors
    /// [`Error::Said`] for a power that cannot be computed.
    pub fn document(&self, found: Option<&MatchResults>) -> Result<Value, Error> {
        let mut document = Map::new();
        if let Some(question) = &self.power {
            let power = matches::power_document(question, self.games, &self.targets).map_err(Error::said)?;
            document.insert("power".to_owned(), power);
        }
        if let Some(found) = found {
            for (read, what) in found.read() {
                document.insert(
                    what.to_owned(),
                    json!({ "read": read.read, "used": read.used, "skipped": read.skipped, "refused": read.refused }),
                );
            }
            document.insert("paired".to_owned(), json!({ "pairs": found.paired[0], "games_in_none": found.paired[1] }));
            let totals = matches::document(&found.totals, self.level).remove("systems");
            document.extend(matches::document(&found.summary, self.level));
            document
                .extend(found.ratings.as_ref().map(|groups| ("ratings".to_owned(), matches::ratings_document(groups))));
            document.extend(totals.map(|totals| ("totals".to_owned(), totals)));
        }
        Ok(rounded(Value::Object(document)))
    }
}

impl MatchResults {
    /// What was read, with the word for it.
    pub fn read(&self) -> impl Iterator<Item = (&Matches, &'static str)> {
        let all = [(&self.tables, key!("rows")), (&self.records, key!("games"))];
        all.into_iter().filter_map(|(read, what)| Some((read.as_ref()?, what)))
    }
}
