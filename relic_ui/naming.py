"""How works, places and searches are called in lists and sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from relic_core.domain import Search, SearchRequest, Work, WorkSummary
from relic_core.errors import RelicError
from relic_core.services.search import shown_gap
from relic_core.wiring import App
from relic_ui.links import link


def name_of(work: WorkSummary | Work) -> str:
    """Name a work for a list.

    >>> from types import SimpleNamespace
    >>> name_of(SimpleNamespace(title="Emma", author="Jane Austen", year=1815))
    'Emma, Jane Austen (1815)'
    """
    named = f"{work.title}, {work.author}" if work.author else work.title
    return f"{named} ({work.year})" if work.year else named


def works_html(works: Sequence[WorkSummary], page: str) -> str:
    """List works to choose one of, each a link to `page`."""
    items = "".join(f"<li>{link(page, name_of(work), work=work.id)}</li>" for work in works)
    asked = "Which work?" if works else "Your library is empty."
    return f'<p class="relic-quiet">{asked}</p><ul class="relic-works">{items}</ul>'


def shorten(words: str, longest: int) -> str:
    r"""Put words on one line, and cut them behind one where they are too many.

    >>> shorten("The brass\n bolt", 40), shorten("The brass bolt", 10)
    ('The brass bolt', 'The brass …')
    """
    words = " ".join(words.split())
    return words if len(words) <= longest else f"{words[:longest].rsplit(' ', 1)[0]} …"


def number_of(chapter: str) -> str:
    """Leave the title out of a chapter's name that has a number too.

    >>> number_of("Chapter IV: The Ferry"), number_of("Letters: To a Niece")
    ('Chapter IV', 'Letters: To a Niece')
    """
    number = chapter.split(": ", maxsplit=1)[0]
    return number if re.search(r"\b(?:[IVXLC]+|\d+)$", number) else chapter


def listed(names: Sequence[str], *, last: str = "and") -> str:
    """Write a list of names.

    >>> listed(["Emma"]), listed(["Emma", "Persuasion", "Evelina"])
    ('Emma', 'Emma, Persuasion and Evelina')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def many(number: int, what: str) -> str:
    """Count things whose plural has an s.

    >>> many(1, "place"), many(1200, "place"), many(0, "place")
    ('one place', '1,200 places', '0 places')
    """
    return f"one {what}" if number == 1 else f"{number:,} {what}s"


def length_of(request: SearchRequest) -> str:
    """Say how long the quotations of a search are."""
    return many(request.length, "sentence") if request.length else "any length"


def ways(app: App) -> dict[str, str]:
    """Name the ways of searching by what they are for, by retriever."""
    return {card.name: card.called for card in app.retrievers.cards()}


def inside(name: str) -> str:
    """Write a name that begins with a word of the language within a sentence.

    >>> inside("By meaning")
    'by meaning'
    """
    return name[:1].lower() + name[1:]


def some_of(names: Sequence[str], most: int) -> str:
    """Write a list of names, of a long one the first.

    >>> some_of(["Emma", "Persuasion", "Evelina"], 2)
    'Emma and 2 others'
    """
    return listed(list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} others"])


def name_of_search(app: App, search: Search, *, longest: int) -> str:
    """Name a search by what was asked: its claim, or the place of the passage that others were to be like."""
    like = search.request.like
    if like is None:
        return shorten(shown_gap(search.request.sentence), longest) or "A search without a claim"
    try:
        page = app.reading.page(like.work_id, at=like.at, length=like.length)
    except RelicError:
        return "Passages like one of an edition that was removed"
    where = page.place.label.replace(" · ", ", ") if page.place else "its beginning"
    return f"Passages like {page.work.title}, {where}"
