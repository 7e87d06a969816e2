//! Runs the program as its users do: records in; tables, calibrations and messages out.
//!
//! Records with known w1 and w2 come from the testkit. Tests that need what not every machine has are ignored, and say
//! what they need; `.ci/run` runs those whose needs are met.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "program/support.rs"]
mod support;

#[path = "program/analyse.rs"]
mod analyse;
#[path = "program/browser.rs"]
mod browser;
#[path = "program/calibrate.rs"]
mod calibrate;
#[path = "program/chess.rs"]
mod chess;
#[path = "program/commands.rs"]
mod commands;
#[path = "program/compare.rs"]
mod compare;
#[path = "program/council.rs"]
mod council;
#[path = "program/council_gui.rs"]
mod council_gui;
#[path = "program/deceive.rs"]
mod deceive;
#[path = "program/declared.rs"]
mod declared;
#[path = "program/diagnose.rs"]
mod diagnose;
#[path = "program/docs.rs"]
mod docs;
// they take longest, and tests begin in the order of their names
#[cfg(unix)]
#[path = "program/documents.rs"]
mod documents;
#[path = "program/errors.rs"]
mod errors;
#[path = "program/evaluate.rs"]
mod evaluate;
#[path = "program/export.rs"]
mod export;
#[cfg(target_os = "linux")]
#[path = "program/faults.rs"]
mod faults;
#[path = "program/formats.rs"]
mod formats;
#[path = "program/game_pages.rs"]
mod game_pages;
#[path = "program/house.rs"]
mod house;
#[path = "program/interface.rs"]
mod interface;
#[path = "program/japanese.rs"]
mod japanese;
#[path = "program/known.rs"]
mod known;
#[path = "program/match_stats.rs"]
mod match_stats;
#[path = "program/material.rs"]
mod material;
#[path = "program/mistakes.rs"]
mod mistakes;
#[path = "program/models.rs"]
mod models;
#[path = "program/oracle.rs"]
mod oracle;
#[path = "program/page.rs"]
mod page;
#[path = "program/play.rs"]
mod play;
#[path = "program/playout.rs"]
mod playout;
#[path = "program/protocol.rs"]
mod protocol;
#[path = "program/proxy.rs"]
mod proxy;
#[path = "program/reading.rs"]
mod reading;
#[path = "program/real.rs"]
mod real;
#[path = "program/replay.rs"]
mod replay;
#[path = "program/rescale.rs"]
mod rescale;
#[path = "program/same_bytes.rs"]
mod same_bytes;
#[path = "program/sentinels.rs"]
mod sentinels;
#[path = "program/serve_page.rs"]
mod serve_page;
#[path = "program/split.rs"]
mod split;
#[path = "program/tables.rs"]
mod tables;
#[path = "program/theory.rs"]
mod theory;
#[path = "program/thresholds.rs"]
mod thresholds;
