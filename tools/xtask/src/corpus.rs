//! The inputs of the fuzz targets, in one archive.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::sorted;

const ARCHIVE: &str = "fuzz/corpus.tar.gz";
const FOLDER: &str = "fuzz/corpus";

pub(crate) fn unpack(root: &Path) -> Result<()> {
    let archive = root.join(ARCHIVE);
    let file = fs::File::open(&archive).with_context(|| archive.display().to_string())?;
    tar::Archive::new(GzDecoder::new(file)).unpack(root.join("fuzz")).with_context(|| archive.display().to_string())
}

/// Packs the files in the order of their names, without owner, time and mode.
pub(crate) fn pack(root: &Path) -> Result<()> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let mut count = 0;
    for target in sorted(&root.join(FOLDER))? {
        let files = sorted(&target)?;
        // the archive that is there is replaced: the folder must hold all targets
        ensure!(files.len() >= 3, "{}: {} files, at least 3 are needed", target.display(), files.len());
        for file in files {
            let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            let name = file.strip_prefix(root.join("fuzz"))?;
            archive.append_data(&mut header, name, bytes.as_slice())?;
            count += 1;
        }
    }
    ensure!(count > 0, "{FOLDER}: no files; unpack the archive first");
    let bytes = archive.into_inner()?.finish()?;
    fs::File::create(root.join(ARCHIVE))?.write_all(&bytes)?;
    println!("{ARCHIVE}: {count} files, {} bytes", bytes.len());
    Ok(())
}
