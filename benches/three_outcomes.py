"""Do the intervals of win rates hold the truth where games are drawn?

    python benches/three_outcomes.py target/release/evalcurve --seed 7 --sets 40 --games 30 100 300 1500 [--rated]
        [--coin 0.02] [--drawn 0.1]

Invents tables of four engines whose win rates are known: P(win) = σ(u - δ), P(loss) = σ(-u - δ) with u = x/b + the
difference of strengths, one sample for each side of a game. Scores have the spread at which 0, 20, 50 and 70% of the
games are drawn. A coin may decide a share of the games, and a share may be drawn, whatever the score. Prints, for each
share of draws and number of games an engine, how often the 95% interval of `winrate` between equals holds the truth at
eight scores (where the truth is .52 to .98 but for games that follow no score), over the engines whose verdict is good
and over all, and the mean error; then of how many engines each doubt was false, and whose constants hold the truth.
"""

import argparse
import collections
import csv
import json
import math
import pathlib
import random
import subprocess
import tempfile

WIDTHS = {0: 0.0, 20: 0.62, 50: 2.1, 70: 4.6}
TRUTHS = [0.52, 0.56, 0.62, 0.70, 0.78, 0.86, 0.93, 0.98]


def sigma(z):
    return 1 / (1 + math.exp(-z)) if z > -700 else 0.0


def expected(u, width):
    return 0.5 * (sigma(u - width) + sigma(u + width))


def score_of(truth, width):
    low, high = 0.0, 60.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expected(middle, width) < truth else (low, middle)
    return low


def table(rng, path, width, games, rated, coin=0.0, drawn=0.0):
    scales = [25, 40, 80, 300]
    strengths = [rng.gauss(0, 0.5) for _ in scales]
    ratings = [s * 400 / math.log(10) + rng.gauss(0, 35) for s in strengths]
    draws, rows = 0, []
    for game in range(games * len(scales) // 2):
        a, b = rng.sample(range(len(scales)), 2)
        position = rng.gauss(0, 1.3 + 0.6 * width)
        u, luck = position + strengths[a] - strengths[b], rng.random()
        win, loss = sigma(u - width), sigma(-u - width)
        result = 1 if luck < win else 0 if luck < win + loss else 0.5
        if coin + drawn > 0.0 and (luck := rng.random()) < coin + drawn:
            result = 0.5 if luck < drawn else rng.randrange(2)
        draws += result == 0.5
        for own, other, sign in [(a, b, 1), (b, a, -1)]:
            rating = [round(ratings[own]), round(ratings[other])] if rated else ["", ""]
            score = round(sign * position * scales[own])
            rows.append([game, "ABCD"[own], "ABCD"[other], score, result if sign > 0 else 1 - result, 60, *rating])
    with open(path, "w") as out:
        writer = csv.writer(out)
        writer.writerow(["game", "engine", "opponent", "score_cp", "result", "ply", "rating", "opponent_rating"])
        writer.writerows(rows)
    return scales, draws / len(rows) * 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--games", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--draws", type=int, nargs="+", default=list(WIDTHS))
    parser.add_argument("--rated", action="store_true")
    parser.add_argument("--coin", type=float, default=0.0)
    parser.add_argument("--drawn", type=float, default=0.0)
    args = parser.parse_args()
    run = lambda *words: subprocess.run([args.program, *map(str, words)], capture_output=True, text=True)
    print("draws  games  good, of; held by score (good)", " " * 34,
          "held (all)  mean error by score; constants of good; doubts", flush=True)
    logistic_one = sigma(1.0)
    for draws in args.draws:
        width = WIDTHS[draws]
        for games in args.games:
            held, all_held, errors, of, good, shares = [[] for _ in TRUTHS], [], [[] for _ in TRUTHS], 0, 0, []
            doubts, constants = collections.Counter(), []
            for number in range(args.sets):
                rng = random.Random(f"{args.seed} {draws} {games} {number}")
                with tempfile.TemporaryDirectory() as folder:
                    at = pathlib.Path(folder)
                    scales, share = table(rng, at / "t.csv", width, games, args.rated, args.coin, args.drawn)
                    shares.append(share)
                    words = ["--min-samples", 20, "--no-plots", "--folds", 5, "--threads", 1]
                    found = run("calibrate", at / "t.csv", "--out", at / "o", "--json", *words)
                    results = {e["name"]: e for e in json.loads(found.stdout)["engines"]} if found.stdout else {}
                    for name, scale in zip("ABCD", scales):
                        file = at / "o" / f"{name}.json"
                        if not file.exists():
                            continue
                        of += 1
                        scores = [round(score_of(truth, width) * scale, 3) for truth in TRUTHS]
                        answers = json.loads(run("winrate", file, *scores, "--json").stdout)["values"]
                        is_good = results[name]["verdict"] == "good"
                        good += is_good
                        doubts.update(json.loads(file.read_text())["doubts"])
                        ends = (results[name]["constant"] or {}).get("interval")
                        if is_good and ends:
                            constants.append(ends[0] <= score_of(logistic_one, width) * scale <= ends[1])
                        for i, (answer, score) in enumerate(zip(answers, scores)):
                            random_share = args.coin + args.drawn
                            truth = 0.5 * random_share + (1 - random_share) * expected(score / scale, width)
                            ends = answer["interval"]
                            inside = bool(ends) and ends[0] <= truth <= ends[1]
                            all_held.append(inside)
                            errors[i].append(answer["win_rate"] - truth)
                            if is_good:
                                held[i].append(inside)
            mean = lambda v: f"{sum(v) / len(v):.3f}" if v else "  –  "
            share = sum(shares) / len(shares)
            print(f"{share:5.2f} {games:6} {good:5} {of:4} ", *map(mean, held), "  ", mean(all_held), "  ",
                  *(f"{sum(e) / max(1, len(e)):+.3f}" for e in errors), "  ", mean(constants),
                  *(f"{doubt} {n}" for doubt, n in sorted(doubts.items())), flush=True)


if __name__ == "__main__":
    main()
