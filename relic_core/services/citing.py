"""Citing: what is known of editions, corrected by the scholar, and citations of works and passages."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from relic_core.domain import Address, CitedWork, EditionDetails, Span
from relic_core.errors import BadRequest
from relic_core.library.edition_details import over, said_by
from relic_core.reporting.citations.locators import locate
from relic_core.reporting.citations.quoting import quote
from relic_core.reporting.citations.styles import cite
from relic_core.reporting.passages import quotation
from relic_core.text.decoding import harmless

if TYPE_CHECKING:
    from collections.abc import Collection

    from relic_core.domain import Place, Work, WorkSummary
    from relic_core.reporting.citations.locators import Locator
    from relic_core.reporting.citations.quoting import Quoted
    from relic_core.reporting.citations.styles import Cited
    from relic_core.reporting.passages import Passage
    from relic_core.wiring import App

_LONGEST = 300
_LONGEST_URL = 2_000
_FIRST_YEAR = 1_000
_MOST_VOLUMES = 1_000
_URL = re.compile(r"https?://[^\s<>\"]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A work or a passage with what a page shows of citing it.

    - `forms`: all forms of the style, the entry of its list last.
    - `locator`: where the passage stands; None where the work is cited.
    - `place`: the same, for a reader.
    - `quoted`: its words as a text quotes them, with the citation behind them.
    """

    work: CitedWork
    forms: tuple[Cited, ...]
    locator: Locator | None = None
    place: Place | None = None
    quotation: Passage | None = None
    quoted: Quoted | None = None

    @property
    def written(self) -> tuple[Quoted | Cited, ...]:
        """All that is there to be copied, in the order in which it is needed."""
        return (*((self.quoted,) if self.quoted else ()), *self.forms)


class Citing:
    """Cites the works of an app."""

    def __init__(self, app: App) -> None:
        self._app = app

    def work(self, work_id: str) -> CitedWork:
        """Give a work as it is cited, also one that was removed.

        Raises NotFound: there never was such a work.
        """
        return self._cited([self._app.works.described(work_id)])[work_id]

    def works(self, work_ids: Collection[str]) -> dict[str, CitedWork]:
        """Give works as they are cited, by id, removed ones too; those that never were are left out."""
        bench, wanted = self._app, set(work_ids)
        known = {each.id: each for each in (*bench.works.removed(), *bench.works.summaries()) if each.id in wanted}
        return self._cited(known.values())

    def describe(self, work_id: str, details: EditionDetails) -> CitedWork:
        """Correct the details of an edition; what was said before stays in the store, and the last counts.

        Raises BadRequest: something is too long, or a year, a number of volumes or an address that cannot be.
        Raises NotFound: no stored work has that id.
        """
        works = self._app.works
        checked = check_details(details)
        if work_id not in {summary.id for summary in works.summaries()}:
            works.load(work_id)  # says what is not there
        if self.work(work_id).details != checked:
            self._app.store.edition_details.add(work_id, checked)
        return self.work(work_id)

    def learn(self, work_id: str, details: EditionDetails) -> None:
        """Take what the file of a work that was just added says of its edition, over what its source says."""
        if details != EditionDetails():
            derived = self.work(work_id).details
            added = self._app.works.described(work_id).added.date()
            self._app.store.edition_details.add(work_id, over(details, derived, added))

    def citation(self, work_id: str, style: str, *, at: str = "", length: int = 1) -> Citation:
        """Cite a work, or a passage of it.

        - `style`: one of `reporting.citations.styles.STYLES`.
        - `at`: address of the passage's first sentence; the whole work where empty.
        - `length`: sentences of the passage; those that the work has no more are left away.

        Raises NotFound: no stored work has that id, or it has no such place.
        Raises BadRequest: it is no address, no length or no style.
        """
        if not at:
            cited = self.work(self._app.works.load(work_id).id)
            return Citation(work=cited, forms=cite(cited, style))
        work = self._app.works.load(work_id)
        span = _span(work, at, length)
        cited, locator, place = self.work(work_id), locate(work, span), work.place(span)
        forms, words = cite(cited, style, locator), quotation(work, span)
        return Citation(
            work=cited,
            forms=forms,
            locator=locator,
            place=place,
            quotation=words,
            quoted=quote(words.plain, forms[0].runs, style, verse=place.line is not None),
        )

    def _cited(self, summaries: Collection[WorkSummary]) -> dict[str, CitedWork]:
        ids = [summary.id for summary in summaries]
        with self._app.store.works.together():
            corrected = self._app.store.edition_details.latest(ids)
            begun = self._app.store.works.begin([each for each in ids if each not in corrected])
        return {
            summary.id: CitedWork(
                id=summary.id,
                title=summary.title,
                author=summary.author,
                translator=summary.translator,
                year=summary.year,
                details=corrected.get(summary.id)
                or said_by(summary.source, begun.get(summary.id, ""), summary.added.date()),
            )
            for summary in summaries
        }


def check_details(details: EditionDetails) -> EditionDetails:
    """Make what a person says of an edition harmless.

    Raises BadRequest: something is too long, or cannot be.

    >>> check_details(EditionDetails(publisher=" Oxford  University Press ")).publisher
    'Oxford University Press'
    """
    words: dict[str, Any] = {}
    for field in fields(details):
        value = getattr(details, field.name)
        if not isinstance(value, str):
            continue
        longest = _LONGEST_URL if field.name == "url" else _LONGEST
        if len(value) > longest:
            raise BadRequest(f"The {field.name} has {len(value):,} characters; at most {longest:,} are allowed.")
        words[field.name] = harmless(value, longest=longest)
    latest = datetime.now(UTC).year + 1
    if details.year is not None and not _FIRST_YEAR <= details.year <= latest:
        raise BadRequest(
            f"{details.year} is no year of this edition; {_FIRST_YEAR} to {latest} is allowed. Leave it empty where it "
            "is not known."
        )
    if details.volumes is not None and not 1 <= details.volumes <= _MOST_VOLUMES:
        raise BadRequest(f"{details.volumes} is no number of volumes; give 1 to {_MOST_VOLUMES:,}, or leave it empty.")
    if words["url"] and not _URL.fullmatch(words["url"]):
        raise BadRequest(
            f"'{words['url'][:80]}' is no address. Write it in full, with https:// at its beginning, or leave it empty."
        )
    if details.accessed is not None and details.accessed > date.today():  # noqa: DTZ011 - the reader's own day
        raise BadRequest(
            f"The date of access, {details.accessed}, is still to come. Give the day on which you read it."
        )
    return replace(details, **words)


def _span(work: Work, at: str, length: int) -> Span:
    if length < 1:
        raise BadRequest(f"A passage of {length} sentences cannot be cited; give 1 or more.")
    first = work.sentence_at(Address.parse(at))
    return Span(first, min(length, len(work.sentences) - first))
