"""Find a quotation: which passages of this work would serve as evidence for my claim?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, keep, shell
from relic_ui.drafts import choosing
from relic_ui.find import cards, find

app = shell.page(find.TITLE)
with shell.show_errors():
    pressed = buttons.pressed()
    keep.do_found(app, *pressed)
    cards.press_line(*pressed)
    choosing.show(app, *pressed)
    if summaries := app.works.summaries():
        find.show(app, summaries)
    else:
        st.title(find.TITLE)
        find.show_nothing_to_search()
