"""Check a draft: is every quotation in it as the work has it, and from where it says?"""

from __future__ import annotations

import streamlit as st

from relic_ui import shell
from relic_ui.drafts import drafts
from relic_ui.find import find

app = shell.page(drafts.TITLE)
st.title(drafts.TITLE)
with shell.show_errors():
    if app.works.summaries():
        drafts.show(app)
    else:
        find.show_nothing_to_search()
