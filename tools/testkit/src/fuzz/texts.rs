//! JSON, TOML and expressions: what is read is written and read back as it was.

use evalcurve_calibration::{Calibration, Reading, Score, Situation};
use evalcurve_council::Config;
use evalcurve_engine::{ConfigText, Game};
use evalcurve_match::match_stats::results_csv::{Table, matches_of, shares_of};
use evalcurve_match::match_stats::{Entry, SprtOptions, summarize};
use evalcurve_match::play::Tournament;
use evalcurve_records::record::encoding::whole_text;
use evalcurve_records::sample::Expression;
use evalcurve_rules::log::Log;
use evalcurve_rules::replay::{ReplayOptions, replay};
use evalcurve_use::{Target, export};

use super::files::file;

pub(super) const CALIBRATION_PROMISE: &str = "a file that is read is written and read back as it was; win rates are \
                                              between 0 and 1; every export is a text or an error";
pub(super) const VOTES_PROMISE: &str = "every line is counted once; lines are written and read back; every rule \
                                        replays the log";
pub(super) const CONFIG_PROMISE: &str = "a message with a file, or a configuration; calibrations that are filled in \
                                         are read back";
pub(super) const TOURNAMENT_PROMISE: &str = "a message with a file, or a tournament whose engines all exist";
pub(super) const RESULTS_PROMISE: &str = "the games of the matches add up; rates, intervals and p are between 0 and 1";
pub(super) const EXPRESSION_PROMISE: &str = "an expression is written and read back as it was; an error has a place \
                                             within the text";

/// Matches whose statistics are computed.
const STATISTICS: usize = 6;

pub(super) fn calibration(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(read) = Calibration::from_json(text, "input") else { return };
    let written = read.to_json().expect("what is read can be written");
    let again = Calibration::from_json(&written, "written").expect("what is written can be read");
    assert_eq!(again.to_json().expect("it was written before"), written);
    let bare = again.without_evidence();
    for reading in [Reading::Equal, Reading::Field] {
        for cp in [0.0, 1.0, -37.5, 800.0, -3e4, 1e6, -1e308] {
            for ply in [None, Some(1), Some(4_000_000_000)] {
                let situation = Situation { ply, material: ply.map(|p| p % 78), ..Situation::default() };
                let rate = again.win_rate_in(reading, Score::Cp(cp), &situation);
                assert!((0.0..=1.0).contains(&rate), "{rate} for {cp}");
                assert_eq!(bare.win_rate_in(reading, Score::Cp(cp), &situation), rate);
                let _ = again.interval(reading, Score::Cp(cp), &situation);
                let _ = again.score(reading, rate, &situation);
                if let Some(wdl) = again.wdl(Reading::Equal, cp, &situation) {
                    let permille = wdl.permille().expect("a number");
                    assert_eq!(permille.iter().map(|p| u32::from(*p)).sum::<u32>(), 1000);
                }
            }
        }
    }
    let _ = (again.constant(), again.games_needed(0.1), again.sigmoid());
    for target in Target::ALL {
        let _ = export(&again, *target, None);
    }
}

pub(super) fn vote_log(bytes: &[u8]) {
    let log = Log::parse(bytes);
    let counted = log.sessions.len() + log.decisions() + log.ends() + log.blank + log.not_used;
    assert_eq!(counted, log.lines, "every line is counted once");
    let mut written = String::new();
    for session in &log.sessions {
        let mut line = |text: serde_json::Result<String>| {
            written += &text.expect("what is read can be written");
            written.push('\n');
        };
        line(serde_json::to_string(&session.header));
        session.decisions.iter().for_each(|(_, decision)| line(serde_json::to_string(decision)));
        session.ends.iter().for_each(|(_, end)| line(serde_json::to_string(end)));
    }
    let again = Log::parse(written.as_bytes());
    assert!(again.problems.is_empty(), "{:?}", again.problems);
    assert_eq!((again.decisions(), again.ends()), (log.decisions(), log.ends()));
    for (one, two) in log.sessions.iter().zip(&again.sessions) {
        assert_eq!(
            serde_json::to_string(&one.header).expect("it was written before"),
            serde_json::to_string(&two.header).expect("it was read before")
        );
        assert!(one.decisions.iter().map(|(_, d)| d).eq(two.decisions.iter().map(|(_, d)| d)), "{one:?} {two:?}");
    }
    if let Ok(replayed) = replay(&log, &ReplayOptions::default()) {
        assert_eq!(replayed.decisions, log.decisions());
        let logged = &replayed.logged;
        assert!(logged.same + logged.different.len() <= replayed.decisions);
    }
}

pub(super) fn council_config(bytes: &[u8]) {
    let path = file("council.toml", bytes);
    if let Err(error) = Config::read(&path) {
        assert!(!error.message.is_empty() && !error.file.is_empty());
    }
    let Ok(text) = ConfigText::open(&path) else { return };
    for game in [Game::Shogi, Game::Chess] {
        let _ = text.document().and_then(|document| document.engines(game, None, Config::read_as_player));
    }
    let Ok(filled) = text.with_calibrations(|name| Some(format!("{name}.json"))) else { return };
    let again = ConfigText::open(&file("filled.toml", filled.as_bytes())).expect("it was just written");
    let twice = again.with_calibrations(|_| Some("other.json".to_owned())).expect("what is written can be read");
    assert_eq!(twice, filled);
}

pub(super) fn tournament(bytes: &[u8]) {
    match Tournament::read(&file("tournament.toml", bytes), Config::read_as_player) {
        Ok(tournament) => {
            let engines = tournament.engines.len();
            assert!(engines >= 2 && tournament.encounters().iter().all(|&(a, b)| a < b && b < engines));
            let _ = (tournament.is_timed(), tournament.most_plies());
        }
        Err(error) => assert!(!error.message.is_empty() && !error.file.is_empty()),
    }
}

/// Tables of results and of shares, and the statistics of the first matches.
pub(super) fn results(bytes: &[u8]) {
    let table = Table::parse(&whole_text(bytes.to_vec()), "input.csv");
    for (_, _, share) in shares_of(&table).unwrap_or_default() {
        assert!((0.0..=1.0).contains(&share));
    }
    let Ok(matches) = matches_of(&table) else { return };
    assert_eq!(matches.read, matches.used + matches.skipped.values().sum::<u64>());
    for problem in &matches.problems {
        assert!(problem.value.to_string().chars().count() < 200, "{problem}");
    }
    for of in &matches.list {
        assert_eq!(of.unpaired + 2 * of.pairs.pairs(), of.games.games(), "{of:?}");
        assert_eq!(of.reversed().reversed(), *of);
    }
    let entries: Vec<Entry> = matches.list.iter().take(STATISTICS).map(Entry::from).collect();
    let summary = summarize(&entries, Some(&SprtOptions::new(0.0, 5.0))).compared();
    for row in &summary.rows {
        let Some(strength) = &row.strength else { continue };
        assert!((0.0..=1.0).contains(&strength.rate), "{row:?}");
        let (low, high) = strength.rate_interval;
        assert!(0.0 <= low && low <= high && high <= 1.0, "{row:?}");
        assert!(row.sign_test.is_none_or(|p| (0.0..=1.0).contains(&p)), "{row:?}");
    }
    for pair in &summary.pairs {
        for p in [pair.comparison.exact_p, pair.bonferroni, pair.holm] {
            assert!((0.0..=1.0).contains(&p), "{pair:?}");
        }
    }
}

pub(super) fn expression(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Expression::parse(text) {
        Ok(read) => assert_eq!(Expression::parse(&read.to_string()), Ok(read)),
        Err(error) => {
            assert!((1..=text.chars().count() + 2).contains(&error.position), "{error:?}");
            let _ = error.to_string();
        }
    }
}
