//! The headers of the pages of a Parquet file, checked before polars reads them.
//!
//! polars believes them: a damaged number of values makes it ask for more memory than any machine has, which ends the
//! program, or gives columns of different lengths.

use evalcurve_records::csv_text::MOST_BYTES;
use polars_io::parquet::read::FileMetadata;
use polars_parquet_format::thrift::protocol::TCompactInputProtocol;
use polars_parquet_format::{PageHeader, PageType};

/// Most bytes that a compressed byte of a page can stand for; zstd reaches 2^15.
const MOST_EXPANSION: u64 = 1 << 16;
/// The same for a page of a few bytes.
const LEAST_EXPANSION: u64 = 1 << 20;

/// Whether each page of the columns that `is_needed` selects by name has a possible size, and each column as many
/// values as its row group has rows.
pub(super) fn are_sound(file: &[u8], metadata: &FileMetadata, is_needed: impl Fn(&str) -> bool) -> bool {
    let mut expanded = 0;
    let rows = metadata.row_groups.iter().try_fold(0_usize, |rows, group| rows.checked_add(group.num_rows()));
    let columns = metadata.row_groups.iter().flat_map(|group| {
        let needed = group.parquet_columns().iter().filter(|column| {
            let name = column.descriptor().path_in_schema.first();
            name.is_some_and(|name| is_needed(name.as_str()))
        });
        needed.map(|column| (group.num_rows(), column))
    });
    let mut columns = columns.map(|(rows, column)| {
        let range = column.byte_range();
        let chunk = file.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)?;
        let is_full = column.num_values() == i64::try_from(rows).ok()? && values(chunk, rows, &mut expanded)? == rows;
        Some(is_full)
    });
    rows == Some(metadata.num_rows) && columns.all(|column| column == Some(true))
}

/// The values of the pages of a column chunk, up to the page with which there are `rows` of them. `None` if a header is
/// impossible. Adds the size of the pages without compression to `expanded`.
fn values(mut chunk: &[u8], rows: usize, expanded: &mut u64) -> Option<usize> {
    let mut values = 0;
    while values < rows {
        let size = chunk.len();
        let header = PageHeader::read_from_in_protocol(&mut TCompactInputProtocol::new(&mut chunk, size)).ok()?;
        let (stored, page) = (header.compressed_page_size.try_into().ok()?, header.uncompressed_page_size);
        let page = u64::try_from(page).ok()?;
        *expanded += page;
        let possible = (stored as u64).saturating_mul(MOST_EXPANSION).max(LEAST_EXPANSION);
        if page > possible || *expanded > MOST_BYTES {
            return None;
        }
        match header.type_ {
            PageType::DATA_PAGE => values += usize::try_from(header.data_page_header?.num_values).ok()?,
            PageType::DATA_PAGE_V2 => values += usize::try_from(header.data_page_header_v2?.num_values).ok()?,
            PageType::DICTIONARY_PAGE => {
                // each entry takes a byte or more
                let entries = u64::try_from(header.dictionary_page_header?.num_values).ok()?;
                if entries > page {
                    return None;
                }
            }
            _ => return None,
        }
        chunk = chunk.get(stored..)?;
    }
    Some(values)
}
