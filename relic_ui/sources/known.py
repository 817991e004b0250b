"""Who quotes a work by the layer of places, which ships: books that the library does not have, and their lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape

from relic_core.domain import Span, Work
from relic_core.domain.grouping import grouped
from relic_core.reporting.passages import quotation
from relic_core.services.sources import CriticsBook, QuotationCounts
from relic_ui.links import link
from relic_ui.naming import listed, many, shorten

MOST_QUOTED = 10
"""Passages that the page of a work shows."""
_IN_CHAPTER = 3
"""Passages of each chapter that are shown."""
_WORDS_SHOWN = 280
_NAMED = 3
OWN_WORDS = "What critics say is shown once their books are in your library."


def book_html(book: CriticsBook) -> str:
    """Cite a book."""
    by = ", ".join(filter(None, (book.author, str(book.year or ""))))
    return f'<cite>{escape(book.title)}</cite> <span class="relic-window-by">{escape(by)}</span>'


def books_of(quoted: QuotationCounts, span: Span | None) -> tuple[CriticsBook, ...]:
    """List the books that quote a work, or a passage of it, each once."""
    quoting = (book for book, at in quoted.listed if span is None or at.overlaps(span))
    return tuple({book.sha256: book for book in quoting}.values())


def names(books: Iterable[CriticsBook]) -> str:
    """Name some books by author and year, the first of them."""
    items = [f"{book.author or book.title} ({book.year})" if book.year else book.author or book.title for book in books]
    more = [many(len(items) - _NAMED, "other")] if len(items) > _NAMED else []
    return listed([*items[:_NAMED], *more]) if items else ""


def also_html(quoted: QuotationCounts, span: Span | None = None) -> str:
    """List the books that quote a work, or a passage of it, with where their words come from; nothing of none."""
    times = Counter(book.sha256 for book, _ in quoted.listed)
    books = books_of(quoted, span)
    if not books:
        return ""
    if span is None:
        books = tuple(sorted(books, key=lambda book: (-times[book.sha256], book.year)))
    counts = {book.sha256: f" · {many(times[book.sha256], 'line')}" if span is None else "" for book in books}
    items = "".join(f"<li>{book_html(book)}{counts[book.sha256]}{_get(book)}</li>" for book in books)
    return (
        f'<section class="relic-known" aria-labelledby="known"><h2 id="known" class="relic-item">'
        f"{'Also quoted' if span else 'Quoted'} by {many(len(books), 'book')} not in your library</h2>"
        f'<ul>{items}</ul><p class="relic-quiet">{OWN_WORDS} {add_link()}</p></section>'
    )


def add_link() -> str:
    """Lead to where criticism is added."""
    return link("library", "Add books of criticism", css="relic-work-link", part="Criticism")


def by_chapter_html(work: Work, quoted: QuotationCounts) -> str:
    """List the lines of each chapter that are quoted most, behind a disclosure; nothing where they are few."""
    passages = most_quoted(quoted.counts, len(quoted.counts))
    chapters = grouped(passages, lambda span: work.sentences[span.start].chapter)
    if len(chapters) <= 1 or len(passages) <= MOST_QUOTED:
        return ""
    parts = []
    for chapter, spans in sorted(chapters.items()):
        items = "".join(passage_html(work, span, quoted) for span in spans[:_IN_CHAPTER])
        name = f"{escape(work.chapter_name(chapter))} <span>{many(len(spans), 'passage')}</span>"
        parts.append(f'<h4 class="relic-item">{name}</h4><ol class="relic-work-quoted">{items}</ol>')
    return (
        '<details class="relic-shelf-found relic-by-chapter"><summary>The most quoted lines of each chapter</summary>'
        f"{''.join(parts)}</details>"
    )


def passage_html(work: Work, span: Span, quoted: QuotationCounts) -> str:
    """Show a quoted passage, how often it is quoted and by whom, as an item of a list."""
    place = work.place(span)
    at = str(place.address)
    where = place.label.replace(" · ", ", ")
    read = link(
        "read", where, title=f"Read it: {where}", work=work.id, at=at, n=span.length if span.length > 1 else None
    )
    who = link("sources", "Who quotes it", title=f"Who quotes it: {where}", work=work.id, at=at)
    critics = names(books_of(quoted, Span(span.start, 1)))
    by = f'<span class="relic-quiet">{escape(critics)}</span>' * bool(critics)
    return (
        f'<li><strong><span class="relic-sr">Quoted in places: </span>{quoted.counts[span.start]:,}</strong><div>'
        f"<q>{escape(shorten(quotation(work, span).plain, _WORDS_SHOWN))}</q>"
        f'<p class="relic-window-links">{read}{who}{by}</p></div></li>'
    )


def most_quoted(counts: Mapping[int, int], most: int = MOST_QUOTED) -> list[Span]:
    """Choose the passages that are quoted most: sentences in a row that are quoted equally often are one passage.

    - `counts`: index of a sentence → how often it is quoted.
    - `most`: passages at most.

    >>> most_quoted({3: 2, 4: 5, 5: 5, 9: 1}, most=2)
    [Span(start=4, length=2), Span(start=3, length=1)]
    """
    passages: list[tuple[int, Span]] = []
    for index in sorted(counts):
        times, last = passages[-1] if passages else (0, Span(-1, 1))
        if times == counts[index] and last.end == index:
            passages[-1] = (times, Span(last.start, last.length + 1))
        else:
            passages.append((counts[index], Span(index, 1)))
    return [span for _, span in sorted(passages, key=lambda each: (-each[0], each[1]))[:most]]


def _get(book: CriticsBook) -> str:
    """Lead to a book where Project Gutenberg has it."""
    where = f"https://www.gutenberg.org/ebooks/{book.number}"
    about = f"{book.title}: at Project Gutenberg"
    return (
        f' <a class="relic-link" href="{where}" rel="noreferrer" aria-label="{escape(about)}">Get it</a>'
        if book.number
        else ""
    )
