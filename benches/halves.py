"""Are the intervals of constants as wide as constants of independent games differ?

    python benches/halves.py target/release/evalcurve FOLDER --model wdl [--splits 40] [--seed 1] [--alias 'A*=A']

Deals the openings of the PGN files below a folder (file and first eight plies) into halves, calibrates each half, and
divides the difference of 1/w1 of each engine by its standard error from both intervals. Where the intervals are right,
the root mean square of these numbers is 1, and 5% of them are beyond 1.96. Engines need 60 samples in each half.
"""

import argparse
import collections
import json
import math
import pathlib
import random
import re
import subprocess
import tempfile


def games_of(folder):
    for file in sorted(pathlib.Path(folder).rglob("*.pgn")):
        for game in re.split(r"(?m)^(?=\[Event )", file.read_text(errors="replace")):
            if "[White " in game:
                words = re.sub(r"\{[^}]*\}|^\[.*$|\d+\.+", " ", game, flags=re.M).split()
                yield (file.name, *words[:8]), game


def constants(program, options, games):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "half.pgn").write_text("".join(games))
        run = subprocess.run([program, "calibrate", folder, "--min-samples", "60", "-q", "--json", "--dry-run", *options],
                             capture_output=True, text=True)
        engines = json.loads(run.stdout)["engines"]
    known = [(e["name"], e["constant"]) for e in engines if e["constant"] and e["constant"]["interval"]]
    # the interval of 1/w1 is the inverse of that of w1
    return {name: (1 / c["value"], (1 / c["interval"][0] - 1 / c["interval"][1]) / 3.92) for name, c in known}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--model", default="joint")
    parser.add_argument("--splits", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--alias", action="append", default=[])
    args = parser.parse_args()
    options = ["--model", args.model, *(word for alias in args.alias for word in ("--alias", alias))]
    games, draw = list(games_of(args.folder)), random.Random(args.seed)
    openings, found = sorted({opening for opening, _ in games}), collections.defaultdict(list)
    for _ in range(args.splits):
        first = {opening for opening in openings if draw.random() < 0.5}
        a, b = (constants(args.program, options, [game for opening, game in games if (opening in first) == half])
                for half in (True, False))
        for name in a.keys() & b.keys():
            found[name].append((a[name][0] - b[name][0]) / math.hypot(a[name][1], b[name][1]))
    everything = [z for of_engine in found.values() for z in of_engine]
    for name, z in [*sorted(found.items()), ("all", everything)]:
        size = math.sqrt(sum(value * value for value in z) / len(z))
        print(f"{name}: {len(z)} pairs, {size:.2f}, {sum(abs(value) > 1.96 for value in z) / len(z):.1%} beyond 1.96")


if __name__ == "__main__":
    main()
