"""Which of the windows found are not quotations by a critic (RELiC, appendix A, "Filtering secondary sources").

The bounds look at all windows of a source on a work together, and at what else the same words of the source match; what
each is for is explained in docs/mining.md, "What is set aside, and why".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product

from relic_core.domain import MinedWindow, SecondarySource
from relic_core.domain.grouping import grouped
from relic_core.mining.quoted_works import UNKNOWN, QuotedWorks
from relic_core.text.words import STOPWORDS, fold, tokens

NO_CRITICISM = (
    "dictionary", "dictionaries", "anthology", "anthologies", "encyclopedia", "encyclopaedia", "cyclopedia",
    "cyclopaedia", "concordance", "thesaurus", "glossary", "lexicon", "treasury", "selections", "extracts",
    "quotations", "readings", "recitations", "elocution", "specimens", "primer", "grammar", "catalogue", "birthday",
)  # fmt: skip
"""Words of titles that are not criticism: the paper names the first three kinds and "others"."""

MOST_OF_THE_WORK = 0.25
"""Share of a work's sentences that one source quotes: above it is an edition. A book of synopses with long extracts
(Tytler's "Jane Austen and her Works") quotes a tenth of a novel."""
MOST_OF_THE_SOURCE = 0.5
"""Share of a source's characters that are from one work: above it is an edition with an introduction, or a story
reprinted."""
LONGEST = 400
"""Sentences of one window: a chapter printed whole is not a quotation."""

NEAR = 20_000
"""Characters of a source, some ten pages, within which a quotation beside which the author is named speaks for another
beside which nobody is."""
SURE_WORDS = 60
"""Words of prose that a window shares with the work; so many are no accident, whatever name is given. Fewer are
as often the Bible or Hamlet, which novels quote as critics do; of verse no number is enough."""

_RARE = 15.0
"""Bits of a word of a title that names the work by itself (Crusoe): one word in 30,000."""
_SURNAME = 3
"""Letters that a surname has to have to be looked for."""
AMBIGUOUS = 0.9
"""Share of the lit words of the best window that another on the same words needs to be a rival to it."""
_SAME = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFacts:
    """What has to be known of a work to judge windows on it; `own` as of `QuotedWork`."""

    title: str
    author: str
    sentences: int
    own: frozenset[str] = frozenset()


def facts_of(works: QuotedWorks) -> dict[str, WorkFacts]:
    """Give what has to be known of the works of an index, by id."""
    facts = {}
    for work in works.works:
        words = (works.vocabulary.get(token, UNKNOWN) for token in tokens(work.title))
        rare = (works.spellings[word] for word in words if word != UNKNOWN and works.bits[word] >= _RARE)
        own = frozenset((*work.own, *rare))
        facts[work.id] = WorkFacts(title=work.title, author=work.author, sentences=work.sentences, own=own)
    return facts


def set_aside(
    windows: Iterable[MinedWindow], sources: Mapping[str, SecondarySource], works: Mapping[str, WorkFacts]
) -> dict[str, str]:
    """Say why windows are set aside, among all of the library: bounds hold for a source and a work together."""
    of_source = grouped(windows, lambda window: window.source_id)
    aside: dict[str, str] = {}
    for source_id, found in of_source.items():
        aside |= _of_source(found, sources[source_id], works)
    return aside


def _of_source(
    windows: Sequence[MinedWindow], source: SecondarySource, works: Mapping[str, WorkFacts]
) -> dict[str, str]:
    if kind := no_criticism(source.title):
        return {window.id: f"the source's title says “{kind}”: it is not criticism" for window in windows}
    aside: dict[str, str] = {}
    left = []
    for window in windows:
        if same_author(source.author, works[window.work_id].author):
            aside[window.id] = "the source is by the author of the work"
        elif window.gold.length > LONGEST:
            aside[window.id] = f"more than {LONGEST} sentences in a row: a reprint, no quotation"
        else:
            left.append(window)
    aside |= _too_much(left, source, works)
    left = [window for window in left if window.id not in aside]
    named = {window.id: names(window, source, works[window.work_id]) for window in left}
    aside |= _ambiguous(left, named, works)
    left = [window for window in left if window.id not in aside]
    return aside | _too_seldom(left, named, works)


def _too_much(
    windows: Sequence[MinedWindow], source: SecondarySource, works: Mapping[str, WorkFacts]
) -> dict[str, str]:
    """Set aside what a source has of works that it prints rather than quotes."""
    aside: dict[str, str] = {}
    for work_id, found in grouped(windows, lambda window: window.work_id).items():
        quoted = len(set(chain.from_iterable(range(window.gold.start, window.gold.end) for window in found)))
        if quoted > MOST_OF_THE_WORK * works[work_id].sentences:
            share = round(100 * quoted / works[work_id].sentences)
            aside |= {window.id: f"the source holds {share}% of the work: another edition" for window in found}
            continue
        lit = chain.from_iterable(window.lit for window in found)
        characters = sum(end - start for start, end in lit)
        if characters > MOST_OF_THE_SOURCE * source.characters:
            share = round(100 * characters / source.characters)
            aside |= {window.id: f"{share}% of the source are the work's own words: a reprint" for window in found}
    return aside


def _ambiguous(
    windows: Sequence[MinedWindow], named: Mapping[str, bool], works: Mapping[str, WorkFacts]
) -> dict[str, str]:
    """Choose among windows on the same words of a source; none where there is nothing to choose by.

    Better is who shares more words; then the work that is named, then the one that the source otherwise quotes more. Of
    several places of a work that is named, the one that is most alike is meant, and of such the first. Two editions of
    one work are not rivals.
    """
    shared = {window.id: _shared_words(window) for window in windows}
    rivals = _rivals(windows, works)
    alone = Counter(window.work_id for window in windows if not rivals[window.id])

    def claim(window: MinedWindow) -> tuple[bool, int]:
        return named[window.id], alone[window.work_id]

    def alike(window: MinedWindow) -> tuple[int, float, int]:
        return shared[window.id], window.score, -window.gold.start

    def lost(window: MinedWindow, other: MinedWindow) -> str:
        if shared[other.id] < AMBIGUOUS * shared[window.id]:
            return ""
        if other.work_id == window.work_id and named[window.id]:
            before = alike(other) > alike(window)
            return "the same words are elsewhere in the work, more alike or before this place" if before else ""
        if shared[window.id] < AMBIGUOUS * shared[other.id] or claim(other) > claim(window):
            return f"the same words are in “{works[other.work_id].title}”, which is likelier meant"
        if claim(other) < claim(window):
            return ""
        where = "the work" if other.work_id == window.work_id else "the works"
        return f"the same words are in several places of {where}, and nothing shows which is meant"

    reasons = {}
    for window in windows:
        why = (lost(window, other) for other in rivals[window.id])
        if reason := next(filter(None, why), ""):
            reasons[window.id] = reason
    return reasons


def _rivals(windows: Sequence[MinedWindow], works: Mapping[str, WorkFacts]) -> dict[str, list[MinedWindow]]:
    """Find for each window the others on the same words of the source."""
    rivals: dict[str, list[MinedWindow]] = defaultdict(list)
    order = sorted(windows, key=lambda window: window.at)
    for number, window in enumerate(order):
        for other in order[number + 1 :]:
            if other.at[0] >= window.at[1]:
                break
            if _on_the_same_words(window, other) and not _same_passage(window, other, works):
                rivals[window.id].append(other)
                rivals[other.id].append(window)
    return rivals


def _too_seldom(
    windows: Sequence[MinedWindow], named: Mapping[str, bool], works: Mapping[str, WorkFacts]
) -> dict[str, str]:
    """Set aside the match of a source that does not speak of the author just there.

    What both quote, and what both happen to say, stands alone; a critic who quotes a work names it or its author, if
    not beside this quotation then beside another not far off.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for window in windows:
        if named[window.id]:
            places[_person(works[window.work_id])].append(window.at[0])
    aside = {}
    for window in windows:
        near = (abs(place - window.at[0]) <= NEAR for place in places[_person(works[window.work_id])])
        sure = window.kind != "verse" and _shared_words(window) >= SURE_WORDS
        if not sure and not any(near):
            aside[window.id] = "a short match, and neither the author nor anything of the work is named nearby"
    return aside


def _person(work: WorkFacts) -> str:
    name = _name_parts(work.author)
    return f"{name[0][0]} {name[-1]}" if name else f"title: {work.title}"


def no_criticism(title: str) -> str:
    """Give the word of a title that says the book is not criticism; empty where there is none.

    >>> no_criticism("A Dictionary of the Characters"), no_criticism("The Common Reader")
    ('dictionary', '')
    """
    return next((word for word in tokens(title) if word in NO_CRITICISM), "")


def same_author(one: str, other: str) -> bool:
    """Whether two names are of one person: the last name and the first letter of the first are the same.

    >>> same_author("Charlotte Brontë", "C. Bronte"), same_author("George Eliot", "T. S. Eliot")
    (True, False)
    >>> same_author("Brontë, Charlotte (1816-1855)", "Charlotte Bronte"), same_author("", "")
    (True, False)
    """
    mine, theirs = _name_parts(one), _name_parts(other)
    return bool(mine and theirs) and mine[-1] == theirs[-1] and mine[0][0] == theirs[0][0]


def names(window: MinedWindow, source: SecondarySource, work: WorkFacts) -> bool:
    """Whether the source's title or the words around a quotation name the work, its author, its people or places.

    People and places may be named in the quotation too: what others wrote and the work quotes does not know them.
    """
    around = " \n".join((source.title, *window.left, *window.right))
    words = tokens(around)
    if not work.own.isdisjoint((*words, *tokens(window.quotation))):
        return True
    surname = next(iter(_name_parts(work.author)[-1:]), "")
    if len(surname) >= _SURNAME and surname in words:
        return True
    title = [token for token in tokens(work.title) if token not in STOPWORDS]
    if len(title) == 1:  # "Emma", "Harvest": a name or a word, so it has to stand there as a name does
        return re.search(rf"(?<=[a-z,;:’'] )_?{re.escape(title[0].capitalize())}\b", around) is not None
    if any(
        re.search(rf"\b{re.escape(one.capitalize())}\s+{re.escape(other.capitalize())}\b", around)
        for one, other in pairwise(title)
    ):  # of "The Life and Adventures of Robinson Crusoe", what critics call it
        return True
    content_words = [token for token in words if token not in STOPWORDS]
    return bool(title) and any(
        content_words[at : at + len(title)] == title for at in range(len(content_words) - len(title) + 1)
    )


def _name_parts(name: str) -> list[str]:
    """Take a name apart, the last name last; years and what is in brackets are not part of it."""
    last, _, first = re.sub(r"\([^)]*\)|\d", "", fold(name)).partition(",")
    return re.findall(r"\w+", f"{first} {last}")


def _shared_words(window: MinedWindow) -> int:
    return sum(len(tokens(window.quotation[start:end])) for start, end in window.lit)


def _on_the_same_words(one: MinedWindow, other: MinedWindow) -> bool:
    shared = min(one.at[1], other.at[1]) - max(one.at[0], other.at[0])
    return shared > _SAME * min(one.at[1] - one.at[0], other.at[1] - other.at[0])


def _same_passage(one: MinedWindow, other: MinedWindow, works: Mapping[str, WorkFacts]) -> bool:
    if one.work_id == other.work_id:
        apart = max(one.gold.start, other.gold.start) - min(one.gold.end, other.gold.end)
        return apart < LONGEST and not _lit_twice(one, other)
    mine, theirs = works[one.work_id], works[other.work_id]
    return same_author(mine.author, theirs.author) and tokens(mine.title) == tokens(theirs.title)


def _lit_twice(one: MinedWindow, other: MinedWindow) -> bool:
    mine, theirs = ([(start + each.at[0], end + each.at[0]) for start, end in each.lit] for each in (one, other))
    return any(
        min(end, stop) - max(start, first) > _SAME * min(end - start, stop - first)
        for (start, end), (first, stop) in product(mine, theirs)
    )
