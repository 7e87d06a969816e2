//! Why a command has no outcome.

use std::io;
use std::path::Path;

use evalcurve_fit::calibration::CalibrationError;
use evalcurve_records::record::find::SourceError;
use evalcurve_records::sample::collect::CollectError;
use evalcurve_tables::TableError;
use evalcurve_words::language::{Text, ToText};

/// Why a command has no outcome.
#[derive(Debug, thiserror::Error, ToText)]
#[non_exhaustive]
pub enum Error {
    /// Records cannot be read.
    #[error(transparent)]
    Records(#[from] CollectError),
    /// A table cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A calibration file cannot be read.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// Another file cannot be read: the file and what failed.
    #[error("{what}: {source}")]
    File { what: Text, source: io::Error },
    /// [`Progress::stop`](crate::Progress::stop) was set.
    #[error("interrupted")]
    Interrupted,
    /// An option or the data allow no result.
    #[error(transparent)]
    Said(#[from] Text),
}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Self {
        CollectError::from(error).into()
    }
}

impl Error {
    /// An error with the words of another.
    pub fn said(error: impl ToText) -> Self {
        Self::Said(error.to_text())
    }

    /// The kind of the input or output error, if it is one.
    pub fn io(&self) -> Option<io::ErrorKind> {
        let missing = |path: &str| (!Path::new(path).exists()).then_some(io::ErrorKind::NotFound);
        match self {
            Self::File { source, .. } | Self::Calibration(CalibrationError::Io { source, .. }) => Some(source.kind()),
            Self::Records(CollectError::Source(SourceError { kind, .. })) => Some(*kind),
            // a table in memory has another name
            Self::Table(TableError { file: Some(file), .. }) if evalcurve_tables::is_table(Path::new(file)) => {
                missing(file)
            }
            _ => None,
        }
    }
}
