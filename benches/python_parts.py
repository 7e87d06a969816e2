#!/usr/bin/env python3
"""A fit in parts by DuckDB, Ray and Spark, against the fit of all rows in one process.

    python benches/python_parts.py 10000000 FOLDER [duckdb] [ray] [spark]

Simulates rows (score, result, game; four rows a game) into one Parquet file, once. Each worker counts its part, and sums
it by game at the optimum of all parts. Prints wall seconds, the largest memory that a worker had at any time, and the
largest relative difference of slope, shift and covariance from the fit of all rows.
"""
import functools
import os
import pathlib
import resource
import sys
import time

import numpy as np
import pyarrow
import pyarrow.parquet

import evalcurve

ROWS, FOLDER, WITH = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:] or ["duckdb", "ray", "spark"]
PARTS, FILE = max(ROWS // 200_000, 1), FOLDER / f"rows-{ROWS}.parquet"
SCHEMA = "state string, megabytes long"


def simulate():
    random, schema = np.random.default_rng(1), None
    for start in range(0, ROWS, 200_000):
        count = min(200_000, ROWS - start)
        scores = np.round(random.normal(0, 400, count))
        results = (random.random(count) < 1 / (1 + np.exp(-scores / 400 + 0.1))).astype(float)
        table = pyarrow.table({"score": scores, "result": results, "game": np.arange(start, start + count) // 4})
        schema = schema or pyarrow.parquet.ParquetWriter(FILE, table.schema)
        schema.write_table(table)
    schema.close()


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def reduced(optimum, batches):
    """One part: its counts, or its sums at an optimum that was sent as JSON; and the memory that its worker had."""
    part = pyarrow.Table.from_batches(batches)
    columns = [part[name].to_numpy() for name in ("score", "result", "game")]
    state = evalcurve.FitState.count(*columns) if optimum is None else evalcurve.GameSums.sum(optimum, *columns)
    return pyarrow.RecordBatch.from_pydict({"state": [state.to_json()], "megabytes": [megabytes()]})


def fitted(passes):
    """The fit of all parts; `passes(optimum)` gives the answers of all workers."""
    counts = passes(None)
    state = evalcurve.FitState()
    for text in counts["state"].to_pylist():
        state.merge(evalcurve.FitState.from_json(text))
    answers = passes(state.optimum())
    first, *rest = map(evalcurve.GameSums.from_json, answers["state"].to_pylist())
    for part in rest:
        first.merge(part)
    memory = max(counts["megabytes"].to_pylist() + answers["megabytes"].to_pylist())
    return state.fit(first), len(counts), memory


def of_part(optimum, part):
    import duckdb

    database = duckdb.connect(config={"threads": 1})
    query = f"select score, result, game from '{FILE}' where game % {PARTS} = {part}"
    return reduced(optimum, database.sql(query).to_arrow_reader(100_000))


def with_duckdb():
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        passes = lambda optimum: pool.map(functools.partial(of_part, optimum), range(PARTS), chunksize=1)
        return fitted(lambda optimum: pyarrow.Table.from_batches(passes(optimum)))


def with_ray():
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    call = lambda table, optimum: pyarrow.Table.from_batches([reduced(optimum, table.to_batches())])
    data = ray.data.read_parquet(str(FILE)).repartition(PARTS, keys=["game"])
    passes = lambda optimum: ray.get(data.map_batches(
        call, batch_size=None, batch_format="pyarrow", fn_kwargs={"optimum": optimum}).to_arrow_refs())
    try:
        return fitted(lambda optimum: pyarrow.concat_tables(t for t in passes(optimum) if len(t)))
    finally:
        ray.shutdown()


def with_spark():
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
    frame = spark.read.parquet(str(FILE)).repartition(PARTS, "game")

    def call(optimum, batches):
        batches = list(batches)
        return iter([reduced(optimum, batches)] if batches else [])

    try:
        return fitted(lambda optimum: frame.mapInArrow(functools.partial(call, optimum), SCHEMA).toArrow())
    finally:
        spark.stop()


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not FILE.exists():
        simulate()
    found = {}
    for name in WITH:
        start = time.monotonic()
        fit, parts, memory = {"duckdb": with_duckdb, "ray": with_ray, "spark": with_spark}[name]()
        found[name] = fit, f"{parts} parts, {time.monotonic() - start:.1f} s, {memory} MB a worker"
    start, columns = time.monotonic(), pyarrow.parquet.read_table(FILE)
    whole = evalcurve.fit(*(columns[name].to_numpy() for name in ("score", "result", "game")))
    print(f"one process: {whole.games} games, {whole.nobs} rows, {time.monotonic() - start:.1f} s, {megabytes()} MB")
    values = lambda fit: np.concatenate([[fit.w1, fit.w2], np.ravel(fit.cov_params())])
    for name, (fit, text) in found.items():
        apart = np.max(np.abs(values(fit) / values(whole) - 1))
        print(f"{name}: {text}, {fit.nobs} rows, relative difference {apart:.1e}")
