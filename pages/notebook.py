"""Notebook: what did I keep, for which claim, and what do I make of it?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, shell
from relic_ui.notebook import notebook

app = shell.page("Notebook")
st.html(notebook.STYLE)
st.title("Notebook")
with shell.show_errors():
    notebook.do(app, *buttons.pressed())
    notebook.tell_taken_in()
    notebook.take_next()
    notebook.show(app)
    notebook.show_removed(app)
