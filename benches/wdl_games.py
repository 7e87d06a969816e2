#!/usr/bin/env python3
"""How the error of a and b at material 58 falls with the number of games, for evalcurve and for scoreWDL.py of
github.com/official-stockfish/WDL_model.

    python3 -m venv peers && peers/bin/pip install numpy scipy matplotlib
    git clone https://github.com/official-stockfish/WDL_model
    cargo build --release
    peers/bin/python benches/wdl_games.py --evalcurve target/release/evalcurve --script WDL_model/scoreWDL.py
    peers/bin/python benches/wdl_games.py --evalcurve target/release/evalcurve --samples all.csv

Without --samples games of a known truth are generated. The result of a game is drawn first, and the score of each
position given it, so that wins, draws and losses at a score and a material are those of the truth, while the positions
of a game share their result and most of their noise. --samples takes every scored position of real games, as written by
`evalcurve sample GAMES.pgn --window 1 --from-ply 1 --material --out all.csv`; random subsets of its games are
compared with all N of them, and the error of n games is divided by sqrt(1 - n/N), since they are among these.

Both programs get the same positions: scores up to 400, material 17 to 78. scoreWDL.py makes --slow sets only, since it
needs half a minute for each.
"""
import argparse, collections, csv, json, math, os, re, subprocess, sys, tempfile
import numpy as np

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--evalcurve", required=True)
p.add_argument("--script", help="scoreWDL.py; without it only evalcurve is measured")
p.add_argument("--samples")
p.add_argument("--games", default="100,400,1600,6400")
p.add_argument("--sets", type=int, default=40)
p.add_argument("--slow", type=int, default=8)
p.add_argument("--win-min", default="10", help="scoreWDL.py's --winMin")
a = p.parse_args()
program, script = os.path.abspath(a.evalcurve), a.script and os.path.abspath(a.script)

A, B = [-37.0, 75.0, -58.0, 150.0], [-20.0, 80.0, -60.0, 50.0]
at = lambda c, m: sum(k * (m / 58) ** (3 - i) for i, k in enumerate(c))
DRAWS, POSITIONS, SHARED = 0.5, 60, 0.95
GRID = np.arange(-2000, 2001) * 1.0


def tables():
    """Of each material the distribution of scores given a win and given a draw; their spread gives the same share of draws
    at every material."""
    out = {}
    for m in range(17, 79):
        share = lambda x: 1 / (1 + np.exp((at(A, m) - x) / at(B, m)))
        low, high = 10.0, 1500.0
        for _ in range(60):
            spread = 0.5 * (low + high)
            density = np.exp(-0.5 * (GRID / spread) ** 2)
            density /= density.sum()
            drawn = (density * (1 - share(GRID) - share(-GRID))).sum()
            low, high = (spread, high) if drawn > DRAWS else (low, spread)
        given = lambda weight: np.cumsum(density * weight) / (density * weight).sum()
        out[m] = given(share(GRID)), given(1 - share(GRID) - share(-GRID))
    return out


TABLES = None if a.samples else tables()


def normal_share(z):
    return 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))


def generated(games, seed):
    rng = np.random.default_rng([games, seed])
    rows = []
    for game in range(games):
        u = rng.random()
        result = 0.5 if u < DRAWS else float(u < DRAWS + (1 - DRAWS) / 2)
        noise = rng.standard_normal(POSITIONS)
        for i in range(1, POSITIONS):
            noise[i] = SHARED * noise[i - 1] + math.sqrt(1 - SHARED**2) * noise[i]
        shares = normal_share(noise)
        material = np.clip(78 - np.arange(POSITIONS) * rng.uniform(0.5, 1.0), 17, 78).astype(int)
        for i in range(POSITIONS):
            win, draw = TABLES[material[i]]
            if result == 0.5:
                x = GRID[min(np.searchsorted(draw, shares[i]), len(GRID) - 1)]
            else:
                x = GRID[min(np.searchsorted(win, shares[i]), len(GRID) - 1)] * (1 if result == 1 else -1)
            # each side moves in turn, and gives its own view
            side = 1 if i % 2 == 0 else -1
            rows.append((game, i + 9, int(side * x), result if side == 1 else 1 - result, int(material[i])))
    return rows


def read_samples():
    games = collections.defaultdict(list)
    with open(a.samples) as file:
        for row in csv.DictReader(file):
            if row["material"] and row["mate"] not in ("true", "True", "1"):
                score = int(float(row["score_cp"]))
                games[row["game"]].append((row["game"], int(row["ply"]), score, float(row["result"]), int(row["material"])))
    return list(games.values())


ALL = read_samples() if a.samples else None


def chosen(games, seed):
    if not ALL:
        return generated(games, seed)
    picked = np.random.default_rng([games, seed]).permutation(len(ALL))[:games]
    return [row for index in picked for row in ALL[index]]


def evalcurve(rows, folder):
    with open(os.path.join(folder, "s.csv"), "w") as file:
        file.write("engine,game,ply,score_cp,result,material,chess,color\n")
        for game, ply, x, y, m in rows:
            file.write(f"E,{game},{ply},{x},{y},{m},true,{'white' if ply % 2 else 'black'}\n")
    fit = [program, "calibrate", "s.csv", "--model", "wdl-material", "--folds", "0", "--no-plots", "--force", "--quiet", "--out", "c"]
    if subprocess.run(fit, cwd=folder, capture_output=True, text=True).returncode:
        return None
    export = subprocess.run([program, "export", "c/E.json", "--to", "stockfish"], cwd=folder, capture_output=True, text=True)
    number = r"(-?[\d.]+)"
    pawn = re.search(rf"A score of {number}(?: \[{number}, {number}\])?", export.stdout)
    model = json.load(open(os.path.join(folder, "c/E.json")))["model"]
    ends = [float(x) for x in pawn.groups()[1:]] if pawn.group(2) else None
    return sum(model["a"]), sum(model["b"]), ends


def score_wdl(rows, folder):
    keys = collections.Counter(
        str(({1.0: "W", 0.5: "D", 0.0: "L"}[y], (ply + 1) // 2, m, x)) for _, ply, x, y, m in rows)
    json.dump(keys, open(os.path.join(folder, "counts.json"), "w"))
    ran = subprocess.run(
        [sys.executable, script, "counts.json", "--NormalizeToPawnValue", "100", "--winMin", a.win_min, "--plot", "no"],
        cwd=folder, capture_output=True, text=True)
    found = [re.search(rf"{c}s\[\] = {{(.*)}}", ran.stdout) for c in "ab"]
    if ran.returncode or None in found:
        return None
    return *(sum(float(x) for x in f.group(1).split(",")) for f in found), None


def line(name, games, found, truth):
    done = [f for f in found if f]
    error = lambda i: [f[i] / truth[i] - 1 for f in done]
    among = math.sqrt(1 - games / len(ALL)) if ALL else 1
    rms = lambda e: 100 * math.sqrt(sum(x * x for x in e) / len(e)) / among if e else math.nan
    within = [abs(e) <= 0.02 for e in error(0)]
    covered = [f[2][0] <= truth[0] <= f[2][1] for f in done if f[2]]
    need = games * (1.96 * rms(error(0)) / 2) ** 2 if done else math.nan
    print(
        f"{name:12} {games:7,} {len(done):4} of {len(found):3}  {rms(error(0)):7.2f}%  {rms(error(1)):7.2f}%"
        f"  {100 * sum(within) / max(len(within), 1):5.0f}%"
        f"  {f'{100 * sum(covered) / len(covered):.0f}%' if covered else '–':>8}  {need:10,.0f}", flush=True)


truth = (sum(A), sum(B))
print("             games    fitted   error of a      of b  within 2%  interval holds  games for ±2%")
with tempfile.TemporaryDirectory() as folder:
    if ALL:
        whole = evalcurve([row for game in ALL for row in game], folder)
        truth = whole[:2]
        print(f"all {len(ALL)} games: a {truth[0]:.1f} {whole[2]}, b {truth[1]:.1f}")
    for games in map(int, a.games.split(",")):
        kept = lambda seed: [r for r in chosen(games, seed) if abs(r[2]) <= 400 and 17 <= r[4] <= 78]
        line("evalcurve", games, [evalcurve(kept(seed), folder) for seed in range(a.sets)], truth)
        if script:
            line("scoreWDL.py", games, [score_wdl(kept(seed), folder) for seed in range(min(a.slow, a.sets))], truth)
