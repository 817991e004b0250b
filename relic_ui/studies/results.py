"""What came out of a study: people beside models, how far people agree, item by item, and all of it as files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st

from relic_core.domain import Job
from relic_core.domain.figures import Chart, Figure, Group, Mark, Series, Table
from relic_core.domain.studies import Item, ItemResult, Measure, Option, Study, StudyResults, StudyView, span_of
from relic_core.reporting import charts
from relic_core.services.recall import Diagnosis, lemma_overlap
from relic_core.studies.report import PAPER, PAPER_ITEMS, paper_agreement, tables
from relic_core.studies.results import span_retrieval
from relic_core.wiring import App
from relic_ui import keep
from relic_ui.buttons import save_button
from relic_ui.jobs import show_job, stop_label
from relic_ui.keep import Marks
from relic_ui.links import link
from relic_ui.naming import many
from relic_ui.shell import literal, show_errors
from relic_ui.sources.sources import EVIDENCE
from relic_ui.studies.answering import claim_html, is_under_way, whoever_answers, words_html
from relic_ui.studies.studies import how_many, made_when_pressed, show_held
from relic_ui.tables import save
from relic_ui.tables import show as show_table
from relic_ui.visit import visit
from relic_ui.why import judge, judgements, why

_SPOILER = (
    "You have not answered all items of this study yet, and the results show what others chose. Answer first; "
    "they will still be here."
)
_CHANCE = 1 / 3
_PEOPLE, _MODELS, _READERS, _PUBLISHED = "people", "models", "language models", "published"
_COLOURS = {_PEOPLE: "#b5472e", _MODELS: "#1f7079", _READERS: "#8a6d1a"}
_READS = "llm-score"
"""How a language model answers on request: it scores each of the three passages."""
_NAMED_PEOPLE = 12
_SERIES = (
    Series(key=_PEOPLE, label="People", retriever=_PEOPLE),
    Series(key=_MODELS, label="Retrievers", retriever=_MODELS),
    Series(key=_READERS, label="Language models", retriever=_READERS),
    Series(key=_PUBLISHED, label="Published, other items"),
)
_Row = tuple[Group, Mark]
_PAGE = 10
_ANY = ""


def show(app: App, view: StudyView, does: str, to: str) -> None:
    """Draw the results of a study; keep the passage whose button was pressed."""
    study = view.study
    if is_under_way(app, view) and not visit().get("proxy_spoilt"):
        st.info(_SPOILER, icon=":material/visibility_off:")
        spoil = partial(st.session_state.__setitem__, "proxy_spoilt", True)
        st.button("Show the results anyway", key="proxy_spoil", on_click=spoil)
        return
    show_held(view.held)
    results = app.study_results.of(study.id)
    if passage := keep.asked(does, to):
        claims = {each.item.id: each.item.claim_text for each in results.items}
        keep.press(app, passage, origin="proxy_task", claim_text=claims.get("".join(passage.further), ""))
    if not study.kind.is_proxy:
        _without_right(app, view, results)
        return
    _lede(results)
    _models(app, view)
    _language_model(app, view, results)
    st.header("People beside models", anchor="proxy-beside")
    _chart(results, f"{study.name} accuracy")
    made = tables(results)
    show_table(made[0])
    save(made, f"{study.name} results", key="proxy_tables")
    _agreement(results)
    _missed_by_models(app, results)
    _items(app, results)
    _files(app, view)


def _without_right(app: App, view: StudyView, results: StudyResults) -> None:
    """Draw the results of a study in which nothing is right or wrong."""
    people, summary = _who_answered(results)
    if together := sum(each.answered > 1 for each in results.items):
        summary += f" {many(together, 'item')} of {len(results.items):,} have two answers or more."
    st.html(f'<p class="relic-measure">{summary}</p>')
    made = tables(results)
    if view.study.kind.labels and people:
        show_table(made[1])
        _label(app, view)
    _agreement(results)
    if view.study.kind.marks_spans:
        made = (*made, *_as_queries(app, results))
    if people:
        st.header("Item by item", anchor="proxy-items")
        shown = _paged([each for each in results.items if each.answered])
        rows = "".join(map(_votes if view.study.kind.labels else _marked, shown))
        st.html(f'<ol class="relic-span-items">{rows}</ol>')
        show_table(made[0])
        save(made, f"{view.study.name} results", key="proxy_tables")
    _files(app, view)


def _label(app: App, view: StudyView) -> None:
    def give() -> None:
        with show_errors():
            visit()["proxy_labelled"] = app.label_windows(view.study.id)

    st.button(
        "Use these labels",
        key="proxy_label",
        on_click=give,
        icon=":material/label:",
        help="For tables by kind, for the filter on the page Criticism, and for exports: where most readers agree.",
    )
    if message := visit().pop("proxy_labelled", ""):
        st.html(f'<p role="status" class="relic-measure">{escape(message)}</p>')


def _as_queries(app: App, results: StudyResults) -> tuple[Table, ...]:
    """Show what the spans are worth as queries, where readers agree on any."""
    if not any(each.majority and each.item.right for each in results.items):
        return ()
    st.header("What retrieval gains", anchor="proxy-gain")
    made: tuple[Table, ...] = ()
    with show_errors():
        made = (_gain(app, results.study.id, app.stamp()),)
        show_table(made[0])
    return made


@st.cache_data(max_entries=8, show_spinner="Searching with the spans …")
def _gain(_app: App, study_id: str, stamp: tuple[tuple[int, int], ...]) -> Table:  # noqa: ARG001 - what it depends on
    """Search with the spans once, until the store changes."""
    return span_retrieval(_app.study_results.of(study_id), _app.echoes.known)


def _marked(result: ItemResult) -> str:
    """Set a passage, each word the darker the more readers marked it, and what they marked together underlined."""
    spans = [span_of(choice) for choice in result.choices]
    start, end = span_of(result.majority) if result.majority else (0, 0)
    words = ""
    for at, word in enumerate(result.item.words):
        share = sum(first <= at < last for first, last in spans) / len(spans) if spans else 0
        together = " relic-span-together" if start <= at < end else ""
        words += f'<span class="relic-span-share{together}" style="--share: {60 * share:.0f}%">{escape(word)} </span>'
    text = " · ".join(f"“{escape(' '.join(result.item.words[slice(*span)]))}”" for span in spans) or "no span is marked"
    undecided = f" · {result.cannot} could not say" if result.cannot else ""
    meets = "".join(f"<br>{escape(each)}" for each in result.item.right.split("\n") if each)
    comments = "".join(f"<br>{escape(each)}" for each in result.comments)
    return (
        f'<li><p class="relic-span-passage">{words}</p><p class="relic-quiet">{escape(result.item.source)}{meets}</p>'
        f'<p class="relic-quiet">{text}{undecided}{comments}</p></li>'
    )


def _votes(result: ItemResult) -> str:
    """Set a quotation in its context, and how many readers gave it each label."""
    item = result.item
    votes = [f"{label}: {count}" for (label, _), count in zip(EVIDENCE.values(), result.votes, strict=True) if count]
    votes += [f"could not decide: {result.cannot}"] if result.cannot else []
    comments = "".join(f"<br>{escape(each)}" for each in result.comments)
    return (
        f'<li><p>{escape(item.left)} <span class="relic-span-quoted">{escape(item.gold.words)}</span> '
        f'{escape(item.right)}</p><p class="relic-quiet">{escape(" · ".join(votes))}{comments}</p></li>'
    )


def _language_model(app: App, view: StudyView, results: StudyResults) -> None:
    """Offer to have a language model read the three passages of each item, where a server is set up."""
    there = bool(app.settings.reader and app.settings.reader_model)
    if not there or view.held or any(each.server for each in results.models):
        return

    def begin() -> None:
        with show_errors():
            app.study_models.start(view.study.id, (_READS,))

    st.button(
        "Let the language model answer",
        key="proxy_language_model",
        on_click=begin,
        icon=":material/psychology:",
        help=f"{app.settings.reader_model}, on the server that is set up, reads the three passages of each item beside "
        "the claim, as people do. That takes three questions an item.",
    )


def _lede(results: StudyResults) -> None:
    """Say the outcome in numbers that are read first."""
    tiles = []
    majority = results.majority
    own = whoever_answers(results.study.id)
    answered = [person for person in results.people if person.accuracy]
    first = next((each for each in answered if each.annotator.id == own), answered[0] if len(answered) == 1 else None)
    if first is not None and first.accuracy is not None:
        label = "You" if first.annotator.id == own else first.annotator.name
        detail = f"{first.right} of {many(first.answered, 'item')}{_hastily(first.too_fast)}"
        tiles.append(_tile(label, first.accuracy, detail))
    if majority.accuracy is not None:
        tiles.append(_tile("People, by majority", majority.accuracy, f"of {many(majority.items, 'item')}"))
    figures = [(each.label, each.accuracy) for each in results.models if each.accuracy and not each.mark]
    if figures:
        label, accuracy = max(figures, key=lambda each: each[1].value)
        tiles.append(_tile(f"Best model: {label}", accuracy, f"of {many(len(results.items), 'item')}"))
    people, summary = _who_answered(results)
    if results.study.division:
        summary += f" {results.study.division}"
    if majority.items and people > 1:
        summary += f" In {majority.right:,} of {many(majority.items, 'item')} most of them chose the right passage."
    st.html(
        f'<p class="relic-measure">{summary}</p><ul class="relic-proxy-numbers">{"".join(tiles)}</ul>'
        '<p class="relic-quiet">Chance would give one in three: 33.3%.</p>'
    )


def _who_answered(results: StudyResults) -> tuple[int, str]:
    people = sum(person.answered > 0 for person in results.people)
    return people, f"{how_many(people).capitalize()} answered." if people else "Nobody has answered yet."


def _tile(label: str, figure: Figure, n: str) -> str:
    between = "" if figure.low is None else f"{figure.interval}, "
    return f"<li>{escape(label)}<strong>{100 * figure.value:.1f}%</strong><span>{escape(between)}{n}</span></li>"


def _hastily(count: int) -> str:
    return f" · {count} answered too fast to have been read" if count else ""


def _models(app: App, view: StudyView) -> None:
    under_way = next(iter(app.jobs.under_way("study-models")), None)
    if under_way:
        show_job(app, under_way.id, stop=stop_label(under_way))
        return
    if view.held or not _due(app, view.study.id, app.stamp()):
        return
    ended = app.jobs.latest("study-models", view.study.id)
    short = ended is not None and ended.state in {"failed", "cancelled"}
    if ended is not None and ended.state == "failed":
        st.warning(literal(_ended(ended)), icon=":material/warning:")
    elif short:
        st.html('<p class="relic-measure">The models were stopped. What had been answered by then is kept.</p>')
    else:
        st.html('<p class="relic-measure">Models that have not answered these items as they are now can do so.</p>')

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
def _due(_app: App, study_id: str, stamp: tuple[tuple[int, int], ...]) -> tuple[str, ...]:  # noqa: ARG001 - what the answer depends on
    """Look once which models are to answer, until the store changes: it may load them."""
    return _app.study_models.due(study_id)


def _agreement(results: StudyResults) -> None:
    """Say how far people agree, each figure with what it means."""
    st.header("How well people agree", anchor="proxy-agreement")
    shares_first = sorted(results.agreement, key=lambda each: not each.is_share)
    if shares_first[0].value is None:
        st.html('<p class="relic-quiet">It takes two people who have answered the same item.</p>')
        return
    paradox = (
        f'<p class="relic-proxy-paradox relic-measure"><strong>Read this first.</strong> {escape(results.paradox)}</p>'
        if results.paradox
        else ""
    )
    paper = paper_agreement(results.study)
    facts = "".join(_fact(each, results.figures.get(each.key), paper) for each in shares_first)
    st.html(f'{paradox}<dl class="relic-proxy-agreement">{facts}</dl>')
    notes = " ".join(filter(None, (results.study.division, results.intervals)))
    st.html(f'<p class="relic-quiet relic-measure">{escape(notes)}</p>')


def _fact(measure: Measure, figure: Figure | None, paper: Mapping[str, str]) -> str:
    """Set one figure of agreement with its interval beside chance and the paper's, with what it means."""
    printed = paper.get(measure.key)
    text = "none" if figure is None else figure.text
    beside = [] if figure is None or figure.low is None else [figure.interval]
    beside += [] if measure.chance is None else [f"{100 * measure.chance:.1f}% by chance"]
    beside += [f"{printed} in the paper"] if printed else []
    small = f' <span class="relic-quiet">{escape(", ".join(beside))}</span>' if beside else ""
    named = escape(measure.label[:1].upper() + measure.label[1:])
    return f"<div><dt>{named}</dt><dd><strong>{escape(text)}</strong>{small}<p>{escape(measure.meaning)}</p></dd></div>"


def chart_of(results: StudyResults) -> Chart:
    """Set the accuracies of a study as the rows of a chart."""
    published = not results.study.claims_alone
    rows = [*_people_rows(results), *_model_rows(results), *(_published() if published else ())]
    shown = {mark.series for _, mark in rows}
    return Chart(
        view="published",
        title="How often the right passage was chosen",
        measure="accuracy",
        by="Who",
        groups=tuple(group for group, _ in rows),
        series=tuple(series for series in _SERIES if series.key in shown),
        marks=tuple(mark for _, mark in rows),
        caption=(
            "Bars are 95% intervals. The dashed line is chance: one in three."
            + published
            * " Open diamonds were published by Thai and others (2022) for 200 single sentences of Pride and "
            "Prejudice: other items, so they show the scale of things and are not rivals."
        ),
    )


def _people_rows(results: StudyResults) -> Iterator[_Row]:
    majority = results.majority
    if majority.accuracy is not None:
        yield _row("majority", "People, by majority", majority.accuracy, majority.items, _PEOPLE)
    if results.singly is not None:
        answered = sum(each.answered > 0 for each in results.items)
        yield _row("singly", "People, one by one", results.singly, answered, _PEOPLE)
    if len(results.people) <= _NAMED_PEOPLE:
        for place, person in enumerate(results.people):
            if person.accuracy is not None:
                yield _row(f"person-{place}", person.annotator.name, person.accuracy, person.answered, _PEOPLE)


def _model_rows(results: StudyResults) -> Iterator[_Row]:
    chooser = next((model.label for model in results.models if model.left_out), "")
    for model in results.models:
        note = f"built on {chooser}" if "built on" in model.mark else model.mark
        if not model.left_out and model.accuracy is not None:
            of = _READERS if model.server else _MODELS
            yield _row(f"model-{model.retriever}", model.label, model.accuracy, len(results.items), of, note=note)


def _published() -> Iterator[_Row]:
    for place, (label, value) in enumerate(PAPER):
        key = f"published-{place}"
        short = re.split(r",| \(", label)[0]
        yield (
            Group(key=key, label=short, note="published", n=PAPER_ITEMS),
            Mark(group=key, series=_PUBLISHED, value=value, n=PAPER_ITEMS),
        )


def _row(key: str, label: str, figure: Figure, n: int, series: str, *, note: str = "") -> _Row:
    mark = Mark(group=key, series=series, value=figure.value, low=figure.low, high=figure.high, n=n)
    return Group(key=key, label=label, note=note, n=n), mark


def _chart(results: StudyResults, file_name: str) -> None:
    chart = chart_of(results)
    if not chart.marks:
        return
    figure = charts.draw(chart, colours=_COLOURS)
    line = {"color": charts.OTHER, "width": 1.5, "dash": "dash"}
    chance = {"type": "line", "x0": _CHANCE, "x1": _CHANCE, "yref": "y domain", "y0": 0, "y1": 1, "line": line}
    figure.update_layout(shapes=[*figure.layout.shapes, {**chance, "layer": "below"}])
    with st.container(key="proxy_plot"):
        st.plotly_chart(
            figure,
            key="proxy_chart",
            config=charts.config(file_name),
            alt=f"{chart.title}. The figures are below as a table.",
        )
    st.html(f'<p class="relic-table-caption">{chart.caption}</p>')


def _missed_by_models(app: App, results: StudyResults) -> None:
    if not results.people or not results.models:
        return
    st.header("What people see and models miss", anchor="proxy-telling")
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
    cases = [item for item in results.missed_by_models if _missed_by(item, model)]
    if not cases:
        st.html(f'<p role="status">{escape(_why_none(results, model))}</p>')
        return
    who = model or "a model"
    st.html(f'<p role="status">{many(len(cases), "item")} that all people got and {escape(who)} missed.</p>')
    shown = cases[:_PAGE]
    found = app.diagnosed_items(results, shown)
    st.html("".join(_case(app, results.study, item, found.get(item.item.id)) for item in shown))


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
    wrong = item.wrong_models
    return bool(wrong) if model == _ANY else model in wrong


def _items(app: App, results: StudyResults) -> None:
    """Draw all items that somebody has answered, the hardest first."""
    answered = [item for item in results.items if item.answered or item.models]
    if not answered:
        return
    st.header("Item by item", anchor="proxy-items")
    st.html('<p class="relic-quiet">The hardest first: those that the fewest people got.</p>')
    shown = _paged(answered)
    found = app.diagnosed_items(results, shown)
    kept = judgements(app, [results.study])
    for item in shown:
        st.html(_case(app, results.study, item, found.get(item.item.id)))
        judge(app, [results.study], item.item.id, "the other two passages", kept)


def _paged(items: Sequence[ItemResult]) -> Sequence[ItemResult]:
    """Let the reader turn the pages of a list, and give the items of the page that is open."""
    pages = -(-len(items) // _PAGE)
    page = st.pagination(pages, key="proxy_page") if pages > 1 else 1
    return items[(page - 1) * _PAGE : page * _PAGE]


def _case(app: App, study: Study, result: ItemResult, case: Diagnosis | None) -> str:
    """Set an item with its three passages: who chose which, and where each is in its work."""
    item = result.item
    share = "" if result.share is None else f"{100 * result.share:.0f}% of {many(result.answered, 'answer')} right"
    time = f" · {result.seconds:.0f} s" if result.seconds else ""
    undecided = f" · {result.cannot} could not decide" if result.cannot else ""
    marks = Marks(app, item.claim_text)
    options = "".join(
        _passage(study, result, number, option, marks) for number, option in enumerate(item.options, start=1)
    )
    items = "".join(f"<li>{escape(comment)}</li>" for comment in result.comments)
    comments = f'<div class="relic-proxy-comments"><h4>Comments</h4><ul>{items}</ul></div>' if items else ""
    source = f'<p class="relic-quiet">{escape(item.source)}</p>' if item.source else ""
    return (
        f'<article class="relic-proxy-case"><header><h3><cite>{escape(result.title)}</cite></h3>'
        f"<span>{share}{undecided}{time}{_hastily(result.too_fast)}</span></header><div>"
        f'<div class="relic-proxy-context">{claim_html(item.left, item.right, alone=study.claims_alone)}{source}</div>'
        f"{_why(item, case)}{comments}</div>"
        f"<ol>{options}</ol></article>"
    )


def _why(item: Item, case: Diagnosis | None) -> str:
    """Say why what chose the other passages did not put the quotation first, as Recall says it of a run."""
    numbered = sorted(enumerate(item.options, start=1), key=lambda each: each[0] != item.right_option)
    return why(
        case,
        {
            "the quotation’s" if number == item.right_option else f"passage {number}’s": lemma_overlap(
                item.claim.words, option.words
            )
            for number, option in numbered
        },
    )


def _passage(study: Study, result: ItemResult, number: int, option: Option, marks: Marks) -> str:
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
        read += " " + marks.html(result.work_id, option.address, length, item.id, place=f"passage {number}")
    whose = "The passage" if study.claims_alone else "The critic’s quotation"
    mark = f"<strong>{whose}.</strong> " if right else ""
    return (
        f'<li class="{"relic-proxy-right" if right else ""}"><blockquote class="relic-proxy-words">'
        f'{words_html(option.words)}</blockquote><p class="relic-proxy-by">{mark}{escape(by)}. {read}</p></li>'
    )


def _files(app: App, view: StudyView) -> None:
    files, study_id = app.study_files, view.study.id
    st.header("Download", anchor="proxy-files")
    anonymous = st.checkbox(
        "Without names and comments",
        value=True,
        key="proxy_anonymous",
        help="Names become person 1, person 2 and so on; comments, in which people may name themselves, are left out.",
    )
    with st.container(horizontal=True, gap="small"):
        for label, end, mime, make in (
            ("Answers as CSV", "csv", "text/csv", "answers_csv"),
            ("Answers as JSON", "json", "application/json", "answers_json"),
            ("Report to print", "html", "text/html", "report"),
        ):
            save_button(
                label,
                made_when_pressed(app, make, study_id, anonymous=anonymous),
                files.file_name(study_id, end),
                mime,
                key=f"proxy_save_{end}",
            )
    st.html(
        '<p class="relic-quiet relic-measure">The first two hold every answer with its time, and the items. The report '
        "is one page for the browser, which prints it.</p>"
    )
