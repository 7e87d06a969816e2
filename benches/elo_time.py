#!/usr/bin/env python3
"""Elo of members against their council by the processor time of a move, for the figures of docs/does-a-council-pay.md.

    python3 benches/elo_time.py EVALCURVE COUNCIL=results.csv … > elo.csv

COUNCIL is the council's name in the table; it is the line at 0, and the mean of its times is in its name if they are alike. A line is a member:
the name of the player without its time or its nodes. A later table adds no point of a line within a fifth of the time of one that is there.
Columns: line, ms, elo, low, high (95%). A player without a finite interval is left out, and named.
"""

import json
import re
import subprocess
import sys

evalcurve, *tables = sys.argv[1:]
points, times = [], []
for council, table in (argument.split("=", 1) for argument in tables):
    out = subprocess.run([evalcurve, "match-stats", table, "--opponent", council, "--json"], check=True, stdout=subprocess.PIPE)
    for found in json.loads(out.stdout)["systems"]:
        [own, of_council], [low, high] = found["cpu_ms_per_move"], found["elo_interval"]
        times.append(of_council)
        line = re.sub(r", (time of all|[\d,]+ nodes)$", "", found["player"])
        if None in (found["elo"], low, high):
            print(f"left out: {found['player']} in {table}", file=sys.stderr)
        elif not any(name == line and max(ms, own) < 1.2 * min(ms, own) for name, ms, *_ in points):
            points.append((line, own, found["elo"], low, high))
print("line,ms,elo,low,high")
alike = max(times) < 1.5 * min(times)
council = f"Council ({sum(times) / len(times):.0f} ms)" if alike else "Council"
ends = [(council, end(point[1] for point in points), 0, 0, 0) for end in (min, max)]
for line, *numbers in sorted(points) + ends:
    print(f'"{line}",' + ",".join(f"{number:.1f}" for number in numbers))
