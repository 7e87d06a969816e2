//! What the program is to a GUI that starts it without arguments: the council or the proxy of the file beside it. And
//! to a desktop, where it is double-clicked or records are dropped on it: the page.

use std::env::current_exe;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, IsTerminal, stdin};
use std::path::{Path, PathBuf};

use evalcurve_app::cli::files::{open_in_browser, shown};
use evalcurve_app::cli::{Assumed, terminal};
use serde::Deserialize;

/// A file for the command `proxy` in place of a council's.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    proxy: Proxy,
}

/// The options of a proxy. Paths are relative to the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Proxy {
    engine: PathBuf,
    #[serde(default)]
    args: Vec<String>,
    calibration: PathBuf,
    scale: Option<f64>,
    #[serde(default)]
    field: bool,
    #[serde(default)]
    wdl: bool,
}

/// Whether the program was started without arguments, and not in a terminal: many GUIs register only an executable.
fn is_for_a_gui(given: &[OsString]) -> bool {
    given.len() == 1 && !stdin().is_terminal()
}

/// Records that were dropped on the program: a desktop gives their paths and nothing else.
fn dropped(given: &[OsString]) -> Option<Vec<OsString>> {
    let paths = given.get(1..).filter(|paths| paths.iter().all(|path| Path::new(path).exists()))?;
    let first = paths.first()?;
    let is_command = crate::PROGRAM.command_line().get_subcommands().any(|command| first == command.get_name());
    let page = ["serve-page", "--open"].map(OsString::from);
    (!is_command).then(|| page.into_iter().chain(paths.iter().cloned()).collect())
}

/// Opens the page if the program was double-clicked: then its window closes with it. `cmd` sets `PROMPT`, and the
/// desktop does not.
fn opens_page(given: &[OsString]) -> bool {
    let is_clicked = cfg!(windows) && given.len() == 1 && std::env::var_os("PROMPT").is_none();
    let page = current_exe().map(|program| program.with_file_name("evalcurve.html")).unwrap_or_default();
    is_clicked && stdin().is_terminal() && page.is_file() && open_in_browser(page).is_ok()
}

/// What the program does if it was started without arguments, or with paths alone.
///
/// # Errors
/// A message for a file of a proxy that cannot be read.
pub(crate) fn assumed(given: &[OsString]) -> anyhow::Result<Assumed> {
    if opens_page(given) {
        return Ok(Assumed::Answered);
    }
    let found = dropped(given).map_or_else(|| arguments(given), Ok)?;
    Ok(if found.is_empty() && answer_without_config(given) { Assumed::Answered } else { Assumed::Arguments(found) })
}

/// The arguments to assume if there are none and the input is not a terminal.
/// The file has the name of the program, so that copies of it can be several engines, or the name `evalcurve.toml`.
///
/// # Errors
/// A message for a file of a proxy that cannot be read.
fn arguments(given: &[OsString]) -> anyhow::Result<Vec<OsString>> {
    if !is_for_a_gui(given) {
        return Ok(Vec::new());
    }
    let Ok(program) = current_exe() else { return Ok(Vec::new()) };
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let own = format!("{}.toml", name.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(&name));
    let files = [own.as_str(), "evalcurve.toml"].map(|name| program.with_file_name(name));
    let Some(file) = files.into_iter().find(|file| file.exists()) else { return Ok(Vec::new()) };
    // what else is wrong with the file, the council says
    let text = fs::read_to_string(&file).unwrap_or_default();
    match text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("proxy")) {
        true => of_proxy(&file, &text),
        false => Ok(vec!["council".into(), file.into_os_string()]),
    }
}

fn of_proxy(file: &Path, text: &str) -> anyhow::Result<Vec<OsString>> {
    let File { proxy } = toml::from_str(text).map_err(|error| {
        let line = text[..error.span().map_or(0, |span| span.start)].matches('\n').count() + 1;
        anyhow::anyhow!("{}:{line}: {}", shown(file), evalcurve_words::text::plain_types(error.message()))
    })?;
    let beside = |path: &Path| file.with_file_name("").join(path);
    let engine = beside(&proxy.engine);
    let mut arguments: Vec<OsString> = vec!["proxy".into(), "--calibration".into(), beside(&proxy.calibration).into()];
    arguments.extend(proxy.scale.map(|scale| format!("--scale={scale}").into()));
    arguments.extend(proxy.field.then(|| "--field".into()));
    arguments.extend(proxy.wdl.then(|| "--wdl".into()));
    if engine.is_file() {
        // where it looks for its own files
        arguments.extend(["--directory".into(), engine.with_file_name("").into()]);
    }
    // a name without a file is looked up on PATH
    let engine = if engine.is_file() { engine } else { proxy.engine };
    arguments.extend(["--".into(), engine.into()]);
    arguments.extend(proxy.args.into_iter().map(OsString::from));
    Ok(arguments)
}

/// Answers a GUI that starts the program without arguments and without `evalcurve.toml`, so that it can show what is
/// missing. `false` if the other side is no GUI.
fn answer_without_config(arguments: &[OsString]) -> bool {
    if !is_for_a_gui(arguments) {
        return false;
    }
    let folder = current_exe().ok().and_then(|p| Some(shown(p.parent()?))).unwrap_or_default();
    let missing = format!(
        "info string evalcurve.toml is missing: put the configuration of the council into the folder {folder} \
         (docs/council.md), or register 'evalcurve council FILE.toml'\n"
    );
    let mut no_move = None;
    // lines need not be UTF-8
    for line in stdin().lock().split(b'\n').map_while(Result::ok) {
        let answer = match String::from_utf8_lossy(&line).split_whitespace().next() {
            Some(word @ ("usi" | "uci")) => {
                no_move = Some(if word == "usi" { "resign" } else { "0000" });
                format!("id name evalcurve without evalcurve.toml\nid author evalcurve\n{missing}{word}ok\n")
            }
            Some("isready") if no_move.is_some() => format!("{missing}readyok\n"),
            Some("go") if no_move.is_some() => format!("{missing}bestmove {}\n", no_move.unwrap_or_default()),
            Some("quit") => break,
            _ if no_move.is_some() => continue,
            _ => break,
        };
        if terminal::print(&answer).is_err() {
            break;
        }
    }
    no_move.is_some()
}
