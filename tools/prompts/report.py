"""The report of the paper's prompts: where each retriever's first hits stand, and two readers' verdicts on them.

It holds places, never a word of a novel, so that it may come with the program; readers' notes, which may quote, stay
out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from relic_core.config import provenance
from tools.prompts.asking import SHAPE, characters, left_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.wiring import App
    from tools.prompts.asking import Answered
    from tools.prompts.sheets import Sheet, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """The edition of a work that was searched.

    - `sha256`, `segmenter`: of the text that offsets belong to, and what cut it into sentences.
    """

    slug: str
    title: str
    author: str
    sha256: str
    segmenter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A retriever as it was asked.

    - `encoder`: identity of its own encoder; empty where it has none.
    - `configuration`: all that decides its scores, the encoders and models of what it is made of among it.
    """

    name: str
    label: str
    encoder: str
    configuration: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A passage and the verdicts on it.

    - `start`, `length`: first sentence, from 0, and how many.
    - `characters`: half-open offsets in the text of the work.
    - `verdicts`: one of each reader, in the order in which their sheets were given.
    """

    address: str
    start: int
    length: int
    characters: tuple[int, int]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A prompt, what was found for it, and the verdicts.

    - `claim`, `asked`: the prompt; and as it was asked, with its mask.
    - `hits`: by retriever: ids, best first.
    """

    table: str
    claim: str
    asked: str
    work: str
    length: int
    passages: dict[str, Judged]
    hits: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The report.

    - `code`: version of the program and, where known, the commit.
    - `seeds`: of the order of each reader's sheet.
    - `retrievers`: in the order of pages.
    - `prompts`: in the order of the paper.
    - `left_out`: prompts of the paper that were not asked: ``table``, ``title``, ``author``, ``length``, and ``why``.
    """

    created: datetime
    code: str
    shape: str
    seeds: tuple[int, ...]
    works: tuple[Edition, ...]
    retrievers: tuple[Asked, ...]
    prompts: tuple[Reported, ...]
    left_out: tuple[dict[str, Any], ...]

    @property
    def verdicts(self) -> dict[str, tuple[Verdict, ...]]:
        """The verdicts on every passage, by id."""
        return {id_: judged.verdicts for prompt in self.prompts for id_, judged in prompt.passages.items()}


def make_report(app: App, answers: Sequence[Answered], sheets: Sequence[Sheet]) -> Report:
    """Put together what was found now and what the readers said of it.

    - `app`: whose retrievers were asked.
    - `sheets`: the readers' verdicts on every passage of it.
    """
    return Report(
        created=datetime.now(UTC).replace(microsecond=0),
        code=provenance.code(),
        shape=str(SHAPE),
        seeds=tuple(sheet.seed for sheet in sheets),
        works=tuple({each.slug: _edition(each) for each in answers}.values()),
        retrievers=asked_now(app, answers),
        prompts=tuple(_reported(each, sheets) for each in answers),
        left_out=tuple(
            {"table": each.table, "title": each.prompt.title, "author": each.prompt.author, "length": each.length}
            | {"why": why}
            for each, why in left_out()
        ),
    )


def asked_now(app: App, answers: Sequence[Answered]) -> tuple[Asked, ...]:
    """Say what each retriever is that answered."""
    found = []
    for name in answers[0].hits if answers else ():
        card, retriever = app.indexes.card(name), app.indexes.retriever(name)
        configuration = dict(sorted(retriever.configuration.items()))
        found.append(
            Asked(name=name, label=card.label, encoder=retriever.encoder_identity, configuration=configuration)
        )
    return tuple(found)


def _edition(answered: Answered) -> Edition:
    work = answered.work
    return Edition(
        slug=answered.slug, title=work.title, author=work.author, sha256=work.sha256, segmenter=work.segmenter
    )


def _reported(answered: Answered, sheets: Sequence[Sheet]) -> Reported:
    prompt, work = answered.prompt, answered.work
    return Reported(
        table=prompt.table,
        claim=prompt.prompt.claim,
        asked=prompt.asked,
        work=answered.slug,
        length=prompt.length,
        passages={
            id_: Judged(
                address=str(work.address(span.start)),
                start=span.start,
                length=span.length,
                characters=characters(work, span),
                verdicts=tuple(sheet.verdicts[id_] for sheet in sheets),
            )
            for id_, span in answered.passages.items()
        },
        hits={name: tuple(map(answered.id_of, spans)) for name, spans in answered.hits.items()},
    )
