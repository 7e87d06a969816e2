"""Forecasts of one's own, judged as those of the program: every number again by numpy, statsmodels and scikit-learn."""

import json
import pickle

import numpy as np
import pytest

import evalcurve

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def frame():
    """Two models of samples with draws, three of each game: one is too bold, one knows less."""
    random = np.random.default_rng(11)
    games = np.repeat(np.arange(700), 3)
    logit = random.normal(0, 1.2, len(games)) + np.repeat(random.normal(0, 0.5, 700), 3)
    draw = random.random(len(games)) < 0.08
    result = np.where(draw, 0.5, (random.random(len(games)) < 1 / (1 + np.exp(-logit))).astype(float))
    bold = 1 / (1 + np.exp(-(1.6 * logit + 0.2)))
    vague = 1 / (1 + np.exp(-(0.8 * logit + random.normal(0, 0.7, len(games)))))
    return {"win_rate_bold": bold, "win_rate_vague": vague, "result": result, "game": games}


@pytest.fixture(scope="module")
def found(frame):
    return evalcurve.evaluate(forecasts=frame, bands=400)


def by_game(values, games):
    """The mean and its standard error, clustered by game."""
    codes = np.unique(games, return_inverse=True)[1]
    sums = np.bincount(codes, values - values.mean())
    count = len(sums)
    return values.mean(), np.sqrt(count / (count - 1) * (sums**2).sum()) / len(values)


def losses(p, y):
    return -(y * np.log(p) + (1 - y) * np.log1p(-p)), y * (1 - p) ** 2 + (1 - y) * p**2


def agrees(estimate, value, error):
    assert estimate["value"] == pytest.approx(value, rel=1e-7, abs=1e-9)
    ends = [value - 1.959964 * error, value + 1.959964 * error]
    assert estimate["interval"] == pytest.approx(ends, rel=1e-5, abs=1e-7)


def model(found, name):
    (one,) = (model for model in found["models"] if model["name"] == name)
    return one


@pytest.mark.parametrize("name", ["bold", "vague"])
def test_scores_are_those_of_numpy(frame, found, name):
    p, y, one = frame[f"win_rate_{name}"], frame["result"], model(found, name)
    assert (one["samples"], one["games"]) == (2100, 700)
    log_loss, brier = losses(p, y)
    agrees(one["log_loss"], *by_game(log_loss, frame["game"]))
    agrees(one["brier"], *by_game(brier, frame["game"]))
    constant = losses(np.full(len(y), y.mean()), y)[0]
    agrees(one["against_constant"], *by_game(log_loss - constant, frame["game"]))


@pytest.mark.parametrize("name", ["bold", "vague"])
def test_corp_is_that_of_scikit_learn(frame, found, name):
    isotonic = pytest.importorskip("sklearn.isotonic")
    p, y, one = frame[f"win_rate_{name}"], frame["result"], model(found, name)
    recalibrated = isotonic.IsotonicRegression().fit(p, y).predict(p)
    score, after, constant = (losses(q, y)[1].mean() for q in (p, recalibrated, np.full(len(y), y.mean())))
    assert one["miscalibration"]["value"] == pytest.approx(score - after, abs=1e-8)
    assert one["discrimination"]["value"] == pytest.approx(constant - after, abs=1e-8)
    assert one["uncertainty"]["value"] == pytest.approx(constant, abs=1e-8)
    pools = one["reliability"]
    assert sum(pool["samples"] for pool in pools) == 2100
    assert sorted({round(q, 6) for q in recalibrated}) == pytest.approx([pool["win_rate"] for pool in pools], abs=1e-5)


@pytest.mark.parametrize("name", ["bold", "vague"])
def test_the_slope_is_that_of_statsmodels(frame, found, name):
    api = pytest.importorskip("statsmodels.api")
    p, y, one = frame[f"win_rate_{name}"], frame["result"], model(found, name)
    design = np.column_stack([np.log(p) - np.log1p(-p), np.ones(len(p))])
    # a quasi-likelihood, as of half wins
    fit = api.GLM(y, design, family=api.families.Binomial()).fit(tol=1e-12)
    at, residual = fit.params, y - fit.fittedvalues
    bread = np.linalg.inv(design.T @ (design * (fit.fittedvalues * (1 - fit.fittedvalues))[:, None]))
    sums = np.stack([np.bincount(frame["game"], residual * column) for column in design.T], axis=1)
    error = np.sqrt(np.diag(bread @ (sums.T @ sums) @ bread))
    for estimate, value, error in zip((one["slope"], one["intercept"]), at, error):
        assert estimate["value"] == pytest.approx(value, rel=1e-6)
        width = estimate["interval"][1] - estimate["interval"][0]
        # 700 games: a correction for few clusters is at most G/(G-1)
        assert width == pytest.approx(2 * 1.959964 * error, rel=2e-3)
    assert (one["scale"], one["shift"]) == (one["slope"], one["intercept"])


def test_the_calibration_error_is_that_of_numpy(frame, found):
    p, y, games = frame["win_rate_bold"], frame["result"], frame["game"]
    order = np.sort(p)
    edges = [order[j * (len(p) - 1) // 15] for j in range(1, 15)]
    bins, residual = np.searchsorted(edges, p, side="left"), y - p
    square = chance = 0.0
    for b in range(15):
        of = bins == b
        sums = np.bincount(games[of], residual[of] - residual[of].mean())
        met = np.unique(games[of]).size
        square += residual[of].sum() ** 2 / of.sum()
        chance += met / (met - 1) * (sums**2).sum() / of.sum()
    assert model(found, "bold")["ece"]["value"] == pytest.approx(np.sqrt((square - chance) / len(p)), rel=1e-6)


def test_models_are_compared_in_pairs(frame, found):
    (pair,) = found["differences"]
    assert (pair["one"], pair["other"], pair["samples"]) == ("bold", "vague", 2100)
    one, other = (losses(frame[f"win_rate_{name}"], frame["result"]) for name in ("bold", "vague"))
    agrees(pair["log_loss"], *by_game(one[0] - other[0], frame["game"]))
    agrees(pair["brier"], *by_game(one[1] - other[1], frame["game"]))
    value, error = by_game(one[0] - other[0], frame["game"])
    scipy = pytest.importorskip("scipy.stats")
    assert pair["p"] == pair["p_holm"] == pytest.approx(2 * scipy.norm.sf(abs(value / error)), rel=1e-5)
    value_, ends = evalcurve.log_loss_difference(
        frame["result"], frame["win_rate_bold"], frame["win_rate_vague"], frame["game"]
    )
    assert pair["log_loss"]["value"] == pytest.approx(value_) and pair["log_loss"]["interval"] == pytest.approx(ends)


def test_holm_corrects_all_pairs(frame):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    third = {**frame, "win_rate_coin": np.full(2100, 0.5)}
    pairs = evalcurve.evaluate(forecasts=third, bands=10)["differences"]
    assert len(pairs) == 3
    p = [pair["p"] for pair in pairs]
    assert [pair["p_holm"] for pair in pairs] == pytest.approx(multitest.multipletests(p, method="holm")[1], rel=1e-6)


def test_every_shape_of_a_table_gives_the_same(frame, found, tmp_path):
    rows = {name: frame[name] for name in ("result", "game")}
    sample = np.arange(2100)
    long = {
        "model": ["bold"] * 2100 + ["vague"] * 2100,
        "win_rate": np.concatenate([frame["win_rate_bold"], frame["win_rate_vague"]]),
        "result": np.tile(rows["result"], 2),
        "game": np.tile(rows["game"], 2),
        "sample": np.tile(sample, 2),
    }
    expected = json.dumps([found["models"], found["differences"]])

    def same(judged):
        assert json.dumps([judged["models"], judged["differences"]]) == expected

    same(evalcurve.evaluate(forecasts=long, bands=400))
    # the rows of the second model in another order: `sample` tells which is which
    order = np.concatenate([sample, 2100 + np.random.default_rng(1).permutation(2100)])
    shuffled = {name: np.asarray(values)[order] for name, values in long.items()}
    again = evalcurve.evaluate(forecasts=shuffled, bands=400)
    assert again["differences"][0]["log_loss"]["value"] == pytest.approx(found["differences"][0]["log_loss"]["value"])
    # files, one for each model
    for name in ("bold", "vague"):
        lines = ["win_rate,result,game"]
        lines += [
            ",".join(map(repr, row))
            for row in zip(frame[f"win_rate_{name}"].tolist(), rows["result"].tolist(), rows["game"].tolist())
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    same(evalcurve.evaluate(forecasts=[tmp_path / "bold.csv", tmp_path / "vague.csv"], bands=400))
    polars = pytest.importorskip("polars")
    same(evalcurve.evaluate(forecasts=polars.DataFrame(frame), bands=400))
    same(evalcurve.evaluate(forecasts=frame, bands=400, threads=1))


def test_wins_draws_and_losses(frame):
    p, y = frame["win_rate_bold"], frame["result"]
    draw = np.minimum(0.1, np.minimum(p, 1 - p))
    three = {"win": p - draw / 2, "draw": draw, "loss": 1 - p - draw / 2, "result": y, "game": frame["game"]}
    (one,) = evalcurve.evaluate(forecasts=three, bands=10)["models"]
    agrees(one["log_loss"], *by_game(losses(p, y)[0], frame["game"]))
    happened = np.choose((2 * y).astype(int), [three["loss"], three["draw"], three["win"]])
    agrees(one["log_loss_of_three"], *by_game(-np.log(happened), frame["game"]))
    agrees(one["draws"], *by_game(draw - (y == 0.5), frame["game"]))


def test_nothing_is_taken_for_a_mate():
    rows = {"win_rate": [1.0, 1.0, 0.0, 0.4] * 50, "result": [1, 0, 0, 1] * 50, "game": np.arange(200)}
    with pytest.warns(evalcurve.EvalcurveWarning, match="150 forecasts are 0 or 1 .* 50 of them were wrong"):
        found = evalcurve.evaluate(forecasts=rows, bands=10)
    (one,) = found["models"]
    assert (one["samples"], one["certain"], one["certain_and_wrong"]) == (200, 150, 50)
    metrics = pytest.importorskip("sklearn.metrics")
    expected = metrics.log_loss(rows["result"], np.array(rows["win_rate"]), labels=[0, 1])
    assert one["log_loss"]["value"] == pytest.approx(expected, rel=1e-6)


def test_bad_rows_are_counted_and_named():
    rows = {
        "win_rate": [0.4, np.nan, 1.4, 0.6, 0.5, 0.3],
        "result": ["win", "loss", "loss", "1-0", "draw", "loss"],
        "game": ["a", "b", "c", "d", None, "f"],
    }
    with pytest.warns(evalcurve.EvalcurveWarning) as warnings:
        found = evalcurve.evaluate(forecasts=rows, bands=10)
    assert found["rows"] == {"read": 6, "used": 2, "skipped": {"bad_game": 1, "bad_result": 1, "bad_win_rate": 2}}
    said = "\n".join(str(warning.message) for warning in warnings)
    assert "table 1:3: bad win rate: the row needs a win rate from 0 to 1; it is skipped" in said
    with pytest.raises(evalcurve.EvalcurveError, match="no column 'result'; it says who won"):
        evalcurve.evaluate(forecasts={"win_rate": [0.5]})
    with pytest.raises(evalcurve.EvalcurveError, match="no column 'win_rate'"):
        evalcurve.evaluate(forecasts={"score_cp": [5], "result": [1]})
    with pytest.raises(evalcurve.EvalcurveError, match="no forecast can be used: table 1:1: bad win rate"):
        evalcurve.evaluate(forecasts={"win_rate": [2.0], "result": [1], "game": [1]})
    with pytest.raises(TypeError, match="but not both"):
        evalcurve.evaluate("x.json", forecasts=rows)


def test_models_on_different_samples_are_compared_where_both_are():
    random = np.random.default_rng(4)
    result = random.integers(0, 2, 300).astype(float)
    p = np.clip(0.5 + 0.2 * (result - 0.5) + random.normal(0, 0.1, 300), 0.05, 0.95)
    rows = {
        "win_rate_all": p,
        "win_rate_some": np.where(np.arange(300) < 100, np.nan, p),
        "result": result,
        "game": np.arange(300),
    }
    with pytest.warns(evalcurve.EvalcurveWarning, match="compare them by their differences"):
        found = evalcurve.evaluate(forecasts=rows, bands=10)
    assert [one["samples"] for one in found["models"]] == [300, 200]
    (pair,) = found["differences"]
    assert (pair["samples"], pair["log_loss"], pair["p"]) == (200, {"value": 0.0, "interval": None}, 1.0)


def test_a_judgement_is_pickled_and_shown(frame, found):
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.figures == found.figures
    assert found.figures["bold"].svg.startswith("<svg") and "2,100 samples" in found.figures["bold"].svg
    assert again.figures["vague"].png() == found.figures["vague"].png()
    assert "<table>" in found._repr_html_() and "bold - vague" in found._repr_html_()
    pytest.importorskip("pandas")
    table = found.to_pandas()
    assert table.loc["bold", "slope_high"] == model(found, "bold")["slope"]["interval"][1]


# --- forecasts of calibrations


@pytest.fixture(scope="module")
def table(games):
    return evalcurve.sample(games, mate_threshold="auto")


@pytest.mark.parametrize("name", ["joint", "phase", "maximum-likelihood", "isotonic"])
def test_forecasts_of_a_calibration_are_those_that_evaluate_judges(games, table, name):
    results = evalcurve.calibrate(games, model=name, mate_threshold="auto", bands=0)
    for engine, result in results.items():
        if result.calibration is None:
            continue
        expected = evalcurve.evaluate(result.calibration, games, bands=5)["engines"][0]
        p = result.calibration.forecast(table)
        assert p.shape == (len(table),) and np.isnan(p[table["engine"] != engine]).all()
        of = ~np.isnan(p)
        assert (table["engine"] == engine).sum() - of.sum() == expected["mates_left_out"]
        rows = {"win_rate": p[of], "result": table["result"][of], "game": table["game"][of]}
        (found,) = evalcurve.evaluate(forecasts=rows, bands=5)["models"]
        for number in ("log_loss", "brier", "slope", "intercept", "against_constant", "miscalibration"):
            assert found[number]["value"] == pytest.approx(expected[number]["value"], rel=1e-6, abs=1e-8), number
    with pytest.raises(evalcurve.EvalcurveError, match="no row has the engine"):
        next(iter(results.calibrations.values())).forecast({"engine": ["x"], "score_cp": [1]})
    with pytest.raises(evalcurve.EvalcurveError, match="no column 'score_cp'"):
        next(iter(results.calibrations.values())).forecast({"ply": [1]})


def test_win_rates_take_arrays_of_what_is_known(games):
    phase = evalcurve.calibrate(games, model="phase", mate_threshold="auto", bands=0)["sekirei"].calibration
    plies = np.array([40, 90, 140])
    one_by_one = [phase.win_rate(300, ply=int(ply)) for ply in plies]
    assert len(set(one_by_one)) == 3
    assert phase.win_rate(300, ply=plies) == pytest.approx(one_by_one, abs=0)
    assert phase.win_rate([[0], [300]], ply=plies).shape == (2, 3)
    low, high = phase.interval(300, ply=plies)
    assert [phase.interval(300, ply=int(ply)) for ply in plies] == list(zip(low, high))
    assert phase.inverse(phase.win_rate(300, ply=plies), ply=plies) == pytest.approx([300] * 3)
    rates = phase.win_rate(300, ply=np.array([40, np.nan]))
    assert rates[1] == phase.win_rate(300)
    with pytest.raises(evalcurve.EvalcurveError, match="ply=1.5 is not a whole number"):
        phase.win_rate(300, ply=[1.5, 2])
    joint = evalcurve.calibrate(games, mate_threshold="auto", bands=0)["sekirei"].calibration
    gaps = np.array([-200.0, 0.0, 200.0])
    assert joint.win_rate(0, rating_difference=gaps) == pytest.approx(
        [joint.win_rate(0, rating_difference=g) for g in gaps]
    )
    with pytest.raises(TypeError, match="unexpected keyword argument 'plie'"):
        joint.win_rate(0, plie=3)


def test_forecasts_join_the_sample_table(games, table):
    pandas = pytest.importorskip("pandas")
    keys = ["game", "engine", "opponent", "color", "ply", "window"]
    forecasts = evalcurve.forecasts(games, mate_threshold="auto").to_pandas()
    joined = table.to_pandas().merge(forecasts, on=keys, suffixes=("", "_of_forecast"), validate="one_to_one")
    assert len(joined) == len(forecasts) and (joined["score_cp"] == joined["score_cp_of_forecast"]).all()
    assert isinstance(joined, pandas.DataFrame) and {"rating", "opponent_rating"} <= set(forecasts.columns)


def test_results_and_tables_are_pickled_and_shown(games, table):
    results = evalcurve.calibrate(games, mate_threshold="auto", bands=0)
    again = pickle.loads(pickle.dumps(results))
    assert again.document == results.document and list(again) == list(results)
    for name, result in results.items():
        assert again[name].figure() == result.figure() and again[name].data == result.data
        if result.calibration is not None:
            assert again[name].calibration.to_json() == result.calibration.to_json()
    assert "<td>sekirei</td>" in results._repr_html_()
    copy = pickle.loads(pickle.dumps(table))
    assert copy.columns == table.columns and list(dict(copy)) == table.columns
    for name in table.columns:
        assert copy[name].dtype == table[name].dtype
        assert repr(copy[name].tolist()) == repr(table[name].tolist())
    assert "<th>score_cp</th>" in table._repr_html_() and "rows, the first 10" in table._repr_html_()


# --- bootstrap


def test_the_bootstrap_agrees_with_the_sandwich():
    random = np.random.default_rng(8)
    games = np.repeat(np.arange(600), 4)
    scores = np.round(random.normal(0, 500, 2400))
    y = (random.random(2400) < 1 / (1 + np.exp(-scores / 400 - np.repeat(random.normal(0, 0.8, 600), 4)))).astype(float)
    fit = evalcurve.fit(scores, y, games)
    table = {"game": games, "score_cp": scores, "result": y}
    drawn = [
        evalcurve.fit(b["score_cp"], b["result"], b["game"]).params for b in evalcurve.bootstrap(table, resamples=2000)
    ]
    # the error of a standard deviation of 2,000 draws is 1.6%
    assert np.std(drawn, axis=0, ddof=1) == pytest.approx(fit.bse, rel=0.05)


def test_drawn_copies_count(games, table):
    resamples = list(evalcurve.bootstrap(table, resamples=3, seed=5))
    for drawn in resamples:
        assert len(set(drawn["game"])) == len(set(table["game"])) < len(drawn["game"])
        found = evalcurve.calibrate(drawn, mate_threshold="auto", bands=0, min_samples=1)
        assert sum(result.data["samples"] for result in found.values()) == len(drawn["game"])
    assert len({len(drawn["game"]) for drawn in resamples}) > 1
    with pytest.raises(evalcurve.EvalcurveError, match="no column 'match'"):
        next(evalcurve.bootstrap(table, by="match"))
