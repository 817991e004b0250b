"""The parts of the Recall page that ask: which benchmark and runs, by which measure and view; and the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import streamlit as st

from relic_core.domain import Run
from relic_core.errors import BadRequest
from relic_core.installed import COMMAND
from relic_core.reporting.chart_words import measure_label
from relic_core.services.recall import METRICS, SORTS, Offer
from relic_core.wiring import App
from relic_ui import links
from relic_ui.shell import literal, warn_of_address
from relic_ui.visit import visit

SHOWN = ("missed", "some", "found", "all")
"""Examples that every run missed, that some did, that none did, or all."""

VIEW_LABELS = {
    "curve": "Over k",
    "books": "Works",
    "lengths": "Length",
    "shapes": "Context",
    "kinds": "Evidence",
    "overlap": "Shared words",
    "dialogue": "Speech",
    "place": "Place",
    "ranks": "Ranks",
    "published": "Published",
    "table": "Table",
}
FIRST_VIEW = "curve"
SORT_LABELS = {
    "recall": "Highest first",
    "year": "Year",
    "length": "Longest work first",
    "author": "Author",
    "title": "Title",
}
PART_OF = {
    "books": "book", "lengths": "length", "shapes": "shape", "kinds": "kind", "overlap": "overlap",
    "dialogue": "speech", "place": "place", "curve": "k", "ranks": "rank",
}  # fmt: skip
"""What the address calls the group whose examples are shown; published figures and the table have none."""


STYLE = Path(__file__).with_name("recall.css")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """What the page is to show.

    - `runs`: those chosen, in the order in which they were.
    - `view`: of `VIEW_LABELS`: "table", or a view of charts.
    - `metric`, `sort`, `least`, `beside`: as `services.recall.Recall.chart` takes them.
    - `part`: key of the group whose examples are shown; empty for none.
    """

    offer: Offer
    runs: tuple[Run, ...]
    metric: str
    view: str
    sort: str
    least: int
    beside: bool
    part: str
    show: str
    page: int
    default: bool

    @property
    def parameters(self) -> dict[str, Any]:
        """What an address carries that shows the same again, whatever is measured later."""
        given = {
            "benchmark": self.offer.card.name,
            "runs": ",".join(run.id for run in self.runs),
            "metric": self.metric,
            "view": self.view,
            "sort": self.sort if self.view == "books" and self.sort != SORTS[0] else "",
            "least": str(self.least) if self.view == "books" else "",
            "beside": "1" if self.view == "lengths" and self.beside else "",
            PART_OF.get(self.view, ""): self.part,
            "show": self.show if self.part and self.show != SHOWN[0] else "",
            "page": str(self.page) if self.part and self.page > 1 else "",
        }
        return {name: value for name, value in given.items() if name and value}


def introduce() -> None:
    """Say what the page shows, in a scholar's words."""
    st.html('<p class="relic-lede">How near the top stands the passage that answers the claim?</p>')


def teach() -> None:
    """Say what the page will show, and how the first run is made."""
    introduce()
    st.info(
        "Nothing has been measured here yet. A first measurement takes a minute: it searches for every quotation of "
        "the sample, and this page shows how often it is found.",
        icon=":material/bar_chart:",
    )
    st.code(f"{COMMAND} evaluate sample dense-relic", language="bash")
    st.html(
        '<p class="relic-measure">What is measured is one way of searching on one benchmark: a set of places in '
        "criticism where a work is quoted. <b>recall@10</b> is the share of these places for which the passage that "
        "the critic quoted is among the first ten.</p>"
    )


def readable_first(app: App, offers: Sequence[Offer]) -> Sequence[Offer]:
    """Begin with the first benchmark whose claims are at hand, where there is one."""
    here = next((offer for offer in offers if app.outcomes.claims_here(offer.card.name)), offers[0])
    return (here, *(offer for offer in offers if offer is not here))


def default_metric(offer: Offer) -> str:
    """Give the measure that a benchmark begins with: the one that the literature reports first."""
    return offer.card.main_metric if offer.card.main_metric in METRICS else "recall@10"


def begin(app: App, offer: Offer) -> None:
    """Put all widgets to what a benchmark begins with."""
    visit().update(
        {
            "recall_benchmark": offer.card.name,
            "recall_runs": [run.id for run in offer.default],
            "recall_metric": default_metric(offer),
            "recall_view": FIRST_VIEW,
            "recall_sort": SORTS[0],
            "recall_least": app.recall.default_least(offer.default),
            "recall_beside": False,
            "recall_part": "",
            "recall_show": SHOWN[0],
            "recall_page": 1,
        }
    )


def _other_benchmark(app: App, offers: Sequence[Offer]) -> None:
    """Begin with another benchmark, seen as the one before."""
    view = visit()["recall_view"]
    begin(app, next(offer for offer in offers if offer.card.name == visit()["recall_benchmark"]))
    visit()["recall_view"] = view
    links.press()


def _other_view() -> None:
    visit()["recall_part"] = ""
    first_page()


def first_page() -> None:
    """Go back to the first page of examples, at a press."""
    visit()["recall_page"] = 1
    links.press()


def ask(app: App, offers: Sequence[Offer]) -> RecallQuery:
    """Draw the choice of benchmark, measure and runs."""
    state = visit()
    by_name = {offer.card.name: offer for offer in offers}
    if state.get("recall_benchmark") not in by_name:
        begin(app, offers[0])
    with st.container(horizontal=True, gap="medium"):
        st.selectbox(
            "Benchmark",
            list(by_name),
            format_func=lambda name: by_name[name].card.label,
            key="recall_benchmark",
            persist_state="session",
            on_change=_other_benchmark,
            args=(app, offers),
            width=360,
            help="A set of places in criticism where a work is quoted, with the claim and the passage quoted.",
        )
        st.selectbox(
            "Measure",
            METRICS,
            format_func=measure_label,
            key="recall_metric",
            persist_state="session",
            on_change=first_page,
            width=165,
            help="What figures and charts show. Over k has every k of it, Ranks needs none, and Table has MRR, mean "
            "and median rank.",
        )
        offer = by_name[state["recall_benchmark"]]
        _choose_view(app, offer)
    by_id = {run.id: run for run in offer.runs}
    labels = app.recall.labels(offer.runs)
    own = {run.id: run.label for run in offer.runs if run.shape == offer.default[0].shape}
    state["recall_runs"] = [each for each in state["recall_runs"] if each in by_id]
    st.multiselect(
        "Measurements, side by side",
        list(by_id),
        format_func=lambda each: own[each] if [*own.values()].count(own.get(each, "")) == 1 else labels[each],
        key="recall_runs",
        persist_state="session",
        on_change=first_page,
        placeholder="Choose one or more",
        help="One way of searching each."
        + offer.card.quotes
        * " 4 before, 4 after: the claim is the critic’s four sentences before the quotation and four after it.",
    )
    return _asked(app, offers, offer)


def _asked(app: App, offers: Sequence[Offer], offer: Offer) -> RecallQuery:
    state = visit()
    by_id = {run.id: run for run in offer.runs}
    least = app.recall.default_least(offer.default)
    chosen: dict[str, Any] = {
        name: st.session_state[f"recall_{name}"] for name in ("metric", "view", "sort", "least", "beside")
    }
    part, runs = state["recall_part"] or "", tuple(by_id[each] for each in state["recall_runs"])
    default = (
        offer is offers[0]
        and runs == offer.default
        and tuple(chosen.values()) == (default_metric(offer), FIRST_VIEW, SORTS[0], least, False)
        and not part
    )
    return RecallQuery(
        offer=offer,
        runs=runs,
        part=part,
        show=state["recall_show"],
        page=state["recall_page"],
        default=default,
        **chosen,
    )


def _choose_view(app: App, offer: Offer) -> None:
    state = visit()
    chosen = [run for run in offer.runs if run.id in state["recall_runs"]]
    labelled = any(outcome.kind for run in chosen for outcome in app.runs.labelled(run.id))
    views = [view for view in VIEW_LABELS if view != "kinds" or labelled or state["recall_view"] == "kinds"]
    st.selectbox(
        "Seen by",
        views,
        format_func=VIEW_LABELS.__getitem__,
        key="recall_view",
        persist_state="session",
        on_change=_other_view,
        width=165,
    )


def choose_in_view(asked: RecallQuery) -> None:
    """Draw what can be chosen in a view."""
    if asked.view == "lengths" and asked.offer.card.pool == "whole work":
        beside = "Beside published figures (RELiC, table A9)"
        st.checkbox(beside, key="recall_beside", persist_state="session", on_change=first_page)
    if asked.view != "books":
        return
    with st.container(horizontal=True, gap="medium"):
        st.selectbox(
            "Order",
            SORTS,
            format_func=SORT_LABELS.__getitem__,
            key="recall_sort",
            persist_state="session",
            on_change=first_page,
            width=220,
        )
        st.number_input(
            "Quotations a work needs",
            min_value=1,
            max_value=10_000,
            key="recall_least",
            persist_state="session",
            on_change=first_page,
            width=220,
            help="A figure made of two or three quotations says little about a work. Works with fewer than this are "
            "left out; n is how many a figure is made of.",
        )


PARAMETERS = ("benchmark", "runs", "metric", "view", "sort", "least", "beside", *PART_OF.values(), "show", "page")
_SHORT = 60


def restore(app: App, offers: Sequence[Offer]) -> None:
    """Put the widgets to what the page's address asks for."""
    if (wanted := links.asked_anew(PARAMETERS)) is None:
        return
    offer, runs = _named(app, offers, wanted)
    begin(app, offer)
    by_part = next((view for view, part in PART_OF.items() if part in wanted), FIRST_VIEW)
    view = wanted["view"] if wanted.get("view") in VIEW_LABELS else by_part
    least, page = (links.number(wanted.get(name, "")) for name in ("least", "page"))
    metric = wanted.get("metric", "")
    if metric and metric not in METRICS:
        _warn(
            f"This address asks for the measure '{metric[:_SHORT]}', which no chart here shows. MRR, mean and median "
            "rank are in Table."
        )
    state = visit()
    state.update(
        {
            "recall_runs": [run.id for run in runs] or state["recall_runs"],
            "recall_metric": metric if metric in METRICS else state["recall_metric"],
            "recall_view": view,
            "recall_sort": wanted["sort"] if wanted.get("sort") in SORTS else SORTS[0],
            "recall_least": least or state["recall_least"],
            "recall_beside": wanted.get("beside") == "1",
            "recall_part": wanted.get(PART_OF.get(view, ""), ""),
            "recall_show": wanted["show"] if wanted.get("show") in SHOWN else SHOWN[0],
            "recall_page": page or 1,
        }
    )


def _named(app: App, offers: Sequence[Offer], wanted: Mapping[str, str]) -> tuple[Offer, list[Run]]:
    """Find what an address names, and tell what is not here."""
    known = {run.id: run for run in chain.from_iterable(offer.runs for offer in offers)}
    ids = [each for each in wanted.get("runs", "").split(",") if each]
    found = [known[each] for each in dict.fromkeys(ids) if each in known]
    name = wanted.get("benchmark") or (found[0].benchmark if found else offers[0].card.name)
    offer = next((each for each in offers if each.card.name == name), None)
    if offer is None:
        _warn(f"This address asks for the benchmark '{name[:_SHORT]}', on which nothing was measured here.")
        return offers[0], []
    if gone := [each[:_SHORT] for each in ids if each not in known]:
        _warn(
            f"This address names measurements that are not here: {', '.join(gone)}. They were made on another "
            "computer, with other works or another version, or removed since."
        )
    own = [run for run in found if run.benchmark == name]
    if len(own) < len(found):
        try:
            app.recall.check(found)
        except BadRequest as error:
            _warn(f"{error} Here are those of {offer.card.label}.")
    return offer, own


def _warn(message: str) -> None:
    warn_of_address(literal(message))


def keep(asked: RecallQuery) -> None:
    """Put what is shown into the page's address."""
    links.name_asked(PARAMETERS, {} if asked.default else asked.parameters)


def link_here(asked: RecallQuery) -> str:
    """Make a link to exactly what is shown."""
    what = "table" if asked.view == "table" else "chart"
    return links.link("recall", f"Link to this {what}", **asked.parameters)
