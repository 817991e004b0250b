"""The examples behind a figure: the claim, what the critic quoted, and what each retriever put first in its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from html import escape
from itertools import chain, islice
from typing import cast

import streamlit as st
from markupsafe import Markup

from relic_core.domain import Offsets, Outcome, Run
from relic_core.domain.figures import DRAWN_K, Chart, View
from relic_core.services.recall import Case, Missing, ReadOutcome
from relic_core.wiring import App
from relic_ui import links
from relic_ui.jobs import offer, offer_critics
from relic_ui.library.shelf import about
from relic_ui.naming import listed, many
from relic_ui.recall.recall import RecallQuery, first_page
from relic_ui.recall.recall_chart import with_code
from relic_ui.shell import literal, warn_of_address
from relic_ui.templates import render
from relic_ui.visit import visit
from relic_ui.why import Judgements, judge, judgements, why

_PAGE = 5
_SHORT = 60
_CHOICES = {
    "books": "Work",
    "lengths": "Sentences in the quotation",
    "shapes": "Context",
    "kinds": "Evidence",
    "overlap": "Words shared with the claim",
    "dialogue": "The quotation is",
    "place": "Part of the work",
    "curve": "Passages looked at, k",
    "ranks": "Rank of the quotation",
}
_OF_ONE = {"missed": "Missed", "found": "Found", "all": "All"}
_OF_SEVERAL = {"missed": "Missed by all", "some": "Missed by some", "found": "Found by all", "all": "All"}

_WITHOUT = {
    "pool": "The passages given with the questions are not on this computer, so only their ranks are shown.",
    "data": "The claims are not on this computer: only places and ranks came with the program. {needs}",
    "damaged": "The claims are not shown: the texts of this benchmark that are here are not those that were measured.",
    "needs works": "The claims are not shown: for that all works of this benchmark have to be in the {library}.",
    "example": "Some claims are not shown: the texts of this benchmark that are here do not hold them.",
}
"""What is said of what is missing, works and editions apart, which are named."""
_PUBLIC = "public-relic"
_TO_BE_HAD, _FETCHING = ("folder", "gutenberg"), 5.0
"""Where works can be had by a press, and the seconds that each takes."""
_ASK = "This program does not know the benchmark; the person who measured it has the claims."


def show_cases(app: App, asked: RecallQuery, chart: Chart, colours: Mapping[str, str]) -> None:
    """Draw the choice of a group, and its examples."""
    st.header("The examples behind a figure", anchor="recall-examples")
    names = {group.key: group.label for group in chart.groups}
    if chart.view == "curve":
        names = {key: key for key in names if key == asked.part or int(key) in DRAWN_K}
    part = asked.part if asked.part in names else ""
    if asked.part and not part:
        warn_of_address(
            literal(
                f"Nothing in this chart is called '{asked.part[:_SHORT]}', or it has too few quotations to be shown."
            )
        )
    visit()["recall_part"] = part
    view = cast("View", asked.view)
    cases = app.recall.cases(view, asked.runs, asked.metric, part) if part else ()
    cases = app.outcomes.readable_first(cases)
    st.selectbox(
        _CHOICES[view],
        ["", *names],
        format_func=lambda key: names.get(key, "Choose one"),
        key="recall_part",
        persist_state="session",
        on_change=first_page,
        width=360,
    )
    show = _choose_shown(cases) if part and view != "ranks" else "all"
    if part:
        shown = [case for case in cases if show in {"all", case.verdict}]
        st.html(f'<p role="status">{_counted(view, names[part], show, len(shown), cases)}</p>')
        _show_page(app, asked, shown, colours)
    else:
        st.html('<p class="relic-quiet">Click a mark in the chart, or choose here.</p>')


def _choose_shown(cases: Sequence[Case]) -> str:
    labels = _OF_SEVERAL if any(len(case.outcomes) > 1 for case in cases) else _OF_ONE
    counts = {name: sum(name in {"all", case.verdict} for case in cases) for name in labels}
    if visit()["recall_show"] not in labels:
        visit()["recall_show"] = "missed"
    st.segmented_control(
        "Examples",
        list(labels),
        format_func=lambda name: f"{labels[name]}: {counts[name]:,}",
        key="recall_show",
        persist_state="session",
        required=True,
        on_change=first_page,
    )
    return str(visit()["recall_show"])


def _show_page(app: App, asked: RecallQuery, cases: Sequence[Case], colours: Mapping[str, str]) -> None:
    pages = max(1, -(-len(cases) // _PAGE))
    page = min(asked.page, pages)
    shown = cases[(page - 1) * _PAGE : page * _PAGE]
    pairs = list(chain.from_iterable(case.outcomes for case in shown))
    with st.spinner("Opening the benchmark and its works …"):
        outcomes = app.outcomes.read(pairs)
    rest = iter(outcomes)
    read = [list(islice(rest, len(case.outcomes))) for case in shown]
    if missing := tuple(dict.fromkeys(chain.from_iterable(each.missing for each in outcomes))):
        needs = asked.offer.card.needs
        st.html(_what_is_missing(missing, "" if asked.offer.card.name.startswith(_PUBLIC) else needs or _ASK))
        _get(app, asked.runs[0], {each.what for each in missing})
    reasons = _why_missed(app, shown)
    kept = judgements(app, {run.id: run for run, _ in pairs}.values())
    for case, each in zip(shown, read, strict=True):
        st.html(_case(case, each, colours, reasons, titled=asked.view != "books"))
        _judge(app, case, each, kept)

    def to(label: str, number: int) -> str:
        parameters = dataclasses.replace(asked, page=number).parameters
        return links.link("recall", label, attributes={"data-then": "#recall-examples"}, **parameters)

    st.html(
        f"{links.pages_html(page, pages, to)}"
        '<p class="relic-recall-back"><a href="#recall-chart" target="_self">Back to the chart</a></p>'
    )


def _get(app: App, run: Run, what: Collection[str]) -> None:
    """Offer to get what is missing, where a press can."""
    if "data" in what and run.benchmark.startswith(_PUBLIC):
        offer_critics(app, "recall_claims")
    books = {book.key for book in run.books}
    slugs = [
        each.entry.slug for each in app.catalogue.shelf() if each.entry.slug in books and each.origin in _TO_BE_HAD
    ]
    if slugs and not {"work", "needs works"}.isdisjoint(what):
        time = about(_FETCHING * len(slugs))
        label = f"Add the {many(len(slugs), 'work')} ({time})"
        offer(app, "recall_works", label, lambda: app.catalogue.add(slugs, prepare=False))


def _why_missed(app: App, cases: Sequence[Case]) -> dict[tuple[str, str], Markup]:
    """Say why quotations were not put first, by run and example, where their texts are here."""
    some: dict[Run, list[Outcome]] = {}
    for run, outcome in chain.from_iterable(case.outcomes for case in cases):
        if outcome.rank != 1:
            some.setdefault(run, []).append(outcome)
    return {
        (run.id, each.example_id): why(
            each, {"the quotation’s": each.overlap, "the first passage’s": each.first_overlap}
        )
        for run, own in some.items()
        for each in app.outcomes.diagnosed(run, app.runs.outcomes(run.id), own)
    }


def _judge(app: App, case: Case, read: Sequence[ReadOutcome], kept: Judgements) -> None:
    """Ask what a person says of each passage that a run put first, once where several put the same."""
    missed: dict[Offsets, list[Run]] = {}
    for (run, outcome), each in zip(case.outcomes, read, strict=True):
        if outcome.rank != 1 and each.claim and each.gold.passage and each.first:
            missed.setdefault(each.first[0].offsets, []).append(run)
    several = len(missed) > 1
    with st.expander("Your judgements of the first passages") if several else st.container():
        for runs in missed.values():
            judge(app, runs, case.id, f"what {listed([f'{run.label} ({run.shape})' for run in runs])} put first", kept)


def _what_is_missing(missing: Sequence[Missing], needs: str) -> str:
    notes = []
    needs = with_code(needs.replace("It needs", "To read them, this benchmark needs", 1))
    library = links.link("library", "Library")
    if works := _named(missing, "work"):
        notes.append(f"Not in your library, so their passages are not shown: {works}. Add them in the {library}.")
    if editions := _named(missing, "edition"):
        notes.append(
            f"In your library in another edition than the one measured, so the places do not fit it: {editions}. Add "
            f"that edition in the {library}."
        )
    notes += [
        words.format(library=library, needs=needs)
        for what, words in _WITHOUT.items()
        if any(each.what == what for each in missing)
    ]
    paragraphs = "".join(f"<p>{each}</p>" for each in notes)
    return f'<div id="recall-missing" class="relic-recall-missing" role="note">{paragraphs}</div>'


def _named(missing: Sequence[Missing], what: str) -> str:
    return ", ".join(f"<cite>{escape(each.name)}</cite>" for each in missing if each.what == what)


def _counted(view: View, label: str, show: str, count: int, cases: Sequence[Case]) -> str:
    """Say how many examples there are, of how many."""
    of = {
        "books": f"of <cite>{escape(label)}</cite>",
        "lengths": f"of {escape(label)} sentence{'s' * (label != '1')}",
        "shapes": f"with a context of {escape(label)}",
        "kinds": f"labelled {escape(label)}",
        "overlap": f"that share {escape(label)} of their words with the claim",
        "dialogue": f"in {'speech and narration' if label == 'both' else escape(label)}",
        "place": f"in the {escape(label.removesuffix(' quarter'))} quarter of their work",
        "curve": f"with k = {escape(label)}",
        "ranks": f"with a rank of {escape(label)}",
    }[view]
    every = f"{len(cases):,} quotation{'s' * (len(cases) != 1)} {of}"
    if view == "ranks":
        return f"{every}, in at least one of the measurements."
    if show == "all":
        return f"All {every}, the worst first."
    runs = max((len(case.outcomes) for case in cases), default=1)
    by = "it" if runs == 1 else "some of them" if show == "some" else f"all {runs}"
    verb = "found" if show == "found" else "missed"
    return f"{count:,} of {every} {verb} by {by}{', the worst first' * (count > 1)}."


def _case(
    case: Case,
    read: Sequence[ReadOutcome],
    colours: Mapping[str, str],
    reasons: Mapping[tuple[str, str], Markup],
    *,
    titled: bool,
) -> Markup:
    """Set one example: claim and quotation on the left, what each retriever put first on the right."""
    gold = next((each.gold for each in read if each.gold.passage), read[0].gold)
    widest = max(read, key=lambda each: len(each.claim.words) if each.claim else 0)
    return render(
        "recall/case.html",
        case=case,
        read=read,
        colours=colours,
        reasons=reasons,
        titled=titled,
        gold=gold,
        claim=widest.claim,
        context=_context(case, read, widest),
        firsts=any(hit.passage for each in read for hit in each.first),
    )


def _context(case: Case, read: Sequence[ReadOutcome], shown: ReadOutcome) -> str:
    """Say which context the claim is of, where the runs have several."""
    shapes = [run.shape.words for run, _ in case.outcomes]
    if len(set(shapes)) == 1:
        return ""
    return next(shape for shape, each in zip(shapes, read, strict=True) if each is shown)
