"""Samples and fits in parts, as on several machines."""

import json
import os
import pickle
import shutil
import sys

import numpy as np
import pytest

import evalcurve


def pgn_rows(count=300, seed=3):
    """Games as rows of a table in the form of the lichess database: headers as columns, evaluations in comments."""
    random = np.random.default_rng(seed)
    rows = {name: [] for name in ("Site", "White", "Black", "Result", "WhiteElo", "BlackElo", "UTCDate", "movetext")}
    # out and back: which knight moves depends on the game, for games with the same moves count once
    knights = [("Nf3", "Nc3"), ("Nf6", "Nc6"), ("Ng1", "Nb1"), ("Ng8", "Nb8")]
    for game in range(count):
        drift, score, text = random.normal(0, 0.1), 0.0, []
        for ply in range(100):
            score += random.normal(drift, 0.3)
            knight = game >> (ply // 4 * 2 + ply % 2) & 1
            number = f"{ply // 2 + 1}." if ply % 2 == 0 else f"{ply // 2 + 1}..."
            text.append(f"{number} {knights[ply % 4][knight]} {{ [%eval {score:.2f}] }}")
        p = 1 / (1 + np.exp(-score))
        rows["Site"].append(f"https://lichess.org/{game:08d}")
        rows["White"].append(f"player {game}")
        rows["Black"].append(f"opponent {random.integers(50)}")
        rows["Result"].append(str(random.choice(["1-0", "0-1", "1/2-1/2"], p=[0.9 * p, 0.9 * (1 - p), 0.1])))
        rows["WhiteElo"].append(int(random.integers(1500, 2000)))
        rows["BlackElo"].append(int(random.integers(1500, 2000)))
        rows["UTCDate"].append(f"2024-01-{game % 28 + 1:02d}")
        rows["movetext"].append(" ".join(text))
    return rows


def as_pgn(rows):
    text = ""
    for values in zip(*rows.values()):
        game = dict(zip(rows, values))
        movetext = game.pop("movetext")
        text += "".join(f'[{tag} "{value}"]\n' for tag, value in game.items()) + f"\n{movetext} {game['Result']}\n\n"
    return text


def sorted_rows(table, without=("source", "line")):
    """The rows as tuples, in an order of their own; where a game was read is not part of it."""
    columns = [name for name in table.columns if name not in without]
    rows = zip(*(table[name].tolist() for name in columns))
    # as text: NaN is not equal to itself
    return columns, sorted(map(repr, rows))


@pytest.fixture(scope="module")
def rows():
    return pgn_rows()


@pytest.fixture(scope="module")
def whole(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("pgn") / "games.pgn"
    path.write_text(as_pgn(rows))
    return evalcurve.sample(path, annotator="Stockfish")


def test_games_in_a_column_are_those_of_a_file(rows, whole):
    pytest.importorskip("pyarrow")
    table = evalcurve.sample(rows, annotator="Stockfish")
    assert len(table) > 500
    assert sorted_rows(table) == sorted_rows(whole)
    # the line of a sample is the row of its game
    assert set(table["line"]) <= set(range(1, 301))
    assert np.array_equal(evalcurve.sample({"record": as_pgn(rows).split("\n\n\n")}, annotator="Stockfish")["ply"],
                          table["ply"])


def test_rows_without_a_game_are_counted(rows):
    pytest.importorskip("pyarrow")
    damaged = {name: list(values[:4]) for name, values in rows.items()}
    damaged["movetext"][1] = "1. e4 {[%eval 0.3]} what?"
    damaged["movetext"][2] = None
    with pytest.warns(evalcurve.EvalcurveWarning) as warned:
        found = evalcurve.calibrate(damaged, annotator="Stockfish")
    games = found.document["games"]
    assert games["read"] == 4 and games["used"] == 2 and sum(games["skipped"].values()) == 2
    texts = [str(warning.message) for warning in warned]
    assert any(text.startswith("table 1:2:") for text in texts) and any(text.startswith("table 1:3:") for text in texts)


def batches_of(rows, size):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(rows).to_batches(max_chunksize=size)


def test_batches_have_the_samples_of_the_whole(rows, whole):
    pyarrow = pytest.importorskip("pyarrow")
    parts = list(evalcurve.sample_batches(batches_of(rows, 70), annotator="Stockfish"))
    assert len(parts) == 5
    names = [field.split()[0] for field in evalcurve.SAMPLE_SCHEMA.split(", ")]
    assert all(part.schema.names == names for part in parts)
    union = evalcurve.read_samples(pyarrow.Table.from_batches(parts))
    assert sorted_rows(union) == sorted_rows(whole)
    with pytest.raises(evalcurve.EvalcurveError, match="threshold auto"):
        next(evalcurve.sample_batches(batches_of(rows, 70), mate_threshold="auto"))


def calibrations_of(table):
    found = evalcurve.calibrate(table, min_samples=100, bands=0)
    text = found["Stockfish"].calibration.to_json()
    document = json.loads(text)
    # the inputs have names of their own
    del document["provenance"]
    return document


def test_polars_and_duckdb_call_it(rows, whole):
    pyarrow = pytest.importorskip("pyarrow")
    expected = calibrations_of(whole)

    def sampled(table):
        return pyarrow.Table.from_batches(evalcurve.sample_batches(table.to_batches(50), annotator="Stockfish"))

    duckdb = pytest.importorskip("duckdb")
    games = pyarrow.table(rows)
    selected = duckdb.sql("select * from games where WhiteElo >= 0").to_arrow_table()
    assert calibrations_of(sampled(selected)) == expected

    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(rows)
    drawn = list(evalcurve.sample_batches(frame.iter_slices(60), annotator="Stockfish"))
    assert calibrations_of(pyarrow.Table.from_batches(drawn)) == expected


def test_spark_calls_it(rows, whole):
    pyspark = pytest.importorskip("pyspark", reason="SKIPPED: PySpark is not installed")
    if shutil.which("java") is None:
        pytest.skip("SKIPPED: PySpark needs Java")
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
    try:
        frame = spark.createDataFrame(list(zip(*rows.values())), list(rows)).repartition(4)
        call = lambda batches: evalcurve.sample_batches(batches, annotator="Stockfish")
        drawn = frame.mapInArrow(call, evalcurve.SAMPLE_SCHEMA).toArrow()
        assert pyspark.__version__ and calibrations_of(drawn) == calibrations_of(whole)
    finally:
        spark.stop()


def test_ray_calls_it(rows, whole):
    ray = pytest.importorskip("ray", reason="SKIPPED: Ray is not installed")
    pyarrow = pytest.importorskip("pyarrow")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        call = lambda table: pyarrow.Table.from_batches(evalcurve.sample_batches([table], annotator="Stockfish"))
        data = ray.data.from_arrow(pyarrow.table(rows)).repartition(3).map_batches(call, batch_format="pyarrow")
        drawn = pyarrow.concat_tables(ray.get(data.to_arrow_refs()))
        assert calibrations_of(drawn) == calibrations_of(whole)
    finally:
        ray.shutdown()


@pytest.mark.parametrize("method", ["maximum_likelihood", "least_squares"])
def test_parts_have_the_fit_of_the_whole(samples, method):
    scores, results, games = samples
    parts = [(scores[of], results[of], games[of]) for of in (games % 3 == part for part in range(3))]
    # each machine sends text
    states = [evalcurve.FitState.count(*part).to_json() for part in parts]
    state = evalcurve.FitState()
    for text in states:
        assert len(text) < 300_000
        state.merge(evalcurve.FitState.from_json(text))
    optimum = state.optimum(method)
    sums = [evalcurve.GameSums.sum(optimum, *part, method=method) for part in parts]
    merged = evalcurve.GameSums.from_json(sums[0].to_json())
    for more in sums[1:]:
        merged.merge(pickle.loads(pickle.dumps(more)))
    found, whole = state.fit(merged), evalcurve.fit(scores, results, games, method=method)
    assert [found.w1, found.w2] == pytest.approx([whole.w1, whole.w2], rel=1e-12)
    assert found.cov_params() == pytest.approx(whole.cov_params(), rel=1e-12)
    assert (found.games, found.nobs) == (whole.games, whole.nobs)


def test_a_game_in_two_parts_is_noticed(samples):
    scores, results, games = samples
    half = len(scores) // 2 + 1
    state = evalcurve.FitState.count(scores[:half], results[:half], games[:half])
    with pytest.raises(evalcurve.EvalcurveError, match="is in two parts"):
        state.merge(evalcurve.FitState.count(scores[half:], results[half:], games[half:]))
    sums = evalcurve.GameSums.sum(state.optimum(), scores, results, games)
    with pytest.raises(evalcurve.EvalcurveError, match="sum the same parts that were counted"):
        state.fit(sums)
