"""Intervals where the logistic curve is not the right one: games of known truth whose curve has another shape.

    python3 benches/other_curves.py steady|convex|jumps [--sets 50] [--games 200] [--seed 77]

Six engines with scales from 80 to 1,000 play each other. The log odds of a game are a random walk whose steps grow;
an engine sees them with noise of its own. So a score early in the game is worth less than the same score later, and the
curve of all is bent: flat in the middle, steep outside. `convex` has scores that grow faster than the log odds,
`jumps` one large step in ten. The truth is the share won at each score in 400,000 games between equals. Needs numpy.
"""

import argparse
import csv
import itertools
import json
import math
import pathlib
import subprocess
import tempfile

import numpy as np

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("shape", choices=["steady", "convex", "jumps"])
parser.add_argument("--sets", type=int, default=50)
parser.add_argument("--games", type=int, default=200, help="of each engine")
parser.add_argument("--seed", type=int, default=77)
parser.add_argument("--evalcurve", default="evalcurve")
options = parser.parse_args()
PLIES, ENGINES = 256, 6
AT = [0.3, 0.8, 1.5, 2.5]  # scores over the scale of the engine
rng = np.random.default_rng(options.seed)


def play(n, drift):
    """Log odds for Black at each ply, the last ply, and whether Black won."""
    steps = rng.normal(0, 1, (n, PLIES)) * (0.05 + 0.25 * np.arange(PLIES) / PLIES) + drift
    if options.shape == "jumps":
        steps *= rng.choice([0.6, 2.5], (n, PLIES), p=[0.9, 0.1])
    steps[:, 0] = rng.normal(0, 0.3, n)
    z = np.cumsum(steps, 1)
    over = np.abs(z) > rng.uniform(3, 6, (n, 1))
    end = np.where(over.any(1), over.argmax(1), PLIES - 1)
    return z, end, rng.random(n) < 1 / (1 + np.exp(-z[np.arange(n), end]))


def seen(z):
    """What an engine on scale 1 says: the log odds with noise that lasts some moves."""
    noise = rng.normal(0, 0.8, z.shape)
    for t in range(1, PLIES):
        noise[:, t] = 0.9 * noise[:, t - 1] + math.sqrt(0.19) * noise[:, t]
    x = z + noise
    return x * (1 + 0.03 * x * x) if options.shape == "convex" else x


def samples(z, end, black_won, side):
    """(game, ply, window, score, won) of one position per window of 60 plies, from ply 30 on, in the view of a side."""
    x, out = seen(z), []
    for window in range(4):
        first = 30 + 60 * window
        length = np.minimum(first + 59, end) - first
        game = np.nonzero(length > 1)[0]
        ply = first + (rng.random(len(game)) * length[game]).astype(int) // 2 * 2 + side
        ply = np.minimum(ply, end[game])
        score, won = x[game, ply], black_won[game]
        out += zip(game, ply, itertools.repeat(window), -score if side else score, ~won if side else won)
    return out


def truth():
    rows = []
    for _ in range(40):
        z, end, won = play(10_000, 0.0)
        rows += [(s[3], s[4]) for side in (0, 1) for s in samples(z, end, won, side)]
    x, won = np.array(rows).T
    return [won[np.abs(x - at) < 0.08].mean() for at in AT]


def tournament(file, scales, strengths):
    out, count = csv.writer(file), 0
    out.writerow("game engine opponent color ply window score_cp result".split())
    for a, b in itertools.permutations(range(ENGINES), 2):
        n = options.games // (2 * (ENGINES - 1))
        z, end, won = play(n, 0.02 * (strengths[a] - strengths[b]))
        for side, (own, other) in enumerate([(a, b), (b, a)]):
            for game, ply, window, score, result in samples(z, end, won, side):
                color = ["black", "white"][side]
                cp = round(score * scales[own])
                out.writerow([f"g{count + game}", f"E{own}", f"E{other}", color, ply + 1, window, cp, int(result)])
        count += n


def run(*words):
    return subprocess.run([options.evalcurve, *map(str, words)], capture_output=True, text=True)


right = truth()
held, errors, eces = ([[] for _ in AT], [[] for _ in AT], [])
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    for _ in range(options.sets):
        scales = np.exp(rng.uniform(math.log(80), math.log(1000), ENGINES))
        with open(folder / "games.csv", "w", newline="") as file:
            tournament(file, scales, rng.normal(0, 0.5, ENGINES))
        run("calibrate", folder / "games.csv", "--bands", 0, "--no-plots", "--force", "--out", folder / "out")
        for engine, scale in enumerate(scales):
            path = folder / "out" / f"E{engine}.json"
            scores = json.loads(path.read_text())["proper_scores"]
            if scores and scores["ece"]["interval"]:
                eces.append(scores["ece"]["interval"][1])
            answer = run("winrate", path, "--json", *(round(at * scale) for at in AT))
            for i, value in enumerate(json.loads(answer.stdout)["values"]):
                low, high = value["interval"]
                held[i].append(low <= right[i] <= high)
                errors[i].append(value["win_rate"] - right[i])
print(f"{options.shape}, {options.sets} sets of {ENGINES} engines, {options.games} games an engine, seed {options.seed}")
print("score/scale  truth  error   intervals that hold it")
for at, p, h, e in zip(AT, right, held, errors):
    print(f"{at:11}  {p:.3f}  {np.mean(e):+.3f}  {np.mean(h):.1%}")
print(f"upper end of the calibration error: median {np.median(eces):.3f}")
