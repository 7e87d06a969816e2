#!/usr/bin/env python3
"""How often majority adopts each member's move, with each member as the leader and with drawn ties, by one vote log.

    python3 benches/adoption.py votes.jsonl

Prints the adoption rates, and the splits of the votes.
"""
import argparse, json, os, subprocess, tempfile

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("votes")
p.add_argument("--evalcurve", default="target/release/evalcurve")
a = p.parse_args()


def replay(leader, *more):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "votes.jsonl")
        with open(log, "w") as out:
            for line in map(json.loads, open(a.votes)):
                for voter in line.get("voters", []):
                    voter["role"] = "leader" if voter["name"] == leader else "member"
                out.write(json.dumps(line) + "\n")
        done = subprocess.run([a.evalcurve, "replay", log, "--rule", "majority", "--json", *more], capture_output=True, text=True)
        assert done.stdout, done.stderr  # ends with 1 because another leader decides otherwise than the log says
        return json.loads(done.stdout)["replay"]


names = [voter["name"] for voter in json.loads(open(a.votes).readline())["voters"]]
found = {f"led by {name}": replay(name) for name in names} | {"drawn ties": replay(names[0], "--tie", "draw")}
rates = {}
for title, of in found.items():
    rule = of["rules"][0]
    rates[title] = {x["voter"]: x["adopted"] / rule["decided"] for x in rule["adoption"]}
print("member", *found, sep=" | ")
for name in names:
    print(name, *(f"{rates[title][name]:.3f}" for title in found), sep=" | ")
first = found[f"led by {names[0]}"]
print(f"{first['rules'][0]['decided']} decisions; splits:", json.dumps(first["splits"]))
