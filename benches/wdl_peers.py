#!/usr/bin/env python3
"""Compares evalcurve's win/draw/loss fit with scoreWDL.py of github.com/official-stockfish/WDL_model.

    python3 -m venv peers && peers/bin/pip install numpy scipy matplotlib pandas
    git clone https://github.com/official-stockfish/WDL_model
    peers/bin/python benches/wdl_peers.py --script WDL_model/scoreWDL.py
    peers/bin/python benches/wdl_peers.py --script WDL_model/scoreWDL.py --samples all.csv

Without --samples the counts are generated from a known truth. --samples takes every scored position, as written by
`evalcurve sample GAMES.pgn --all-positions --from-ply 1 --material --out all.csv`; --by move does not need --material.
scoreWDL.py runs twice, with two values of --winMin. They change only where its last search starts, so the difference
between the two runs is scoreWDL.py's own variation.
"""
import argparse, ast, collections, json, os, re, subprocess, sys, tempfile

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--script", required=True)
p.add_argument("--samples")
p.add_argument("--positions", default="10000")
p.add_argument("--by", choices=["material", "move"], default="material")
p.add_argument("--win-min", default="10,40", help="two values of scoreWDL.py's --winMin")
a = p.parse_args()
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
    found = {"evalcurve": value("as") + value("bs")}
    seconds = []
    for least in a.win_min.split(","):
        out = subprocess.run(
            [sys.executable, a.script, counts, "--NormalizeToPawnValue", "100", "--momType", a.by, "--momTarget", str(target),
             "--winMin", least, "--plot", "no"], check=True, capture_output=True, text=True, cwd=folder).stdout
        coefficients = [[float(x) for x in re.search(rf"{c}s\[\] = {{(.*)}}", out).group(1).split(",")] for c in "ab"]
        found[f"scoreWDL.py --winMin {least}"] = coefficients[0] + coefficients[1]
        seconds.append(float(re.search(r"elapsed time = ([\d.]+)s", out).group(1)))
        loss = re.search(r"Final objective function: +([\d.]+)", out).group(1)
        print(f"scoreWDL.py --winMin {least}: {seconds[-1]:.2f} s, -log likelihood a position {loss}")

stages = [20, 40, 58, 78] if a.by == "material" else [10, 32, 50, 80]
at = lambda c, m: sum(k * (m / target) ** (3 - i) for i, k in enumerate(c))
print(f"{'':30}" + "".join(f"   a({m}) {'':3} b({m})" for m in stages))
for name, c in found.items():
    print(f"{name:30}" + "".join(f"{at(c[:4], m):9.3f} {at(c[4:], m):8.3f}" for m in stages))
one, two, three = found.values()
largest = lambda c, d: max(abs(at(c[h], m) - at(d[h], m)) for m in stages for h in (slice(0, 4), slice(4, 8)))
print(f"largest difference in a or b: {largest(one, two):.4f} and {largest(one, three):.4f} from evalcurve, {largest(two, three):.4f} between the two runs")
both = value("read_ms") + value("fit_ms")
print(f"evalcurve: {value('read_ms'):.1f} ms reading and {value('fit_ms'):.1f} ms fitting {value('cells')} cells; scoreWDL.py {seconds[0] / both * 1e3:.0f} times as long")
