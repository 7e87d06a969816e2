#!/usr/bin/env python3
"""Compares evalcurve's win/draw/loss fit with scoreWDL.py of github.com/official-stockfish/WDL_model.

    python3 -m venv peers && peers/bin/pip install numpy scipy matplotlib pandas
    git clone https://github.com/official-stockfish/WDL_model
    peers/bin/python benches/wdl_peers.py --script WDL_model/scoreWDL.py
    peers/bin/python benches/wdl_peers.py --script WDL_model/scoreWDL.py --samples all.csv

Without --samples the counts are generated from a known truth. --samples takes every scored position, as written by
`evalcurve sample GAMES.pgn --window 1 --from-ply 1 --material --out all.csv`; --by move does not need --material.
scoreWDL.py runs twice, with two values of --winMin. They change only where its last search starts, so the difference
between the two runs is scoreWDL.py's own variation. From some starts it ends with an error. -log L is the mean over the
positions that scoreWDL.py keeps by default: scores up to 400, material 17 to 78, moves 1 to 120.
"""
import argparse, ast, collections, json, math, os, re, subprocess, sys, tempfile

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--script", required=True)
p.add_argument("--samples")
p.add_argument("--positions", default="10000")
p.add_argument("--by", choices=["material", "move"], default="material")
p.add_argument("--win-min", default="10,40", help="two values of scoreWDL.py's --winMin")
a = p.parse_args()
a.script = os.path.abspath(a.script)
target = {"material": 58, "move": 32}[a.by]
bench = lambda *args: subprocess.run(["cargo", "bench", "--bench", "wdl", "--", *args], check=True, capture_output=True, text=True).stdout

with tempfile.TemporaryDirectory() as folder:
    counts = os.path.join(folder, "counts.json")
    if a.samples:
        import pandas as pd
        t = pd.read_csv(a.samples)
        t = t[~t["mate"].astype(bool)]
        if a.by == "material":
            t = t.dropna(subset=["material"])
        keys = collections.Counter(
            str(("W" if y == 1 else "L" if y == 0 else "D", (int(ply) + 1) // 2, int(m), int(x)))
            for y, ply, x, m in zip(t["result"], t["ply"], t["score_cp"], t["material"] if a.by == "material" else [58] * len(t)))
        json.dump(keys, open(counts, "w"))
    else:
        bench("--write", counts, a.positions)

    ours = bench("--counts", counts, a.by)
    value = lambda name: ast.literal_eval(re.search(rf"^{name} (.*)$", ours, re.M).group(1))
    found = {"evalcurve": (value("as") + value("bs"), (value("read_ms") + value("fit_ms")) / 1e3)}
    for least in a.win_min.split(","):
        name = f"scoreWDL.py --winMin {least}"
        ran = subprocess.run(
            [sys.executable, a.script, counts, "--NormalizeToPawnValue", "100", "--momType", a.by, "--momTarget", str(target),
             "--winMin", least, "--plot", "no"], capture_output=True, text=True, cwd=folder)
        if ran.returncode:
            print(f"{name}: no result: {ran.stderr.strip().splitlines()[-1]}")
            continue
        coefficients = [[float(x) for x in re.search(rf"{c}s\[\] = {{(.*)}}", ran.stdout).group(1).split(",")] for c in "ab"]
        elapsed = float(re.search(r"elapsed time = ([\d.]+)s", ran.stdout).group(1))
        found[name] = (coefficients[0] + coefficients[1], elapsed)
    keys = json.load(open(counts))


at = lambda c, m: sum(k * (m / target) ** (3 - i) for i, k in enumerate(c))
# what scoreWDL.py keeps by default
kept = [(r, n if a.by == "move" else m, x, count)
        for (r, n, m, x), count in ((ast.literal_eval(key), count) for key, count in keys.items())
        if abs(x) <= 400 and 17 <= m <= 78 and 1 <= n <= 120]


def loss(c):
    """Mean -log likelihood of the kept positions."""
    share = lambda x, m: 1 / (1 + math.exp(max(-700, min(700, (at(c[:4], m) - x) / at(c[4:], m)))))
    total = 0.0
    for r, m, x, count in kept:
        win, lose = share(x, m), share(-x, m)
        total -= count * math.log(max({"W": win, "L": lose, "D": 1 - win - lose}[r], 1e-300))
    return total / sum(k[3] for k in kept)


stages = [20, 40, 58, 78] if a.by == "material" else [10, 32, 50, 80]
print(f"{'':26}" + "".join(f"   a({m}) {'':3} b({m})" for m in stages) + "  -log L  seconds")
for name, (c, seconds) in found.items():
    print(f"{name:26}" + "".join(f"{at(c[:4], m):9.3f} {at(c[4:], m):8.3f}" for m in stages) + f" {loss(c):7.5f} {seconds:8.3f}")
coefficients = [c for c, _ in found.values()]
largest = lambda c, d: max(abs(at(c[h], m) - at(d[h], m)) for m in stages for h in (slice(0, 4), slice(4, 8)))
for name, (c, _) in list(found.items())[1:]:
    print(f"largest difference in a or b from evalcurve: {largest(coefficients[0], c):.4f} by {name}")
if len(found) == 3:
    print(f"between the two runs of scoreWDL.py: {largest(*coefficients[1:]):.4f}")
print(f"evalcurve: {value('read_ms'):.1f} ms reading and {value('fit_ms'):.1f} ms fitting {value('cells')} cells")
