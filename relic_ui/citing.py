"""Citing on pages: the forms of the chosen style, each to be copied, and files for other programs."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from relic_core.domain import CitedWork
from relic_core.errors import NotFound
from relic_core.reporting.citations.exports import FORMATS
from relic_core.reporting.citations.locators import NO_PAGES
from relic_core.reporting.citations.styles import STYLES, style
from relic_core.services.citing import Citation, guess
from relic_core.wiring import App
from relic_ui import copying, typography
from relic_ui.buttons import save_button
from relic_ui.links import link
from relic_ui.naming import works_html
from relic_ui.passages import passage_html
from relic_ui.shell import literal, sentences_named, warn_of_address

_STYLE = Path(__file__).with_name("citing.css")

_WIDGET, _CHOSEN = "citation_style", "citation_style_chosen"


class CiteQuery(NamedTuple):
    """What the page's address asks to be cited; `at` is empty where it is the whole work."""

    work_id: str
    at: str
    length: int
    search_id: str


def asked() -> CiteQuery:
    """Read the page's address."""
    given = st.query_params
    return CiteQuery(
        work_id=given.get("work", ""),
        at=given.get("at", ""),
        length=sentences_named(),
        search_id=given.get("q", ""),
    )


def show(app: App, wanted: CiteQuery) -> None:
    """Draw the page: what is cited, how, and the files."""
    st.html(_STYLE)
    st.title("Cite")
    if not wanted.work_id:
        st.info("Cite is beside every passage. Here you cite a whole work.", icon=":material/format_quote:")
        st.html(works_html(app.works.summaries(), "cite"))
        return
    head = st.container()
    chosen = choose_style()
    if wanted.at:
        typography.choose()
    try:
        found = app.citing.citation(
            wanted.work_id, chosen, at=wanted.at, length=wanted.length, as_printed=typography.as_printed()
        )
    except NotFound as error:
        with head:
            warn_of_address(literal(str(error)))
        return
    with head:
        _show_cited(found, wanted)
    _show_forms(found)


def show_for_work(app: App, work_id: str) -> None:
    """Draw how a work is cited, on its own page."""
    st.html(_STYLE)
    st.header("How to cite it")
    _show_forms(app.citing.citation(work_id, choose_style()))


def chosen_style() -> str:
    """Give the style that was chosen last in this visit, on whichever page."""
    return str(st.session_state.get(_CHOSEN) or STYLES[0])


def choose_style(label: str = "Style") -> str:
    """Draw the choice of a style, which the visit remembers from page to page."""
    st.session_state[_WIDGET] = chosen_style()  # what a widget keeps, it keeps for its own page
    st.segmented_control(
        label, STYLES, format_func=lambda name: style(name).label, key=_WIDGET, required=True, on_change=_remember
    )
    return chosen_style()


def _remember() -> None:
    st.session_state[_CHOSEN] = st.session_state[_WIDGET]


def _show_cited(found: Citation, wanted: CiteQuery) -> None:
    work = found.work
    by = f", {escape(work.author)}" if work.author else ""
    if found.quotation is None or found.place is None:
        st.html(f'<p class="relic-lede"><cite>{escape(work.title)}</cite>{by}</p>')
        where = link("work", "About this edition", work=work.id)
    else:
        st.html(
            f'<p class="relic-quiet"><cite>{escape(work.title)}</cite>{by} · {escape(found.place.label)}</p>'
            f'<blockquote class="relic-cite-quotation">{passage_html(found.quotation)}</blockquote>'
        )
        length = wanted.length if wanted.length > 1 else None
        where = link("read", "Read it in its chapter", work=work.id, at=wanted.at, n=length, q=wanted.search_id)
        where += link("work", "About this edition", work=work.id)
    if wanted.search_id:
        where = link("find", "← Back to the results", css="relic-back", q=wanted.search_id) + where
    st.html(f'<p class="relic-cite-where">{where}</p>')


def _show_forms(found: Citation) -> None:
    """Draw the quotation as a text has it and the forms of its citation, each with its button; then the files."""
    copying.listen()
    rows = "".join(_row(form.label, form.html) for form in found.written)
    if found.quotation and typography.as_printed():
        rows += _row("The words to the letter", passage_html(found.quotation, to_the_letter=True))
    st.html(f'<dl class="relic-cite">{rows}</dl>')
    if found.locator:
        st.html(f'<p class="relic-quiet relic-measure">{escape(NO_PAGES)}</p>')
    if found.work.guessed:
        st.warning(literal(guess(found.work)), icon=":material/help:")
    _show_unknown(found.work)
    _show_files(found.work)


def _row(label: str, words: str) -> str:
    return (
        f'<div class="relic-copy"><dt>{escape(label)}</dt><dd class="relic-copied">{words}</dd>'
        f'<dd class="relic-cite-do">{copying.copy_button(label)}</dd></div>'
    )


def _show_unknown(work: CitedWork) -> None:
    """Say where nothing is known of the edition, and where it can be said."""
    details = work.details
    placed = details.publisher or details.container or details.place
    if unknown := " and ".join(("author",) * (not work.author) + ("publisher",) * (not placed)):
        where = link("work", "Correct details", work=work.id, attributes={"data-then": ".st-key-work_correct button"})
        st.html(
            f'<p class="relic-quiet relic-measure">Not known of this edition: {unknown}. If you know, add it with '
            f"{where} on the page of the work.</p>"
        )


def _show_files(work: CitedWork) -> None:
    """Draw the files for other programs, and say what each is for."""
    with st.container(horizontal=True, gap="small"):
        for each in FORMATS.values():
            name = f"{work.id}{each.suffix}"
            save_button(each.label, each.write([work]), name, each.mime, key=f"cite_save_{each.name}")
    rows = "".join(f"<li><strong>{each.label}</strong>: {escape(each.purpose)}.</li>" for each in FORMATS.values())
    st.html(f'<ul class="relic-cite-for">{rows}</ul>')
