"""Claims that are joined to the one in the box by and, or, but not: rows that stand there only where asked for."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from relic_core.domain import MAX_CLAIMS, Condition, Joined, SearchRequest, Unit
from relic_core.domain.searches import split_claim
from relic_core.services.search import has_gap
from relic_core.wiring import App
from relic_ui.find.claim_box import ask
from relic_ui.find.scope import Scope
from relic_ui.shell import literal, show_errors
from relic_ui.visit import visit

JOINS: dict[Joined, str] = {"and": "and", "or": "or", "not": "but not"}
_UNITS: dict[Unit, str] = {"passage": "Passages", "chapter": "Chapters", "work": "Works"}
_MOST = MAX_CLAIMS - 1


def put(rows: Sequence[Condition] = (), unit: Unit = "passage") -> None:
    """Set the rows; none by default."""
    visit().update({"find_rows": len(rows), "find_unit": unit})
    for at, row in enumerate(rows):
        st.session_state.update({f"find_joined_{at}": row.joined, f"find_part_{at}": row.claim_text})


def chosen() -> tuple[Condition, ...]:
    """Give the rows as they are written."""
    state = visit()
    return tuple(
        Condition(st.session_state.get(f"find_joined_{at}", "and"), st.session_state.get(f"find_part_{at}") or "")
        for at in range(state.get("find_rows", 0))
    )


def unit(where: Scope) -> Unit:
    """Give what is to be answered with."""
    units, state = _units(where), visit()
    found: Unit = state.get("find_unit", "passage") if chosen() else "passage"
    return found if found in units else "passage"


def _units(where: Scope) -> list[Unit]:
    """List what can be answered with: what is smaller than what is searched."""
    if where.work is None:
        return ["passage", "work"]
    chapters = len(where.chapters) or where.work.chapters
    return ["passage", "chapter"] if chapters > 1 else ["passage"]


def show_rows(where: Scope) -> None:
    """Draw the rows, each with its own way out, and what is to be answered with; nothing where there is no row."""
    state = visit()
    if not state.get("find_rows"):
        return
    with st.container(gap="xsmall", key="find_conditions"):
        for at in range(state["find_rows"]):
            with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"find_row_{at}"):
                st.selectbox(
                    f"How claim {at + 2} is joined",
                    list(JOINS),
                    format_func=JOINS.__getitem__,
                    key=f"find_joined_{at}",
                    persist_state="session",
                    label_visibility="collapsed",
                    width=116,
                )
                st.text_input(
                    f"Claim {at + 2}", key=f"find_part_{at}", persist_state="session", label_visibility="collapsed"
                )
                st.form_submit_button(
                    "Remove",
                    key=f"find_remove_{at}",
                    type="tertiary",
                    on_click=_remove,
                    args=(at,),
                )
        if len(units := _units(where)) > 1:
            state["find_unit"] = unit(where)
            st.segmented_control(
                "Answer with",
                units,
                format_func=_UNITS.__getitem__,
                key="find_unit",
                persist_state="session",
                required=True,
                help="A chapter or a work answers where each claim has a passage in it; the passages may be different "
                "ones.",
            )


def show_add(app: App) -> None:
    """Draw the button that adds a row, as long as there may be more; and one that has a model write all."""
    if visit().get("find_rows", 0) < _MOST:
        st.form_submit_button(
            "Add a condition",
            key="find_add",
            type="tertiary",
            icon=":material/add:",
            on_click=_add,
            help="Join claims by and, or, but not.",
        )
    if app.settings.reader and app.model_reading.allowed and not visit().get("find_rows"):
        st.form_submit_button(
            "Split the claim",
            key="find_model_split",
            type="tertiary",
            icon=":material/smart_toy:",
            on_click=_split,
            args=(app,),
            help=f"The language model proposes claims joined by and, or, but not. The claim goes to "
            f"{literal(app.model_reading.place)}; nothing is searched before you press Find.",
        )


def _split(app: App) -> None:
    state = visit()
    claim = str(state.get("find_claim") or "").strip()
    with show_errors():
        if not claim:
            return
        if rows := app.model_reading.split(claim):
            state["find_claim"] = rows[0].claim_text
            put(rows[1:])
        else:
            st.toast("The model sees only one claim here.", icon=":material/info:")


def _add() -> None:
    put((*chosen(), Condition("and", "")), visit().get("find_unit", "passage"))


def _remove(at: int) -> None:
    rows = chosen()
    put((*rows[:at], *rows[at + 1 :]), visit().get("find_unit", "passage"))


def offer_split(request: SearchRequest) -> None:
    """Offer to ask a sentence with "and", "or", "but not" as joined claims; nothing of any other, nor with a gap."""
    asked = request.claim_text
    rows = () if request.conditions or request.like or has_gap(asked) else split_claim(asked)
    if not rows:
        return

    def take() -> None:
        visit().update({"find_claim": rows[0].claim_text, "find_more": ""})
        put(rows[1:])
        ask()

    st.button(
        f"Ask as {len(rows)} joined claims",
        key="find_split",
        type="tertiary",
        icon=":material/call_split:",
        on_click=take,
        help="; ".join([rows[0].claim_text, *(f"{JOINS[row.joined]} {row.claim_text}" for row in rows[1:])]),
    )
