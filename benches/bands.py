"""What came where a win rate is printed: bands of the printed rate against results that no fit saw.

    evalcurve calibrate ODD --alias 'Stockfish*=Stockfish' --alias 'LCZero*=LCZero' --min-samples 60 --out odd
    evalcurve sample EVEN --alias 'Stockfish*=Stockfish' --alias 'LCZero*=LCZero' --out even.csv
    python benches/bands.py target/release/evalcurve odd even.csv [--field]

Reads the win rate of every sample of a calibrated engine from `evalcurve winrate`, between equals as it is printed
everywhere, or with --field against the opponents of the calibration. Prints for each band of that rate the number of
samples and games, the mean of the printed rate, the mean result, and their difference over its standard error,
clustered by game and not below that of the printed rates themselves. Mates are left out.
"""

import argparse
import collections
import csv
import json
import pathlib
import subprocess

BANDS = [0, 0.1, 0.3, 0.45, 0.55, 0.7, 0.9, 1]


def printed(program, file, scores, field):
    words = ["--field"] if field else []
    run = subprocess.run([program, "winrate", file, *words, "--json", "-"], input="\n".join(map(str, scores)),
                         capture_output=True, text=True, check=True)
    return [value["win_rate"] for value in json.loads(run.stdout)["values"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("calibrations")
    parser.add_argument("table")
    parser.add_argument("--field", action="store_true")
    args = parser.parse_args()
    samples = collections.defaultdict(list)
    for row in csv.DictReader(open(args.table)):
        if row["mate"] != "true":
            samples[row["engine"]].append((row["game"], int(row["score_cp"]), float(row["result"])))
    found = []
    for file in sorted(pathlib.Path(args.calibrations).glob("*.json")):
        own = samples[json.loads(file.read_text())["engine"]["name"]]
        rates = printed(args.program, file, [score for _, score, _ in own], args.field) if own else []
        found.extend((rate, game, result) for rate, (game, _, result) in zip(rates, own))
    print("printed       samples  games  mean printed  result  difference / standard error")
    for low, high in [*zip(BANDS, BANDS[1:])]:
        inside = [f for f in found if low <= f[0] < high or f[0] == high == 1]
        if not inside:
            continue
        by_game, chance = collections.Counter(), collections.Counter()
        drawn = sum(f[2] == 0.5 for f in inside) / (len(inside) + 2)
        for rate, game, result in inside:
            by_game[game] += result - rate
            chance[game] += max(0, rate * (1 - rate) - 0.25 * drawn) ** 0.5
        n, error = len(inside), sum(by_game.values())
        spread = sum((off - error / len(by_game)) ** 2 for off in by_game.values())
        spread = max(spread, sum(off * off for off in chance.values())) ** 0.5
        print(f"{low:.2f} to {high:.2f}  {n:7}  {len(by_game):5}  {sum(f[0] for f in inside) / n:12.3f}  "
              f"{sum(f[2] for f in inside) / n:6.3f}  {error / spread if spread else float('nan'):+.1f}")


if __name__ == "__main__":
    main()
