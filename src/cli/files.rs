//! Files and folders that commands write.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::{Value, json};

use super::messages::About;
use super::options::OutputArgs;
use super::{Done, terminal};
use crate::language::{Language, Text};
use crate::plot::Figure;
use crate::report::figures::save;
pub(super) use crate::run::{calibration, calibrations_in, is_calibration, one_file, with_calibrations_of_folders};
use crate::text;
pub(super) use crate::text::shown_path as shown;

/// Writes notes to standard error.
pub(super) fn note_all(notes: &[Text], quiet: bool, language: Language) {
    notes.iter().filter(|_| !quiet).for_each(|note| terminal::note(&note.text(language)));
}

/// Whether there is anything of this name, also a link to a file that does not exist.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Refuses to replace an existing file without `force`, and a folder always.
pub(super) fn check_replace(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!(text!("{}: it is a folder; choose another name", path.display()));
    }
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        bail!(text!("{}: it is a device or a pipe; choose another name", path.display()));
    }
    if is_there(path) && !force {
        bail!(text!("{}: the file exists; choose another name, or replace it with --force", path.display()));
    }
    Ok(())
}

/// Creates a folder with its parents.
pub(super) fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).about(|| text!("{}: cannot create the folder", path.display()))
}

/// Creates the parent folder of a file.
pub(super) fn make_parent(path: &Path) -> anyhow::Result<()> {
    path.parent().filter(|p| !p.as_os_str().is_empty()).map_or(Ok(()), make_folder)
}

/// Writes a figure as SVG and PNG to the path of either.
pub(super) fn write_figure(path: &Path, figure: Figure) -> anyhow::Result<()> {
    make_parent(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    save(Ok(figure), path.parent().unwrap_or(Path::new("")), &stem, false)?;
    Ok(())
}

/// Lists the plots that were written, after a summary, if there is one. `also` names the files beside each SVG.
pub(super) fn list_plots(
    output: &OutputArgs,
    written: &[PathBuf],
    also: &str,
    summary: Option<(Value, String)>,
) -> anyhow::Result<Done> {
    let written: Vec<String> = written.iter().map(|p| shown(p)).collect();
    let (summary, mut text) = summary.unzip();
    let text = text.get_or_insert_default();
    text.extend(written.iter().map(|p| format!("{p}{also}\n")));
    let mut document = json!({ "plots": written });
    if let Some(summary) = summary {
        document["summary"] = summary;
    }
    output.print(|| document, || std::mem::take(text))?;
    Ok(Done::Yes)
}
