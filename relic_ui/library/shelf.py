"""The RELiC shelf: the 79 works of the data set, which of them are in the library, and adding the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TypeVar

import streamlit as st

from relic_core.domain.grouping import grouped
from relic_core.errors import RelicError
from relic_core.services.catalogue import Shelved
from relic_core.wiring import App
from relic_ui import buttons
from relic_ui.jobs import show_job, stop_label
from relic_ui.links import link
from relic_ui.shell import literal, show_errors
from relic_ui.visit import visit

T = TypeVar("T")

_ON_ITS_WAY = "On its way …"
_FOLDER_SECONDS = 1.0
_PREPARING_SECONDS = 180.0
"""For a novel of usual length on a machine without a graphics card."""
_MINUTE = 60
_LONG = 50
"""Minutes from which on hours are shown."""
_FEW = 5
"""Works up to which preparing them is taken for granted."""


def do(app: App, does: str, to: str) -> None:
    """Do what a button of the shelf asks for, and see whether that has ended, before anything is drawn."""
    state = visit()
    if state.get("came_from") != state.get("page"):
        state.pop("shelf_message", None)
    slugs, prepare = state.pop("shelf_asked", ([to] if does == "add" else [], True))
    waiting = _waiting()
    if slugs and not waiting.issuperset(slugs):
        try:
            job = app.catalogue.add(slugs, prepare=prepare)
        except RelicError as error:
            state["shelf_message"] = ("failed", str(error))
        else:
            state.pop("shelf_message", None)
            state["shelf_job"] = (job.id, waiting.union(slugs))
    job_id = state.get("shelf_job", ("",))[0]
    if job_id and not (job := app.jobs.get(job_id)).active:
        del state["shelf_job"]
        state["shelf_message"] = (job.state, f"{job.title}: {job.note}")


def show(app: App, shelf: Sequence[Shelved]) -> None:
    """Show the shelf by century and author, or what a search leaves of it."""
    here = sum(each.origin == "stored" for each in shelf)
    st.html(f'<p class="relic-measure">{len(shelf)} works that critics quote; {here or "none"} in your library.</p>')
    found = filtered(
        shelf,
        lambda each: f"{each.entry.title} {each.entry.author}",
        "works",
        label="Search the shelf by title or author",
        key="shelf_filter",
        none=". What is not on the shelf can be added under Add",
    )
    if found is None:
        _show_centuries(app, shelf)
    else:
        _show_rows(found)
    # Behind the rows, and kept in view by the style: nothing that stands over a row moves it when it is pressed.
    with st.container(key="shelf-job"):
        _show_job(app, here)


def filtered(
    every: Sequence[T], words_of: Callable[[T], str], what: str, *, label: str, key: str, none: str
) -> list[T] | None:
    """Draw a filter of a list and give what has all of its words; None while it is empty.

    - `what`: what is counted; `none`: what is said behind the count where nothing has the words.
    """
    words = (st.text_input(label, key=key, width=360, live=True, type="search") or "").casefold().split()
    if not words:
        return None
    found = [each for each in every if all(word in words_of(each).casefold() for word in words)]
    message = f"{len(found)} of {len(every)} {what}{'' if found else none}"
    st.html(f'<p class="relic-quiet" role="status">{message}</p>')
    return found


def _show_centuries(app: App, shelf: Sequence[Shelved]) -> None:
    """Draw the shelf by century, each by its authors."""
    ordered = sorted(shelf, key=lambda each: (each.entry.author.split()[-1], each.entry.author, each.entry.year))
    centuries = grouped(ordered, lambda each: (each.entry.year - 1) // 100 + 1)
    tabs = st.tabs([f"{number}th century ({len(centuries[number])})" for number in sorted(centuries)], key="shelf_tabs")
    for tab, number in zip(tabs, sorted(centuries), strict=True):
        with tab:
            _show_rows(centuries[number])
            with st.container(key=f"shelf-adding-{number}"):
                _show_add_all(app, number, centuries[number])
    st.html('<p class="relic-quiet relic-measure">They are the works of RELiC; the page of each names its split.</p>')


def _show_add_all(app: App, century: int, works: Sequence[Shelved]) -> None:
    """Offer to add what is missing of a century."""
    wanted = [each for each in works if each.origin in {"folder", "gutenberg"} and each.entry.slug not in _waiting()]
    if not wanted:
        if all(each.origin in {"stored", "none"} for each in works):
            st.html('<p class="relic-quiet">You have all the free works of this group.</p>')
        return
    begun = any(each.origin == "stored" for each in works)
    fetched = sum(each.origin == "gutenberg" for each in wanted)
    seconds = fetched * app.settings.gutenberg_pause + (len(wanted) - fetched) * _FOLDER_SECONDS
    with st.container(horizontal=True, vertical_alignment="center"):
        many = len(wanted)
        label = f"Add the other {many}" if begun else f"Add all {many}"
        prepare = st.session_state.get(f"shelf-prepare-{century}", many <= _FEW)

        def ask() -> None:
            visit()["shelf_asked"] = ([each.entry.slug for each in wanted], prepare)

        st.button(label, key=f"shelf-all-{century}", icon=":material/add:", disabled=bool(_waiting()), on_click=ask)
        st.checkbox("Prepare them for searching by meaning too", value=many <= _FEW, key=f"shelf-prepare-{century}")
    st.html(
        f'<p class="relic-quiet relic-measure">{_how_long(fetched, many - fetched, seconds)} '
        f"{_how_long_after(many)}</p>"
    )


def _how_long(fetched: int, found: int, seconds: float) -> str:
    """Say where works come from and how long that takes.

    >>> _how_long(51, 0, 102.0)
    'Adding takes about 2 minutes: Project Gutenberg asks for two seconds between books. You can stop, and go on later.'
    >>> _how_long(0, 5, 5.0)
    'Adding takes a few seconds: they are in your folder. You can stop, and go on later.'
    """
    why = "Project Gutenberg asks for two seconds between books" if fetched else "they are in your folder"
    if fetched and found:
        why += f"; {found} {'is' if found == 1 else 'are'} in your folder"
    return f"Adding takes {about(seconds)}: {why}. You can stop, and go on later."


def _how_long_after(many: int) -> str:
    """Say what preparing works takes when they are stored.

    >>> "each, about an hour in all, goes on" in _how_long_after(18)
    True
    """
    whole = f", {about(many * _PREPARING_SECONDS)} in all" if many > 1 else ""
    return (
        "They can be read and searched by words at once; preparing them for searching by meaning takes some minutes "
        f"each{whole}, goes on in the background, and can also be done later, work by work."
    )


def about(seconds: float) -> str:
    """Say how long something takes, roughly.

    >>> [about(seconds) for seconds in (5, 70, 900, 3_240, 10_000)]
    ['a few seconds', 'about a minute', 'about 15 minutes', 'about an hour', 'about 3 hours']
    """
    minutes = round(seconds / _MINUTE)
    if minutes <= 1:
        return "about a minute" if minutes else "a few seconds"
    if minutes < _LONG:
        return f"about {minutes} minutes"
    hours = round(minutes / _MINUTE)
    return "about an hour" if hours == 1 else f"about {hours} hours"


def _waiting() -> frozenset[str]:
    """Name the works that the reader has asked for and that are on their way."""
    return visit().get("shelf_job", ("", frozenset()))[1]


def _show_job(app: App, here: int) -> None:
    """Show the progress of what was asked for, and draw the page anew whenever a work has arrived."""
    if "shelf_message" in visit():
        state, message = visit()["shelf_message"]
        with st.container(horizontal=True, vertical_alignment="center"):
            (st.success if state == "done" else st.warning)(literal(message), width="stretch")
            st.button("Close", key="shelf-close", type="tertiary", on_click=_close_message)
    job_id = visit().get("shelf_job", ("",))[0]
    if not job_id:
        return
    job = app.jobs.get(job_id)
    show_job(app, job_id, stop=stop_label(job))
    drawn = False

    @st.fragment(run_every="3s")
    def watch() -> None:
        nonlocal drawn
        with show_errors():
            # Not while the page is being drawn: a press that came with it would be forgotten.
            if drawn and (
                not app.jobs.get(job_id).active
                or sum(each.origin == "stored" for each in app.catalogue.shelf()) != here
            ):
                st.rerun()
        drawn = True

    watch()


def _close_message() -> None:
    visit().pop("shelf_message", None)


def _show_rows(works: Sequence[Shelved]) -> None:
    if works:
        st.html(f'<ul class="relic-shelf">{"".join(map(_row, works))}</ul>')


def _row(shelved: Shelved) -> str:
    entry = shelved.entry
    about = [
        entry.author,
        f"translated by {entry.translator}" if entry.translator else "",
        f"from the {entry.language}" if entry.language != "English" else "",
        entry.type if entry.type != "novel" else "",
    ]
    return (
        f'<li id="shelf-{escape(entry.slug)}" tabindex="-1"><span class="relic-shelf-year">{entry.year}</span>'
        f'<span class="relic-shelf-title"><cite>{escape(entry.title)}</cite> '
        f'<span class="relic-quiet">{escape(" · ".join(filter(None, about)))}</span></span>'
        f'<span class="relic-shelf-state">{_state(shelved)}</span></li>'
    )


def _state(shelved: Shelved) -> str:
    """Say where a work of the shelf can be had, with the button or the link that goes with it."""
    entry = shelved.entry
    if shelved.work is not None:
        read = link("read", "Read it", title=f"Read it: {entry.title}", work=shelved.work.id)
        find = link("find", "Find in it", title=f"Find in it: {entry.title}", work=shelved.work.id)
        about = link("work", "About", title=f"About {entry.title}", work=shelved.work.id)
        return f'<span class="relic-quiet">In your library</span> {read} {find} {about}'
    if entry.slug in _waiting():
        return f'<span class="relic-quiet">{_ON_ITS_WAY}</span>'
    if shelved.origin == "folder":
        add = buttons.button("add", entry.slug, "Add", title=f"Add {entry.title} from your folder", during=_ON_ITS_WAY)
        return f'<span class="relic-quiet">from your folder</span> {add}'
    if shelved.origin == "gutenberg":
        return buttons.button("add", entry.slug, "Add", title=f"Add {entry.title}", during=_ON_ITS_WAY)
    own = link("library", "add a file of your own", part="Add")
    if entry.free_in_us is not None:
        return (
            f'<span class="relic-quiet">In copyright in the US until 31 December {entry.free_in_us - 1}: {own}</span>'
        )
    return f'<span class="relic-quiet">No free source known: {own}</span>'
