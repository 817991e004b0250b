"""A language model of the reader's own: what is set up, whether it answers, and leave to send it words.

It is shown and tried here, and named in the settings alone: a server that asks whatever address a visitor types would
fetch, for a stranger, what only it can reach.
"""

from __future__ import annotations

import os
from html import escape

import streamlit as st

from relic_core.config import FILE
from relic_core.config.settings import HOME, find_file
from relic_core.services import health
from relic_core.services.model_reading import ModelReading
from relic_core.wiring import App
from relic_ui import person
from relic_ui.links import link
from relic_ui.naming import shorten
from relic_ui.shell import literal, show_errors

DOCUMENT = "reading_by_model"
"""The page of help that tells of it, and shows it."""
_NAMED = 40
_WIDTH = 736
"""Of a page of help, in pixels."""
_LINES = """\
reader = "http://localhost:11434/v1"
reader_model = "qwen3:8b"\
"""


def name(app: App) -> str:
    """Name the model that is set, short enough for a card; empty where none is."""
    return shorten(app.settings.reader_model, _NAMED) if app.settings.reader else ""


def lead(app: App) -> None:
    """Lead to what is set up, or to how that is done."""
    to = link("help", f"Language model: {name(app) or 'none is set up'}", page=DOCUMENT)
    st.html(f'<p class="relic-quiet">{to}</p>')


def show(app: App) -> None:
    """Draw what is set up, never the key, with a button that asks it for one answer; where nothing is, what to set."""
    settings = app.settings
    with st.container(border=True, width=_WIDTH, key="language_model"), show_errors():
        if not name(app):
            file = FILE if person.providers() else find_file(os.environ) or HOME / FILE  # paths are not for strangers
            st.html(
                '<p class="relic-help">No language model is set up. Put these lines, with your server and your model, '
                f"into <code>{escape(str(file))}</code>, and start the app again:</p>"
            )
            st.code(_LINES, language="toml")
            st.html(
                '<p class="relic-help">Or set <code>RELIC_READER</code> and <code>RELIC_READER_MODEL</code> in the '
                'environment (<a href="#three-ways-to-start-a-server" target="_self">how to start a server</a>).</p>'
            )
            return
        reads = app.model_reading
        place = escape(reads.place)
        if not person.providers():  # what an address tells of the machine is not for strangers
            place = f"<code>{escape(settings.reader)}</code> ({place})"
        st.html(
            f"<p><strong>{escape(settings.reader_model)}</strong> at {place}</p>"
            f'<p class="relic-quiet">It reads {settings.reader_passages:,} passages of a ranking, '
            f"{settings.reader_context:,} tokens at once, {settings.reader_at_once} questions side by side, and may "
            f"take {settings.reader_seconds:,.0f} seconds for an answer and {settings.reader_search_tokens:,} tokens "
            "for a column.</p>"
        )
        if is_allowed(reads, "A sentence to try it, and later claims and passages,", "language_model") and st.button(
            "Ask it for one answer", key="language_model_try", icon=":material/smart_toy:"
        ):
            with st.spinner("Waiting for the answer …"):
                found = list(health.try_language_model(settings))
            for each in found:
                (st.success if each.level == "good" else st.warning)(literal(each.message))


def is_allowed(reads: ModelReading, sent: str, key: str) -> bool:
    """Say whether words may be sent; where they may not yet, ask for it once."""
    if reads.allowed:
        return True
    st.warning(
        literal(f"{sent} would be sent to {reads.place}, another computer. Leave holds for everybody, from now on.")
    )
    if st.button(literal(f"Send them to {reads.place}"), key=f"find_allow_{key}"):
        with show_errors():
            reads.allow()
            st.rerun()
    return False
