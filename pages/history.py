"""Searches: what did I ask, and would I find the same today?"""

from __future__ import annotations

import streamlit as st

from relic_ui import comparing, history, history_style, shell, then_and_now

workbench = shell.page("Searches")
st.html(history_style.HISTORY)
with shell.told():
    asked = history.read()
    if asked.search and asked.show == "then":
        then_and_now.show(workbench, asked)
    elif asked.search and asked.show == "compare":
        comparing.show(workbench, asked)
    else:
        history.show(workbench)
