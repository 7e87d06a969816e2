"""What a prior on slopes would gain: forecasts of games that no fit has seen, and agreement on the same positions.

    evalcurve sample RECORDS --out samples.csv
    python3 benches/priors.py samples.csv [MIN_SAMPLES [EVALCURVE]]

Slopes and their errors come from calibrations without a fifth of the games; priors draw ln w1 towards its centre, which
is estimated like their spread (unless that is fixed). Needs numpy.
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import zlib

import numpy as np

FOLDS = 5


def sigma(z):
    return 1 / (1 + np.exp(-np.clip(z, -500, 500)))


def shrink(ln, error, kind):
    """Posterior medians of slopes by a prior of estimated centre; kind is fixed, normal or t (3 degrees of freedom)."""
    u, best = np.linspace(-6, 6, 400), (-math.inf, None, None)
    for spread in [0.25] if kind == "fixed" else [0.05 * 1.35**i for i in range(14)]:
        centre = 0.0
        for step in range(8 if kind == "t" else 1):
            variance = spread**2 + error**2
            weight = (4 / (3 + (ln - centre) ** 2 / variance) if kind == "t" and step else 1) / variance
            centre = (weight * ln).sum() / weight.sum()
        at = ln[:, None] + u * error[:, None]
        z2 = ((at - centre) / spread) ** 2
        mass = ((1 + z2 / 3) ** -2 if kind == "t" else np.exp(-z2 / 2)) / spread * np.exp(-u * u / 2)
        best = max(best, (np.log(mass.sum(1)).sum(), at, mass), key=lambda b: b[0])
    _, at, mass = best
    share = np.cumsum(mass, 1) / mass.sum(1, keepdims=True)
    return np.exp([line[np.searchsorted(part, 0.5)] for line, part in zip(at, share)])


def fitted(rows, min_samples, program):
    """The joint model and the players' strengths of each engine."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/rows.csv", "w") as out:
            table = csv.DictWriter(out, rows[0].keys())
            table.writeheader()
            table.writerows(rows)
        options = ["--min-samples", min_samples, "--min-games", "10", "--bands", "0", "--folds", "0", "--force"]
        command = [program, "calibrate", f"{folder}/rows.csv", "--no-plots", "--quiet", "--out", f"{folder}/out"]
        subprocess.run(command + options, check=False)
        files = [json.loads(path.read_text()) for path in pathlib.Path(f"{folder}/out").glob("*.json")]
    engines = {}
    for file in sorted(files, key=lambda f: f["engine"]["name"]):
        opponents = {o["name"]: o.get("strength") or 0 for o in file["provenance"]["opponents"]}
        own = (file["field"] or {}).get("strength") or 0
        engines[file["engine"]["name"]] = (file["models"]["joint"], own, opponents)
    return engines


def main(path, min_samples="30", program="evalcurve"):
    with open(path) as text:
        rows = list(csv.DictReader(text))
    rated = rows[0].get("bradley_terry") != "true"
    own, shared = {}, {}
    nats = lambda p, y: -(y * math.log(max(p, 1e-12)) + (1 - y) * math.log(max(1 - p, 1e-12)))
    for fold in range(FOLDS):
        out = lambda row: zlib.crc32(row["game"].encode()) % FOLDS == fold
        engines = fitted([r for r in rows if not out(r)], min_samples, program)
        w1 = np.array([joint["w1"] for joint, *_ in engines.values()])
        error = np.array([math.sqrt(joint["covariance"][0][0]) for joint, *_ in engines.values()]) / w1
        slopes = {"none": w1} | {kind: shrink(np.log(w1), error, kind) for kind in ["fixed", "normal", "t"]}
        slopes |= {f"one constant, {k}": np.full(len(w1), 1 / k) for k in [300, 350]}
        slopes = {kind: dict(zip(engines, found)) for kind, found in slopes.items()}
        for r in rows:
            if not out(r) or r["mate"] == "true" or r["engine"] not in engines:
                continue
            joint, strength, opponents = engines[r["engine"]]
            x, y = float(r["score_cp"]), float(r["result"])
            known = rated and r["rating"] and r["opponent_rating"]
            d = math.log(10) / 400 * (float(r["rating"]) - float(r["opponent_rating"])) if known else 0
            advantage = joint["w3"] * d + strength - opponents.get(r["opponent"], 0) - joint["optimism"]
            read = lambda z: joint["lapse"] + (1 - 2 * joint["lapse"]) * sigma(z)
            for kind, slope in slopes.items():
                loss = nats(read(slope[r["engine"]] * x + advantage), y)
                own.setdefault(kind, []).append((r["game"], loss))
                if r["reply_cp"] and r["opponent"] in engines:
                    z = slope[r["engine"]] * x, -slope[r["opponent"]] * float(r["reply_cp"])
                    p = [read(z[0]), read(z[1])]
                    shared.setdefault(kind, []).append((abs(p[0] - p[1]), nats(sum(p) / 2, y), *np.clip(z, -8, 8)))
    for kind, losses in own.items():
        games = {}
        for (game, loss), (_, base) in zip(losses, own["none"]):
            games[game] = games.get(game, 0) + loss - base
        behind = sum(games.values()) / len(losses)
        error = 1.96 * math.sqrt(sum(v * v for v in games.values())) / len(losses)
        apart, vote, *z = np.array(shared[kind]).T
        mean, correlation = np.mean([loss for _, loss in losses]), np.corrcoef(z)[0, 1]
        print(
            f"{kind:18} log loss {mean:.4f}, less none {behind:+.4f} ± {error:.4f} ({len(losses)}); same positions: "
            f"|dp| {apart.mean():.4f}, mean vote {vote.mean():.4f}, correlation {correlation:.3f} ({len(vote)})"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
