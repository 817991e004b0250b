"""A process that holds a library's store for some seconds, as a long command does.

Run as ``python -m tools.reliability.holding SECONDS``.
"""

from __future__ import annotations

import sys
import time

from relic_core.wiring import build


def main(arguments: list[str]) -> int:
    """Hold the store; say when it is held."""
    with build().store.alone():
        sys.stdout.write("held\n")
        sys.stdout.flush()
        time.sleep(float(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
