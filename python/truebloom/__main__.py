"""The command `truebloom`: `python -m truebloom plan -n 10M -p 0.1%`."""

import signal
import sys

from truebloom._truebloom import command


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit code."""
    # Python's handler for Ctrl-C only sets a flag that the interpreter reads. The interpreter does
    # not run during the command, so Ctrl-C would have no effect. An ignored SIGINT stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return command(["truebloom", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
