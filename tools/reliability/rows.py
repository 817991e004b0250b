"""What every trial is made with, and what it tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from relic_core.wiring import App

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was done, and what happened.

    - `held`: what was expected has happened; None where it could not be tried.
    - `counts`: what was counted. "lost" counts writes that were acknowledged and are not there.
    """

    name: str
    done: str
    expected: str
    happened: str
    held: bool | None
    counts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a row is made with: a library made for it (the sample, prepared), and a folder for others.

    - `searchers`, `browsers`, `rounds`: how many at once, and how often things are repeated.
    """

    app: App
    folder: Path
    work_id: str
    claims: tuple[str, ...]
    searchers: int
    browsers: int
    rounds: int
    say: Say
