"""Writes the options of the commands as types: python bindings/python/tests/options.py > …/evalcurve/_options.py"""

import re
import subprocess
import sys

# the functions that read records, then the others
READING = ["calibrate", "evaluate", "sample", "plot", "diagnose", "rescale", "thresholds"]
OTHERS = ["compare", "replay", "match-stats"]
# printing is left to Python, and these are parameters of their own
LEFT_OUT = {"help", "dry_run", "points", "json", "quiet", "forecasts", "figures", "tolerance", "to_scale", "out", "config", "rule"}

# of their own options these functions have those alone: they write nothing
OWN = {"calibrate": set(), "plot": {"by"}}

HEAD = '''"""The options of the commands as types, by tests/options.py from the help of the program."""

from os import PathLike
from typing import Sequence, TypedDict, Union

Value = Union[str, int, float, "PathLike[str]"]
"""A value as on the command line."""
Values = Union[Value, Sequence[Value]]
"""An option that may be repeated takes a list."""
'''


def options(command, program):
    """The names of options with their types."""
    ran = subprocess.run([*program, command, "--help"], capture_output=True, text=True, check=True)
    found = re.findall(r"^ {2,6}(?:-\w, )?--([\w-]+)( <)?", ran.stdout, re.M)
    named = {}
    for name, value in found:
        # an example below may name it again
        named.setdefault(name.replace("-", "_"), "Values" if value else "bool")
    return {name: kind for name, kind in sorted(named.items()) if name not in LEFT_OUT}


def text(program=(sys.executable, "-m", "evalcurve")):
    found = {command: options(command, program) for command in READING + OTHERS}
    shared = {name: kind for name, kind in found["calibrate"].items() if all(name in found[c] for c in READING)}
    out = HEAD
    classes = {"Reading": (shared, "TypedDict")}
    for command in READING + OTHERS:
        base = "ReadingOptions" if command in READING else "TypedDict"
        own = {name: kind for name, kind in found[command].items() if base == "TypedDict" or name not in shared}
        own = {name: kind for name, kind in own.items() if name in OWN.get(command, own)}
        classes["".join(word.title() for word in command.split("-"))] = (own, base)
    for name, (own, base) in classes.items():
        body = "".join(f"    {option}: {kind}\n" for option, kind in own.items()) or "    pass\n"
        out += f"\n\nclass {name}Options({base}, total=False):\n{body}"
    return out


if __name__ == "__main__":
    sys.stdout.write(text(sys.argv[1:] or (sys.executable, "-m", "evalcurve")))
