"""The options of the commands as types, by tests/options.py from the help of the program."""

from os import PathLike
from typing import Sequence, TypedDict, Union

Value = Union[str, int, float, "PathLike[str]"]
"""A value as on the command line."""
Values = Union[Value, Sequence[Value]]
"""An option that may be repeated takes a list."""


class ReadingOptions(TypedDict, total=False):
    alias: Values
    annotator: Values
    bands: Values
    bin: Values
    column: Values
    draws: Values
    duplicates: Values
    engine: Values
    folds: Values
    format: Values
    from_ply: Values
    lang: Values
    mate_policy: Values
    mate_threshold: Values
    min_bin: Values
    min_games: Values
    min_samples: Values
    model: Values
    score_unit: Values
    seed: Values
    signs: Values
    strict: bool
    terminations: Values
    threads: Values
    view: Values
    where: Values
    window: Values


class CalibrateOptions(ReadingOptions, total=False):
    pass


class EvaluateOptions(ReadingOptions, total=False):
    pass


class SampleOptions(ReadingOptions, total=False):
    force: bool
    material: bool


class PlotOptions(ReadingOptions, total=False):
    by: Values


class DiagnoseOptions(ReadingOptions, total=False):
    by: Values
    data: bool
    force: bool
    score: Values


class RescaleOptions(ReadingOptions, total=False):
    calibration: Values
    force: bool
    from_scale: Values
    teacher: Values


class ThresholdsOptions(ReadingOptions, total=False):
    draw_from: Values
    most_wrong: Values
    move_count: Values
    resign_from: Values
    win_rate: Values


class CompareOptions(TypedDict, total=False):
    lang: Values
    model: Values
    score: Values
    summary: Values
    undo_normalization: Values


class ReplayOptions(TypedDict, total=False):
    calibration: Values
    force: bool
    games: Values
    lang: Values
    learn: bool
    mates: Values
    phases: Values
    reference: Values
    seed: Values
    stakes: Values
    strict: bool
    tie: Values
    weights: Values
    without: Values


class MatchStatsOptions(TypedDict, total=False):
    alpha: Values
    anchor: Values
    beta: Values
    comparisons: Values
    draw_share: Values
    elo_model: Values
    games: Values
    lang: Values
    level: Values
    opponent: Values
    paired: bool
    player: Values
    plot: Values
    power: Values
    ratings: bool
    shares: Values
    sprt: Values
    target: Values
