"""The address of the Recall page: what it asks for, and what it is given to show the same again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from relic_core.errors import BadRequest
from relic_core.services.recall import METRICS, SHOWN, SORTS
from relic_ui import links
from relic_ui.recall.recall import FIRST_VIEW, PART_OF, VIEW_LABELS, begin
from relic_ui.shell import literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.domain import Run
    from relic_core.services.recall import Offer
    from relic_core.wiring import App
    from relic_ui.recall.recall import Asked

PARAMETERS = ("benchmark", "runs", "metric", "view", "sort", "least", "beside", *PART_OF.values(), "show", "page")
"""What an address of the page may carry."""
_MOST_PAGES = 1_000_000
_SHORT = 60


def restore(app: App, offers: Sequence[Offer]) -> None:
    """Put the widgets to what the page's address asks for.

    They keep the last choice of a visit when the reader comes back from another page. A bare address, reached on this
    page by the browser's Back, brings the beginning back.
    """
    state = st.session_state
    wanted = {name: st.query_params[name] for name in PARAMETERS if name in st.query_params}
    if wanted == state.get("recall_address"):
        return
    if not wanted:
        if state["came_from"] == state["page"]:
            begin(app, offers[0])
            state["recall_address"] = {}
        return
    offer, runs = _named(app, offers, wanted)
    begin(app, offer)
    by_part = next((view for view, part in PART_OF.items() if part in wanted), FIRST_VIEW)
    view = wanted["view"] if wanted.get("view") in VIEW_LABELS else by_part
    least, page = _number(wanted.get("least", "")), _number(wanted.get("page", ""))
    metric = wanted.get("metric", "")
    if metric and metric not in METRICS:
        _warn(
            f"This address asks for the measure '{metric[:_SHORT]}', which no chart here is of. MRR, mean and median "
            "rank stand in Table."
        )
    state.update(
        recall_address=wanted,
        recall_runs=[run.id for run in runs] or state["recall_runs"],
        recall_metric=metric if metric in METRICS else state["recall_metric"],
        recall_view=view,
        recall_sort=wanted["sort"] if wanted.get("sort") in SORTS else SORTS[0],
        recall_least=least or state["recall_least"],
        recall_beside=wanted.get("beside") == "1",
        recall_part=wanted.get(PART_OF.get(view, ""), ""),
        recall_show=wanted["show"] if wanted.get("show") in SHOWN else SHOWN[0],
        recall_page=page or 1,
    )


def _named(app: App, offers: Sequence[Offer], wanted: Mapping[str, str]) -> tuple[Offer, list[Run]]:
    """Find what an address names, and tell what is not here."""
    known = {run.id: run for offer in offers for run in offer.runs}
    ids = [each for each in wanted.get("runs", "").split(",") if each]
    found = [known[each] for each in dict.fromkeys(ids) if each in known]
    name = wanted.get("benchmark") or (found[0].benchmark if found else offers[0].card.name)
    offer = next((each for each in offers if each.card.name == name), None)
    if offer is None:
        _warn(f"This address asks for the benchmark '{name[:_SHORT]}', and there is no run of it here.")
        return offers[0], []
    if gone := [each[:_SHORT] for each in ids if each not in known]:
        _warn(
            f"This address names runs that are not here: {', '.join(gone)}. They were measured on another machine, "
            "with other works or another version, or removed since."
        )
    own = [run for run in found if run.benchmark == name]
    if len(own) < len(found):
        try:
            app.recall.check(found)
        except BadRequest as error:
            _warn(f"{error} Here are those of {offer.card.label}.")
    return offer, own


def _warn(message: str) -> None:
    st.warning(literal(message), icon=":material/link_off:")


def _number(written: str) -> int:
    """Read a number from 1; 0 where it is none.

    >>> _number("12"), _number("-1"), _number("²"), _number("9" * 40)
    (12, 0, 0, 0)
    """
    return int(written) if written.isascii() and written.isdecimal() and len(written) < len(str(_MOST_PAGES)) else 0


def keep(asked: Asked) -> None:
    """Put what is shown into the page's address, as one step that Back undoes."""
    kept = {} if asked.default else asked.parameters
    state = st.session_state
    here = {name: st.query_params[name] for name in PARAMETERS if name in st.query_params}
    if kept != here:
        others = {name: value for name, value in st.query_params.items() if name not in PARAMETERS}
        st.query_params.from_dict(others | kept)
    state["recall_address"] = kept


def link_here(asked: Asked) -> str:
    """Make a link to exactly what is shown."""
    what = "table" if asked.view == "table" else "chart"
    return links.link("recall", f"Link to this {what}", **asked.parameters)
