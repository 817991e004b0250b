"""Measure a small benchmark slowly, in a process of its own: one more line is printed with every outcome."""

import sys
import time
from pathlib import Path

from relic_core.config import Settings
from relic_core.domain import ContextSize
from relic_core.wiring import build
from tests.small_benchmark import Counting, SmallBenchmark


class Slow(Counting):
    """BM25 that takes its time."""

    def score(self, claim, work, length):
        time.sleep(float(sys.argv[2]))
        return super().score(claim, work, length)


def tell(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def progress(done, total, note=""):
    tell(done)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    workbench = build(Settings(data=folder / "data", indexes=folder / "indexes"))
    retriever = Slow()
    run = workbench.measuring.measure(SmallBenchmark(40), retriever, ContextSize(1, 1), progress=progress).run
    tell("run", run.id, retriever.answers)
