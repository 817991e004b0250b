"""Find a word: where does this word or phrase stand, and in what company?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, keep, shell
from relic_ui.concordance import concordance, kwic
from relic_ui.find import find

app = shell.page("Find a word")
st.title("Find a word")
with shell.show_errors():
    keep.do(app, *buttons.pressed(), origin="concordance")
    if summaries := app.works.summaries():
        concordance.restore(summaries)
        if request := concordance.ask(summaries):
            kwic.show_answer(app, concordance.answer(app, request), summaries)
        else:
            concordance.invite(summaries)
    else:
        find.show_nothing_to_search()
