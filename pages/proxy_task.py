"""The proxy task: can people, and models, choose the missing quotation among three passages?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, shell
from relic_ui.studies import answering, owner, results, studies

app = shell.page("Proxy task")
st.html(studies.STYLE)
does, to = buttons.pressed()
asked = studies.read_address()
with shell.show_errors():
    view = studies.opened(app, asked)
    if view is None and asked.show == "make":
        studies.show_making(app)
    elif view is None:
        studies.show(app)
    elif asked.show in {"results", "manage"}:
        side = results if asked.show == "results" else owner
        studies.title(f"{asked.show.capitalize()}: {view.study.label}")
        if owner.is_let_in(app, view):
            side.show(app, view, does, to)
    elif annotator := answering.find_annotator(app, view, asked):
        answering.show(app, view, annotator, asked)
    else:
        answering.show_before(app, view)
