"""What every tool's command line shares: help with examples, the app, errors as one line, a line of progress."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from relic_core.errors import RelicError
from relic_core.wiring import build

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from relic_core.wiring import App

FAILED, STOPPED = 1, 130


def run(
    name: str,
    description: str,
    add_options: Callable[[argparse.ArgumentParser], None],
    do: Callable[[App, argparse.Namespace], int],
    arguments: Sequence[str] | None = None,
) -> int:
    """Parse the options of ``python -m tools.NAME`` and do it; give the exit code.

    Options carry ``refuse``, which ends with the usage and a message.
    """
    parser = argparse.ArgumentParser(prog=f"python -m tools.{name}", description=description)
    add_options(parser)
    options = parser.parse_args(arguments, argparse.Namespace(refuse=parser.error))
    try:
        return do(build(), options)
    except RelicError as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED


def refuse_unused(
    options: argparse.Namespace, what: str, defaults: Mapping[str, object], taken: Sequence[str] = ()
) -> None:
    """End with the usage where options were given that would be ignored; `defaults` are their values otherwise."""
    given = [name for name, value in defaults.items() if name not in taken and getattr(options, name) != value]
    if given:
        options.refuse(f"{what} takes no {', '.join(f'--{name}' for name in given)}")


class Progress:
    """One line on the error stream that says how far long work has come; silent where that is no terminal."""

    def __init__(self, label: str) -> None:
        self._label, self._shown, self._written = label, sys.stderr.isatty(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print(f"\r{' ' * 100}\r", end="", file=sys.stderr, flush=True)

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Report `done` of `total` steps, at most ten times a second."""
        if self._shown and (time.monotonic() - self._written > 0.1 or done >= total):  # noqa: PLR2004 - seconds
            self._written = time.monotonic()
            share = f"{100 * done // total:3d}%" if total else ""
            print(f"\r{f'{self._label} {share} {note}'[:100]:<100}", end="", file=sys.stderr, flush=True)
