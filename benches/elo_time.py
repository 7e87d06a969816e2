#!/usr/bin/env python3
"""Elo of members against their council by the processor time of a move, for the figures of docs/does-a-council-pay.md.

    python3 benches/elo_time.py EVALCURVE COUNCIL results.csv … > elo.csv

A line is a member: the name of the player up to its first comma. COUNCIL is the council's name in the tables; its point is
the mean of its times, at 0. Columns: line, ms, elo, low, high (95%). A player without a finite interval is left out, and named.
"""

import json
import subprocess
import sys

evalcurve, council, *tables = sys.argv[1:]
points, times = [], []
for table in tables:
    out = subprocess.run([evalcurve, "match-stats", table, "--opponent", council, "--json"], check=True, stdout=subprocess.PIPE)
    for found in json.loads(out.stdout)["systems"]:
        [own, of_council], [low, high] = found["cpu_ms_per_move"], found["elo_interval"]
        times.append(of_council)
        if None in (found["elo"], low, high):
            print(f"left out: {found['player']} in {table}", file=sys.stderr)
            continue
        points.append((found["player"].split(",")[0], own, found["elo"], low, high))
print("line,ms,elo,low,high")
for line, *numbers in sorted(points) + [("Council", sum(times) / len(times), 0, 0, 0)]:
    print(f'"{line}",' + ",".join(f"{number:.1f}" for number in numbers))
