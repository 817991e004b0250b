"""Taking part: consent, one item after another, each answer stored before the next is drawn, and the end.

Who answers is known to the visit; the browser remembers it besides, in a cookie that it forgets when it is closed, so
that a tab that is loaded anew and a server that was started anew go on where they were. On another device the name or
code is given again.

What answers to a press happens in the browser (``item.js``), which tells the server of each press once. A press names
its item, so that what was pressed twice, or on two devices, cannot become an answer to another one.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from relic_core.domain.studies import (
    LONGEST_COMMENT,
    LONGEST_NAME,
    LONGEST_SECONDS,
    OPTIONS,
    Annotator,
    Study,
    StudyView,
    span_of,
)
from relic_core.errors import RelicError
from relic_core.studies.answering import AnsweredItem, ShownItem, Task
from relic_core.studies.report import PAPER, load_of
from relic_core.wiring import App
from relic_ui.component import component
from relic_ui.links import link
from relic_ui.naming import listed, many, shorten
from relic_ui.shell import show_errors, warn_of_address
from relic_ui.sources.sources import EVIDENCE
from relic_ui.studies.studies import ANSWER, PAGE, StudyQuery, show_held, title
from relic_ui.visit import visit

_OWNER_SEES = "Only those who run the study, and have its code, see answers and results."
_ALL_SEE = "Anybody who can open this page can see the results, with the names or codes."
_CANNOT = "Cannot decide"
_WORDS_SHOWN = 70
_SETTLED = "You have seen which passage was right, so your answer to this item is final."
_CHAIRS = "proxy_chairs"
"""In the session: by study the id of who answers in this visit."""

_JS = Path(__file__).with_name("item.js").read_text(encoding="utf-8")
_KEY = "proxy_item"
_HTML = f"""
<div class="relic-proxy">
  <p class="relic-sr" role="status" data-part="said"></p>
  <header class="relic-proxy-head">
    <h2 tabindex="-1" data-part="heading"></h2>
    <p data-part="work"></p>
    <p data-part="counted"></p>
    <progress aria-label="Items answered" data-part="progress" max="1" value="0"></progress>
  </header>
  <div data-part="body"></div>
  <p class="relic-proxy-trouble" role="alert" data-part="trouble"></p>
  <div class="relic-proxy-foot">
    <div class="relic-proxy-do">
      <button type="button" class="relic-proxy-plain" data-part="back">Back one item <kbd aria-hidden="true">B</kbd>
      </button>
      <button type="button" class="relic-proxy-plain" data-part="next"><span data-part="on"></span>
        <kbd aria-hidden="true">N</kbd></button>
    </div>
    <details data-part="more"><summary>Add a comment</summary>
      <label for="relic-proxy-comment">Your comment on this item, kept with your choice</label>
      <textarea id="relic-proxy-comment" data-part="comment" maxlength="{LONGEST_COMMENT}"></textarea>
    </details>
    <div class="relic-proxy-keys">
      <p data-part="hint"></p>
      <button type="button" data-part="keys"></button>
    </div>
  </div>
</div>
"""
_HINT = "Keys: <kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> choose, <kbd>0</kbd> or <kbd>C</kbd> cannot decide"
_SPAN_HINT = (
    "Keys: <kbd>Tab</kbd> to an end, <kbd>←</kbd> <kbd>→</kbd> move it, <kbd>Enter</kbd> saves, <kbd>0</kbd> cannot say"
)
_ARRIVE = """
export default function () {
  const main = document.querySelector('[data-testid="stMain"]')
  let looks = 200
  const arrive = () => {  // what had the focus may leave the page a moment later
    const target = document.getElementById("proxy-end")
    if (target && document.activeElement === document.body) {
      if (main) main.scrollTop = 0
      target.focus({ preventScroll: true })
    } else if (document.activeElement !== target && looks-- > 0) setTimeout(arrive, 50)
  }
  arrive()
}
"""


# ---- before the first item -------------------------------------------------------------------------------------------


def _cookie(study_id: str) -> str:
    return f"relic_study_{study_id}"


def whoever_answers(study_id: str) -> str:
    """Give the id of who answers a study in this visit or browser; empty where nobody does."""
    return st.session_state.get(_CHAIRS, {}).get(study_id) or st.context.cookies.get(_cookie(study_id), "")


def find_annotator(app: App, view: StudyView, asked: StudyQuery) -> Annotator | None:
    """Give who answers, where the address goes on with that; None where nobody does, or nobody that is known."""
    study_id = view.study.id
    chosen = whoever_answers(study_id) if asked.show == ANSWER else ""
    if not chosen:
        return None
    lines = app.studies.annotators(study_id)
    found = next((line.annotator for line in lines if line.annotator.id == chosen), None)
    if found is None:
        warn_of_address(
            "The answers you were continuing are not here: they were removed, or given elsewhere. Start again below."
        )
    return found


def show_before(app: App, view: StudyView) -> None:
    """Draw what stands before the first item: what is asked of a reader, what is stored, a name or code, consent."""
    title(view.study.label)
    if view.held:
        show_held([" ".join(view.held)])
        return
    works = listed([work.title for work in view.study.works])
    sees = _OWNER_SEES if app.studies.guarded(view.study.id) else _ALL_SEE
    st.html(
        f'<div class="relic-proxy-before"><p class="relic-quiet">{many(len(view.study.items), "item")} of '
        f"<cite>{escape(works)}</cite>. {escape(load_of(view))} You can stop at any time and continue later.</p>"
        f"<section><h2>What to do</h2>{_paragraphs(view.terms.instructions)}</section>"
        f"<section><h2>Before you begin</h2>{_paragraphs(view.terms.consent)}"
        f'<div class="relic-quiet">{_paragraphs(view.terms.privacy)}<p>{sees}</p></div></section></div>'
    )
    _ask(app, view)


def _paragraphs(words: str) -> str:
    r"""Set a text that a study's owner wrote: shown, not obeyed; empty lines part paragraphs.

    >>> _paragraphs("Read.\n\n<b>Choose</b>.")
    '<p>Read.</p><p>&lt;b&gt;Choose&lt;/b&gt;.</p>'
    """
    return "".join(f"<p>{escape(each.strip())}</p>" for each in words.split("\n\n") if each.strip())


def _ask(app: App, view: StudyView) -> None:
    """Ask for a name and for consent."""
    with st.form("proxy_begin", border=False, width=520):
        name = st.text_input("Your name, or a code", key="proxy_name", max_chars=LONGEST_NAME, autocomplete="off")
        st.html('<p class="relic-quiet">To continue later, on this device or another, give the same name or code.</p>')
        agreed = st.checkbox("I have read this, and I agree to take part", key="proxy_agreed")
        pressed = st.form_submit_button("Begin", type="primary", key="proxy_start")
    if pressed and not name.strip():
        st.error("Please give a name or a code; your answers are stored under it.", icon=":material/error:")
    elif pressed and not agreed:
        st.error("Please tick the box to agree to take part; nothing is stored without it.", icon=":material/error:")
    elif pressed:
        with show_errors():
            if app.answering.knows(view.study.id, name):
                _confirm(app, view, name)
            else:
                _join(app, view, name)
                st.rerun()


def _confirm(app: App, view: StudyView, name: str) -> None:
    """Ask whether who gives a known name is the one who gave it before: their answers would become one person's."""

    def go_on() -> None:
        with show_errors():
            _join(app, view, name)

    st.html(
        f'<p role="status">The name <strong>{escape(name)}</strong> is in use already. Is it yours? '
        "If not, give another name above.</p>"
    )
    st.button("Yes, continue where I stopped", key="proxy_go_on", type="primary", on_click=go_on)


def _join(app: App, view: StudyView, name: str) -> None:
    study_id = view.study.id
    st.session_state.setdefault(_CHAIRS, {})[study_id] = app.answering.join(study_id, name).id
    st.query_params["show"] = ANSWER


# ---- items -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Place:
    """Where an annotator is in a study, for one visit.

    - `whose`: ids of study and annotator.
    - `at`: id of the item shown; empty for the first that is not answered.
    - `heard`: nonce of the last press that was dealt with.
    - `visit`: another for each visit, by which the browser knows a server that was started anew.
    """

    whose: tuple[str, str]
    at: str = ""
    heard: str = ""
    message: str = ""
    trouble: str = ""
    visit: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """What the reader did.

    - `choice`: number of the chosen passage or label, or a span; 0 where the reader cannot decide or chose nothing.
    - `seconds`: for how long the item could be seen.
    - `nonce`: tells this press from every other.
    """

    does: Literal["choose", "back", "next"]
    item: str
    choice: int
    comment: str
    seconds: float
    nonce: str


def is_under_way(app: App, view: StudyView) -> bool:
    """Whether the visitor is in the middle of answering a study, and is not told what is right."""
    place = visit().get("proxy_place")
    if place is None or place.whose[0] != view.study.id or view.terms.revealed:
        return False
    return app.answering.task(*place.whose).item is not None


def show(app: App, view: StudyView, annotator: Annotator, asked: StudyQuery) -> None:
    """Draw an annotator's turn; an item that the address names is shown first."""
    whose = (view.study.id, annotator.id)
    place = visit().get("proxy_place")
    if place is None or place.whose != whose:
        place = visit()["proxy_place"] = _Place(whose)
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
        try:
            task = app.answering.task(*place.whose, item_id=place.at)
        except RelicError:
            if not place.at:
                raise
            place.at = ""  # an address may name an item that the study does not have
            task = app.answering.task(*place.whose)
        if task.item is None:
            _finished(app, place, task)
        else:
            _item(app, place, task, task.item)


def _item(app: App, place: _Place, task: Task, item: ShownItem) -> None:
    """Draw an item; `item.js` says what each part of the data is for."""
    study = app.studies.study(place.whose[0])
    about = f"{item.title}, {item.author}" if item.author else item.title
    chosen = task.answer.choice if task.answer else None
    place.at = item.id

    def pressed() -> None:
        press = press_of(st.session_state[_KEY].did)
        if press is not None:
            _hear(app, place, press)

    data = {
        "item": item.id,
        "who": f"{_cookie(place.whose[0])}={place.whose[1]}",
        "body": BODIES[study.kind.name](item, chosen),
        "hint": _SPAN_HINT if study.kind.marks_spans else _HINT,
        "heading": f"Item {item.number} of {max(task.given, item.number)}",
        "about": "" if about == study.label else about,
        "counted": f"{task.done} of {task.total} answered",
        "of": max(task.total, 1),
        "answered": task.done,
        "choice": "" if chosen is None else str(chosen),
        "comment": task.answer.comment if task.answer else "",
        "back": bool(task.before),
        "next": "Next item" if task.after or task.done < task.total else "To the end",
        "settled": item.right_option > 0,
        "visit": place.visit,
        "heard": place.heard,
        "said": place.message,
        "trouble": place.trouble,
    }
    shown = component("relic_proxy_item", html=_HTML, js=_JS, isolate_styles=False)
    shown(key=_KEY, data=data, on_did_change=pressed)


def press_of(event: object) -> Press | None:
    """Read what the browser tells; None where it is nothing that this page could have sent.

    >>> press_of({"does": "choose", "item": "a", "choice": "2", "comment": "", "seconds": 3.5, "nonce": "x"}).choice
    2
    >>> press_of({"does": "shout"}) is None
    True
    """
    does = event.get("does") if isinstance(event, dict) else None
    if not isinstance(event, dict) or does not in {"choose", "back", "next"}:
        return None
    choice, seconds = str(event.get("choice", "")), event.get("seconds", 0)
    if does == "choose" and not re.fullmatch(r"[0-9]{1,6}", choice):
        return None
    real = isinstance(seconds, int | float) and seconds >= 0
    return Press(
        does=does,
        item=str(event.get("item", "")),
        choice=int(choice or 0) if does == "choose" else 0,
        comment=str(event.get("comment", ""))[:LONGEST_COMMENT],
        seconds=min(float(seconds), LONGEST_SECONDS) if real else 0.0,
        nonce=str(event.get("nonce", "")),
    )


def _hear(app: App, place: _Place, press: Press) -> None:
    """Store what was pressed, and go where it leads; what cannot be stored is reported, and the item stays."""
    place.heard, place.message, place.trouble = press.nonce, "", ""
    answering = app.answering
    given: Mapping[str, Any] = {"seconds": press.seconds, "comment": press.comment}
    try:
        before = answering.task(*place.whose, item_id=press.item)
        if press.does == "choose" and before.item and before.item.right_option:
            place.trouble = _SETTLED
        elif press.does == "choose":
            answering.answer(*place.whose, press.item, press.choice, **given)
            place.message = "Saved."
            place.at = press.item if before.revealed else before.after
        elif press.does == "back":
            place.at = before.before or place.at
        else:
            if before.answer and press.comment != before.answer.comment:
                answering.answer(*place.whose, press.item, before.answer.choice, **given)
                place.message = "Comment saved."
            place.at = before.after
    except RelicError as error:
        place.trouble = str(error)


_UNDECIDED = (
    '<div class="relic-proxy-do"><button type="button" class="relic-proxy-plain" data-choice="0">Cannot decide '
    '<kbd aria-hidden="true">0</kbd></button></div>'
)


def _passages(item: ShownItem, chosen: int | None) -> str:
    """Set a claim and the passages to choose from; with what is right where the annotator may know."""
    right = item.right_option
    verdict, undecided = "", ""
    if right:
        outcome = "Yes: the" if chosen == right else f"{'' if chosen else 'You could not decide. '}The"
        outcome += f" passage is {right}." if item.alone else f" critic quoted passage {right}."
        verdict = f'<p class="relic-proxy-verdict" tabindex="-1" data-part="verdict">{outcome}</p>'
    else:
        undecided = _UNDECIDED
    rows = ""
    for number, words in enumerate(item.options, start=1):
        of = {"The passage" if item.alone else "Quoted by the critic": right, "Your choice": chosen}
        notes = [label for label, at in of.items() if right and at == number]
        note = f'<span class="relic-proxy-note">{" · ".join(notes)}</span>' if notes else ""
        rows += (
            f'<li><button type="button" class="relic-proxy-option{" relic-proxy-right" * (number == right)}" '
            f'data-choice="{number}"><span class="relic-rank"><span class="relic-sr">Passage </span>{number}</span>'
            f'<span class="relic-proxy-words">{words_html(words)}</span>{note}</button></li>'
        )
    who = "The claim" if item.alone else "The critic writes"
    return (
        f'<div class="relic-proxy-body"><section class="relic-proxy-context"><h3>{who}</h3>'
        f"{claim_html(item.left, item.right, alone=item.alone)}</section>"
        f'<section class="relic-proxy-choose"><h3>{item.asks}</h3>{verdict}'
        f'<ol class="relic-proxy-options">{rows}</ol>{undecided}</section></div>'
    )


def _span(item: ShownItem, chosen: int | None) -> str:
    """Set a passage whose words can be marked around its anchor, beside what it is said to allude to."""
    start, end = span_of(chosen) if chosen else (item.anchor - 1, item.anchor)
    words = "".join(
        f'<span data-word="{number}"{" class=relic-span-anchor" * (number == item.anchor)}>{escape(word)} </span>'
        for number, word in enumerate(item.options[0].split(), start=1)
    )
    handles = "".join(
        f'<span role="slider" tabindex="0" class="relic-span-end" aria-label="{side} of the allusion"></span>'
        for side in ("Beginning", "End")
    )
    meets = "".join(f"<p>{escape(each)}</p>" for each in item.right.split("\n") if each)
    beside = f"<h3>It is said to allude to</h3>{meets}" if meets else ""
    source = f'<p class="relic-quiet">{escape(item.source)}</p>' if item.source else ""
    return (
        f'<div class="relic-proxy-body"><section class="relic-proxy-choose"><h3>{item.asks}</h3>'
        f'<p class="relic-span" data-anchor="{item.anchor}" data-first="{start + 1}" data-last="{end}">{words}{handles}'
        f'</p>{source}<div class="relic-proxy-do"><button type="button" class="relic-proxy-plain" data-part="mark" '
        'data-choice="">Save this span: <span data-part="marked"></span></button><button type="button" '
        'class="relic-proxy-plain" data-choice="0">No allusion, or cannot say <kbd aria-hidden="true">0</kbd></button>'
        f'</div></section><section class="relic-proxy-context">{beside}</section></div>'
    )


def _labels(item: ShownItem, chosen: int | None) -> str:  # noqa: ARG001 - as the bodies of other kinds
    """Set a critic's words with their quotation, and what it may be there for."""
    rows = "".join(
        f'<li><button type="button" class="relic-proxy-option" data-choice="{number}"><span class="relic-rank">{number}'
        f"</span><span><strong>{label}</strong><br>{meaning}</span></button></li>"
        for number, (label, meaning) in enumerate(EVIDENCE.values(), start=1)
    )
    source = f'<p class="relic-quiet">{escape(item.source)}</p>' if item.source else ""
    return (
        '<div class="relic-proxy-body"><section class="relic-proxy-context"><h3>The critic writes</h3>'
        f'<p>{escape(item.left)}</p><blockquote class="relic-proxy-words">{words_html(item.options[0])}</blockquote>'
        f"<p>{escape(item.right)}</p>{source}</section>"
        f'<section class="relic-proxy-choose"><h3>{item.asks}</h3>'
        f'<ol class="relic-proxy-options">{rows}</ol>{_UNDECIDED}</section></div>'
    )


BODIES: Mapping[str, Callable[[ShownItem, int | None], str]] = {
    "proxy": _passages, "span": _span, "evidence": _labels
}  # fmt: skip
"""How an item is shown, by the kind of its study."""


def claim_html(left: str, right: str, *, alone: bool) -> str:
    """Set the critic's words with the missing quotation plain to see, or a claim alone.

    >>> claim_html("He says", "& sighs.", alone=False)
    '<p>He says <b class="relic-proxy-mask">the missing quotation</b> &amp; sighs.</p>'
    >>> claim_html("He sighs", "", alone=True)
    '<p>He sighs</p>'
    """
    gap = '<b class="relic-proxy-mask">the missing quotation</b>'
    return f"<p>{escape(left)}</p>" if alone else f"<p>{escape(left)} {gap} {escape(right)}</p>"


def words_html(words: str) -> str:
    r"""Set a passage inside a line of text: a button holds no paragraphs.

    >>> words_html("One.\n\nTwo & three.")
    '<span>One.</span><span>Two &amp; three.</span>'
    """
    return "".join(f"<span>{escape(paragraph)}</span>" for paragraph in words.split("\n\n") if paragraph.strip())


# ---- the end ---------------------------------------------------------------------------------------------------------


def _finished(app: App, place: _Place, task: Task) -> None:
    study = place.whose[0]
    answered = app.answering.answered(*place.whose)
    undecided = sum(each.answer.choice == 0 for each in answered)
    message = f"You have answered {'all ' if task.done > 1 else ''}{many(task.done, 'item')}"
    message += f"; on {many(undecided, 'item')} you could not decide." if undecided else "."
    if not task.done:
        message = "Each item has as many answers as this study asks for, so there is nothing left to do."
    links = link(PAGE, "All studies")
    beside = ""
    if not app.studies.guarded(study):
        links = link(PAGE, "Results of everybody", study=study, show="results") + links
    asked = app.studies.study(study)
    if asked.kind.is_proxy and answered and (task.revealed or not app.studies.guarded(study)):
        beside = _score(asked, answered)
    st.html(
        f'<div class="relic-proxy-end" role="status"><h2 id="proxy-end" tabindex="-1">Thank you</h2>'
        f'<p>{escape(message)}</p>{beside}<p class="relic-proxy-links">{links}</p></div>'
    )
    if answered:
        st.html(
            '<details class="relic-proxy-review"><summary>Review and change your answers</summary>'
            f"<ul>{_answers(app.studies.study(study), answered)}</ul></details>"
        )
    component("relic_proxy_arrive", js=_ARRIVE)(key="proxy_arrive")


def _score(study: Study, answered: Sequence[AnsweredItem]) -> str:
    """Set how often somebody was right beside chance and what the paper measured."""
    right = {item.id: item.right_option for item in study.items}
    hits = sum(right[each.item.id] == each.answer.choice for each in answered)
    (experts, best), (model, its) = PAPER[0], PAPER[1]
    shares = (
        (f"You: right on {hits} of {many(len(answered), 'item')}", hits / len(answered)),
        ("Chance", 1 / OPTIONS),
        *(((model, its), (experts, best)) if not study.claims_alone else ()),  # measured on critics' claims
    )
    rows = "".join(f"<dt>{escape(name)}</dt><dd><strong>{100 * share:.1f}%</strong></dd>" for name, share in shares)
    return f'<dl class="relic-work-facts">{rows}</dl>'


def _answers(study: Study, answered: Sequence[AnsweredItem]) -> str:
    rows, of = "", {item.id: item for item in study.items}
    for each in answered:
        item, answer = each.item, each.answer
        words = shorten(study.kind.choice_text(of[item.id], answer.choice), _WORDS_SHOWN) or _CANNOT
        comment = f'<span class="relic-quiet">{escape(answer.comment)}</span>' if answer.comment else ""
        at = f"Item {item.number}"
        look = link(PAGE, at, title=f"{at}: look again", study=study.id, show=ANSWER, item=item.id)
        rows += f"<li>{look} <span>{escape(words)}</span>{comment}</li>"
    return rows
