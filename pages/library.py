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
    works, add, shelved, criticism = library.parts()
    # Each part has a place of its own, so that one that grows does not close what is open in another.
    with works, st.container(key="library-works"):
        library.show_works(app, summaries)
        library.show_ended_jobs(recent)
    with add, st.container(key="library-adding"):
        adding.show_adding(app)
    with shelved, st.container(key="library-shelf"):
        shelf.show(app, app.catalogue.shelf())
    with criticism, st.container(key="library-sources"):
        sources_list.show(app, app.sources.all())
