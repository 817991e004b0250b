"""Which work, and which chapter of it, a draft names for a quotation: in the sentence, behind it, or before."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from relic_core.domain import Offsets, WorkSummary
from relic_core.domain.drafts import Naming
from relic_core.mining.quoted_works import QuotedWorks, spelt
from relic_core.reporting.citations.edition import short_title
from relic_core.reporting.citations.names import read_names
from relic_core.text.headings import number_value
from relic_core.text.words import fold

_BEHIND = re.compile(r"[\"”’'»]*[^“\"«(]{0,160}?\(([^()]{1,80})\)")
_CITED_BEFORE = re.compile(r"[”’\"'»]\W{0,4}\([^()]*\d[^()]*\)")
"""The citation of an earlier quotation."""
_VOLUME = re.compile(r"\b(?:vol(?:ume)?|book|bk|part|pt)s?\.?\s+(?:\d|[ivxlc]+\b)", re.IGNORECASE)
_NUMBER = re.compile(r"\d")
_CHAPTER = re.compile(r"\b[Cc]h(?:ap)?(?:ter|s)?\.?\s+(\d{1,3}|[IVXLCivxlc]+|[a-z]+(?:-[a-z]+)?)\b")
_NAME = re.compile(r"(?:(?:see|qtd\. in|quoted in)\s+)?([A-Z][^\W\d_]+(?:[-’'][^\W\d_]+)*)")
_NO_NAME = re.compile(
    r"[IVXLC]+|Ch|Chap|Chapter|Chapters|Book|Bk|Vol|Volume|Part|Pt|Letter|Act|Sc|Scene|Canto|Line|Emphasis"
)
_SENTENCE_ENDS = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)[.!?][”’\"')\]]*\s+(?=[A-Z“\"‘*_])")
_SET_APART = re.compile(r"(?:[*_“\"]|\b[Ii]n )\Z")
_OF_WORK = re.compile(
    r"(?:\b[Ii]n|\b(?:narrator|opening|beginning|end|ending|close|chapters?|pages?|lines?|sentences?|words) of|[’']s?) "
    r"[*_“\"]*\Z"
)
_COMPARED = re.compile(r"\b(?:un)?like\b", re.IGNORECASE)
_LONGEST = 600
"""Characters of a sentence that are looked at on either side of a quotation."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a draft names for a quotation.

    - `works`: ids; several where a title or an author has several.
    - `sure`: whether a work can be known from them: not where a title is a word that other works use too.
    - `missing`: a name in the citation that no work has.
    - `chapter`: as the draft writes it.
    - `last`: what it named last in the paragraph; nothing where a name is missing.
    """

    works: tuple[str, ...] = ()
    naming: Naming = ""
    sure: bool = False
    missing: str = ""
    chapter: str = ""
    last: tuple[str, ...] = ()


class Names:
    """Knows the titles and authors of a library, and what a draft named last."""

    def __init__(self, summaries: Sequence[WorkSummary], works: QuotedWorks) -> None:
        self._works = works
        self._titles: dict[str, list[str]] = {}
        self._authors: dict[str, list[tuple[str, str]]] = {}
        self._common: dict[str, bool] = {}
        self._anonymous = {work.id for work in summaries if not work.author}
        for work in summaries:
            for title in {work.title, short_title(work.title)} - {""}:
                self._titles.setdefault(_plain(unicodedata.normalize("NFC", title)), []).append(work.id)
            for author in read_names(_plain(unicodedata.normalize("NFC", work.author))):
                self._authors.setdefault(author.family, []).append((author.given.partition(" ")[0], work.id))
        self._a_title, self._an_author = _any_of(self._titles), _any_of(self._authors)
        self._last: tuple[str, ...] = ()
        self._last_at = 0
        self._since = 0

    def of(self, text: str, at: Offsets) -> Named:
        """Say what a draft names for the quotation at these offsets; call it in the order of the draft."""
        sentence, behind = _around(text, at)
        between, self._since = _plain(text[self._since : at[0]]), at[1]
        cited = _BEHIND.match(behind)
        citation = cited[1] if cited and (_NUMBER.search(cited[1]) or _CHAPTER.search(cited[1])) else ""
        chapter = _chapter(citation) or _chapter(sentence)
        found = self._named_by(citation, "citation") if citation else None
        missing = ""
        if citation and found is None:
            name = _NAME.match(citation.strip())
            missing = name[1] if name and not _NO_NAME.fullmatch(name[1]) else ""
            if fold(missing) in map(fold, self._authors):
                missing = ""
        if found is None:
            found = self._named_by(sentence, "sentence")
            if missing and found:  # the name may be the author of a work here whose author is not known
                works = tuple(work for work in found.works if work in self._anonymous)
                found, missing = (replace(found, works=works), "") if works else (None, missing)
        elif found and not _COMPARED.search(sentence):  # "in" a title, say, tells which work is meant
            titles = [
                each[0]
                for each in self._a_title.finditer(_plain(sentence))
                if _OF_WORK.search(sentence, 0, each.start())
            ]
            last = self._titles[titles[-1]] if titles else ()
            found = replace(found, works=tuple(work for work in last if work in found.works) or found.works)
        before = [title for title in self._a_title.finditer(between) if self._is_sure(title, between)]
        itself = self._titles.get(_plain(text[slice(*at)]).strip(" .,;:"))
        if found is not None and found.sure:
            self._last, self._last_at = found.works, at[0]
        elif itself or before:
            self._last = tuple(itself or self._titles[before[-1][0]])
            self._last_at = at[0] if itself else at[0] - len(between) + before[-1].start()
        if found is None and citation and not missing and self._last:
            found = Named(self._last, "running")
        near = self._last if self._last_at > text.rfind("\n\n", 0, at[0]) and not missing else ()
        return replace(found or Named(), missing=missing, chapter=chapter, last=near)

    def mentions(self, text: str) -> bool:
        """Whether a text names a work or an author of the library."""
        return self._named_by(text, "sentence") is not None

    def _named_by(self, text: str, naming: Naming) -> Named | None:
        text = _plain(text)
        titles = list(self._a_title.finditer(text))
        names = list(self._an_author.finditer(text))
        authors = list(chain.from_iterable(map(self._by, names)))
        if titles:
            works = list(chain.from_iterable(self._titles[title[0]] for title in titles))
            both = [each for each in works if each in authors]
            sure = naming == "citation" or bool(both) or any(self._is_sure(title, text) for title in titles)
            if sure or not authors:
                return Named(tuple(dict.fromkeys(both or works)), naming, sure)
        if not authors:
            return None
        sure = naming == "citation" or any(map(self._is_sure_author, names))
        return Named(tuple(dict.fromkeys(authors)), naming, sure)

    def _by(self, name: re.Match[str]) -> list[str]:
        """Give the works of an author, by the first name too where one of that name stands before the family's."""
        by, before = self._authors[name[0]], _word_before(name)
        return [work_id for given, work_id in by if given == before] or [work_id for _, work_id in by]

    def _is_sure_author(self, name: re.Match[str]) -> bool:
        """Whether the first name stands before a family name, or it is no word: not where Hope or Swift is read."""
        given = [given for given, _ in self._authors[name[0]]]
        return _word_before(name) in given or not self._is_common(name[0])

    def _is_sure(self, title: re.Match[str], text: str) -> bool:
        set_apart = _SET_APART.search(text, 0, title.start()) is not None  # or said to be in it
        return set_apart or " " in title[0] or not self._is_common(title[0])

    def _is_common(self, word: str) -> bool:
        """Whether works use a word that do not have it for a title."""
        if word not in self._common:
            number = self._works.vocabulary.get(spelt(word))
            places = np.flatnonzero(self._works.words == number) if number is not None else np.zeros(0, np.int64)
            owners = np.unique(np.searchsorted(self._works.first_word_of, places, "right") - 1)
            others = {self._works.works[at].id for at in owners} - set(self._titles.get(word, ()))
            self._common[word] = bool(others)
        return self._common[word]


def _plain(text: str) -> str:
    """Take the accents of Latin letters away: Bronte is Brontë; no letter moves.

    >>> _plain("Brontë がく")
    'Bronte がく'
    """
    plain = (unicodedata.normalize("NFD", letter)[0] for letter in text)
    return "".join(base if base.isascii() else letter for base, letter in zip(plain, text, strict=True))


def _word_before(name: re.Match[str]) -> str:
    return re.split(r"\W+", name.string[: name.start()].rstrip())[-1]


def same_chapter(given: str, number: str, position: int) -> bool:
    """Whether a chapter as a draft gives it may be one with a printed number, or at this position from 1.

    >>> same_chapter("xii", "XII", 40), same_chapter("seven", "", 7), same_chapter("3", "IV", 4)
    (True, True, False)
    """
    value = number_value(given)
    return value is None or value in {number_value(number), position}


def _chapter(text: str) -> str:
    """Give the one chapter that a text names; empty for none or several, or where a volume may count its own."""
    if _VOLUME.search(text):
        return ""
    found = [name for name in _CHAPTER.findall(text) if number_value(name) is not None]
    return found[0] if len(found) == 1 else ""


def _around(text: str, at: Offsets) -> tuple[str, str]:
    """Give the sentence around a quotation, and the part behind it; of one set off, the sentence that leads in."""
    first = text.rfind("\n\n", 0, at[0]) + 1
    before = text[max(first, at[0] - _LONGEST) : at[0]]
    if not before.strip(" \n“\"‘'>"):
        earlier = text[max(0, first - _LONGEST) : first].rstrip()
        before = earlier[earlier.rfind("\n\n") + 1 :] + "\n"
    ends = [each.end() for each in _SENTENCE_ENDS.finditer(before)]
    last = text.find("\n\n", at[1])
    behind = text[at[1] : min(last if last >= 0 else len(text), at[1] + _LONGEST)]
    ended = _SENTENCE_ENDS.search(text[at[1] - 1 : at[1]] + behind)  # the stop may be the last of the quotation
    behind = behind[: max(0, ended.start() - 1)] if ended else behind
    before = before[ends[-1] if ends else 0 :]
    cited = [each.end() for each in _CITED_BEFORE.finditer(before)]
    return f"{before[cited[-1] if cited else 0 :]} {behind}", behind


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=lambda name: -len(name)))
    return re.compile(rf"(?<![^\W_])(?:{longest_first})(?![^\W_])" if longest_first else r"(?!)")
