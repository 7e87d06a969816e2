//! The documents: their links lead somewhere, and the first picture shows what the calibrations say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use evalcurve::calibration::Calibration;
use evalcurve::language::Language;
use evalcurve::plot::{PlotOptions, sigmoids};
use evalcurve::report::figures::series_of_calibration;

use crate::support::root;

/// The documents for readers, by their path in the project.
pub(crate) fn documents() -> BTreeMap<PathBuf, String> {
    let folders = ["", "commands/lab", "docs", "docs/ja", "data", "data/selfplay", "fuzz", "tests/oracle"]
        .map(|name| root().join(name));
    let experiments = std::fs::read_dir(root().join("data/experiments")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.into_iter().chain(experiments).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = files.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "md"));
    let found: BTreeMap<PathBuf, String> = files
        .map(|path| (path.strip_prefix(root()).unwrap().to_path_buf(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    assert!(found.len() > 45, "only {} documents", found.len());
    found
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The targets of the links and pictures of a document, but those on the net.
fn links(text: &str) -> Vec<String> {
    let text = prose(text);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned());
    targets.filter(|target| !target.contains("://")).collect()
}

/// The names by which GitHub and mdBook know the headings of a document: a second one with the same words has a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let slug = |heading: &str| {
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    let text = prose(text);
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| slug(line.trim_start_matches('#')));
    let numbered = headings.map(|name| {
        let before = seen.entry(name.clone()).or_default();
        *before += 1;
        if *before == 1 { name } else { format!("{name}-{}", *before - 1) }
    });
    numbered.collect()
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut out, part| {
        match part {
            Component::ParentDir => assert!(out.pop(), "{} leaves the project", path.display()),
            part => out.push(part),
        }
        out
    })
}

#[test]
fn links_and_headings_are_found() {
    let text = "# A b: `c`\n## A b c\n[x](y.md#z) ![p](q.png)\n```sh\n# no heading [n](o.md)\n```\n\
                ## 表の 読み方\n[w](https://a.b)";
    assert_eq!(links(text), ["y.md#z", "q.png"]);
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["a-b-c", "a-b-c-1", "表の-読み方"]);
    assert_eq!(normal(Path::new("docs/ja/../x.md")), Path::new("docs/x.md"));
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let documents = documents();
    let mut broken = Vec::new();
    for (path, text) in &documents {
        for link in links(text) {
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                // its links are those of the site, from the folder of the project
                _ if path.ends_with("SUMMARY.md") => PathBuf::from(file),
                "" => path.clone(),
                file => normal(&path.with_file_name("").join(file)),
            };
            let known = documents.get(&target).is_none_or(|text| heading.is_empty() || anchors(text).contains(heading));
            if !root().join(&target).exists() || !known {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The site has a page for each document, and none twice.
#[test]
fn the_summary_lists_every_document() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed = links(&summary);
    let unique: BTreeSet<PathBuf> = listed.iter().map(PathBuf::from).collect();
    assert_eq!(unique.len(), listed.len(), "docs/SUMMARY.md lists a document twice");
    let expected: BTreeSet<PathBuf> = documents().into_keys().filter(|path| !path.ends_with("SUMMARY.md")).collect();
    assert_eq!(unique, expected);
}

/// A reader finds every page in the contents of its language.
#[test]
fn the_contents_list_every_page() {
    let documents = documents();
    for folder in ["docs", "docs/ja"].map(Path::new) {
        let index = folder.join("index.md");
        let listed: BTreeSet<PathBuf> =
            links(&documents[&index]).iter().map(|link| normal(&folder.join(link))).collect();
        let own = |path: &&PathBuf| path.parent() == Some(folder) && **path != index && !path.ends_with("SUMMARY.md");
        let missing: Vec<_> = documents.keys().filter(own).filter(|path| !listed.contains(*path)).collect();
        assert!(missing.is_empty(), "{} has no row for {missing:?}", index.display());
    }
}

/// The first picture of both READMEs shows the engines with most games, with words that can be read on a telephone.
/// `EVALCURVE_BLESS=1` draws it again.
#[test]
fn the_first_picture_of_both_readmes_is_drawn_from_the_calibrations() {
    let engines = ["Fairy-Stockfish", "sekirei", "sjaakii", "zshogi"];
    let read = |name| Calibration::read(root().join(format!("data/calibrations/{name}.json"))).unwrap();
    let calibrations = engines.map(read);
    for (picture, language) in
        [("plots/readme/sigmoids.png", Language::English), ("plots/readme/sigmoids-ja.png", Language::Japanese)]
    {
        let series = |(color, c)| series_of_calibration(c, color, 1, language);
        let series: Vec<_> = calibrations.iter().enumerate().map(series).collect();
        let options = PlotOptions { width: 600, height: 440, language, ..PlotOptions::default() };
        let drawn = sigmoids(&series, false, &options).unwrap().png(1.5).unwrap();
        if std::env::var_os("EVALCURVE_BLESS").is_some() {
            std::fs::write(root().join(picture), &drawn).unwrap();
        }
        assert!(std::fs::read(root().join(picture)).unwrap() == drawn, "{picture} shows other calibrations");
    }
}
