"""The report of a study: what it was, what people and models answered, item by item; to be printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.config import provenance
from relic_core.reporting.printed import PrintedItem, Section, page
from relic_core.reporting.tables import Table
from relic_core.retrieval import registry
from relic_core.services.studies import tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.services.studies.results import ItemResult, StudyResults
    from relic_core.services.studies.standing import StudyView

_DIGITS = 12


def as_page(view: StudyView, results: StudyResults, *, names: Mapping[str, str] | None = None) -> str:
    """Write the report of a study as HTML.

    - `names`: what annotators are called, by their ids, in place of their names; comments are left out then.
    """
    telling = tuple(_printed(each, comments=names is None) for each in results.telling)
    return page(
        f"{view.study.label}: the missing quotation out of three",
        [
            Section(heading="The study", tables=(_facts(view),)),
            Section(heading="What annotators were told", paragraphs=(view.terms.instructions,)),
            Section(heading="People and models", tables=(tables.accuracies(results, names=names),)),
            Section(heading="How far people agree", tables=(tables.agreement(results),)),
            Section(
                heading="What everybody saw and a model did not",
                paragraphs=() if telling else ("There is no such item yet.",),
                items=telling,
            ),
            Section(
                heading="All items, the hardest first",
                items=tuple(_printed(each, comments=names is None) for each in results.items),
            ),
        ],
        foot=f"Study {view.study.id}, RELiC Workbench {provenance.code()}. The task is that of Thai et al. (2022), "
        "RELiC: Retrieving Evidence for Literary Claims, section 4.",
    )


def _facts(view: StudyView) -> Table:
    study, making = view.study, view.study.making
    chooser = registry.card(making.chooser).label
    beyond = f", of quotations that it ranks behind place {making.beyond:,}" if making.beyond else ""
    works = "; ".join(
        f"{work.title}{f' ({work.author})' if work.author else ''}, sha256 {work.sha256[:_DIGITS]}…"
        for work in study.works
    )
    lengths = ", ".join(map(str, making.lengths)) or "any"
    rows = (
        ("works", works),
        ("items", f"{len(study.items):,} of {making.windows:,} windows, seed {making.seed}"),
        ("windows of", making.benchmark or "the owner's own sources"),
        ("sentences of a quotation", lengths),
        ("context", str(making.shape)),
        ("other options", f"the best two of {chooser}{beyond}"),
        ("annotators", f"{view.annotators:,}; wanted for each item: {view.terms.wanted or 'everybody'}"),
        ("answers", f"{view.answers:,}, those that another took the place of among them"),
        ("made", f"{study.created:%d %B %Y}"),
    )
    return Table(caption=study.label, heads=("", ""), rows=rows)


def _printed(each: ItemResult, *, comments: bool) -> PrintedItem:
    item = each.item
    remarks = [f"Could not decide: {each.cannot}."] if each.cannot else []
    if comments:
        remarks += [f"“{comment}”" for comment in each.comments]
    options = []
    for number, option in enumerate(item.options, start=1):
        models = ", ".join(label for label, choice in each.models.items() if choice == number)
        votes = each.votes[number - 1]
        said = f"{option.address} · {votes} {'person' if votes == 1 else 'people'}{f'; {models}' if models else ''}"
        options.append((option.words, said))
    return PrintedItem(
        heading=f"{each.number}. {each.title}{f' · {item.source}' if item.source else ''}",
        left=item.left,
        right=item.right,
        options=tuple(options),
        right_option=item.right_option,
        remarks=tuple(remarks),
    )
