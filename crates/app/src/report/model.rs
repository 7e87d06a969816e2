//! The model of a report: blocks of text, tables and figures, which say nothing about how they are printed.

use evalcurve_figures::Figure;
use evalcurve_words::language::Language;

/// A part of the body of a section.
#[derive(Debug)]
pub enum Block {
    Paragraph(String),
    /// A definition or a caveat, in a lighter colour.
    Note(String),
    /// A heading below that of the section.
    Heading(String),
    /// Items with a label, which may be empty.
    List(Vec<(String, String)>),
    Table(Grid),
    /// Figures that may stand side by side.
    Figures(Vec<Figure>),
    /// A part that is collapsed unless it is `open`.
    Folded {
        title: String,
        /// Follows the title.
        rest: String,
        open: bool,
        body: Vec<Block>,
    },
}

/// A paragraph.
pub fn p(text: impl Into<String>) -> Block {
    Block::Paragraph(text.into())
}

/// A definition or a caveat.
pub fn soft(text: impl Into<String>) -> Block {
    Block::Note(text.into())
}

/// A heading below that of the section.
pub fn h3(text: impl Into<String>) -> Block {
    Block::Heading(text.into())
}

/// A part that is collapsed unless it is `open`; `rest` follows its title.
pub fn folded(title: impl Into<String>, rest: &str, open: bool, body: Vec<Block>) -> Block {
    Block::Folded { title: title.into(), rest: rest.to_owned(), open, body }
}

/// The cells of a table. A table without rows is not printed.
#[derive(Debug)]
pub struct Grid {
    /// May be empty.
    pub caption: String,
    /// The language of the words that a printer adds.
    pub language: Language,
    pub columns: Vec<Column>,
    /// The rows to emphasise.
    pub best: Vec<bool>,
}

/// A column of a table.
#[derive(Debug)]
pub struct Column {
    pub name: String,
    pub fill: Fill,
    /// One cell per row.
    pub cells: Vec<String>,
}

/// How cells fill their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// At the right.
    Number,
    /// At the left, on one line.
    Text,
    /// At the left, on as many lines as needed.
    Prose,
}

/// Makes the cells of a table, column by column, from one item of `R` per row.
#[derive(Debug)]
pub struct Table<R> {
    rows: Vec<R>,
    grid: Grid,
}

impl<R> Table<R> {
    /// A table without columns; the caption may be empty.
    pub fn new(language: Language, caption: impl Into<String>, rows: impl IntoIterator<Item = R>) -> Self {
        let rows: Vec<R> = rows.into_iter().collect();
        let best = vec![false; rows.len()];
        Self { rows, grid: Grid { caption: caption.into(), language, columns: Vec::new(), best } }
    }

    fn column(mut self, name: &str, fill: Fill, cell: impl Fn(&R) -> String) -> Self {
        let cells = self.rows.iter().map(cell).collect();
        self.grid.columns.push(Column { name: name.to_owned(), fill, cells });
        self
    }

    /// Adds a column of numbers.
    pub fn number(self, name: &str, cell: impl Fn(&R) -> String) -> Self {
        self.column(name, Fill::Number, cell)
    }

    /// Adds a column of words.
    pub fn text(self, name: &str, cell: impl Fn(&R) -> String) -> Self {
        self.column(name, Fill::Text, cell)
    }

    /// Adds a column of sentences.
    pub fn prose(self, name: &str, cell: impl Fn(&R) -> String) -> Self {
        self.column(name, Fill::Prose, cell)
    }

    /// Emphasises rows.
    pub fn best(mut self, best: impl Fn(&R) -> bool) -> Self {
        self.grid.best = self.rows.iter().map(best).collect();
        self
    }
}

impl<R> From<Table<R>> for Block {
    fn from(table: Table<R>) -> Self {
        Self::Table(table.grid)
    }
}
