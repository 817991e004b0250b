"""Library: which works can I search, and how do I add one?"""

from __future__ import annotations

import streamlit as st

from relic_ui import library, shell

workbench = shell.page("Library")
st.title("Library")
with shell.told():
    recent = workbench.jobs.recent(limit=library.RECENT)
    library.show_jobs(workbench, recent)
    library.show_works(workbench)
    library.show_adding(workbench)
    library.show_ended_jobs(recent)
