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

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import EvalcurveError, EvalcurveWarning, Fit, _evalcurve, calibrate

__all__ = ["EvalCurve"]

# largest score in the units of the fit, which counts distinct whole scores
_LARGEST = 100_000.0


class EvalCurve(ClassifierMixin, BaseEstimator):
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
    """

    def __init__(self, model="maximum_likelihood", min_samples=3):
        self.model = model
        self.min_samples = min_samples

    def fit(self, X, y, groups=None, columns=None):
        """Fits the curve.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            Scores of the side to move, centipawns or any other unit.
        y : array-like of shape (n,)
            Results for the side to move: 1, 0.5 and 0, or two labels of which the larger is the win.
        groups : array-like of shape (n,), optional
            The game of each sample. Without it each sample counts as a game.
        columns : dict of array-like, optional
            What a model needs to know beyond the score, as columns of ``evalcurve.read_samples``: ``ply`` for
            ``phase``; ``rating``, ``opponent_rating`` and ``opponent`` for ``joint``.

        Returns
        -------
        EvalCurve
        """
        X, y = validate_data(self, _column(X), column_or_1d(y, warn=True), dtype="float64")
        self._check_features(X)
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
        self.scale_ = 1.0 if whole or largest == 0 else 10.0 ** np.floor(np.log10(_LARGEST / largest))
        # the sign of the slope by maximum likelihood
        if np.dot(X[:, 0] - X[:, 0].mean(), results) < 0:
            warnings.warn("higher scores win less often: check whose point of view they take", EvalcurveWarning)
            self.scale_ = -self.scale_
        scores = np.round(X[:, 0] * self.scale_)
        if self.model in ("maximum_likelihood", "least_squares"):
            self.fit_ = _evalcurve.fit(scores, results, groups, method=self.model, min_samples=self.min_samples)
            self.coef_ = np.array([[self.fit_.w1 * self.scale_]])
            self.intercept_ = np.array([-self.fit_.w2])
        else:
            self.fit_ = self._calibration(scores, results, groups, columns or {})
        return self

    def _calibration(self, scores, results, groups, columns):
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

    def decision_function(self, X):
        """The log odds of winning, of shape (n,)."""
        check_is_fitted(self)
        scores = validate_data(self, _column(X), dtype="float64", reset=False)[:, 0]
        if isinstance(self.fit_, Fit):
            return scores * self.coef_[0, 0] + self.intercept_[0]
        win_rate = self.fit_.win_rate(scores * self.scale_, field=True)
        with np.errstate(divide="ignore"):
            return np.log(win_rate) - np.log1p(-win_rate)

    def predict_proba(self, X):
        """The probabilities of losing and winning, a draw half of each, of shape (n, 2)."""
        win_rate = 1.0 / (1.0 + np.exp(-self.decision_function(X)))
        return np.column_stack([1.0 - win_rate, win_rate])

    def predict(self, X):
        """The likelier label, of shape (n,)."""
        wins = self.decision_function(X) > 0
        return self.classes_[wins.astype(int)]

    def score(self, X, y, sample_weight=None):
        """The share of results that ``predict`` names; a draw counts as half."""
        y = np.asarray(y)
        predicted = self.predict(X)
        right = (predicted == y).astype("float64")
        if y.dtype.kind == "f":
            right[y == 0.5] = 0.5
        return float(np.average(right, weights=sample_weight))

    def _check_features(self, X):
        if X.shape[1] != 1:
            raise ValueError(f"X has {X.shape[1]} features, but EvalCurve takes one, the score")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _column(X):
    """Scores in one dimension, such as a Series, as one feature."""
    dimensions = np.ndim(X) if isinstance(X, (list, tuple)) else len(getattr(X, "shape", ()))
    return np.asarray(X).reshape(-1, 1) if dimensions == 1 else X
