#!/usr/bin/env python3
"""The memory of the joint fit by rows, and of sampling by a stream of DuckDB: what docs/python.md prints.

python benches/python_memory.py joint 100000          # a process for each number of rows
python benches/python_memory.py duckdb games.parquet  # columns movetext, White, Black, Result, …
"""

import resource
import sys
import warnings

import numpy as np
import pyarrow

import evalcurve

warnings.simplefilter("ignore")


def joint(rows):
    random = np.random.default_rng(1)
    games = rows // 4
    engine = random.integers(0, 4, games)
    opponent = (engine + 1 + random.integers(0, 3, games)) % 4
    names = np.array(["A", "B", "C", "D"])
    scores = np.round(random.normal(0, 400, 4 * games)).astype(np.int32)
    table = pyarrow.table(
        {
            "engine": names[np.repeat(engine, 4)],
            "opponent": names[np.repeat(opponent, 4)],
            "color": np.repeat(np.where(random.random(games) < 0.5, "black", "white"), 4),
            "score_cp": scores,
            "result": (random.random(4 * games) < 1 / (1 + np.exp(-scores / 400))).astype(float),
            "game": pyarrow.array(np.repeat(np.arange(games), 4)).cast(pyarrow.string()),
            "ply": random.integers(30, 150, 4 * games).astype(np.int32),
            "window": np.tile(np.arange(4), games).astype(np.int32),
        }
    )
    return len(evalcurve.calibrate(table, bands=0, duplicates="by-identity", threads=1).calibrations)


def duckdb(file):
    import duckdb

    stream = duckdb.connect(config={"threads": 1}).sql(f"select * from '{file}'").to_arrow_reader(500)
    return sum(batch.num_rows for batch in evalcurve.sample_batches(stream, annotator="Stockfish"))


found = joint(int(sys.argv[2])) if sys.argv[1] == "joint" else duckdb(sys.argv[2])
print(*sys.argv[1:], found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, "MB")
