#!/usr/bin/env python3
"""What a member costs whose scores are suddenly twice as large: regret of each rule before and after, by one vote log.

    python3 benches/scale_mismatch.py --votes decisions.jsonl --samples samples.csv --member Toga --reference Stockfish --out mismatch.csv

For each member, three replays of the same votes: as they were; with its scores doubled; and doubled, with a calibration of
it from its games with doubled scores. Needs a vote log of `council --positions` with a reference, and the samples of the games of
`council --prepare --by-playing` (`evalcurve sample council-games --from-ply 17 --window 20`, as that command takes them).
"""
import argparse, csv, json, os, subprocess, tempfile

RULES = ["majority", "optimistic", "winrate-optimistic", "mean-winrate", "log-pool", "cross-examination"]

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--votes", required=True)
p.add_argument("--samples", required=True)
p.add_argument("--member", required=True, action="append", help="may be repeated")
p.add_argument("--reference", required=True)
p.add_argument("--evalcurve", default="target/release/evalcurve")
p.add_argument("--out", required=True)
a = p.parse_args()


def run(*arguments):
    done = subprocess.run([a.evalcurve, *arguments], capture_output=True, text=True)
    # replay ends with 1 because the doubled log decides otherwise than it says
    assert done.returncode == 0 or arguments[0] == "replay" and done.stdout, done.stderr
    return done.stdout


def replay(log, *more):
    rules = [word for rule in RULES for word in ("--rule", rule)]
    document = json.loads(run("replay", log, *rules, "--without", a.reference, "--reference", a.reference, "--json", *more))
    return {rule["rule"]: rule for rule in document["replay"]["rules"]}


def doubled_log(log, member):
    with open(log, "w") as out:
        for line in map(json.loads, open(a.votes)):
            for vote in line.get("votes", []):
                if vote.get("voter") == member:
                    for scored in [vote, *vote.get("candidates", []), *vote.get("judged", [])]:
                        if isinstance(scored.get("score"), (int, float)):
                            scored["score"] *= 2
            out.write(json.dumps(line) + "\n")


def doubled_table(table, file, member):
    with open(table, newline="") as source, open(file, "w", newline="") as out:
        rows = csv.DictReader(source)
        writer = csv.DictWriter(out, rows.fieldnames)
        writer.writeheader()
        for row in rows:
            for engine, score in (("engine", "score_cp"), ("opponent", "reply_cp")):
                if row[engine] == member and row.get(score):
                    row[score] = str(2 * int(row[score]))
            writer.writerow(row)


header = ["rule", "doubled_member", "regret_percent", "standard_error", "member_adopted", "doubled_regret_percent",
          "doubled_standard_error", "doubled_adopted", "recalibrated_regret_percent", "recalibrated_standard_error",
          "recalibrated_adopted"]
rows = []
for member in a.member:
    with tempfile.TemporaryDirectory() as folder:
        log, file = (os.path.join(folder, name) for name in ("doubled.jsonl", "doubled.csv"))
        doubled_log(log, member)
        doubled_table(a.samples, file, member)
        run("calibrate", file, "--min-samples", "30", "--out", folder, "--quiet")
        calibration = os.path.join(folder, f"{member}.json")
        found = replay(a.votes), replay(log), replay(log, "--calibration", f"{member}={calibration}")
    for rule in RULES:
        row = [rule, member]
        for rules in found:
            adopted = next(x["adopted"] for x in rules[rule]["adoption"] if x["voter"] == member) / rules[rule]["decided"]
            regret = rules[rule]["regret"]
            row += [f"{100 * regret['mean']:.3f}", f"{100 * regret['standard_error']:.3f}", f"{adopted:.3f}"]
        rows.append(row)
for row in [header, *rows]:
    print("{:<20}{:<16}".format(*row[:2]) + "".join(f"{cell[-20:]:>22}" for cell in row[2:]))
with open(a.out, "w", newline="") as out:
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
