"""Library: which works can I search and read, and how do I add one?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, shell
from relic_ui.library import adding, library, shelf
from relic_ui.sources import sources_list

workbench = shell.page("Library")
st.title("Library")
with shell.told():
    does, to = buttons.pressed()
    library.do(workbench, does, to)
    shelf.do(workbench, does, to)
    sources_list.do(workbench, does, to)
    recent = library.recent_jobs(workbench)
    summaries = workbench.works.summaries()
    shelved = workbench.catalogue.shelf()
    sources = workbench.sources.all()
    library.show_contents(workbench, len(summaries), sources, len(shelved), recent)
    # Each part has a place of its own, so that one that grows does not close what is open in another.
    with st.container(key="library-works"):
        library.show_works(workbench, summaries)
    with st.container(key="library-adding"):
        adding.show_adding(workbench)
    with st.container(key="library-sources"):
        sources_list.show(workbench, sources)
    with st.container(key="library-shelf"):
        shelf.show(workbench, shelved)
    library.show_ended_jobs(recent)
