"""The page Find as two scripts draw it: its own, and that of the home page."""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, keep, shell
from relic_ui.drafts import choosing
from relic_ui.find import cards, find


def page(script: str) -> None:
    """Draw the page, for the script that is visited."""
    app = shell.page(find.TITLE, script)
    with shell.show_errors():
        pressed = buttons.pressed()
        keep.do_found(app, *pressed)
        cards.press_line(*pressed)
        choosing.show(app, *pressed)
        if summaries := app.works.summaries():
            find.show(app, summaries)
        else:
            st.title(find.QUESTION, anchor=False)
            find.show_nothing_to_search()
