"""What people chose as examples to learn from or to measure on: a claim, its quotation, and two near it.

One line of JSON for each item that two people or more have answered. Where most chose the critic's quotation, the other
two are hard negatives that people tell from it. Where most chose another passage, or none, the line says so
(``"verdict"``), and a training had better leave it out. ``"use"`` says what a line may be used for: windows on works
that are measured on, those of a benchmark's dev or test split or of RELiC's catalogue, are for evaluation alone.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from relic_core.config import provenance
from relic_core.evaluation import raters

if TYPE_CHECKING:
    from collections.abc import Collection

    from relic_core.domain.studies import Option, StudyWork
    from relic_core.services.studies.results import ItemResult, StudyResults

FORMAT = "relic judged items/1"


def as_lines(results: StudyResults, *, measured: Collection[str]) -> bytes:
    """Write the judged items of a study as JSON lines; the first line is the head, with the digest of the others.

    - `measured`: keys of works that no training may learn from.
    """
    study = results.study
    for_measuring = set(measured)
    if study.making.split in {"dev", "test", "sample"}:
        for_measuring |= {work.key for work in study.works}
    lines = [
        json.dumps(_line(each, study.work(each.item.book), for_measuring), ensure_ascii=False)
        for each in sorted(results.items, key=lambda each: each.number)
        if each.answered >= raters.LEAST
    ]
    body = "".join(f"{line}\n" for line in lines)
    head = {
        "format": FORMAT,
        "study": study.id,
        "name": study.name,
        "version": study.version,
        "chooser": study.making.chooser,
        "shape": str(study.making.shape),
        "annotators": sum(each.answered > 0 for each in results.people),
        "code": provenance.code(),
        "rows": len(lines),
        "sha256": hashlib.sha256(body.encode()).hexdigest(),
    }
    return f"{json.dumps(head, ensure_ascii=False)}\n{body}".encode()


def _line(each: ItemResult, work: StudyWork, measured: Collection[str]) -> dict[str, Any]:
    item = each.item
    chosen = raters.majority(each.votes, each.answered)
    return {
        "id": item.id,
        "work": work.key,
        "work_sha256": work.sha256,
        "left": item.left,
        "right": item.right,
        "positive": _passage(item.gold),
        "negatives": [
            _passage(option) for number, option in enumerate(item.options, start=1) if number != item.right_option
        ],
        "verdict": "the quotation" if chosen == item.right_option else "another passage" if chosen else "no majority",
        "votes": {
            "quotation": each.right,
            "others": each.answered - each.right - each.cannot,
            "cannot decide": each.cannot,
        },
        "use": "evaluation" if work.key in measured else "training",
    }


def _passage(option: Option) -> dict[str, Any]:
    return {"words": option.words, "at": list(option.at), "sentences": [option.span.start, option.span.length]}
