"""Making a study: one click where Pride and Prejudice is in the library, else a few choices in plain words."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.domain.studies import StudyRequest
from relic_core.errors import RelicError
from relic_core.services.studies.studies import FARTHEST, LONGEST_CODE, paper_study
from relic_ui.jobs import show_job, stop_label
from relic_ui.links import link
from relic_ui.naming import many
from relic_ui.proxy_task.proxy_address import PAGE, title
from relic_ui.shell import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.services.studies.studies import StudySource
    from relic_core.wiring import App

_ANY_LENGTH = 0
_LENGTHS = (1, 2, 3, 4, 5, _ANY_LENGTH)
_CHOOSERS = {
    ("bm25", 0): "Shared words: the two passages most like the critic’s words (BM25, as in the paper)",
    (
        "dense-relic",
        FARTHEST,
    ): "Meaning: the model’s best two, for quotations that it ranks beyond 1,000 (the paper’s second)",
}
_MOST_ITEMS = 2_000
_MOST_WANTED = 100


def show(app: App) -> None:
    """Draw the ways to a new study."""
    title("Make a study")
    st.html(
        '<p class="relic-measure">A study is a fixed set of items. Once made it never changes, so everybody who takes '
        "part answers the same, here or wherever you send its file.</p>"
    )
    under_way = next(iter(app.jobs.under_way("study")), None)
    if under_way:
        show_job(app, under_way.id, stop=stop_label(under_way))
        return
    _outcome(app)
    _one_click(app)
    _choose(app)


def _outcome(app: App) -> None:
    """Say what became of the last study that was begun in this visit."""
    job_id = st.session_state.get("proxy_making")
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
        st.session_state["proxy_making"] = app.study_making.start(request, code=code).id
    except RelicError as error:
        st.session_state["proxy_making_trouble"] = str(error)


def _one_click(app: App) -> None:
    request, has_words = paper_study(app.catalogue, app.settings)
    if request is None:
        return
    made = app.studies.named(request.name)
    with st.container(border=True, key="proxy_pride"):
        st.html(
            "<h2>Pride and Prejudice, as in the paper</h2><p>Single sentences of the novel, quoted by critics whose "
            "books are in the public domain; the other two passages share the most words with what the critic "
            "writes.</p>"
        )
        if made is not None:
            to = link(PAGE, "Open it", title=f"Open it: {made.name}", study=made.id)
            st.html(f'<p class="relic-proxy-links">This study is here already. {to}</p>')
            return
        if not has_words:
            st.html(
                '<p class="relic-quiet relic-measure">The critics’ words do not come with the program: they are cut '
                "out of their books, which Project Gutenberg gives away. Whoever runs the program fetches them once, "
                "with <code>python -m relic_core dataset rebuild</code>.</p>"
            )
            return
        st.button(
            "Make this study",
            key="proxy_make_pride",
            type="primary",
            on_click=_start,
            args=(app, request),
            icon=":material/auto_stories:",
        )


def _choose(app: App) -> None:
    st.header("From works of your choice", anchor="proxy-make")
    if trouble := st.session_state.pop("proxy_making_trouble", ""):
        st.error(literal(trouble), icon=":material/error:")
    sources = _sources(app, app.store.stamp())
    usable = [source for source in sources if not source.problem]
    if not usable:
        st.info("There is nothing to make a study from yet: no quotations are known for the works here.")
        _not_here(sources)
        return
    labels = {source.benchmark: source for source in usable}
    benchmark = st.selectbox(
        "Whose quotations",
        list(labels),
        format_func=lambda name: labels[name].label,
        key="proxy_make_from",
        width=520,
    )
    source = labels[benchmark]
    names = {key: f"{name} ({many(count, 'quotation')})" for key, name, count in source.works}
    works = st.multiselect(
        "Works",
        list(names),
        format_func=names.__getitem__,
        key=f"proxy_make_works-{benchmark}",
        placeholder="All of them",
        width=520,
    )
    name = st.text_input("What to call it", key="proxy_make_name", max_chars=200, width=520)
    code = st.text_input(
        "Owner’s code",
        type="password",
        max_chars=LONGEST_CODE,
        key="proxy_make_code",
        width=360,
        help="Asked for before the results and the owner’s side. Without one both are open to whoever opens this "
        "page, annotators too; it can be set later.",
    )
    with st.expander("More", key="proxy_make_more"):
        length = st.selectbox(
            "Sentences in a quotation",
            _LENGTHS,
            format_func=lambda number: str(number) if number else "Any number",
            key="proxy_make_length",
            width=240,
        )
        chooser, beyond = st.radio(
            "The other two passages are chosen by",
            list(_CHOOSERS),
            format_func=_CHOOSERS.__getitem__,
            key="proxy_make_chooser",
        )
        most = st.number_input("At most so many items (0 for all)", 0, _MOST_ITEMS, 0, key="proxy_make_most", width=240)
        wanted = st.number_input(
            "People wanted for each item (0 for as many as come)",
            0,
            _MOST_WANTED,
            3,
            key="proxy_make_wanted",
            width=240,
        )
        seed = st.number_input(
            "Seed",
            0,
            2**31 - 1,
            0,
            key="proxy_make_seed",
            width=240,
            help="Decides which items are drawn and in which order things stand. The same seed makes the same study.",
        )
    if st.button("Make the study", key="proxy_make", type="primary", icon=":material/add:"):
        if not name.strip():
            st.error("Please say what to call it.", icon=":material/error:")
            return
        request = StudyRequest(
            name=name,
            benchmark=benchmark,
            works=tuple(works),
            lengths=(length,) if length else (),
            chooser=chooser,
            beyond=beyond,
            most=int(most),
            seed=int(seed),
            wanted=int(wanted),
        )
        _start(app, request, code)
        st.rerun()
    _not_here(sources)


@st.cache_data(max_entries=4, show_spinner="Looking at what a study can be made from …")
def _sources(_app: App, stamp: tuple[tuple[int, int], ...]) -> tuple[StudySource, ...]:  # noqa: ARG001 - what the answer hangs on
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
