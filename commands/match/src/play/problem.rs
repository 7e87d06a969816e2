//! What cannot be played, with its line in the tournament file.

use std::borrow::Cow;
use std::fs::File;

use evalcurve_engine::{ConfigError, ConfigText, EngineConfig, Game};
use evalcurve_rules::{self as rule, Rule};
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;
use evalcurve_words::text::shown_path as shown;

use super::tournament::{Adjudication, Tournament};

/// The most pairs of two engines.
pub(super) const MOST_PAIRS: u32 = 10_000_000;

/// The most games at the same time.
const MOST_WORKERS: usize = 1_024;

/// The option of engines for Chess960.
const CHESS960: &str = "UCI_Chess960";

/// A problem, and the key of the file that has it.
type Problem = (Cow<'static, str>, Text);

impl Tournament {
    /// Checks a tournament between the engines of a file.
    ///
    /// # Errors
    /// What cannot be played and why, with the line and a remedy.
    pub fn checked(mut self, text: &ConfigText) -> Result<Self, ConfigError> {
        text.file().clone_into(&mut self.file);
        self.pairs_given = text.span("pairs").is_some();
        check(&self, text)?;
        for engine in self.engines.iter_mut().filter(|_| self.chess960) {
            if !engine.options.iter().any(|(name, _)| name == CHESS960) {
                engine.options.push((CHESS960.to_owned(), "true".to_owned()));
            }
        }
        Ok(self)
    }
}

/// Checks what the types of the keys do not say.
///
/// # Errors
/// The first problem, with the line and a remedy.
fn check(tournament: &Tournament, text: &ConfigText) -> Result<(), ConfigError> {
    let problem = of_numbers(tournament)
        .or_else(|| of_openings(tournament))
        .or_else(|| of_engines(tournament))
        .or_else(|| of_ends(tournament));
    problem.map_or(Ok(()), |(key, problem)| Err(text.error(text.span(&key), problem)))
}

/// Where the tournament file has a key of `[openings]`, as `FILE:LINE: `; empty if it has none.
pub(super) fn place_of_opening_key(tournament: &Tournament, key: &str) -> String {
    let text = ConfigText::open(&tournament.file).ok();
    let place = text.and_then(|text| {
        let error = text.error(Some(text.span(&format!("openings.{key}"))?), Text::default());
        Some(format!("{}:{}: ", error.file, error.line?))
    });
    place.unwrap_or_default()
}

fn of_numbers(tournament: &Tournament) -> Option<Problem> {
    let pairs = tournament.pairs;
    if !matches!(tournament.game, Game::Shogi | Game::Minishogi | Game::Chess) {
        let game = tournament.game.as_str();
        let why = text!("the rules of game = \"{game}\" are unknown; write shogi, minishogi or chess");
        return Some(("game".into(), why));
    }
    if !(1..=MOST_PAIRS).contains(&pairs) {
        let why = text!("pairs is {pairs}; write how many pairs of games to play, from 1 to {MOST_PAIRS}");
        return Some(("pairs".into(), why));
    }
    if let Some(workers) = tournament.concurrency.filter(|workers| !(1..=MOST_WORKERS).contains(workers)) {
        let why = text!(
            "concurrency is {workers}; write how many games to play at the same time, from 1 to {MOST_WORKERS}, or \
             leave it out for one per processor"
        );
        return Some(("concurrency".into(), why));
    }
    if tournament.chess960 && tournament.game != Game::Chess {
        return Some(("chess960".into(), text!("chess960 is a kind of chess; write game = \"chess\"")));
    }
    if let Some(why) = tournament.affinity_problem() {
        return Some(("affinity".into(), why));
    }
    if tournament.patience_ms == 0 {
        let why = text!("patience-ms is 0; write how long to wait for a move, for example 60000");
        return Some(("patience-ms".into(), why));
    }
    None
}

fn of_openings(tournament: &Tournament) -> Option<Problem> {
    let openings = &tournament.openings;
    if openings.start == Some(0) {
        let why = text!("start is 0; write the number of the first opening to use, from 1");
        return Some(("openings.start".into(), why));
    }
    let file = openings.file.as_ref()?;
    let why = File::open(file).err()?;
    let name = shown(file);
    Some((
        "openings.file".into(),
        text!("cannot read the openings '{name}': {why}; give the path of an SFEN, EPD, PGN, KIF or CSA file"),
    ))
}

fn of_engines(tournament: &Tournament) -> Option<Problem> {
    if tournament.engines.len() < 2 {
        let why = text!("a tournament needs two engines; add another");
        return Some(("engine.0".into(), why));
    }
    tournament.engines.iter().enumerate().find_map(|(at, engine)| {
        let name = &engine.name;
        let why = if engine.limit.is_none() && engine.clock.is_none() && engine.council.is_none() {
            text!(
                "engine '{name}' has no limit; write limit = {{ nodes = N }}, {{ depth = N }}, {{ movetime-ms = N }} \
                 or {{ byoyomi-ms = N }}, or clock = {{ main-ms = N, increment-ms = N }}"
            )
        } else if tournament.adjudication.is_some() && engine.calibration.is_none() {
            text!("[adjudication] needs the calibration of engine '{name}'; write calibration = …")
        } else {
            text!("council '{name}': {}", council_problem(engine)?)
        };
        Some((format!("engine.{at}").into(), why))
    })
}

/// Why a council cannot play by the rule of its options: it would play by that of its configuration.
fn council_problem(engine: &EngineConfig) -> Option<Text> {
    let council = engine.council.as_ref()?;
    let (_, rule) = engine.options.iter().find(|(name, _)| name == "Rule")?;
    let Some(known) = Rule::parse(rule) else { return Some(text!("there is no rule '{rule}'")) };
    let voters: Vec<_> = council.members.iter().map(EngineConfig::voter).collect();
    rule::check(&known, &voters, &council.options).err().map(|e| e.to_text())
}

fn of_ends(tournament: &Tournament) -> Option<Problem> {
    if let Some(Adjudication { win_rate, moves }) = tournament.adjudication {
        if !(win_rate > 0.5 && win_rate < 1.0) {
            let why = text!("[adjudication] has win-rate = {win_rate}; write a number above 0.5 and below 1");
            return Some(("adjudication.win-rate".into(), why));
        }
        if moves == 0 {
            let why =
                text!("[adjudication] has moves = 0; write on how many moves of each engine both agree, for example 3");
            return Some(("adjudication.moves".into(), why));
        }
    }
    let counts = [
        ("resign.moves", tournament.resign.map(|rule| rule.moves)),
        ("draw.moves", tournament.draw.map(|rule| rule.moves)),
    ];
    if let Some((key, _)) = counts.into_iter().find(|(_, moves)| *moves == Some(0)) {
        let table = key.trim_end_matches(".moves");
        return Some((key.into(), text!("[{table}] has moves = 0; write how many scores in a row, for example 3")));
    }
    let problem = tournament.sprt?.check().err()?;
    Some(("sprt".into(), problem.to_text()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const ENGINES: &str = "[[engine]]\nname = 'A'\ncommand = 'a'\nlimit = { nodes = 9 }\n\
                           [[engine]]\nname = 'B'\ncommand = 'b'\nlimit = { nodes = 9 }\n";

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("evalcurve-problem-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn every_problem_has_its_line_and_value() {
        let folder = folder("lines");
        let file = folder.join("t.toml");
        let problem = |text: &str| {
            std::fs::write(&file, text).unwrap();
            Tournament::read(&file, crate::play::tests::read_council).err().map_or_else(String::new, |e| e.to_string())
        };
        assert_eq!(problem(ENGINES), "");
        for (head, expected) in [
            ("seed = 1\ngame = 'other-usi'", "t.toml:2: the rules of game = \"other-usi\" are unknown"),
            ("\npairs = 0", "t.toml:2: pairs is 0; write how many pairs of games to play, from 1"),
            ("pairs = 10000001", "t.toml:1: pairs is 10000001;"),
            ("# first\n\nconcurrency = 0", "t.toml:3: concurrency is 0; write how many games"),
            ("concurrency = 1025", "t.toml:1: concurrency is 1025; write how many games"),
            ("seed = 1\npatience-ms = 0", "t.toml:2: patience-ms is 0; write how long"),
            ("chess960 = true", "t.toml:1: chess960 is a kind of chess; write game"),
            ("affinity = '3-1'", "t.toml:1: '3-1' is no list of processors; write their numbers"),
            ("[resign]\nscore = 600\nmoves = 0", "t.toml:3: [resign] has moves = 0; write how many scores"),
            ("draw = { score = 10, moves = 0 }", "t.toml:1: [draw] has moves = 0; write how many scores"),
            ("[sprt]\nelo0 = 0\nelo1 = 5\nmodel = 'ordo'", "t.toml:4: invalid value 'ordo'"),
            ("[openings]\nplies = 3\nstart = 0", "t.toml:3: start is 0; write the number of the first opening"),
            ("openings = { start = 0 }", "t.toml:1: start is 0; write the number of the first opening"),
            ("[openings]\nfile = 'none.sfen'", "t.toml:2: cannot read the openings '"),
            ("openings.file = 'none.sfen'", "t.toml:1: cannot read the openings '"),
            ("\n[sprt]\nelo0 = 5\nelo1 = 0", "t.toml:2: SPRT bounds 5 and 0"),
            ("sprt = { elo0 = 0, elo1 = 5, alpha = 0.7 }", "t.toml:1: "),
            (
                "[adjudication]\nwin-rate = 0.9\nmoves = 3",
                "t.toml:4: [adjudication] needs the calibration of engine 'A'",
            ),
        ] {
            let found = problem(&format!("{head}\n{ENGINES}"));
            assert!(found.starts_with(expected), "{head}: {found}");
        }
        let no_limit = ENGINES.replacen("\nlimit = { nodes = 9 }\n[[", "\n[[", 1);
        assert!(problem(&no_limit).starts_with("t.toml:1: engine 'A' has no limit; write limit"), "{no_limit}");
        let one = ENGINES.split_at(ENGINES.rfind("[[").unwrap()).0;
        assert!(problem(&format!("\n{one}")).starts_with("t.toml:2: a tournament needs two engines;"));
        let gikou = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/published/gikou.json");
        let calibrated = ENGINES.replace("limit", &format!("calibration = '{}'\nlimit", gikou.display()));
        for (head, expected) in [
            ("win-rate = 0.5\nmoves = 3", "t.toml:2: [adjudication] has win-rate = 0.5;"),
            ("moves = 3\nwin-rate = 1.5", "t.toml:3: [adjudication] has win-rate = 1.5;"),
            ("win-rate = 0.9\nmoves = 0", "t.toml:3: [adjudication] has moves = 0;"),
            ("win-rate = 0.9\nmoves = 1", ""),
        ] {
            let found = problem(&format!("[adjudication]\n{head}\n{calibrated}"));
            assert!(found.starts_with(expected) && (found.is_empty() || !expected.is_empty()), "{head}: {found}");
        }
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn openings_that_end_too_early_have_the_line_of_their_key() {
        let folder = folder("openings");
        std::fs::write(folder.join("o.sfen"), "startpos moves 7g7f\nstartpos moves 2g2f\n").unwrap();
        let problem = |head: &str| {
            std::fs::write(folder.join("t.toml"), format!("pairs = 1\n{head}\n{ENGINES}")).unwrap();
            let tournament = Tournament::read(&folder.join("t.toml"), crate::play::tests::read_council).unwrap();
            crate::play::opening::openings(&tournament).err().map_or_else(String::new, |e| e.to_string())
        };
        let found = problem("[openings]\nfile = 'o.sfen'\nstart = 3");
        assert!(found.starts_with("t.toml:4: start is 3, and ") && found.contains("o.sfen has 2 openings;"), "{found}");
        assert_eq!(problem("[openings]\nfile = 'o.sfen'\nstart = 2"), "");
        let found = problem("game = 'minishogi'\nopenings.plies = 3000");
        assert!(found.starts_with("t.toml:3: no game goes on after 3000 random plies;"), "{found}");
        let _ = std::fs::remove_dir_all(&folder);
    }
}
