"""Tables and figures of estimated parameters, for ``Calibration`` and ``Fit``."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np


class Summary(str):
    """A text that a notebook and an interpreter show as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _columns(of: Any) -> dict[str, Any]:
    params, bse = of.params, of.bse
    z = np.divide(params, bse, out=np.full(len(params), np.nan), where=bse > 0)
    p = np.array([math.erfc(abs(value) / math.sqrt(2)) for value in z])
    low, high = of.conf_int().T
    return {"coef": params, "std err": bse, "z": z, "P>|z|": p, "[0.025": low, "0.975]": high}


def frame(of: Any) -> Any:
    import pandas

    return pandas.DataFrame(_columns(of), index=of.param_names)


def summary(of: Any) -> Summary:
    columns = _columns(of)
    name = getattr(of, "name", None)
    facts = [("Model:", of.model), ("No. Observations:", of.nobs), ("Covariance:", "by game"), ("No. Games:", of.games)]
    constant = getattr(of, "constant", None)
    if constant is not None:
        value, interval = constant
        ends = "" if interval is None else " [{:.0f}, {:.0f}]".format(*interval)
        facts.append(("1/w1:", f"{value:.0f}{ends}"))
    width = 12 + 12 * len(columns)
    lines = [f"Calibration of {name}".center(width).rstrip() if name else "Sigmoid".center(width).rstrip(), "=" * width]
    half = width // 2
    cells = [f"{label:<18}{value!s:>{half - 20}}" for label, value in facts]
    lines += ["    ".join(cells[i : i + 2]) for i in range(0, len(cells), 2)]
    lines += ["=" * width, " " * 12 + "".join(f"{head:>12}" for head in columns), "-" * width]
    for row, parameter in enumerate(of.param_names):
        forms = {"z": ".3f", "P>|z|": ".3f"}
        values = (f"{column[row]:>12{forms.get(head, '.4g')}}" for head, column in columns.items())
        lines.append(f"{parameter:<12}" + "".join(values))
    lines.append("=" * width)
    return Summary("\n".join(lines))


def html(head: list[str], rows: list[list[str]]) -> str:
    """A table of texts for notebooks."""
    import html

    def line(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"


def html_of_table(table: Any, most: int = 10) -> str:
    columns = [table[name][:most] for name in table.columns]
    rows = [["" if cell is None else str(cell) for cell in row] for row in zip(*columns)]
    note = f"<p>{len(table):,} rows, the first {most}</p>" if len(table) > most else ""
    return html(table.columns, rows) + note


def plot(calibration: Any, ax: Any, min_bin: int, line: dict[str, Any]) -> Any:
    if ax is None:
        import matplotlib.pyplot

        ax = matplotlib.pyplot.gca()
    curve = json.loads(calibration.to_json())["curve"]
    bins = [] if curve is None else curve["bins"]
    names = ("score_sum", "wins", "draws", "losses")
    total, wins, draws, losses = np.array([[each[name] for name in names] for each in bins]).reshape(-1, 4).T
    count = wins + draws + losses
    shown = count >= min_bin
    at, rate = total[shown] / count[shown], (wins + draws / 2)[shown] / count[shown]
    line = {"label": calibration.name, **line}
    reach = max(np.abs(at).max(initial=0.0), 3 * calibration.constant[0] if calibration.constant else 1000.0)
    scores = np.linspace(-reach, reach, 401)
    threshold = calibration.mate_threshold
    if threshold is not None:
        scores = scores[np.abs(scores) < threshold]
    (drawn,) = ax.plot(scores, calibration.win_rate(scores, field=True), **line)
    try:
        low, high = calibration.interval(scores, field=True)
    except ValueError:
        # a model without covariance
        pass
    else:
        ax.fill_between(scores, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0)
    ax.plot(at, rate, "o", color=drawn.get_color(), markersize=3)
    ax.set_xlabel("score (centipawns)")
    ax.set_ylabel("win rate")
    return ax
