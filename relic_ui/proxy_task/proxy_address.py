"""Addresses of the page of the proxy task: which study, which side of it, which item; never who answers.

An address is shared, so that others take part, and must not seat them on somebody's chair. Who answers is known to the
visit; the browser remembers it besides, in a cookie that it forgets when it is closed, so that a tab that is loaded
anew and a server that was started anew go on where they were. On another device the name or code is given again.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.errors import NotFound
from relic_ui.links import link
from relic_ui.shell import literal

if TYPE_CHECKING:
    from relic_core.domain.studies import StudyView
    from relic_core.wiring import App

PAGE = "proxy_task"
ANSWER = "answer"
"""The side on which somebody answers."""

_SHORT = 60
_CHAIRS = "proxy_chairs"
"""In the session: by study the id of who answers in this visit."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the page's address asks for; each empty where it does not say.

    - `study`: id of a study; the list of studies without one.
    - `show`: "answer", "results", "manage" or, without a study, "make".
    """

    study: str
    show: str
    item: str


def read() -> Asked:
    """Read the address."""
    given = st.query_params
    return Asked(given.get("study", ""), given.get("show", ""), given.get("item", ""))


def cookie(study_id: str) -> str:
    """Name the cookie by which the browser remembers who answers a study."""
    return f"relic_study_{study_id}"


def answering(study_id: str) -> str:
    """Give the id of who answers a study in this visit or, if it has just begun, in this browser; empty for nobody."""
    chairs: dict[str, str] = st.session_state.get(_CHAIRS, {})
    return chairs.get(study_id) or st.context.cookies.get(cookie(study_id), "")


def answer_as(study_id: str, annotator_id: str) -> None:
    """Go on with somebody's answers in this visit."""
    st.session_state.setdefault(_CHAIRS, {})[study_id] = annotator_id
    st.query_params["show"] = ANSWER


def opened(app: App, asked: Asked) -> StudyView | None:
    """Open the study that is asked for; None where none is, or it is not here, which is told."""
    if not asked.study:
        return None
    try:
        return app.studies.get(asked.study)
    except NotFound:
        st.warning(
            literal(
                f"There is no study '{asked.study[:_SHORT]}' here. It was made elsewhere, or removed: import it below, "
                "or choose another."
            ),
            icon=":material/link_off:",
        )
        return None


def how_many(people: int) -> str:
    """Count people.

    >>> how_many(1), how_many(3)
    ('one person', '3 people')
    """
    return "one person" if people == 1 else f"{people:,} people"


def label_of(name: str, version: int) -> str:
    """Name a study of the list: with its version where it is not the first.

    >>> label_of("Emma", 1), label_of("Emma", 2)
    ('Emma', 'Emma, version 2')
    """
    return name if version == 1 else f"{name}, version {version}"


def title(words: str, *, back: str = "All studies", **to: str) -> None:
    """Draw the heading of one side of the page, with the way back.

    - `words`: not yet escaped.
    - `**to`: where it leads.
    """
    st.html(
        f'<p class="relic-proxy-back">{link(PAGE, f"← {back}", css="relic-back", **to)}</p>'
        f'<h1 class="relic-proxy-title" tabindex="-1">{escape(words)}</h1>'
    )


def paragraphs(words: str) -> str:
    r"""Set a text that a study's owner wrote: shown, not obeyed; empty lines part paragraphs.

    >>> paragraphs("Read.\n\n<b>Choose</b>.")
    '<p>Read.</p><p>&lt;b&gt;Choose&lt;/b&gt;.</p>'
    """
    return "".join(f"<p>{escape(each.strip())}</p>" for each in words.split("\n\n") if each.strip())
