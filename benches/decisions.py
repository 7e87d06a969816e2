#!/usr/bin/env python3
"""Regret of every rule and member as a table, from evalcurve replay with a reference.

    evalcurve replay decisions.jsonl --without Stockfish --reference Stockfish --json > replay.json
    python3 benches/decisions.py replay.json --out decisions.csv --figure differences.csv

Differences are against the member with the least regret, over the same decisions, with p corrected for all rules by
Holm. The figure's table is for draw_forest in crates/figures.
"""
import argparse, csv, json, math

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("replay")
p.add_argument("--out", required=True)
p.add_argument("--figure")
a = p.parse_args()
replay = json.load(open(a.replay))["replay"]


def percent(estimate):
    return 100 * estimate["mean"], 100 * estimate["standard_error"]


def two_sided(value, error):
    return math.erfc(abs(value / error) / math.sqrt(2))


rules = [rule for rule in replay["rules"] if rule["regret"]]
ordered = sorted((two_sided(*percent(rule["against_best"])), rule["rule"]) for rule in rules)
holm, so_far = {}, 0.0
for rank, (value, rule) in enumerate(ordered):
    so_far = max(so_far, min(1.0, value * (len(ordered) - rank)))
    holm[rule] = so_far
header = ["choice", "regret_percent", "standard_error", "positions", "missing", "against_best_member", "against_best_standard_error", "holm_p"]
with open(a.out, "w", newline="") as out:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for member in replay["alone"]:
        mean, error = percent(member["regret"])
        writer.writerow([member["voter"] + " alone", f"{mean:.3f}", f"{error:.3f}", member["regret"]["judged"], member["regret"]["missing"], "", "", ""])
    for rule in sorted(rules, key=lambda rule: rule["regret"]["mean"]):
        (mean, error), (difference, its_error) = percent(rule["regret"]), percent(rule["against_best"])
        writer.writerow([rule["rule"], f"{mean:.3f}", f"{error:.3f}", rule["regret"]["judged"], rule["regret"]["missing"], f"{difference:+.3f}", f"{its_error:.3f}", f"{holm[rule['rule']]:.2g}"])
if a.figure:
    with open(a.figure, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["choice", "difference", "low", "high"])
        for rule in sorted(rules, key=lambda rule: rule["against_best"]["mean"]):
            value, error = percent(rule["against_best"])
            writer.writerow([rule["rule"], f"{value:.4f}", f"{value - 1.96 * error:.4f}", f"{value + 1.96 * error:.4f}"])
