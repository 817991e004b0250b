"""Why a quotation was missed, and what people say of what stood in its place: beside cases of Recall and of studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import streamlit as st
from markupsafe import Markup

from relic_core.domain import Run
from relic_core.domain.studies import Study
from relic_core.services.recall import CODES, FINDINGS, Diagnosis
from relic_core.wiring import App
from relic_ui import person
from relic_ui.shell import show_errors
from relic_ui.templates import render

Judgements = Mapping[str, Mapping[tuple[str, str], tuple[str, ...]]]
"""By the id of a run or study, then by example and judge: the codes."""


def why(case: Diagnosis | None, shares: Mapping[str, float | None]) -> Markup:
    """Set what can be said of a case, folded.

    - `case`: None where its work is not here.
    - `shares`: whose words, and the share of them that the claim has too; the quotation's first.
    """
    shared = ", ".join(f"{100 * share:.0f}% of {whose}" for whose, share in shares.items() if share is not None)
    facts = {"Words shared with the claim": shared}
    found = "The work is not in the library, so only words can be compared."
    if case is not None:
        facts |= {
            "Length": f"{case.words:,} word{'s' * (case.words != 1)}, {100 * case.spoken:.0f}% of them speech",
            "Quoted in the criticism here": f"{case.quoted:,} time{'s' * (case.quoted != 1)}",
            "Candidates that overlap it": f"{case.overlapping:,}",
            "Place": "" if case.place is None else f"{100 * case.place:.0f}% into the work",
        }
        found = " ".join(FINDINGS[name] for name in case.findings) or "Nothing that can be counted explains it."
    return render("why.html", found=found, facts=facts)


def judgements(app: App, of: Iterable[Run | Study]) -> Judgements:
    """Give what was said of the cases of runs or a study, for all of a page's `judge`."""
    return {each.id: app.runs.case_judgements(each) for each in of}


def judge(app: App, of: Sequence[Run | Study], example_id: str, what: str, kept: Judgements) -> None:
    """Ask what a person says of what stood in a quotation's place, and keep it for each of the runs, or the study.

    - `what`: what is judged, in words.
    """
    key, who = f"judged_{'_'.join(each.id for each in of)}_{example_id}", person.current()
    if key not in st.session_state:  # what was said of one of them is kept for all with the next press: show all of it
        codes = set(chain.from_iterable(kept[each.id].get((example_id, who), ()) for each in of))
        st.session_state[key] = [code for code in CODES if code in codes]

    def keep() -> None:
        with show_errors():
            for each in of:
                app.runs.judge_case(each, example_id, st.session_state[key], judge=who)

    st.pills(
        f"Your judgement of {what}",
        list(CODES),
        selection_mode="multi",
        key=key,
        on_change=keep,
        help=" ".join(f"{code}: {meaning}" for code, meaning in CODES.items()),
    )
