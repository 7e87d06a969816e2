//! Writes calibration files: the same bytes on every platform, and the whole file or none.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::error::CalibrationError;
use super::file::{Calibration, FORMAT, VERSION};

#[derive(Serialize)]
struct Document<'a> {
    format: &'a str,
    version: u32,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

/// The number nearest to `x` with 9 significant digits; -0 becomes 0.
pub(super) fn nine_digits(x: f64) -> f64 {
    significant(x, 9)
}

/// The number nearest to `x` with so many significant digits. Correctly rounded, so the same on every platform.
pub(super) fn significant(x: f64, digits: usize) -> f64 {
    let decimals = digits.saturating_sub(1);
    if x == 0.0 || !x.is_finite() { x + 0.0 } else { format!("{x:.decimals$e}").parse().unwrap_or(x) }
}

/// Two spaces a level, floats with 9 significant digits.
struct NineDigits(PrettyFormatter<'static>);

impl Formatter for NineDigits {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        self.0.write_f64(writer, nine_digits(value))
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

impl Calibration {
    /// The text of the calibration file: pretty JSON, floats with 9 significant digits, a newline at the end.
    ///
    /// # Errors
    /// Whatever [`Calibration::from_json`] would refuse is refused here too, with the same message, so that
    /// no file is written that cannot be read.
    pub fn to_json(&self) -> Result<String, CalibrationError> {
        let serialise = |problem: String| CalibrationError::Serialise { engine: self.engine.name.clone(), problem };
        // JSON has no such numbers, and as null the reader would take these for unknown
        let options = [
            ("mates.clip_cp", self.mates.and_then(|m| m.clip_cp)),
            ("mates.threshold_cp", self.mates.and_then(|m| m.threshold_cp)),
            ("scores.largest_cp_left", self.scores.and_then(|s| s.largest_cp_left)),
        ];
        for (name, value) in options {
            if let Some(x) = value.filter(|x| !x.is_finite()) {
                return Err(serialise(format!("{name} is {x}; use None where it is not known")));
            }
        }
        let mut bytes = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut bytes, NineDigits(PrettyFormatter::new()));
        Document { format: FORMAT, version: VERSION, calibration: self }
            .serialize(&mut serializer)
            .map_err(|e| serialise(e.to_string()))?;
        bytes.push(b'\n');
        let text = String::from_utf8(bytes).map_err(|e| serialise(e.to_string()))?;
        Self::from_json(&text, &format!("the calibration of {}", self.engine.name))?;
        Ok(text)
    }

    /// Writes the calibration file, whole or not at all: into a new file beside it, flushed to the disk, then
    /// renamed over whatever stood there. The directory must exist.
    ///
    /// # Errors
    /// As [`Calibration::to_json`], and [`CalibrationError::Io`]; what stood there before is then untouched.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), CalibrationError> {
        let path = path.as_ref();
        crate::whole_file::write(path, self.to_json()?.as_bytes()).map_err(|e| CalibrationError::Io {
            action: e.action,
            path: path.to_owned(),
            source: e.source,
            remedy: e.remedy,
        })
    }
}
