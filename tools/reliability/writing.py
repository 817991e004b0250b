"""A process that writes searches into a library one after another and says which were acknowledged, till it is stopped.

Run as ``python -m tools.reliability.writing NAME [BYTES]``: with BYTES, no file may grow beyond them, as
on a disk that is full.
"""

from __future__ import annotations

import resource
import sys

from relic_core.domain import SearchRequest
from relic_core.errors import RelicError
from relic_core.wiring import build

REFUSED = 3
_MOST = 100_000


def main(arguments: list[str]) -> int:
    """Write, and tell each number once it is acknowledged; end with `REFUSED` and the reason where one was not."""
    name, *limit = arguments
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit[0]), int(limit[0])))
    app = build()
    for number in range(_MOST):
        try:
            app.history.keep(SearchRequest(work_id="w", claim_text=claim(name, number)))
        except RelicError as error:
            sys.stdout.write(f"refused {type(error).__name__}: {error}\n")
            return REFUSED
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    return 0


def claim(name: str, number: int) -> str:
    """Give the words of a search: long enough to fill a disk, and unlike any other."""
    return f"{name} {number} " + f"{number * 7919:x} " * 200


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
