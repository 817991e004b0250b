"""Citing: what is known of editions, corrected by the scholar, and citations of works and passages."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from relic_core.domain import CitedWork, EditionDetails, Place, Work, WorkSummary
from relic_core.errors import BadRequest
from relic_core.library.edition_details import check_details, derive_details, over
from relic_core.reporting.citations.locators import Locator, locate
from relic_core.reporting.citations.quoting import QuotedText, quote
from relic_core.reporting.citations.styles import Cited, cite
from relic_core.reporting.passages import Passage, printed_passage, quotation
from relic_core.store.works import EditionDetailsRows, WorkRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A work or a passage with what a page shows of citing it.

    - `locator`, `place`: where the passage stands, for a citation and for a reader; None where the work is cited.
    """

    work: CitedWork
    forms: tuple[Cited, ...]
    locator: Locator | None = None
    place: Place | None = None
    quotation: Passage | None = None
    quoted: QuotedText | None = None

    @property
    def written(self) -> tuple[QuotedText | Cited, ...]:
        """All that is there to be copied, in the order in which it is needed."""
        return (*((self.quoted,) if self.quoted else ()), *self.forms)


def guess(work: CitedWork) -> str:
    """Say what of a citation was guessed and how it is confirmed.

    >>> work = CitedWork(id="x", title="The Ferry", author="Mara Quill", year=1848, guessed="author, year")
    >>> guess(work).partition(". ")[0]
    'The author (Mara Quill) and the year (1848) are guesses from the words of the file'
    """
    names = work.guessed.split(", ")
    fields = " and ".join(f"the {name} ({getattr(work, name)})" for name in names)
    are = "are guesses" if len(names) > 1 else "is a guess"
    return (
        f"{fields[:1].upper()}{fields[1:]} {are} from the words of the file. Check this; “Correct details” and “Save” "
        "on the page of the work confirm it."
    )


class Citing:
    """Cites works, also those that were removed."""

    def __init__(self, rows: WorkRows, details: EditionDetailsRows, load: Callable[[str], Work]) -> None:
        self._rows, self._details, self._load = rows, details, load

    def work(self, work_id: str) -> CitedWork:
        """Give a work as it is cited, also one that was removed. Raises NotFound: there never was such a work."""
        return self._cited([self._rows.described(work_id)])[work_id]

    def works(self, work_ids: Collection[str]) -> dict[str, CitedWork]:
        """Give works as they are cited, by id, removed ones too; those that never were are left out."""
        wanted = set(work_ids)
        known = {each.id: each for each in (*self._rows.removed(), *self._rows.summaries()) if each.id in wanted}
        return self._cited(known.values())

    def describe(self, work_id: str, details: EditionDetails) -> CitedWork:
        """Correct the details of an edition; what was said before stays in the store, and the last counts."""
        checked = check_details(details)
        if work_id not in {summary.id for summary in self._rows.summaries()}:
            self._load(work_id)  # says what is not there
        if self.work(work_id).details != checked:
            self._details.add(work_id, checked)
        return self.work(work_id)

    def learn(self, work_id: str, details: EditionDetails) -> None:
        """Take what the file of a work that was just added says of its edition, over what its source says."""
        if details != EditionDetails():
            derived = self.work(work_id).details
            added = self._rows.described(work_id).added.date()
            self._details.add(work_id, over(details, derived, added))

    def citation(
        self, work_id: str, style: str, *, at: str = "", length: int = 1, as_printed: bool = False
    ) -> Citation:
        """Cite a work, or its passage that begins `at` an address; sentences beyond its end are left away.

        - `as_printed`: the quotation has the dashes and quotation marks of print; otherwise it is to the letter.
        """
        work = self._load(work_id)
        if not at:
            cited = self.work(work_id)
            return Citation(work=cited, forms=cite(cited, style))
        if length < 1:
            raise BadRequest(f"A passage of {length} sentences cannot be cited; give 1 or more.")
        span = work.span_at(at, length)
        cited, locator, place = self.work(work_id), locate(work, span), work.place(span)
        forms, words = cite(cited, style, locator), quotation(work, span)
        return Citation(
            work=cited,
            forms=forms,
            locator=locator,
            place=place,
            quotation=words,
            quoted=quote(
                printed_passage(words).plain if as_printed else words.plain,
                forms[0].runs,
                style,
                verse=place.line is not None,
            ),
        )

    def _cited(self, summaries: Collection[WorkSummary]) -> dict[str, CitedWork]:
        ids = [summary.id for summary in summaries]
        with self._rows.together():
            corrected = self._details.latest(ids)
            begun = self._rows.begin([each for each in ids if each not in corrected])
        return {
            summary.id: CitedWork(
                id=summary.id,
                title=summary.title,
                author=summary.author,
                translator=summary.translator,
                year=summary.year,
                details=corrected.get(summary.id)
                or derive_details(summary.source, begun.get(summary.id, ""), summary.added.date()),
                guessed=summary.guessed,
            )
            for summary in summaries
        }
