"""The command `truebloom`: `python -m truebloom plan -n 10M -p 0.1%`."""

import signal
import sys

from truebloom._truebloom import command


def main() -> int:
    """Runs the command with the arguments of this process, and gives back its exit code."""
    # Python's handler only leaves a note for Python, which does not run meanwhile; the command has its own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return command(["truebloom", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
