"""Samples and fits in parts: CPU time and memory per part and for putting the parts together.

    python benches/python_scale.py TESTKIT FOLDER [GAMES ...]

TESTKIT is the program evalcurve-testkit, which generates the games: PGN with scores in a folder, one file per part of
20,000 games. Each part is sampled, counted and summed in a process of its own, as on a machine of its own; the last
process only sees the counts and sums. The package evalcurve and pyarrow must be installed.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import time

PART = 20_000


def used():
    """CPU seconds and peak memory in MB of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def part(file, optimum):
    """The state of a part, or its sums at an optimum."""
    import evalcurve

    table = evalcurve.sample(file, threads=1)
    own = (table["engine"] == "A") & ~table["mate"]
    samples = table["score_cp"][own], table["result"][own], table["game"][own]
    if optimum:
        found = evalcurve.GameSums.sum(tuple(json.loads(optimum)), *samples)
    else:
        found = evalcurve.FitState.count(*samples)
    cpu, memory = used()
    print(json.dumps({"found": found.to_json(), "cpu": cpu, "memory": memory, "samples": len(table)}))


def call(*arguments):
    return json.loads(subprocess.run([sys.executable, __file__, "part", *arguments], capture_output=True, check=True,
                                     text=True).stdout)


def main(testkit, folder, sizes):
    import evalcurve

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("games parts size_mb part_cpu_s part_memory_mb state_kb reduce_s reduce_memory_mb w1")
    for games in sizes:
        files = []
        for number in range(-(-games // PART)):
            file = folder / f"part-{number}.pgn"
            if not file.exists():
                subprocess.run([testkit, "generate", "--out", file, "--games", str(PART), "--plies", "80", "--seed",
                                str(number + 1)], check=True, stdout=subprocess.DEVNULL)
            files.append(os.fspath(file))
        counted = [call(file, "") for file in files]
        began = time.process_time()
        state = evalcurve.FitState()
        for one in counted:
            state.merge(evalcurve.FitState.from_json(one["found"]))
        optimum = state.optimum()
        reduced = time.process_time() - began
        summed = [call(file, json.dumps(optimum)) for file in files]
        began = time.process_time()
        sums = evalcurve.GameSums.from_json(summed[0]["found"])
        for one in summed[1:]:
            sums.merge(evalcurve.GameSums.from_json(one["found"]))
        fit = state.fit(sums)
        reduced += time.process_time() - began
        size = sum(os.path.getsize(file) for file in files) / 1e6
        mean = sum(one["cpu"] for one in counted) / len(counted)
        memory = max(one["memory"] for one in counted + summed)
        print(f"{games} {len(files)} {size:.0f} {mean:.2f} {memory:.0f} {len(state.to_json()) / 1000:.0f} "
              f"{reduced:.3f} {used()[1]:.0f} {fit.w1:.6f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "part":
        part(*sys.argv[2:])
    else:
        main(sys.argv[1], sys.argv[2], [int(games) for games in sys.argv[3:]] or [20_000, 100_000])
