"""The numbers of what was mined, beside those that RELiC's authors give of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from relic_core.domain import MAX_LENGTH
from relic_core.errors import NotFound
from relic_core.reporting import charts, statistics
from relic_ui.shell import literal, show_errors
from relic_ui.tables import save, show

if TYPE_CHECKING:
    from relic_core.wiring import App

_WHAT = "Your quotations"


def offer(app: App) -> None:
    """Offer the numbers; they are counted when they are asked for, since every quoted work is read for it."""
    st.header("In numbers", anchor="numbers")
    st.html(
        '<p class="relic-measure">How many quotations there are, how long they are, and how much of each work is ever '
        "quoted: counted as the makers of RELiC counted theirs, and set beside it. A <i>window</i> is a quotation with "
        "what its critic says around it; those of <i>training</i>, <i>dev</i> and <i>test</i> are there to learn from, "
        "to choose by and to report on.</p>"
    )
    if st.toggle("Count the quotations", key="sources_numbers"):
        with show_errors():
            _show(app)


def _show(app: App) -> None:
    try:
        with st.spinner("Counting …"):
            counted = app.statistics()
    except NotFound as error:
        st.info(str(error), icon=":material/info:")
        return
    kept = sum(source.windows for source in app.sources.all())
    if counted.total < kept:
        st.caption(
            f"Counted are {counted.total:,} of {kept:,} quotations. The others run over more than {MAX_LENGTH} "
            "sentences, or are in no split."
        )
    for note in app.dataset.stale():
        st.caption(literal(note))
    made = statistics.tables(counted, what=_WHAT)
    st.plotly_chart(
        statistics.draw_lengths(counted, what="in your sources"),
        key="sources_lengths",
        config=charts.config("length of the quotations"),
        alt="How many sentences the quotations have. The figures stand below as a table.",
    )
    for table in made:
        show(table)
    save(made, "quotations in numbers", key="sources_numbers_save")
