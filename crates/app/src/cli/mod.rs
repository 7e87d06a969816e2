//! The terminal: options from arguments, messages, tables, progress; and what a command is.

pub mod command;
pub mod config;
mod documents;
pub mod engines;
pub mod files;
pub mod help;
pub mod messages;
pub mod options;
mod program;
pub mod progress;
pub mod terminal;

pub use command::{
    Command, DoesItPay, Done, Flat, Heading, Limits, PlayMembers, ScoreMembers, ScoreRecords, Services, Subcommand,
};
pub use program::{Assumed, Program};
