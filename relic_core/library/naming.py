"""What a person means by what they call it: a work by its id or title, and anything else that has a name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from relic_core.domain import WorkSummary
from relic_core.errors import BadRequest, NotFound
from relic_core.installed import COMMAND

T = TypeVar("T")


def meant(given: str, fits: Iterable[Sequence[T]], *, kind: str, called: Callable[[T], str]) -> T | None:
    """Choose what a person means of the closest `fits` that are not empty; None where nothing fits.

    Raises BadRequest: several fit alike; it names them.
    """
    for found in fits:
        if len(found) == 1:
            return found[0]
        if found:
            raise BadRequest(f"'{given}' fits several {kind}: {', '.join(map(called, found))}. Give the id.")
    return None


def resolve(given: str, summaries: Sequence[WorkSummary], *, removed: bool = False) -> WorkSummary:
    """Find the work, or the removed one, that a person means by an id, the beginning of one, or a title."""
    wanted = _key(given)
    fits = (
        [summary for summary in summaries if summary.id == given.strip()],
        [summary for summary in summaries if wanted in (_key(summary.id), _key(summary.title))],
        [summary for summary in summaries if wanted and _key(summary.id).startswith(wanted)],
        [summary for summary in summaries if wanted and wanted in _key(summary.title)],
    )
    found = meant(given, fits, kind="works", called=lambda summary: f"{summary.id} ({summary.title})")
    if found is not None:
        return found
    if removed:
        raise NotFound(f"No removed work is called '{given}'. `python -m relic_core works --removed` lists them.")
    raise NotFound(_unknown(given, summaries))


def _key(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def _unknown(given: str, summaries: Sequence[WorkSummary]) -> str:
    if not summaries:
        return f"There is no work '{given}'; the store has none yet. Add one: {COMMAND} add FILE."
    titles = {_key(summary.title): summary.title for summary in summaries}
    near = [titles[key] for key in difflib.get_close_matches(_key(given), titles, n=3, cutoff=0.5)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"There is no work '{given}' in the store.{hint} `{COMMAND} works` lists those that are."
