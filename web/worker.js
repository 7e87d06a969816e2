// Runs in a worker, after the glue code of wasm-bindgen: one call at a time, each with a number.
let session = null, wasm = null;
let queue = Promise.resolve();
onmessage = ({ data }) => (queue = queue.then(() => answer(data)));
async function answer({ id, call, args }) {
  try {
    postMessage({ id, value: await calls[call](...args) });
  } catch (error) {
    // after a trap, or without memory, the computation cannot be used again
    const crashed = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    postMessage({ id, crashed, unreadable: error?.unreadable, error: String(error?.message ?? error) });
  }
}
let told = 0;
function tell(progress) {
  const now = Date.now();
  if (now - told < 50 && progress.done < progress.total) return;
  told = now;
  postMessage({ progress });
}
const calls = {
  async start(module_or_path) {
    wasm = await wasm_bindgen({ module_or_path });
    return JSON.parse(wasm_bindgen.about());
  },
  async open(files, options, language) {
    session?.free();
    session = null;
    const input = new wasm_bindgen.Files();
    const total = files.reduce((sum, { file }) => sum + file.size, 0);
    let done = 0;
    for (const { name, file } of files) {
      // the browser's own words are in its language
      const bytes = await file.arrayBuffer().catch(() => { throw { unreadable: name }; });
      input.add(name, new Uint8Array(bytes));
      done += file.size;
      tell({ step: "loading", done, total });
    }
    const progress = (done, total, games) => tell({ step: "reading", done, total, games });
    session = wasm_bindgen.open(input, JSON.stringify(options), progress, language);
    return JSON.parse(session.report(language));
  },
  memory: () => wasm.memory.buffer.byteLength,
  report: (language) => JSON.parse(session.report(language)),
  document: (language) => session.document(language),
  file: (index) => session.calibration(index),
  samples: () => session.samples(),
  diagnose: (language) => session.diagnose(language),
  diagnosis: () => session.diagnosis(),
  figures: () => JSON.parse(session.figures()),
  figure: (index, language) => JSON.parse(session.figure(index, language)),
  convert: (index, scores) => JSON.parse(session.win_rates(index, new Float64Array(scores))),
  score: (index, rate) => session.score(index, rate),
  export: (index, target) => session.export(index, target),
};
