"""The styles on offer, and what each gives for a work or a passage."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal, get_args

from relic_core.errors import unknown_name
from relic_core.reporting.citations import chicago_author_date, chicago_notes, mla
from relic_core.reporting.citations.disambiguation import alphabetical, disambiguate, plain
from relic_core.reporting.citations.edition import parts_of
from relic_core.reporting.citations.text_runs import as_html, as_markdown, as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from relic_core.domain import CitedWork
    from relic_core.reporting.citations.edition import Parts
    from relic_core.reporting.citations.locators import Locator
    from relic_core.reporting.citations.names import Name
    from relic_core.reporting.citations.text_runs import TextRun

StyleName = Literal["mla", "chicago-notes", "chicago-author-date"]
STYLES: tuple[StyleName, ...] = get_args(StyleName)


@dataclass(frozen=True, slots=True)
class Style:
    """A style of citation.

    - `listed`: what its list is called: "Works Cited".
    - `beside`: what else it has, for a passage and a work: what it is called, and what writes it.
    """

    name: StyleName
    label: str
    listed: str
    entry: Callable[[Parts], tuple[TextRun, ...]]
    beside: tuple[tuple[str, Callable[[Parts, Locator | None], tuple[TextRun, ...]]], ...]

    @property
    def in_text(self) -> Callable[[Parts, Locator | None], tuple[TextRun, ...]]:
        """What stands behind a quotation: the citation in the text, or the full note."""
        return self.beside[0][1]


@dataclass(frozen=True, slots=True)
class Cited:
    """One form of a citation: what it is called, and its words."""

    label: str
    runs: tuple[TextRun, ...]

    @property
    def text(self) -> str:
        """As plain text."""
        return as_text(self.runs)

    @property
    def markdown(self) -> str:
        """As Markdown."""
        return as_markdown(self.runs)

    @property
    def html(self) -> str:
        """As HTML, escaped."""
        return as_html(self.runs)


_STYLES: Mapping[str, Style] = {
    style.name: style
    for style in (
        Style("mla", "MLA 9", "Works Cited", mla.entry, (("In the text", mla.in_text),)),
        Style(
            "chicago-notes",
            "Chicago, notes",
            "Bibliography",
            chicago_notes.entry,
            (("Note, at the first mention", chicago_notes.full_note), ("Note, later", chicago_notes.short_note)),
        ),
        Style(
            "chicago-author-date",
            "Chicago, author-date",
            "References",
            chicago_author_date.entry,
            (("In the text", chicago_author_date.in_text),),
        ),
    )
}


def style(name: str) -> Style:
    """Give a style by its name.

    Raises BadRequest: there is none of that name.

    >>> style("mla").listed
    'Works Cited'
    """
    try:
        return _STYLES[name]
    except KeyError:
        raise unknown_name("style of citation", name, STYLES) from None


def cite(work: CitedWork, name: str, locator: Locator | None = None) -> tuple[Cited, ...]:
    """Write every form that a style has, the entry of its list last.

    - `locator`: the passage; the whole work where not given.

    Raises BadRequest: there is no such style.
    """
    chosen, parts = style(name), parts_of(work)
    forms = [Cited(label, write(parts, locator)) for label, write in chosen.beside]
    return (*forms, Cited(f"{chosen.listed}, entry", chosen.entry(parts)))


def works_cited(works: Iterable[CitedWork], name: str) -> tuple[Cited, ...]:
    """Write a list of works cited: each work once, as lists of the style are ordered."""
    chosen = style(name)
    entries = {chosen.entry(parts): parts for parts in disambiguate(works, chosen).values()}
    dated = name == "chicago-author-date"
    cited: list[Cited] = []
    before: tuple[Name, ...] = ()
    for runs in sorted(entries, key=lambda each: (*_order(entries[each], dated=dated), as_text(each))):
        authors = entries[runs].authors
        again = name == "mla" and authors and authors == before
        cited.append(Cited("", mla.with_author_again(runs, authors) if again else runs))
        before = authors
    return tuple(cited)


def passage_form(name: str) -> Callable[[Parts, Locator | None], tuple[TextRun, ...]]:
    """Give what stands behind a quotation in a style: the citation in the text, or the full note."""
    return style(name).in_text


def _order(parts: Parts, *, dated: bool) -> tuple[tuple[str, ...], tuple[float, ...], str]:
    """Say where an entry stands: by its authors, in author-date by its years with undated ones last, by its title."""
    authors = tuple(plain(name.turned) for name in parts.authors) or (alphabetical(parts.title),)
    said = [year for year in (parts.first_year, parts.year) if year]
    years = tuple(float(year.split()[0]) * (-1 if year.endswith("BCE") else 1) for year in said) or (inf,)
    return authors, years if dated else (), alphabetical(parts.title)
