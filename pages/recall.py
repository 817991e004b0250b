"""Recall: how often does a retriever put the critic's own quotation near the top, and what stands there instead?"""

from __future__ import annotations

import streamlit as st

from relic_ui import shell
from relic_ui.recall import recall, recall_cases, recall_chart

app = shell.page("Recall")
st.html(recall.STYLE)
st.title("Recall")
with shell.show_errors():
    if offers := app.recall.offers():
        offers = recall.readable_first(app, offers)
        recall.introduce()
        recall.restore(app, offers)
        asked = recall.ask(app, offers)
        recall.keep(asked)
        if asked.runs:
            colours = recall_chart.colours_of(asked.offer)
            recall.choose_in_view(asked)
            if asked.view == "table":
                recall_chart.show_table(app, asked)
                recall_chart.show_overall(app, asked, colours)
            else:
                chart = recall_chart.show_chart(app, asked, colours)
                recall_chart.show_overall(app, asked, colours)
                if chart.marks and asked.view != "published":
                    recall_cases.show_cases(app, asked, chart, colours)
        else:
            st.info("Choose one or more measurements to see their figures.", icon=":material/bar_chart:")
    else:
        recall.teach()
