"""What came out of a study: people beside models, how far people agree, item by item, and all of it as files."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.reporting.studies import PAPER_AGREEMENT, tables
from relic_ui.jobs import show_job, stop_label
from relic_ui.naming import many
from relic_ui.proxy_task import proxy_cases, proxy_chart
from relic_ui.proxy_task.proxy_address import how_many
from relic_ui.shell import literal, show_errors
from relic_ui.tables import save
from relic_ui.tables import show as show_table

if TYPE_CHECKING:
    from relic_core.domain import Job
    from relic_core.domain.figures import Figure
    from relic_core.domain.studies import Measure, StudyView
    from relic_core.reporting.studies import StudyResults
    from relic_core.wiring import App

_SPOILER = (
    "You have not answered all items of this study yet, and what stands here tells which passages are right. Answer "
    "first; the results will still be here."
)


def show(app: App, view: StudyView, does: str, to: str) -> None:
    """Draw the results of a study; keep the passage whose button was pressed."""
    study = view.study
    if _unfinished(app, view) and not st.session_state.get("proxy_spoilt"):
        st.info(_SPOILER, icon=":material/visibility_off:")
        st.button("Show the results all the same", key="proxy_spoil", on_click=_spoil)
        return
    for held in view.held:
        st.warning(literal(held), icon=":material/menu_book:")
    results = app.study_results.of(study.id)
    proxy_cases.do(app, results, does, to)
    _lede(results)
    _models(app, view)
    st.header("People beside models", anchor="proxy-beside")
    proxy_chart.show(results, f"{study.name} accuracy")
    made = tables(results)
    show_table(made[0])
    save(made, f"{study.name} results", key="proxy_tables")
    _agreement(results)
    proxy_cases.show(app, results)
    _files(app, view)


def _unfinished(app: App, view: StudyView) -> bool:
    """Whether the visitor is in the middle of answering this very study."""
    place = st.session_state.get("proxy_place")
    if place is None or place.whose[0] != view.study.id or view.terms.revealed:
        return False
    return app.answering.task(*place.whose).item is not None


def _spoil() -> None:
    st.session_state["proxy_spoilt"] = True


def _lede(results: StudyResults) -> None:
    """Say the outcome in numbers that are read first."""
    tiles = []
    majority = results.majority
    if majority.accuracy is not None:
        tiles.append(_tile("People, by majority", majority.accuracy, f"of {many(majority.items, 'item')}"))
    figures = [(each.label, each.accuracy) for each in results.models if each.accuracy and not each.mark]
    if figures:
        label, accuracy = max(figures, key=lambda each: each[1].value)
        tiles.append(_tile(f"Best model: {label}", accuracy, f"of {many(len(results.items), 'item')}"))
    tiles.append("<li>Chance<strong>33.3%</strong><span>one in three</span></li>")
    people = sum(person.answered > 0 for person in results.people)
    said = f"{how_many(people)[:1].upper()}{how_many(people)[1:]} answered." if people else "Nobody has answered yet."
    if majority.items and people > 1:
        said += f" In {majority.right:,} of {many(majority.items, 'item')} most of them chose the critic’s quotation."
    st.html(f'<p class="relic-measure">{said}</p><ul class="relic-proxy-numbers">{"".join(tiles)}</ul>')


def _tile(label: str, figure: Figure, n: str) -> str:
    between = "" if figure.low is None else f"{figure.interval}, "
    return f"<li>{escape(label)}<strong>{100 * figure.value:.1f}%</strong><span>{escape(between)}{n}</span></li>"


def _models(app: App, view: StudyView) -> None:
    """Let the models answer the same items, and show how that goes."""
    under_way = next(iter(app.jobs.under_way("study-models")), None)
    if under_way:
        show_job(app, under_way.id, stop=stop_label(under_way))
        return
    if view.held or not _due(app, view.study.id, app.store.stamp()):
        return
    ended = app.jobs.latest("study-models", view.study.id)
    short = ended is not None and ended.state in {"failed", "cancelled"}
    if ended is not None and ended.state == "failed":
        st.warning(literal(_ended(ended)), icon=":material/warning:")
    elif short:
        st.html('<p class="relic-measure">The models were stopped. What had been answered by then is kept.</p>')
    else:
        st.html(
            '<p class="relic-measure">Models that have not answered these items yet, as they are now, can do so.</p>'
        )

    def begin() -> None:
        with show_errors():
            app.study_models.start(view.study.id)

    label = "Let the others answer" if short else "Let the models answer"
    st.button(label, key="proxy_models", on_click=begin, icon=":material/smart_toy:")


def _ended(job: Job) -> str:
    """Say of a job that failed what came of it, and that nothing done is lost."""
    share = f" {100 * job.done // job.total}% of the way through" if job.total and job.done else ""
    return (
        f"The models stopped answering{share}. {job.note.rstrip('.')}. The models that had answered all items by then "
        "are kept, and what is still missing can be done now."
    )


@st.cache_data(max_entries=64, show_spinner=False)
def _due(_app: App, study_id: str, stamp: tuple[tuple[int, int], ...]) -> tuple[str, ...]:  # noqa: ARG001 - what the answer hangs on
    """Look once which models are to answer, until the store changes: it may load them."""
    return _app.study_models.due(study_id)


def _agreement(results: StudyResults) -> None:
    """Say how far people agree, each figure with what it means."""
    st.header("How far people agree", anchor="proxy-agreement")
    shares_first = sorted(results.agreement, key=lambda each: not each.is_share)
    if shares_first[0].value is None:
        st.html('<p class="relic-quiet">It takes two people who have answered the same item.</p>')
        return
    paradox = (
        f'<p class="relic-proxy-paradox relic-measure"><strong>Read this first.</strong> {escape(results.paradox)}</p>'
        if results.paradox
        else ""
    )
    facts = "".join(_fact(each, results.figures.get(each.key)) for each in shares_first)
    st.html(f'{paradox}<dl class="relic-proxy-agreement">{facts}</dl>')
    st.html(f'<p class="relic-quiet relic-measure">{escape(results.intervals)}</p>')


def _fact(measure: Measure, figure: Figure | None) -> str:
    """Set one figure of agreement with its interval beside chance and the paper's, with what it means."""
    printed = PAPER_AGREEMENT.get(measure.key)
    said = "none" if figure is None else figure.text
    beside = [] if figure is None or figure.low is None else [figure.interval]
    beside += [] if measure.chance is None else [f"{100 * measure.chance:.1f}% by chance"]
    beside += [f"{printed} in the paper"] if printed else []
    small = f' <span class="relic-quiet">{escape(", ".join(beside))}</span>' if beside else ""
    named = escape(measure.label[:1].upper() + measure.label[1:])
    return f"<div><dt>{named}</dt><dd><strong>{escape(said)}</strong>{small}<p>{escape(measure.meaning)}</p></dd></div>"


def _files(app: App, view: StudyView) -> None:
    """Offer all answers, and the report, as files."""
    files, study_id = app.study_files, view.study.id
    st.header("Take it with you", anchor="proxy-files")
    anonymous = st.checkbox(
        "Without names and comments",
        value=True,
        key="proxy_anonymous",
        help="Names become person 1, person 2 and so on; comments, in which people may name themselves, are left out.",
    )
    with st.container(horizontal=True, gap="small"):
        for label, end, mime, make in (
            ("Answers as CSV", "csv", "text/csv", files.answers_csv),
            ("Answers as JSON", "json", "application/json", files.answers_json),
            ("Report to print", "html", "text/html", files.report),
        ):
            st.download_button(
                label,
                data=partial(make, study_id, anonymous=anonymous),
                file_name=files.file_name(study_id, end),
                mime=mime,
                on_click="ignore",
                icon=":material/download:",
                key=f"proxy_save_{end}",
            )
    st.html(
        '<p class="relic-quiet relic-measure">The first two hold every answer with its time, and the items. The report '
        "is one page for the browser, which prints it.</p>"
    )
