"""The notebooks run from the first cell to the last."""

import json
import os
import shutil

import pytest

import evalcurve

pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")

ENGINES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"])


@pytest.mark.parametrize("name", ["takeuchi", "new_engine", "own_models"])
def test_notebook(root, name, monkeypatch):
    if name == "new_engine" and not (os.environ.get("ENGINE") or shutil.which("fairy-stockfish", path=ENGINES)):
        pytest.skip("SKIPPED: there is no engine: install fairy-stockfish, or name one by ENGINE")
    if name == "own_models":
        pytest.importorskip("sklearn")
        pytest.importorskip("pyarrow")
    matplotlib.use("agg")
    monkeypatch.chdir(root)
    notebook = json.loads((root / "examples" / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    # a notebook is kept without output
    assert len(cells) > 5 and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    names = {"__name__": name}
    for number, cell in enumerate(cells, 1):
        exec(compile("".join(cell["source"]), f"{name}.ipynb, cell {number}", "exec"), names)
    # the last cells have made figures
    assert matplotlib.pyplot.get_fignums()
    matplotlib.pyplot.close("all")
    if name == "own_models":
        # what the notebook is to show
        assert {(d["one"], d["other"]) for d in names["judged"]["differences"]} >= {("own", "joint")}
        assert len(names["frame"]) == len(names["samples"]) == names["judged"]["models"][0]["samples"]
        early, late = names["early_and_late"]
        assert abs(late - early) > 0.001
        heard = sum(bool(vote["judged"]) for one in evalcurve.read_votes(names["log"]) for vote in one["votes"])
        assert heard > 1000 and len(names["replayed"]["rules"]) == 3
        assert names["bootstrap"] == pytest.approx(names["fit"].bse, rel=0.05)
