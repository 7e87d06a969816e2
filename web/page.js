"use strict";
const $ = (id) => document.getElementById(id);
const make = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text ?? "", ...more });
let language = (navigator.languages?.[0] ?? navigator.language ?? "en").startsWith("ja") ? "ja" : "en";
let words = WORDS[language], about = null, report = null, worker = null, chosen = null;

// ---- the worker: each call has a number, and ends with its value or its error
const waiting = new Map();
let calls = 0;
const bytes = (id) => new Blob([Uint8Array.from(atob($(id).textContent), (c) => c.charCodeAt(0))]);
function call(name, ...args) {
  return new Promise((resolve, reject) => {
    waiting.set(++calls, { resolve, reject });
    worker.postMessage({ id: calls, call: name, args });
  });
}
async function start() {
  if (typeof DecompressionStream === "undefined" || typeof WebAssembly === "undefined") throw new Error(words.oldBrowser);
  const url = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
  worker = new Worker(url);
  worker.onmessage = ({ data }) => {
    if (data.progress) return showProgress(data.progress);
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if (!("error" in data)) return call?.resolve(data.value);
    if (data.crashed) restart();
    call?.reject(new Error(data.crashed ? words.crashed : data.unreadable ? words.unreadable(data.unreadable) : data.error));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    const all = [...waiting.values()];
    restart();
    all.forEach(({ reject }) => reject(new Error(words.crashed)));
  };
  about = await call("start", await new Response(bytes("wasm").stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  URL.revokeObjectURL(url);
}
function restart() {
  worker.terminate();
  held = 0;
  waiting.clear();
  report = null;
  $("results").hidden = true;
  ready = start();
}
// what no call expects, as a computation that ends while a figure is drawn
onunhandledrejection = ({ reason }) => fail(reason instanceof Error ? reason : new Error(words.crashed));
let ready = start();
// whether the page comes from `evalcurve serve-page`, which lets it ask for records
const served = document.querySelector("meta[http-equiv]").content.includes("connect-src");

// ---- words
function say() {
  words = WORDS[language];
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = words[element.dataset.t];
  $("language").textContent = words.language;
  $("language").ariaLabel = words.languageLabel;
  if (served) document.querySelector("[data-t=private]").textContent = words.served;
  if (!about) return;
  $("version").textContent = words.version(about.version);
  choices($("model"), [["", words.auto], ...about.models.map((m) => [m.name, m.labels[language === "ja" ? 1 : 0]])]);
  choices($("target"), about.targets.map((name) => [name, words.targets[name] ?? name]));
}
// the options of a select, of which the chosen one stays
function choices(select, list) {
  const value = select.value;
  select.replaceChildren(...list.map(([value, text]) => make("option", text, { value })));
  if (list.some(([other]) => other === value)) select.value = value;
}
$("language").onclick = async () => {
  language = language === "ja" ? "en" : "ja";
  say();
  if (report) show(await call("report", language));
  if (report && !$("page").hidden) await diagnose();
};

// ---- files
async function ofEntry(entry, path) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ name: path + file.name, file }];
  }
  const reader = entry.createReader(), found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    for (const inner of some) found.push(...(await ofEntry(inner, `${path}${entry.name}/`)));
  }
}
async function ofHandle(handle, path) {
  if (handle.kind === "file") return [{ name: path + handle.name, file: await handle.getFile() }];
  const found = [];
  for await (const inner of handle.values()) found.push(...(await ofHandle(inner, `${path}${handle.name}/`)));
  return found;
}
// Chromium reads the entries of a folder only on pages from a server, and Firefox has no handles
async function ofDropped({ file, entry, handle }) {
  if (!entry?.isDirectory) return file ? [{ name: file.name, file }] : [];
  const folder = await handle;
  return folder ? ofHandle(folder, "") : ofEntry(entry, "");
}
for (const id of ["files", "folder"]) {
  $(id).onchange = () => {
    const files = [...$(id).files].map((file) => ({ name: file.webkitRelativePath || file.name, file }));
    // the same files can be chosen again
    $(id).value = "";
    run(files);
  };
}
document.ondragover = (event) => { event.preventDefault(); $("drop").classList.add("over"); };
document.ondragleave = () => $("drop").classList.remove("over");
document.ondrop = async (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  // the list is empty after the first await
  const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
  const dropped = items.map((item) => ({ file: item.getAsFile(), entry: item.webkitGetAsEntry?.(), handle: item.getAsFileSystemHandle?.().catch(() => null) }));
  const found = [];
  try {
    for (const item of dropped) found.push(...(await ofDropped(item)));
  } catch {
    return fail(new Error(words.cannotDrop));
  }
  run(found);
};
// the records of `evalcurve serve-page`
async function fetchAll(again = 3) {
  const ask = async (path) => {
    const answer = await fetch(path);
    if (!answer.ok) throw Object.assign(new Error(words.cannotFetch(answer.status)), { status: answer.status });
    return answer;
  };
  const number = ++runs, files = [];
  busy(words.loading);
  const { list, files: listed } = await (await ask("records")).json();
  try {
    for (const [i, file] of listed.entries()) {
      if (number !== runs) return;
      files.push({ ...file, file: await (await ask(`records/${list}/${i}`)).blob() });
      showProgress({ step: "loading", done: i, total: listed.length });
    }
  } catch (error) {
    // a file came or went, and another tab has a new list
    if (error.status === 409 && again && number === runs) return fetchAll(again - 1);
    throw error;
  }
  if (number === runs) await run(files);
}
let example = null;
$("example").onclick = () => run((example = [{ name: "example.tar.bz2", file: bytes("data") }]));
$("again").onclick = () => run(chosen);

// ---- running
function busy(text) {
  $("running").hidden = !text;
  $("running-text").textContent = text || "";
  if (text) $("bar").removeAttribute("value");
}
function showProgress({ step, done, total, games }) {
  if (done >= total) return busy(words.computing);
  $("bar").max = total || 1;
  $("bar").value = done;
  $("running-text").textContent = step === "loading" ? words.loading : words.reading_(games);
}
function fail(error) {
  busy("");
  $("failed").hidden = false;
  $("failed").textContent = error.message;
}
function options() {
  return {
    min_games: Number($("min-games").value) || about.min_games, min_samples: Number($("min-samples").value) || about.min_samples,
    model: $("model").value || null, annotator: $("annotator").value.trim() || null, mate_threshold_auto: $("auto-mates").checked,
  };
}
// tells what the worker is busy with
async function meanwhile(text, work) {
  busy(text);
  try {
    await work();
    busy("");
  } catch (error) {
    fail(error);
  }
}
// a worker keeps its memory until it ends, so one that held much is not used again
const MUCH = 2 ** 29;
let runs = 0, held = 0;
async function run(files) {
  if (!files?.length) return;
  const number = ++runs;
  chosen = files;
  $("failed").hidden = true;
  $("results").hidden = true;
  $("page").hidden = true;
  $("diagnosis-buttons").replaceChildren($("diagnose"));
  report = null;
  if (held > MUCH) restart();
  busy(words.starting);
  try {
    await ready;
    $("again").disabled = false;
    busy(words.loading);
    const found = await call("open", files, options(), language);
    if (number !== runs) return;
    held = await call("memory");
    if (number !== runs) return;
    busy("");
    all = false;
    show(found);
    $("answer").focus({ preventScroll: true });
    $("answer").scrollIntoView({ block: "start" });
  } catch (error) {
    if (number === runs) fail(error);
  }
}
$("cancel").onclick = () => {
  runs++;
  restart();
  fail(new Error(words.stopped));
};

// ---- results
const cell = (tag, content, more) => {
  const made = make(tag, "", more);
  made.append(content ?? "");
  return made;
};
// a table whose columns in `text` are words, as the first is
function table(element, head, lines, text = []) {
  const row = (cells, tag) => {
    const line = make("tr");
    cells.forEach((content, i) => line.append(cell(tag, content, { className: i === 0 || text.includes(i) ? "text" : "", ...(tag === "th" && { scope: "col" }) })));
    return line;
  };
  const top = make("thead"), body = make("tbody");
  top.append(row(head, "th"));
  body.append(...lines.map((line) => row(line, "td")));
  element.replaceChildren(top, body);
}
const list = (element, texts) => element.replaceChildren(...texts.map((text) => make("li", text)));
const usable = () => report.engines.filter((e) => e.file !== null);
const engine = () => usable().find((e) => String(e.file) === $("engine").value);
const button = (text, onclick, more) => make("button", text, { type: "button", onclick, ...more });
// the engines with most samples, unless all are wanted
const SHOWN = 10;
let all = false;
const shown = (engines) => (all ? engines : engines.slice(0, SHOWN));
$("all").onclick = () => { all = true; show(report); };
function show(result) {
  report = result;
  const choose = (e) => {
    if (e.file === null) return e.name;
    return button(e.name, () => { $("engine").value = String(e.file); changed(); $("answer").scrollIntoView(); }, { className: "link" });
  };
  const interval = (e) => (e.interval ? `[${e.interval.join(", ")}]` : "");
  table($("table"), words.head, shown(report.engines).map((e) => [choose(e), e.constant ?? "–", interval(e), e.verdict, e.games ?? "", e.samples ?? "", e.log_loss ?? ""]), [3]);
  $("all").hidden = report.engines.length <= SHOWN || all;
  $("all").textContent = words.all(report.engines.length);
  $("engines").hidden = !report.engines.length;
  $("choice").hidden = !report.choice;
  $("choice").textContent = report.choice ?? "";
  $("few").hidden = !report.few.length;
  $("few").querySelector("summary").textContent = words.few(report.few.length);
  table($("few").querySelector("table"), words.fewHead, report.few);
  $("votes").hidden = !report.votes;
  $("votes-text").textContent = report.votes?.text ?? "";
  list($("votes-problems"), report.votes?.problems ?? []);
  list($("notes"), report.notes);
  list($("problems"), report.problems);
  $("troubled").hidden = !report.problems.length;
  $("read").hidden = report.reading === undefined;
  $("reading").textContent = report.reading ?? "";
  table($("skipped"), words.skippedHead, report.skipped);
  $("skipped").hidden = !report.skipped.length;
  choices($("engine"), usable().map((e) => [String(e.file), e.name]));
  for (const id of ["converter", "exports"]) $(id).hidden = !usable().length;
  $("drawn").hidden = !report.figures.length;
  $("diagnosis").hidden = report.reading === undefined || !usable().length;
  $("results").hidden = false;
  $("question").hidden = true;
  const o = options(), flags = [];
  if (o.mate_threshold_auto) flags.push("--mate-threshold auto");
  if (o.min_games !== about.min_games) flags.push(`--min-games ${o.min_games}`);
  if (o.min_samples !== about.min_samples) flags.push(`--min-samples ${o.min_samples}`);
  if (o.model !== about.model) flags.push(`--model ${o.model ?? "auto"}`);
  if (o.annotator) flags.push(`--annotator ${quoted(o.annotator)}`);
  $("command").parentElement.hidden = report.reading === undefined || chosen === example;
  // a name that begins with a dash would be an option
  const places = [...new Set(chosen.map((f) => quoted((f.place ?? f.name.split("/")[0]).replace(/^-/, "./-"))))];
  const more = places.length > MOST_PLACES ? ["…"] : [];
  $("command").textContent = ["evalcurve calibrate", ...places.slice(0, MOST_PLACES), ...more, ...flags].join(" ");
  changed();
}
const MOST_PLACES = 10;
// a word for a shell: PowerShell on Windows, else that of POSIX
function quoted(word) {
  if (/^[\p{L}\p{N}_.\/:%+=-]+$/u.test(word)) return word;
  // PowerShell takes typographic quotes for quotes
  const inside = navigator.userAgent.includes("Windows") ? word.replace(/['\u2018-\u201b]/g, "$&$&") : word.replaceAll("'", "'\\''");
  return `'${inside}'`;
}
// what depends on the chosen engine
function changed() {
  answer();
  convert();
  downloads();
  figures();
}
$("engine").onchange = changed;
function answer() {
  const e = engine();
  $("engine").parentElement.hidden = !e;
  let sentence = report.engines.length ? words.noAnswer : report.few.length ? words.tooFew(report.few[0]) : words.noEngine;
  if (!e && report.votes?.text) sentence = words.onlyVotes;
  if (e) sentence = e.constant === null ? words.noConstant(e) : words.answer[e.kind](e);
  // the number is the second part
  $("sentence").replaceChildren(...sentence.map((part, i) => (i === 1 ? make("strong", part) : part)));
  $("detail").textContent = e ? words.detail(e) : "";
  list($("warnings"), e?.warnings ?? []);
  $("warned").hidden = !e?.warnings?.length;
  $("answer").dataset.kind = e?.kind ?? "none";
}
const percent = (p) => (100 * p).toFixed(2);
const SCORES = [100, 300, 500, 1000];
let conversion = 0;
async function convert(fromRate = false) {
  const e = engine(), number = ++conversion, current = report;
  if (!e) return;
  if (!fromRate && $("score").value === "") return noConversion("");
  const score = Number($("score").value);
  const scores = [score, ...SCORES.filter((other) => other !== score)];
  const rows = [];
  for (const other of new Set([e, ...shown(usable())])) {
    rows.push([other, await call("convert", other.file, scores)]);
    // another number was typed, or other files were chosen
    if (number !== conversion || report !== current) return;
  }
  const [first] = rows.find(([other]) => other === e)[1];
  if (!fromRate) $("rate").value = percent(first.rate);
  const shares = first.wdl ? words.shares(...first.wdl.map(percent)) : "";
  $("interval").textContent = words.interval(e.name, percent(first.rate), ...(first.interval ?? []).map(percent)) + shares;
  table($("conversion"), [words.between, ...scores.map((s) => s.toLocaleString("en"))], rows.map(([other, rates]) => [other.name, ...rates.map((r) => `${percent(r.rate)}%`)]));
}
function noConversion(sentence) {
  conversion++;
  $("interval").textContent = sentence;
  $("conversion").replaceChildren();
}
$("score").oninput = () => {
  if ($("score").value === "") $("rate").value = "";
  convert();
};
$("rate").oninput = async () => {
  const number = ++conversion, rate = $("rate").value;
  const score = rate === "" ? undefined : await call("score", engine().file, Number(rate) / 100);
  if (number !== conversion) return;
  $("score").value = Number.isFinite(score) ? Math.round(score) : "";
  if ($("score").value === "") return noConversion(rate === "" ? "" : words.noScore(rate));
  convert(true);
};

// ---- downloads
function save(name, content, type) {
  const link = make("a", "", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
function downloads() {
  const e = engine(), json = "application/json", buttons = [];
  const calibration = async (e) => save(`${e.stem}.json`, await call("file", e.file), json);
  if (e) buttons.push(button(words.calibration(e.name), () => calibration(e), { id: "save-calibration" }));
  if (usable().length > 1) buttons.push(button(words.allCalibrations, async () => { for (const e of usable()) await calibration(e); }));
  if (report.reading !== undefined) {
    buttons.push(button(words.samples, async () => save("samples.csv", await call("samples"), "text/csv")));
    buttons.push(button(words.document, () => meanwhile(words.resampling, async () => save("results.json", await call("document", language), json))));
  }
  $("downloads").replaceChildren(...buttons);
  exported();
}
async function exported() {
  const e = engine(), target = $("target").value;
  let code = null, problem = "";
  if (e) code = await call("export", e.file, target).catch((error) => { problem = error.message; return null; });
  // meanwhile other records may have come, or another engine
  if (report === null || engine() !== e || $("target").value !== target) return;
  $("exported").textContent = code ?? problem;
  // a problem is no code
  for (const id of ["copy", "save-export"]) $(id).disabled = code === null;
}
$("target").onchange = exported;
$("copy").onclick = async () => {
  const range = document.createRange();
  range.selectNodeContents($("exported"));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  // a page from a folder has no clipboard of its own in every browser
  await navigator.clipboard?.writeText($("exported").textContent).catch(() => document.execCommand("copy"));
  $("copy").textContent = words.copied;
  setTimeout(() => ($("copy").textContent = words.copy), 2000);
};
const ENDINGS = { rust: "rs", python: "py", "c-header": "h", stockfish: "cpp", json: "json", shogihome: "json", "shogi-gougi-yaml": "yaml" };
$("save-export").onclick = () => save(`${engine().stem}.${ENDINGS[$("target").value] ?? "txt"}`, $("exported").textContent, "text/plain");

// ---- figures: those of the chosen engine, then those of all
async function figures() {
  const current = report, e = engine();
  let first = true;
  const wanted = report.figures.map((f, i) => ({ ...f, i })).filter((f) => f.engine === null || f.engine === e?.name);
  wanted.sort((a, b) => (a.engine === null) - (b.engine === null));
  for (const { i, name } of wanted) {
    // a figure is drawn once for each report, and a report is in one language
    const figures = (current.drawn ??= new Map());
    if (!figures.has(i)) figures.set(i, call("figure", i, language));
    const drawn = await figures.get(i);
    if (report !== current || engine() !== e) return;
    if (!drawn) continue;
    const figure = make("figure"), scroll = make("div", "", { className: "drawing" });
    const svg = document.importNode(new DOMParser().parseFromString(drawn.page, "image/svg+xml").documentElement, true);
    marks(svg);
    scroll.append(svg);
    const buttons = make("p", "", { className: "buttons" });
    buttons.append(button("SVG", () => save(`${name}.svg`, drawn.file, "image/svg+xml")), button("PNG", () => png(drawn.file, `${name}.png`)));
    if (drawn.csv.trim()) buttons.append(button("CSV", () => save(`${name}.csv`, drawn.csv, "text/csv")));
    figure.append(scroll, buttons);
    // the old ones stay until there is a new one
    if (first) $("figures").replaceChildren();
    first = false;
    $("figures").append(figure);
  }
  if (first) $("figures").replaceChildren();
}
// one mark of a figure is reached by Tab, and the arrow keys lead to the others
function marks(svg) {
  const all = [...svg.querySelectorAll("[tabindex]")];
  all.forEach((mark, i) => mark.setAttribute("tabindex", i ? "-1" : "0"));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], at = all.indexOf(document.activeElement);
    if (!step || at < 0 || !all[at + step]) return;
    event.preventDefault();
    all[at].setAttribute("tabindex", "-1");
    all[at + step].setAttribute("tabindex", "0");
    all[at + step].focus();
  });
}
async function png(svg, name) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = make("canvas", "", { width: 2 * image.naturalWidth, height: 2 * image.naturalHeight });
  const context = canvas.getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(name, blob, "image/png"));
}

// ---- diagnosis: a page of its own, without scripts, in a frame that may do nothing
const diagnose = () => meanwhile(words.diagnosing, async () => {
  const current = report;
  const page = await call("diagnose", language), json = await call("diagnosis");
  // other files were chosen
  if (report !== current) return;
  $("page").srcdoc = page;
  $("page").hidden = false;
  $("page").title = words.diagnosis;
  const saves = [
    button(words.savePage, () => save("diagnosis.html", page, "text/html")),
    button(words.saveDiagnosis, () => save("diagnosis.json", json, "application/json")),
  ];
  $("diagnosis-buttons").replaceChildren($("diagnose"), ...saves);
  report.figures = await call("figures");
  figures();
});
$("diagnose").onclick = diagnose;

say();
ready.then(() => {
  $("min-games").value = about.min_games;
  $("min-samples").value = about.min_samples;
  say();
  $("model").value = about.model;
  $("target").value = "shogihome";
  document.body.dataset.ready = "true";
  if (served) fetchAll().catch(fail);
}, fail);
