//! Tables that hold games instead of samples: PGN movetext with the tags as columns, or whole records.

use evalcurve_records::record::pgn::columns::{MOVETEXT, tag, write_game};
use evalcurve_records::sample::Rows;
use evalcurve_words::language::Text;

use super::source::{CellKind, Cells, Source};

/// The names of a column that holds whole records, in any format.
const RECORD: [&str; 2] = ["record", "pgn"];

/// The columns of games that a table with these columns has; `None` if it holds no games.
pub(super) fn game_columns<'n>(names: &[&'n str]) -> Option<Vec<&'n str>> {
    if let Some(record) = RECORD.iter().find_map(|record| names.iter().find(|name| *name == record)) {
        return Some(vec![record]);
    }
    let is_movetext = |name: &&&str| name.eq_ignore_ascii_case(MOVETEXT);
    let movetext = names.iter().find(is_movetext)?;
    Some(std::iter::once(*movetext).chain(names.iter().copied().filter(|name| tag(name).is_some())).collect())
}

/// The games of a table, one per row; `None` if it holds none.
///
/// # Errors
/// A message without the name of the table, for a column of an unsupported type.
pub fn games(table: &dyn Source, name: &str) -> Result<Option<Rows>, Text> {
    let names = table.names();
    let Some(columns) = game_columns(&names) else { return Ok(None) };
    let mut cells: Vec<(&str, Box<dyn Cells + '_>)> = Vec::with_capacity(columns.len());
    for column in columns {
        cells.push((column, table.cells(column, CellKind::Text)?));
    }
    let mut rows = Rows::new(name);
    let Some(((text_name, texts), tags)) = cells.split_first() else { return Ok(None) };
    let is_record = !text_name.eq_ignore_ascii_case(MOVETEXT);
    for row in 0..table.height() {
        rows.push(|out| match texts.text(row) {
            Some(text) if is_record => out.extend_from_slice(text.as_bytes()),
            Some(text) => {
                let tags = tags.iter().filter_map(|(name, cells)| Some((tag(name)?, cells.text(row)?)));
                write_game(tags, text, out);
            }
            None => {}
        });
    }
    Ok(Some(rows))
}
