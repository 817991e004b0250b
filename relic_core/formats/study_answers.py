"""All answers to a study as CSV, JSON and examples, with numbers in place of names where wanted.

What is left out then is in docs/proxy_task.md. A key is one annotator's in all files of a study, so that those of
two departments can be put together, again and again. It is a digest of an id that was drawn by chance, and leaves the
store in no other form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from relic_core.domain.studies import (
    CANNOT_DECIDE,
    LONGEST_COMMENT,
    LONGEST_SECONDS,
    Annotator,
    Answer,
    ItemResult,
    Option,
    Study,
    StudyTerms,
    too_fast,
)
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats import escaping
from relic_core.formats.files import Moment, Name, Strict, checked, decoded, parse
from relic_core.formats.studies import item_content, study_content

FORMAT = "relic study answers/1"
JUDGED_FORMAT = "relic judged items/1"

_ELSEWHERE = "x"
"""Begins the id of an annotator whose answers were taken in: it is their key already."""

_NO_ROWS = ["annotator", "annotator_key", "item", "choice", "cannot_decide", "right", "seconds", "counts"]
"""Of an answer to the proxy task; for others "said", the choice in words, takes the place of "right"."""

_LEAST = 2
"""Answers of an item from which something can be learnt."""


def numbered(study: Study, annotators: Iterable[Annotator]) -> dict[str, str]:
    """Name annotators by numbers: by their ids, which were drawn by chance, so that the order tells nothing."""
    ids = sorted(
        (annotator.id for annotator in annotators),
        key=lambda annotator_id: hashlib.sha256(f"{study.id}\n{annotator_id}".encode()).digest(),
    )
    return {annotator_id: f"annotator {number}" for number, annotator_id in enumerate(ids, start=1)}


def key_of(study: Study, annotator_id: str) -> str:
    """Give the key of an annotator, the same in every file of the study, on every computer."""
    if annotator_id.startswith(_ELSEWHERE):
        return annotator_id
    return _ELSEWHERE + hashlib.sha256(f"{study.id}\n{annotator_id}\nkey".encode()).hexdigest()[:12]


def answer_rows(
    study: Study, annotators: Sequence[Annotator], answers: Sequence[Answer], *, anonymous: bool, comments: bool
) -> list[dict[str, Any]]:
    """List every answer as plain data, in the order in which they were given; where anonymous, by number."""
    names = numbered(study, annotators) if anonymous else {each.id: each.name for each in annotators}
    last = {(answer.annotator_id, answer.item_id): answer.number for answer in answers}
    items = {item.id: item for item in study.items}
    hasty, shared = too_fast(study, answers), set(study.shared)
    made = [
        {
            "annotator": names[answer.annotator_id],
            "annotator_key": key_of(study, answer.annotator_id),
            "item": answer.item_id,
            "choice": answer.choice,
            "cannot_decide": answer.choice == CANNOT_DECIDE,
            **(
                {"right": answer.choice == items[answer.item_id].right_option}
                if study.kind.is_proxy
                else {"said": study.kind.choice_text(items[answer.item_id], answer.choice)}
            ),
            "seconds": round(answer.seconds, 1),
            "counts": last[answer.annotator_id, answer.item_id] == answer.number,
            **({} if anonymous else {"answered": answer.created.isoformat()}),
            **({"comment": answer.comment} if comments else {}),
            **({"shared": answer.item_id in shared} if study.division else {}),
            "too_fast": (answer.annotator_id, answer.item_id) in hasty,
        }
        for answer in answers
        if answer.annotator_id in names  # else erased while this was read
    ]
    # The order of arrival would tell who sat at the desk when.
    return sorted(made, key=lambda row: (row["annotator"], row["item"], row["counts"])) if anonymous else made


def answers_json(study: Study, terms: StudyTerms, rows: Sequence[dict[str, Any]], *, anonymous: bool) -> bytes:
    """Write a study with its items and all answers as JSON."""
    whole = {
        "format": FORMAT,
        "anonymous": anonymous,
        "study": study_content(study)
        | {"items": [item_content(item) for item in study.items]}
        | ({"division": study.division} if study.division else {}),
        "instructions": terms.instructions,
        "wanted": terms.wanted,
        "answers": list(rows),
    }
    return f"{json.dumps(whole, indent=1, ensure_ascii=False)}\n".encode()


def answers_csv(study: Study, rows: Sequence[dict[str, Any]]) -> bytes:
    """Write all answers as CSV, each with its item; no cell is a formula."""
    options = [f"option_{number}" for number in range(1, study.kind.passages + 1)]
    about = ["work", "address", "left_context", *options, "right_context", "right_option"]
    heads = [name for name in rows[0] if name != "too_fast"] if rows else _NO_ROWS
    table: list[list[object]] = [["study", "version", *heads, *about, "too_fast"]]
    items = {item.id: item for item in study.items}
    for row in rows:
        item = items[row["item"]]
        values = [
            study.id,
            study.version,
            *(row[name] for name in heads),
            study.work(item.book).title,
            item.gold.address,
            item.left,
        ]
        values += [*(option.words for option in item.options), item.right, item.right_option, row["too_fast"]]
        table.append(values)
    return escaping.as_csv(table, line_end="\n").encode()


def read_answers(
    data: bytes, source: str, study: Study, terms: StudyTerms, *, of: str
) -> list[tuple[Annotator, list[Answer]]]:
    """Read what `answers_json` wrote elsewhere.

    - `terms`: what annotators read here: with other instructions it was another question.
    - `of`: where the answers come from; it is put behind the names or numbers.

    Returns: each annotator by their key, with their answers in the order in which they came.
    """
    now = datetime.now(UTC)
    found: dict[str, tuple[Annotator, list[Answer]]] = {}
    try:
        content = checked(_File, parse(decoded(data, source), source), "it")
        if (answered := content.study.get("id")) != study.id:
            raise BadRequest(f"it holds answers to the study {answered!s:.20}, and not to {study.id}")  # noqa: TRY301 - told with the others below
        if content.instructions != terms.instructions:
            raise BadRequest("it was answered by other instructions than those here, so it was another question")  # noqa: TRY301 - as above
        for at, raw in enumerate(content.answers, start=1):
            row = checked(_Row, raw, f"answer {at:,}", extra="ignore")
            annotator = Annotator(id=row.annotator_key, name=f"{row.annotator} ({of})", joined=now)
            found.setdefault(annotator.id, (annotator, []))[1].append(_answer(row, study, now))
    except (BadBenchmark, BadRequest) as error:
        raise BadBenchmark(
            f"{source} cannot be taken in as answers: {error!s:.300}. Nothing was taken in. What is wanted is the JSON "
            "file of all answers that the program writes, to this very study."
        ) from None
    return list(found.values())


class _File(Strict):
    format: Literal["relic study answers/1"]
    anonymous: bool
    study: dict[str, Any]
    instructions: str
    wanted: int
    answers: list[dict[str, Any]]


class _Row(Strict):
    """What is taken in of an answer; the rest follows from it."""

    annotator: Name
    annotator_key: Annotated[str, Field(pattern=rf"^{_ELSEWHERE}[0-9a-f]{{12}}$")]
    item: str
    choice: int
    seconds: Annotated[float, Field(ge=0, le=LONGEST_SECONDS)]
    comment: Annotated[str, Field(max_length=LONGEST_COMMENT)] = ""
    answered: Moment | None = None


def _answer(row: _Row, study: Study, now: datetime) -> Answer:
    """Make an answer of what was said. Raises BadRequest: it is none to this study."""
    answered = study.item(row.item)
    if answered is None:
        raise BadRequest(f"the study has no item '{row.item:.40}'")
    if not study.kind.allows(answered, row.choice):
        raise BadRequest(f"{row.choice} is no choice at item '{row.item:.40}'")
    return Answer(
        item_id=row.item,
        annotator_id=row.annotator_key,
        choice=row.choice,
        seconds=row.seconds,
        comment=row.comment,
        created=row.answered or now,
    )


def judged_items(
    study: Study, items: Iterable[ItemResult], *, annotators: int, measured: Collection[str], code: str
) -> bytes:
    """Write what people chose as JSON lines to learn from or to measure on; the first line is a head with a digest.

    One line for each item that two people or more have answered. Where most chose the critic's quotation, the other two
    are hard negatives that people tell from it. Where most chose another passage, or none, the line says so
    (``"verdict"``), and a training had better leave it out. ``"use"`` says what a line may be used for: windows of a
    benchmark's dev or test split are for evaluation alone.

    - `measured`: keys of works that no training may learn from.
    """
    measured = {work.key for work in study.works} if study.making.split in {"dev", "test", "sample"} else measured
    lines = []
    for each in sorted(items, key=lambda each: each.number):
        if each.answered < _LEAST:
            continue
        item, work = each.item, study.work(each.item.book)
        line = {
            "id": item.id,
            "work": work.key,
            "work_sha256": work.sha256,
            "left": item.left,
            "right": item.right,
            "positive": _passage(item.gold),
            "negatives": [_passage(option) for option in item.options if option != item.gold],
            "verdict": "the quotation"
            if each.majority == item.right_option
            else "another passage"
            if each.majority
            else "no majority",
            "votes": {
                "quotation": each.right,
                "others": each.answered - each.right - each.cannot,
                "cannot decide": each.cannot,
            },
            "use": "evaluation" if work.key in measured else "training",
        }
        lines.append(json.dumps(line, ensure_ascii=False))
    body = "".join(f"{line}\n" for line in lines)
    head = {
        "format": JUDGED_FORMAT,
        "study": study.id,
        "name": study.name,
        "version": study.version,
        "chooser": study.making.chooser,
        "shape": str(study.making.shape),
        "annotators": annotators,
        "code": code,
        "rows": len(lines),
        "sha256": hashlib.sha256(body.encode()).hexdigest(),
    }
    return f"{json.dumps(head, ensure_ascii=False)}\n{body}".encode()


def _passage(option: Option) -> dict[str, Any]:
    return {"words": option.words, "at": list(option.at), "sentences": [option.span.start, option.span.length]}
