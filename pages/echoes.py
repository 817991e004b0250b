"""Echoes: where does this work quote, allude to or sound like others?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, keep, shell
from relic_ui.echoes import echoes, pairs
from relic_ui.find import find

app = shell.page("Echoes")
st.title("Echoes")
with shell.show_errors():
    keep.do(app, *buttons.pressed(), origin="read")
    if len(summaries := app.works.summaries()) > 1:
        if answer := echoes.ask(app, summaries):
            pairs.show(app, answer)
    elif summaries:
        echoes.invite()
    else:
        find.show_nothing_to_search()
