"""Citation styles, and what tells works of one author, title or year apart in them."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from string import ascii_lowercase
from typing import Literal, get_args

from relic_core.domain import CitedWork
from relic_core.errors import unknown_name
from relic_core.reporting.citations import chicago, mla
from relic_core.reporting.citations.edition import Parts, parts_of
from relic_core.reporting.citations.locators import Locator
from relic_core.reporting.citations.names import Name
from relic_core.reporting.citations.text_runs import TextRun, as_html, as_markdown, as_text

_TWO = 2
_ONE_LETTER = re.compile(r"\w\.?")
_INITIALS = re.compile(r"(?:\w\.[\s-]*)+")
_STYLED = re.compile(r"(?:Mrs|Mr|Miss|Lord|Lady|Sir|Dame|Saint)\b")


def disambiguate(works: Iterable[CitedWork], chosen: Style) -> dict[str, Parts]:
    """Take works apart that are cited together in a style, and put with each what tells it from the others."""
    parts = {work.id: parts_of(work) for work in works}
    short = _short_names([each.authors if len(each.authors) <= _TWO else each.authors[:1] for each in parts.values()])
    for key, each in parts.items():
        authors = tuple(replace(name, short=short.get(name, "")) for name in each.authors)
        parts[key] = replace(each, authors=authors)
    alike: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
    for key, each in parts.items():
        citation, entry = as_text(chosen.in_text(each, None)), as_text(chosen.entry(each))
        alike[citation].setdefault(entry, []).append(key)
    for entries in alike.values():
        if len(entries) > 1:  # one entry is one work, however often the library has it
            in_order = sorted(entries, key=lambda entry: (alphabetical(parts[entries[entry][0]].title), entry))
            for at, entry in enumerate(in_order):
                for key in entries[entry]:
                    parts[key] = replace(parts[key], titled=True, letter=letter(at))
    return _with_subtitles(parts)


def _with_subtitles(parts: dict[str, Parts]) -> dict[str, Parts]:
    titles: defaultdict[tuple[tuple[Name, ...], str], set[str]] = defaultdict(set)
    for each in parts.values():
        titles[each.authors, each.short_title.casefold()].add(plain(each.title))
    return {
        key: replace(each, short_title=each.title)
        if len(titles[each.authors, each.short_title.casefold()]) > 1
        else each
        for key, each in parts.items()
    }


def plain(text: str) -> str:
    """Leave aside what lists of names are not ordered by: marks, accents, capitals.

    >>> plain("An, Jing"), plain("O’Brien, Édna")
    ('an jing', 'obrien edna')
    """
    letters = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in letters if letter.isalnum() or letter == " ").strip()


def alphabetical(text: str) -> str:
    """Leave aside what lists of titles are not ordered by: as `plain`, and the article.

    >>> alphabetical("The “Étude”"), alphabetical("A")
    ('etude', 'a')
    """
    whole = plain(text)
    first, _, rest = whole.partition(" ")
    return rest if first in {"a", "an", "the"} and rest else whole


def letter(number: int) -> str:
    """Give the letter of the first (0), the second (1), … work of a year.

    >>> [letter(number) for number in (0, 1, 25, 26)]
    ['a', 'b', 'z', 'aa']
    """
    before, last = divmod(number, len(ascii_lowercase))
    return (letter(before - 1) if before else "") + ascii_lowercase[last]


def _short_names(groups: Sequence[tuple[Name, ...]]) -> dict[Name, str]:
    families: defaultdict[str, defaultdict[int, list[Name]]] = defaultdict(lambda: defaultdict(list))
    for number, group in enumerate(groups):
        for name in group:
            if name.given and not name.whole:
                families[name.family.casefold()][number].append(name)
    short: dict[Name, str] = {}
    for of_works in families.values():
        persons: list[list[Name]] = []
        there = set(chain.from_iterable(of_works.values()))
        numbers = {name: _number(persons, name) for name in sorted(there, key=_fullness)}
        if len({frozenset(map(numbers.__getitem__, names)) for names in of_works.values()}) > 1:
            for name, number in numbers.items():
                short[name] = _call(name, [other for other, at in numbers.items() if at != number])
    return short


def _number(persons: list[list[Name]], name: Name) -> int:
    """Give the number of the one person that a name may be of; where it may be of none or of several, a new one."""

    def is_one(known: Name) -> bool:
        return known.suffix == name.suffix and _same_given(known, name)

    fitting = [at for at, names in enumerate(persons) if all(map(is_one, names))]
    if len(fitting) == 1:
        persons[fitting[0]].append(name)
        return fitting[0]
    persons.append([name])
    return len(persons) - 1


def _fullness(name: Name) -> tuple[int, int, str, str]:
    """Order names by how much they say of a person, those in full first: J. may then be held against Jane and John."""
    words = re.findall(r"\w+\.?", name.given)
    return -sum(_ONE_LETTER.fullmatch(word) is None for word in words), -len(words), name.given, name.suffix


def _same_given(one: Name, other: Name) -> bool:
    """Whether two given names may be one person's: J., Jane and Jane M. may, Jane and John may not."""
    pairs = zip(*(re.findall(r"\w+\.?", name.given.casefold()) for name in (one, other)), strict=False)
    return all(
        a.rstrip(".") == b.rstrip(".") or (a[0] == b[0] and (_ONE_LETTER.fullmatch(a) or _ONE_LETTER.fullmatch(b)))
        for a, b in pairs
    )


def _call(name: Name, others: Sequence[Name]) -> str:
    """Name somebody so that none of the others is meant: by initial, by given name, by "père" or "Jr."."""
    differing = [other for other in others if not _same_given(name, other)]
    suffix = name.suffix if len(differing) < len(others) else ""
    if not differing:
        return f"{name.family} {suffix}".strip()
    alike = any(other.given[0].casefold() == name.given[0].casefold() for other in differing)
    given = name.given if alike else _initial(name.given)
    return replace(name, given=given, suffix=suffix, title="").direct


def _initial(given: str) -> str:
    if _INITIALS.fullmatch(given) or _STYLED.match(given):
        return given
    return "-".join(f"{part[0]}." for part in given.split(maxsplit=1)[0].split("-") if part)


StyleName = Literal["mla", "chicago-notes", "chicago-author-date"]
STYLES: tuple[StyleName, ...] = get_args(StyleName)


@dataclass(frozen=True, slots=True)
class Style:
    """A style of citation; beside its entry and what its list is called, what it has for a passage and a work."""

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
            chicago.bibliography_entry,
            (("Note, at the first mention", chicago.full_note), ("Note, later", chicago.short_note)),
        ),
        Style(
            "chicago-author-date",
            "Chicago, author-date",
            "References",
            chicago.reference_entry,
            (("In the text", chicago.in_text),),
        ),
    )
}


def style(name: str) -> Style:
    """Give a style by its name. Raises BadRequest: there is none.

    >>> style("mla").listed
    'Works Cited'
    """
    try:
        return _STYLES[name]
    except KeyError:
        raise unknown_name("style of citation", name, STYLES) from None


def cite(work: CitedWork, name: str, locator: Locator | None = None) -> tuple[Cited, ...]:
    """Write every form that a style has for a work or a passage of it, the entry of its list last."""
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


def _order(parts: Parts, *, dated: bool) -> tuple[tuple[str, ...], tuple[float, ...], str]:
    authors = tuple(plain(name.turned) for name in parts.authors) or (alphabetical(parts.title),)
    given = [year for year in (parts.first_year, parts.year) if year]
    years = tuple(float(year.split()[0]) * (-1 if year.endswith("BCE") else 1) for year in given) or (inf,)
    return authors, years if dated else (), alphabetical(parts.title)
