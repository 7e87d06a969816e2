"""Is anything certified that the data do not hold? Tables with known truth in which a verdict of *good* would be wrong.

    python benches/evidence.py target/release/evalcurve copies --seed 1 --sets 40
    python benches/evidence.py target/release/evalcurve drawn --seed 1 --sets 40 --games 5000
    python benches/evidence.py target/release/evalcurve noise --seed 1 --sets 30 --games 1500

The games are those of verdicts.py: engines of equal strength with a constant of 400. `copies`: 75 games an engine,
each four times under other identities, with scores that differ by up to 3. `drawn`: 10% of the games are drawn whatever
the score, and no other. `noise`: random scores, and one to thirty of the games of an engine lost, all others won.
Prints how often 95% intervals of the constant hold the truth, the verdicts, and the engines that are good and wrong
without a message.
"""

import argparse
import collections
import csv
import io
import json
import pathlib
import subprocess
import tempfile

import numpy as np

import verdicts


def rows_of(text):
    rows = list(csv.reader(io.StringIO(text)))
    return rows[0], rows[1:]


def copies(rng, games):
    head, rows = rows_of(verdicts.table(rng, 4, 75, 1.2, 0.0))
    out = []
    for copy in range(4):
        for row in rows:
            off = rng.integers(-3, 4) if copy else 0
            out.append([f"{row[0]}-{copy}", *row[1:6], int(row[6]) + off, row[7]])
    return head, out


def drawn(rng, games):
    head, rows = rows_of(verdicts.table(rng, 4, games, 1.2, 0.0))
    chosen = {game: rng.random() < 0.1 for game in dict.fromkeys(row[0] for row in rows)}
    return head, [[*row[:7], 0.5 if chosen[row[0]] else row[7]] for row in rows]


def noise(rng, games):
    lost = set(rng.permutation(games)[: rng.choice([1, 2, 3, 5, 10, 30])])
    head = ["game", "engine", "opponent", "color", "ply", "window", "score_cp", "result"]
    row = lambda game: [f"g{game}", "A", "B", "black", 31, 0, round(rng.normal(0, 300)), int(game not in lost)]
    return head, [row(game) for game in range(games)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evalcurve")
    parser.add_argument("case", choices=["copies", "drawn", "noise"])
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--games", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    program = str(pathlib.Path(args.evalcurve).resolve())
    words, held, good, wrong = collections.Counter(), [], [], 0
    for number in range(args.sets):
        rng = np.random.default_rng([args.seed, number])
        head, rows = globals()[args.case](rng, args.games)
        with tempfile.TemporaryDirectory() as folder:
            with open(pathlib.Path(folder, "t.csv"), "w") as out:
                csv.writer(out).writerows([head, *rows])
            run = subprocess.run([program, "calibrate", "--dry-run", "t.csv", "--bands", "0", "--json", "--lang", "en", "--threads", "1"],
                                 cwd=folder, capture_output=True, text=True)
        document = json.loads(run.stdout) if run.stdout else {"engines": [], "problems": []}
        for engine in document["engines"]:
            words[engine["verdict"] or engine["error"][:24]] += 1
            interval = (engine["constant"] or {}).get("interval")
            holds = interval is not None and interval[0] <= verdicts.CONSTANT <= interval[1]
            if interval:
                held.append(holds)
            if engine["verdict"] == "good":
                good.append(holds)
                wrong += not holds and not engine["warnings"] and not document["problems"]
    share = lambda values: f"{np.mean(values):.3f} of {len(values)}" if values else "none"
    print(f"{args.case}: intervals hold {share(held)}; good hold {share(good)}; good, wrong and no message {wrong}; "
          + ", ".join(f"{word} {n}" for word, n in words.most_common()))


if __name__ == "__main__":
    main()
