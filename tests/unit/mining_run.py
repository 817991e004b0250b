"""A run of mining in a process of its own, that kills itself after so many sources: ``mining_run.py FOLDER COUNT``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from relic_core.config import Settings
from relic_core.services import mining
from relic_core.store.sources import SourceRows
from relic_core.wiring import build
from tests.inline import InProcess


def main() -> None:
    bench = build(Settings.from_environment())
    folder, most = Path(sys.argv[1]), int(sys.argv[2])
    taken = 0
    add = SourceRows.add

    def add_or_die(self, *mined) -> None:
        nonlocal taken
        if taken == most:
            os.kill(os.getpid(), signal.SIGKILL)
        add(self, *mined)
        taken += len(mined)

    SourceRows.add = add_or_die
    mining._KEEP_SECONDS = 0.0
    bench.mining.run([folder], workers=InProcess())


if __name__ == "__main__":
    main()
