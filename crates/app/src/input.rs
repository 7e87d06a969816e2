//! What a command reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalcurve_tables::Source;
use evalcurve_words::text::portable_path;

/// Something to read.
#[derive(Debug, Clone)]
pub enum InputSource {
    /// A file, a folder, an archive, a glob, or `-` for standard input.
    Path(PathBuf),
    /// A file in memory: its name in messages, and its content.
    Bytes(String, Arc<[u8]>),
    /// A table in memory, with its name in messages.
    Table(String, Arc<dyn Source>),
}

/// What a command reads. Tables are read after the files.
#[derive(Debug, Clone, Default)]
pub struct Input {
    pub sources: Vec<InputSource>,
}

impl Input {
    /// Files, folders, archives and globs.
    pub fn paths<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self { sources: paths.into_iter().map(|path| InputSource::Path(path.into())).collect() }
    }

    /// The files, folders and globs.
    pub fn files(&self) -> Vec<PathBuf> {
        let path = |source: &InputSource| match source {
            InputSource::Path(path) => Some(path.clone()),
            InputSource::Bytes(..) | InputSource::Table(..) => None,
        };
        self.sources.iter().filter_map(path).collect()
    }

    /// The inputs for the calibration file, without folders of this machine. Files in memory that are in a folder count
    /// as the folder.
    pub fn words(&self) -> Vec<String> {
        let word = |source: &InputSource| match source {
            InputSource::Path(path) => {
                let name = path.file_name().filter(|_| path.has_root() || path.starts_with(".."));
                Some(portable_path(name.map_or(path, Path::new)))
            }
            InputSource::Bytes(name, _) => name.split('/').next().map(str::to_owned),
            InputSource::Table(..) => None,
        };
        let mut words: Vec<String> = self.sources.iter().filter_map(word).filter(|word| !word.is_empty()).collect();
        words.dedup();
        words
    }
}
