"""What a model for attribution learns with: stretches of the works that are quoted, and never of those measured on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from relic_core.attribution.ranking import Attributor, Ints, Stretches, source_text, strong
from relic_core.domain import MinedWindow, Work, best_of
from relic_core.errors import BadRequest
from relic_core.text.words import work_words
from relic_core.training.recipes import Supervision
from relic_core.training.sources import target_of


def choose_sources(
    supervision: Supervision, windows: Sequence[MinedWindow], load: Callable[[str], Work], candidates: int = 1
) -> dict[str, tuple[str, ...]]:
    """Choose the sources that each window is trained with, by its id, as models read them.

    With "found" only windows whose words a stretch shares: literal matching has the role of Passim.
    """
    keys = list(dict.fromkeys(window.work_id for window in windows))
    works = ((work, f"{work.author} {work.title}") for work in map(load, keys))
    attributor = Attributor(Stretches.of((work.id, named, work_words(work)) for work, named in works))
    chosen = {window.id: _sources(supervision, attributor, window, candidates) for window in windows}
    stretches, texts, latest = attributor.stretches, dict[int, str](), lru_cache(maxsize=1)(load)
    for at in np.unique(np.concatenate([np.zeros(0, np.int64), *chosen.values()])).tolist():  # a work at a time
        texts[at] = source_text(latest(keys[int(stretches.work[at])]), stretches.span(at))
    if windows and not texts:
        raise BadRequest(
            f"Of none of the {len(windows):,} quotations to learn from a passage of a work shares enough words to be "
            'found as its source. Learn with the supervision "span" or "pair", or on other quotations.'
        )
    return {key: tuple(texts[at] for at in some.tolist()) for key, some in chosen.items() if len(some)}


def _sources(supervision: Supervision, attributor: Attributor, window: MinedWindow, candidates: int) -> Ints:
    stretches, target = attributor.stretches, target_of(window)
    if supervision == "pair":
        shared = np.minimum(stretches.end, window.gold.end) - np.maximum(stretches.start, window.gold.start)
        shared[stretches.work != stretches.keys.index(window.work_id)] = 0
        return best_of(shared, 1)
    if supervision == "found":
        best = best_of(attributor.rank(target), 1)
        return best[strong(target, attributor.pairs(target, best))]
    return best_of(attributor.by_words(target), candidates)
