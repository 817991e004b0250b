"""All answers to a study as CSV and JSON, with the items and the times; with numbers in place of names where wanted.

Anonymous means: no names and no ids that could be looked up; numbers stand for annotators, in an order that says
nothing of who came first. The hour of an answer is left out (how long it took is not), and so are comments, in which
people may say who they are; they can be asked for.

Beside the name or number stands a key, which is one annotator's in all files of a study, so that the answers of two
departments can be put together, and put together again when there are more. It is a digest of an id that was drawn by
chance, and leaves the store in no other form.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from relic_core.domain.studies import CANNOT_DECIDE, CHOICES, OPTIONS, Annotator, Answer
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats import escaping
from relic_core.formats.files import as_object, as_string, parse
from relic_core.formats.studies import item_content, study_content
from relic_core.services.studies.texts import LONGEST_COMMENT, LONGEST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain.studies import Study, StudyTerms

FORMAT = "relic study answers/1"

_ELSEWHERE = "x"
"""Begins the id of an annotator whose answers were taken in: it is their key already."""

_NO_ROWS = ["annotator", "annotator_key", "item", "choice", "cannot_decide", "right", "seconds", "counts"]
_HEADS = ("format", "anonymous", "study", "instructions", "wanted", "answers")

_OPTIONS = tuple(f"option_{number}" for number in range(1, OPTIONS + 1))


def numbered(study: Study, annotators: Sequence[Annotator]) -> dict[str, str]:
    """Name annotators by numbers: by their ids, which were drawn by chance, so that the order tells nothing."""
    ids = sorted(
        (annotator.id for annotator in annotators),
        key=lambda annotator_id: hashlib.sha256(f"{study.id}\n{annotator_id}".encode()).digest(),
    )
    return {annotator_id: f"annotator {number}" for number, annotator_id in enumerate(ids, start=1)}


def key_of(study: Study, annotator_id: str) -> str:
    """Give the key of an annotator, the same in every file of the study, whoever wrote it."""
    if annotator_id.startswith(_ELSEWHERE):
        return annotator_id
    return _ELSEWHERE + hashlib.sha256(f"{study.id}\n{annotator_id}\nkey".encode()).hexdigest()[:12]


def rows(
    study: Study, annotators: Sequence[Annotator], answers: Sequence[Answer], *, anonymous: bool, comments: bool
) -> list[dict[str, Any]]:
    """List the answers as plain data, in the order in which they were given; those by number, where anonymous.

    - `answers`: every one that was given.
    - `anonymous`, `comments`: whether names and hours are left out; whether comments are given.
    """
    names = numbered(study, annotators) if anonymous else {each.id: each.name for each in annotators}
    last = {(answer.annotator_id, answer.item_id): answer.number for answer in answers}
    made = []
    for answer in answers:
        if answer.annotator_id not in names:
            continue  # erased while this was read
        item = study.item(answer.item_id)
        made.append(
            {
                "annotator": names[answer.annotator_id],
                "annotator_key": key_of(study, answer.annotator_id),
                "item": answer.item_id,
                "choice": answer.choice,
                "cannot_decide": answer.choice == CANNOT_DECIDE,
                "right": item is not None and answer.choice == item.right_option,
                "seconds": round(answer.seconds, 1),
                "counts": last[answer.annotator_id, answer.item_id] == answer.number,
                **({} if anonymous else {"answered": answer.created.isoformat()}),
                **({"comment": answer.comment} if comments else {}),
            }
        )
    # The order of arrival would tell who sat at the desk when.
    return sorted(made, key=lambda row: (row["annotator"], row["item"], row["counts"])) if anonymous else made


def as_json(study: Study, terms: StudyTerms, made: Sequence[dict[str, Any]], *, anonymous: bool) -> bytes:
    """Write a study with its items and all answers as JSON."""
    whole = {
        "format": FORMAT,
        "anonymous": anonymous,
        "study": study_content(study) | {"items": [item_content(item) for item in study.items]},
        "instructions": terms.instructions,
        "wanted": terms.wanted,
        "answers": list(made),
    }
    return f"{json.dumps(whole, indent=1, ensure_ascii=False)}\n".encode()


def as_csv(study: Study, made: Sequence[dict[str, Any]]) -> bytes:
    """Write all answers as CSV, each with its item; no cell is a formula."""
    heads = list(made[0]) if made else _NO_ROWS
    columns = [
        "study",
        "version",
        *heads,
        "work",
        "address",
        "left_context",
        *_OPTIONS,
        "right_context",
        "right_option",
    ]
    rows: list[list[object]] = [[*columns]]
    items = {item.id: item for item in study.items}
    for row in made:
        item = items[row["item"]]
        about = [study.work(item.book).title, item.gold.address, item.left]
        about += [*(option.words for option in item.options), item.right]
        rows.append([study.id, study.version, *row.values(), *about, item.right_option])
    return escaping.as_csv(rows, line_end="\n").encode()


def read(data: bytes, source: str, study: Study, terms: StudyTerms, *, of: str) -> list[tuple[Annotator, list[Answer]]]:
    """Read what `as_json` wrote elsewhere.

    - `terms`: what annotators are told here: with other instructions it was another question.
    - `of`: where the answers come from; it is put behind the names or numbers.

    Returns: each annotator by their key, with their answers in the order in which they came.

    Raises BadBenchmark: it holds no answers, answers to another study or by other instructions, or some that cannot be.
    """
    try:
        content = as_object(parse(data.decode("utf-8-sig"), source), source, _HEADS)
        found = _answers(content, study, terms, of)
    except (TypeError, ValueError, KeyError, AttributeError, BadRequest) as error:
        why = f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)
        raise BadBenchmark(
            f"{source} cannot be taken in as answers: {why:.300}. Nothing was taken in. What is wanted is the JSON "
            "file of all answers that the program writes, to this very study."
        ) from None
    return list(found.values())


def _answers(
    content: dict[str, Any], study: Study, terms: StudyTerms, of: str
) -> dict[str, tuple[Annotator, list[Answer]]]:
    if content["format"] != FORMAT:
        raise ValueError(f"it is not in the format '{FORMAT}'")
    if (answered := content["study"]["id"]) != study.id:
        raise ValueError(f"it holds answers to the study {answered!s:.20}, and not to {study.id}")
    if content["instructions"] != terms.instructions:
        raise ValueError("it was answered by other instructions than stand here, so it was another question")
    now = datetime.now(UTC)
    found: dict[str, tuple[Annotator, list[Answer]]] = {}
    for said in content["answers"]:
        answer = _answer(said, study, now)
        name = f"{as_string(said['annotator'], 'an annotator')} ({of})"
        annotator = Annotator(id=answer.annotator_id, name=name, joined=now)
        found.setdefault(annotator.id, (annotator, []))[1].append(answer)
    return found


def _answer(said: dict[str, Any], study: Study, now: datetime) -> Answer:
    """Read one answer; TypeError, ValueError, KeyError, AttributeError or BadRequest where it is none."""
    key, item, choice, seconds = (said[name] for name in ("annotator_key", "item", "choice", "seconds"))
    if not re.fullmatch(rf"{_ELSEWHERE}[0-9a-f]{{12}}", as_string(key, "the key of an annotator")):
        raise ValueError("the key of an annotator is none")
    if study.item(as_string(item, "an item")) is None:
        raise ValueError(f"the study has no item '{item:.40}'")
    if type(choice) is not int or choice not in CHOICES:
        raise ValueError("a choice is 1, 2 or 3, or 0 for 'cannot decide'")
    if type(seconds) not in {int, float} or not 0 <= seconds <= LONGEST_SECONDS:
        raise ValueError("an answer takes 0 seconds or more, and a day at most")
    comment = as_string(said.get("comment", ""), "a comment", empty=True)
    if len(comment) > LONGEST_COMMENT:
        raise ValueError(f"a comment has {len(comment):,} characters, and at most {LONGEST_COMMENT:,} are kept")
    at = datetime.fromisoformat(said["answered"]) if "answered" in said else now
    return Answer(
        item_id=item,
        annotator_id=key,
        choice=choice,
        seconds=float(seconds),
        comment=comment,
        created=at if at.tzinfo else at.replace(tzinfo=UTC),
    )
