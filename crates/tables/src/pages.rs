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

/// The size of a column without compression; `None` if a page has an impossible size, or if it has not as many values
/// in each row group as the row group has rows.
pub(super) fn size_of(file: &[u8], metadata: &FileMetadata, name: &str) -> Option<u64> {
    let mut expanded = 0;
    let columns = metadata.row_groups.iter().flat_map(|of| of.parquet_columns().iter().map(|c| (of.num_rows(), c)));
    let named = columns.filter(|(_, c)| c.descriptor().path_in_schema.first().is_some_and(|f| f.as_str() == name));
    for (rows, column) in named {
        let range = column.byte_range();
        let chunk = file.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)?;
        if column.num_values() != i64::try_from(rows).ok()? || values(chunk, rows, &mut expanded)? != rows {
            return None;
        }
    }
    Some(expanded)
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
