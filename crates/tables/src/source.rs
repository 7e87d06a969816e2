//! What a table is to its reader: columns with names, from a file or from memory.

use std::fmt::Debug;
use std::ops::Range;

use evalcurve_words::language::Text;

/// What a column should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Numbers, or text with numbers.
    Number,
    /// Booleans, or text.
    Flag,
    Text,
}

/// The cells of one column, as numbers or as text.
pub trait Cells {
    /// A cell as a number; `None` if it is missing or is not a number.
    fn number(&self, row: usize) -> Option<f64>;
    /// A cell as text; `None` if it is missing or the column holds numbers.
    fn text(&self, row: usize) -> Option<&str>;
}

pub trait Source: Debug + Send + Sync {
    /// The names of the columns.
    fn names(&self) -> Vec<&str>;
    /// Number of rows.
    fn height(&self) -> usize;
    /// The number of a row in messages.
    fn line(&self, row: usize) -> u64 {
        row as u64 + 1
    }
    /// The column with this name as text, or as numbers if it holds numbers and `kind` asks for them.
    ///
    /// # Errors
    /// A message without the name of the table.
    fn cells(&self, name: &str, kind: CellKind) -> Result<Box<dyn Cells + '_>, Text>;
    /// The rows that are read at once, in order: several ranges where not all cells are in memory.
    fn parts(&self) -> Vec<Range<usize>> {
        std::iter::once(0..self.height()).collect()
    }
    /// The cells of a column in one of [`Self::parts`], whose first row is 0.
    ///
    /// # Errors
    /// As [`Self::cells`].
    fn part(&self, name: &str, kind: CellKind, _: &Range<usize>) -> Result<Box<dyn Cells + '_>, Text> {
        self.cells(name, kind)
    }
}

/// The values of a column to write, one for each sample.
#[derive(Debug, Clone)]
pub enum Values<'a> {
    Text(Vec<Option<&'a str>>),
    /// Small integers.
    Integer(Vec<Option<i32>>),
    /// Large integers.
    Long(Vec<i64>),
    Float(Vec<Option<f64>>),
    Flag(Vec<bool>),
}

impl Values<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Long(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Flag(values) => values.len(),
        }
    }
}
