"""Verdicts as an evaluation set: as examples in RELiC's JSON what supports a claim, or graded contexts to measure on.

An example is a claim with the passage that supports it. Its context is what stood before and after the mask; of a
claim without a mask, all of it stands before. At most four sentences on either side are taken, the nearest, as RELiC's
form has it. ``evaluate relic RETRIEVER --data FILE`` measures on it. Graded, a claim is one example for each work and
length of passage that was judged for it.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from relic_core.domain import MAX_CONTEXT, Note, QuotationContext, Span, Work
from relic_core.errors import BadRequest
from relic_core.formats import relic
from relic_core.formats.relic import Quote, RelicBook
from relic_core.text.masking import find_masks
from relic_core.text.sentences import sentences_of

GRADES = {"supports": 2.0, "unsure": 1.0, "contradicts": 0.0}
"""What a verdict counts for in a graded set."""

CONTRADICTS, UNSURE, UNJUDGED = "they contradict their claim", "you are unsure of them", "they have no verdict yet"
NO_ANSWER = "they only contradict their claim in their work"
NO_CLAIM = "they were kept without a claim"
NOT_HERE = "their work is not in your library as it was"
TOO_LONG = "they are longer than five sentences"
MOVED = "their work is cut into other sentences now"


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """A file of examples, and why how many notes were left out of it."""

    content: bytes = field(repr=False)
    examples: int
    works: int
    left_out: dict[str, int]

    @property
    def omissions(self) -> str:
        """What was left out, as `in_words`."""
        return in_words(self.left_out)


def sort_out(
    notes: Iterable[tuple[Note, str]], verdicts: Container[str] = ("supports",)
) -> tuple[dict[str, list[Note]], Counter[str]]:
    """Take the notes that can be examples, by the work they are read in now; count the others by why they cannot.

    - `notes`: each with the work in which its passage can be read as it was kept; empty where there is none.

    Nothing is loaded for it, so what it says is quick, and one thing is not looked at yet: where sentences end now.
    """
    by_work: dict[str, list[Note]] = {}
    left_out: Counter[str] = Counter()
    for note, work_id in notes:
        if why := _why_not(note, work_id, verdicts):
            left_out[why] += 1
        else:
            by_work.setdefault(work_id, []).append(note)
    return by_work, left_out


def make(notes: Iterable[tuple[Note, str]], load_works: Callable[[Iterable[str]], Mapping[str, Work]]) -> EvaluationSet:
    """Make the set of notes as `sort_out` takes them. Raises BadRequest: no note can be an example; it says why."""
    by_work, left_out = sort_out(notes)
    works = load_works(by_work)
    # Where two have one title, their ids tell them apart.
    counts = Counter(work.title for work in works.values())
    titles = {key: work.title if counts[work.title] == 1 else f"{work.title} ({key})" for key, work in works.items()}
    books = []
    for work_id in sorted(works, key=titles.__getitem__):
        book = _book(titles[work_id], works[work_id], by_work[work_id], left_out)
        if book.quotes:
            books.append(book)
    if not books:
        raise _nothing(left_out)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.json"
        relic.write_relic(path, books)
        content = path.read_bytes()
    return EvaluationSet(content, sum(len(book.quotes) for book in books), len(books), dict(left_out))


def graded(
    notes: Iterable[tuple[Note, str]], load_works: Callable[[Iterable[str]], Mapping[str, Work]]
) -> tuple[list[QuotationContext], Mapping[str, Work], Counter[str]]:
    """Make graded contexts of notes as `sort_out` takes them; with the works, by id, and what was left out."""
    by_work, left_out = sort_out(notes, GRADES)
    works = load_works(by_work)
    contexts = []
    for work_id, work in works.items():
        together: dict[tuple[str, int], list[tuple[Note, Span]]] = {}
        for note, span in _placed(work, by_work[work_id], left_out):
            together.setdefault((note.kept.claim_text, span.length), []).append((note, span))
        for (claim_text, length), judged in together.items():
            grades = {span.start: GRADES[note.verdict or ""] for note, span in judged}
            above = tuple(sorted((start, grade) for start, grade in grades.items() if grade))
            if not above:
                left_out[NO_ANSWER] += len(judged)
                continue
            left, right = _sides(claim_text)
            best, _ = max(above, key=lambda each: each[1])
            contexts.append(
                QuotationContext(
                    id=judged[0][0].id,
                    book=work_id,
                    pool=work_id,
                    left=left,
                    right=right,
                    gold=Span(best, length),
                    masked=bool(find_masks(claim_text)),
                    grades=above,
                )
            )
    if not contexts:
        raise _nothing(left_out)
    return contexts, works, left_out


def in_words(left_out: Mapping[str, int]) -> str:
    """Say in a sentence what was left out, with a space before it; empty where nothing was.

    >>> in_words({CONTRADICTS: 2, NO_CLAIM: 1})
    ' Left out: 2, since they contradict their claim; 1, since they were kept without a claim.'
    """
    parts = [f"{count:,}, since {why}" for why, count in left_out.items() if count]
    return f" Left out: {'; '.join(parts)}." if parts else ""


def _nothing(left_out: Mapping[str, int]) -> BadRequest:
    return BadRequest(
        f"There is no note to make an example of.{in_words(left_out)} Give the verdict “supports” to a passage that "
        "you kept for a claim."
    )


def _why_not(note: Note, work_id: str, verdicts: Container[str]) -> str:
    kept = note.kept
    if not kept.for_claim:
        return NO_CLAIM
    if note.verdict is None:
        return UNJUDGED
    if note.verdict not in verdicts:
        return CONTRADICTS if note.verdict == "contradicts" else UNSURE
    if kept.length not in relic.LENGTHS:
        return TOO_LONG
    return "" if work_id else NOT_HERE


def _placed(work: Work, notes: Sequence[Note], left_out: Counter[str]) -> Iterator[tuple[Note, Span]]:
    """Find the sentences of notes; count those whose sentences have moved."""
    starts = {sentence.start: sentence.index for sentence in work.sentences}
    ends = {sentence.end: sentence.index for sentence in work.sentences}
    for note in notes:
        first, last = starts.get(note.kept.start), ends.get(note.kept.end)
        if first is None or last is None or last - first + 1 != note.kept.length:
            left_out[MOVED] += 1
        else:
            yield note, Span(first, note.kept.length)


def _book(title: str, work: Work, notes: Sequence[Note], left_out: Counter[str]) -> RelicBook:
    quotes = []
    for note, span in _placed(work, notes, left_out):
        left, right = _sides(note.kept.claim_text)
        quotes.append(Quote(note.id, left, span.start, span.length, right))
    sentences = tuple(work.sentence_text(index) for index in range(len(work.sentences)))
    candidates = {length: tuple(range(len(sentences) - length + 1)) for length in relic.LENGTHS}
    return RelicBook(title, sentences, candidates, tuple(quotes))


def _sides(claim_text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cut a claim into the sentences before its mask and after it, the nearest four of each."""
    start, end = next(iter(find_masks(claim_text)), (len(claim_text), len(claim_text)))
    return sentences_of(claim_text[:start])[-MAX_CONTEXT:], sentences_of(claim_text[end:])[:MAX_CONTEXT]
