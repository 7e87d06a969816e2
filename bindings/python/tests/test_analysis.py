"""What researchers ask of results: frames, estimates, curves, matches of rules, figures."""

import json

import numpy as np
import pytest

import evalcurve


@pytest.fixture(scope="module")
def results(games):
    return evalcurve.calibrate(games, mate_threshold="auto", min_bin=20, bands=0)


def test_a_table_is_a_frame(games):
    pandas = pytest.importorskip("pandas")
    table = evalcurve.sample(games)
    for frame in (pandas.DataFrame(table), table.to_pandas()):
        assert list(frame.columns) == table.columns and len(frame) == len(table)
        assert (frame["score_cp"] == table["score_cp"]).all() and frame["engine"][0] == table["engine"][0]
        assert frame["result"].dtype == float and frame["mate"].dtype == bool
    row = next(iter(table))
    assert row._fields == tuple(table.columns) and row.engine == table["engine"][0] and row.ply == table["ply"][0]


def test_estimates_have_the_words_of_statsmodels(samples):
    statsmodels = pytest.importorskip("statsmodels.api")
    scores, results, games = (values[samples[1] != 0.5] for values in samples)
    fit = evalcurve.fit(scores, results, games)
    design = np.column_stack([scores / 1000, -np.ones(len(scores))])
    cluster = {"groups": games, "df_correction": True}
    theirs = statsmodels.Logit(results, design).fit(
        disp=False, method="newton", tol=1e-14, maxiter=100, cov_type="cluster", cov_kwds=cluster, use_t=True
    )
    unit = np.array([1000.0, 1.0])
    assert fit.param_names == ["w1", "w2"] and fit.nobs == theirs.nobs
    assert fit.params * unit == pytest.approx(theirs.params, rel=1e-9)
    assert fit.bse * unit == pytest.approx(theirs.bse, rel=1e-8)
    assert fit.cov_params() * np.outer(unit, unit) == pytest.approx(theirs.cov_params(), rel=1e-8)
    # by Student's t with the games as clusters, as statsmodels has it
    for alpha in (0.05, 0.2):
        assert fit.conf_int(alpha) * unit[:, None] == pytest.approx(theirs.conf_int(alpha), rel=1e-6)
    with pytest.raises(evalcurve.EvalcurveError, match="alpha is 5"):
        fit.conf_int(5)


def test_calibrations_have_estimates(games, results, root):
    calibration = results["sekirei"].calibration
    model = json.loads(calibration.to_json())["models"]["joint"]
    # games were drawn
    draws = ["drawn", "draw_width"]
    assert calibration.param_names == ["w1", "w2", "w3", "lapse", *draws, "optimism", "strength", "field_w1"]
    assert calibration.params == pytest.approx([model[name] for name in calibration.param_names], rel=1e-8)
    assert calibration.cov_params() == pytest.approx(np.array(model["covariance"]), rel=1e-8)
    assert calibration.bse == pytest.approx(np.sqrt(np.diag(model["covariance"])), rel=1e-8)
    assert (calibration.nobs, calibration.games) == (model["samples"], model["games"])
    # the constant is the score of one logit between equals, of the results that follow a score; in a model without
    # draws it is 1/w1 and has its interval
    lapse = model["lapse"]
    rate = lapse + (1 - 2 * lapse) / (1 + np.exp(-1))
    assert calibration.win_rate(calibration.constant[0]) == pytest.approx(rate, rel=1e-6)
    plain = evalcurve.calibrate(games, model="maximum-likelihood", mate_threshold="auto", bands=0)[
        "sekirei"
    ].calibration
    assert 1 / plain.conf_int()[0][::-1] == pytest.approx(plain.constant[1], rel=1e-8)
    text = str(calibration.summary())
    assert repr(calibration.summary()) == text and "P>|z|" in text and "strength" in text and "1/w1:" in text
    assert all(len(line) <= 84 for line in text.splitlines())
    with pytest.raises(evalcurve.EvalcurveError, match="has no covariance"):
        evalcurve.Calibration.read(root / "data/published/gikou.json").bse
    # the document of the run has the constant of the chosen model, too
    assert results["sekirei"].data["constant"]["value"] == pytest.approx(calibration.constant[0], rel=1e-8)
    assert results["sekirei"].data["constant"]["interval"] == pytest.approx(calibration.constant[1], rel=1e-8)


def test_results_are_a_frame_with_one_row_per_engine(games, results):
    pytest.importorskip("pandas")
    frame = results.to_pandas()
    assert list(frame.index) == list(results)
    sekirei = results["sekirei"].calibration
    row = frame.loc["sekirei"]
    assert (row["constant"], row["constant_low"], row["constant_high"]) == (sekirei.constant[0], *sekirei.constant[1])
    at = sekirei.param_names.index("strength")
    assert row["strength"] == sekirei.params[at] and row["strength_se"] == sekirei.bse[at]
    assert row["log_loss"] == results["sekirei"].data["proper_scores"]["log_loss"]["value"]
    # engines without a calibration have a row, too
    few = evalcurve.calibrate(games, bands=0, min_samples=900).to_pandas()
    assert few["error"].notna().sum() >= 3 and few["constant"].notna().sum() >= 1
    table = results["sekirei"].calibration.to_pandas()
    assert list(table.index) == sekirei.param_names and (table["std err"] == sekirei.bse).all()


def test_curves_are_counts(games, results):
    table = evalcurve.curve(games, mate_threshold="auto", min_bin=20, bands=50)
    of = table["engine"] == "sekirei"
    bins = {each["bin"]: each for each in json.loads(results["sekirei"].calibration.to_json())["curve"]["bins"]}
    assert of.sum() > 5
    for row in table:
        if row.engine == "sekirei":
            counts = bins[row.bin]
            assert (row.wins, row.draws, row.losses) == (counts["wins"], counts["draws"], counts["losses"])
            assert row.win_rate == pytest.approx((row.wins + row.draws / 2) / (row.wins + row.draws + row.losses))
            assert row.low < row.win_rate < row.high
    assert np.isfinite(table["band_low"][of]).any()
    split = evalcurve.curve(games, min_bin=20, by=["phase", "color"])
    assert set(split["split"]) == {"phase", "color"} and "band_low" not in split.columns


def test_the_scale_is_compared(games, root, results):
    file = root / "data" / "calibrations" / "sekirei.json"
    same = evalcurve.compare(file, results["sekirei"].calibration)
    assert same["changes"][0]["change_percent"]["value"] == pytest.approx(0, abs=1e-6)
    assert (same["old_engine"], same["new_engine"]) == ("sekirei", "sekirei")
    other = evalcurve.compare(file, results["sjaakii"].calibration, tolerance=5, score=[300])
    assert other["verdict"] == "moved" and [at["score_cp"] for at in other["at"]] == [300]
    with pytest.raises(FileNotFoundError):
        evalcurve.compare("missing.json", file)
    with pytest.raises(evalcurve.EvalcurveError, match="tolerance"):
        evalcurve.compare(file, file, tolerance=-3)


def test_thresholds_are_found(games):
    found = evalcurve.thresholds(games, mate_threshold="auto", win_rate=2, move_count=[3])
    assert [rule["percent"] for rule in found["resign"]] == [2.0]
    assert found["resign"][0]["option"].startswith("-resign movecount=3 score=")


def test_training_data_are_rescaled(root, tmp_path):
    plain = root / "tests" / "oracle" / "random.plain"
    (tmp_path / "data.plain").write_bytes(plain.read_bytes())
    found = evalcurve.rescale(tmp_path / "data.plain", from_scale=361, to_scale=722, out=tmp_path / "new")
    assert found["files"][0]["positions"] > 0 and found["refused"] == []
    scores = [
        [int(line.split()[1]) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("score ")]
        for path in (tmp_path / "data.plain", tmp_path / "new" / "data.plain")
    ]
    # the mate stays
    assert [2 * score if abs(score) < 20_000 else score for score in scores[0]] == scores[1]
    with pytest.raises(evalcurve.EvalcurveError, match="exists"):
        evalcurve.rescale(tmp_path / "data.plain", from_scale=361, to_scale=722, out=tmp_path / "new")


def first(decision):
    """The move of the first voter that is there."""
    return next((vote["move"] for vote in decision["votes"] if vote["move"]), None)


def test_votes_are_read_and_decided_again(root):
    log = root / "tests" / "oracle" / "votes.jsonl"
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    header, decided = lines[0], [line for line in lines if "ply" in line and "end" not in line]
    votes = evalcurve.read_votes(log)
    assert [each["ply"] for each in votes] == [line["ply"] for line in decided]
    assert [vote["name"] for vote in votes[0]["votes"]] == [voter["name"] for voter in header["voters"]]
    assert votes[0]["decision"] == decided[0]["decision"]["move"]
    by_log = evalcurve.replay(log)["replay"]
    assert by_log["logged"]["different"] == [] and len(by_log["rules"]) > 5

    # a rule of the package as a rule of one's own
    def by_majority(decision):
        return evalcurve.decide("majority", decision["votes"])["move"]

    both = evalcurve.replay(log, [by_majority, "majority"], reference="nozomi")["replay"]["rules"]
    own, named = ({each["rule"]: each for each in both}[name] for name in ("by_majority", "majority"))
    for key in ("decided", "as_logged", "regret", "nobodys"):
        assert own[key] == named[key], key
    adopted = [[each["adopted"] for each in rule["adoption"]] for rule in (own, named)]
    assert adopted[0] == adopted[1]
    without = evalcurve.replay(log, first, without="YaneuraOu")["replay"]
    assert [each["rule"] for each in without["rules"]] == ["first"]
    assert "YaneuraOu" not in [each["voter"] for each in without["rules"][0]["adoption"]]
    nothing = evalcurve.replay(log, lambda decision: None)["replay"]["rules"][0]
    assert nothing["undecided"] == len(votes) and nothing["decided"] == 0
    with pytest.raises(evalcurve.EvalcurveError, match="'best'"):
        evalcurve.replay(log, "best")
    with pytest.raises(FileNotFoundError):
        evalcurve.read_votes(root / "missing.jsonl")


def test_other_calibrations_decide_otherwise(root):
    log = root / "tests" / "oracle" / "votes.jsonl"
    gikou = evalcurve.Calibration.read(root / "data" / "published" / "gikou.json")
    votes = evalcurve.read_votes(log, calibrations={"nozomi": gikou})
    of_nozomi = (vote for each in votes for vote in each["votes"] if vote["name"] == "nozomi")
    scored = [vote for vote in of_nozomi if vote["score_cp"] is not None]
    assert len(scored) > 50
    # the log reads win rates against the field
    assert all(vote["win_rate"] == pytest.approx(gikou.win_rate(vote["score_cp"], field=True)) for vote in scored)
    with pytest.raises(evalcurve.EvalcurveError, match="no voter of the log is called 'absent'"):
        evalcurve.read_votes(log, calibrations={"absent": gikou})


def test_votes_are_a_frame(root):
    pytest.importorskip("pandas")
    votes = evalcurve.read_votes(root / "tests" / "oracle" / "votes.jsonl")
    frame = votes.to_pandas()
    assert len(frame) == sum(len(each["votes"]) for each in votes)
    assert {"game_id", "decision", "name", "move", "win_rate"} <= set(frame.columns)


def test_losses_are_compared_in_pairs(samples):
    statsmodels = pytest.importorskip("statsmodels.api")
    scores, results, games = samples
    one, other = (1 / (1 + np.exp(-scores / constant + 0.3)) for constant in (400, 600))
    value, (low, high) = evalcurve.log_loss_difference(results, one, other, games)
    loss = lambda p: -(results * np.log(p) + (1 - results) * np.log(1 - p))
    difference = loss(one) - loss(other)
    # the mean of the differences, clustered by game
    theirs = statsmodels.OLS(difference, np.ones(len(difference))).fit(
        cov_type="cluster", cov_kwds={"groups": games, "df_correction": True}, use_t=True
    )
    assert value == pytest.approx(theirs.params[0]) and value < 0
    assert [low, high] == pytest.approx(theirs.conf_int()[0], rel=1e-3)
    with pytest.raises(evalcurve.EvalcurveError, match="win rate 0 is 1"):
        evalcurve.log_loss_difference([1], [1.0], [0.5])


def test_figures_go_into_axes_of_matplotlib(results, root):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2)
    calibration = results["sekirei"].calibration
    assert calibration.plot(axes[0], min_bin=20, color="red") is axes[0]
    line, points = axes[0].get_lines()
    at, rate = line.get_data()
    assert rate == pytest.approx(calibration.win_rate(at, field=True)) and line.get_color() == "red"
    assert len(points.get_xdata()) > 5 and line.get_label() == "sekirei" and len(axes[0].collections) == 1
    # published coefficients have neither covariance nor curve
    evalcurve.Calibration.read(root / "data" / "published" / "gikou.json").plot(ax=axes[1])
    assert len(axes[1].collections) == 0 and len(axes[1].get_lines()[1].get_xdata()) == 0
    assert results["sekirei"].plot(min_bin=20) is pyplot.gca()
    pyplot.close("all")


def test_games_without_a_name_are_refused(samples):
    scores, results, _ = samples
    for missing in (np.full(len(scores), np.nan), [None] * len(scores)):
        with pytest.raises(evalcurve.EvalcurveError, match="the game of sample 0 is missing"):
            evalcurve.fit(scores, results, missing)
    games = np.arange(len(scores), dtype=float)
    games[7] = np.nan
    with pytest.raises(evalcurve.EvalcurveError, match="the game of sample 7 is missing"):
        evalcurve.FitState.count(scores, results, games)


def test_a_part_is_not_merged_into_itself(samples):
    state = evalcurve.FitState.count(*samples)
    sums = evalcurve.GameSums.sum(state.optimum(), *samples)
    for part in (state, sums):
        with pytest.raises(ValueError, match="cannot be merged into itself"):
            part.merge(part)


def test_rules_hear_the_second_round(root, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    log = tmp_path / "decisions.jsonl"
    packed = root / "data/experiments/chess-council/decisions.jsonl.zst"
    with pyarrow.input_stream(str(packed), compression="zstd") as stream:
        log.write_bytes(stream.read())
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    decided = [line for line in lines if "votes" in line]
    votes = evalcurve.read_votes(log)
    assert len(votes) == len(decided)
    compared = 0
    for one, line in zip(votes, decided):
        logged = {vote["voter"]: vote for vote in line["votes"]}
        for vote in one["votes"]:
            raw = logged.get(vote["name"], {})
            for name in ("list", "judged"):
                assert [each["move"] for each in vote[name]] == [each["move"] for each in raw.get(name, [])]
                compared += sum(0 < each["win_rate"] < 1 for each in vote[name] if each["score_cp"] is not None)
            for name in ("nodes", "time_ms", "cpu_ms", "second", "bound"):
                assert vote[name] == raw.get(name)
    assert compared > 1000

    # the votes of a log decide as the log does, with the second round
    def by_hand(decision):
        return evalcurve.decide("cross-examination", decision["votes"])["move"]

    # and a rule that is deaf to it is another one
    def deaf(decision):
        return evalcurve.decide("cross-examination", [{**vote, "judged": []} for vote in decision["votes"]])["move"]

    rules = evalcurve.replay(log, [by_hand, deaf, "cross-examination"])["replay"]["rules"]
    adopted = {rule["rule"]: [each["adopted"] for each in rule["adoption"]] for rule in rules}
    assert adopted["by_hand"] == adopted["cross-examination"] != adopted["deaf"]


def heaviest(decision):
    sums = {}
    for vote in decision["votes"]:
        sums[vote["move"]] = sums.get(vote["move"], 0) + vote["weight"]
    return max(sums, key=sums.get)


@pytest.mark.parametrize("right", [0.8, 1 / 3])
def test_weights_of_an_own_rule_are_learned(root, tmp_path, right):
    """技巧 votes for the best move so often, YaneuraOu, which wins ties, for any: a gain is told where there is one."""
    head = (root / "tests" / "oracle" / "votes.jsonl").read_text(encoding="utf-8").splitlines()[0]
    random, lines = np.random.default_rng(7), [head]
    for number in range(600):
        moves = [f"m{i}" for i in random.permutation(3)]
        judged = [{"move": move, "score": score} for move, score in zip(moves, (200, 0, -200))]
        chosen = [moves[0] if random.random() < right else moves[random.integers(1, 3)], moves[random.integers(3)]]
        votes = [{"voter": v, "move": m, "score": 10, "time_ms": 9} for v, m in zip(("YaneuraOu", "技巧"), chosen[::-1])]
        votes.append({"voter": "nozomi", "move": moves[0], "score": 200, "time_ms": 9, "list": judged})
        decision = {"game_id": f"g{number // 10}", "ply": 30 + number, "position": f"p{number}", "side": "black",
                    "time_ms": 9, "votes": votes, "decision": {"move": "m0", "reason": "largest_value"}, "played": "m0"}
        lines.append(json.dumps(decision, ensure_ascii=False))
    log = tmp_path / "votes.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = evalcurve.learn_weights(log, heaviest, reference="nozomi")
    assert (found["decisions"], found["games"], found["skipped"]) == (600, 60, 0)
    low, high = found["interval"]
    assert (low > 0 and found["weights"]["技巧"] > found["weights"]["YaneuraOu"]) if right > 0.5 else low <= 0 <= high
    assert found == evalcurve.learn_weights(log, heaviest, reference="nozomi")
    with pytest.raises(evalcurve.EvalcurveError, match="two games"):
        evalcurve.learn_weights(log, heaviest, reference="Gikou")
