"""Title, author, translator and year, as far as a file says them: in Gutenberg's header or on the title page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from relic_core.errors import BadRequest
from relic_core.text.blocks import Block, flatten
from relic_core.text.decoding import harmless
from relic_core.text.headings import clean_title, is_capitals

_LABELLED = r"""
    (?:(?P<title>title|titel|titre|título|titolo)|(?P<author>authors?|autore?|auteure?)
    |(?P<translator>translators?|traduct(?:eur|rice|or|ora)|traduttore|übersetzer(?:in)?)
    |(?P<year>original\ publication|first\ published|year|jahr|année|año|anno)|(?P<date>date|datum|fecha|data)
    |(?:original\ )?release\ date|language|langue|sprache|idioma|lingua|editors?|éditeur|herausgeber|publisher|source)
    [ \t\xa0]*:.*(?:\n[ \t]+\S.*){0,20}
"""
_FIELD = re.compile(rf"^{_LABELLED}", re.MULTILINE | re.IGNORECASE | re.VERBOSE)
_HEAD = re.compile(rf"(?:\s*+(?>{_LABELLED})(?=\n))+(?=\n\s*\n)", re.IGNORECASE | re.VERBOSE)
_FIRST_LINE = re.compile(r"Project Gutenberg(?:'s|’s)? (?:(?:EBook|Etext) )?(?:of )?(?P<title>.+?),? by (?P<author>.+)")
_TRANSLATED = re.compile(r"\btranslat(?:ed|ion)\b[^.]{0,80}?\bby\s+(?:/ )?(?P<name>[^/,;()]{3,60})", re.IGNORECASE)
BY = r"_?(?:by|par|von|por|di)_?:?\s+"
"""Before the author's name on title pages, ignoring case."""
_BY = re.compile(BY + r"(?P<name>[^/,;()\d]{3,60})", re.IGNORECASE)
_NOT_TITLE = re.compile(r"(?:by|or|a (?:novel|romance|tale|story)|author)\b", re.IGNORECASE)
_YEAR = re.compile(r"\((1[4-9]\d\d|20\d\d)\)|(?:originally|first) published (?:in )?(1[4-9]\d\d|20\d\d)", re.IGNORECASE)
_SMALL_WORDS = {"a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with"}
_SMALL_WORDS |= {"le", "la", "les", "de", "du", "des", "et"}
_ELIDED = re.compile(r"(?<=\s)[DL](?=['’])")
_LONGEST = 300
"""Characters of a title or a name that a file may give."""
_FIRST_YEAR = -3_000
_SIGNATURE = 200
"""Characters at the end of a preface in which an author's own name may stand."""
_WRAPPED = 55
"""A title line longer than this goes on in the next line; a shorter one has a subtitle there."""


@dataclass(frozen=True, slots=True)
class Metadata:
    r"""What a file or a person says of a work, made harmless; empty or None where they do not.

    - `guessed`: names of what the file does not say for certain.

    >>> Metadata("Emma\u202e", "A\nB").author, len(Metadata("x" * 1000).title)
    ('A B', 300)
    """

    title: str = ""
    author: str = ""
    translator: str = ""
    year: int | None = None
    guessed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("title", "author", "translator"):
            object.__setattr__(self, name, harmless(getattr(self, name), longest=_LONGEST))

    @classmethod
    def checked(cls, *, title: str, author: str, translator: str, year: int | None) -> Metadata:
        """Check what a person says. Raises BadRequest: a name that is too long, or a year that cannot be."""
        for what, given in {"title": title, "author": author, "translator": translator}.items():
            if len(given) > _LONGEST:
                raise BadRequest(f"The {what} has {len(given):,} characters; at most {_LONGEST} are allowed.")
        latest = datetime.now(UTC).year + 1
        if year is not None and (not _FIRST_YEAR <= year <= latest or year == 0):
            raise BadRequest(
                f"{year} is not a year of publication; {_FIRST_YEAR} to {latest} is allowed, years before Christ with "
                "a minus. Leave it empty where it is not known."
            )
        return cls(title, author, translator, year)

    @property
    def given(self) -> dict[str, Any]:
        """What is not empty, by name."""
        return {name: value for name, value in asdict(self).items() if value not in {"", None, self.guessed}}

    def corrected(self, other: Metadata) -> Metadata:
        """Put what another says over it."""
        guessed = tuple(name for name in self.guessed if name not in other.given)
        return replace(self, **other.given, guessed=guessed)


def read_metadata(header: str, front: Sequence[Block]) -> Metadata:
    """Read the header of Project Gutenberg and the blocks before the first chapter.

    The year is taken only where it is said to be the work's: in brackets on the title page, or as its first
    publication. Years of printing are those of an edition.
    """
    fields = {str(field.lastgroup): field[0].partition(":")[2].strip() for field in _FIELD.finditer(header)}
    first = _FIRST_LINE.search(header[:400])
    page = [block.flat for block in front if block.short][:20]
    joined = " / ".join(page)
    title = (
        _field_title(fields.get("title", "")) or (clean_title(first["title"]) if first else "") or _page_title(front)
    )
    author = _name(fields.get("author", "") or (first["author"] if first else "") or _page_author(page))
    named = (_name(found["name"]) for found in _TRANSLATED.finditer(joined))
    others = (name for name in named if name != author)  # a title may have the word
    translator = fields.get("translator", "") or next(others, "")
    published, dated = (re.search(r"\b(1[4-9]\d\d|20\d\d)\b", fields.get(name, "")) for name in ("year", "date"))
    year = published or dated or _YEAR.search(joined)
    found = year and year[year.lastindex or 0]
    guesses = {"author": author and not (fields.get("author") or first), "year": found and not published}
    guessed = tuple(name for name, guess in guesses.items() if guess)
    return Metadata(title, author, _name(translator), int(found) if found else None, guessed)


def labelled_head(text: str) -> int:
    r"""Give where the labelled lines end with which a text begins, its title among them; 0 where there are none.

    >>> labelled_head("Title: Emma\nAuthor: J. A.\n\nIt rained."), labelled_head("Author: So?\n\nReader: No.")
    (25, 0)
    """
    head = _HEAD.match(text)
    return head.end() if head and head["title"] else 0


def speaks_of(author: str, text: str) -> bool:
    """Whether a preface names the author more often than a signature does, so that another hand wrote it."""
    surname = (author.split() or [""])[-1]
    text = re.sub(r"\[(?:[^\[\]]++|\[[^\[\]]*+\])*+\]", "", text)  # without notes, which an editor may have written
    return surname.isalpha() and len(re.findall(rf"\b{surname}\b", text[:-_SIGNATURE])) > 1


def _field_title(value: str) -> str:
    lines = [" ".join(line.split()) for line in value.split("\n")]
    return clean_title(" ".join(lines) if len(lines[0]) > _WRAPPED else lines[0])


def _page_title(front: Sequence[Block]) -> str:
    if not front or not front[0].short or len(front[0].lines) > 3:  # noqa: PLR2004 - no title page
        return ""
    lines = list(takewhile(lambda line: not _NOT_TITLE.match(line), map(flatten, front[0].lines)))
    title = clean_title(" ".join(lines))
    return _in_title_case(title) if is_capitals(title) else title


def _in_title_case(title: str) -> str:
    """Put a title in capitals into those that it has in a sentence.

    >>> _in_title_case("LE CHANT DE L'AUBE"), _in_title_case("TESS OF THE D'URBERVILLES")
    ("Le Chant de l'Aube", "Tess of the D'Urbervilles")
    """
    words = [word if word in _SMALL_WORDS else word[:1].upper() + word[1:] for word in title.lower().split()]
    words = [re.sub(r"(?<=^[DLO]['’])\w", lambda letter: letter[0].upper(), word) for word in words]
    whole = " ".join(words)
    whole = whole[:1].upper() + whole[1:]
    french = whole.startswith(("Le ", "La ", "Les ", "L'", "L’"))
    return _ELIDED.sub(lambda letter: letter[0].lower(), whole) if french else whole


def _page_author(page: Sequence[str]) -> str:
    for line, following in zip(page, [*page[1:], ""], strict=False):
        by = _BY.fullmatch(f"{line} {following}" if re.fullmatch(BY, f"{line} ", re.IGNORECASE) else line)
        if by:
            return by["name"]
    return ""


def _name(name: str) -> str:
    name = " ".join(re.sub(r"\([^)]*\)|\*", " ", name).split())  # "D. H. (David Herbert) Lawrence"
    name = name if re.search(r"\b\w\.$", name) else name.rstrip(" .")
    return name.title() if name.isupper() else name
