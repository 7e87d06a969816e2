//! Archives of a release.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::sorted;

/// What an archive contains beside the program, its completions and its man pages.
const FILES: [&str; 16] = [
    "README.md",
    "README.ja.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "crates/figures/src/font/LICENSE.txt",
    "commands/lab/README.md",
    "commands/lab/playouts.md",
    "commands/lab/protocol.md",
    "commands/lab/theory.md",
    "docs",
    "examples",
    "plots",
    "data",
];

#[derive(Args)]
pub(crate) struct Dist {
    /// Target triple, such as x86_64-unknown-linux-musl; default: this machine
    #[arg(long)]
    target: Option<String>,
    /// Take this program instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Program that starts the built one, such as wine; WINEPATH names the folder of DLLs that it needs
    #[arg(long, value_name = "PROGRAM")]
    runner: Option<PathBuf>,
    /// Folder of the archive
    #[arg(long, value_name = "FOLDER", default_value = "target/dist-archives")]
    out: PathBuf,
}

impl Dist {
    pub(crate) fn run(&self, root: &Path) -> Result<()> {
        let target = match &self.target {
            Some(target) => target.clone(),
            None => host()?,
        };
        let program = self.built(root)?;
        let name = format!("evalcurve-{}-{target}", env!("CARGO_PKG_VERSION"));
        let out = root.join(&self.out);
        let folder = out.join(&name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        for file in FILES {
            copy(&root.join(file), &folder.join(file))?;
        }
        // the page in the browser, where `cargo xtask page` has made it
        let page = root.join("target/page/evalcurve.html");
        match page.exists() {
            true => copy(&page, &folder.join("evalcurve.html"))?,
            false => eprintln!("the archive has no page: run `cargo xtask page` first"),
        }
        fs::write(folder.join("LICENSES-OF-CRATES.txt"), notices(root, &target)?)?;
        let windows = target.contains("windows");
        let file = folder.join(if windows { "evalcurve.exe" } else { "evalcurve" });
        fs::copy(&program, &file).with_context(|| program.display().to_string())?;
        let lab = program.with_file_name(if windows { "evalcurve-lab.exe" } else { "evalcurve-lab" });
        fs::copy(&lab, folder.join(lab.file_name().unwrap_or_default())).with_context(|| lab.display().to_string())?;
        self.documents(&file, &folder)?;
        let archive = if windows { zipped(&out, &name)? } else { tarred(&out, &name)? };
        let digest = Sha256::digest(fs::read(&archive)?).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let base = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::write(out.join(format!("{base}.sha256")), format!("{digest}  {base}\n"))?;
        println!("{}: {} bytes", archive.display(), fs::metadata(&archive)?.len());
        Ok(())
    }

    /// The program, which is built unless it was given.
    fn built(&self, root: &Path) -> Result<PathBuf> {
        if let Some(program) = &self.program {
            return Ok(program.clone());
        }
        let mut arguments =
            vec!["build", "--profile", "dist", "--locked", "-p", "evalcurve", "-p", "evalcurve-lab", "--bins"];
        let mut folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        if let Some(target) = &self.target {
            arguments.extend(["--target", target]);
            folder.push(target);
        }
        crate::cargo(&arguments, false)?;
        let program = folder.join("dist/evalcurve");
        Ok(if program.exists() { program } else { program.with_extension("exe") })
    }

    /// Lets the program write its completions and man pages.
    fn documents(&self, program: &Path, folder: &Path) -> Result<()> {
        let run = |arguments: &[&str]| -> Result<Vec<u8>> {
            let mut command = match &self.runner {
                Some(runner) => {
                    let mut command = Command::new(runner);
                    command.arg(program);
                    command
                }
                None => Command::new(program),
            };
            let ran =
                command.current_dir(folder).args(arguments).output().with_context(|| program.display().to_string())?;
            ensure!(
                ran.status.success(),
                "evalcurve {}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&ran.stderr)
            );
            Ok(ran.stdout)
        };
        let completions = folder.join("completions");
        fs::create_dir_all(&completions)?;
        for (shell, file) in [
            ("bash", "evalcurve.bash"),
            ("zsh", "_evalcurve"),
            ("fish", "evalcurve.fish"),
            ("powershell", "evalcurve.ps1"),
        ] {
            fs::write(completions.join(file), run(&["completions", shell])?)?;
        }
        run(&["man", "--out", "man"]).map(|_| ())
    }
}

/// The target triple of the compiler.
fn host() -> Result<String> {
    let version = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8(version.stdout)?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc -vV names no host")
}

/// Copies a file, or a folder with all that is in it.
/// The crates in the programs with their licences, whose texts most licences want beside every copy.
fn notices(root: &Path, target: &str) -> Result<String> {
    let tree = ["tree", "--locked", "-p", "evalcurve", "-p", "evalcurve-lab", "-e", "normal", "--prefix", "none"];
    let ran =
        Command::new("cargo").args(tree).args(["--target", target, "-f", "{p}|{l}"]).current_dir(root).output()?;
    ensure!(ran.status.success(), "cargo tree: {}", String::from_utf8_lossy(&ran.stderr));
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).context("there is no CARGO_HOME")?;
    let registries = sorted(&home.join("registry/src"))?;
    // ours are those with a path
    let listed = String::from_utf8(ran.stdout)?;
    let crates: BTreeSet<&str> = listed.lines().filter(|line| line.contains('|') && !line.contains('(')).collect();
    let (mut list, mut texts) = (String::new(), BTreeMap::<String, Vec<String>>::new());
    for line in crates {
        let (name, licence) = line.split_once('|').unwrap_or_default();
        let name = name.replace(" v", "-");
        list += &format!("{name}: {licence}\n");
        let folder = registries.iter().map(|registry| registry.join(&name)).find(|folder| folder.is_dir());
        let folder = folder.with_context(|| format!("{name}: its source is not in {}", home.display()))?;
        for file in sorted(&folder)? {
            let of = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if file.is_file()
                && ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"].iter().any(|w| of.starts_with(w))
            {
                texts.entry(fs::read_to_string(&file)?).or_default().push(name.clone());
            }
        }
    }
    let text =
        |(text, names): (&String, &Vec<String>)| format!("\n{0}\n{1}\n{0}\n\n{text}", "-".repeat(72), names.join(", "));
    Ok(format!(
        "The crates in these programs and their licences.\n\n{list}{}",
        texts.iter().map(text).collect::<String>()
    ))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        fs::copy(from, to).with_context(|| from.display().to_string())?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in sorted(from)? {
        copy(&entry, &to.join(entry.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

fn tarred(out: &Path, name: &str) -> Result<PathBuf> {
    let path = out.join(format!("{name}.tar.gz"));
    let mut archive = tar::Builder::new(GzEncoder::new(fs::File::create(&path)?, Compression::best()));
    archive.mode(tar::HeaderMode::Deterministic);
    archive.append_dir_all(name, out.join(name))?;
    archive.into_inner()?.finish()?.flush()?;
    Ok(path)
}

fn zipped(out: &Path, name: &str) -> Result<PathBuf> {
    fn add(archive: &mut zip::ZipWriter<fs::File>, path: &Path, name: &str) -> Result<()> {
        if !path.is_dir() {
            archive.start_file(name, zip::write::SimpleFileOptions::default())?;
            io::copy(&mut fs::File::open(path)?, archive)?;
            return Ok(());
        }
        for entry in sorted(path)? {
            let file = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            add(archive, &entry, &format!("{name}/{file}"))?;
        }
        Ok(())
    }
    let path = out.join(format!("{name}.zip"));
    let mut archive = zip::ZipWriter::new(fs::File::create(&path)?);
    add(&mut archive, &out.join(name), name)?;
    archive.finish()?;
    Ok(path)
}
