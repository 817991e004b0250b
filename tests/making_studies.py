"""Studies made by hand, small enough to be written down."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from relic_core.domain import ContextSize, Span, Work
from relic_core.domain.studies import (
    Answer,
    Item,
    Making,
    Option,
    Study,
    StudyTerms,
    StudyWork,
    in_order,
    study_id,
)
from tests.making import make_work

if TYPE_CHECKING:
    from collections.abc import Sequence

WHEN = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
TERMS = StudyTerms(instructions="Choose.", wanted=0, consent="Agreed.", privacy="Here.", revealed=False)


def make_ferry(sentences: int = 90) -> Work:
    return make_work([[f"Sentence {number} of the ferry." for number in range(sentences)]], title="The Ferry")


def make_study(
    count: int = 6,
    *,
    name: str = "Ferries",
    work: Work | None = None,
    seed: int = 1,
    keys: Sequence[str] = ("ferry",),
    shared: int = 0,
) -> Study:
    """Make a study of which item w0 has its quotation at sentence 0, w1 at 3, and so on; one work of as many keys."""
    work = work or make_ferry(3 * count)
    items = tuple(_item(work, number, seed, keys[number % len(keys)]) for number in range(count))
    return Study(
        id=study_id(name=name, version=1, seed=seed, items=items, shared=shared),
        name=name,
        version=1,
        earlier="",
        works=tuple(
            StudyWork(
                key=key, title=work.title, author="", year=1891, sha256=work.sha256, fingerprint=work.fingerprint,
                segmenter=work.segmenter,
            )
            for key in keys
        ),
        items=items,
        making=Making(
            benchmark="sample", split="sample", lengths=(1,), shape=ContextSize(4, 4), chooser="bm25",
            chooser_configuration={"k1": "0.5"}, beyond=0, seed=seed, windows=count, left_out=0, code="by hand",
            shared=shared,
        ),
        created=WHEN,
    )  # fmt: skip


def _item(work: Work, number: int, seed: int, key: str) -> Item:
    starts = [int(start) for start in in_order(seed, f"w{number}", tuple(str(3 * number + at) for at in range(3)))]
    return Item(
        id=f"w{number}", book=key, work_id=work.id, left=f"Before {number}.", right="After.",
        options=tuple(
            Option(
                span=Span(start, 1),
                at=(work.sentences[start].start, work.sentences[start].end),
                address=str(work.address(start)),
                words=work.sentence_text(start),
            )
            for start in starts
        ),
        right_option=1 + starts.index(3 * number),
        chooser="bm25", gold_rank=7, source="A. Critic, <i>Ferries</i>",
    )  # fmt: skip


def make_answer(annotator_id: str, item_id: str, choice: int, *, comment: str = "", seconds: float = 4.0) -> Answer:
    return Answer(
        item_id=item_id, annotator_id=annotator_id, choice=choice, seconds=seconds, comment=comment, created=WHEN
    )
