//! Is a calibration right, and how sure is it? Questions to the sample table and to calibration files.

pub mod coverage;
pub mod drift;
pub mod regression;
pub mod split;

#[cfg(test)]
mod oracle;
