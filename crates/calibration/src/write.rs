//! The text of calibration files: the same bytes on every platform.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::ser::{Formatter, PrettyFormatter};

use crate::error::CalibrationError;
use crate::file::Calibration;
use crate::unknown::put_back;

/// The number nearest to `x` with 9 significant digits, the precision of all our files; -0 becomes 0.
pub fn nine_digits(x: f64) -> f64 {
    significant(x, 9)
}

/// The number nearest to `x` with this many significant digits. Correctly rounded, so the same on every platform.
pub fn significant(x: f64, digits: usize) -> f64 {
    let decimals = digits.saturating_sub(1);
    if x == 0.0 || !x.is_finite() { x + 0.0 } else { format!("{x:.decimals$e}").parse().unwrap_or(x) }
}

/// Indents by two spaces and writes floats with 9 significant digits.
struct NineDigits(PrettyFormatter<'static>);

/// Passes calls on to the pretty formatter.
macro_rules! pretty {
    ($($method:ident($($first:ident)?)),*) => {
        $(fn $method<W: ?Sized + Write>(&mut self, writer: &mut W $(, $first: bool)?) -> io::Result<()> {
            self.0.$method(writer $(, $first)?)
        })*
    };
}

impl Formatter for NineDigits {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        self.0.write_f64(writer, nine_digits(value))
    }

    pretty! {
        begin_array(), end_array(), begin_array_value(first), end_array_value(),
        begin_object(), end_object(), begin_object_key(first), begin_object_value(), end_object_value()
    }
}

impl Serialize for Calibration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // the derived function, which `remote = "Self"` makes an inherent one
        Self::serialize(self, serializer)
    }
}

impl Calibration {
    /// The text of the calibration file: indented JSON, floats with 9 significant digits, a newline at the end.
    ///
    /// # Errors
    /// Fails with the same message where [`Calibration::from_json`] would, so that every written file can be read.
    pub fn to_json(&self) -> Result<String, CalibrationError> {
        let serialise = |problem: String| CalibrationError::Serialise { engine: self.engine.name.clone(), problem };
        // JSON has no such numbers, and the reader would take the null in their place for unknown
        let options = [
            ("field.own_rating", self.field.and_then(|f| f.own_rating)),
            ("field.opponents_rating", self.field.and_then(|f| f.opponents_rating)),
            ("mates.clip_cp", self.mates.and_then(|m| m.clip_cp)),
            ("mates.threshold_cp", self.mates.and_then(|m| m.threshold_cp)),
            ("scores.largest_cp_left", self.scores.and_then(|s| s.largest_cp_left)),
        ];
        for (name, value) in options {
            if let Some(x) = value.filter(|x| !x.is_finite()) {
                return Err(serialise(format!("{name} is {x}; use None if it is unknown")));
            }
        }
        let mut bytes = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, NineDigits(PrettyFormatter::new()));
        let failed = |e: serde_json::Error| serialise(e.to_string());
        if self.unknown.is_empty() {
            Serialize::serialize(self, &mut serializer).map_err(failed)?;
        } else {
            let mut tree = serde_json::to_value(self).map_err(failed)?;
            self.unknown.iter().for_each(|part| put_back(&mut tree, part));
            tree.serialize(&mut serializer).map_err(failed)?;
        }
        bytes.push(b'\n');
        let text = String::from_utf8(bytes).map_err(|e| serialise(e.to_string()))?;
        Self::from_json(&text, &format!("the calibration of {}", self.engine.name))?;
        Ok(text)
    }
}
