"""Find a quotation: which passages of this work would serve as evidence for my claim?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, keep, shell
from relic_ui.find import answering, examples, find

workbench = shell.page("Find a quotation")
st.title("Find a quotation")
with shell.told():
    keep.do_found(workbench, *buttons.pressed())
    if summaries := workbench.works.summaries():
        find.restore(workbench, summaries)
        where = find.choose_scope(workbench, summaries)
        examples.show_examples(where)
        if request := find.ask(workbench, where):
            answering.show_answer(workbench, request)
        else:
            find.forget_address()
    else:
        find.show_nothing_to_search()
