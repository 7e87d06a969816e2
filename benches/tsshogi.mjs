// Reads every KIF file of a folder with tsshogi and prints seconds and bytes (see peers.py).
import { importKIF } from "tsshogi";
import { readFileSync, readdirSync } from "node:fs";

const [, , folder, runs] = process.argv;
const texts = readdirSync(folder).filter((name) => /\.kifu?$/.test(name)).map((name) => readFileSync(`${folder}/${name}`, "utf8"));
const times = [];
for (let run = 0; run < Number(runs); run++) {
  const start = process.hrtime.bigint();
  for (const text of texts) if (importKIF(text) instanceof Error) throw new Error("a record that tsshogi does not read");
  times.push(Number(process.hrtime.bigint() - start) / 1e9);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ seconds: times[times.length >> 1], games: texts.length }));
