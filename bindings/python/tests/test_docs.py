"""The examples of the guide and of the docstrings, and the stubs."""

import doctest
import inspect

import pytest

import evalcurve
from evalcurve import _evalcurve


def run(test):
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.attempted > 0 and result.failed == 0


def test_the_guide(root, monkeypatch):
    for package in ("polars", "sklearn", "statsmodels"):
        pytest.importorskip(package)
    monkeypatch.chdir(root)
    text = (root / "docs" / "python.md").read_text(encoding="utf-8")
    run(doctest.DocTestParser().get_doctest(text, {}, "python.md", "docs/python.md", 0))


def test_docstrings():
    pytest.importorskip("pyarrow")
    tests = [test for test in doctest.DocTestFinder().find(evalcurve) if test.examples]
    assert len(tests) >= 4
    for test in tests:
        run(test)


def test_docstrings_of_the_estimator():
    pytest.importorskip("sklearn")
    import evalcurve.sklearn

    for test in doctest.DocTestFinder().find(evalcurve.sklearn):
        if test.examples:
            run(test)


def test_stubs_name_everything_that_is_there(root):
    stubs = (root / "bindings/python/python/evalcurve/_evalcurve.pyi").read_text()
    for name, value in vars(_evalcurve).items():
        if name.startswith("_"):
            continue
        assert f"class {name}" in stubs or f"def {name}(" in stubs, name
        if inspect.isclass(value):
            members = [member for member in vars(value) if not member.startswith("_")]
            body = stubs.split(f"class {name}", 1)[1].split("\nclass ", 1)[0]
            if not issubclass(value, Exception):
                assert members and all(f"def {member}(" in body for member in members), (name, members)
    for name in evalcurve.__all__:
        documented = getattr(evalcurve, name)
        assert name in ("Decision", "SAMPLE_SCHEMA") or documented.__doc__, name


def test_the_diagnosis_has_the_form_of_its_schema(games):
    jsonschema = pytest.importorskip("jsonschema")
    import json
    import subprocess
    import sys

    command = [sys.executable, "-m", "evalcurve", "schema", "diagnosis"]
    printed = subprocess.run(command, capture_output=True, check=True)
    schema = json.loads(printed.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    document = evalcurve.diagnose(games, mate_threshold="auto", bands=20)
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    del document["base"]["games"]
    with pytest.raises(jsonschema.ValidationError, match="'games' is a required property"):
        jsonschema.validate(document, schema, jsonschema.Draft202012Validator)


def test_the_options_are_those_of_the_program(root):
    import options

    written = (root / "bindings/python/python/evalcurve/_options.py").read_text(encoding="utf-8")
    assert options.text() == written, "write it again: see tests/options.py"


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_types_are_strict(root, tmp_path, checker):
    pytest.importorskip(checker)
    import shutil
    import subprocess
    import sys

    example = shutil.copy(root / "bindings/python/tests/typed_example.py", tmp_path)
    arguments = ["--strict"] if checker == "mypy" else ["--pythonpath", sys.executable]
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')

    def check(file):
        command = [sys.executable, "-m", checker, *arguments, file]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    ran = check(example)
    assert ran.returncode == 0, ran.stdout
    # a typo in the name of an option is found
    (tmp_path / "wrong.py").write_text('import evalcurve\n\nevalcurve.calibrate("x", min_sample=300)\n')
    ran = check(tmp_path / "wrong.py")
    assert ran.returncode == 1 and "min_sample" in ran.stdout, ran.stdout
