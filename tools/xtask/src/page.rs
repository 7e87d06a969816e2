//! The page in the browser: one HTML file that needs no server and no network.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use bzip2::write::BzEncoder;
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::sorted;

const TARGET: &str = "wasm32-unknown-unknown";

#[derive(Args)]
pub(crate) struct Page {
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "target/page/evalcurve.html")]
    out: PathBuf,
}

impl Page {
    pub(crate) fn run(&self, root: &Path) -> Result<()> {
        let built = built(root)?;
        let folder = built.with_file_name("bound");
        run(Command::new("wasm-bindgen")
            .args([
                "--target",
                "no-modules",
                "--no-typescript",
                "--remove-name-section",
                "--remove-producers-section",
                "--out-dir",
            ])
            .arg(&folder)
            .arg(&built))
        .context("wasm-bindgen: cargo install wasm-bindgen-cli, in the version of Cargo.lock")?;
        let read = |name: &str| {
            let path = root.join("web").join(name);
            fs::read_to_string(&path).with_context(|| path.display().to_string())
        };
        let worker = fs::read_to_string(folder.join("evalcurve_web.js"))? + &read("worker.js")?;
        let script = read("words.js")? + &read("page.js")?;
        for script in [&worker, &script] {
            ensure!(!script.contains("</script") && !script.contains("<!--"), "a script would end early");
        }
        let mut page = read("page.html")?;
        for (mark, text) in [
            ("/*STYLE*/", read("style.css")?),
            ("/*WASM*/", base64(&compressed(&fs::read(folder.join("evalcurve_web_bg.wasm"))?)?)),
            ("/*EXAMPLE*/", base64(&example(root)?)),
            ("/*WORKER*/", worker),
            ("/*PAGE*/", script),
        ] {
            let (before, after) = page.split_once(mark).with_context(|| format!("page.html has no {mark}"))?;
            page = format!("{before}{text}{after}");
        }
        let out = root.join(&self.out);
        fs::create_dir_all(out.parent().unwrap_or(root))?;
        fs::write(&out, &page)?;
        println!(
            "{}: {} bytes, {} as a server sends it",
            out.display(),
            page.len(),
            compressed(page.as_bytes())?.len()
        );
        Ok(())
    }
}

/// Compiles the library for WebAssembly, by rustup's target or with the standard library of Debian's rust-web-src.
fn built(root: &Path) -> Result<PathBuf> {
    let output = |program: &str, arguments: &[&str]| {
        let ran = Command::new(program).args(arguments).output().ok().filter(|ran| ran.status.success());
        ran.map(|ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned())
    };
    let has_target = output("rustup", &["target", "list", "--installed"]).is_some_and(|all| all.contains(TARGET));
    let target_folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target/wasm"), PathBuf::from);
    let mut cargo = Command::new("cargo");
    if !has_target {
        let debian = output("/usr/bin/rustc", &["--print", "sysroot"]).map(PathBuf::from);
        ensure!(
            debian.is_some_and(|sysroot| sysroot.join("lib/rustlib/src/rust/library/std").is_dir()),
            "no Rust for WebAssembly: rustup target add {TARGET} (Debian: rustc-web cargo-web rust-web-src lld clang)"
        );
        cargo = Command::new("/usr/bin/cargo");
        cargo
            .args(["-Z", "build-std=std,panic_abort"])
            .env("RUSTC", "/usr/bin/rustc")
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld");
    }
    // what every browser has that can unpack the page
    cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-C target-feature=+simd128");
    // cargo xtask runs under rustup, whose variables would send rustup's cargo the wrong way
    cargo.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN").env("CARGO_INCREMENTAL", "0");
    cargo.current_dir(root).env("CARGO_TARGET_DIR", &target_folder).args([
        "build",
        "--profile",
        "page",
        "--locked",
        "--target",
        TARGET,
        "--package",
        "evalcurve-web",
    ]);
    run(&mut cargo)?;
    Ok(target_folder.join(TARGET).join("page/evalcurve_web.wasm"))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    ensure!(status.success(), "{} failed", command.get_program().display());
    Ok(())
}

/// The games of the example as one archive, which the library unpacks. What follows a score in a comment, the expected
/// moves, is left out: it is most of the text, and no result depends on it.
fn example(root: &Path) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(BzEncoder::new(Vec::new(), bzip2::Compression::best()));
    for path in sorted(&root.join("data/selfplay"))?.iter().filter(|path| path.extension().is_some_and(|e| e == "csa"))
    {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut short = String::new();
        for line in text.lines() {
            let score = line.strip_prefix("'** ").and_then(|rest| rest.split(' ').next());
            let _ = match score {
                Some(score) => writeln!(short, "'** {score}"),
                None => writeln!(short, "{line}"),
            };
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(short.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path.file_name().unwrap_or_default(), short.as_bytes())?;
    }
    Ok(archive.into_inner()?.finish()?)
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i > three.len() { '=' } else { char::from(digit) });
        }
    }
    out
}
