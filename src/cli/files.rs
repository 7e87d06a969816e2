//! Files and folders that commands write.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::load::keep_engines;
use super::options::{InputArgs, OutputArgs};
use super::{Done, terminal};
use crate::calibration::Calibration;
use crate::plot::Figure;
use crate::record::find::expand_globs;
use crate::report::figures::save;
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
    Calibration::read(&path).map_err(|error| match fs::read(&path) {
        Ok(bytes) if memchr::memmem::find(&bytes, b"evalcurve-calibration").is_none() => {
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

/// Reads calibration files, and keeps those of the engines that --engine names. What is unusual is noted.
pub(super) fn chosen_calibrations(
    paths: &[PathBuf],
    input: &InputArgs,
    quiet: bool,
) -> anyhow::Result<Vec<Calibration>> {
    if let Some(option) = input.filters.other_than_engine() {
        bail!(text!(
            "--{option}: a calibration file has no samples to filter; only --engine chooses among calibration files",
            "--{option}: 較正ファイルには絞り込む標本がありません。較正ファイルを選べるのは --engine だけです"
        ));
    }
    let mut calibrations: Vec<Calibration> =
        paths.iter().map(|path| calibration(path)).collect::<anyhow::Result<_>>()?;
    let notes = keep_engines(&mut calibrations, &input.filters.engine, |c| &c.engine.name)?;
    for note in notes.iter().filter(|_| !quiet) {
        terminal::note(note.text(input.language.chosen()));
    }
    Ok(calibrations)
}

/// Refuses to replace an existing file without `force`.
pub(super) fn check_replace(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.exists() && !force {
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
