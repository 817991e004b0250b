"""Library: which works can I search and read, and how do I add one?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, shell
from relic_ui.library import adding, library, shelf
from relic_ui.sources import sources_list

app = shell.page("Library")
st.title("Library")
with shell.show_errors():
    does, to = buttons.pressed()
    library.do(app, does, to)
    shelf.do(app, does, to)
    sources_list.do(app, does, to)
    recent = library.recent_jobs(app)
    summaries = app.works.summaries()
    library.show_under_way(app, recent)
    adding.show_outcomes(app)
    shown = {
        "Works": lambda: library.show_works(app, summaries, recent),
        "Add": lambda: adding.show_adding(app),
        "Shelf": lambda: shelf.show(app, app.catalogue.shelf()),
        "Criticism": lambda: sources_list.show(app),
    }
    for name, part in library.parts():
        with part:
            shown[name]()
