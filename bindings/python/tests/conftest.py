"""What the tests share: the project's folder, its games, and samples whose truth is known."""

import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def games():
    """Games of four shogi engines, in the repository."""
    return ROOT / "data" / "selfplay"


@pytest.fixture(scope="session")
def samples():
    """Scores, results with draws, and games of three samples, by w1 = 1/400 and w2 = 0.3."""
    random = np.random.default_rng(5)
    games = np.repeat(np.arange(3000), 3)
    scores = np.round(random.normal(0, 500, len(games)))
    luck = np.repeat(random.random(3000), 3)
    p = 1 / (1 + np.exp(-scores / 400 + 0.3))
    results = np.where(luck < 0.05, 0.5, (random.random(len(games)) < p).astype(float))
    return scores, results, games
