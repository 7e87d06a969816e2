"""What a type checker reads: nothing here runs."""

import numpy as np

import evalcurve
from evalcurve.sklearn import EvalCurve, neg_log_loss

results = evalcurve.calibrate("data/selfplay", min_samples=300, model="joint", bands=0, engine=["sekirei"])
for name, calibration in results.calibrations.items():
    rate: float = calibration.win_rate(300)
    rates = calibration.win_rate(np.array([0, 300]), ply=np.array([40, 140]))
    forecast = calibration.forecast(evalcurve.sample("data/selfplay"))
    print(name, rate, rates.mean(), forecast.shape, calibration.constant)
judged = evalcurve.evaluate(forecasts={"win_rate": [0.5], "result": [1]}, bands=10)
print(judged.figures["forecast"].svg, judged.to_pandas())
document = evalcurve.evaluate(results.calibrations["sekirei"], "data/selfplay")
print(document["engines"])
for drawn in evalcurve.bootstrap({"game": [1], "score_cp": [3], "result": [1]}, resamples=2):
    print(evalcurve.fit(drawn["score_cp"], drawn["result"]).w1)
curve = EvalCurve(model="phase").fit(np.array([[1.0], [2.0]]), np.array([0, 1]))
print(curve.predict_proba([[1.0]]).shape, neg_log_loss(curve, [[1.0]], [1]))


def rule(decision: evalcurve.Decision) -> str | None:
    votes = [vote for vote in decision["votes"] if vote["win_rate"] is not None]
    return votes[0]["move"] if votes else None


print(evalcurve.replay("votes.jsonl", rule, reference="nozomi")["replay"])
print(evalcurve.decide("majority", [evalcurve.Vote("a", "7g7f", 50)])["move"])
