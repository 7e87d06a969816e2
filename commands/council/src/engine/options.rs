//! The options that a GUI sees: the council's own, and those of its members as `E1_Name`.

use std::io::Write;

use evalcurve_engine::board::Game;
use evalcurve_engine::usi::{OptionKind, OptionSpec};
use evalcurve_rules::log::Header;
use evalcurve_rules::{Options, Role, Rule, TieRule};
use evalcurve_words::language::Language;

use super::session::Session;

/// The option of UCI that makes castling the king taking its rook.
const CHESS960: &str = "UCI_Chess960";
/// The value of the option `Leader` without one.
const NO_LEADER: &str = "none";

impl<W: Write> Session<W> {
    /// Answers the greeting: `id`, the options of the council and of its members, and `usiok` or `uciok`.
    pub(super) fn greet(&mut self) {
        let option = |name: &str, kind, default: String| OptionSpec { name: name.into(), kind, default: Some(default) };
        let combo = |name: &str, choices: Vec<&str>, default: &str| {
            option(
                name,
                OptionKind::Combo { choices: choices.into_iter().map(str::to_owned).collect() },
                default.into(),
            )
        };
        let (rules, ties) = (Rule::ALL.map(Rule::as_str).into(), TieRule::ALL.iter().map(<&str>::from).collect());
        let lines = OptionKind::Spin { min: 1, max: self.members.len() as i64 };
        let engines = &self.config.engines;
        let leader = engines.iter().find(|e| e.role == Role::Leader).map_or(NO_LEADER, |e| &e.name);
        let names = [NO_LEADER].into_iter().chain(engines.iter().map(|e| e.name.as_str())).collect();
        let mut options = vec![
            combo("Rule", rules, self.header.rule.as_str()),
            combo("TieRule", ties, self.header.tie.into()),
            combo("Leader", names, leader),
            option("EarlyStop", OptionKind::Check, self.config.early_stop.to_string()),
            option("MultiPV", lines, self.style.lines.to_string()),
            option("MemberLines", OptionKind::Check, self.style.of_members.to_string()),
            combo(
                "Language",
                [Language::English, Language::Japanese].map(Language::code).to_vec(),
                self.style.language.code(),
            ),
        ];
        if self.config.game == Game::Chess {
            options.push(option(CHESS960, OptionKind::Check, self.chess960.to_string()));
        }
        for (i, (member, engine)) in self.members.iter().zip(&self.config.engines).enumerate() {
            for option in &member.options {
                let configured = engine.options.iter().find(|(name, _)| *name == option.name);
                options.push(OptionSpec {
                    name: format!("E{}_{}", i + 1, option.name),
                    kind: option.kind.clone(),
                    default: configured.map(|(_, value)| value.clone()).or_else(|| option.default.clone()),
                });
            }
        }
        let mut text = format!("id name {}\nid author evalcurve {}\n", self.config.name, env!("CARGO_PKG_VERSION"));
        options.iter().for_each(|option| text += &format!("{option}\n"));
        text += self.style.protocol.greeting_done();
        self.write_line(&text);
    }

    /// `setoption`
    pub(super) fn set_option(&mut self, name: &str, value: Option<&str>) {
        if let Err(problem) = self.try_set_option(name, value) {
            self.info(&problem);
        }
    }

    fn try_set_option(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        match (name, value) {
            ("Rule", Some(v)) => {
                let rule = Rule::parse(v).ok_or_else(|| format!("there is no rule '{v}'"))?;
                self.set_rule(rule, self.header.tie)?;
            }
            ("TieRule", Some(v)) => {
                let tie = v.parse().map_err(|_| format!("there is no tie rule '{v}'"))?;
                self.set_rule(self.header.rule, tie)?;
            }
            ("Leader", Some(v)) => self.set_leader(v)?,
            ("MemberLines", Some(v)) => self.style.of_members = v == "true",
            ("Language", Some(v)) => {
                self.style.language = v.parse().map_err(|_| format!("there is no language '{v}'"))?;
            }
            ("EarlyStop", Some(v)) => self.config.early_stop = v == "true",
            ("MultiPV", Some(v)) => {
                let lines = v.parse().ok().filter(|lines| (1..=self.members.len()).contains(lines));
                let most = self.members.len();
                self.style.lines =
                    lines.ok_or_else(|| format!("MultiPV is '{v}'; write a whole number from 1 to {most}"))?;
            }
            (CHESS960, Some(v)) if self.config.game == Game::Chess => {
                self.chess960 = v == "true";
                let mut without: Vec<&str> = Vec::new();
                for (member, engine) in self.members.iter_mut().zip(&self.config.engines) {
                    // a member that is starting may still declare it
                    if member.is_starting() || member.options.iter().any(|o| o.name == CHESS960) {
                        member.set_option(CHESS960, value);
                    } else {
                        without.push(&engine.name);
                    }
                }
                if self.chess960 && !without.is_empty() {
                    return Err(format!("without the option {CHESS960}, castling fails: {}", without.join(", ")));
                }
            }
            // an option of the protocol: every member may ponder unless its configuration sets the option
            ("USI_Ponder" | "Ponder", Some(_)) => {
                for (member, engine) in self.members.iter_mut().zip(&self.config.engines) {
                    let configured = engine.options.iter().any(|(n, _)| n == name);
                    if !configured && (name == "USI_Ponder" || member.options.iter().any(|o| o.name == name)) {
                        member.set_option(name, value);
                    }
                }
            }
            // every member has its own hash table, which the configuration sizes
            ("USI_Hash" | "Hash", _) => {}
            _ => self.set_member_option(name, value)?,
        }
        Ok(())
    }

    fn set_rule(&mut self, rule: Rule, tie: TieRule) -> Result<(), String> {
        let options = Options { tie, ..self.config.rule_options() };
        evalcurve_rules::check(&rule, &self.config.voters(), &options)
            .map_err(|e| format!("{e}; the rule remains {}", self.header.rule))?;
        self.config.rule = rule;
        self.config.tie = tie;
        self.header = Header::new(self.config.game.as_str(), rule, &self.config.voters(), &options);
        self.log.iter_mut().for_each(|log| log.repeat_header());
        Ok(())
    }

    fn set_leader(&mut self, name: &str) -> Result<(), String> {
        let engines = &mut self.config.engines;
        let place = engines.iter().position(|e| e.name == name);
        if place.is_none() && name != NO_LEADER {
            return Err(format!("there is no member '{name}'"));
        }
        let before: Vec<Role> = engines.iter().map(|e| e.role).collect();
        for (i, engine) in engines.iter_mut().enumerate() {
            match engine.role {
                _ if place == Some(i) => engine.role = Role::Leader,
                Role::Leader => engine.role = Role::Member,
                _ => {}
            }
        }
        // without its chooser, 3-Hirn cannot decide
        let set = self.set_rule(self.header.rule, self.header.tie);
        if set.is_err() {
            self.config.engines.iter_mut().zip(before).for_each(|(engine, role)| engine.role = role);
        }
        set
    }

    fn set_member_option(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let split = || {
            let (number, option) = name.strip_prefix('E')?.split_once('_')?;
            Some((number.parse::<usize>().ok()?.checked_sub(1)?, option))
        };
        let (place, option) = split().ok_or_else(|| format!("there is no option '{name}'"))?;
        let member = self.members.get_mut(place).ok_or_else(|| format!("there is no member {}", place + 1))?;
        if let (Some(spec), Some(value)) = (member.options.iter().find(|o| o.name == option), value) {
            spec.check(value).map_err(|problem| problem.to_string())?;
        }
        member.set_option(option, value);
        Ok(())
    }
}
