"""Searches: what did I ask, and would I find the same today?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, keep, shell
from relic_ui.history import comparing, history, history_removing, then_and_now

app = shell.page("Searches")
st.html(history.STYLE)
with shell.show_errors():
    asked = history.read()
    pressed = buttons.pressed()
    history_removing.do(app, *pressed)
    keep.do_found(app, *pressed)
    if asked.search and asked.show == "then":
        history.show_one(app, asked, "Then and now", then_and_now.show)
    elif asked.search and asked.show == "compare":
        history.show_one(app, asked, "Two columns compared", comparing.show)
    else:
        history.show(app, asked)
