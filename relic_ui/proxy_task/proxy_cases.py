"""The items of a study one by one: those that everybody got and a model did not, and all of them, the hardest first."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.domain import MASK
from relic_ui import keep
from relic_ui.keep import Marks
from relic_ui.links import link
from relic_ui.naming import many
from relic_ui.proxy_task.proxy_address import how_many
from relic_ui.proxy_task.proxy_item import claim_html, words_html

if TYPE_CHECKING:
    from relic_core.domain.studies import ItemResult, Option
    from relic_core.reporting.studies import StudyResults
    from relic_core.wiring import App

_PAGE = 10
_ANY = ""


def show(app: App, results: StudyResults) -> None:
    """Draw both lists."""
    _telling(app, results)
    answered = [item for item in results.items if item.answered or item.models]
    if not answered:
        return
    st.header("Item by item", anchor="proxy-items")
    st.html('<p class="relic-quiet">The hardest first: those that the fewest people got.</p>')
    pages = -(-len(answered) // _PAGE)
    page = 1
    if pages > 1:
        page = st.pagination(pages, key="proxy_page")
    shown = answered[(page - 1) * _PAGE : page * _PAGE]
    st.html("".join(_case(app, item) for item in shown))


def do(app: App, results: StudyResults, does: str, to: str) -> None:
    """Keep a passage of an item with the critic's words as its claim, or let it go."""
    if passage := keep.asked(does, to):
        claims = {result.item.id: _claim(result) for result in results.items}
        keep.press(app, passage, origin="proxy_task", claim_text=claims.get("".join(passage.further), ""))


def _claim(result: ItemResult) -> str:
    return f"{result.item.left} {MASK} {result.item.right}".strip()


def _telling(app: App, results: StudyResults) -> None:
    """Draw the items that all people got and a model did not (the paper's table 5)."""
    if not results.people or not results.models:
        return
    st.header("What people see and a model misses", anchor="proxy-telling")
    labels = [model.label for model in results.models if not model.left_out]
    model = _ANY
    if labels:
        model = st.selectbox(
            "Model",
            [_ANY, *labels],
            format_func=lambda label: label or "Any of them",
            key="proxy_telling_model",
            width=360,
        )
    cases = [item for item in results.telling if _missed_by(item, model)]
    if not cases:
        st.html(f'<p role="status">{escape(_why_none(results, model))}</p>')
        return
    who = model or "a model"
    st.html(f'<p role="status">{many(len(cases), "item")} that all people got and {escape(who)} missed.</p>')
    st.html("".join(_case(app, item) for item in cases[:_PAGE]))


def _why_none(results: StudyResults, model: str) -> str:
    """Say why there is no item that people got and a model missed: before both have answered nothing is known."""
    lacking = []
    together = [item for item in results.items if item.answered > 1]
    if not together:
        people = sum(person.answered > 0 for person in results.people)
        so_far = f"so far {how_many(people)} answered" if people else "nobody has answered yet"
        lacking.append(f"It takes two people who have answered the same item: {so_far}.")
    if not any(item.models for item in results.items):
        lacking.append("No model has answered these items yet.")
    if lacking:
        return " ".join(lacking)
    got = sum(item.right == item.answered for item in together)
    if not got:
        return f"There is no item that all people got, of the {many(len(together), 'item')} that two or more answered."
    who = model or "No model"
    return f"{who} missed {'none' if model else 'any'} of the {many(got, 'item')} that all people got."


def _missed_by(item: ItemResult, model: str) -> bool:
    wrong = {label for label, choice in item.models.items() if choice != item.item.right_option}
    return bool(wrong) if model == _ANY else model in wrong


def _case(app: App, result: ItemResult) -> str:
    """Set an item with its three passages: who chose which, and where each stands in its work."""
    item = result.item
    share = "" if result.share is None else f"{100 * result.share:.0f}% of {many(result.answered, 'answer')} right"
    time = f" · {result.seconds:.0f} s" if result.seconds else ""
    undecided = f" · {result.cannot} could not decide" if result.cannot else ""
    marks = Marks(app, _claim(result))
    options = "".join(_passage(result, number, option, marks) for number, option in enumerate(item.options, start=1))
    said = "".join(f"<li>{escape(comment)}</li>" for comment in result.comments)
    comments = f'<div class="relic-proxy-comments"><h4>Comments</h4><ul>{said}</ul></div>' if said else ""
    source = f'<p class="relic-quiet">{escape(item.source)}</p>' if item.source else ""
    return (
        f'<article class="relic-proxy-case"><header><h3><cite>{escape(result.title)}</cite></h3>'
        f"<span>{share}{undecided}{time}</span></header><div>"
        f'<div class="relic-proxy-context">{claim_html(item.left, item.right)}{source}</div>{comments}</div>'
        f"<ol>{options}</ol></article>"
    )


def _passage(result: ItemResult, number: int, option: Option, marks: Marks) -> str:
    item = result.item
    right = number == item.right_option
    models = [label for label, choice in result.models.items() if choice == number]
    votes = result.votes[number - 1]
    chosen = [how_many(votes)] if votes else []
    chosen += models
    by = f"Chosen by {' · '.join(chosen)}" if chosen else "Chosen by nobody"
    read = ""
    if result.work_id:
        length = option.span.length
        read = link(
            "read",
            "Read it in its place",
            title=f"Read it in its place: passage {number}",
            work=result.work_id,
            at=option.address,
            n=length if length > 1 else None,
        )
        read += f" {marks.html(result.work_id, option.address, length, item.id, place=f'passage {number}')}"
    mark = "<strong>The critic’s quotation.</strong> " if right else ""
    return (
        f'<li class="{"relic-proxy-right" if right else ""}"><blockquote class="relic-proxy-words">'
        f'{words_html(option.words)}</blockquote><p class="relic-proxy-by">{mark}{escape(by)}. {read}</p></li>'
    )
