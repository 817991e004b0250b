"""All places of a query in many texts: gathered, named by their forms, and put in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relic_core.library.concordance import Finder
from relic_core.library.lexicon import Reach
from relic_core.library.queries import read_query
from relic_core.services.kwic import FormCount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import WorkSummary
    from relic_core.library.concordance import Found
    from relic_core.library.lexicon import Lexicon, Numbers
    from relic_core.services.kwic import ConcordanceRequest
    from relic_core.services.texts import Texts, WordedText


@dataclass(frozen=True, eq=False)
class Gathered:
    """All places of a query, in the order asked for; all arrays of shape (n_places,) but `counts`."""

    works: tuple[WorkSummary, ...]
    lexicon: Lexicon
    counts: tuple[int, ...]
    owners: Numbers
    firsts: Numbers
    lengths: Numbers
    forms: tuple[FormCount, ...]


def gather(texts: Texts, works: tuple[WorkSummary, ...], request: ConcordanceRequest) -> Gathered:
    """Find every place of a query in some works.

    Raises BadRequest: there is no word in the query, or too many.
    Raises NotFound: a work is no longer stored.
    """
    reach = Reach(variants=request.variants, forms=request.forms, as_written=request.as_written)
    readings = read_query(request.word, reach)
    lexicon = texts.lexicon()
    finder = Finder(readings, reach, lexicon)
    forms = _Forms(lexicon, as_written=request.as_written)
    parts = []
    for owner, text in enumerate(texts.each([work.id for work in works], lexicon)):
        found = finder.find(text.wording)
        parts.append(_part(owner, text, found, forms.number(text, found), sort=request.sort))
    return _sorted(parts, works, forms, lexicon, request)


@dataclass(frozen=True, eq=False)
class _Part:
    """The places of one work, with the neighbours that the order goes by."""

    owners: Numbers
    firsts: Numbers
    lengths: Numbers
    forms: Numbers
    near: Numbers
    far: Numbers


def _part(owner: int, text: WordedText, found: Found, forms: Numbers, *, sort: str) -> _Part:
    wording = text.wording
    if sort == "left":
        near, far = wording.neighbour(found.firsts, -1), wording.neighbour(found.firsts, -2)
    elif sort == "right":
        lasts = found.firsts + found.lengths - 1
        near, far = wording.neighbour(lasts, 1), wording.neighbour(lasts, 2)
    else:
        near = far = np.zeros(0, np.int32)
    return _Part(np.full(len(found.firsts), owner, np.int32), found.firsts, found.lengths, forms, near, far)


def _sorted(
    parts: Sequence[_Part], works: tuple[WorkSummary, ...], forms: _Forms, lexicon: Lexicon, request: ConcordanceRequest
) -> Gathered:
    """Put the places of all works in the order asked for, those of one form alone where one is chosen."""
    columns = {
        name: np.concatenate([np.zeros(0, np.int32), *(getattr(part, name) for part in parts)]).astype(np.int32)
        for name in ("owners", "firsts", "lengths", "forms", "near", "far")
    }
    counts = forms.counts(columns["forms"])
    order = np.arange(len(columns["firsts"]))
    if request.sort != "text":
        ranks = np.append(lexicon.order().astype(np.int64) + 1, 0)  # the last stands for no neighbour
        neighbours = ranks[columns["near"]] * len(ranks) + ranks[columns["far"]]
        order = np.argsort(neighbours, kind="stable")  # equal ones stay in the order of the works and their texts
    if request.only:
        order = order[columns["forms"][order] == forms.known(request.only)]
    owners = columns["owners"][order]
    return Gathered(
        works=works,
        lexicon=lexicon,
        counts=tuple(np.bincount(owners, minlength=len(works)).tolist()),
        owners=owners,
        firsts=columns["firsts"][order],
        lengths=columns["lengths"][order],
        forms=counts,
    )


class _Forms:
    """The forms in which a query is found, numbered: what differs in capitals or accents alone is one form."""

    def __init__(self, lexicon: Lexicon, *, as_written: bool) -> None:
        self._lexicon = lexicon
        self._words = lexicon.printed if as_written else lexicon.folded
        self._numbers: dict[str, int] = {}
        self._printed: list[Counter[str]] = []

    def number(self, text: WordedText, found: Found) -> Numbers:
        """Give each place the number of its form."""
        forms = np.zeros(len(found.firsts), np.int32)
        for reading, joint in enumerate(found.joints):
            here = np.flatnonzero(found.readings == reading)
            if not len(here):
                continue
            length = int(found.lengths[here[0]])
            words = text.wording.ids[found.firsts[here][:, None] + np.arange(length)]
            code = words[:, 0].astype(np.int64)
            for column in range(1, length):
                code = np.unique(code * len(self._lexicon) + words[:, column], return_inverse=True)[1]
            _, firsts, inverse, counts = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
            numbers = []
            for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
                row = words[first].tolist()
                key = joint.join(self._words[word] for word in row)
                number = self._numbers.setdefault(key, len(self._numbers))
                if number == len(self._printed):
                    self._printed.append(Counter())
                self._printed[number][joint.join(self._lexicon.printed[word] for word in row)] += count
                numbers.append(number)
            forms[here] = np.array(numbers, np.int32)[inverse]
        return forms

    def known(self, key: str) -> int:
        """Return the number of a form; -1 where it was not found."""
        return self._numbers.get(key, -1)

    def counts(self, forms: Numbers) -> tuple[FormCount, ...]:
        """List the forms with how often each was found, the most frequent first, each as it is mostly printed."""
        totals = np.bincount(forms, minlength=len(self._numbers)).tolist()
        counted = [
            FormCount(key, self._printed[number].most_common(1)[0][0], totals[number])
            for key, number in self._numbers.items()
        ]
        return tuple(sorted(counted, key=lambda form: (-form.count, form.key)))
