"""What every tool's command line shares: its options, the app, errors as one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Sequence

from relic_core.errors import RelicError
from relic_core.wiring import App, build

FAILED, STOPPED = 1, 130


def run(
    name: str,
    about: str,
    add_options: Callable[[argparse.ArgumentParser], None],
    do: Callable[[App, argparse.Namespace], int],
    arguments: Sequence[str] | None = None,
) -> int:
    """Parse the options of ``python -m tools.NAME``, which carry their ``parser``, and do it; give the exit code."""
    parser = argparse.ArgumentParser(prog=f"python -m tools.{name}", description=about)
    add_options(parser)
    options = parser.parse_args(arguments, argparse.Namespace(parser=parser))
    try:
        return do(build(), options)
    except RelicError as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED


def refuse_unused(options: argparse.Namespace, what: str, taken: Collection[str]) -> None:
    """End with the usage where options were given that ``what`` would ignore; ``taken`` names those that it takes."""
    parser, given = options.parser, {**vars(options)}
    unused = [
        name for name, value in given.items()
        if name not in {"parser", *taken} and value not in (parser.get_default(name), [])
    ]  # fmt: skip
    if unused:
        parser.error(f"{what} takes no {', '.join(unused)}")
