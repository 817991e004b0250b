"""Criticism without an address: the works that are quoted, the most quoted first, or what to do where none is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import streamlit as st

from relic_ui.links import link
from relic_ui.naming import many
from relic_ui.sources import sources_statistics

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from relic_core.services.sources import SourceSummary
    from relic_core.wiring import App

_FIRST_SHOWN = 12
_TO_ADD = {"data-then": "#sources"}


def choose(app: App) -> None:
    """Offer the works that are quoted, and the sources that quote them."""
    st.title("Criticism")
    st.html(
        '<p class="relic-lede">Which lines do critics use, and who uses them? Every quotation that was found in your '
        "secondary sources stands beside the sentences of the work it was taken from.</p>"
    )
    listed = app.sources.all()
    if not listed:
        st.info(
            "There are no secondary sources yet. Add books or articles about your works in the Library; the program "
            "finds where they quote them.",
            icon=":material/format_quote:",
        )
        st.html(f"<p>{link('library', 'Add secondary sources', css='relic-work-link', attributes=_TO_ADD)}</p>")
        return
    works = _quoted_works(app, listed)
    st.header("Works that are quoted", anchor="works")
    if works:
        _show_works(works)
    else:
        st.html('<p class="relic-measure">None so far: the sources do not quote the works of your library.</p>')
    see = link("library", "see all of them in the Library", css="relic-work-link", attributes=_TO_ADD)
    st.html(f'<p class="relic-quiet">{_quoting(listed, {key for key, *_ in works})}: {see}</p>')
    if works:
        sources_statistics.offer(app)


def _quoted_works(app: App, listed: Sequence[SourceSummary]) -> list[tuple[str, str, int, int]]:
    """List the quoted works, the most quoted first: id, name, windows, sources."""
    windows, sources = Counter[str](), Counter[str]()
    for summary in listed:
        for work_id, _, quoted in summary.works:
            windows[work_id] += quoted
            sources[work_id] += 1
    found = [
        (work.id, f"{work.title}, {work.author}" if work.author else work.title, windows[work.id], sources[work.id])
        for work in app.works.summaries()
        if windows[work.id]
    ]
    return sorted(found, key=lambda each: (-each[2], each[1], each[0]))


def _quoting(listed: Sequence[SourceSummary], works: Collection[str]) -> str:
    """Say how many of the sources quote a work of these, and how many were not searched.

    >>> from types import SimpleNamespace
    >>> essay = SimpleNamespace(works=(("emma", "Emma", 2),), problem="")
    >>> _quoting([essay, SimpleNamespace(works=(), problem="It is empty.")], {"emma"})
    'Quoted by one of 2 secondary sources; one could not be searched'
    """
    quoting = sum(any(quoted and key in works for key, _, quoted in each.works) for each in listed)
    failed = sum(bool(each.problem) for each in listed)
    said = f"Quoted by {_number(quoting)} of {many(len(listed), 'secondary source')}"
    return f"{said}; {_number(failed)} could not be searched" if failed else said


def _number(count: int) -> str:
    return {0: "none", 1: "one"}.get(count, f"{count:,}")


def _show_works(works: Sequence[tuple[str, str, int, int]]) -> None:
    most = works[0][2]
    items = [
        f'<li><span class="relic-quoted-name">{link("sources", name, work=key)}</span>'
        f'<span class="relic-quoted-bar" aria-hidden="true"><i style="width:{windows / most * 100:.1f}%"></i></span>'
        f"<span>{many(windows, 'quotation')}, {many(sources, 'source')}</span></li>"
        for key, name, windows, sources in works
    ]
    st.html(f'<ul class="relic-quoted">{"".join(items[:_FIRST_SHOWN])}</ul>')
    if more := items[_FIRST_SHOWN:]:
        st.html(
            f'<details class="relic-shelf-found"><summary>{many(len(more), "more work")}</summary>'
            f'<ul class="relic-quoted">{"".join(more)}</ul></details>'
        )
