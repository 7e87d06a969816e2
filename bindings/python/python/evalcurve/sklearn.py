"""The fitted sigmoid as an estimator of scikit-learn.

>>> import numpy as np
>>> scores = np.repeat([-300, -100, 100, 300], 50)[:, np.newaxis]
>>> results = np.concatenate([np.arange(50) < wins for wins in (15, 22, 29, 36)]).astype(float)
>>> curve = EvalCurve().fit(scores, results)
>>> curve.predict_proba([[0], [200]]).round(3)
array([[0.489, 0.511],
       [0.346, 0.654]])
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped, unused-ignore]
from sklearn.utils.multiclass import (  # type: ignore[import-untyped, unused-ignore]
    check_classification_targets,
    type_of_target,
)
from sklearn.utils.validation import (  # type: ignore[import-untyped, unused-ignore]
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import Calibration, EvalcurveError, EvalcurveWarning, Fit, _arrays, _evalcurve, calibrate

__all__ = ["EvalCurve", "neg_log_loss"]

# largest score in the units of the fit, which counts distinct whole scores
_LARGEST = 100_000.0
# the names of the column of scores
_SCORES = ("score_cp", "score", "cp")
# what a model may know of a position beyond the score
COVARIATES = ("ply", "material", "rating", "opponent_rating", "opponent", "color", "time_control", "window")


class EvalCurve(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """The win rate 1 / (1 + exp(-w1 x + w2)) of a score x.

    Unlike ``LogisticRegression`` it has no penalty, counts a draw as half a win, offers least squares, and gives
    intervals that treat the samples of a game as one cluster.

    Parameters
    ----------
    model : str
        ``maximum_likelihood``, ``least_squares``, or any other model of ``evalcurve calibrate --model``, such as ``joint``,
        ``lapse``, ``isotonic`` or ``phase``.
    min_samples : int
        Fewest samples.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the win last; 0 and 1 if there are draws.
    coef_, intercept_ : ndarray of shape (1, 1) and (1,)
        w1 and -w2, as ``LogisticRegression`` has them; only of maximum likelihood and least squares.
    fit_ : evalcurve.Fit or evalcurve.Calibration
        With the covariance, clustered by game. Its scores are those of ``X`` times ``scale_``.
    scale_ : float
        What the scores were multiplied by to become whole numbers; 1 for centipawns. Negative, with a warning, where
        higher scores win less often.

    Notes
    -----
    ``X`` may be a data frame (pandas or polars) of the score, called ``score_cp``, ``score`` or ``cp``, and of what a
    model knows beyond it: ``ply``, ``material``, ``rating`` and ``opponent_rating``, ``opponent``, ``color``,
    ``time_control``. The model takes what it knows of these, both to fit and to predict, so that ``cross_val_predict``
    and ``GridSearchCV`` compare models with their covariates; ``maximum_likelihood`` takes the score alone. A column of
    another name is an error.

    ``scoring="neg_log_loss"`` of scikit-learn refuses draws, which are no class; ``scoring=neg_log_loss`` of this
    module counts a draw as half a win.
    """

    def __init__(self, model: str = "maximum_likelihood", min_samples: int = 3) -> None:
        self.model = model
        self.min_samples = min_samples

    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        columns: dict[str, Any] | None = None,
        sample_weight: Any = None,
    ) -> EvalCurve:
        """Fits the curve.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1), or data frame
            Scores of the side to move, centipawns or any other unit; in a frame with what else the model knows.
        y : array-like of shape (n,)
            Results for the side to move: 1, 0.5 and 0, or two labels of which the larger is the win.
        groups : array-like of shape (n,), optional
            The game of each sample. Without it each sample counts as a game.
        columns : dict of array-like, optional
            What a model needs to know beyond the score, for scores in an array; predictions are then those of the mean
            position. A frame ``X`` has these columns in it, and its predictions know them.
        sample_weight : array-like of shape (n,), optional
            How often each sample counts, in whole numbers, as in a bootstrap; samples of weight 0 are left out.

        Returns
        -------
        EvalCurve
        """
        X, known = self._split(X, reset=True)
        y = column_or_1d(y, warn=True)
        if X.shape[0] != len(y):
            raise ValueError(f"X has {X.shape[0]} samples and y has {len(y)}: inconsistent numbers of samples")
        known = {**(columns or {}), **known}
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X)
            times = np.round(weights).astype(np.int64)
            if (times != weights).any() or (times < 0).any():
                raise ValueError(
                    "sample_weight has a weight that is no whole number from 0: give how often a sample counts"
                )
            # the game of a sample is that of all its copies
            groups = np.repeat(np.arange(len(y)) if groups is None else np.asarray(groups), times)
            X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
            known = {name: np.repeat(np.asarray(values), times) for name, values in known.items()}
            if len(y) == 0:
                raise ValueError("all samples have weight 0")
        if y.dtype.kind in "fiub" and np.isin(y, (0.0, 0.5, 1.0)).all() and (y == 0.5).any():
            self.classes_, results = np.array([0, 1]), y.astype("float64")
        else:
            check_classification_targets(y)
            kind = type_of_target(y, input_name="y", raise_unknown=True)
            self.classes_, results = np.unique(y, return_inverse=True)
            if kind != "binary" or len(self.classes_) != 2:
                found = "one class" if len(self.classes_) == 1 else f"{len(self.classes_)} classes"
                raise ValueError(
                    f"Only binary classification is supported. The type of the target is {kind}, and y has {found}: "
                    "give two labels, or 1, 0.5 and 0"
                )
        largest = np.abs(X).max()
        whole = largest <= 1e9 and (X == np.round(X)).all()
        self.scale_ = 1.0 if whole or largest == 0 else float(10.0 ** np.floor(np.log10(_LARGEST / largest)))
        # the sign of the slope by maximum likelihood
        if np.dot(X[:, 0] - X[:, 0].mean(), results) < 0:
            warnings.warn("higher scores win less often: check whose point of view they take", EvalcurveWarning)
            self.scale_ = -self.scale_
        scores = np.round(X[:, 0] * self.scale_)
        self.fit_: Fit | Calibration
        if self.model in ("maximum_likelihood", "least_squares"):
            self.fit_ = _evalcurve.fit(scores, results, groups, method=self.model, min_samples=self.min_samples)
            self.coef_ = np.array([[self.fit_.w1 * self.scale_]])
            self.intercept_ = np.array([-self.fit_.w2])
        else:
            self.fit_ = self._calibration(scores, results, groups, known)
        return self

    def _calibration(self, scores: Any, results: Any, groups: Any, columns: dict[str, Any]) -> Calibration:
        count = len(scores)
        table = {
            "engine": ["engine"] * count,
            "score_cp": scores,
            "result": results,
            "game": [str(game) for game in (range(count) if groups is None else groups)],
            "mate": np.zeros(count, bool),
            **columns,
        }
        model = str(self.model).replace("_", "-")
        (found,) = calibrate(table, model=model, min_samples=self.min_samples, bands=0).values()
        if found.calibration is None:
            raise EvalcurveError(found.error)
        return found.calibration

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The log odds of winning, of shape (n,)."""
        check_is_fitted(self)
        X, known = self._split(X, reset=False)
        scores = X[:, 0]
        if isinstance(self.fit_, Fit):
            linear: NDArray[np.float64] = scores * self.coef_[0, 0] + self.intercept_[0]
            return linear
        if known:
            win_rate = self.fit_.forecast({"score_cp": scores * self.scale_, **known})
        else:
            win_rate = self.fit_.win_rate(scores * self.scale_, field=True)
        with np.errstate(divide="ignore"):
            odds: NDArray[np.float64] = np.log(win_rate) - np.log1p(-win_rate)
        return odds

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of losing and winning, a draw half of each, of shape (n, 2)."""
        win_rate = 1.0 / (1.0 + np.exp(-self.decision_function(X)))
        return np.column_stack([1.0 - win_rate, win_rate])

    def predict(self, X: Any) -> NDArray[Any]:
        """The likelier label, of shape (n,)."""
        wins = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[wins.astype(int)]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of results that ``predict`` names; a draw counts as half."""
        y = np.asarray(y)
        predicted = self.predict(X)
        right = (predicted == y).astype("float64")
        if y.dtype.kind == "f":
            right[y == 0.5] = 0.5
        return float(np.average(right, weights=sample_weight))

    def _split(self, X: Any, reset: bool) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """The column of scores, and the columns of what else is known."""
        names = getattr(X, "column_names", None)
        if names is None:
            names = getattr(X, "columns", None)
        names = None if names is None or callable(names) else list(names)
        # numbers as names, as pandas gives them to an array, say nothing
        if names is None or len(names) == 1 or not all(isinstance(name, str) for name in names):
            X = validate_data(self, _column(X), dtype="float64", reset=reset)
            self._check_features(X)
            return X, {}
        if not reset:
            check_is_fitted(self)
        validate_data(self, X, reset=reset, skip_check_array=True)
        score = next((name for name in _SCORES if name in names), None)
        strange = [name for name in names if name != score and name not in COVARIATES]
        if score is None or strange:
            what = f"'{strange[0]}' is none of them" if strange else "there is no score"
            raise ValueError(
                f"X has the columns {', '.join(names)}: a frame has the score ({', '.join(_SCORES)}) and of what "
                f"models know {', '.join(COVARIATES)}; {what}"
            )
        arrays = _arrays(X)
        scores = np.asarray(arrays.pop(score), dtype="float64")
        if not np.isfinite(scores).all():
            raise ValueError(f"Input X contains NaN or infinity: {score} must be a number in each row")
        return scores[:, np.newaxis], arrays

    def _check_features(self, X: Any) -> None:
        if X.shape[1] != 1:
            raise ValueError(
                f"X has {X.shape[1]} features, but EvalCurve takes one, the score; give a data frame whose columns "
                "have names for what a model knows beyond it"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def neg_log_loss(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Minus the mean log loss in nats, a draw half of either result: a scorer, for ``scoring=neg_log_loss``.

    Labels are those of ``estimator.classes_``, of which the second is the win, or 1, 0.5 and 0.
    """
    p = np.clip(estimator.predict_proba(X)[:, 1], np.finfo(float).eps, 1 - np.finfo(float).eps)
    y = np.asarray(y)
    if y.dtype.kind in "fiub" and np.isin(y, (0.0, 0.5, 1.0)).all():
        result = y.astype("float64")
    else:
        result = (y == estimator.classes_[1]).astype("float64")
    return float(np.average(result * np.log(p) + (1 - result) * np.log1p(-p), weights=sample_weight))


def _column(X: Any) -> Any:
    """Scores in one dimension, such as a Series, as one feature."""
    dimensions = np.ndim(X) if isinstance(X, (list, tuple)) else len(getattr(X, "shape", ()))
    return np.asarray(X).reshape(-1, 1) if dimensions == 1 else X
