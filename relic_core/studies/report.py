"""What came of a study: its figures, the tables of them, and a page to be printed that needs no other file."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from html import escape

from relic_core.domain.figures import Cell, Figure, Table, many
from relic_core.domain.studies import ItemResult, Measure, Study, StudyResults, StudyView, items_each, reading_minutes
from relic_core.evaluation.benchmarks import registry as benchmarks
from relic_core.installed import COMMAND
from relic_core.retrieval import registry

PAPER = (
    ("Human domain experts, at least two of three (RELiC, Table 3)", 0.935),
    ("dense-RELiC at its best (RELiC, Table 3)", 0.675),
    ("ColBERT 1/1, the best not trained on RELiC (RELiC, Table 3)", 0.388),
)
"""What the paper measured on 200 items of Pride and Prejudice, BM25 choosing the other options."""

PAPER_ITEMS = 200
PAPER_AGREEMENT = {
    "proxy": {"fleiss": "0.68", "all agree": "68.5%", "none agree": "0.5%"},
    "span": {"kappa": "0.22", "perfect agree": "22%"},
    "evidence": {},
}
"""By kind of study: RELiC's Table 4; Manjavacas, Long and Kestemont (2019), three readers of 60 allusions."""

PAPER_KINDS = {"claim-supporting": ("151", "153"), "paraphrase-supporting": ("31", "25"), "other": ("18", "")}
"""Of 200 quotations, as RELiC's section 2.3 counts them, and its Table 2."""

_TELLING = (
    "items were answered rightly by everybody, two people at least, and wrongly by a model that is not built on what "
    "chose the options."
)
_AFTER = {
    "proxy": "The task is that of Thai et al. (2022), RELiC: Retrieving Evidence for Literary Claims, section 4.",
    "span": "The task is that of Manjavacas, Long and Kestemont (2019), On the Feasibility of Automated Detection of "
    "Allusive Text Reuse, section 5.",
    "evidence": "The kinds are those of Thai et al. (2022), RELiC: Retrieving Evidence for Literary Claims, section "
    "2.3.",
}
_NONE = "–"
_LONGEST_CELL = 60
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
    """Set people and models beside each other, agreement, items; of other kinds of study people and what they say."""
    if results.study.kind.is_proxy:
        return (accuracies(results), agreement(results), items(results))
    labels = (kinds(results),) if results.study.kind.labels else ()
    return (people(results), *labels, agreement(results), item_answers(results))


def people(results: StudyResults, *, names: Mapping[str, str] | None = None) -> Table:
    """Set who answered, where nobody is right or wrong."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            each.annotator.name if names is None else names[each.annotator.id],
            each.answered,
            each.cannot,
            f"{each.seconds:.0f} s an item{f'; {each.too_fast} too fast' if each.too_fast else ''}"
            if each.answered
            else "",
        )
        for each in results.people
    )
    heads = ("who", "answered", "cannot decide", "remarks")
    return Table(caption=f"{results.study.label}: who answered", heads=heads, rows=rows, notes=results.notes)


def kinds(results: StudyResults) -> Table:
    """Set how many quotations have each label by most readers, beside the paper's counts."""
    labels = results.study.kind.labels
    found = [each.majority for each in results.items if each.majority]
    rows: list[tuple[Cell, ...]] = []
    for number, label in enumerate(labels, start=1):
        count = found.count(number)
        share = f"{100 * count / len(found):.1f}" if found else _NONE
        rows.append((label, count, share, *PAPER_KINDS[label]))
    return Table(
        caption=f"{results.study.label}: what quotations are there for, of {len(found):,} on which most readers agree",
        heads=("kind", "here", "% of these", "paper, section 2.3 (of 200)", "paper, Table 2"),
        rows=tuple(rows),
        notes=("The paper's text and its Table 2 do not agree; which of them is right it does not say.",),
    )


def item_answers(results: StudyResults) -> Table:
    """Set items with what most readers say, those first on which they differ most."""
    kind = results.study.kind
    votes = () if kind.marks_spans else kind.labels
    rows: list[tuple[Cell, ...]] = []
    for each in results.items:
        of, numbers = (each.item.id, each.title, _short(each.item.gold.words)), map(str, each.votes[: len(votes)])
        together = kind.choice_text(each.item, each.majority) or _NONE
        rows.append((*of, each.answered, *numbers, str(each.cannot), together, each.item.kind))
    return Table(
        caption=f"{results.study.label}: item by item",
        heads=("item", "of", "passage", "answers", *votes, "cannot decide", "together", "benchmark's label"),
        rows=tuple(rows),
    )


def accuracies(results: StudyResults, *, names: Mapping[str, str] | None = None) -> Table:
    """Set how often people and models were right."""
    study = results.study
    rows: list[tuple[Cell, ...]] = []
    if results.majority.accuracy is not None:
        rows.append(("People, by majority", results.majority.accuracy, results.majority.items, "", ""))
    if results.singly is not None:
        answered = sum(each.answered > 0 for each in results.items)
        rows.append(("People, one by one", results.singly, answered, "", "all items"))
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
        (who, Figure(text=f"{100 * value:.1f}", value=value), PAPER_ITEMS, "", "the paper's")
        for who, value in PAPER * (not study.claims_alone)
    ]
    return Table(
        caption=f"{study.label}: how often the right passage was chosen, in %",
        heads=("who", "right", "items", "cannot decide", "remarks"),
        rows=tuple(rows),
        notes=results.notes,
    )


def agreement(results: StudyResults) -> Table:
    """Set how far people agree, beside chance and the paper, each figure with what it means."""
    figures, printed = results.figures, paper_agreement(results.study)
    return Table(
        caption=f"{results.study.label}: how far people agree",
        heads=("measure", "here", "by chance", "in the paper", "what it says"),
        rows=tuple(
            (
                each.label,
                figures.get(each.key, _NONE),
                _by_chance(each),
                printed.get(each.key, ""),
                each.meaning,
            )
            for each in results.agreement
        ),
        notes=tuple(filter(None, (results.paradox, results.study.division, results.intervals))),
    )


def paper_agreement(study: Study) -> Mapping[str, str]:
    """Say what the paper printed of each measure; nothing of claims alone, which are another task."""
    return {} if study.claims_alone else PAPER_AGREEMENT[study.kind.name]


def _by_chance(measure: Measure) -> str:
    if measure.chance is not None:
        return f"{100 * measure.chance:.1f}%"
    return _NONE if measure.is_share or measure.key == "expected" else "0.00"


def items(results: StudyResults) -> Table:
    """Set the items, the hardest for people first."""
    rows: list[tuple[Cell, ...]] = []
    for each in results.items:
        of, right = (each.item.id, each.title, _short(each.item.gold.words)), str(each.item.right_option)
        votes = " ".join(map(str, each.votes))
        share = _NONE if each.share is None else Figure(text=f"{100 * each.share:.0f}%", value=each.share)
        codes = ", ".join(f"{code}: {count}" for code, count in Counter(each.judged).items())
        rows.append((*of, right, votes, str(each.cannot), share, ", ".join(each.wrong_models), codes))
    return Table(
        caption=f"{results.study.label}: items, the hardest for people first",
        heads=(
            "item",
            "work",
            "missing quotation",
            "right option",
            "votes",
            "cannot decide",
            "right",
            "models wrong",
            "judged",
        ),
        rows=tuple(rows),
        notes=(f"{len(results.missed_by_models):,} {_TELLING}",),
    )


def _short(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= _LONGEST_CELL else f"{flat[: _LONGEST_CELL - 1].rstrip()}…"


def page(view: StudyView, results: StudyResults, *, code: str, names: Mapping[str, str] | None = None) -> str:
    """Write the results of a study as a page of HTML; everything is shown as it is, markup in it too.

    Where nothing is right or wrong the items are a table.

    - `names`: what annotators are called, by their ids, in place of their names; comments are left out then.
    """
    kind = view.study.kind
    title = f"{view.study.label}: {'one passage out of three' if kind.is_proxy else kind.label}"
    sections = {
        "The study": [_table(_facts(view))],
        "What annotators were told": [f'<p class="words">{escape(view.terms.instructions)}</p>'],
    }
    if kind.is_proxy:
        missed_by_models = [_item(each, comments=names is None) for each in results.missed_by_models]
        sections |= {
            "People and models": [_table(accuracies(results, names=names))],
            "How well people agree": [_table(agreement(results))],
            "What everybody saw and a model did not": missed_by_models
            or ['<p class="words">There is no such item yet.</p>'],
            "All items, the hardest first": [_item(each, comments=names is None) for each in results.items],
        }
    else:
        _, *others = tables(results)
        sections["What came of it"] = [_table(each) for each in (people(results, names=names), *others)]
    body = "\n".join(
        "\n".join(("<section>", f"<h2>{heading}</h2>", *parts, "</section>")) for heading, parts in sections.items()
    )
    return _document(title, body, f"Study {view.study.id}, RELiC Workbench {code}. {_AFTER[kind.name]}")


_FOR = {
    "proxy": "how far people agree on which quotation a critic had in mind, and how near programs come to them",
    "span": "how far readers agree on where an allusion begins and ends, and whether that helps programs to find it",
    "evidence": "what critics use quotations for, and how far readers agree on it",
}
_LEAVING = """You take part of your own free will, and you need not say why you stop. Close the page, and nothing more
is stored. To have your answers removed, tell the person who runs the study the name or code that you gave: your name,
choices, times and comments are then deleted for good from the file in which they are kept. Files of answers that were
given to others before, and figures that were published, are not changed by that, so say it early."""


def load_of(view: StudyView) -> str:
    """Say how many items one reader has, and how long it takes to read them."""
    study, wanted = view.study, view.terms.wanted
    minutes, each = reading_minutes(study, wanted), items_each(study, wanted)
    time = f"takes about {many(minutes, 'minute')} at the pace of silent reading; choosing comes on top."
    if study.division:
        return (
            f"You have {each:,} of {len(study.items):,} items: {len(study.shared):,} that all readers have, and "
            f"{each - len(study.shared):,} that are yours alone. To read them once {time}"
        )
    return f"To read all {each:,} items once {time}"


def information(view: StudyView, *, guarded: bool) -> str:
    """Write the sheet that tells participants what a study asks, keeps and shows, as a page of HTML."""
    study, terms = view.study, view.terms
    works = "; ".join(f"{work.title}{f' ({work.author})' if work.author else ''}" for work in study.works)
    time = f"{load_of(view)} You can stop after any item and go on later with the same name or code."
    if terms.wanted and not study.division:
        time += f" An item that {terms.wanted:,} people have answered is not given to others, so you may have fewer."
    sees = (
        "The person who runs the study, who has a code for it, sees results, names or codes, and comments."
        if guarded
        else "Results, with names or codes and comments, can be seen by everybody who can open the page of the study."
    )
    sections = {
        "Who runs it": terms.runner or "____________________ (name, department, how to reach us)",
        "What it is for": f"The study asks {_FOR[study.kind.name]}. The texts are of: {works}.",
        "What you are asked to do": terms.instructions,
        "How long it takes": time,
        "What is stored, and where": terms.privacy,
        "Who sees it": f"{sees} Answers may be given to other researchers with numbers in place of names, without "
        "hours and comments.",
        "How to withdraw": " ".join(_LEAVING.split()),
        "What you agree to": terms.consent,
    }
    body = "\n".join(
        f'<section><h2>{heading}</h2><p class="words">{escape(words)}</p></section>'
        for heading, words in sections.items()
    )
    return _document(
        f"Information for participants: {study.label}", body, f"Study {study.id}. {_AFTER[study.kind.name]}"
    )


def guide(view: StudyView) -> str:
    """Write how a department runs a study that it was sent, as plain text."""
    study, wanted = view.study, view.terms.wanted or 1
    minutes = reading_minutes(study, wanted)
    time, hours = many(minutes, "minute"), math.ceil(minutes / 60)
    hour = f", and {wanted * hours} of them in about an hour" if hours > 1 else ""
    needed = [work for work in study.works if work.fingerprint]
    works = "\n".join(f"   {work.title}, sha256 {work.sha256}" for work in needed)
    slugs = " ".join(work.key for work in needed)
    add = f"1. Add its works to the library in these editions ({COMMAND} catalogue --add {slugs}):\n\n{works}"
    first = f"{add if needed else '1. It needs no work of the library.'}\n\n"
    readers = (
        f"Readers: {wanted}. Each reads {items_each(study, wanted):,} items in about {time}. "
        f"{study.division} What one reader leaves undone is given to the next who comes."
        if study.division
        else f"Readers: {wanted} for each item. One reader reads all items in about {time}, so that "
        f"{wanted} readers are done in that time{hour}. Items are given out until each has its answers."
    )
    return (
        f"{study.label}: {len(study.items):,} items ({study.asks})\n\n{readers}\n\n{first}"
        f"2. Take the study in: {COMMAND} study import study.json, or on the page Proxy task.\n"
        "3. Before the first answer, on the page of the study under Manage: say who runs it, set an owner's code, and "
        "save the information sheet anew, which then names you.\n"
        "4. Give each reader the information sheet and the address of the study. Readers should not see results, and "
        "should not speak of items before all are done.\n"
        f"5. {_read_results(study)}\n"
        "6. Answers are sent on as JSON, without names: on the page of results.\n\n"
        f"Instructions for readers:\n\n{view.terms.instructions}\n"
    )


def _read_results(study: Study) -> str:
    match study.kind.name:
        case "proxy":
            return (
                f"Have models answer ({COMMAND} study models {study.id}; a language model by --retriever "
                "llm-score, where a server is set up), and read the results on the page: people, retrievers and "
                "language models side by side, with intervals."
            )
        case "span":
            return "Read the results on the page: agreement with intervals, and what the spans are worth as queries."
        case _:
            return "Read the results on the page, which can also give quotations the label on which most readers agree."


def _document(title: str, body: str, foot: str) -> str:
    title = escape(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'{body}\n<p class="small">{escape(foot)}</p>\n</body>\n</html>\n'
    )


def made_of(study: Study) -> tuple[tuple[str, str], ...]:
    """Say what a study is made of."""
    making, kind = study.making, study.kind
    what = "pairs" if kind.marks_spans else "quotations"
    labels = {each.name: each.label for each in benchmarks.cards()}
    facts = [
        ("items", f"{len(study.items):,} of {making.windows:,} {what}, seed {making.seed}"),
        ("taken from", labels.get(making.benchmark, making.benchmark) or "your own books of criticism"),
    ]
    if kind.marks_spans:
        return (*facts, ("left out", f"{making.left_out:,}, without an anchor or a shared word"))
    facts.append(("sentences of a quotation", ", ".join(map(str, making.lengths)) or "any number"))
    if not study.claims_alone:
        facts.append(("context", making.shape.words))
    if kind.is_proxy:
        beyond = f", of quotations that it ranks behind place {making.beyond:,}" if making.beyond else ""
        if making.shared:
            facts.append(("divided", f"{making.shared:,} items for all readers, each of the others for one"))
        facts.append(("other options", f"the best two of {registry.card(making.chooser).label}{beyond}"))
    return tuple(facts)


def _facts(view: StudyView) -> Table:
    study = view.study
    works = "; ".join(
        f"{work.title}{f' ({work.author})' if work.author else ''}"
        f"{f', sha256 {work.sha256[:_DIGITS]}…' if work.sha256 else ''}"
        for work in study.works
    )
    rows = (
        ("works", works),
        *made_of(study),
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
    rows = "\n".join(f"<tr>{''.join(map(cell, row, itertools.count()))}</tr>" for row in table.rows)
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
        caption = f"{option.address} · {votes} {'person' if votes == 1 else 'people'}{f'; {models}' if models else ''}"
        kind, quoted = (' class="right"', " (the right passage)") if right else ("", "")
        options.append(
            f'<li{kind}><span class="words">{escape(option.words)}</span><br>'
            f'<span class="small">{escape(caption)}{quoted}</span></li>'
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
