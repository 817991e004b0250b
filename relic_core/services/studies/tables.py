"""The results of a study as tables, for the command line, the page and the printed report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.reporting.tables import Cell, Figure, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.evaluation.raters import Share
    from relic_core.services.studies.results import StudyResults

PAPER = (
    ("Human domain experts, at least two of three (RELiC, Table 3)", 0.935),
    ("dense-RELiC at its best (RELiC, Table 3)", 0.675),
    ("ColBERT 1/1, the best not trained on RELiC (RELiC, Table 3)", 0.388),
)
"""What the paper measured on 200 items of Pride and Prejudice, BM25 choosing the other options."""

PAPER_AGREEMENT = {"fleiss": "0.68", "all agree": "68.5%", "none agree": "0.5%"}
"""The paper's Table 4."""

_TELLING = (
    "items were answered rightly by everybody, two people at least, and wrongly by a model that is not built on what "
    "chose the options."
)
_NONE = "–"
_SAID = 60
"""Characters of a quotation that a table shows."""


def tables(results: StudyResults, *, names: Mapping[str, str] | None = None) -> tuple[Table, ...]:
    """Set the results of a study: people and models beside each other, agreement, items.

    - `names`: what annotators are called, by their ids, in place of their names.
    """
    return (accuracies(results, names=names), agreement(results), items(results))


def accuracies(results: StudyResults, *, names: Mapping[str, str] | None = None) -> Table:
    """Set how often people and models were right; parameters as for `tables`."""
    study = results.study
    rows: list[tuple[Cell, ...]] = []
    if results.majority.accuracy is not None:
        rows.append(("People, by majority", results.majority.accuracy, results.majority.items, "", ""))
    for each in results.people:
        called = names[each.annotator.id] if names is not None else each.annotator.name
        seconds = f"{each.seconds:.0f} s an item"
        rows.append((called, each.accuracy or _NONE, each.answered, each.cannot, seconds if each.answered else ""))
    rows += [
        (each.label, each.accuracy or _NONE, 0 if each.accuracy is None else len(study.items), "", each.mark)
        for each in results.models
    ]
    rows += [(said, Figure(text=f"{100 * value:.1f}", value=value), 200, "", "the paper's") for said, value in PAPER]
    return Table(
        caption=f"{study.label}: how often the critic's quotation was chosen, in %",
        heads=("who", "right", "items", "cannot decide", "remarks"),
        rows=tuple(tuple(str(cell) if at == 3 else cell for at, cell in enumerate(row)) for row in rows),  # noqa: PLR2004
        notes=results.notes,
    )


def agreement(results: StudyResults) -> Table:
    """Set how far people agree, beside chance and the paper, each figure with what it means."""
    rows: list[tuple[Cell, ...]] = [
        (
            each.label,
            results.figures.get(each.key, _NONE),
            "0.00",
            PAPER_AGREEMENT.get(each.key, ""),
            each.meaning,
        )
        for each in results.agreement
    ]
    rows += [_share(each, results.figures) for each in (results.all_agree, results.none_agree)]
    return Table(
        caption=f"{results.study.label}: how far people agree",
        heads=("measure", "here", "by chance", "in the paper", "what it says"),
        rows=tuple(rows),
        notes=(*((results.paradox,) if results.paradox else ()), results.intervals),
    )


def items(results: StudyResults) -> Table:
    """Set the items, the hardest for people first."""
    return Table(
        caption=f"{results.study.label}: items, the hardest for people first",
        heads=("item", "work", "missing quotation", "right option", "votes", "cannot decide", "right", "models wrong"),
        rows=tuple(
            (
                each.item.id,
                each.title,
                _short(each.item.gold.words),
                str(each.item.right_option),
                " ".join(map(str, each.votes)),
                str(each.cannot),
                _NONE if each.share is None else Figure(text=f"{100 * each.share:.0f}%", value=each.share),
                ", ".join(label for label, choice in each.models.items() if choice != each.item.right_option),
            )
            for each in results.items
        ),
        notes=(f"{len(results.telling):,} {_TELLING}",),
    )


def _share(share: Share, figures: Mapping[str, Figure]) -> tuple[Cell, ...]:
    return (
        share.label,
        figures.get(share.label, _NONE),
        _NONE if share.chance is None else f"{100 * share.chance:.1f}%",
        PAPER_AGREEMENT[share.label],
        share.meaning,
    )


def _short(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= _SAID else f"{flat[: _SAID - 1].rstrip()}…"
