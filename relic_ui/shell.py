"""Page set-up and menu, called first in every page; the one app of the server; errors made readable."""

from __future__ import annotations

import atexit
import gc
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import streamlit as st

from relic_core.config import Settings
from relic_core.errors import BadWeights, RelicError
from relic_core.services import models
from relic_core.wiring import App, build
from relic_ui import links, person, signing_in, uploads
from relic_ui.style import CSS
from relic_ui.visit import visit

_FIND = "pages/find.py"

MENU = (
    (_FIND, "Find", ":material/search:"),
    ("pages/read.py", "Read", ":material/auto_stories:"),
    ("pages/drafts.py", "Check a draft", ":material/fact_check:"),
    ("pages/notebook.py", "Notebook", ":material/bookmark:"),
    ("pages/sources.py", "Criticism", ":material/format_quote:"),
    ("pages/echoes.py", "Echoes", ":material/compare_arrows:"),
    ("pages/library.py", "Library", ":material/menu_book:"),
)
"""The pages of the menu, in their order: a new page is one line here."""

RESEARCH = (
    ("pages/recall.py", "Recall", ":material/bar_chart:"),
    ("pages/proxy_task.py", "Proxy task", ":material/quiz:"),
    ("pages/training.py", "Training", ":material/school:"),
)
"""The pages folded below them."""

HELP = ("pages/help.py", "Help", ":material/help:")

_TOGETHER = (
    ((_FIND, "Find"), ("pages/concordance.py", "Find a word"), ("pages/attribution.py", "Where is this from?")),
    (("pages/notebook.py", "Notebook"), ("pages/history.py", "Searches")),
)
"""Groups of pages that lead to each other at their head."""

_ICON = str(Path(__file__).parent / "icon.svg")
"""A file of our own: Streamlit's named icons and emoji are fetched from the network."""

_ABOUT = "**RELiC Workbench** finds the quotation for a claim about a work of literature."
"""Without an entry of our own there would be no menu, and in it no choice of light or dark."""

_MARKDOWN = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|$~:]")

_DRAWING = 2.0
"""Seconds in which the first page is drawn, before the encoder wants the processor too."""

_LINGER = 0.1
"""Seconds for which the store stays open: a page has many units of work, one behind the other."""

_SIDEBAR = 230

LONGEST_PASTE = 100_000
"""Characters that a box for a text takes: a page whose fields do not fit into `maxWidgetStateSize` loses its server."""

atexit.register(gc.unfreeze)  # of what `_warm` freezes, or the end would leave it as it is


def page(title: str, find: str = _FIND) -> App:
    """Set the page up, draw the menu and hand over the app: the only way into relic_core.

    `find` is the script behind the links to Find: on the home page, which is Find too, its own.

    The page stops where somebody has to sign in first, and where the store cannot be opened.
    """
    st.set_page_config(
        page_title=f"{title} · RELiC Workbench",
        page_icon=_ICON,
        layout="wide",
        initial_sidebar_state=_SIDEBAR,
        menu_items={"About": _ABOUT},
    )
    visit()["came_from"], visit()["page"] = visit().get("page"), title
    links.begin()
    st.html(CSS)
    largest_upload = 0
    try:
        settings = Settings.from_environment()
        signing_in.pass_the_door(settings)
        largest_upload = settings.max_upload_bytes
    except RelicError as error:
        st.error(literal(str(error)), icon=":material/error:")
        st.stop()
    finally:
        user = st.user.to_dict()
        uploads.allow(largest_upload, partial(signing_in.refused_now, user) if user.get("is_logged_in") else str)
    with st.sidebar:
        _show_links(MENU, find)
        with st.expander("Research", expanded=title in {label for _, label, _ in RESEARCH}):
            _show_links(RESEARCH, find)
        _show_links([HELP], find)
        signing_in.show_who()
        links.follow()
    try:
        app = _app()
    except RelicError as error:
        st.error(literal(str(error)), icon=":material/error:")
        st.stop()
    _tell_losses(app)
    if title != HELP[1]:
        to = {"data-then": f"[id='{links.place_of(title)}']"}
        st.html(f'<p class="relic-how">{links.link("help", "How this works", attributes=to, page="guide")}</p>')
    for group in _TOGETHER:
        if title in dict(group).values():
            with st.container(horizontal=True, key="pages_together"):
                _show_links(group, find)
    return app


def _show_links(pages: Sequence[Sequence[str]], find: str) -> None:
    for path, label, *symbol in pages:
        st.page_link(find if path == _FIND else path, label=label, icon=symbol[0] if symbol else None)


def _tell_losses(app: App) -> None:
    """Show what was lost from the store's log until it was read, once in a visit."""
    losses = app.losses()
    if losses and visit().get("losses_read") != losses:
        st.warning(literal("\n\n".join(losses)), icon=":material/warning:")
        st.button("I have read this", on_click=st.session_state.update, kwargs={"losses_read": losses})


def _app() -> App:
    """Give the one app of the server; another one where a model was chosen or a setting changed since."""
    settings = Settings.from_environment()
    signs_in = person.providers()
    if signs_in:  # strangers to the machine: they read by path what is listed, and never everything
        settings = replace(settings, read_from=(*settings.read_from, settings.sources), fetch_larger="no")
    app = _open(tuple(settings.to_environment().items()), models.stamp(settings.data))
    signing_in.remember(app)
    return cast("App", signing_in.Admitted(app, st.user.to_dict())) if signs_in else app


@st.cache_resource(show_spinner="Opening the library …", max_entries=1)
def _open(settings: tuple[tuple[str, str], ...], model: tuple[int, int]) -> App:  # noqa: ARG001 - it depends on both
    """Open the app; a fresh one holds the sample work from the start."""
    app = build(Settings.from_environment(dict(settings)), linger_seconds=_LINGER)
    app.backups.sweep()
    sample = app.ensure_sample()
    app.indexes.resume()
    with suppress(BadWeights):  # told when a search meets it; the page Training, where another is chosen, must open
        if sample is not None and app.indexes.missing(sample.id):
            app.indexes.start(sample.id)
    threading.Thread(target=_warm, args=(app,), daemon=True, name="warm").start()
    return app


def _warm(app: App) -> None:
    """Load the encoder while the reader reads the first page, then fetch the larger model where it is missing.

    A search that meets a failure says so.

    Streamlit collects garbage after every run of a page. What stays for good, the libraries and the encoder, is taken
    out of that: 800,000 objects otherwise hold up all visitors for a third of a second each time. An app that stood
    there before is among them, and is let go first.
    """
    time.sleep(_DRAWING)
    try:
        with suppress(RelicError):
            app.indexes.warm()
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        with suppress(RelicError):  # the store is busy or full: at the next start
            app.indexes.read_broken_words()
        with suppress(RelicError):  # the small model goes on answering
            app.larger_model.start_by_itself()
            app.indexes.read_by_larger()
    except Exception:
        # Libraries cannot be loaded to their end in a server that is ending, and nobody waits for them any more.
        if threading.main_thread().is_alive():
            raise


@contextmanager
def show_errors() -> Iterator[None]:
    """Show an error of ours as a message on the page, in place of what the block would have drawn."""
    try:
        yield
    except RelicError as error:
        st.error(literal(str(error)), icon=":material/error:")


def warn_of_address(message: str) -> None:
    """Warn that an address names what is not here; `message` is Markdown."""
    st.warning(message, icon=":material/link_off:")


def sentences_named() -> int:
    """Read from the page's address how many sentences a passage has; one, with a word of it, where `n` is no number."""
    given = st.query_params.get("n", "")
    named = links.number(given, 4)
    if given and not named:
        warn_of_address(
            f"This address says that the passage has {literal(given[:20])} sentences. One sentence is shown."
        )
    return named or 1


def literal(text: str) -> str:
    r"""Escape words that are not ours for a place that reads Markdown: they are to be shown, not obeyed.

    >>> literal("M*A*S*H, for $5")
    'M\\*A\\*S\\*H, for \\$5'
    """
    return _MARKDOWN.sub(r"\\\g<0>", text)
