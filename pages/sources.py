"""Criticism: which lines of a work do critics quote, who quotes them, and what do they say about a claim?"""

from __future__ import annotations

import streamlit as st

from relic_ui import shell
from relic_ui.sources import critics, sources

app = shell.page("Criticism")
with shell.show_errors():
    wanted = sources.asked()
    if (wanted.source_id or wanted.work_id) and "about" not in st.query_params:
        sources.show(app, wanted)
    else:
        critics.show(app)
