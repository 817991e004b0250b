"""The studies that there are, taking one in, making one; and the addresses of the page.

An address names a study, a side of it and an item, never who answers: it is shared, so that others take part, and must
not seat them on somebody's chair.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from relic_core.domain.runs import ECHOES
from relic_core.domain.studies import KINDS, StudyRequest, StudyView, study_kind, study_label
from relic_core.errors import NotFound, RelicError
from relic_core.studies.service import FARTHEST, LONGEST_CODE, PRIDE, StudyCounts, StudySource, paper_study, seal
from relic_core.wiring import App
from relic_ui.jobs import offer, offer_critics, show_job, stop_label
from relic_ui.links import link
from relic_ui.naming import many, some_of
from relic_ui.removed import show_each, show_undo
from relic_ui.shell import literal, show_errors, warn_of_address
from relic_ui.visit import visit

STYLE = Path(__file__).with_name("studies.css")

PAGE = "proxy_task"
ANSWER = "answer"
"""The side on which somebody answers."""

_SHORT = 60
_NAMED = 3
_REMOVED_SHOWN = 12
_MEGABYTES = 24
_ANY_LENGTH = 0
_LENGTHS = (1, 2, 3, 4, 5, _ANY_LENGTH)
_CHOOSERS = {
    ("bm25", 0): "Shared words: the two passages most like the critic’s words (BM25, as in the paper)",
    (
        "dense-relic",
        FARTHEST,
    ): "Meaning: the model’s best two, for quotations that it ranks beyond 1,000 (the paper’s second)",
}
_PRIDE = (
    '<h2 class="relic-item">Pride and Prejudice, as in the paper</h2><p>Single sentences of the novel, quoted by '
    "critics whose books are in the public domain; the other two passages share the most words with what the critic "
    "writes.</p>"
)
_MOST_ITEMS = 2_000
MOST_WANTED = 100
WANTED = "People wanted for each item (0 for as many as come)"


class StudyQuery(NamedTuple):
    """What the page's address asks for; each empty where it does not say.

    - `study`: id of a study; the list of studies without one.
    - `show`: "answer", "results", "manage" or, without a study, "make".
    """

    study: str
    show: str
    item: str


def read_address() -> StudyQuery:
    """Read the address."""
    return StudyQuery(*(st.query_params.get(name, "") for name in StudyQuery._fields))


def opened(app: App, asked: StudyQuery) -> StudyView | None:
    """Open the study that is asked for; None where none is, or it is not here, which is shown."""
    if not asked.study:
        return None
    try:
        return app.studies.get(asked.study)
    except NotFound:
        warn_of_address(
            literal(
                f"There is no study '{asked.study[:_SHORT]}' here. It was made elsewhere, or removed: import it below, "
                "or choose another."
            )
        )
        return None


def how_many(people: int) -> str:
    """Count people.

    >>> how_many(1), how_many(3)
    ('one person', '3 people')
    """
    return "one person" if people == 1 else f"{people:,} people"


def title(words: str) -> None:
    """Draw the heading of one side of the page, with the way back."""
    st.html(
        f'<p class="relic-proxy-back">{link(PAGE, "← All studies", css="relic-back")}</p>'
        f'<h1 class="relic-proxy-title" tabindex="-1">{escape(words)}</h1>'
    )


def made_when_pressed(app: App, make: str, study_id: str, **how: bool) -> Callable[[], str | bytes]:
    """Give what makes a file of a study; the app is asked anew when its button is pressed."""
    return lambda: getattr(app.study_files, make)(study_id, **how)


def show_held(sentences: Sequence[str]) -> None:
    """Say which works of a study are not here as they were."""
    for held in sentences:
        st.warning(literal(held), icon=":material/menu_book:")


def show(app: App) -> None:
    """Draw the first side of the page."""
    st.title("The proxy task")
    st.html(
        '<p class="relic-lede relic-proxy-lede">Which of three passages does a critic quote, or a claim speak of?</p>'
    )
    every = app.studies.all()
    st.header("Studies", anchor="studies")
    rows = "".join(map(_row, every))
    show_undo("study", "Removed from the studies", app.studies.restore)
    st.html(f'<ul class="relic-shelf-works relic-studies">{rows}</ul>')
    st.html(f'<p class="relic-proxy-links">{link(PAGE, "Make a study of your own", show="make")}</p>')
    _take_in(app)
    if removed := app.studies.removed():
        with st.expander(f"Removed studies ({len(removed)})", key="study_removed_list"):
            lines = [(each.id, study_label(each.name, each.version), "") for each in removed[:_REMOVED_SHOWN]]
            show_each("study", lines, "restore-study-", app.studies.restore)


def _row(each: StudyCounts) -> str:
    """Set one study: what it is of, how far it has come, and what can be done with it."""
    study_id, name, people = each.id, study_label(each.name, each.version), each.annotators
    labels = {kind.name: kind.label for kind in KINDS}  # a later version of the program may have left another kind here
    of = escape(some_of(list(each.works), _NAMED)) if each.works and list(each.works) != [name] else ""
    titles = f'<p><cite class="relic-proxy-works">{of}</cite></p>' if of else ""
    what = "" if each.kind == KINDS[0].name else f"{labels.get(each.kind, each.kind)} · "
    facts = (
        f"{what}{many(each.items, 'item')} · {f'{how_many(people)} so far' if people else 'nobody has answered yet'}"
    )
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
    """Offer to import a study from its file; what is wrong with one is shown, and nothing of it is kept."""
    state = visit()
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
            with show_errors():
                study, new = app.study_files.take_in(file.getvalue(), name=file.name)
                state["proxy_taken_in"] = (study, new)
                state["proxy_file_round"] += 1
                st.rerun()
        elif "proxy_taken_in" in state:
            study, new = state.pop("proxy_taken_in")
            message = "Imported" if new else "This study is here already"
            to = link(PAGE, "Open it", study=study.id)
            st.html(f'<p role="status">{message}: <em>{escape(study.label)}</em>. {to} {escape(study.division)}</p>')


def show_making(app: App) -> None:
    """Draw the ways to a new study."""
    title("Make a study")
    st.html('<p class="relic-measure">Once made, a study never changes.</p>')
    labels = {kind.name: kind.label for kind in KINDS}
    kind = st.radio("What people are asked", list(labels), format_func=labels.__getitem__, key="proxy_make_kind")
    if study_kind(kind).marks_spans:
        _spans(app)
        return
    under_way = next(iter(app.jobs.under_way("study")), None)
    if under_way:
        show_job(app, under_way.id, stop=stop_label(under_way))
        return
    _outcome(app)
    ready = kind == "proxy" and _one_click(app)
    _choose(app, kind)
    if kind == "proxy" and not ready:
        _fetch_paper(app)


def _spans(app: App) -> None:
    """Offer to make a study of the pairs of a file, or of the known echoes where they are here."""
    st.html(
        '<p class="relic-measure">Readers mark how much of a passage is an allusion. The pairs come from a file: those '
        "that the page Echoes saves as JSON, or JSON lines with “passage” and “anchor”, and if you like “target” and "
        "“source”. A pair without an anchor gets the rarest word that both sides share.</p>"
    )
    known = bool(app.settings.benchmarks and (app.settings.benchmarks / "bible_references.jsonl").exists())
    use_known = known and st.checkbox("The known echoes of the Bible instead of a file", key="proxy_make_known")
    file = (
        None
        if use_known
        else st.file_uploader("File of pairs (.json, .jsonl)", max_upload_size=_MEGABYTES, key="proxy_pairs")
    )
    name, code = _name_and_code()
    most = st.number_input(
        "Maximum number of items (0 for all)", 0, _MOST_ITEMS, 60, key="proxy_make_spans_most", width=240
    )
    if not st.button("Make the study", key="proxy_make_spans", type="primary", icon=":material/add:"):
        return
    if not name.strip() or not (use_known or file):
        st.error("Please give it a name, and choose the file of pairs.", icon=":material/error:")
        return
    with show_errors():
        request = StudyRequest(
            name=name, kind="span", benchmark=ECHOES if use_known else "", most=int(most), owner=seal(code)
        )  # fmt: skip
        made = app.study_making.make_spans(
            request, app.echoes.known, file=file.getvalue() if file else None, name=file.name if file else ""
        )  # fmt: skip
        to = link(PAGE, "Open it", study=made.id)
        st.html(f'<p role="status">{escape(made.label)} has {many(len(made.items), "item")}. {to}</p>')


def _name_and_code() -> tuple[str, str]:
    name = st.text_input("Name", key="proxy_make_name", max_chars=200, width=520)
    code = st.text_input(
        "Owner’s code",
        type="password",
        max_chars=LONGEST_CODE,
        key="proxy_make_code",
        width=360,
        help="Asked for before the results and the owner’s side. Without one both are open to anyone who opens this "
        "page, annotators too; it can be set later.",
    )
    return name, code


def _outcome(app: App) -> None:
    """Say what became of the last study that was begun in this visit."""
    job_id = visit().get("proxy_making")
    if not job_id:
        return
    job = app.jobs.get(job_id)
    made = re.search(r" \((\w+)\)$", job.note)
    if job.state == "done" and made:
        to = link(PAGE, "Open it", study=made[1])
        st.html(f'<p role="status">{escape(job.note[: made.start()])}. {to}</p>')
    else:
        st.warning(literal(f"{job.title} has ended: {job.note}"), icon=":material/warning:")


def _start(app: App, request: StudyRequest, code: str = "") -> None:
    try:
        visit()["proxy_making"] = app.study_making.start(request, code=code).id
    except RelicError as error:
        visit()["proxy_making_trouble"] = str(error)


def _one_click(app: App) -> bool:
    """Offer the study of the paper's own work, where all that it needs is here; say whether it is."""
    request, has_words = paper_study(app.catalogue, app.settings)
    made = app.studies.named(request.name) if request else None
    if request is None or not (made or has_words):
        return False
    with st.container(border=True, key="proxy_pride"):
        st.html(_PRIDE)
        if made is not None:
            to = link(PAGE, "Open it", title=f"Open it: {made.name}", study=made.id)
            st.html(f'<p class="relic-proxy-links">This study is here already. {to}</p>')
        else:
            st.button(
                "Make this study",
                key="proxy_make_pride",
                type="primary",
                on_click=_start,
                args=(app, request),
                icon=":material/auto_stories:",
            )
    return True


def _fetch_paper(app: App) -> None:
    """Offer to get what the study of the paper's own work needs."""
    with st.container(border=True, key="proxy_pride"):
        st.html(_PRIDE)
        if paper_study(app.catalogue, app.settings)[0] is None:
            label = "Add the novel (less than a minute)"
            offer(app, "proxy_work", label, lambda: app.catalogue.add(PRIDE.works, prepare=False))
        offer_critics(app, "proxy_claims")


def _choose(app: App, kind: str) -> None:
    is_proxy = study_kind(kind).is_proxy
    st.header("From works of your choice", anchor="proxy-make")
    if trouble := visit().pop("proxy_making_trouble", ""):
        st.error(literal(trouble), icon=":material/error:")
    sources = _sources(app, app.stamp())
    usable = {source.benchmark: source for source in sources if not source.problem}
    if not usable:
        st.info("There is nothing to make a study from yet: no quotations are known for the works here.")
        _not_here(sources)
        return
    benchmark = st.selectbox(
        "Whose quotations", list(usable), format_func=lambda name: usable[name].label, key="proxy_make_from", width=520
    )
    place = st.empty()  # how much there is of a work follows from the length that is chosen below
    name, code = _name_and_code()
    chooser, beyond = next(iter(_CHOOSERS))
    with st.expander("More", key="proxy_make_more"):
        length = st.selectbox(
            "Sentences in a quotation",
            _LENGTHS,
            format_func=lambda number: str(number) if number else "Any number",
            key=f"proxy_make_length-{kind}",
            index=0 if is_proxy else len(_LENGTHS) - 1,
            width=240,
        )
        works_key = f"proxy_make_works-{benchmark}"
        chosen = st.session_state.get(works_key, ())
        names = {
            key: f"{called} ({many(counts[length], 'quotation')})"
            for key, called, counts in usable[benchmark].works
            if counts[length] or key in chosen
        }
        st.session_state[works_key] = [each for each in chosen if each in names]  # also when another length renames it
        works = place.multiselect(
            "Works",
            list(names),
            format_func=names.__getitem__,
            key=works_key,
            placeholder="All of them",
            filter_mode="contains",
            select_all=False,
            width=520,
        )
        if is_proxy:
            chooser, beyond = st.radio(
                "The other two passages are chosen by",
                list(_CHOOSERS),
                format_func=_CHOOSERS.__getitem__,
                key="proxy_make_chooser",
            )
        numbers = _ask_numbers(kind)
    if st.button("Make the study", key="proxy_make", type="primary", icon=":material/add:"):
        if not name.strip():
            st.error("Please give it a name.", icon=":material/error:")
            return
        request = StudyRequest(
            name=name,
            kind=kind,
            benchmark=benchmark,
            works=tuple(works),
            lengths=(length,) if length else (),
            chooser=chooser,
            beyond=beyond,
            **numbers,
        )
        _start(app, request, code)
        st.rerun()
    _not_here(sources)


def _ask_numbers(kind: str) -> dict[str, Any]:
    most = st.number_input("Maximum number of items (0 for all)", 0, _MOST_ITEMS, 0, key="proxy_make_most", width=240)
    shared = 0
    if study_kind(kind).is_proxy:
        shared = st.number_input(
            "Items that everybody reads (0: all of them)", 0, _MOST_ITEMS, 0,
            key="proxy_make_shared", width=360,
            help="With a number the study is divided, so that each reader needs less time: the other items are read by "
            "one reader each. Agreement is computed on those that everybody reads, and how often people are right on "
            "all.",
        )  # fmt: skip
    by_default = study_kind(kind).wanted
    wanted = st.number_input(WANTED, 0, MOST_WANTED, by_default, key=f"proxy_make_wanted-{kind}", width=240)
    seed = st.number_input(
        "Seed",
        0,
        2**31 - 1,
        0,
        key="proxy_make_seed",
        width=240,
        help="Decides which items are drawn and in which order. The same seed makes the same study.",
    )
    return {"most": most, "shared": shared, "wanted": wanted, "seed": seed}


@st.cache_data(max_entries=4, show_spinner="Checking what a study can be made from …")
def _sources(_app: App, stamp: tuple[tuple[int, int], ...]) -> tuple[StudySource, ...]:  # noqa: ARG001 - what the answer depends on
    """Look once for what there is, until the store changes."""
    return _app.study_making.sources()


def _not_here(sources: Sequence[StudySource]) -> None:
    """Say what else studies could be made from, and what each lacks."""
    lacking = [source for source in sources if source.problem]
    if lacking:
        rows = "".join(f"<dt>{escape(each.label)}</dt><dd>{escape(each.problem)}</dd>" for each in lacking)
        st.html(
            '<details class="relic-proxy-fold relic-measure"><summary>What else could be used, and what it needs'
            f'</summary><dl class="relic-proxy-lacking">{rows}</dl></details>'
        )
