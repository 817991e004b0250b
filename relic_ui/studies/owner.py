"""The side of who runs a study: its code, its texts, who answered, its files, a new version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

import streamlit as st

from relic_core.domain.studies import StudyView
from relic_core.errors import RelicError
from relic_core.installed import COMMAND
from relic_core.studies.report import made_of
from relic_core.studies.service import LONGEST_CODE
from relic_core.wiring import App
from relic_ui import buttons
from relic_ui.jobs import when
from relic_ui.links import link
from relic_ui.naming import many
from relic_ui.shell import LONGEST_PASTE, literal, show_errors
from relic_ui.studies.studies import MOST_WANTED, PAGE, WANTED, how_many, made_when_pressed, show_held
from relic_ui.visit import visit

_LONGEST_PLACE = 60
_MEGABYTES = 95
_OPENED = "proxy_opened"
"""In the session: ids of the studies whose code was given in this visit."""

_WITHOUT = (
    "No code is set, so anyone who can open this page can see the results, and with them what is right and what others "
    "answered. Set "
    "one before you invite others."
)
_HEIGHT = 160
_LOW = 90
_FILES = (
    ("Package for a department", "zip", "application/zip", "package"),
    ("Information sheet", "html", "text/html", "information"),
    ("Export the study", "json", "application/json", "export"),
    ("Examples for training", "jsonl", "application/jsonl", "judged"),
)
"""What is saved, and by which method of `StudyFiles`; the last is of the proxy task alone."""


def is_let_in(app: App, view: StudyView) -> bool:
    """Whether the visitor may see the results and the owner's side; asks for the code where it is not known yet."""
    study_id = view.study.id
    if study_id in st.session_state.get(_OPENED, set()) or not app.studies.guarded(study_id):
        return True
    st.html(
        '<p class="relic-measure">The results show what others answered, so the person who runs this study put a code '
        "before them.</p>"
    )
    with st.form("proxy_code_ask", border=False, width=520):
        code = st.text_input("The owner’s code", type="password", max_chars=LONGEST_CODE, key="proxy_code")
        pressed = st.form_submit_button("Open", type="primary", key="proxy_code_open")
    if pressed and app.studies.opens(study_id, code):
        _open(study_id)
        st.rerun()
    if pressed:
        st.error(
            literal(
                "That is not the code. Where it was forgotten, another can be set on the computer that runs the "
                f"program: {COMMAND} study owner-code {study_id} CODE"
            ),
            icon=":material/lock:",
        )
    return False


def show(app: App, view: StudyView, does: str, to: str) -> None:
    """Draw the owner's side."""
    study = view.study
    st.html(
        f'<p class="relic-proxy-links">{link(PAGE, "Take part", study=study.id)}'
        f"{link(PAGE, 'Results', study=study.id, show='results')}</p>"
    )
    show_held(view.held)
    _facts(view)
    _say()
    st.header("Link for those who take part", anchor="proxy-link")
    st.code(f"{st.context.url}?study={study.id}", language=None, wrap_lines=True)
    if study.kind.is_proxy:
        _hints(app, view)
    _code(app, view)
    _texts(app, view)
    _people(app, view, does, to)
    _files(app, view)
    _end(app, view)


def _facts(view: StudyView) -> None:
    study = view.study
    facts = (
        ("What is asked", study.asks),
        ("Works", ", ".join(work.title for work in study.works)),
        *((name[:1].upper() + name[1:], value) for name, value in made_of(study)),
        ("Made", f"{when(study.created)}; program: {study.making.code}"),
        ("Identity", study.id),
    )
    rows = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    later = f"<p>{link(PAGE, 'There is a later version', study=view.later, show='manage')}</p>" if view.later else ""
    st.html(f'{later}<dl class="relic-work-facts">{rows}</dl>')


def _say() -> None:
    """Tell what came of the last thing that was done here."""
    message, trouble = visit().pop("proxy_managed", ("", ""))
    if message:
        st.html(f'<p role="status" class="relic-proxy-said">{escape(message)}</p>')
    if trouble:
        st.error(literal(trouble), icon=":material/error:")


def _tell(message: str = "", trouble: str = "") -> None:
    """Have something told when the page is drawn anew."""
    visit()["proxy_managed"] = (message, trouble)


@contextmanager
def _tell_errors() -> Iterator[None]:
    """Have an error of ours told when the page is drawn anew."""
    try:
        yield
    except RelicError as error:
        _tell(trouble=str(error))


def _hints(app: App, view: StudyView) -> None:
    key = f"proxy_revealed-{view.study.id}"
    st.session_state[key] = view.terms.revealed

    def change() -> None:
        with _tell_errors():
            app.studies.edit(view.study.id, revealed=st.session_state[key])
            _tell("Saved.")

    st.toggle(
        "Tell people after each answer which passage was right",
        key=key,
        on_change=change,
        help="Off while a study runs: who knows what was right answers the next item differently. Good for teaching.",
    )


def _code(app: App, view: StudyView) -> None:
    """Let the code be set, changed or taken away."""
    study_id = view.study.id
    guarded = app.studies.guarded(study_id)
    st.header("Who sees the results", anchor="proxy-code")
    text = (
        "The results and this side open with the owner’s code. It is kept in a form that cannot be read back."
        if guarded
        else _WITHOUT
    )
    st.html(f'<p class="relic-quiet relic-measure">{text}</p>')
    with st.form(f"proxy_code_set-{study_id}", border=False, clear_on_submit=True, width=520):
        code = st.text_input(
            "New code" if guarded else "The owner’s code", type="password", max_chars=LONGEST_CODE, key="proxy_code_new"
        )
        with st.container(horizontal=True):
            keep = st.form_submit_button("Set the code", key="proxy_code_keep", icon=":material/lock:")
            drop = guarded and st.form_submit_button("Take the code away", key="proxy_code_drop")
    if keep and not code.strip():
        st.error("Please write a code.", icon=":material/error:")
    elif keep or drop:
        with show_errors():
            app.studies.give_code(study_id, "" if drop else code)
            _open(study_id)
            _tell("The code is taken away." if drop else "The code is set.")
            st.rerun()


def _open(study_id: str) -> None:
    st.session_state.setdefault(_OPENED, set()).add(study_id)


def _texts(app: App, view: StudyView) -> None:
    """Let the texts be edited; what is frozen is shown."""
    st.header("What people read", anchor="proxy-texts")
    terms = view.terms
    if view.frozen:
        st.html(
            '<p class="relic-quiet relic-measure">There are answers already, so the instructions and the number of '
            "people cannot change: all must be asked the same. To change them, make a new version below.</p>"
        )
    with st.form(f"proxy_texts-{view.study.id}", border=False):
        instructions = st.text_area(
            "Instructions",
            terms.instructions,
            height=_HEIGHT,
            key="proxy_instructions",
            disabled=view.frozen,
            max_chars=LONGEST_PASTE,
        )
        wanted = st.number_input(
            WANTED, 0, MOST_WANTED, terms.wanted, key="proxy_wanted", disabled=view.frozen, width=320
        )
        runner = st.text_area(
            "Who runs it, and how to reach them",
            terms.runner,
            height=_LOW,
            key="proxy_runner",
            help="Stands on the information sheet for participants.",
            max_chars=LONGEST_PASTE,
        )
        consent = st.text_area(
            "What people agree to", terms.consent, height=_HEIGHT, key="proxy_consent", max_chars=LONGEST_PASTE
        )
        privacy = st.text_area(
            "What is stored, and where", terms.privacy, height=_HEIGHT, key="proxy_privacy",
            help=literal(f"The answers are kept in {app.settings.store}."),
            max_chars=LONGEST_PASTE,
        )  # fmt: skip
        pressed = st.form_submit_button("Save the texts", key="proxy_texts_save", icon=":material/save:")
    if pressed:
        with _tell_errors():
            frozen: dict[str, str | int] = {} if view.frozen else {"instructions": instructions, "wanted": int(wanted)}
            app.studies.edit(view.study.id, runner=runner, consent=consent, privacy=privacy, **frozen)
            _tell("The texts are saved.")
        st.rerun()


def _people(app: App, view: StudyView, does: str, to: str) -> None:
    """List who answered; remove one of them on request, after asking once more."""
    st.header("Who takes part", anchor="proxy-people")
    state = visit()
    if does == "remove-annotator":
        state["proxy_removing"] = to
    lines = app.studies.annotators(view.study.id)
    if not lines:
        st.html('<p class="relic-quiet">Nobody yet.</p>')
        return
    chosen = next((line for line in lines if line.annotator.id == state.get("proxy_removing")), None)
    rows = ""
    for line in lines:
        name = line.annotator.name
        last = f", last {when(line.last)}" if line.last else ""
        remove = buttons.button(
            "remove-annotator",
            line.annotator.id,
            "Remove …",
            title=f"Remove the answers of {name}",
            then=".st-key-proxy_remove_ask",
        )
        rows += (
            f'<li id="annotator-{escape(line.annotator.id)}" tabindex="-1"><div><h3 class="relic-item">{escape(name)}'
            f'</h3><p class="relic-quiet">{many(line.answered, "item")} answered{last}</p></div>'
            f'<div class="relic-shelf-do">{remove}</div></li>'
        )
    st.html(f'<ul class="relic-shelf-works">{rows}</ul>')
    if chosen is None:
        return
    with st.container(border=True, key="proxy_remove_ask"):
        st.html(
            f'<p role="status">Remove everything that <strong>{escape(chosen.annotator.name)}</strong> answered? '
            f"{many(chosen.answered, 'answer')} and the name are erased for good; this cannot be undone.</p>"
        )
        with st.container(horizontal=True):
            if st.button("Erase these answers", key="proxy_remove_yes", type="primary", icon=":material/delete:"):
                with _tell_errors():
                    with st.spinner("Erasing …"):
                        gone = app.studies.erase(view.study.id, chosen.annotator.id)
                    _tell(f"Erased: {many(gone, 'answer')} of {chosen.annotator.name}.")
                del state["proxy_removing"]
                st.rerun()
            if st.button("Keep them", key="proxy_remove_no"):
                del state["proxy_removing"]
                st.rerun()


def _files(app: App, view: StudyView) -> None:
    files, study_id = app.study_files, view.study.id
    st.header("Files", anchor="proxy-files")
    examples = " The examples are for training and measuring models." if view.study.kind.is_proxy else ""
    st.html(
        '<p class="relic-quiet relic-measure">The file of the study holds its items and texts and no answers: send it '
        "to anyone who is to run the same study. The package has it with the information sheet and a guide for a "
        "department. The sheet tells participants what is asked, how long it takes, what is stored, who sees it, and "
        f"how to withdraw, by the settings of this page.{examples}</p>"
    )
    with st.container(horizontal=True, gap="small"):
        for label, end, mime, make in _FILES[: None if view.study.kind.is_proxy else -1]:
            buttons.save_button(
                label,
                made_when_pressed(app, make, study_id),
                files.file_name(study_id, end),
                mime,
                key=f"proxy_{make}",
            )
    _answers_of_others(app, view)


def _answers_of_others(app: App, view: StudyView) -> None:
    """Take in what was answered elsewhere to the same study."""
    state = visit()
    with st.expander("Put answers of another department beside yours", key="proxy_others"):
        st.html(
            '<p class="relic-quiet relic-measure">Who ran this study elsewhere, from its file, saves “Answers as '
            "JSON” beside the results there, with names or without. What is here already is not taken in twice.</p>"
        )
        of = st.text_input("Where they come from", key="proxy_others_of", max_chars=_LONGEST_PLACE, width=360)
        file = st.file_uploader(
            "File of answers (.json)",
            max_upload_size=_MEGABYTES,
            key=f"proxy_others-{state.setdefault('proxy_others_round', 0)}",
        )
        if file is not None and st.button("Take them in", key="proxy_others_do", icon=":material/upload:"):
            with show_errors():
                people, new = app.study_files.take_in_answers(view.study.id, file.getvalue(), of=of, name=file.name)
                state["proxy_others_round"] += 1
                _tell(f"Taken in: {many(new, 'new answer')} of {how_many(people)}.")
                st.rerun()


def _end(app: App, view: StudyView) -> None:
    """Make a new version, or remove the study."""
    st.header("A new version, or the end", anchor="proxy-end-of-study")
    with st.container(horizontal=True, gap="small"):
        if st.button("Make a new version", key="proxy_version", icon=":material/content_copy:"):
            with _tell_errors():
                made = app.studies.new_version(view.study.id)
                st.query_params["study"] = made.id
                _tell("This is the new version: the same items, no answers yet, and its texts can be edited.")
            st.rerun()
        if st.button("Remove this study", key="proxy_remove_study", icon=":material/delete:"):
            with _tell_errors():
                removed = app.studies.remove(view.study.id)
                visit()["study_removed"] = (removed.id, removed.label)
                st.query_params.clear()
            st.rerun()
