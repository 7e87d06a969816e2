"use strict";
const game = JSON.parse(document.getElementById("game").textContent);
const last = game.positions.length - 1;
const byId = (id) => document.getElementById(id);
let at = last, turned = false;

const pieces = {
  p: '<path d="M22.5 9a5.5 5.5 0 0 1 3.6 9.6c2 1.6 2.7 4.7 1.9 7.9 3.9 2.4 6.5 6.5 6.5 11.5h-24c0-5 2.6-9.1 6.5-11.5-.8-3.2-.1-6.3 1.9-7.9A5.5 5.5 0 0 1 22.5 9z"/>',
  r: '<path d="M10 39h25v-4.5l-3-2.5-1-14 3-3V8h-4.5v3.5h-4.5V8h-5v3.5h-4.5V8H11v7l3 3-1 14-3 2.5z"/><path d="M14 18h17M13 32h19" fill="none"/>',
  b: '<path d="M22.5 10.5c-7 5-9.5 11.5-6 18.5L14 33.5h17L28.5 29c3.5-7 1-13.5-6-18.5zM10.5 39c4-2.8 8-2 12-2s8-.8 12 2z"/><circle cx="22.5" cy="8" r="2.6"/><path d="M22.5 16v8M18.5 20h8" fill="none"/>',
  q: '<path d="M9 14l5 17h17l5-17-7 10-2-13-4.5 12L18 11l-2 13zM12 33h21l1.5 6h-24z"/><circle cx="9" cy="12" r="2.3"/><circle cx="18" cy="9" r="2.3"/><circle cx="27" cy="9" r="2.3"/><circle cx="36" cy="12" r="2.3"/>',
  k: '<path d="M21 4.5h3v3h3.5v3H24v4h-3v-4h-3.5v-3H21z"/><path d="M22.5 23c-2.5-7-8.5-8.5-11.5-3s1.5 9 3 11.5h17c1.5-2.5 6-6 3-11.5s-9-4-11.5 3zM12 33.5h21l1.5 5.5h-24z"/>',
  n: '<path d="M13 39h21.5c.5-12-.5-26.5-14-28.5L18.5 6.5l-3 4.5c-3.5 3-6 9-7.5 14 0 3.5 3 4.5 5.5 2.5l4-3c2 .5 3.8-.8 4.7-2.2C23 28.5 14.5 30.5 13 39z"/><circle cx="16.5" cy="16" r="1.1"/>',
};

/* the rows of a position as [piece, is of the side that moves up the page by default] or null */
function rows(text) {
  return text.split(" ")[0].split("/").map((row) => {
    const cells = [];
    let plus = "";
    for (const c of row) {
      if (c === "+") plus = "+";
      else if (c >= "1" && c <= "9") for (let i = 0; i < Number(c); i += 1) cells.push(null);
      else {
        cells.push([plus + c.toUpperCase(), c === c.toUpperCase()]);
        plus = "";
      }
    }
    return cells;
  });
}

/* the squares of a move, as column and row from the top left */
function squares(move) {
  if (!move) return [];
  const place = (text) => game.chess
    ? [text.charCodeAt(0) - 97, 8 - Number(text[1])]
    : [9 - Number(text[0]), text.charCodeAt(1) - 97];
  return move[1] === "*" ? [null, place(move.slice(2, 4))] : [place(move.slice(0, 2)), place(move.slice(2, 4))];
}

/* the name of a player, Black is 0 */
function who(y, side) {
  const name = document.createElement("i");
  name.textContent = game.players[side];
  return `<text class="who" x="4" y="${y}">${game.chess ? "○●"[1 - side] : "▲△"[side]} ${name.innerHTML}</text>`;
}

function koma(name, x, y, up) {
  const [path, em] = game.letters[name];
  const scale = 23 / em;
  const turn = up ? "" : ` rotate(180 20 22)`;
  const red = name.startsWith("+") ? " up" : "";
  return `<g transform="translate(${x} ${y})${turn}"><path class="piece" d="M20 4l12 5 5 31H3l5-31z"/>` +
    `<path class="kanji${red}" transform="translate(8.5 33) scale(${scale} ${-scale})" d="${path}"/></g>`;
}

function shogi(position) {
  const cells = rows(position.p), [from, to] = squares(position.u);
  const is = (square, x, y) => square && square[0] === x && square[1] === y;
  let out = '<rect class="board" x="2" y="58" width="360" height="396"/>';
  for (let y = 0; y < 9; y += 1) {
    for (let x = 0; x < 9; x += 1) {
      const [sx, sy] = turned ? [8 - x, 8 - y] : [x, y];
      const kind = is(to, x, y) ? "to" : is(from, x, y) ? "from" : "";
      if (kind) out += `<rect class="${kind}" x="${2 + 40 * sx}" y="${58 + 44 * sy}" width="40" height="44"/>`;
      const cell = (cells[y] || [])[x];
      if (cell) out += koma(cell[0], 2 + 40 * sx, 58 + 44 * sy, cell[1] !== turned);
    }
  }
  for (let i = 0; i < 10; i += 1) {
    out += `<path class="grid" d="M${2 + 40 * i} 58v396M2 ${58 + 44 * i}h360"/>`;
  }
  for (let i = 0; i < 9; i += 1) {
    const number = turned ? i + 1 : 9 - i, rank = turned ? 9 - i : i + 1;
    out += `<text class="edge" x="${22 + 40 * i}" y="54">${number}</text>` +
      `<text class="edge" x="371" y="${84 + 44 * i}">${"一二三四五六七八九"[rank - 1]}</text>`;
  }
  const hands = [[], []];
  let count = "";
  for (const c of position.p.split(" ")[2] || "-") {
    if (c >= "0" && c <= "9") count += c;
    else if (c !== "-") {
      hands[c === c.toUpperCase() ? 0 : 1].push([c.toUpperCase(), Number(count || 1)]);
      count = "";
    }
  }
  const side = (hand, top, up) => hands[hand].map(([name, n], i) =>
    koma(name, 4 + 52 * i, top, up) + (n > 1 ? `<text class="count" x="${42 + 52 * i}" y="${top + 38}">${n}</text>` : "")).join("");
  out += side(turned ? 0 : 1, 0, false) + side(turned ? 1 : 0, 458, true);
  return `<svg viewBox="0 -20 380 544" role="img">${out}${who(-6, turned ? 0 : 1)}${who(520, turned ? 1 : 0)}</svg>`;
}

function chess(position) {
  const cells = rows(position.p), [from, to] = squares(position.u);
  const is = (square, x, y) => square && square[0] === x && square[1] === y;
  let out = "";
  for (let y = 0; y < 8; y += 1) {
    for (let x = 0; x < 8; x += 1) {
      const [sx, sy] = turned ? [7 - x, 7 - y] : [x, y];
      const kind = is(to, x, y) ? " to" : is(from, x, y) ? " from" : "";
      out += `<rect class="${(x + y) % 2 ? "dark" : "light"}${kind}" x="${14 + 45 * sx}" y="${45 * sy}" width="45" height="45"/>`;
      const cell = (cells[y] || [])[x];
      if (cell) out += `<g class="${cell[1] ? "w" : "b"}" transform="translate(${14 + 45 * sx} ${45 * sy})">${pieces[cell[0].toLowerCase()]}</g>`;
    }
  }
  for (let i = 0; i < 8; i += 1) {
    out += `<text class="edge" x="${36 + 45 * i}" y="373">${"abcdefgh"[turned ? 7 - i : i]}</text>` +
      `<text class="edge" x="6" y="${27 + 45 * i}">${turned ? i + 1 : 8 - i}</text>`;
  }
  return `<svg viewBox="0 -22 376 424" role="img">${out}${who(-7, turned ? 1 : 0)}${who(395, turned ? 0 : 1)}</svg>`;
}

function show(ply) {
  at = Math.min(Math.max(ply, 0), last);
  const position = game.positions[at];
  byId("board").innerHTML = position.p ? (game.chess ? chess(position) : shogi(position)) : "";
  byId("board").firstElementChild?.setAttribute("aria-label", position.m);
  byId("ply").value = at;
  const mistake = game.mistakes.find(([ply]) => ply === at);
  byId("now").textContent = position.m + (position.t ? ` (${position.t})` : "") + (mistake ? ` – ${mistake[1]}` : "");
  [...byId("said").rows].forEach((row, engine) => {
    const said = position.e[engine];
    const rates = said && said[0];
    row.cells[1].textContent = !said ? "–"
      : rates[1] < rates[2] ? `${Math.round(rates[0])}% [${Math.round(rates[1])}, ${Math.round(rates[2])}]` : `${Math.round(rates[0])}%`;
    row.cells[2].textContent = said ? said[1] : "";
    row.cells[3].textContent = said && said[2] || "";
  });
  for (const figure of document.querySelectorAll(".graph")) {
    const [left, right, top, bottom] = figure.dataset.frame.split(" ").map(Number);
    const svg = figure.querySelector("svg"), x = left + (right - left) * (last ? at / last : 0);
    let line = svg.querySelector(".cursor");
    if (!line) {
      line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      line.setAttribute("class", "cursor");
      svg.append(line);
    }
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", top], ["y2", bottom]]) line.setAttribute(name, value);
  }
}

for (const [id, to] of [["first", () => 0], ["back", () => at - 1], ["on", () => at + 1], ["last", () => last]]) {
  byId(id).addEventListener("click", () => show(to()));
}
const plies = game.mistakes.map(([ply]) => ply);
byId("worse")?.addEventListener("click", () => show(plies.findLast((ply) => ply < at) ?? at));
byId("next")?.addEventListener("click", () => show(plies.find((ply) => ply > at) ?? at));
byId("turn").addEventListener("click", () => {
  turned = !turned;
  show(at);
});
byId("ply").addEventListener("input", (event) => show(Number(event.target.value)));
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1, Home: -at, End: last - at }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  show(at + step);
});
for (const figure of document.querySelectorAll(".graph")) {
  figure.addEventListener("click", (event) => {
    const svg = figure.querySelector("svg"), [left, right] = figure.dataset.frame.split(" ").map(Number);
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    show(Math.round(last * (x - left) / (right - left)));
  });
}
for (const link of document.querySelectorAll("a[data-ply]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    show(Number(link.dataset.ply));
    byId("board").scrollIntoView({ block: "nearest" });
  });
}
const asked = Number(location.hash.slice(1));
show(location.hash && Number.isInteger(asked) ? asked : game.open);
