"""The novel on the page of a work: chapters, speech, people, critics and notes in one chart, with a table beneath."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import chain, repeat

import streamlit as st

from relic_core.domain import Work
from relic_core.reporting import charts
from relic_core.services.editions import Facts
from relic_core.wiring import App
from relic_ui import person
from relic_ui.links import link
from relic_ui.naming import many
from relic_ui.novel_chart import Row, draw
from relic_ui.style import RETRIEVER_COLOURS
from relic_ui.visit import visit

_QUOTED, _NOTES, _BOTH = "#a0477a", "#5a64a8", "#b5472e"
_PERSON = RETRIEVER_COLOURS["bm25"]
_TWO = 2


def show(app: App, facts: Facts) -> None:
    """Draw the chart, the choice of two names, and the table."""
    work = app.works.load(facts.summary.id)
    shown = facts.novel
    ends = [*(each.first for each in shown.stretches[1:]), facts.numbers.sentences]
    if not shown.stretches:
        return
    names = {each.name: each for each in shown.people}
    key = f"work_two_{work.id}"
    two = [names[name] for name in st.session_state.get(key, ()) if name in names][:_TWO]
    met = _meetings(work, *(each.sentences for each in two)) if len(two) == _TWO else []
    rows = _about(app, facts, work)
    if met:
        rows.append(Row("Both", shown.count(met), "paragraphs name both", _BOTH))
    rows += [Row(each.name, shown.count(each.sentences), "times named", _PERSON) for each in shown.people]
    st.header("At a glance", anchor="look")
    click = f"work_chart_{work.id}"
    with st.container(key="work_plot"):
        st.plotly_chart(
            draw(shown, rows),
            key=click,
            on_select="rerun",
            selection_mode="points",
            config=charts.config(f"{work.title} at a glance"),
            alt="Length, speech and people of each chapter. The figures are below as a table, with links to read.",
        )
    points = st.session_state[click]["selection"]["points"]
    if points != visit().setdefault("work_clicked", []):
        visit()["work_clicked"] = points
        if points:
            at = points[0]["customdata"]
            st.switch_page("pages/read.py", query_params={"work": work.id, "at": at if isinstance(at, str) else at[0]})
    if len(names) >= _TWO:
        st.pills(
            "Two names: where they meet",
            list(names),
            selection_mode="multi",
            key=key,
            on_change=_last_two,
            args=(key,),
        )
    if len(two) == _TWO:
        _show_met(facts, work, met, ends, f"{two[0].name} and {two[1].name}")
    _show_table(facts, rows, ends)


def _last_two(key: str) -> None:
    st.session_state[key] = st.session_state[key][-_TWO:]


def _about(app: App, facts: Facts, work: Work) -> list[Row]:
    """Count where critics quote and where notes are; nothing of what there is none of."""
    quoted = app.sources.quoted(work.id).counts
    kept = [view.note.kept for view in app.notebook.notes(person=person.current()) if view.note.kept.work_id == work.id]
    quotations = chain.from_iterable(repeat(sentence, times) for sentence, times in quoted.items())
    notes = [span.start for each in kept if (span := work.span_between(each.start, each.end))]
    rows = (
        Row("Critics quote", facts.novel.count(quotations), "sentences quoted", _QUOTED),
        Row("Your notes", facts.novel.count(notes), "notes", _NOTES),
    )
    return [row for row in rows if any(row.counts)]


def _meetings(work: Work, one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Find the paragraphs in which two are named, of each the first sentence that names one of them."""
    here, there = ({work.sentences[at].paragraph: at for at in reversed(named)} for named in (one, other))
    return [min(here[paragraph], there[paragraph]) for paragraph in sorted(here.keys() & there.keys())]


def _show_met(facts: Facts, work: Work, met: Sequence[int], ends: Sequence[int], who: str) -> None:
    if not met:
        st.html(f'<p class="relic-measure">No paragraph names {escape(who)} together.</p>')
        return
    counts = facts.novel.count(met)
    items = []
    for stretch, times, end in zip(facts.novel.stretches, counts, ends, strict=True):
        if times:
            first = next(sentence for sentence in met if stretch.first <= sentence < end)
            items.append(f"<li>{link('read', stretch.name, work=work.id, at=str(work.address(first)))}: {times:,}</li>")
    st.html(
        f'<p class="relic-measure"><b>{escape(who)}</b> are named together in {many(len(met), "paragraph")}.</p>'
        f'<ul class="relic-work-met">{"".join(items)}</ul>'
    )


def _show_table(facts: Facts, rows: Sequence[Row], ends: Sequence[int]) -> None:
    names = [row.name for row in rows]
    body = ""
    for place, (stretch, end) in enumerate(zip(facts.novel.stretches, ends, strict=True)):
        counts = "".join(f"<td>{row.counts[place]:,}</td>" for row in rows)
        share = f"{stretch.spoken / stretch.words:.0%}" if stretch.words else "–"
        body += (
            f'<tr><th scope="row">{link("read", stretch.name, work=facts.summary.id, at=stretch.at)}</th>'
            f"<td>{end - stretch.first:,}</td><td>{stretch.words:,}</td><td>{share}</td>{counts}</tr>"
        )
    also = "".join(
        f"<dt>{escape(each.name)}</dt><dd>{escape(', '.join(each.forms[1:]))}</dd>"
        for each in facts.novel.people
        if each.forms[1:]
    )
    heads = "".join(
        f'<th scope="col">{escape(head)}</th>' for head in ("Chapter", "Sentences", "Words", "Speech", *names)
    )
    what = "chapters" if facts.novel.chapters else "stretches"
    st.html(
        f'<details class="relic-shelf-found"><summary>All {len(ends)} {what} as a table, with links to read</summary>'
        '<div class="relic-table" tabindex="0" role="region" aria-label="The work as a table">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div></details>"
        '<details class="relic-shelf-found"><summary>Who is counted</summary><p class="relic-quiet">A name counts '
        "where a title, or a verb of speaking or thinking, shows it to be a person’s. Each line is drawn to its own "
        f'highest value. An “I” who is not named is not counted.</p><dl class="relic-work-facts">{also}</dl></details>'
    )
