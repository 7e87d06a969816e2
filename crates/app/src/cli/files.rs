//! Files and folders that commands write.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::bail;
use clap::ArgMatches;
use evalcurve_figures::Figure;
use evalcurve_records::record::find::find;
use evalcurve_tables::{TableOptions, is_table, looks_like};
use evalcurve_words::language::{Language, Text};
use evalcurve_words::text;
use evalcurve_words::whole_file::{self, Inputs};
use serde_json::{Value, json};

use super::messages::About;
use super::options::OutputArgs;
use super::{Done, terminal};
use crate::report::figures::save;

pub use crate::{calibration, calibrations_in, is_calibration, one_file, with_calibrations_of_folders};
pub use evalcurve_words::text::shown_path as shown;

/// Writes notes to standard error.
pub fn note_all(notes: &[Text], quiet: bool, language: Language) {
    notes.iter().filter(|_| !quiet).for_each(|note| terminal::note(&note.text(language)));
}

/// Opens a page or an address as the desktop does.
///
/// # Errors
/// There is no such desktop.
pub fn open_in_browser(address: impl AsRef<OsStr>) -> std::io::Result<()> {
    let program = match std::env::consts::OS {
        "windows" => "explorer",
        "macos" => "open",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}

/// Whether there is anything of this name, also a link to a file that does not exist.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Options whose values are files that are read, or folders of them.
const READ_BY: [&str; 7] = ["calibration", "calibrations", "forecast_tables", "judges", "page", "teacher", "weights"];

/// Lets no output of this command replace what the command reads: what is given without an option, or by one that
/// reads.
pub fn protect(matches: &ArgMatches, command: &clap::Command) {
    let mut given = Vec::new();
    read_by(matches, command, &mut given);
    let known: OnceLock<[Inputs; 2]> = OnceLock::new();
    whole_file::protect(move |output| {
        // nothing is lost where there is no file
        if !output.is_file() {
            return false;
        }
        let [named, found] = known.get_or_init(|| {
            let entries = |path: &PathBuf| find(std::slice::from_ref(path)).unwrap_or_default();
            let all = |path: &PathBuf| entries(path).into_iter().filter_map(|entry| entry.path).collect::<Vec<_>>();
            let (folders, files): (Vec<&PathBuf>, Vec<&PathBuf>) = given.iter().partition(|path| path.is_dir());
            [files, folders].map(|paths| Inputs::of(paths.into_iter().flat_map(all)))
        });
        named.replaced_by(output).is_some() || found.replaced_by(output).is_some_and(is_read)
    });
}

/// The paths in the arguments of a command that reads them.
fn read_by(matches: &ArgMatches, command: &clap::Command, given: &mut Vec<PathBuf>) {
    let positional = command.get_positionals().map(|argument| argument.get_id().as_str());
    for values in positional.chain(READ_BY).filter_map(|id| matches.try_get_raw(id).ok().flatten()) {
        for value in values {
            // NAME=FILE
            let file = value.to_str().and_then(|text| text.split_once('=')).map(|(_, file)| PathBuf::from(file));
            given.extend(file.filter(|file| file.exists()));
            given.push(value.into());
        }
    }
    if let Some((name, matches)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
    {
        read_by(matches, command, given);
    }
}

/// Whether a file of a folder is read with it, and is no output of an earlier run that lies there.
fn is_read(path: &Path) -> bool {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json" | "svg" | "png" | "html") => false,
        _ if is_table(path) => {
            let mut head = Vec::new();
            let read = File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut head));
            read.is_err() || looks_like(&head, &TableOptions::default())
        }
        _ => true,
    }
}

/// Refuses to replace an existing file without `force`, and a folder or what this command reads always.
pub fn check_replace(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!(text!("{}: it is a folder; choose another name", path.display()));
    }
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        bail!(text!("{}: it is a device or a pipe; choose another name", path.display()));
    }
    whole_file::check(path)?;
    if is_there(path) && !force {
        bail!(text!("{}: the file exists; choose another name, or replace it with --force", path.display()));
    }
    Ok(())
}

/// Creates a folder with its parents.
pub fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).about(|| text!("{}: cannot create the folder", path.display()))
}

/// Creates the parent folder of a file.
pub fn make_parent(path: &Path) -> anyhow::Result<()> {
    path.parent().filter(|p| !p.as_os_str().is_empty()).map_or(Ok(()), make_folder)
}

/// Writes a figure as SVG and PNG to the path of either.
pub fn write_figure(path: &Path, figure: Figure) -> anyhow::Result<()> {
    make_parent(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    save(Ok(figure), path.parent().unwrap_or(Path::new("")), &stem, false)?;
    Ok(())
}

/// Lists the plots that were written, after a summary, if there is one. `also` names the files beside each SVG.
pub fn list_plots(
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
