"""The searches made so far: the list, looking through it, and opening one that was sent as a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from relic_core.domain import Search, WorkSummary
from relic_core.errors import NotFound, RelicError
from relic_core.services.sharing import CODE, FILE_NAME
from relic_core.wiring import App
from relic_ui import links, person
from relic_ui.history import history_removing
from relic_ui.naming import inside, length_of, listed, many, name_of, name_of_search, shorten, ways
from relic_ui.shell import literal, warn_of_address
from relic_ui.visit import visit

STYLE = Path(__file__).with_name("history.css")

PAGE = 40
"""Searches shown at once."""

_CLAIM_SHOWN, _NAME_SHOWN = 300, 60
_EVERY, _LIBRARY = "*", "-"
"""In the list of works and in the address: every search, and those of the whole library; a work's id otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuery:
    """What the page's address asks for; each empty where it does not say.

    - `show`: "then" for then and now, "compare" for two columns; the list of searches otherwise.
    """

    search: str
    show: str
    of: tuple[str, ...]
    at: str


def read() -> HistoryQuery:
    """Read the address."""
    given = st.query_params
    return HistoryQuery(
        search=given.get("q", "").strip().lower(),
        show=given.get("show", ""),
        of=tuple(filter(None, given.get("of", "").split(","))),
        at=given.get("at", ""),
    )


def show(app: App, asked: HistoryQuery) -> None:
    """Draw the list of searches."""
    st.title("Searches")
    _tell_odd(asked)
    history_removing.show_undo(app)
    who, summaries = person.current(), {work.id: work for work in app.works.summaries()}
    known = app.history.works_asked(person=who)
    if not known:
        none = "No search is left here" if app.history.removed(who) else "No searches yet"
        st.info(f"{none}. Every search you make is listed here.", icon=":material/history:")
        st.page_link("pages/find.py", label="Find", icon=":material/search:")
        _show_opening(app)
        history_removing.show_removed(app)
        return
    words, work_id, page = _ask(app, known, summaries)
    searches, count = app.history.asked(
        words=words,
        work_id=None if work_id == _EVERY else "" if work_id == _LIBRARY else work_id,
        person=who,
        limit=PAGE,
        skip=(page - 1) * PAGE,
    )
    _show_opening(app)
    chosen = f" that hold “{escape(words)}”" if words else ""
    st.html(
        f'<p class="relic-quiet">{"One search" if count == 1 else f"{count:,} searches"}{chosen}'
        f"{', the last first' if count > 1 else ''}. Opening one asks it again.</p>"
    )
    zone = _zone()
    for day, group in groupby(searches, key=lambda search: search.created.astimezone(zone).date()):
        items = "".join(_item(app, search, summaries, zone) for search in group)
        st.html(f'<h2 class="relic-history-day">{day.day} {day:%B %Y}</h2><ul class="relic-history">{items}</ul>')
    _show_pages(count, page, words=words, work=work_id)
    history_removing.show_removed(app)


def _tell_odd(asked: HistoryQuery) -> None:
    """Say that the list is shown since the address asks for something else that the page does not have."""
    if not (asked.search or asked.show):
        return
    what = f"for “{literal(shorten(asked.show, _NAME_SHOWN))}” of a search" if asked.show else "for one search"
    message = f"This address asks {what}; this page shows Then and now of one, or compares its columns."
    st.info(f"{message} Here are all your searches.", icon=":material/link_off:")


def show_one(app: App, asked: HistoryQuery, title: str, show: Callable[[App, HistoryQuery, Search], None]) -> None:
    """Draw the page of one search (`show`: what stands below it), or say that it is not there."""
    st.html(f'<h1 class="relic-history-title">{escape(title)}</h1>')
    search = None
    if not history_removing.tell_removed(app, asked.search):
        try:
            search = app.history.get(asked.search)
        except NotFound as error:
            warn_of_address(literal(str(error)))
    if search is None:
        st.html(f'<p class="relic-history-back">{links.link("history", "← All searches")}</p>')
        return
    back = links.link("history", "← All searches", css="relic-back")
    st.html(
        f'<p class="relic-history-back">{back} &nbsp; {links.link("find", "Open this search", q=search.id)}</p>'
        f'<blockquote class="relic-history-asked">{escape(_claim(app, search))}</blockquote>'
        f'<p class="relic-history-of">{_of(app, search, {})}</p>'
    )
    show(app, asked, search)


def moment(created: datetime) -> str:
    """Write a time as the reader's clock has it: "3 November 2026, 14:05"."""
    local = created.astimezone(_zone())
    return f"{local.day} {local:%B %Y, %H:%M}"


def _ask(app: App, known: tuple[str, ...], summaries: Mapping[str, WorkSummary]) -> tuple[str, str, int]:
    """Draw what the list is looked through by, and keep it in the address; gives words, work and page."""
    state, given = visit(), st.query_params
    names = {_EVERY: "All searches"} | {
        each or _LIBRARY: _work_name(app, each, summaries) if each else "The whole library" for each in known
    }
    wanted = {name: given[name] for name in ("words", "work", "page") if name in given}
    if wanted != state.get("history_address"):
        work = wanted.get("work", _EVERY)
        if work not in names:
            st.info(
                f"You have made no search in the work “{literal(shorten(work, _NAME_SHOWN))}” that this address names. "
                "Here are all your searches.",
                icon=":material/link_off:",
            )
        state.update(
            {
                "history_words": wanted.get("words", "")[:_CLAIM_SHOWN],
                "history_work": work if work in names else _EVERY,
                "history_page": links.number(wanted.get("page", ""), 5) or 1,
            }
        )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        words = st.text_input(
            "Look through your searches",
            key="history_words",
            on_change=_first_page,
            width=340,
            placeholder="A word of the claim",
        )
        work_id = st.selectbox(
            "Work", list(names), format_func=names.__getitem__, key="history_work", on_change=_first_page, width=340
        )
    page = state.get("history_page", 1)
    kept = {
        **({"words": words.strip()} if words.strip() else {}),
        **({"work": work_id} if work_id != _EVERY else {}),
        **({"page": str(page)} if page > 1 else {}),
    }
    state["history_address"] = kept
    links.set_address(**kept)
    return words.strip(), work_id, page


def _first_page() -> None:
    visit()["history_page"] = 1


def _show_pages(count: int, page: int, *, words: str, work: str) -> None:
    last = max(1, -(-count // PAGE))
    if page > last:
        st.info(f"There is no page {page:,}; the last is {last:,}.", icon=":material/link_off:")
    given: dict[str, Any] = {"words": words, **({} if work == _EVERY else {"work": work})}
    steps = []
    if page > 1:
        steps.append(links.link("history", "← Later", page=min(page - 1, last) if page > 2 else None, **given))  # noqa: PLR2004 - the first page needs no number
    if page < last:
        steps.append(links.link("history", "Earlier →", page=page + 1, **given))
    if steps:
        st.html(f'<nav class="relic-history-more" aria-label="Further searches">{"".join(steps)}</nav>')


def _item(app: App, search: Search, summaries: Mapping[str, WorkSummary], zone: tzinfo) -> str:
    when = search.created.astimezone(zone)
    claim = links.link("find", _claim(app, search), q=search.id)
    return (
        f'<li><time datetime="{search.created.isoformat()}">{when:%H:%M}</time><div>'
        f'<div class="relic-history-claim">{claim}</div>'
        f'<div class="relic-history-of">{_of(app, search, summaries)}</div>'
        f'<div class="relic-history-do">{further(search.id, search.request.retrievers)} '
        f"{history_removing.remove_button(app, search)}</div></div></li>"
    )


def _claim(app: App, search: Search) -> str:
    return name_of_search(app, search, longest=_CLAIM_SHOWN)


def _of(app: App, search: Search, summaries: Mapping[str, WorkSummary]) -> str:
    """Say what a search was asked of, and with what."""
    names = ways(app)
    where = _work_name(app, search.request.work_id, summaries) if search.request.work_id else "The whole library"
    if search.request.work_filter:
        where = "Some works of the library"
    if search.request.chapters:
        where = f"{where}, {many(len(search.request.chapters), 'chapter')}"
    if search.request.critics_quote:
        where += ", quoted by critics"
    if search.request.voice != "any":
        where += f", {search.request.voice} only"
    with_what = listed([inside(names.get(name, name)) for name in search.request.retrievers])
    return escape(f"{where} · {length_of(search.request)} · {with_what}")


def _work_name(app: App, work_id: str, summaries: Mapping[str, WorkSummary]) -> str:
    if work_id in summaries:
        return name_of(summaries[work_id])
    for work in (*app.works.summaries(), *app.works.removed()):
        if work.id == work_id:
            return name_of(work)
    return f"An edition that is not here ({work_id})"


def _show_opening(app: App) -> None:
    """Offer to open a search that was sent as a file."""
    with st.expander("Open a search that was sent to you as a file", icon=":material/file_open:"):
        file = st.file_uploader(
            f"The file, {FILE_NAME} for example", type=["json"], key="history_file", max_upload_size=4
        )
        if file is None:
            return
        try:
            found = app.sharing.open_file(file.getvalue(), file.name)
        except RelicError as error:
            warn_of_address(literal(str(error)))
            return
        claim = found.request.sentence or "Passages like another"
        address: dict[str, Any] = {CODE: found.code}
        st.html(
            f'<blockquote class="relic-history-asked">{escape(claim[:_CLAIM_SHOWN])}</blockquote>'
            f'<p class="relic-history-back">{links.link("find", "Ask it here", **address)}</p>'
        )
        if found.notices:
            st.info(literal(" ".join(found.notices)), icon=":material/history:")


def _zone() -> tzinfo:
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def further(search_id: str, retrievers: tuple[str, ...]) -> str:
    """Link to what a search found then, and to its columns compared."""
    then = links.link(
        "history",
        "Then and now",
        title="Then and now: what this search found before, and now",
        q=search_id,
        show="then",
    )
    compare = links.link(
        "history",
        "Compare the columns",
        title="Compare the columns: what one way of searching finds and another does not",
        q=search_id,
        show="compare",
        of=",".join(retrievers[:2]),
    )
    return f"{compare} {then}"
