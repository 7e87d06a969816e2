"""Do good constants hold the truth as often as promised, at every number of games?

Engines of equal strength meet each other; a game is won with probability 1/2, and both sides score it once in each of
two windows: a score is ±mu + u + e in the view of its side, u shared by the game. By Bayes' theorem each score alone
follows the sigmoid with w1 = 2 mu / sigma^2 exactly. A coin may decide a share of the results.

    python benches/verdicts.py target/release/evalcurve --sets 40 --games 30 60 100 200 300 400 600 1000 1500
"""

import argparse
import csv
import io
import json
import pathlib
import subprocess
import tempfile

import numpy as np

CONSTANT = 400.0


def table(rng, engines, games, spread, coin):
    """A round robin in which each engine has so many games, as CSV. `spread`: standard deviation of logits."""
    # s^2 = 4 d^2 (1 + d^2), where d is mu / sigma
    d = np.sqrt((np.sqrt(1 + spread**2) - 1) / 2)
    sigma = 2 * d * CONSTANT
    mu = d * sigma
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["game", "engine", "opponent", "color", "ply", "window", "score_cp", "result"])
    pairs = [(a, b) for a in range(engines) for b in range(a)]
    per_pair = games // (engines - 1) + 1
    number = 0
    for a, b in pairs:
        for _ in range(per_pair):
            number += 1
            first = rng.random() < 0.5
            evidence = 1 if first else -1
            u = rng.normal(0, sigma * np.sqrt(0.7))
            won = rng.random() < 0.5 if rng.random() < coin else first
            for window in range(2):
                for side, (own, other, color) in enumerate([(a, b, "black"), (b, a, "white")]):
                    sign = 1 if side == 0 else -1
                    score = sign * (evidence * mu + u) + rng.normal(0, sigma * np.sqrt(0.3))
                    result = int(won == (side == 0))
                    ply = 31 + 60 * window + side
                    writer.writerow([f"g{number}", "ABCDEFGHIJ"[own], "ABCDEFGHIJ"[other], color, ply, window,
                                     round(score), result])
    return out.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evalcurve")
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--engines", type=int, default=6)
    parser.add_argument("--games", type=int, nargs="+", default=[30, 60, 100, 200, 300, 400, 600, 1000, 1500])
    parser.add_argument("--spread", type=float, default=1.2)
    parser.add_argument("--coin", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    program = str(pathlib.Path(args.evalcurve).resolve())
    print("games  engines  good  all held  good held  good too small  median upper/lower of good")
    for games in args.games:
        rng = np.random.default_rng([args.seed, games])
        held, good, small, ratios, everyone = [], [], 0, [], 0
        for _ in range(args.sets):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "t.csv")
                path.write_text(table(rng, args.engines, games, args.spread, args.coin))
                run = subprocess.run([program, "constant", str(path), "--json", "--lang", "en"], cwd=folder,
                                     capture_output=True, text=True)
            for engine in json.loads(run.stdout)["engines"] if run.stdout else []:
                everyone += 1
                interval = engine["interval"]
                holds = interval is not None and interval[0] <= CONSTANT <= interval[1]
                if interval is not None:
                    held.append(holds)
                if engine["verdict"] == "good":
                    good.append(holds)
                    small += interval is not None and interval[1] < CONSTANT
                    ratios.append(interval[1] / interval[0])
        share = lambda values: f"{np.mean(values):.3f}" if values else "-"
        median = f"{np.median(ratios):.2f}" if ratios else "-"
        print(f"{games:5}  {everyone:7}  {len(good):4}  {share(held):>8}  {share(good):>9}  {small:14}  {median}")


if __name__ == "__main__":
    main()
