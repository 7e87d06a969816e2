//! Runs the real program as its users do: records in, tables, calibrations and messages out.
//!
//! Known truth comes from the hidden `generate` command. Tests on real records need the environment variable
//! EVALCURVE_RECORDS and say so where they are skipped.

#[path = "program/support.rs"]
mod support;

#[path = "program/calibrate.rs"]
mod calibrate;
#[path = "program/compare.rs"]
mod compare;
#[path = "program/diagnose.rs"]
mod diagnose;
#[path = "program/errors.rs"]
mod errors;
#[path = "program/house.rs"]
mod house;
#[path = "program/interface.rs"]
mod interface;
#[path = "program/models.rs"]
mod models;
#[path = "program/oracle.rs"]
mod oracle;
#[path = "program/reading.rs"]
mod reading;
#[path = "program/real.rs"]
mod real;
#[path = "program/same_bytes.rs"]
mod same_bytes;
#[path = "program/sentinels.rs"]
mod sentinels;
#[path = "program/split.rs"]
mod split;
