"""The report of the paper's prompts: hits, two readers' verdicts, figures; as a file and on sheets."""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, cast, get_args

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, model_validator

from relic_core.config import ASSETS, provenance
from relic_core.domain import Span, Work
from relic_core.domain.figures import Table
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.evaluation.intervals import interval_of
from relic_core.formats.envelope import Envelope
from relic_core.formats.escaping import BOM, as_csv
from relic_core.formats.files import checked, read_bytes, written_whole
from relic_core.reporting.passages import surroundings
from relic_core.reporting.tables import as_markdown
from relic_core.text.decoding import decode
from relic_core.wiring import App
from tools.prompts.asking import SHAPE, Answered, characters, left_out

Verdict = Literal["supports", "partly", "no"]
"""What a reader may say: the passage is evidence for the prompt, in part or from afar, or not."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
COLUMNS = ("id", "seed", "work", "prompt", "before", "passage", "after", "verdict", "note")
READERS = 2

_NEEDED = ("id", "seed", "verdict")
_AROUND = 2
"""Sentences of the chapter shown on either side."""
_MOST_BYTES = 5_000_000
_NAMED = 5
"""Rows that a message names; of more it gives the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A sheet that a reader has filled in: the seed of its order, and all verdicts that were wanted, by passage id."""

    seed: int
    verdicts: dict[str, Verdict]


def write_sheet(path: Path, answers: Sequence[Answered], *, seed: int) -> int:
    """Write an empty sheet, in an order that `seed` decides on every machine alike; say how many passages it has.

    A cell that a spreadsheet would take for a formula gets an apostrophe in front; all others are to the letter, but
    for line wraps.

    Raises BadRequest: there is such a file: one that was filled in must not be lost.
    """
    check_free(path)
    rows = [(id_, each, span) for each in answers for id_, span in each.passages.items()]
    rows.sort(key=lambda row: hashlib.sha256(f"{seed} {row[0]}".encode()).hexdigest())
    table: list[Sequence[object]] = [COLUMNS]
    for id_, each, span in rows:
        shown = (each.prompt.prompt.title, each.prompt.prompt.claim, *in_context(each.work, span))
        table.append([id_, seed, *shown, "", ""])
    with written_whole(path) as file:
        file.write(f"{BOM}{as_csv(table)}".encode())
    return len(rows)


def check_free(path: Path) -> None:
    """Refuse to write a sheet over a file that is there. Raises BadRequest."""
    if path.exists():
        raise BadRequest(f"There is a file {path} already, and verdicts may stand in it. Name another one.")


def in_context(work: Work, span: Span) -> tuple[str, str, str]:
    """Give a passage with a little of its chapter: what stands before it, its words, what stands after it."""
    sides = ["", "", ""]
    at = 0
    for paragraph in surroundings(work, span, sentences=_AROUND).paragraphs:
        for piece in paragraph.pieces:
            at = 1 if piece.gold else 2 if at else 0
            sides[at] += piece.text
        sides[at] += "\n\n"
    before, words, after = (side.strip() for side in sides)
    return before, words, after


def read_sheets(paths: Sequence[Path], wanted: Collection[str]) -> tuple[Sheet, ...]:
    """Read the sheets of the two readers, each of which must judge the passages wanted, in the order given."""
    check_readers(paths)
    return tuple(read_sheet(path, wanted) for path in paths)


def check_readers(paths: Sequence[Path]) -> None:
    """Refuse another number of sheets than there are readers, two. Raises BadRequest."""
    if len(paths) != READERS or len({path.resolve() for path in paths}) != READERS:
        raise BadRequest(
            f"The report needs the sheets of {READERS} readers, each in a file of its own: --read FIRST --read SECOND."
        )


def read_sheet(path: Path, wanted: Collection[str]) -> Sheet:
    """Read a sheet that was filled in; capitals, spaces and the order of rows and columns make no difference.

    A spreadsheet may have saved it with commas, semicolons or tabs.

    Raises BadBenchmark: it is not a sheet; or a passage is missing, unknown, there twice, or without a verdict that is
    allowed.
    """
    text = decode(read_bytes(path, at_most=_MOST_BYTES), max_bytes=_MOST_BYTES)
    head = text.partition("\n")[0]
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count)))
    heads = [name.strip().casefold() for name in rows[0]] if rows else []
    if any(heads.count(name) != 1 for name in _NEEDED):
        raise BadBenchmark(
            f"{path} is not a sheet of prompts: its first line must name the columns {', '.join(COLUMNS)}."
        )
    at = [heads.index(name) for name in _NEEDED]
    filled = [row for row in rows[1:] if any(cell.strip() for cell in row)]
    entries = [tuple(row[column].strip() if column < len(row) else "" for column in at) for row in filled]
    ids = [id_ for id_, _, _ in entries]
    odd = [(id_, verdict) for id_, _, verdict in entries if verdict and verdict.casefold() not in VERDICTS]
    wrong = [
        _those("is missing", "are missing", [id_ for id_ in wanted if id_ not in ids]),
        _those("is not asked about now", "are not asked about now", [id_ for id_ in ids if id_ not in wanted]),
        _those("stands there twice", "stand there twice", sorted({id_ for id_ in ids if ids.count(id_) > 1})),
        _those("has no verdict", "have no verdict", [id_ for id_, _, verdict in entries if not verdict]),
        _those("has an unknown verdict", "have unknown verdicts", [f"{id_}: “{v:.20}”" for id_, v in odd]),
    ]
    if any(wrong):
        raise BadBenchmark(
            f"{path} cannot be taken as it is. {' '.join(filter(None, wrong))} Every passage that the retrievers find "
            f"now needs one of the verdicts {', '.join(VERDICTS)}. Where other passages are found than when the sheet "
            "was made, make a new one."
        )
    seeds = {seed for _, seed, _ in entries}
    seed = seeds.pop() if len(seeds) == 1 else ""
    if not (seed.isascii() and seed.isdigit()):
        raise BadBenchmark(f"{path}: the column seed must hold one and the same number in every row. Restore it.")
    return Sheet(seed=int(seed), verdicts={id_: cast("Verdict", verdict.casefold()) for id_, _, verdict in entries})


def _those(one: str, several: str, which: Sequence[str]) -> str:
    """Say of which passages something is true; nothing where there are none.

    >>> _those("is missing", "are missing", ["p1", "p2"])
    '2 passages are missing (p1, p2).'
    """
    if not which:
        return ""
    count = f"1 passage {one}" if len(which) == 1 else f"{len(which)} passages {several}"
    return f"{count} ({', '.join([*which[:_NAMED], *(['…'] if len(which) > _NAMED else [])])})."


class Edition(BaseModel, frozen=True, extra="forbid"):
    """The edition of a work that was searched: the text that offsets belong to, and what cut it into sentences."""

    slug: str
    title: str
    author: str
    sha256: str
    segmenter: str


class UsedRetriever(BaseModel, frozen=True, extra="forbid"):
    """A retriever as it was asked.

    - `encoder`: identity of its own encoder; empty where it has none.
    - `configuration`: all that decides its scores, the encoders and models of what it is made of among it.
    """

    name: str
    label: str
    encoder: str
    configuration: dict[str, str]


class Judged(BaseModel, frozen=True, extra="forbid"):
    """A passage and the verdicts on it.

    - `start`: first sentence, from 0.
    - `characters`: half-open offsets in the text of the work.
    - `verdicts`: one of each reader, in the order in which their sheets were given.
    """

    address: str
    start: int
    length: int
    characters: tuple[int, int]
    verdicts: tuple[Verdict, Verdict]


class Reported(BaseModel, frozen=True, extra="forbid"):
    """A prompt (`asked`: with its mask), what each retriever found for it, best first, and the verdicts."""

    table: str
    claim: str
    asked: str
    work: str
    length: int
    passages: dict[str, Judged]
    hits: dict[str, tuple[str, ...]]

    @model_validator(mode="after")
    def _placed(self) -> Self:
        if unknown := {id_ for ids in self.hits.values() for id_ in ids} - set(self.passages):
            raise ValueError(f"the hits {', '.join(sorted(unknown))} have no place")
        return self


class Report(BaseModel, frozen=True, extra="forbid"):
    """The report.

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
    retrievers: tuple[UsedRetriever, ...]
    prompts: tuple[Reported, ...]
    left_out: tuple[dict[str, Any], ...]

    @property
    def verdicts(self) -> dict[str, tuple[Verdict, Verdict]]:
        """The verdicts on every passage, by id."""
        return {id_: judged.verdicts for prompt in self.prompts for id_, judged in prompt.passages.items()}


def make_report(app: App, answers: Sequence[Answered], sheets: Sequence[Sheet]) -> Report:
    """Put together what was found now and what the readers said of every passage of it."""
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


def asked_now(app: App, answers: Sequence[Answered]) -> tuple[UsedRetriever, ...]:
    """Say what each retriever is that answered."""
    found = []
    for name in answers[0].hits if answers else ():
        card, retriever = app.retrievers.card(name), app.retrievers.get(name)
        configuration = dict(sorted(retriever.configuration.items()))
        found.append(
            UsedRetriever(name=name, label=card.label, encoder=retriever.encoder_identity, configuration=configuration)
        )
    return tuple(found)


def _edition(answered: Answered) -> Edition:
    work = answered.work
    return Edition(
        slug=answered.slug, title=work.title, author=work.author, sha256=work.sha256, segmenter=work.segmenter
    )


def _reported(answered: Answered, sheets: Sequence[Sheet]) -> Reported:
    prompt, work = answered.prompt, answered.work
    first, second = sheets
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
                verdicts=(first.verdicts[id_], second.verdicts[id_]),
            )
            for id_, span in answered.passages.items()
        },
        hits={name: tuple(map(answered.id_of, spans)) for name, spans in answered.hits.items()},
    )


REPORT = ASSETS / "prompts.json"

FILE = Envelope("prompts", 1, keys=tuple(Report.model_fields), head={})


def write_report(path: Path, report: Report) -> None:
    """Write a report whole or not at all."""
    content = report.model_dump(mode="json") | {"created": report.created.isoformat()}
    with written_whole(path) as file:
        file.write(FILE.write(content))


def read_report(path: Path) -> Report:
    """Read a report and check it. Raises BadBenchmark: none, changed by hand, or of a version not known here."""
    return checked(Report, FILE.read(read_bytes(path), str(path)), str(path))


SHORT_CLAIMS = ASSETS / "short_claims.json"
"""The report of short claims asked of two versions of the program, which stand in the place of retrievers: the older
first. Made once: only the newer version can be asked again."""


def shipped() -> Report:
    """Read the report that comes with the program. Raises NotFound: none has been made yet."""
    if not REPORT.is_file():
        raise NotFound(
            "No report of the prompts comes with this version of the program. docs/prompts.md says how one is made."
        )
    return read_report(REPORT)


NOT_MADE = "The report has not been made yet."

_SHOWN = 12
"""Digits of a sha256 that are enough for a reader."""


def figures(report: Report) -> Table:
    """Count, for each retriever, the hits that both readers called evidence, and say how far the readers agree.

    A hit counts as "supports" where both say so, and as "at least partly" where neither says "no".
    """
    verdicts = report.verdicts
    rows = []
    for retriever in report.retrievers:
        hits = [verdicts[id_] for prompt in report.prompts for id_ in prompt.hits.get(retriever.name, ())]
        supports, partly = sum(map(_supports, hits)), sum(map(_at_least_partly, hits))
        rows.append((retriever.label, len(hits), supports, partly))
    return Table(
        caption=f"{len(report.prompts)} prompts of the RELiC paper, the first hits of each retriever, two readers.",
        heads=("retriever", "hits", "both: supports", "both: at least partly"),
        rows=tuple(rows),
        notes=(
            _agreement(report),
            f"Asked on {report.created:%d %B %Y} with version {report.code}.",
            *(f"Not asked: {each['title']} (Table {each['table']}), {each['why']}." for each in report.left_out),
        ),
    )


def shares(report: Report) -> Table:
    """Give the share of the hits of each retriever that both readers called evidence, and how the last differs.

    A prompt counts once, whatever the number of its hits. Intervals are drawn over prompts, of the difference paired.
    """
    verdicts = report.verdicts
    values = {
        each.name: np.array(
            [
                [
                    np.mean([test(verdicts[id_]) for id_ in prompt.hits[each.name]])
                    for test in (_supports, _at_least_partly)
                ]
                for prompt in report.prompts
            ]
        )
        for each in report.retrievers
    }
    first, *_, last = report.retrievers
    counts = {each.name: sum(len(prompt.hits[each.name]) for prompt in report.prompts) for each in report.retrievers}
    rows = [(each.label, str(counts[each.name]), *_in_percent(values[each.name])) for each in report.retrievers]
    rows.append(("difference", "", *_in_percent(values[last.name] - values[first.name])))
    return Table(
        caption=f"{len(report.prompts)} short claims about {len(report.works)} works, the first passages, two readers.",
        heads=("version", "passages", "both: supports, %", "both: at least partly, %"),
        rows=tuple(rows),
        notes=(_agreement(report), "Intervals are 95%, by bootstrap over claims; of the difference, paired."),
    )


def _supports(both: Sequence[Verdict]) -> bool:
    return set(both) == {"supports"}


def _at_least_partly(both: Sequence[Verdict]) -> bool:
    return "no" not in both


def _in_percent(values: npt.NDArray[np.float64]) -> list[str]:
    """Write the mean of each column with its interval."""
    found = (interval_of(100 * column, ["" for _ in column], over="examples") for column in values.T)
    return [f"{each.value:.1f} ({each.low:.1f}–{each.high:.1f})" for each in found]


def _agreement(report: Report) -> str:
    """Say how far the readers agree."""
    verdicts = report.verdicts
    first, second = zip(*verdicts.values(), strict=True)
    kappa = cohens_kappa(first, second)
    figure = "cannot be said" if kappa is None else f"{kappa:z.2f}"
    equal = sum(a == b for a, b in verdicts.values())
    share = f"{equal} of {len(verdicts)} passages the same verdict ({equal / len(verdicts):.0%})"
    return f"The readers gave {share}; Cohen's kappa {figure}."


def cohens_kappa(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Measure how far two readers of the same passages agree beyond chance (Cohen 1960); -1 to 1, 0 being chance.

    None where both gave one and the same verdict throughout: chance alone would make them agree, and nothing can be
    said.

    >>> cohens_kappa(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
    0.5
    """
    n, equal = len(first), sum(a == b for a, b in zip(first, second, strict=True))
    mine, theirs = Counter(first), Counter(second)
    by_chance = sum(mine[verdict] * theirs[verdict] for verdict in mine)  # over n * n
    possible = n * n - by_chance
    return (equal * n - by_chance) / possible if possible else None


def page_table() -> str:
    """Make what docs/prompts.md has between its marks."""
    try:
        report = shipped()
    except NotFound:
        absent = [f"{each.prompt.title} (Table {each.table}): {why}" for each, why in left_out()]
        return f"{NOT_MADE} It will leave out {'; '.join(absent)}."
    tables = [figures(report)]
    if SHORT_CLAIMS.is_file():
        tables.append(shares(read_report(SHORT_CLAIMS)))
    return "\n\n".join(map(as_markdown, tables))


def differences(report: Report, app: App, answers: Sequence[Answered]) -> tuple[str, ...]:
    """Say in sentences where the first hits are not those of a report."""
    sentences = []
    editions = {edition.slug: edition for edition in report.works}
    for each in {each.slug: each for each in answers}.values():
        edition = editions.get(each.slug)
        if edition is not None and edition.sha256 != each.work.sha256:
            sentences.append(_other_edition(edition, each))
    reported = {(each.table, each.asked, each.length): each for each in report.prompts}
    for answered in answers:
        prompt = answered.prompt
        then = reported.pop((prompt.table, prompt.asked, prompt.length), None)
        if then is None:
            sentences.append(f"{_named(prompt.prompt.claim, prompt.length)} is not in the report.")
            continue
        edition = editions.get(then.work)
        if edition is not None and edition.sha256 == answered.work.sha256:
            sentences.extend(_moved(app, then, answered))
    sentences.extend(
        f"{_named(each.claim, each.length)} is in the report and no longer asked." for each in reported.values()
    )
    return tuple(sentences)


def changed_makers(report: Report, app: App, answers: Sequence[Answered]) -> tuple[str, ...]:
    """Say which retrievers are made otherwise than when the report was; their hits may be the same all the same."""
    then = {each.name: each for each in report.retrievers}
    notes = []
    for now in asked_now(app, answers):
        before = then.get(now.name)
        if before is not None and (before.encoder, before.configuration) != (now.encoder, now.configuration):
            names = sorted(before.configuration.keys() | now.configuration.keys())
            parts = [name for name in names if before.configuration.get(name) != now.configuration.get(name)]
            notes.append(f"{now.label} is made otherwise than when the report was: {', '.join(parts) or 'encoder'}.")
    return tuple(notes)


def _moved(app: App, then: Reported, now: Answered) -> list[str]:
    sentences = []
    for name in dict.fromkeys([*then.hits, *now.hits]):
        label = app.retrievers.card(name).label
        where = f"{label}, {_named(then.claim, then.length)}"
        if name not in now.hits:
            sentences.append(f"{where}: in the report, and no longer asked.")
        elif name not in then.hits:
            sentences.append(f"{where}: asked now, and not in the report.")
        elif tuple(map(now.id_of, now.hits[name])) != then.hits[name]:
            here = ", ".join(str(now.work.address(span.start)) for span in now.hits[name]) or "nothing"
            there = ", ".join(then.passages[id_].address for id_ in then.hits[name]) or "nothing"
            sentences.append(f"{where}: {here}; in the report {there}.")
    return sentences


def _other_edition(edition: Edition, now: Answered) -> str:
    return (
        f"{now.work.title} is another edition here ({now.work.sha256[:_SHOWN]}) than in the report "
        f"({edition.sha256[:_SHOWN]}), so its hits cannot be compared."
    )


def _named(claim: str, length: int) -> str:
    return f"“{claim}” ({length} sentence{'s' * (length > 1)})"
