"""Studies: their kinds and items, who answers them, and what came of it.

In the proxy task (RELiC, section 4) an item is a claim without its quotation, and three passages of which one is it.
`KINDS` has the others. Options are numbered from 1, as annotators see them; `CANNOT_DECIDE` is the number of no option.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from relic_core.domain.bounds import Count, Positive, Words, Year
from relic_core.domain.claims import MASK, Claim
from relic_core.domain.figures import Figure
from relic_core.domain.runs import Offsets
from relic_core.domain.sources import ANSWERS
from relic_core.domain.spans import Span
from relic_core.domain.windows import ContextSize
from relic_core.errors import BadRequest, StudyHeld, unknown_name

ID_LENGTH = 12
OPTIONS = 3

CANNOT_DECIDE = 0
"""The choice of somebody who would not choose."""

CHOICES = range(CANNOT_DECIDE, OPTIONS + 1)
LONGEST_TEXT = 10_000
LONGEST_NAME = 100
LONGEST_COMMENT = 4_000
LONGEST_SECONDS = 86_400.0
"""A day: an item that was left open longer counts as so long."""

MOST_WANTED = 1_000
WORDS_A_MINUTE = 238
"""Silent reading of English non-fiction (Brysbaert 2019, Journal of Memory and Language 109)."""

WORDS_A_SECOND = 15
"""Nobody reads faster: skimming is three to four times as fast as silent reading."""


MOST_WORDS = 1_000
"""A passage in which a span is marked has fewer, so that the two ends of the span are one number."""


def span_choice(first: int, last: int) -> int:
    """Write a span as a choice: its first and last word, counted from 1.

    >>> span_choice(4, 8), span_of(4_008)
    (4008, (3, 8))
    """
    return MOST_WORDS * first + last


def span_of(choice: int) -> tuple[int, int]:
    """Read a span from a choice: half-open, in words from 0."""
    first, last = divmod(choice, MOST_WORDS)
    return first - 1, last


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyKind:
    """What is asked of annotators.

    - `passages`: how many an item has; of three, one is right.
    - `labels`: what is chosen from, in the order of the choices, where it is not a passage; else empty.
    - `wanted`: annotators for each item, by default.
    """

    name: str
    label: str
    instructions: str
    passages: int
    labels: tuple[str, ...] = ()
    wanted: int = 3

    @property
    def is_proxy(self) -> bool:
        """Whether one of three passages is right, so that annotators are right or wrong."""
        return self.passages == OPTIONS

    @property
    def marks_spans(self) -> bool:
        """Whether a choice is a span of words."""
        return not self.is_proxy and not self.labels

    def allows(self, item: Item, choice: int) -> bool:
        """Whether a choice can be made at an item. A span holds the item's anchor."""
        if choice == CANNOT_DECIDE or not self.marks_spans:
            return choice in CHOICES
        start, end = span_of(choice)
        return 0 <= start < item.anchor <= end <= len(item.words)

    def choice_text(self, item: Item, choice: int) -> str:
        """Put a choice in words: the passage, the label or the words marked; empty for "cannot decide"."""
        if choice == CANNOT_DECIDE:
            return ""
        if self.marks_spans:
            start, end = span_of(choice)
            return " ".join(item.words[start:end])
        return self.labels[choice - 1] if self.labels else item.options[choice - 1].words


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A passage that an annotator may choose.

    - `address`: of its first sentence, for the reading room: "3.5.2".
    - `words`: as shown: line wraps of the file undone; lines of verse are parted by a line feed, paragraphs by an empty
      line.
    """

    span: Span
    at: Offsets
    address: str
    words: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What annotators are asked about; by the kind of the study it is one of these.

    - a claim whose quotation is missing, and three passages of which one is it;
    - a claim with its quotation, the one option;
    - a passage, the one option, and in `right` the passages that it is said to allude to, one a line.

    - `book`, `work_id`: key of the work in its study, and id of the work as the ranking named it.
    - `right_option`: number of the quotation; 0 where no option is right or wrong.
    - `source`: where the claim was written, in words; may be empty.
    - `anchor`: number of the word, from 1, that a span holds; 0 where none is marked.

    Raises BadRequest: neither one passage nor three of one length apart from each other; no such option or word.
    """

    id: Words
    book: Words
    work_id: str
    left: str
    right: str
    options: tuple[Option, ...]
    right_option: Count
    chooser: str
    gold_rank: Count
    kind: str = ""
    source: str = ""
    anchor: Count = 0

    def __post_init__(self) -> None:
        spans = sorted(self.spans)
        apart = all(not a.overlaps(b) for a, b in pairwise(spans))
        lengths = {span.length for span in spans}
        if len(spans) == 1:
            words = len(self.words)
            good = self.right_option == 0 and 0 <= self.anchor <= words and (not self.anchor or words < MOST_WORDS)
        else:
            good = len(spans) == OPTIONS and self.right_option in CHOICES[1:] and self.anchor == 0
        if len(lengths) != 1 or not apart or not good:
            raise BadRequest(
                f"Item '{self.id}' cannot be: it needs {OPTIONS} passages of one length that do not overlap, and the "
                f"right option 1, 2 or 3; or one passage, which has fewer than {MOST_WORDS:,} words where one is its "
                f"anchor. Given were {self.spans}, {self.right_option} and {self.anchor}."
            )

    @property
    def words(self) -> list[str]:
        """The words of the first option, as they are counted."""
        return self.options[0].words.split()

    @property
    def content(self) -> dict[str, Any]:
        """The item as plain data; what is left at its default since it was added is not in it."""
        found = asdict(self)
        if not self.anchor:
            del found["anchor"]
        return found

    @property
    def spans(self) -> tuple[Span, ...]:
        """The sentences of the options, in their order."""
        return tuple(option.span for option in self.options)

    @property
    def gold(self) -> Option:
        """The option that the critic quoted; the only one where there are no others."""
        return self.options[self.right_option - 1]

    @property
    def claim(self) -> Claim:
        """What a retriever is asked with."""
        return Claim(left=self.left, right=self.right, masked=True)

    @property
    def claim_text(self) -> str:
        """The critic's words with a mask for the quotation."""
        return f"{self.left} {MASK} {self.right}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyWork:
    """A work of a study: which text of it, and how its sentences were cut.

    - `key`: as items name it: a slug of the catalogue where the work has one, else its id.
    - `author`: may be empty.
    - `sha256`, `fingerprint`: of its text, and of its text and sentences (`Work.sha256`, `Work.fingerprint`); empty
      where no work of the library is needed, since the items hold all that is read.
    """

    key: Words
    title: str
    author: str
    year: Year | None
    sha256: str
    fingerprint: str
    segmenter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """How the items of a study came about; see `StudyRequest` for what was wanted.

    - `benchmark`: its name, or that of the file of pairs.
    - `split`: of the benchmark: what its windows may be used for.
    - `windows`, `left_out`: how many there were to choose from, and how many of them could not become items.
    - `shared`: in a divided study the number of items that all annotators answer; 0 where they answer all.
    - `alone`: whether its claims have no gap; None where its items show that.
    """

    benchmark: str
    split: str
    lengths: tuple[Positive, ...]
    shape: ContextSize
    chooser: str
    chooser_configuration: Mapping[str, str] = field(hash=False)
    beyond: Count
    seed: int
    windows: Count
    left_out: Count
    code: str
    kind: str = "proxy"
    shared: Count = 0
    alone: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A named, seeded set of items; it never changes. What may change is in `StudyTerms`.

    - `id`: see `study_id`: the same study has the same id everywhere.
    - `earlier`: id of the version that it was made from; empty for the first.
    - `items`: in an order of their own; each annotator has another.
    """

    id: Words
    name: Words
    version: Positive
    earlier: str
    works: tuple[StudyWork, ...]
    items: tuple[Item, ...] = field(repr=False)
    making: Making
    created: datetime

    @property
    def label(self) -> str:
        """Its name, with its version where it is not the first."""
        return study_label(self.name, self.version)

    @property
    def kind(self) -> StudyKind:
        """What is asked of annotators. Raises BadRequest: this program knows no such kind."""
        return study_kind(self.making.kind)

    @property
    def claims_alone(self) -> bool:
        """Whether its items are claims without a gap: where its record is silent, if words after one were to be had."""
        if self.making.alone is not None:
            return self.making.alone
        return self.kind.is_proxy and self.making.shape.right > 0 and not any(item.right for item in self.items)

    @property
    def asks(self) -> str:
        """The question at each item."""
        return "Which passage does the claim speak of?" if self.claims_alone else self.kind.label

    @property
    def shared(self) -> tuple[str, ...]:
        """Ids of the items that all annotators answer: all, unless it is divided."""
        return self._drawn[: self.making.shared or None]

    @property
    def division(self) -> str:
        """How a divided study is read and counted, in two sentences; empty for others."""
        shared, every = self.making.shared, len(self.items)
        if not shared:
            return ""
        return (
            f"This study is divided: {shared:,} of its {every:,} items, drawn by chance, are read by all readers, and "
            f"each of the other {every - shared:,} by one. Agreement and majorities are computed on the {shared:,} "
            "alone; how often people and models are right, on all."
        )

    def parts(self, readers: int) -> list[tuple[str, ...]]:
        """Deal the items that not all read to so many readers, to each as many, or one more."""
        dealt = self._drawn[self.making.shared :] if self.making.shared else ()
        return [dealt[at :: max(1, readers)] for at in range(max(1, readers))]

    @property
    def _drawn(self) -> tuple[str, ...]:
        return in_order(self.making.seed, "shared", tuple(item.id for item in self.items))

    def item(self, item_id: str) -> Item | None:
        """Give an item; None where the study has none of that id."""
        return next((item for item in self.items if item.id == item_id), None)

    def work(self, key: str) -> StudyWork:
        """Give the work of an item by its key."""
        return next(work for work in self.works if work.key == key)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyTerms:
    """What a study asks of annotators and tells them: the last of each kept text.

    - `instructions`: what is to be done; frozen with the first answer.
    - `wanted`: annotators for each item: one that has so many is not given to others; 0 gives everybody every item. In
      a divided study, for each item that all read: the others are dealt to so many. Frozen with the first answer.
    - `consent`: what an annotator agrees to before the first item.
    - `revealed`: whether annotators see, after each answer, which option was the critic's.
    - `runner`: who runs the study, and how they are reached; may be empty, and does not go with the file of a study.
    """

    instructions: str
    wanted: Count
    consent: str
    privacy: str
    revealed: bool
    runner: str = ""


_PROXY = StudyKind(
    name="proxy",
    label="Which passage did the critic quote?",
    instructions=(
        "You will read a passage of criticism from which a quotation has been taken out, and three passages of the "
        "work that it speaks of. One of them is what the critic quoted. Choose the one that belongs in the gap. Go by "
        "what the critic says, not by words that happen to occur on both sides. If you cannot decide, say so. You may "
        "go back, and change an answer; the last one counts."
    ),
    passages=OPTIONS,
)
CLAIMS_ALONE = (
    "You will read a claim about a work, and three passages of the work. One of them is what the claim speaks of. "
    "Choose that one. Go by what is claimed, not by words that happen to occur on both sides. If you cannot decide, "
    "say so. You may go back, and change an answer; the last one counts."
)
"""Instructions of a proxy task whose claims are short ones, with no quotation missing from them."""

KINDS = (
    _PROXY,
    StudyKind(
        name="span",
        label="How much is the allusion?",
        instructions=(
            "You will read a passage, and what it is said to allude to. One word of the passage is marked already. "
            "Mark the shortest run of words around it that holds the whole allusion: no word that you could leave out "
            "without losing something of it. If you see no allusion, or cannot say how far it goes, say so. You may go "
            "back, and change an answer; the last one counts."
        ),
        passages=1,
    ),
    StudyKind(
        name="evidence",
        label="What is the quotation used for?",
        instructions=(
            "You will read a passage of criticism with a quotation in it. Say what the quotation is there for. “A "
            "claim”: the critic argues something about the work, and the words around the quotation speak of what is "
            "quoted. “A paraphrase”: the critic retells what happens, and makes no argument about what is quoted. "
            "“Something else”: it is no criticism of the work, or the print is damaged. Go by the words before you, "
            "not by what you know of the critic. You may go back, and change an answer; the last one counts."
        ),
        passages=1,
        labels=ANSWERS["evidence"],
        wanted=2,
    ),
)
"""The proxy task; the extent of an allusion (Manjavacas, Long and Kestemont 2019, section 5); kinds of evidence (RELiC,
section 2.3)."""


def study_kind(name: str) -> StudyKind:
    """Give a kind of study by its name. Raises BadRequest: there is none."""
    found = next((kind for kind in KINDS if kind.name == name), None)
    if found is None:
        raise unknown_name("kind of study", name, [kind.name for kind in KINDS])
    return found


DEFAULT_TERMS = StudyTerms(
    instructions=_PROXY.instructions,
    wanted=_PROXY.wanted,
    consent=(
        "I take part of my own free will, and I can stop at any time. I agree that my answers, my comments and the "
        "time that each answer takes are kept and evaluated for this study, and that figures and answers may be "
        "published without my name."
    ),
    privacy=(
        "Kept are the name or code that you give, your choices, your comments, and how long each item was before you. "
        "They are kept in one file on the computer that runs this program, and the program sends them nowhere. Your "
        "browser remembers who answers until it is closed, and a comment that you have not sent until you send it. A "
        "code does as well as a name. The person who runs this study removes all of it from that file if you ask."
    ),
    revealed=False,
)
"""What a study tells annotators where its owner says nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRequest:
    """What study is wanted.

    - `kind`: one of `KINDS`.
    - `benchmark`: whose windows; empty for those that were mined from the reader's own sources.
    - `works`: only windows on these: keys of the benchmark, ids or titles; all where empty.
    - `lengths`: sentences of a quotation; any where empty.
    - `beyond`: only windows whose quotation it ranks behind this place; 0 for all (RELiC, section 4: 1,000).
    - `most`: how many items at most, drawn by the seed; 0 for all.
    - `seed`: decides the draw, the order of the options, and each annotator's order of the items.
    - `wanted`, `instructions`, `consent`, `privacy`: in place of those of the kind and of `DEFAULT_TERMS`.
    - `owner`: the code of who runs it, sealed; empty where its results are open to everybody.
    - `shared`: makes a divided study, of the proxy task: as many items are read by all `wanted` annotators, each of the
      others by one; 0 for a study in which all read all.
    """

    name: str
    benchmark: str = ""
    works: tuple[str, ...] = ()
    lengths: tuple[int, ...] = (1,)
    shape: str = "4/4"
    chooser: str = "bm25"
    beyond: int = 0
    most: int = 0
    seed: int = 0
    wanted: int | None = None
    instructions: str = ""
    consent: str = ""
    privacy: str = ""
    owner: str = ""
    kind: str = "proxy"
    shared: int = 0

    @property
    def terms(self) -> StudyTerms:
        """What annotators read. Raises BadRequest as `check_terms`."""
        kind = study_kind(self.kind)
        given = {name: text for name in ("instructions", "consent", "privacy") if (text := getattr(self, name))}
        terms = replace(
            DEFAULT_TERMS,
            wanted=kind.wanted if self.wanted is None else self.wanted,
            **{"instructions": kind.instructions, **given},
        )
        check_terms({**given, "wanted": terms.wanted}, shared=self.shared)
        return terms


@dataclass(frozen=True, slots=True, kw_only=True)
class WorksFound:
    """The works of a study in the library.

    - `stored`: by the study's key of a work the id of the stored one.
    - `held`: for each that is not there as it was a sentence that says which, and what to do.
    """

    stored: Mapping[str, str] = field(default_factory=dict)
    held: tuple[str, ...] = ()

    def check(self, study: Study) -> None:
        """Refuse to go on with a study whose works are not here.

        Raises StudyHeld: some are missing or of another edition.
        """
        if self.held:
            raise StudyHeld(f"The study {study.label} is held back. {' '.join(self.held)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyView:
    """A study as it stands now.

    - `frozen`: whether there are answers, so that instructions and annotators wanted stay as they are.
    - `annotators`, `answers`: who has joined; answers ever given.
    - `stored`, `held`: see `WorksFound`; nobody can begin while something is held.
    - `later`: id of the next version, where there is one; else empty.
    """

    study: Study
    terms: StudyTerms
    frozen: bool
    annotators: int
    answers: int
    stored: Mapping[str, str]
    held: tuple[str, ...]
    later: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """Somebody who answers the items of one study.

    - `id`: drawn by chance: it says nothing of the name.
    - `joined`: in UTC; with it they agreed to the consent text of that time.
    """

    id: str
    name: str
    joined: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one annotator answered to one item; of several the last counts, and all are kept.

    - `number`: its place among all answers of the study, from 1; 0 before it is kept.
    - `seconds`: how long the item was before the annotator's eyes.
    """

    number: int = 0
    item_id: str
    annotator_id: str
    choice: int
    seconds: float
    comment: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """What one retriever answered to the items of a study.

    - `id`: digest of what decides the answers: the study, the retriever and its configuration.
    - `retriever`, `label`: registered name, and what tables call it.
    - `choices`: by item the number of the option that it ranks best; `CANNOT_DECIDE` where it has no ranking.
    - `ranks`: by item where it ranks the quotation among all passages of the work; 0 where it has no ranking.
    """

    id: str
    study_id: str
    retriever: str
    label: str
    configuration: Mapping[str, str] = field(hash=False)
    choices: Mapping[str, int] = field(hash=False, repr=False)
    ranks: Mapping[str, int] = field(hash=False, repr=False)
    code: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """What was answered to one item.

    - `work_id`: of the stored work, for links; empty where it is not in the library.
    - `answered`, `cannot`: people who answered; who could not decide.
    - `votes`: how many chose each option or label; all 0 where spans are marked.
    - `majority`: the option or label that more than half of those who answered chose, two at least; of spans the one
      that overlaps all others most; 0 for none.
    - `choices`: of all who decided.
    - `seconds`: the median; 0 where nobody answered.
    - `models`: by label the option that each retriever chose; 0 for none.
    - `too_fast`: how many answered before they could have read it; see `too_fast`.
    - `judged`: what people say of the passages in the quotation's place (`CODES` of the diagnosis), each as often.
    """

    item: Item
    number: int
    title: str
    work_id: str
    answered: int
    cannot: int
    votes: tuple[int, ...]
    majority: int
    seconds: float
    models: Mapping[str, int] = field(hash=False)
    comments: tuple[str, ...]
    too_fast: int = 0
    choices: tuple[int, ...] = ()
    judged: tuple[str, ...] = ()

    @property
    def right(self) -> int:
        """How many people chose the quotation; none where there is no right or wrong."""
        return self.votes[self.item.right_option - 1] if self.item.right_option else 0

    @property
    def share(self) -> float | None:
        """Right among answered; None where nobody answered, or there is no right or wrong."""
        return self.right / self.answered if self.answered and self.item.right_option else None

    @property
    def wrong_models(self) -> tuple[str, ...]:
        """The labels of the retrievers that did not choose the quotation."""
        return tuple(label for label, choice in self.models.items() if choice != self.item.right_option)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure of agreement between people.

    - `value`: None where it cannot be computed.
    - `meaning`: what it says, for a reader who is not a statistician, or why it cannot be computed.
    - `chance`: what a share would be if everybody chose by chance.
    """

    key: str
    label: str
    value: float | None
    meaning: str
    chance: float | None = None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of items, and not a coefficient that has chance taken out."""
        return self.key.endswith(("agree", "overlap"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonResult:
    """How one annotator did.

    - `answered`, `right`, `cannot`: items answered; rightly; with "cannot decide".
    - `accuracy`: right among answered, "cannot decide" counted as not right; None before the first answer.
    - `seconds`: of an item, the median; 0 before the first answer.
    - `too_fast`: items answered before they could have been read; see `too_fast`.
    """

    annotator: Annotator
    answered: int
    right: int
    cannot: int
    accuracy: Figure | None
    seconds: float
    too_fast: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MajorityResult:
    """How people did together: an item is right where more than half of those who answered it chose the quotation.

    In studies where nothing is right or wrong `none` alone says anything.

    - `items`: those that two people or more have answered.
    - `right`, `wrong`, `none`: of these: a majority for the quotation, for another passage, for none.
    - `accuracy`: right among `items`; None where there are none.
    """

    items: int
    right: int
    wrong: int
    none: int
    accuracy: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """How one retriever did on all items of the study.

    - `accuracy`: none where it has not answered, or is left out.
    - `mark`: what has to be known of its answers: that it chose the other options, or is built on what did.
    - `server`: whether it is a language model on a server.
    """

    retriever: str
    label: str
    accuracy: Figure | None
    mark: str
    left_out: bool
    created: datetime | None
    server: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResults:
    """What came of a study.

    - `singly`: of a divided study, how often people were right on all items, each counting the same.
    - `agreement`: measures of how far people agree, shares of items the last of them.
    - `figures`: measures by their keys as they are read, with intervals where these can be had; lacks those that have
      no value.
    - `paradox`: why Fleiss' kappa is low although people agree, where that is so; empty else.
    - `items`: the hardest for people first, then those nobody has answered.
    - `missed_by_models`: those that everybody, two at least, got right and some model did not (RELiC, Table 5).
    - `intervals`, `notes`: how the intervals, and all figures, were come by.
    """

    study: Study
    people: tuple[PersonResult, ...]
    majority: MajorityResult
    agreement: tuple[Measure, ...]
    figures: Mapping[str, Figure] = field(hash=False)
    paradox: str
    models: tuple[ModelResult, ...]
    items: tuple[ItemResult, ...]
    missed_by_models: tuple[ItemResult, ...]
    intervals: str
    notes: tuple[str, ...]
    singly: Figure | None = None


def too_fast(study: Study, answers: Iterable[Answer]) -> set[tuple[str, str]]:
    """Say who answered which items before all that is shown could have been read: ids of annotator and item.

    - `answers`: all that were given, since who comes back to an item has read it before.
    """
    shown = _words_shown(study)
    spent: dict[tuple[str, str], float] = {}
    for answer in answers:
        key = answer.annotator_id, answer.item_id
        spent[key] = spent.get(key, 0.0) + answer.seconds
    return {key for key, seconds in spent.items() if seconds * WORDS_A_SECOND < shown[key[1]]}


def reading_minutes(study: Study, readers: int = 1) -> int:
    """Give how long it takes one reader to read all their items once, at the pace of silent reading; see `Study.parts`.

    - `readers`: how many share a divided study; of them the one who has most to read counts.
    """
    shown = _words_shown(study)
    most = max(sum(shown[each] for each in part) for part in study.parts(readers))
    return math.ceil((sum(shown[each] for each in study.shared) + most) / WORDS_A_MINUTE)


def items_each(study: Study, readers: int) -> int:
    """Give how many items one of so many readers has."""
    return len(study.shared) + len(study.parts(readers)[0])


def part_of(study: Study, readers: int, annotator_id: str, *, joined: Iterable[str], answers: Iterable[Answer]) -> int:
    """Say which part of a divided study is an annotator's; it is computed, so that nobody holds one by joining alone.

    It is the part of which they have answered most. Others get, in the order in which they joined, the part that the
    fewest have, of such the one of which most is still open: what somebody left undone goes to the next who comes.
    """
    parts = study.parts(readers)
    of: dict[str, int] = {}
    for at, part in enumerate(parts):
        of |= dict.fromkeys(part, at)
    known = [answer for answer in answers if answer.item_id in of]
    answered = {answer.item_id for answer in known}
    left = Counter(of.values()) - Counter(of[item_id] for item_id in answered)
    counts: dict[str, Counter[int]] = {}
    for answer in known:
        counts.setdefault(answer.annotator_id, Counter())[of[answer.item_id]] += 1
    held = {who: own.most_common(1)[0][0] for who, own in counts.items()}
    for who in joined:
        if who not in held:
            taken = Counter(held.values())
            held[who] = min(range(len(parts)), key=lambda at, taken=taken: (taken[at], -left[at]))  # type: ignore[misc]
    return held[annotator_id]


def _words_shown(study: Study) -> dict[str, int]:
    return {
        item.id: len(" ".join((item.left, item.right, *(option.words for option in item.options))).split())
        for item in study.items
    }


def study_id(*, name: str, version: int, seed: int, items: tuple[Item, ...], shared: int = 0) -> str:
    """Digest what makes a study the study it is."""
    facts: list[Any] = [name, version, seed, [item.content | {"work_id": ""} for item in items]]
    facts += [shared] if shared else []
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:ID_LENGTH]


def study_label(name: str, version: int) -> str:
    """Name a study with its version where it is not the first.

    >>> study_label("Emma", 1), study_label("Emma", 2)
    ('Emma', 'Emma, version 2')
    """
    return name if version == 1 else f"{name}, version {version}"


def in_order(seed: int, salt: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Put names in an order drawn by a seed: by digests, because generators change from one version to the next.

    >>> in_order(1, "anna", ("a", "b", "c", "d")) == in_order(1, "anna", ("d", "c", "b", "a"))
    True
    """
    return tuple(sorted(names, key=lambda name: hashlib.sha256(f"{seed}\n{salt}\n{name}".encode()).digest()))


def check_terms(changes: Mapping[str, str | int | bool], *, shared: int = 0) -> None:
    """Check what a study is to ask and tell, by the names of `StudyTerms`.

    - `shared`: items that all read, where it is divided.

    Raises BadRequest: a text is too long, as many annotators cannot be, or there is no such text.
    """
    for name, value in changes.items():
        if name in {"instructions", "consent", "privacy", "runner"}:
            if len(str(value)) > LONGEST_TEXT:
                raise BadRequest(
                    f"The {name} of a study may have {LONGEST_TEXT:,} characters, and this has {len(str(value)):,}. "
                    "Shorten it."
                )
        elif name == "wanted":
            if not 0 <= int(value) <= MOST_WANTED:
                raise BadRequest(
                    f"{value} annotators for each item cannot be: give a number up to {MOST_WANTED:,}, or 0 to give "
                    "everybody every item."
                )
            if shared and int(value) < 2:  # noqa: PLR2004 - people who can agree
                raise BadRequest(
                    f"A divided study is dealt to 2 readers or more, and {value} are wanted: name another number, or "
                    "make a study in which all read all."
                )
        elif name != "revealed":
            raise BadRequest(
                f"A study has no '{name}' that can be changed. It has: instructions, wanted, consent, privacy, "
                "revealed, runner. Another name, works or items make another study, or a new version."
            )


def checked_name(what: str, name: str) -> str:
    """Check the name of a study or an annotator, without the spaces around it; kept to the letter else.

    Raises BadRequest: it is empty, too long, or holds line breaks or other characters that cannot be seen.
    """
    trimmed = name.strip()
    if not trimmed or len(trimmed) > LONGEST_NAME or not trimmed.isprintable():
        raise BadRequest(
            f"{what} needs a name or a code of 1 to {LONGEST_NAME} characters on one line, and {len(trimmed)} were "
            "given, or some that cannot be shown. Write another."
        )
    return trimmed
