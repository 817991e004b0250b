"""Drafts: a writer's own text, and what came of checking each of its quotations against the library."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from relic_core.domain.runs import Offsets

CheckOutcome = Literal["to the letter", "altered", "elsewhere", "critic", "not found", "too short"]
"""What a check comes to. "Critic" is in criticism alone. "Not found" is of the library: nobody knows what other books
hold."""

Excuse = Literal["", "edition", "ellipsis", "pronoun", "capital"]
"""Why a difference may be no mistake: another edition's spelling, words left out without an ellipsis, a pronoun or a
capital changed without brackets."""

Naming = Literal["", "sentence", "citation", "running"]
"""Where a draft names the work it quotes: in the sentence, in the citation behind it, or last before "(182)"."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A writer's text; what is set off in it is indented by four spaces.

    - `name`: of its file; empty where it was pasted.
    - `notice`: what of the file was not read; empty where all was.
    """

    text: str
    name: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Words of a quotation and those of the work; one of the two may be empty."""

    ours: str
    theirs: str
    excuse: Excuse = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPlace:
    """Where a quotation, or what comes nearest to it, stands.

    - `at`, `length`: address of its first sentence and number of sentences, as links to Read have them.
    - `offsets`: in the text of the work.
    - `words`: its sentences to the letter, white space made single.
    - `citation`: what stands behind a quotation in the text, by style.
    """

    work_id: str
    title: str
    edition: str
    at: str
    length: int
    place: str
    offsets: Offsets
    words: str
    citation: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticPlace:
    """Where criticism has a quotation.

    - `share`: of the source that is before it, 0-1.
    - `words`: of the sentence in which it begins.
    - `quoted`: whether the source quotes it itself.
    """

    source_id: str
    title: str
    author: str
    share: float = 0.0
    words: str = ""
    quoted: bool = False

    @property
    def label(self) -> str:
        """Name the source.

        >>> CriticPlace(source_id="", title="Essays", author="A. Lee").label
        'Essays by A. Lee'
        """
        return f"{self.title} by {self.author}" if self.author else self.title

    @property
    def place(self) -> str:
        """Say how far into the source it is."""
        return f"{self.share:.0%} into it"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotationCheck:
    """A quotation of a draft and what came of its check.

    - `at`: offsets in the text of the draft, without the outer marks; `words` are its words, cleaned.
    - `marked`: whether it stands between marks or is set off.
    - `found`: where it is; of one that has no place (`is_placed`), what comes nearest, if anything does.
    - `named`, `naming`: titles of the works that the draft names for it, and where it does.
    - `missing`: a name in its citation that no work of the library has.
    - `differences`: from what `found` has, in the order of the quotation.
    - `claim`: its sentence with a gap in its place.
    - `chapter`: the chapter that the draft gives, where it is in another.
    - `points`: pairs of words between which its punctuation is not the work's.
    - `critic`: where criticism has it; of one that was not found, the source whose author its citation names.
    - `cut`: a negation that stands just before it in the work, and neither in it nor before it in the draft.
    """

    at: Offsets
    words: str
    outcome: CheckOutcome
    marked: bool = True
    found: FoundPlace | None = None
    named: tuple[str, ...] = ()
    naming: Naming = ""
    missing: str = ""
    differences: tuple[Difference, ...] = ()
    claim: str = ""
    chapter: str = ""
    cut: str = ""
    points: tuple[Difference, ...] = ()
    critic: CriticPlace | None = None

    @property
    def is_placed(self) -> bool:
        """Whether it is known where it stands."""
        return self.outcome not in {"not found", "too short"}

    @property
    def outcomes(self) -> tuple[CheckOutcome, ...]:
        """All that it counts as: what is from elsewhere, or a critic's, may be altered as well."""
        altered = self.outcome in {"elsewhere", "critic"} and bool(self.differences)
        return (self.outcome, "altered") if altered else (self.outcome,)

    @property
    def summed(self) -> str:
        """Its outcomes, as a summary puts them."""
        return " and ".join(map(SUMMED.__getitem__, self.outcomes))


@dataclass(frozen=True, slots=True)
class ChosenPassage:
    """A passage that the writer chose for a place of the draft: where its paragraph or its quotation begins."""

    at: int
    found: FoundPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftReport:
    """What came of checking a draft.

    - `searched`: works that were looked in.
    - `unquoted`: offsets of the paragraphs that say something of a work and quote nothing.
    - `chosen`: in the order in which they were chosen.
    - `notices`: on the draft as a whole, in sentences.
    """

    draft: Draft
    checks: tuple[QuotationCheck, ...]
    searched: int
    unquoted: tuple[Offsets, ...] = ()
    chosen: tuple[ChosenPassage, ...] = ()
    notices: tuple[str, ...] = ()

    def chosen_at(self, start: int) -> tuple[FoundPlace, ...]:
        """List what was chosen for a place."""
        return tuple(each.found for each in self.chosen if each.at == start)

    @property
    def summary(self) -> str:
        """How many quotations there are, and what came of them.

        >>> check = QuotationCheck(at=(0, 1), words="", outcome="altered")
        >>> DraftReport(draft=Draft(""), checks=(check,), searched=1).summary
        '1 quotation: 1 altered'
        """
        counts = Counter(chain.from_iterable(check.outcomes for check in self.checks))
        parts = ", ".join(f"{counts[outcome]:,} {words}" for outcome, words in SUMMED.items() if counts[outcome])
        total = f"{len(self.checks):,} quotation{'s' * (len(self.checks) != 1)}"
        twice = counts.total() - len(self.checks)
        parts += f" ({twice:,} count{'s' * (twice == 1)} twice)" * bool(twice)
        return f"{total}: {parts}" if parts else "No quotations"


SUMMED: dict[CheckOutcome, str] = {
    "to the letter": "to the letter",
    "altered": "altered",
    "elsewhere": "from elsewhere than named",
    "critic": "in your criticism",
    "not found": "not found in your library",
    "too short": "too short to tell",
}
"""How a summary puts each outcome."""
