"""Where is this from: which work do these words come from, quoted, marked or not, or adapted?"""

from __future__ import annotations

import streamlit as st

from relic_ui import shell
from relic_ui.attribution import attribution
from relic_ui.find import find

app = shell.page(attribution.TITLE)
st.title(attribution.TITLE)
with shell.show_errors():
    if summaries := app.works.summaries():
        attribution.show(app, summaries)
    else:
        find.show_nothing_to_search()
