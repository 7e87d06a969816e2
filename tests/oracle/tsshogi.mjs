// Writes CSA games as one KIF or KI2 file with tsshogi (npm install tsshogi@2.2.0), an independent implementation of both:
//   node tests/oracle/tsshogi.mjs ki2 5 data/selfplay/sekirei+zshogi.csa > tests/oracle/sekirei+zshogi.ki2
import { exportKI2, exportKIF, importCSA } from "tsshogi";
import { readFileSync } from "node:fs";

const [, , format, games, file] = process.argv;
const texts = readFileSync(file, "utf8").split(/^\/\r?\n/m).filter((text) => text.trim());
for (const text of texts.slice(0, Number(games))) {
  const record = importCSA(text);
  if (record instanceof Error) throw record;
  process.stdout.write(format === "ki2" ? exportKI2(record) : exportKIF(record));
}
