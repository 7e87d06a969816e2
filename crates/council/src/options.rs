//! The options that a GUI sees: the council's own, and those of its members as `E1_Name`.

use std::io::Write;

use super::session::Session;
use crate::usi::{OptionKind, OptionSpec};
use evalcurve_core::rule::log::Header;
use evalcurve_core::rule::{Rule, TieRule};

impl<W: Write> Session<W> {
    /// `id`, the options of the council and of its members, and the word that ends them.
    pub(super) fn greet(&mut self) {
        let mut text = format!("id name {}\nid author evalcurve {}\n", self.config.name, env!("CARGO_PKG_VERSION"));
        let combo = |name: &str, choices: Vec<String>, default: &str| OptionSpec {
            name: name.to_owned(),
            kind: OptionKind::Combo { choices },
            default: Some(default.to_owned()),
        };
        let rules = Rule::ALL.iter().map(|r| r.as_str().to_owned()).collect();
        let ties = TieRule::ALL.iter().map(TieRule::to_string).collect();
        let own = [
            combo("Rule", rules, self.header.rule.as_str()),
            combo("TieRule", ties, self.header.tie.into()),
            OptionSpec {
                name: "EarlyStop".to_owned(),
                kind: OptionKind::Check,
                default: Some(self.config.early_stop.to_string()),
            },
            OptionSpec {
                name: "MultiPV".to_owned(),
                kind: OptionKind::Spin { min: 1, max: self.members.len() as i64 },
                default: Some(self.lines.to_string()),
            },
        ];
        own.iter().for_each(|o| text += &format!("{o}\n"));
        for (i, (member, engine)) in self.members.iter().zip(&self.config.engines).enumerate() {
            for option in member.options() {
                let mut shown = option.clone();
                shown.name = format!("E{}_{}", i + 1, option.name);
                if let Some((_, value)) = engine.options.iter().find(|(n, _)| *n == option.name) {
                    shown.default = Some(value.clone());
                }
                text += &format!("{shown}\n");
            }
        }
        text += self.protocol.greeting_done();
        self.say(&text);
    }

    /// `setoption`
    pub(super) fn set_option(&mut self, name: &str, value: Option<&str>) {
        let complaint = match (name, value) {
            ("Rule", Some(v)) => match Rule::parse(v) {
                Some(rule) => self.set_rule(rule, self.header.tie),
                None => Some(format!("there is no rule '{v}'")),
            },
            ("TieRule", Some(v)) => match v.parse() {
                Ok(tie) => self.set_rule(self.header.rule, tie),
                Err(_) => Some(format!("there is no tie rule '{v}'")),
            },
            ("EarlyStop", Some(v)) => {
                self.config.early_stop = v == "true";
                None
            }
            ("MultiPV", Some(v)) => match v.parse() {
                Ok(lines) if (1..=self.members.len()).contains(&lines) => {
                    self.lines = lines;
                    None
                }
                _ => Some(format!("MultiPV is '{v}'; write a whole number from 1 to {}", self.members.len())),
            },
            // of the protocol itself; every member may ponder unless its configuration says otherwise
            ("USI_Ponder" | "Ponder", Some(_)) => {
                for (member, engine) in self.members.iter_mut().zip(&self.config.engines) {
                    let own = engine.options.iter().any(|(n, _)| n == name);
                    if !own && (name == "USI_Ponder" || member.options().iter().any(|o| o.name == name)) {
                        member.set_option(name, value);
                    }
                }
                None
            }
            // one table for all: each member has its own in the configuration
            ("USI_Hash" | "Hash", _) => None,
            _ => self.set_member_option(name, value),
        };
        if let Some(complaint) = complaint {
            self.tell(&complaint);
        }
    }

    fn set_rule(&mut self, rule: Rule, tie: TieRule) -> Option<String> {
        let options = evalcurve_core::rule::Options { tie, ..self.config.rule_options() };
        if let Err(e) = evalcurve_core::rule::check(rule, &self.config.voters(), &options) {
            return Some(format!("{e}; {} stays", self.header.rule));
        }
        self.config.rule = rule;
        self.config.tie = tie;
        self.header = Header::new(self.config.game.as_str(), rule, &self.config.voters(), &options);
        if let Some(log) = &mut self.log {
            log.forget_header();
        }
        None
    }

    fn set_member_option(&mut self, name: &str, value: Option<&str>) -> Option<String> {
        let split = || {
            let (place, option) = name.strip_prefix('E')?.split_once('_')?;
            Some((place.parse::<usize>().ok()?.checked_sub(1)?, option))
        };
        let Some((place, option)) = split() else { return Some(format!("there is no option '{name}'")) };
        let Some(member) = self.members.get_mut(place) else {
            return Some(format!("there is no member {}", place + 1));
        };
        let spec = member.options().iter().find(|o| o.name == option).cloned();
        if let (Some(spec), Some(value)) = (spec, value)
            && let Err(e) = spec.check(value)
        {
            return Some(e);
        }
        member.set_option(option, value);
        None
    }
}
