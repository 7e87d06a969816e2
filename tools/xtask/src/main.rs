//! Chores that change or make files: `cargo xtask bless`, `cargo xtask corpus`, `cargo xtask dist`,
//! `cargo xtask lines`, `cargo xtask page`, `cargo xtask site`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};

mod corpus;
mod dist;
mod lines;
mod page;
mod site;

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
enum Chore {
    /// Rewrite the files that tests compare: snapshots, the JSON Schema, the tables of docs/, data/published
    Bless,
    /// Unpack fuzz/corpus.tar.gz into fuzz/corpus, or pack that folder again
    #[command(subcommand)]
    Corpus(Corpus),
    /// Build the program and put it into an archive with documents, examples, data, completions and man pages
    Dist(dist::Dist),
    /// Count the lines of the base and of each use, and hold them to their ceilings
    Lines,
    /// Build the page in the browser: one HTML file, with the library as WebAssembly in it
    Page(page::Page),
    /// Build the documents as a site, English and Japanese, with a search (needs mdbook)
    Site,
}

#[derive(Subcommand)]
enum Corpus {
    /// Write the inputs of all targets into fuzz/corpus/TARGET; other files there stay
    Unpack,
    /// Replace the archive by the files in fuzz/corpus; the same files give the same bytes
    Pack,
}

fn main() -> Result<()> {
    match Chore::parse() {
        Chore::Bless => bless(),
        Chore::Corpus(Corpus::Unpack) => corpus::unpack(&root()),
        Chore::Corpus(Corpus::Pack) => corpus::pack(&root()),
        Chore::Dist(dist) => dist.run(&root()),
        Chore::Lines => lines::run(&root()),
        Chore::Page(page) => page.run(&root()),
        Chore::Site => site::build(&root()),
    }
}

/// The folder of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The entries of a folder in the order of their names.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = read().with_context(|| folder.display().to_string())?;
    paths.sort();
    Ok(paths)
}

/// Runs cargo in the folder of the project.
fn cargo(arguments: &[&str], bless: bool) -> Result<()> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    if bless {
        command.env("EVALCURVE_BLESS", "1");
    }
    let status = command.status().context("cannot run cargo")?;
    ensure!(status.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}

/// The tests that compare a committed file write it if `EVALCURVE_BLESS` is 1.
fn bless() -> Result<()> {
    cargo(
        &[
            "test",
            "--release",
            "--locked",
            "-p",
            "evalcurve-calibration",
            "-p",
            "evalcurve-fit",
            "-p",
            "evalcurve-rules",
            "--lib",
            "--",
            "the_schema_is",
            "the_published_files_are",
            "the_documentation_has_the_list",
        ],
        true,
    )?;
    cargo(&["test", "--release", "--locked", "--test", "program"], true)?;
    println!("read the difference (git diff) before you commit it");
    Ok(())
}
