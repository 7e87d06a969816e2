//! What every crate of evalcurve says and writes: messages in English and Japanese, text that is safe to show, files
//! that are written whole, and random numbers from keys.
//!
//! ```
//! use evalcurve_words::language::Language;
//! use evalcurve_words::text;
//!
//! let points = text!("{n} points", n = 12);
//! assert_eq!(points.to_string(), "12 points");
//! assert_eq!(points.text(Language::Japanese), "12 点");
//! ```

pub mod fen;
pub mod language;
pub mod random;
pub mod text;
pub mod whole_file;
