"""The studies that there are: what the task is, which study to take part in, taking one in from a file."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.errors import RelicError
from relic_ui.links import link
from relic_ui.naming import many, some_of
from relic_ui.proxy_task.proxy_address import PAGE, how_many, label_of
from relic_ui.removed import show_each, show_undo
from relic_ui.shell import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.wiring import App

_NAMED = 3
_REMOVED_SHOWN = 12
_MEGABYTES = 24


def show(app: App) -> None:
    """Draw the first side of the page."""
    st.title("The proxy task")
    st.html(
        '<p class="relic-lede relic-proxy-lede">A critic quotes a passage of a book, and the quotation is taken out. '
        "Beside the critic’s words stand three passages of that book: which of them was it?</p>"
        '<p class="relic-quiet relic-measure">No person can rank thousands of passages as a model does, so this '
        "smaller test stands proxy for the search. Experts asked about <cite>Pride and Prejudice</cite> chose rightly "
        "93.5 times in 100, the best model of its day 67.5 times (Thai and others, 2022). Here you can take the test, "
        "alone or as a group, and see how you and the models of this app compare.</p>"
    )
    every = app.studies.all()
    st.header("Studies", anchor="studies")
    rows = "".join(
        _row(each.id, label_of(each.name, each.version), each.works, items=each.items, people=each.annotators)
        for each in every
    )
    show_undo("study", "Removed from the studies", app.studies.restore)
    st.html(f'<ul class="relic-shelf-works relic-studies">{rows}</ul>')
    st.html(f'<p class="relic-proxy-links">{link(PAGE, "Make a study of your own", show="make")}</p>')
    _take_in(app)
    _show_removed(app)


def _row(study_id: str, name: str, works: Sequence[str], *, items: int, people: int) -> str:
    """Set one study: what it is of, how far it has come, and what can be done with it."""
    of = escape(some_of(list(works), _NAMED)) if works and list(works) != [name] else ""
    titles = f'<p><cite class="relic-proxy-works">{of}</cite></p>' if of else ""
    facts = f"{many(items, 'item')} · {f'{how_many(people)} so far' if people else 'nobody has answered yet'}"
    links = (
        link(PAGE, "Take part", css="relic-proxy-go", title=f"Take part: {name}", study=study_id)
        + link(PAGE, "Results", title=f"Results: {name}", study=study_id, show="results")
        + link(PAGE, "Manage", title=f"Manage: {name}", study=study_id, show="manage")
    )
    return (
        f'<li id="study-{escape(study_id)}" tabindex="-1"><div><h3 class="relic-item">{escape(name)}</h3>'
        f'{titles}<p class="relic-quiet">{facts}</p></div>'
        f'<div class="relic-shelf-do">{links}</div></li>'
    )


def _take_in(app: App) -> None:
    """Offer to import a study from its file; what is wrong with one is told, and nothing of it is kept."""
    state = st.session_state
    with st.expander("Import a study from a file", key="proxy_import"):
        st.html(
            '<p class="relic-quiet relic-measure">A study that was exported elsewhere is the same here: the same items '
            "in the same order of passages. Two departments can run it and put their answers together.</p>"
        )
        file = st.file_uploader(
            "File of a study (.json)",
            max_upload_size=_MEGABYTES,
            key=f"proxy_file-{state.setdefault('proxy_file_round', 0)}",
        )
        if file is not None and st.button("Import it", key="proxy_import_do", type="primary", icon=":material/upload:"):
            try:
                study, new = app.study_files.take_in(file.getvalue(), name=file.name)
            except RelicError as error:
                st.error(literal(str(error)), icon=":material/error:")
                return
            state["proxy_taken_in"] = (study.id, study.label, new)
            state["proxy_file_round"] += 1
            st.rerun()
        if "proxy_taken_in" in state:
            study_id, label, new = state.pop("proxy_taken_in")
            said = "Imported" if new else "This study is here already"
            to = link(PAGE, "Open it", study=study_id)
            st.html(f'<p role="status">{said}: <em>{escape(label)}</em>. {to}</p>')


def _show_removed(app: App) -> None:
    removed = app.studies.removed()
    if removed:
        with st.expander(f"Removed studies ({len(removed)})", key="study_removed_list"):
            lines = [(each.id, label_of(each.name, each.version), "") for each in removed[:_REMOVED_SHOWN]]
            show_each("study", lines, "restore-study-", app.studies.restore)
