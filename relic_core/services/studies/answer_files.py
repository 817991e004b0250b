"""All answers to a study as CSV and JSON, with the items and the times; with numbers in place of names where wanted.

Anonymous means: no names and no ids that could be looked up; numbers stand for annotators, in an order that says
nothing of who came first. The hour of an answer is left out (how long it took is not), and so are comments, in which
people may say who they are; they can be asked for.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

from relic_core.domain.studies import CANNOT_DECIDE, OPTIONS
from relic_core.formats.studies import item_content, study_content
from relic_core.reporting.concordance import safe_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain.studies import Annotator, Answer, Study, StudyTerms

FORMAT = "relic study answers/1"

_OPTIONS = tuple(f"option_{number}" for number in range(1, OPTIONS + 1))


def numbered(study: Study, annotators: Sequence[Annotator]) -> dict[str, str]:
    """Name annotators by numbers: by their ids, which were drawn by chance, so that the order tells nothing."""
    ids = sorted(
        (annotator.id for annotator in annotators),
        key=lambda annotator_id: hashlib.sha256(f"{study.id}\n{annotator_id}".encode()).digest(),
    )
    return {annotator_id: f"annotator {number}" for number, annotator_id in enumerate(ids, start=1)}


def rows(
    study: Study, annotators: Sequence[Annotator], answers: Sequence[Answer], *, anonymous: bool, comments: bool
) -> list[dict[str, Any]]:
    """List the answers as plain data, in the order in which they were given; those by number, where anonymous.

    Parameters
    ----------
    study : Study
        The study.
    annotators : sequence of Annotator
        Who answered.
    answers : sequence of Answer
        Every one that was given.
    anonymous, comments : bool
        Whether names and hours are left out; whether comments are given.
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
    out = io.StringIO(newline="")
    heads = list(made[0]) if made else ["annotator", "item", "choice", "cannot_decide", "right", "seconds", "counts"]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["study", "version", *heads, "work", "address", "left_context", *_OPTIONS, "right_context", "right_option"]
    )
    items = {item.id: item for item in study.items}
    for row in made:
        item = items[row["item"]]
        about = [study.work(item.book).title, item.gold.address, item.left]
        about += [*(option.words for option in item.options), item.right]
        cells = [study.id, study.version, *row.values(), *about, item.right_option]
        writer.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue().encode()
