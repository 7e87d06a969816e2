"""The command ``evalcurve``."""

import signal
import sys

from . import _evalcurve


def main() -> int:
    # the program ends at Ctrl-C as it does without Python
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    return _evalcurve.program(["evalcurve", *sys.argv[1:]], [sys.executable, "-m", "evalcurve"])


if __name__ == "__main__":
    sys.exit(main())
