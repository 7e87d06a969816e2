//! Counts the lines of the base and of each use, and holds them to their ceilings.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::sorted;

/// The most lines of all crates of the base, of one use, and of the list of uses. They are a ratchet at what stands:
/// the goals are 34,000 for the base and 4,600 for a use.
const BASE: usize = 41_465;
const USE: usize = 5_840;
const PROGRAM: usize = 300;

/// Prints the counts: lines of programs without blank lines, comments and tests.
pub(super) fn run(root: &Path) -> Result<()> {
    let program = below(&root.join("src"))?;
    println!("{program:6}  src (at most {PROGRAM})");
    let mut over = vec![(program > PROGRAM, "src".to_owned())];
    let mut base = 0;
    for folder in sorted(&root.join("crates"))? {
        let lines = below(&folder.join("src"))?;
        base += lines;
        println!("{lines:6}  {}", shown(&folder, root));
    }
    println!("{base:6}  base (at most {BASE})");
    over.push((base > BASE, "the base".to_owned()));
    let mut uses = 0;
    for folder in sorted(&root.join("commands"))? {
        let lines = below(&folder.join("src"))?;
        uses += lines;
        println!("{lines:6}  {} (at most {USE})", shown(&folder, root));
        over.push((lines > USE, shown(&folder, root)));
    }
    let mut others = 0;
    for folder in sorted(&root.join("bindings"))? {
        let lines = below(&folder.join("src"))?;
        others += lines;
        println!("{lines:6}  {}", shown(&folder, root));
    }
    println!("{:6}  all", program + base + uses + others);
    let over: Vec<String> = over.into_iter().filter_map(|(is_over, name)| is_over.then_some(name)).collect();
    ensure!(over.is_empty(), "too many lines: {}; cut them, or split what grew", over.join(", "));
    Ok(())
}

fn shown(folder: &Path, root: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().replace('\\', "/")
}

/// The lines of the Rust files below a folder.
fn below(folder: &Path) -> Result<usize> {
    let mut lines = 0;
    for path in sorted(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_test = name.contains("test") || name.contains("oracle");
        if is_test {
            continue;
        }
        if path.is_dir() {
            lines += below(&path)?;
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(&path)?;
            let program = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let counts = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
            lines += program.lines().filter(counts).count();
        }
    }
    Ok(lines)
}
