"""The package as a user calls it."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import evalcurve


@pytest.fixture(scope="module")
def results(games):
    return evalcurve.calibrate(games, mate_threshold="auto", min_bin=20, bands=0)


def test_calibrations_are_those_of_the_command(results, root):
    names = [name for name, result in results.items() if result.calibration]
    assert "sekirei" in names and len(names) >= 4
    for name, calibration in results.calibrations.items():
        committed = evalcurve.Calibration.read(root / "data" / "calibrations" / f"{name}.json")
        scores = np.array([-800.0, -100.0, 0.0, 250.0, 900.0])
        # a file has nine digits
        assert calibration.win_rate(scores) == pytest.approx(committed.win_rate(scores), rel=1e-8), name
        assert calibration.model == committed.model == "joint"
    assert results.document["games"]["read"] > 100
    with_error = [result for result in results.values() if result.calibration is None]
    assert all(result.error for result in with_error)


def test_win_rates_have_the_shape_of_the_scores(root):
    gikou = evalcurve.Calibration.read(str(root / "data" / "published" / "gikou.json"))
    # 1 / (1 + exp(-0.0026 * 300)) of the published coefficients
    assert gikou.win_rate(300) == pytest.approx(0.6857, abs=1e-4)
    assert isinstance(gikou.win_rate(300), float)
    grid = np.arange(6).reshape(2, 3) * 100
    assert gikou.win_rate(grid).shape == (2, 3)
    assert gikou.win_rate([]).shape == (0,)
    assert gikou.inverse(gikou.win_rate(grid)) == pytest.approx(grid)
    assert np.isnan(gikou.inverse(1.0)) and np.isnan(gikou.win_rate(float("nan")))
    with pytest.raises(evalcurve.EvalcurveError, match="no covariance"):
        gikou.interval(0)
    for wrong, word in [("many", "many"), (["1", "2"], "1"), (1 + 2j, "1.2j"), (np.array([3, "4"], object), "4")]:
        with pytest.raises(ValueError, match=f"'.?{word}.?' is not a number"):
            gikou.win_rate(wrong)


def test_intervals_contain_the_win_rate(results):
    calibration = results["sekirei"].calibration
    low, high = calibration.interval([-200, 200])
    rate = calibration.win_rate([-200, 200])
    assert (low < rate).all() and (rate < high).all()
    low, high = calibration.interval(200.0, rating_difference=100, field=True)
    assert low < calibration.win_rate(200.0, rating_difference=100, field=True) < high


def test_people_have_curves_by_rating_and_control(tmp_path):
    rows = ["engine,game,score,result,rating,opponent_rating,time_control"]
    for game in range(600):
        rating, control = 1000 + 97 * game % 1200, ("60+0", "300", "600")[game % 3]
        score = (game * 7919) % 1201 - 600
        won = (game * 104729) % 1000 < 1000 / (1 + np.exp(-0.004 * score))
        rows.append(f"E,g{game},{score},{int(won)},{rating},{rating},{control}")
    (tmp_path / "people.csv").write_text("\n".join(rows))
    calibration = evalcurve.calibrate(tmp_path / "people.csv", model="people")["E"].calibration
    low, high = calibration.interval(300, rating=1500, control="blitz")
    assert low < calibration.win_rate(300, rating=1500, control="blitz") < high
    assert calibration.win_rate(300, rating=1500) != calibration.win_rate(300, rating=1900)
    with pytest.raises(evalcurve.EvalcurveError, match="rating= 2900: cannot tell"):
        calibration.win_rate(300, rating=2900)
    with pytest.raises(evalcurve.EvalcurveError, match="no time control"):
        calibration.win_rate(300, control="fast")
    with pytest.raises(TypeError, match="'elo'"):
        calibration.win_rate(300, elo=1500)


def test_calibrations_are_written_read_and_pickled(results, tmp_path):
    calibration = results["sekirei"].calibration
    calibration.write(tmp_path / "one.json")
    again = evalcurve.Calibration.read(tmp_path / "one.json")
    assert again.to_json() == calibration.to_json() == pickle.loads(pickle.dumps(calibration)).to_json()
    with pytest.raises(FileNotFoundError, match="give the name of a calibration file"):
        evalcurve.Calibration.read(tmp_path / "two.json")
    with pytest.raises(evalcurve.EvalcurveError, match="one.json"):
        (tmp_path / "one.json").write_text("{")
        evalcurve.Calibration.read(tmp_path / "one.json")


def test_figures_are_shown(results):
    figure = results["sekirei"].figure()
    assert figure._repr_svg_().startswith("<svg") and results["sekirei"]._repr_svg_() == figure.svg
    assert figure.png().startswith(b"\x89PNG")
    head, rows = figure.data
    assert len(rows) > 10 and all(len(row) == len(head) for row in rows)
    assert results["sekirei"].calibration._repr_svg_().startswith("<svg")


def test_samples_go_through_arrow(games, results):
    table = evalcurve.sample(games, mate_threshold="auto")
    assert len(table) == results.document["engines"][0]["samples"] + sum(
        engine["samples"] for engine in results.document["engines"][1:]
    )
    assert table["score_cp"].dtype == np.int32 and table["mate"].dtype == bool
    assert set(np.unique(table["result"])) <= {0.0, 0.5, 1.0}
    with pytest.raises(KeyError, match="no column 'score'"):
        table["score"]
    again = evalcurve.read_samples(table)
    assert all(np.array_equal(again[name], table[name]) for name in ("game", "score_cp", "engine", "ply"))
    from_table = evalcurve.calibrate(table, min_bin=20, bands=0, mate_threshold="auto")
    for name, calibration in results.calibrations.items():
        assert from_table[name].calibration.win_rate(170.0) == pytest.approx(calibration.win_rate(170.0), abs=1e-9)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow", "duckdb"])
def test_tables_of_every_package_are_read(games, package):
    module = pytest.importorskip(package)
    table = evalcurve.sample(games)
    if package == "pandas":
        frame = table.to_pandas()
    elif package == "polars":
        frame = table.to_polars()
    elif package == "pyarrow":
        frame = table.to_arrow()
    else:
        pytest.importorskip("pyarrow")
        arrow = table.to_arrow()
        frame = module.sql("select * from arrow order by game, ply, engine")
        table = table.to_polars().sort("game", "ply", "engine")
        table = evalcurve.read_samples(table)
    assert len(table) > 1000
    again = evalcurve.read_samples(frame)
    assert np.array_equal(again["score_cp"], table["score_cp"])
    assert np.array_equal(again["game"], table["game"])
    assert np.array_equal(again["mate"], table["mate"])


def test_the_same_bytes_for_any_number_of_threads(games):
    one, three = (evalcurve.calibrate(games, threads=threads, bands=20) for threads in (1, 3))
    assert one.document == three.document
    assert [c.to_json() for c in one.calibrations.values()] == [c.to_json() for c in three.calibrations.values()]


def test_errors_have_the_words_of_the_command(games, tmp_path):
    with pytest.raises(evalcurve.EvalcurveError, match="unexpected argument '--min-sample'.*similar.*--min-samples"):
        try:
            evalcurve.calibrate(games, min_sample=3)
        except evalcurve.EvalcurveError as error:
            raise evalcurve.EvalcurveError(str(error).replace("\n", " ")) from None
    with pytest.raises(evalcurve.EvalcurveError, match="'three' for '--min-samples <N>': expected a whole number"):
        evalcurve.calibrate(games, min_samples="three")
    with pytest.raises(evalcurve.EvalcurveError, match="no engine matches 'Absent'; nearest"):
        evalcurve.calibrate(games, engine="Absent")
    with pytest.raises(FileNotFoundError, match="missing"):
        evalcurve.calibrate(tmp_path / "missing")
    with pytest.raises(FileNotFoundError, match="nope"):
        evalcurve.sample("nope")
    with pytest.raises(TypeError, match="int: expected a path, or a table"):
        evalcurve.calibrate(3)
    with pytest.raises(evalcurve.EvalcurveError, match="table 1: no column 'result'"):
        evalcurve.read_samples({"engine": np.array(["a"]), "score_cp": [1]})
    (tmp_path / "samples.parquet").write_bytes(b"PAR1")
    with pytest.raises(evalcurve.EvalcurveError, match="samples.parquet.*use CSV, give it the table itself"):
        evalcurve.calibrate(tmp_path / "samples.parquet")


def test_csv_is_read_and_written_without_polars(games, tmp_path):
    file = tmp_path / "samples.csv"
    subprocess.run([sys.executable, "-m", "evalcurve", "sample", games, "--out", file, "--quiet"], check=True)
    table, again = evalcurve.sample(games), evalcurve.sample(file)
    assert all(np.array_equal(again[name], table[name]) for name in ("game", "score_cp", "engine", "ply", "mate"))
    command = [sys.executable, "-m", "evalcurve", "analyse", games, "--engine", "none"]
    refused = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert refused.returncode == 2 and "use CSV" in refused.stderr


def test_options_are_named_as_keywords(games):
    results = evalcurve.calibrate(games, bands=0, min_samples=100_000)
    assert all("lower min_samples=" in result.error for result in results.values() if "sample(s)" in result.error)
    table = evalcurve.sample(games)
    with pytest.warns(evalcurve.EvalcurveWarning, match="table 1: no effect: window="):
        again = evalcurve.read_samples(table, window=20)
    assert len(again) == len(table)
    late = evalcurve.read_samples(table, from_ply=90, draws="drop")
    assert late["ply"].min() >= 90 and 0.5 not in late["result"]


def test_calibrations_are_judged_on_games(results, games, root):
    files = [root / "data" / "calibrations" / "sekirei.json", results["sekirei"].calibration]
    found = evalcurve.evaluate(files, games, bands=10)
    assert [engine["name"] for engine in found["engines"]] == ["sekirei", "sekirei"]
    of_file, of_object = (engine["log_loss"]["value"] for engine in found["engines"])
    assert of_file == pytest.approx(of_object)


def test_bad_rows_are_warned_about():
    rows = {"engine": ["a"] * 3, "score_cp": ["12", "x", "-7"], "result": ["win", "win", "loss"]}
    with pytest.warns(evalcurve.EvalcurveWarning, match="table 1:2: bad score: 'x' is not a number of centipawns"):
        table = evalcurve.read_samples(rows)
    # in the order of games, whatever that of the rows; `line` is the row
    assert dict(zip(table["line"].tolist(), table["score_cp"].tolist())) == {1: 12, 3: -7}


def test_progress_is_reported_and_interrupts(games):
    seen = []
    evalcurve.sample(games, progress=lambda *now: seen.append(now))
    assert seen and seen[-1][0] <= seen[-1][1] and seen[-1][2] > 100

    def stop(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        evalcurve.sample(games, progress=stop)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on Unix")
def test_ctrl_c_ends_a_long_call():
    code = (
        "import evalcurve\n"
        "print('begins', flush=True)\n"
        "evalcurve.simulate(noise=[1, 1.5, 1.5], candidates=3, trials=2_000_000_000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    # the whole call takes many minutes
    _, error = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in error and process.returncode != 0


def test_other_threads_run_during_a_call(games):
    counted = 0

    def count():
        nonlocal counted
        while not ended.is_set():
            counted += 1
            time.sleep(0.001)

    ended = threading.Event()
    thread = threading.Thread(target=count)
    thread.start()
    # a busy machine gives the other thread little time, so the call becomes longer until it has had its turns; a call
    # that keeps the interpreter to itself gives it none, however long it is
    for doublings in range(8):
        before = counted
        evalcurve.simulate(noise=[1, 1.5, 1.5], candidates=3, trials=300_000 << doublings)
        turns = counted - before
        if turns > 5:
            break
    ended.set()
    thread.join()
    assert turns > 5


def test_forecasts_are_out_of_sample(games, results):
    table = evalcurve.forecasts(games, mate_threshold="auto")
    engine = results["sekirei"].data
    of = table["engine"] == "sekirei"
    assert of.sum() == engine["fitted"]
    p, y = table["win_rate"][of], table["result"][of]
    log_loss = -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()
    assert log_loss == pytest.approx(engine["proper_scores"]["log_loss"]["value"], rel=1e-7)
    assert set(table["fold"]) == {1, 2, 3, 4, 5}


def test_a_diagnosis_is_a_document(games):
    found = evalcurve.diagnose(games, mate_threshold="auto", bands=50)
    assert found["format"] == "evalcurve-diagnosis" and found["base"]["calibrated"] >= 4
    assert '"Ok"' not in json.dumps(found) and '"Err"' not in json.dumps(found)


def test_matches_rules_and_simulations():
    found = evalcurve.match_stats("a=423-8-569", "b=500-0-500")
    assert [system["player"] for system in found["systems"]] == ["a", "b"]
    # (423 + 4) / 1000
    assert found["systems"][0]["win_rate"] == pytest.approx(0.427)
    with pytest.raises((FileNotFoundError, evalcurve.EvalcurveError), match="neither a result"):
        evalcurve.match_stats("423-8")
    with pytest.raises(evalcurve.EvalcurveError, match="'best' is not a rule; expected one of"):
        evalcurve.decide("best", [])
    with pytest.raises(evalcurve.EvalcurveError, match="no voter voted"):
        evalcurve.decide("majority", [evalcurve.Vote("a"), evalcurve.Vote("b")])
    found = evalcurve.decide(
        "optimistic", [evalcurve.Vote("a", "x", 10), evalcurve.Vote("b", "y", mate=3), evalcurve.Vote("c", "x", 20)]
    )
    assert (found["move"], found["reason"]) == ("y", "proven_win")


def test_votes_use_calibrations(root):
    folder = root / "data" / "published"
    gikou, nozomi = (evalcurve.Calibration.read(folder / f"{name}.json") for name in ("gikou", "nozomi"))
    votes = [
        evalcurve.Vote("gikou", "a", 200, calibration=gikou),
        {"name": "nozomi", "move": "b", "score_cp": 204, "calibration": nozomi},
    ]
    found = evalcurve.decide("winrate-optimistic", votes)
    assert found["move"] == "a" and evalcurve.decide("optimistic", votes)["move"] == "b"
    assert [vote["win_rate"] for vote in found["votes"]] == pytest.approx([gikou.win_rate(200), nozomi.win_rate(204)])


def test_votes_without_win_rates_are_warned_about():
    votes = [evalcurve.Vote("a", "x", 10, leader=True), evalcurve.Vote("b", "y", 90), evalcurve.Vote("c", "z", mate=-4)]
    with pytest.warns(evalcurve.EvalcurveWarning, match="ignores the votes of a, b: give them a calibration="):
        assert evalcurve.decide("winrate-optimistic", votes)["move"] in "xyz"
    known = [{**vote, "win_rate": rate} for vote, rate in zip(votes[:2], (0.6, 0.5))]
    assert evalcurve.decide("winrate-optimistic", known)["move"] == "x"
    with pytest.raises(evalcurve.EvalcurveError, match="a: the win rate 60 is not between 0 and 1"):
        evalcurve.decide("winrate-optimistic", [{**votes[0], "win_rate": 60}])


def test_the_command_is_in_the_package(games):
    run = [sys.executable, "-m", "evalcurve"]
    ran = subprocess.run([*run, "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("evalcurve ")
    ran = subprocess.run([*run, "inspect", os.fspath(games), "--json"], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["games"]["read"] > 100
    ran = subprocess.run([*run, "calibrate"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and "Usage: evalcurve calibrate" in ran.stderr
