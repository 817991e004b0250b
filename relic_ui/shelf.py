"""The RELiC shelf: the 79 works of the data set, which of them are in the library, and adding the others."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_ui import buttons
from relic_ui.jobs import show_job
from relic_ui.links import link
from relic_ui.shell import literal, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.services.catalogue import Shelved, Split
    from relic_core.services.workbench import Workbench

_SPLITS: dict[Split, tuple[str, str]] = {
    "train": (
        "Training",
        "On critics’ quotations from these works the paper’s models learnt; a model does better on a work it has met.",
    ),
    "validation": (
        "Validation",
        "By these works, unseen in training, the paper’s authors chose between versions of their models.",
    ),
    "test": (
        "Test",
        "Kept back to the end: the paper’s results are measured on these works, which no model or choice had seen.",
    ),
}
_FOLDER_SECONDS = 1.0
_MINUTE = 60


def do(workbench: Workbench, does: str, to: str) -> None:
    """Do what a button of the shelf asks for."""
    if does == "add":
        with told():
            _start(workbench, [to])


def show(workbench: Workbench, shelf: Sequence[Shelved]) -> None:
    """Show the shelf by its splits, or what a filter leaves of it."""
    st.header("The RELiC shelf", anchor="shelf")
    here = sum(each.origin == "stored" for each in shelf)
    st.html(
        f'<p class="relic-measure">The {len(shelf)} works of world literature in English that RELiC, a collection of '
        "critics’ quotations, draws on, in the three splits of its paper. "
        f"{'None is' if not here else 'One is' if here == 1 else f'{here} are'} in your library.</p>"
    )
    _show_job(workbench, here)
    wanted = st.text_input(
        "Filter the shelf by title or author", key="shelf_filter", width=360, live=True, type="search"
    )
    if words := (wanted or "").casefold().split():
        found = [
            each
            for each in shelf
            if all(word in f"{each.entry.title} {each.entry.author}".casefold() for word in words)
        ]
        st.html(
            f'<p class="relic-quiet" role="status">{len(found)} of {len(shelf)} works'
            f"{'' if found else '. What is not on the shelf can be added above'}</p>"
        )
        _show_rows(found)
        return
    splits = {split: [each for each in shelf if each.entry.split == split] for split in _SPLITS}
    tabs = st.tabs([f"{_SPLITS[split][0]} ({len(works)})" for split, works in splits.items()], key="shelf_splits")
    for tab, (split, works) in zip(tabs, splits.items(), strict=True):
        with tab:
            st.html(f'<p class="relic-quiet relic-measure">{_SPLITS[split][1]}</p>')
            _show_add_all(workbench, split, works)
            _show_rows(works)


def _show_add_all(workbench: Workbench, split: Split, works: Sequence[Shelved]) -> None:
    """Offer to add what is missing of a split."""
    wanted = [each for each in works if each.origin in {"folder", "gutenberg"} and each.entry.slug not in _waiting()]
    if not wanted:
        if all(each.origin in {"stored", "none"} for each in works):
            st.html('<p class="relic-quiet">All works of this split that can be had freely are in your library.</p>')
        return
    begun = any(each.origin == "stored" for each in works)
    fetched = sum(each.origin == "gutenberg" for each in wanted)
    seconds = fetched * workbench.settings.gutenberg_pause + (len(wanted) - fetched) * _FOLDER_SECONDS
    with st.container(horizontal=True, vertical_alignment="center"):
        many = len(wanted)
        label = f"Add the other {many}" if begun else f"Add all {many}"
        if st.button(label, key=f"shelf-all-{split}", icon=":material/add:", disabled=bool(_waiting())):
            with told():
                _start(workbench, [each.entry.slug for each in wanted])
        st.html(f'<p class="relic-quiet">{_how_long(fetched, many - fetched, seconds)}</p>', width="content")


def _how_long(fetched: int, found: int, seconds: float) -> str:
    """Say where works come from and how long that takes.

    Examples
    --------
    >>> _how_long(51, 0, 102.0)
    'Takes about 2 minutes: Project Gutenberg asks for two seconds between books. You can stop, and go on later.'
    >>> _how_long(0, 5, 5.0)
    'Takes a few seconds: they are in your folder. You can stop, and go on later.'
    """
    minutes = round(seconds / _MINUTE)
    takes = "a few seconds" if not minutes else "about a minute" if minutes == 1 else f"about {minutes} minutes"
    why = "Project Gutenberg asks for two seconds between books" if fetched else "they are in your folder"
    if fetched and found:
        why += f"; {found} {'is' if found == 1 else 'are'} in your folder"
    return f"Takes {takes}: {why}. You can stop, and go on later."


def _start(workbench: Workbench, slugs: Sequence[str]) -> None:
    job = workbench.catalogue.add(slugs)
    st.session_state.pop("shelf_ended", None)
    st.session_state["shelf_job"] = (job.id, frozenset(slugs))
    st.rerun()


def _waiting() -> frozenset[str]:
    """Name the works that the reader has asked for and that are on their way."""
    slugs: frozenset[str] = st.session_state.get("shelf_job", ("", frozenset()))[1]
    return slugs


def job_shown() -> str:
    """Name the job that the shelf itself shows; empty where there is none."""
    job_id: str = st.session_state.get("shelf_job", ("", None))[0]
    return job_id


def _show_job(workbench: Workbench, here: int) -> None:
    """Show the progress of what was asked for, and draw the page anew whenever a work has arrived."""
    if ended := st.session_state.get("shelf_ended"):
        job = workbench.jobs.get(ended)
        (st.success if job.state == "done" else st.warning)(literal(f"{job.title}: {job.note}"))
    job_id = job_shown()
    if not job_id:
        return
    if not workbench.jobs.get(job_id).active:
        del st.session_state["shelf_job"]
        st.session_state["shelf_ended"] = job_id
        st.rerun()  # the list of works above was drawn before it ended
    show_job(workbench, job_id)

    @st.fragment(run_every="3s")
    def watch() -> None:
        with told():
            if sum(each.origin == "stored" for each in workbench.catalogue.shelf()) != here:
                st.rerun()

    watch()


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
        read = link("read", "Read", title=f"Read {entry.title}", work=shelved.work.id)
        about = link("work", "About", title=f"About {entry.title}", work=shelved.work.id)
        return f'<span class="relic-quiet">In your library</span> {read} {about}'
    if entry.slug in _waiting():
        return '<span class="relic-quiet">On its way …</span>'
    if shelved.origin == "folder":
        add = buttons.button("add", entry.slug, "Add", title=f"Add {entry.title} from your folder")
        return f'<span class="relic-quiet">from your folder</span> {add}'
    if shelved.origin == "gutenberg":
        return buttons.button("add", entry.slug, "Add", title=f"Add {entry.title}")
    if entry.free_in_us is not None:
        return (
            '<span class="relic-quiet">In copyright in the US until 31 December '
            f'{entry.free_in_us - 1}: <a href="#add">add a file of your own</a></span>'
        )
    return '<span class="relic-quiet">No free source known: <a href="#add">add a file of your own</a></span>'
