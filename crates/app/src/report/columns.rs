//! Tables of text: each column is described once, for the header and for every row.

use super::text::{columns, fit_name, printable};

/// A text that Markdown shows as it is: no link, image, HTML, formula or emphasis.
pub fn in_markdown(text: &str) -> String {
    let escaped = |c: char| if c.is_ascii_punctuation() && c != '-' { format!("\\{c}") } else { c.to_string() };
    text.chars().map(escaped).collect()
}

/// Columns to which a narrow terminal may shorten names.
const LEAST_NAME: usize = 13;

/// The columns of a table with rows of type `R`.
pub struct Columns<'a, R> {
    list: Vec<Column<'a, R>>,
    gap: usize,
}

/// How a cell fills its column.
#[derive(Clone, Copy)]
enum Fill {
    /// As a name: padded or shortened to the width.
    Name,
    Left,
    Right,
}

/// A column: `gap` spaces, then the header or a cell.
struct Column<'a, R> {
    gap: usize,
    head: String,
    fill: Fill,
    width: usize,
    cell: Box<dyn Fn(&R) -> String + 'a>,
}

impl<R> Default for Columns<'_, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, R> Columns<'a, R> {
    /// A table whose columns are separated by one space.
    pub fn new() -> Self {
        Self { list: Vec::new(), gap: 1 }
    }

    /// Separates the following columns by this number of spaces.
    pub fn gap(self, gap: usize) -> Self {
        Self { gap, ..self }
    }

    fn add(mut self, fill: Fill, head: impl Into<String>, width: usize, cell: impl Fn(&R) -> String + 'a) -> Self {
        let gap = if self.list.is_empty() { 0 } else { self.gap };
        self.list.push(Column { gap, head: head.into(), fill, width, cell: Box::new(cell) });
        self
    }

    /// Adds a column of names, which are shortened to the width.
    pub fn name(self, head: impl Into<String>, width: usize, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.add(Fill::Name, head, width, cell)
    }

    /// Adds a left-aligned column.
    pub fn left(self, head: impl Into<String>, width: usize, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.add(Fill::Left, head, width, cell)
    }

    /// Adds a right-aligned column.
    pub fn right(self, head: impl Into<String>, width: usize, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.add(Fill::Right, head, width, cell)
    }

    /// Adds the columns if the condition holds.
    pub fn when(self, condition: bool, columns: impl FnOnce(Self) -> Self) -> Self {
        if condition { columns(self) } else { self }
    }

    /// Leaves out these columns, one after the other, until a line has at most `width` columns where names have their
    /// least, and shortens names by what is still too much. Each number counts the columns that are left.
    pub fn within(mut self, width: usize, least_needed: &[usize]) -> Self {
        let is_name = |column: &Column<'a, R>| matches!(column.fill, Fill::Name);
        let least = |c: &Column<'a, R>| c.gap + if is_name(c) { c.width.min(LEAST_NAME) } else { c.width };
        for &column in least_needed {
            if column < self.list.len() && self.list.iter().map(least).sum::<usize>() > width {
                self.list.remove(column);
            }
        }
        let over = self.list.iter().map(|column| column.gap + column.width).sum::<usize>().saturating_sub(width);
        let each = over.div_ceil(self.list.iter().filter(|column| is_name(column)).count().max(1));
        for name in self.list.iter_mut().filter(|column| is_name(column)) {
            name.width = name.width.saturating_sub(each).max(name.width.min(LEAST_NAME));
        }
        self
    }

    fn line(&self, cell: impl Fn(&Column<'a, R>) -> String) -> String {
        let mut out = String::new();
        for column in &self.list {
            let text = printable(&cell(column));
            let pad = " ".repeat(column.width.saturating_sub(columns(&text)));
            out += &" ".repeat(column.gap);
            out += &match column.fill {
                Fill::Name => fit_name(&text, column.width),
                Fill::Left => text + &pad,
                Fill::Right => pad + &text,
            };
        }
        out
    }

    /// The header, without a line end.
    pub fn head(&self) -> String {
        self.line(|column| column.head.clone())
    }

    /// The line of one row, without a line end.
    pub fn row(&self, row: &R) -> String {
        self.line(|column| (column.cell)(row))
    }

    /// The lines of rows, without blanks at their ends.
    pub fn rows(&self, rows: impl IntoIterator<Item = R>) -> String {
        rows.into_iter().map(|row| format!("{}\n", self.row(&row).trim_end())).collect()
    }

    /// The header and the rows in Markdown; only names are escaped.
    pub fn markdown(&self, rows: impl IntoIterator<Item = R>) -> String {
        let cell = |column: &Column<'a, R>, row: &R| match (column.fill, printable(&(column.cell)(row))) {
            (Fill::Name, name) => in_markdown(&name),
            (_, text) => text,
        };
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let ruler = self.list.iter().map(|column| if matches!(column.fill, Fill::Right) { "|---:" } else { "|---" });
        let head = line(self.list.iter().map(|column| column.head.clone()).collect());
        let rows = rows.into_iter().map(|row| line(self.list.iter().map(|column| cell(column, &row)).collect()));
        head + &ruler.collect::<String>() + "|\n" + &rows.collect::<String>()
    }

    /// The header and the lines of rows.
    pub fn table(&self, rows: impl IntoIterator<Item = R>) -> String {
        format!("{}\n{}", self.head().trim_end(), self.rows(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_left_out_and_names_shortened() {
        let head = |width| {
            let table = Columns::new().name("player", 20, |_: &()| String::new()).right("games", 7, |()| String::new());
            let table = table.left("Elo", 10, |()| String::new()).right("p", 5, |()| String::new());
            table.within(width, &[3, 1, 9]).head()
        };
        assert_eq!(head(usize::MAX), head(45));
        assert_eq!(head(45), format!("{:<20}   games Elo            p", "player"));
        assert_eq!(head(40), format!("{:<15}   games Elo            p", "player"));
        assert_eq!(head(37), format!("{:<18}   games Elo       ", "player"));
        assert_eq!(head(24), format!("{:<13} Elo       ", "player"));
        assert_eq!(head(5), head(24));
    }
}
