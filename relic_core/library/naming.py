"""Which work a person means by what they call it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import WorkSummary


def resolve(said: str, summaries: Sequence[WorkSummary], *, removed: bool = False) -> WorkSummary:
    """Find the work a person means by an id, the beginning of one, or a title.

    - `summaries`: where it is looked for.
    - `removed`: they are works that were removed.

    Raises NotFound: none fits; the message names the nearest.
    Raises BadRequest: several fit; the message names them.
    """
    wanted = _key(said)
    for fits in (
        [summary for summary in summaries if summary.id == said.strip()],
        [summary for summary in summaries if wanted in (_key(summary.id), _key(summary.title))],
        [summary for summary in summaries if wanted and _key(summary.id).startswith(wanted)],
        [summary for summary in summaries if wanted and wanted in _key(summary.title)],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            several = ", ".join(f"{summary.id} ({summary.title})" for summary in fits)
            raise BadRequest(f"'{said}' fits several works: {several}. Give the id.")
    if removed:
        raise NotFound(f"No removed work is called '{said}'. `python -m relic_core works --removed` lists them.")
    raise NotFound(_unknown(said, summaries))


def _key(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def _unknown(said: str, summaries: Sequence[WorkSummary]) -> str:
    if not summaries:
        return f"There is no work '{said}'; the store has none yet. Add one: python -m relic_core add FILE."
    titles = {_key(summary.title): summary.title for summary in summaries}
    near = [titles[key] for key in difflib.get_close_matches(_key(said), titles, n=3, cutoff=0.5)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"There is no work '{said}' in the store.{hint} `python -m relic_core works` lists those that are."
