//! The page of `diagnose` in a browser: Chromium without a window.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::Folder;

/// Loads the page at several widths and writes what it measures into the document.
const SCRIPT: &str = r"
async function measure(width) {
  const frame = document.createElement('iframe');
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  frame.srcdoc = page;
  const loaded = new Promise(done => frame.onload = done);
  document.body.append(frame);
  await loaded;
  const root = frame.contentDocument.documentElement;
  const beyond = () => root.scrollWidth - root.clientWidth;
  const folded = beyond();
  root.querySelectorAll('details').forEach(part => part.open = true);
  const unfolded = beyond();
  const figures = [...root.querySelectorAll('figure')];
  const unread = figures.filter(f => !f.querySelector('.spots')).map(f => f.querySelector('title')?.textContent);
  const spot = root.querySelector('.spots g');
  const shown = () => frame.contentWindow.getComputedStyle(spot.querySelector('text')).visibility;
  const before = shown();
  spot.focus();
  const requests = frame.contentWindow.performance.getEntriesByType('resource').length;
  const result = { folded, unfolded, before, focused: shown(), requests, unread };
  frame.remove();
  return result;
}
(async () => {
  const found = [];
  for (const width of [390, 800, 1200, 1920]) found.push(await measure(width));
  document.body.textContent = 'MEASURED' + JSON.stringify(found) + 'END';
})();
";

/// The first Chromium that answers: the one in the variable `CHROMIUM`, or one of the usual names.
pub(crate) fn chromium() -> String {
    let usual = ["chromium", "chromium-browser", "google-chrome"].map(str::to_owned);
    let mut names = std::env::var("CHROMIUM").into_iter().chain(usual);
    let answers = |name: &String| Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success());
    names.find(answers).expect("Chromium, or its name in the environment variable CHROMIUM")
}

#[test]
#[ignore = "needs Chromium"]
fn the_page_fits_every_screen_and_shows_numbers_on_focus_with_chromium() {
    let browser = chromium();
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "600"]);
    for language in ["en", "ja"] {
        folder.good(&["diagnose", "games.csa", "--bands", "50", "--out", "out", "--lang", language]);
        let page = json!(folder.text("out/diagnosis.html")).to_string().replace("</", "<\\/");
        let script = format!("const page = {page};{SCRIPT}");
        folder.write("wrapper.html", format!("<!DOCTYPE html><meta charset='utf-8'><body><script>{script}</script>"));
        let ran = Command::new(&browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--virtual-time-budget=60000",
                "--dump-dom",
            ])
            .arg(folder.at("wrapper.html"))
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&ran.stdout);
        let measured = out.split_once("MEASURED").and_then(|(_, rest)| rest.split_once("END"));
        let Some((measured, _)) = measured else {
            panic!("{browser} measured nothing: {}", String::from_utf8_lossy(&ran.stderr))
        };
        let measured: Vec<Value> = serde_json::from_str(measured).unwrap();
        assert_eq!(measured.len(), 4);
        for found in measured {
            let expected = json!({
                "folded": 0, "unfolded": 0, "before": "hidden", "focused": "visible", "requests": 0, "unread": []
            });
            assert_eq!(found, expected, "{language}");
        }
    }
}
