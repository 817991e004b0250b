"""Answering: one item after another, each answer stored before the next is drawn; back, pause, and the end."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.errors import RelicError
from relic_ui.links import link
from relic_ui.naming import many, shorten
from relic_ui.proxy_task import proxy_item
from relic_ui.proxy_task.proxy_address import ANSWER, PAGE, cookie
from relic_ui.shell import show_errors

if TYPE_CHECKING:
    from relic_core.domain.studies import Annotator, Answer, StudyView
    from relic_core.services.studies.answering import ShownItem, Task
    from relic_core.wiring import App
    from relic_ui.proxy_task.proxy_address import Asked
    from relic_ui.proxy_task.proxy_item import Press

_CANNOT = "Cannot decide"
_WORDS_SHOWN = 70
_SETTLED = "You have been told which passage was the critic’s, so your answer to this item stands."


@dataclass(slots=True)
class _Place:
    """Where an annotator is in a study, for one visit.

    - `at`: id of the item shown; empty for the first that is not answered.
    - `heard`: nonce of the last press that was dealt with.
    - `visit`: another for each visit, by which the browser knows a server that was started anew.
    """

    whose: tuple[str, str]
    at: str = ""
    heard: str = ""
    said: str = ""
    trouble: str = ""
    visit: str = field(default_factory=lambda: uuid.uuid4().hex)


def show(app: App, view: StudyView, annotator: Annotator, asked: Asked) -> None:
    """Draw an annotator's turn.

    - `app`: where answers are kept.
    - `asked`: the address; an item that it names is shown first.
    """
    whose = (view.study.id, annotator.id)
    place = st.session_state.get("proxy_place")
    if place is None or place.whose != whose:
        place = st.session_state["proxy_place"] = _Place(whose)
    if asked.item:
        place.at = asked.item
        del st.query_params["item"]
    pause = link(PAGE, "Pause", title="Pause: your answers are kept")
    other = link(PAGE, "Not you?", title="Not you? Answer under another name", study=view.study.id)
    st.html(
        f'<div class="relic-proxy-bar"><h1 class="relic-proxy-title" tabindex="-1">{escape(view.study.label)}</h1>'
        f"<p>Answering as <strong>{escape(annotator.name)}</strong> · {other} · {pause}</p></div>"
    )
    _turn(app, place)


@st.fragment
def _turn(app: App, place: _Place) -> None:
    """Draw the item or the end; a press draws no more than this anew."""
    with show_errors():
        task = _task(app, place)
        if task.item is None:
            _finished(app, place, task)
        else:
            _item(app, place, task, task.item)


def _task(app: App, place: _Place) -> Task:
    """Look what is to be shown."""
    try:
        return app.answering.task(*place.whose, item_id=place.at)
    except RelicError:
        if not place.at:
            raise
        place.at = ""  # an address may name an item that the study does not have
        return app.answering.task(*place.whose)


def _item(app: App, place: _Place, task: Task, item: ShownItem) -> None:
    study = app.studies.study(place.whose[0])
    about = f"{item.title}, {item.author}" if item.author else item.title
    settled = item.right_option > 0
    chosen = task.answer.choice if task.answer else None
    notes, verdict = _told_of(item, chosen) if settled else ((), "")
    body = proxy_item.body_html(
        item.left, item.right, item.options, notes=notes, verdict=verdict, right_option=item.right_option
    )
    place.at = item.id

    def heard(press: Press) -> None:
        _hear(app, place, press)

    proxy_item.show(
        {
            "item": item.id,
            "who": f"{cookie(place.whose[0])}={place.whose[1]}",
            "body": body,
            "heading": f"Item {item.number} of {len(study.items)}",
            "about": "" if about == study.label else about,
            "counted": f"{task.done} of {task.total} answered",
            "of": max(task.total, 1),
            "answered": task.done,
            "choice": "" if chosen is None else str(chosen),
            "comment": task.answer.comment if task.answer else "",
            "back": bool(task.before),
            "next": "Next item" if task.after or task.done < task.total else "To the end",
            "settled": settled,
            "visit": place.visit,
            "heard": place.heard,
            "said": place.said,
            "trouble": place.trouble,
        },
        heard,
    )


def _told_of(item: ShownItem, chosen: int | None) -> tuple[tuple[str, ...], str]:
    """Say which passage was the critic's, where the study's owner lets annotators know."""
    notes = tuple(
        " · ".join(
            said
            for said, holds in (
                ("Quoted by the critic", number == item.right_option),
                ("Your choice", number == chosen),
            )
            if holds
        )
        for number in range(1, len(item.options) + 1)
    )
    if chosen == item.right_option:
        return notes, f"Yes: the critic quoted passage {item.right_option}."
    return notes, f"{'' if chosen else 'You could not decide. '}The critic quoted passage {item.right_option}."


def _hear(app: App, place: _Place, press: Press) -> None:
    """Store what was pressed, and go where it leads; what cannot be stored is told, and the item stays."""
    place.heard, place.said, place.trouble = press.nonce, "", ""
    answering = app.answering
    try:
        before = answering.task(*place.whose, item_id=press.item)
        if press.does == "choose" and before.item and before.item.right_option:
            place.trouble = _SETTLED
        elif press.does == "choose":
            answering.answer(*place.whose, press.item, press.choice, seconds=press.seconds, comment=press.comment)
            place.said = "Saved."
            place.at = press.item if before.revealed else before.after
        elif press.does == "back":
            place.at = before.before or place.at
        else:
            if before.answer and press.comment != before.answer.comment:
                answering.answer(
                    *place.whose, press.item, before.answer.choice, seconds=press.seconds, comment=press.comment
                )
                place.said = "Comment saved."
            place.at = before.after
    except RelicError as error:
        place.trouble = str(error)


def _finished(app: App, place: _Place, task: Task) -> None:
    """Thank, and let the answers be looked through."""
    study = place.whose[0]
    answered = app.answering.answered(*place.whose)
    undecided = sum(each.answer.choice == 0 for each in answered)
    said = f"You have answered {'all ' if task.done > 1 else ''}{many(task.done, 'item')}"
    said += f"; at {many(undecided, 'item')} you could not decide." if undecided else "."
    if not task.done:
        said = "Each item has as many answers as this study asks for, so there is nothing left to do."
    links = link(PAGE, "All studies")
    if task.revealed:
        right = sum(each.item.right_option == each.answer.choice for each in answered)
        said += f" Of {len(answered) - undecided} choices {right} were the critic’s own quotation."
        if not app.studies.guarded(study):
            links += link(PAGE, "Results of everybody", study=study, show="results")
    st.html(
        f'<div class="relic-proxy-end" role="status"><h2 id="proxy-end" tabindex="-1">Thank you</h2>'
        f'<p>{escape(said)}</p><p class="relic-proxy-links">{links}</p></div>'
    )
    if answered:
        rows = "".join(_answer_row(place, each.item, each.answer) for each in answered)
        st.html(
            '<details class="relic-proxy-review"><summary>Look through your answers, and change them</summary>'
            f"<ul>{rows}</ul></details>"
        )
    proxy_item.arrive("proxy-end")


def _answer_row(place: _Place, item: ShownItem, answer: Answer) -> str:
    words = shorten(item.options[answer.choice - 1], _WORDS_SHOWN) if answer.choice else _CANNOT
    comment = f'<span class="relic-quiet">{escape(answer.comment)}</span>' if answer.comment else ""
    at = f"Item {item.number}"
    look = link(PAGE, at, title=f"{at}: look again", study=place.whose[0], show=ANSWER, item=item.id)
    return f"<li>{look} <span>{escape(words)}</span>{comment}</li>"
