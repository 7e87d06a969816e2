//! Files and folders that commands write.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::options::{InputArgs, OutputArgs};
use super::{Done, terminal};
use crate::calibration::{Calibration, CalibrationError};
use crate::language::{Language, Text};
use crate::plot::Figure;
use crate::record::find::expand_globs;
use crate::report::figures::save;
use crate::run::keep_engines;
use crate::text;
pub(super) use crate::text::shown_path as shown;

/// Whether a file is a calibration file by its name.
pub(super) fn is_calibration(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
}

/// The one file that a path or a glob names.
pub(super) fn one_file(path: &Path) -> anyhow::Result<PathBuf> {
    match expand_globs(&[path.to_owned()])?.as_slice() {
        [one] => Ok(one.clone()),
        all => bail!(text!(
            "{}: {} files match; give one",
            "{}: {} 個のファイルが合います。一つだけ指定してください",
            path.display(),
            all.len()
        )),
    }
}

/// Reads the calibration file that a path or a glob names; the error says so if the file is of another kind.
pub(super) fn calibration(path: &Path) -> anyhow::Result<Calibration> {
    let path = one_file(path)?;
    Calibration::read(&path).map_err(|error| match head(&path) {
        Ok(bytes) if !is_too_large(&error) && memchr::memmem::find(&bytes, b"evalcurve-calibration").is_none() => {
            let words = text!(
                "{}: not a calibration file; `evalcurve calibrate` writes calibration files",
                "{}: 較正ファイルではありません。較正ファイルは `evalcurve calibrate` が書き出します",
                path.display()
            );
            words.into()
        }
        _ => error.into(),
    })
}

fn is_too_large(error: &CalibrationError) -> bool {
    matches!(error, CalibrationError::Io { source, .. } if source.kind() == io::ErrorKind::FileTooLarge)
}

/// The beginning of a file, longer than most calibration files.
fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    fs::File::open(path)?.take(1 << 20).read_to_end(&mut head)?;
    Ok(head)
}

/// Reads calibration files, and keeps those of the engines that --engine names. What is unusual is noted.
pub(super) fn chosen_calibrations(
    paths: &[PathBuf],
    input: &InputArgs,
    quiet: bool,
) -> anyhow::Result<Vec<Calibration>> {
    let filters = input.reading().filters;
    if let Some(option) = filters.other_than_engine() {
        bail!(text!(
            "--{option}: a calibration file has no samples to filter; only --engine chooses among calibration files",
            "--{option}: 較正ファイルには絞り込む標本がありません。較正ファイルを選べるのは --engine だけです"
        ));
    }
    let mut calibrations: Vec<Calibration> =
        paths.iter().map(|path| calibration(path)).collect::<anyhow::Result<_>>()?;
    let notes = keep_engines(&mut calibrations, &filters.engine, |c| &c.engine.name)?;
    note_all(&notes, quiet, input.language.chosen());
    Ok(calibrations)
}

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
        bail!(text!(
            "{}: it is a folder; choose another name",
            "{}: フォルダです。別の名前にしてください",
            path.display()
        ));
    }
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        bail!(text!(
            "{}: it is a device or a pipe; choose another name",
            "{}: デバイスかパイプです。別の名前にしてください",
            path.display()
        ));
    }
    if is_there(path) && !force {
        bail!(text!(
            "{}: the file exists; choose another name, or replace it with --force",
            "{}: ファイルが既にあります。別の名前にするか、--force で上書きしてください",
            path.display()
        ));
    }
    Ok(())
}

/// Creates a folder with its parents.
pub(super) fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("{}: cannot create the folder", path.display()))
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
