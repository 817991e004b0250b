"""Find a quotation: which passages of this work would serve as evidence for my claim?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, keep, shell
from relic_ui.find import answering, examples, find

app = shell.page("Find a quotation")
st.title("Find a quotation")
with shell.show_errors():
    keep.do_found(app, *buttons.pressed())
    if summaries := app.works.summaries():
        find.restore(app, summaries)
        where = find.choose_scope(app, summaries)
        examples.show_examples(where)
        if request := find.ask(app, where):
            answering.show_answer(app, request)
        else:
            find.forget_address()
    else:
        find.show_nothing_to_search()
