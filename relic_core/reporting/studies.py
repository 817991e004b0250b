"""What came of a study: its figures, the tables of them, and a page to be printed that needs no other file."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from relic_core.domain.figures import Cell, Figure, Table
from relic_core.retrieval import registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.domain.studies import ItemResult, Measure, StudyResults, StudyView

PAPER = (
    ("Human domain experts, at least two of three (RELiC, Table 3)", 0.935),
    ("dense-RELiC at its best (RELiC, Table 3)", 0.675),
    ("ColBERT 1/1, the best not trained on RELiC (RELiC, Table 3)", 0.388),
)
"""What the paper measured on 200 items of Pride and Prejudice, BM25 choosing the other options."""

PAPER_ITEMS = 200
PAPER_AGREEMENT = {"fleiss": "0.68", "all agree": "68.5%", "none agree": "0.5%"}

_TELLING = (
    "items were answered rightly by everybody, two people at least, and wrongly by a model that is not built on what "
    "chose the options."
)
_NONE = "–"
_SAID = 60
"""Characters of a quotation that a table shows."""

_DIGITS = 12
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 Georgia, "Times New Roman", serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
caption { text-align: left; font-weight: bold; padding-bottom: 0.4rem; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.6rem 0.25rem 0; border-bottom: 1px solid #8888; }
.number { text-align: right; white-space: nowrap; } .interval { display: block; font-size: 0.8rem; opacity: 0.8; }
.gap { border-bottom: 2px solid; padding: 0 3rem; } .words { white-space: pre-line; }
article { break-inside: avoid; border-top: 1px solid #8888; padding-top: 0.5rem; margin-top: 1rem; }
li.right { font-weight: bold; } .small { font-size: 0.85rem; opacity: 0.85; }
@media print { body { max-width: none; margin: 0; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""


def tables(results: StudyResults) -> tuple[Table, ...]:
    """Set people and models beside each other, agreement, items."""
    return (accuracies(results), agreement(results), items(results))


def accuracies(results: StudyResults, *, names: Mapping[str, str] | None = None) -> Table:
    """Set how often people and models were right."""
    study = results.study
    rows: list[tuple[Cell, ...]] = []
    if results.majority.accuracy is not None:
        rows.append(("People, by majority", results.majority.accuracy, results.majority.items, "", ""))
    for each in results.people:
        called = names[each.annotator.id] if names is not None else each.annotator.name
        seconds = f"{each.seconds:.0f} s an item" if each.answered else ""
        seconds += f"; {each.too_fast} of {each.answered} too fast" if each.too_fast else ""
        rows.append((called, each.accuracy or _NONE, each.answered, str(each.cannot), seconds))
    rows += [
        (each.label, each.accuracy or _NONE, 0 if each.accuracy is None else len(study.items), "", each.mark)
        for each in results.models
    ]
    rows += [
        (said, Figure(text=f"{100 * value:.1f}", value=value), PAPER_ITEMS, "", "the paper's") for said, value in PAPER
    ]
    return Table(
        caption=f"{study.label}: how often the critic's quotation was chosen, in %",
        heads=("who", "right", "items", "cannot decide", "remarks"),
        rows=tuple(rows),
        notes=results.notes,
    )


def agreement(results: StudyResults) -> Table:
    """Set how far people agree, beside chance and the paper, each figure with what it means."""
    figures = results.figures
    return Table(
        caption=f"{results.study.label}: how far people agree",
        heads=("measure", "here", "by chance", "in the paper", "what it says"),
        rows=tuple(
            (
                each.label,
                figures.get(each.key, _NONE),
                _by_chance(each),
                PAPER_AGREEMENT.get(each.key, ""),
                each.meaning,
            )
            for each in results.agreement
        ),
        notes=(*((results.paradox,) if results.paradox else ()), results.intervals),
    )


def _by_chance(measure: Measure) -> str:
    if measure.chance is not None:
        return f"{100 * measure.chance:.1f}%"
    return _NONE if measure.is_share else "0.00"


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
        notes=(f"{len(results.missed_by_models):,} {_TELLING}",),
    )


def _short(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= _SAID else f"{flat[: _SAID - 1].rstrip()}…"


def page(view: StudyView, results: StudyResults, *, code: str, names: Mapping[str, str] | None = None) -> str:
    """Write the results of a study as a page of HTML; everything is shown as it is, markup in it too.

    - `names`: what annotators are called, by their ids, in place of their names; comments are left out then.
    """
    title = escape(f"{view.study.label}: the missing quotation out of three")
    missed_by_models = [_item(each, comments=names is None) for each in results.missed_by_models]
    sections = {
        "The study": [_table(_facts(view))],
        "What annotators were told": [f'<p class="words">{escape(view.terms.instructions)}</p>'],
        "People and models": [_table(accuracies(results, names=names))],
        "How far people agree": [_table(agreement(results))],
        "What everybody saw and a model did not": missed_by_models
        or ['<p class="words">There is no such item yet.</p>'],
        "All items, the hardest first": [_item(each, comments=names is None) for each in results.items],
    }
    body = "\n".join(
        "\n".join(("<section>", f"<h2>{heading}</h2>", *parts, "</section>")) for heading, parts in sections.items()
    )
    foot = (
        f"Study {view.study.id}, RELiC Workbench {code}. The task is that of Thai et al. (2022), RELiC: Retrieving "
        "Evidence for Literary Claims, section 4."
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'{body}\n<p class="small">{escape(foot)}</p>\n</body>\n</html>\n'
    )


def _facts(view: StudyView) -> Table:
    study, making = view.study, view.study.making
    beyond = f", of quotations that it ranks behind place {making.beyond:,}" if making.beyond else ""
    works = "; ".join(
        f"{work.title}{f' ({work.author})' if work.author else ''}, sha256 {work.sha256[:_DIGITS]}…"
        for work in study.works
    )
    rows = (
        ("works", works),
        ("items", f"{len(study.items):,} of {making.windows:,} windows, seed {making.seed}"),
        ("windows of", making.benchmark or "the owner's own sources"),
        ("sentences of a quotation", ", ".join(map(str, making.lengths)) or "any"),
        ("context", str(making.shape)),
        ("other options", f"the best two of {registry.card(making.chooser).label}{beyond}"),
        ("annotators", f"{view.annotators:,}; wanted for each item: {view.terms.wanted or 'everybody'}"),
        ("answers", f"{view.answers:,}, those that another took the place of among them"),
        ("made", f"{study.created:%d %B %Y}"),
    )
    return Table(caption=study.label, heads=("", ""), rows=rows)


def _table(table: Table) -> str:
    right = table.to_the_right

    def cell(value: Cell, at: int) -> str:
        kind = ' class="number"' if right[at] or isinstance(value, Figure) else ""
        if not isinstance(value, Figure):
            return f"<td{kind}>{escape(f'{value:,}' if isinstance(value, int) else value)}</td>"
        interval = f'<span class="interval">{escape(value.interval)}</span>' if value.interval else ""
        return f"<td{kind}>{escape(value.text)}{interval}</td>"

    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    rows = "\n".join(f"<tr>{''.join(cell(value, at) for at, value in enumerate(row))}</tr>" for row in table.rows)
    notes = "".join(f'<p class="small">{escape(note)}</p>\n' for note in table.notes)
    return (
        f'<div class="wide"><table>\n<caption>{escape(table.caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>\n{notes}"
    )


def _item(each: ItemResult, *, comments: bool) -> str:
    item = each.item
    options = []
    for number, (option, votes) in enumerate(zip(item.options, each.votes, strict=True), start=1):
        right = number == item.right_option
        models = ", ".join(label for label, choice in each.models.items() if choice == number)
        said = f"{option.address} · {votes} {'person' if votes == 1 else 'people'}{f'; {models}' if models else ''}"
        kind, quoted = (' class="right"', " (the critic’s quotation)") if right else ("", "")
        options.append(
            f'<li{kind}><span class="words">{escape(option.words)}</span><br>'
            f'<span class="small">{escape(said)}{quoted}</span></li>'
        )
    remarks = [f"Could not decide: {each.cannot}."] if each.cannot else []
    remarks += [f"Answered too fast: {each.too_fast}."] if each.too_fast else []
    remarks += [f"“{comment}”" for comment in each.comments] if comments else []
    noted = "".join(f'<p class="small words">{escape(remark)}</p>' for remark in remarks)
    heading = f"{each.number}. {each.title}{f' · {item.source}' if item.source else ''}"
    return (
        f"<article>\n<h3>{escape(heading)}</h3>\n"
        f'<p>{escape(item.left)} <span class="gap" role="img" aria-label="missing quotation"></span> '
        f"{escape(item.right)}</p>\n<ol>{''.join(options)}</ol>\n"
        f"{noted}\n</article>"
    )
