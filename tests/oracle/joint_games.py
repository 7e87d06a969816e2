"""Fits the joint model to games from docs/method.md alone, and compares it with evalcurve's calibration files.

    evalcurve sample data/selfplay --mate-threshold auto --out samples.csv
    python joint_games.py samples.csv ../../data/calibrations

scipy's L-BFGS-B takes the place of evalcurve's Newton steps. Prints constants of both, and how far the two are apart in
all parameters.
"""

import csv
import json
import pathlib
import sys
from collections import defaultdict

import numpy as np
from scipy.optimize import minimize


def sigma(z):
    return 1 / (1 + np.exp(-np.clip(z, -700, 700)))


def groups(rows, names):
    """Engines that met, met a common opponent or scored the same game, directly or by way of others."""
    root = {}

    def find(a):
        while root.setdefault(a, a) != a:
            a = root[a]
        return a

    for r in rows:
        of = [("player", r["engine"]), ("game", r["game"])] + [("player", r["opponent"])] * bool(r["opponent"])
        for other in of:
            root[find(other)] = find(("engine", r["engine"]))
    out = defaultdict(list)
    for name in names:
        out[find(("engine", name))].append(name)
    return list(out.values())


def strengths(rows):
    """Players with 10 games or more, the 200 with most games."""
    games = defaultdict(set)
    for r in rows:
        for player in {r["engine"], r["opponent"]} - {""}:
            games[player].add(r["game"])
    return sorted((p for p in games if len(games[p]) >= 10), key=lambda p: (-len(games[p]), p))[:200]


def fit(rows, names):
    engine = np.array([names.index(r["engine"]) for r in rows])
    x, y = (np.array([float(r[c]) for r in rows]) for c in ["score_cp", "result"])
    rated = [bool(r["rating"] and r["opponent_rating"] and r.get("bradley_terry") != "true") for r in rows]
    difference = [float(r["rating"]) - float(r["opponent_rating"]) if known else 0 for r, known in zip(rows, rated)]
    sd = 0.2 if np.mean(rated) >= 0.9 else 1.0
    unit = np.array([np.median(np.abs(x[(engine == e) & (x != 0)])) for e in range(len(names))])
    players = {p: i for i, p in enumerate(strengths(rows))}
    k, m, n = len(names), len(players), len(rows)
    # columns: slopes, strengths, optimism, w3; then the share drawn at any score, the half width of the draws, lapse
    design = np.zeros((n, k + m + 2))
    design[np.arange(n), engine] = x / unit[engine]
    for i, r in enumerate(rows):
        for player, sign in [(r["engine"], 1), (r["opponent"], -1)]:
            if player in players and r["opponent"] not in ["", r["engine"]]:
                design[i, k + players[player]] += sign
    design[:, -2], design[:, -1] = -1, np.log(10) / 400 * np.array(difference)
    prior = np.r_[np.zeros(k), np.full(m, sd**-2), 0, 0]
    draws = bool((y == 0.5).any())

    def loss(at):
        (drawn, width, lapse), u = at[-3:], design @ at[:-3]
        win, lost, body = sigma(u - width), sigma(-u - width), 1 - 2 * lapse - drawn
        of_win, of_lost, even = win * (1 - win), lost * (1 - lost), 1 - win - lost
        # of a loss, a draw and a win: the chance and its derivatives by u, drawn, width, lapse
        chance = [lapse + body * lost, drawn + body * even, lapse + body * win]
        by = [
            [-body * of_lost, -lost, -body * of_lost, 1 - 2 * lost],
            [body * (of_lost - of_win), 1 - even, body * (of_win + of_lost), -2 * even],
            [body * of_win, -win, -body * of_win, 1 - 2 * win],
        ]
        which = (2 * y).astype(int)
        p = np.maximum(np.choose(which, chance), 1e-300)
        by_u, *others = [-np.choose(which, [of[i] for of in by]) / p for i in range(4)]
        value = -np.log(p).sum() + 0.5 * prior @ at[:-3] ** 2
        gradient = np.r_[design.T @ by_u + prior * at[:-3], [of.sum() for of in others]]
        if draws:
            # 0.02 draws at any score, and as many at an even score
            value -= 0.02 * (np.log(drawn) + np.log(np.tanh(width / 2)))
            gradient[-3:-1] -= 0.02 * np.array([1 / drawn, 1 / np.sinh(width)])
        return value, gradient

    found = []
    for lapse in [0, 0.005, 0.02, 0.1]:
        start = np.r_[np.ones(k), np.zeros(m + 1), 0.8 * any(rated), 0.01 * draws, 0.1 * draws, lapse]
        bounds = [(None, None)] * (k + m + 1) + [(None, None) if any(rated) else (0, 0)]
        bounds += [(1e-9, 0.5), (1e-9, 40)] if draws else [(0, 0), (0, 0)]
        bounds += [(0, 0.399 * (lapse > 0))]
        options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-8}
        found.append(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options))
    at = min(found, key=lambda f: f.fun).x
    out = {}
    for e, name in enumerate(names):
        mine = engine == e
        z, sides = design[mine] @ at[:-3], [-at[-2], at[-2]]
        scores = np.column_stack([x[mine] / unit[e], -np.ones(mine.sum())])
        field = np.array([at[e], 0.0])
        for _ in range(50):
            p = [sigma(scores @ field + side) for side in sides]
            bend = scores.T @ (sum(p * (1 - p) for p in p)[:, None] * scores)
            field += np.linalg.solve(bend, scores.T @ sum(sigma(z + side) - p for side, p in zip(sides, p)))
        shared = {"optimism": at[-5], "w3": at[-4], "drawn": at[-3], "draw_width": at[-2], "lapse": at[-1] + at[-3] / 2}
        out[name] = {"w1": at[e] / unit[e], "field_w1": field[0] / unit[e], "w2": field[1], **shared}
    return out


def main(table, folder):
    files = [json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*.json")]
    theirs = {file["engine"]["name"]: file["models"]["joint"] for file in files}
    with open(table) as text:
        rows = [r for r in csv.DictReader(text) if r["mate"] != "true" and r["engine"] in theirs]
    worst = 0
    for names in groups(rows, sorted(theirs)):
        for name, mine in fit([r for r in rows if r["engine"] in names], names).items():
            scale = {"w1": theirs[name]["w1"], "field_w1": theirs[name]["field_w1"]}
            apart = max(abs(mine[key] - theirs[name][key]) / scale.get(key, 1) for key in mine)
            worst = max(worst, apart)
            print(f"{name:28} 1/w1 {1 / mine['w1']:.4f}, {1 / theirs[name]['w1']:.4f} in the file; apart {apart:.1e}")
    print(f"largest difference {worst:.1e}")
    sys.exit(worst > 1e-5)


if __name__ == "__main__":
    main(*sys.argv[1:])
