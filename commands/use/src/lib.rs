//! Uses calibrations: `winrate`, `export`, `proxy`.

#[cfg(feature = "cli")]
pub mod cli;
mod export;
#[cfg(feature = "cli")]
mod proxy;
mod targets;
mod winrate;

pub use export::Export;
#[cfg(feature = "cli")]
pub use proxy::{Proxy, ProxyError, Rewriter};
pub use targets::{ExportError, Target, export};
pub use winrate::{Answer, Converter, Winrate, seconds_of};

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
