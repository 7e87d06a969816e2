//! Reads the configuration file of a council.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use evalcurve_engine::{ConfigError, ConfigText, CouncilConfig};
use evalcurve_rules::weights::Weights;
use evalcurve_rules::{Rule, RuleError};
use evalcurve_words::language::ToText;
use evalcurve_words::text;

use super::config::Config;

/// The longest wait for the options of members, in milliseconds.
const MOST_OPTIONS_MS: u64 = 1_900;

/// Whether a file holds something, and no votes.
fn is_no_log(path: &Path) -> bool {
    let mut head = Vec::new();
    let is_file = path.is_file();
    let read = is_file.then(|| File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut head)));
    let format = evalcurve_rules::log::FORMAT.as_bytes();
    let names_it = head.windows(format.len()).any(|bytes| bytes == format);
    matches!(read, Some(Ok(_))) && !head.trim_ascii().is_empty() && !names_it
}

impl Config {
    /// Reads a configuration and the calibration files that it names. Paths in it are relative to its own folder.
    ///
    /// # Errors
    /// The file cannot be read or is not TOML; it has unknown keys, invalid values, or values that contradict each
    /// other; or a calibration file cannot be read. The error has the line and a remedy.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        checked(&ConfigText::open(path)?)
    }

    /// Reads the configuration of a council that plays as an engine.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn read_as_player(path: &Path) -> Result<CouncilConfig, ConfigError> {
        Ok(Self::read(path)?.as_player())
    }
}

/// Parses and checks a configuration.
fn checked(text: &ConfigText) -> Result<Config, ConfigError> {
    let document = text.document()?;
    let mut config: Config = document.rest()?;
    config.engines = document.engines(config.game, Some(config.rule), Config::read_as_player)?;
    config.file = text.file().to_owned();
    config.log = config.log.map(|log| text.path(log));
    if let Some(log) = config.log.as_ref().filter(|log| is_no_log(log)) {
        let name = log.display();
        let message = text!("{name} holds something else, and votes would be appended to it; name a new file");
        return Err(text.error(text.span("log"), message));
    }
    add_weights(text, &mut config)?;
    config.time.longest_ms = config.time.longest_ms.max(1);
    if config.time.options_ms > MOST_OPTIONS_MS {
        let message = text!(
            "options-ms is {}; write at most {MOST_OPTIONS_MS}: GUIs do not wait longer for usiok",
            config.time.options_ms
        );
        return Err(text.error(text.span("time.options-ms"), message));
    }
    if let Some(span) = text.span("budget").filter(|_| config.rule != Rule::Budget) {
        let message = text!("the table budget is for rule budget, and the rule is {}; change one", config.rule);
        return Err(text.error(Some(span), message));
    }
    if let Some(limited) = config.engines.iter().find(|e| config.budget.nodes.is_some() && e.limit.is_some()) {
        let message = text!("engine '{}' has a limit, and the budget gives it nodes; remove one", limited.name);
        return Err(text.error(text.span("budget.nodes"), message));
    }
    if config.name.contains(char::is_control) {
        let message = text!("the name {:?} cannot be displayed; write a word", config.name);
        return Err(text.error(text.span("name"), message));
    }
    let Err(error) = evalcurve_rules::check(&config.rule, &config.voters(), &config.rule_options()) else {
        return Ok(config);
    };
    let span = match &error {
        RuleError::Needs { .. } => text.span("rule"),
        RuleError::Range { key, voter: Some(voter), .. } => text.span(&format!("engine.{voter}.{key}")),
        RuleError::Range { key, voter: None, .. } => text.span(key),
        _ => None,
    };
    Err(text.error(span, error.to_text()))
}

/// Gives the members their learned weights.
fn add_weights(text: &ConfigText, config: &mut Config) -> Result<(), ConfigError> {
    let Some(file) = &config.weights else { return Ok(()) };
    let fail = |message| text.error(text.span("weights"), message);
    let weights = Weights::read(&text.plain_file(file).map_err(fail)?).map_err(|e| fail(e.into()))?;
    weights.check(config.engines.iter().map(|engine| engine.name.as_str())).map_err(|e| fail(e.into()))?;
    if weights.game != config.game.as_str() {
        return Err(fail(text!(
            "the weights are of {}, and the council plays {}; learn weights for this game",
            weights.game,
            config.game.as_str()
        )));
    }
    if weights.rule.weighed_as() != config.rule.weighed_as() {
        return Err(fail(text!(
            "the weights are for the rule {}, and the council decides by {}; learn others, or decide by {0}",
            weights.rule,
            config.rule
        )));
    }
    for (place, engine) in config.engines.iter_mut().enumerate() {
        let Some(member) = weights.of(&engine.name) else { continue };
        if engine.weight.is_some() {
            let message = text!("engine '{}' has a weight, and learned weights, too; remove one", engine.name);
            return Err(text.error(text.span(&format!("engine.{place}.weight")), message));
        }
        (engine.weight, engine.phases) = (Some(member.weight), member.phases.clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_engine::{Game, Limit};
    use evalcurve_rules::Role;

    fn example(name: &str) -> Config {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join("examples").join(name);
        Config::read(&path).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn the_examples_can_be_read() {
        let shogi = example("shogi.toml");
        let names: Vec<&str> = shogi.engines.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["Fairy-Stockfish", "sekirei", "zshogi"]);
        for engine in &shogi.engines {
            let calibration = engine.calibration.as_ref().map(|c| c.engine.name.as_str());
            assert_eq!(calibration, Some(engine.name.as_str()));
            assert!(engine.calibration_file.as_ref().is_some_and(|file| file.is_file()));
        }
        assert_eq!(shogi.engines[0].limit, Some(Limit::Nodes(6000)));
        assert_eq!((shogi.score_scale_cp(), shogi.rule), (600.0, Rule::CrossExamination));
        let chess = example("chess.toml");
        assert_eq!((chess.game, chess.engines.len(), chess.score_scale_cp()), (Game::Chess, 3, 271.6));
        assert_eq!(chess.engines[0].role, Role::Leader);
    }

    #[test]
    fn votes_are_appended_to_a_log_alone_and_weights_are_a_file() {
        let folder = std::env::temp_dir().join(format!("evalcurve-log-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("pipe")).unwrap();
        let engine = "[[engine]]\nname = \"A\"\ncommand = \"a\"\ncalibration = \"none\"\n";
        let read = |keys: &str| {
            let path = folder.join("c.toml");
            std::fs::write(&path, format!("rule = \"majority\"\n{keys}\n{engine}")).unwrap();
            Config::read(&path).map(drop).map_err(|error| error.to_string())
        };
        std::fs::write(folder.join("w.json"), "{\"format\": \"evalcurve-weights\"}").unwrap();
        std::fs::write(folder.join("v.jsonl"), "{\"format\":\"evalcurve-votes\",\"version\":1}\n").unwrap();
        std::fs::write(folder.join("empty"), "").unwrap();
        for good in ["v.jsonl", "empty", "new.jsonl"] {
            assert_eq!(read(&format!("log = \"{good}\"")), Ok(()));
        }
        for bad in ["c.toml", "w.json"] {
            let error = read(&format!("log = \"{bad}\"")).unwrap_err();
            assert!(error.contains("votes would be appended to it"), "{error}");
        }
        let error = read("weights = \"pipe\"").unwrap_err();
        assert!(error.contains("is a folder, a device or a pipe; give a file"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
