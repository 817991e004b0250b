"""The proxy task: can people, and models, choose the missing quotation among three passages?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, shell
from relic_ui.proxy_task import (
    proxy_address,
    proxy_begin,
    proxy_code,
    proxy_doing,
    proxy_making,
    proxy_owner,
    proxy_results,
    proxy_studies,
)
from relic_ui.proxy_task.proxy_style import PROXY

app = shell.page("Proxy task")
st.html(PROXY)
does, to = buttons.pressed()
asked = proxy_address.read()
with shell.show_errors():
    view = proxy_address.opened(app, asked)
    if view is None and asked.show == "make":
        proxy_making.show(app)
    elif view is None:
        proxy_studies.show(app)
    elif asked.show == "results":
        proxy_address.title(f"Results: {view.study.label}")
        if proxy_code.opened(app, view):
            proxy_results.show(app, view, does, to)
    elif asked.show == "manage":
        proxy_address.title(f"Manage: {view.study.label}")
        if proxy_code.opened(app, view):
            proxy_owner.show(app, view, does, to)
    elif annotator := proxy_begin.annotator(app, view, asked):
        proxy_doing.show(app, view, annotator, asked)
    else:
        proxy_begin.show(app, view)
