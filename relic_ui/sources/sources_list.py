"""Secondary sources in the Library: what they are for, which there are, and what was found in each."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_ui import buttons
from relic_ui.links import link
from relic_ui.naming import listed, many
from relic_ui.removed import show_each, show_undo
from relic_ui.shell import show_errors
from relic_ui.sources import sources_adding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.services.sources import SourceSummary
    from relic_core.wiring import App

_FILTER_FROM = 8
"""Sources from which on a filter is offered."""
_STEP = 12
"""Sources that are shown before the reader asks for more; then as many as stand on four such lists at once."""
_WORKS_NAMED = 3
_REMOVED_SHOWN = 12


def do(app: App, does: str, to: str) -> None:
    """Do what a button in the list of sources asks for."""
    if does == "remove-source":
        with show_errors():
            source = app.sources.remove(to)
            st.session_state["sources_removed"] = (source.id, source.title)


def show(app: App, sources: Sequence[SourceSummary]) -> None:
    """Draw the part of the Library that secondary sources have."""
    st.header("Secondary sources", anchor="sources")
    st.html(
        '<p class="relic-measure">Books and articles about your works: criticism, biographies, introductions. The '
        "program finds where they quote the works of your library. Then you see beside the text which lines critics "
        "use, and what they say about them. The files are not changed, and stay on this machine.</p>"
    )
    with st.container(key="sources-adding"):
        sources_adding.show(app, begun=bool(sources))
    with st.container(key="sources-list"):
        show_undo("sources", "Removed from the secondary sources", app.sources.restore)
        if sources:
            _show_sources(sources)
        _show_removed(app)


def _show_sources(sources: Sequence[SourceSummary]) -> None:
    read = [each for each in sources if not each.problem]
    failed = [each for each in sources if each.problem]
    windows, pairs = sum(each.windows for each in read), sum(each.pairs for each in read)
    works = len({work for each in read for work, _, _ in each.works})
    if read:
        see = link("sources", "See them by work", css="relic-work-link")
        st.html(
            f"<p>{many(len(read), 'source')}: {many(windows, 'quotation')} of {many(works, 'work')} of your library"
            f", among {many(pairs, 'quotation')} in all. {see if windows else ''}</p>"
        )
    _show_rows(_chosen(sorted(read, key=lambda each: (-each.windows, each.source.title.casefold()))))
    if failed:
        items = "".join(
            f"<li><strong>{escape(each.source.title)}</strong>: {escape(each.problem)}</li>" for each in failed
        )
        st.html(
            f'<details class="relic-shelf-found"><summary>{many(len(failed), "source")} that could not be '
            f'searched, and why</summary><ul class="relic-shelf-left-out relic-source-problems">{items}</ul></details>'
        )


def _chosen(sources: Sequence[SourceSummary]) -> Sequence[SourceSummary]:
    """Filter the sources."""
    if len(sources) < _FILTER_FROM:
        return sources
    wanted = st.text_input(
        "Filter by title, author or quoted work", key="sources_filter", width=360, live=True, type="search"
    )
    words = (wanted or "").casefold().split()
    if not words:
        return sources
    found = [each for each in sources if all(word in _searched(each) for word in words)]
    st.html(
        f'<p class="relic-quiet" role="status">{len(found)} of {len(sources)} sources'
        f"{'' if found else ': no title, author or quoted work has these words'}</p>"
    )
    return found


def _searched(summary: SourceSummary) -> str:
    titles = " ".join(title for _, title, _ in summary.works)
    return f"{summary.source.title} {summary.source.author} {titles}".casefold()


def _show_rows(sources: Sequence[SourceSummary]) -> None:
    state = st.session_state
    if state.get("came_from") != state.get("page"):
        state.pop("sources_more", None)
    most = state.get("sources_more", _STEP)
    if rows := "".join(map(_row, sources[:most])):
        st.html(f'<ul class="relic-shelf-works">{rows}</ul>')
    if (left := len(sources) - most) > 0:

        def show_more() -> None:
            st.session_state["sources_more"] = most + 4 * _STEP

        more = min(left, 4 * _STEP)
        label = f"Show {more} more" if more < left else f"Show the other {more}" if more > 1 else "Show the last one"
        st.button(label, key="sources_show_more", on_click=show_more, icon=":material/expand_more:")


def _row(summary: SourceSummary) -> str:
    source = summary.source
    title, key = escape(source.title), escape(source.id)
    look = ""
    if summary.windows or summary.set_aside:
        look = link(
            "sources", "Look at its quotations", title=f"Look at its quotations: {source.title}", source=source.id
        )
    remove = buttons.button(
        "remove-source", source.id, "Remove", title=f"Remove {source.title}", then=".st-key-sources_undo"
    )
    return (
        f'<li id="source-{key}" tabindex="-1"><div><h3 class="relic-item">{title}</h3>'
        f"<p>{escape(source.author or 'Author unknown')}</p>"
        f'<p class="relic-quiet">{escape(_found_in(summary))}</p></div>'
        f'<div class="relic-shelf-do">{look}<details name="more"><summary aria-label="More for {title}">More</summary>'
        f"<div>{remove}</div></details></div></li>"
    )


def _found_in(summary: SourceSummary) -> str:
    """Say what was found in a source.

    >>> from types import SimpleNamespace
    >>> _found_in(SimpleNamespace(windows=3, pairs=40, works=(("e", "Emma", 2), ("p", "Persuasion", 1))))
    '3 quotations of Emma (2) and Persuasion (1); 40 quotations in all'
    """
    named = [f"{title} ({windows:,})" for _, title, windows in summary.works[:_WORKS_NAMED]]
    if (more := len(summary.works) - _WORKS_NAMED) > 0:
        named.append(many(more, "other work"))
    every = f"{many(summary.pairs, 'quotation')} in all"
    if not summary.windows:
        return f"No quotation of your works; {every}"
    if len(summary.works) == 1:
        return f"{many(summary.windows, 'quotation')} of {summary.works[0][1]}; {every}"
    return f"{many(summary.windows, 'quotation')} of {listed(named)}; {every}"


def _show_removed(app: App) -> None:
    """List the removed sources, quietly: removing loses nothing."""
    removed = app.sources.removed()
    if not removed:
        return
    with st.expander(f"Removed secondary sources ({len(removed)})", key="sources_removed_list"):
        st.html(
            '<p class="relic-quiet relic-measure">Quotations in a removed source are not shown and not counted. What '
            "was found in it, and what you judged of it, is kept until you put it back.</p>"
        )
        shown = [(each.id, each.title, f", {each.author}" if each.author else "") for each in removed[:_REMOVED_SHOWN]]
        show_each("sources", shown, "restore-source-", app.sources.restore)
        if (more := len(removed) - _REMOVED_SHOWN) > 0:
            st.html(f'<p class="relic-quiet">and {more:,} removed before these</p>')
