"""The parts of the reading room: the contents list, the chapter, and the hits along it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import chain, groupby
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

from relic_core.domain import Work
from relic_core.errors import RelicError
from relic_core.reporting.passages import quotation
from relic_core.services.reading import ContentsPart, HitMark, ReadingPage
from relic_core.services.search import SearchResult
from relic_core.wiring import App
from relic_ui import typography
from relic_ui.concordance.concordance import PARAMETERS as CONCORDANCE_PARAMETERS
from relic_ui.find.find import show_nothing_to_search
from relic_ui.find.like import more_link
from relic_ui.links import address, cite_link, link
from relic_ui.naming import shorten, works_html
from relic_ui.read.chapters import HEADING, chapter_html, sentence_id
from relic_ui.read.read_address import ReadQuery, at_hand, kept
from relic_ui.read.reading_place import show_place
from relic_ui.shell import literal
from relic_ui.sources import sources_reading
from relic_ui.style import hue
from relic_ui.visit import visit

_CLAIM_SHOWN = 110
_WORD_SHOWN = 60


def choose(app: App) -> None:
    """Offer the works of the library."""
    st.title("Read")
    works = app.works.summaries()
    if not works:
        show_nothing_to_search("read")
        return
    st.html(works_html(works, "read"))
    show_place({"offer": {work.id: work.title for work in works}})


def show(app: App, page: ReadingPage, wanted: ReadQuery) -> None:
    """Draw the room; the chapter before the search is asked for its hits, so that nobody waits for them to read."""
    _show_head(page)
    quoted = app.sources.quoted(page.work.id)
    beside = sources_reading.counts_beside(page, quoted)
    with st.container(key="read_room"):
        with st.container(key="read_side"):
            search = st.empty()
            contents = st.empty()
            typography.choose()
        with st.container(key="read_main"):
            near = _neighbours(page, wanted)
            st.html(
                f'<nav class="relic-read-near" aria-label="Chapters beside this one">{near}{_search_here(page)}</nav>'
                + sources_reading.summary_html(page, quoted, len(beside))
            )
            st.html(chapter_html(page.chapter, page.work.id, as_printed=typography.as_printed()))
            quoting = sources_reading.quoting_html(app, page) if wanted.quoting else ""
            show_place(
                {
                    **_place_data(page, wanted, app.fingerprints.edition(page.work.id)),
                    **kept(app, page.work, wanted.search_id),
                    "quoted": beside,
                    "quoting": quoting,
                }
            )
            st.html(f'<nav class="relic-read-near" aria-label="Where to go on">{near}</nav>')
    found = at_hand(wanted.search_id)
    if found is None:
        contents.html(_contents(page, wanted, ()))
    if not wanted.search_id:
        search.html(_places(wanted.words) or "<span></span>")
        return

    def draw(found: SearchResult) -> None:
        visit()["read_answer"] = (wanted.search_id, found)
        hits = app.reading.hits(page.work, found)
        contents.html(_contents(page, wanted, hits))
        search.html(_search(page, wanted.search_id, found, hits) + _marks(page, wanted, hits))

    try:
        found = found or app.search.run(app.history.get(wanted.search_id).request, at_once=True)
        draw(found)
        if any(column.waiting for column in found.columns):
            draw(app.search.run(found.request))
    except RelicError as error:
        contents.html(_contents(page, wanted, ()))
        search.warning(literal(str(error)), icon=":material/link_off:")


def _show_head(page: ReadingPage) -> None:
    work = page.work
    by = f' <span class="relic-read-author">{escape(work.author)}</span>' if work.author else ""
    name, to = ("passage", sentence_id(page.at)) if page.passage else ("text", HEADING)
    st.html(
        f'<a class="relic-read-skip" href="#{to}" target="_self">Skip to the {name}</a>'
        f'<h1 class="relic-read-title">{escape(work.title)}{by}</h1>'
    )


def _neighbours(page: ReadingPage, wanted: ReadQuery) -> str:
    names = [name for _, name in chain.from_iterable(part.chapters for part in page.contents)]
    here, links = page.chapter.index, []
    for there, css, arrow in ((here - 1, "relic-read-previous", "←"), (here + 1, "relic-read-next", "→")):
        if 0 <= there < len(names):
            label = f"{arrow} {names[there]}" if there < here else f"{names[there]} {arrow}"
            title = f"{'Previous' if there < here else 'Next'} chapter: {names[there]}"
            links.append(link("read", label, css=css, title=title, work=page.work.id, at=there + 1, **wanted.thread))
    hint = '<span class="relic-read-keys" aria-hidden="true">or the keys ← →</span>' if links else ""
    return "".join(links) + hint


def _search_here(page: ReadingPage) -> str:
    """Link to a search in this chapter, where there are others."""
    if len(page.work.chapters) == 1:
        return ""
    here: dict[str, Any] = {"work": page.work.id, "in": page.chapter.index + 1}
    return link("find", "Search this chapter", **here)


def _contents(page: ReadingPage, wanted: ReadQuery, hits: Sequence[HitMark]) -> str:
    """List the chapters, by parts where the work has them; say in which the search has hits."""
    counts: dict[int, int] = {}
    for hit in hits:
        counts[hit.place.chapter_index] = counts.get(hit.place.chapter_index, 0) + 1
    if sum(len(part.chapters) for part in page.contents) == 1:
        return "<span></span>"
    parts = "".join(_contents_part(part, page, wanted, counts) for part in page.contents)
    return (
        '<nav aria-label="Contents"><details class="relic-read-contents"><summary>Contents</summary>'
        f'<div class="relic-read-list">{parts}</div></details></nav>'
    )


def _contents_part(part: ContentsPart, page: ReadingPage, wanted: ReadQuery, counts: dict[int, int]) -> str:
    here = page.chapter.index
    items = []
    for index, name in part.chapters:
        current = {"aria-current": "page"} if index == here else None
        linked = link("read", name, attributes=current, work=page.work.id, at=index + 1, **wanted.thread)
        items.append(f"<li>{linked}{_count(counts.get(index, 0))}</li>")
    chapters = f"<ol>{''.join(items)}</ol>"
    if not part.name or len(page.contents) == 1:
        return chapters
    held = sum(counts.get(index, 0) for index, _ in part.chapters)
    opened = " open" if any(index == here for index, _ in part.chapters) else ""
    return f"<details{opened}><summary>{escape(part.name)}{_count(held)}</summary>{chapters}</details>"


def _count(hits: int) -> str:
    if not hits:
        return ""
    text = "1 hit" if hits == 1 else f"{hits} hits"
    return f' <span class="relic-read-count">{text}</span>'


def _search(page: ReadingPage, search_id: str, found: SearchResult, hits: Sequence[HitMark]) -> str:
    """Say which search the reader comes from, lead back to it, and from hit to hit in the order of the text."""
    asked = "passages like " * bool(found.source)
    claim = quotation(found.source.work, found.source.span).plain if found.source else found.request.sentence
    starts = {hit.span.start: hit for hit in hits}
    here = page.passage.start if page.passage else page.chapter.span.start
    before = [start for start in starts if start < here]
    after = [start for start in starts if start > here or (start == here and not page.passage)]
    steps = ""
    for label, start in (("Previous hit", max(before, default=None)), ("Next hit", min(after, default=None))):
        if start is not None:
            steps += f"<li>{_hit_link(starts[start], page.work, search_id, label=label)}</li>"
    return (
        '<nav class="relic-read-search" aria-label="The search">'
        f"<p>{link('find', '← Back to the results', css='relic-back', q=search_id)}</p>"
        f'<p class="relic-quiet">for {asked}“{escape(shorten(claim, _CLAIM_SHOWN))}”</p>'
        + (f"<ul>{steps}</ul>" if steps else "")
        + "</nav>"
    )


def _places(words: str) -> str:
    """Lead back to the places of a word that the reader comes from."""
    given: dict[str, Any] = {name: value for name, value in parse_qsl(words) if name in CONCORDANCE_PARAMETERS}
    if "word" not in given:
        return ""
    shown = given["word"][:_WORD_SHOWN]
    back = link("concordance", f"← Back to the places of “{shown}”", css="relic-back", **given)
    return f'<nav class="relic-read-search" aria-label="The places of a word"><p>{back}</p></nav>'


def _hit_link(hit: HitMark, work: Work, search_id: str, *, label: str) -> str:
    where = f"{label}: {hit.place.label}"
    return link("read", label, title=where, work=work.id, at=hit.at, n=hit.span.length, q=search_id)


def _place_data(page: ReadingPage, wanted: ReadQuery, edition: str) -> dict[str, object]:
    """Gather what the component needs: what to light, where the page stands, how the work is cited."""
    work = page.work
    length = page.passage.length if page.passage else None
    by = f"{work.author}, " * bool(work.author)
    translated = f", translated by {work.translator}" * bool(work.translator)
    return {
        "work": work.id,
        "title": work.title,
        "chapter": page.chapter.index + 1,
        "address": address(
            "read",
            work=work.id,
            at=page.at,
            n=None if length == 1 else length,
            quoting=1 if wanted.quoting and length else None,
            w=edition,
            **wanted.thread,
        ),
        "lit": {"at": page.at, "n": length} if length else None,
        "resumed": wanted.resumed,
        "offer": {work.id: work.title} if visit().get("read_offer") == work.id else {},
        "cited": f"{by}{work.title}{translated}" + f" ({work.year})" * bool(work.year),
        "about": link("work", "About this edition", work=work.id),
        "like": more_link(work.id),
        "cite": cite_link(work.id),
    }


def _marks(page: ReadingPage, wanted: ReadQuery, hits: Sequence[HitMark]) -> str:
    """Make the marks that the component puts beside the sentences of the chapter."""
    inside = [hit for hit in hits if hit.place.chapter_index == page.chapter.index]
    groups = "".join(
        f'<span data-at="{at}">{"".join(_mark(hit, page.work, wanted.search_id) for hit in group)}</span>'
        for at, group in groupby(inside, key=lambda hit: hit.at)
    )
    return f'<div class="relic-read-marks-source" hidden>{groups}</div>'


def _mark(hit: HitMark, work: Work, search_id: str) -> str:
    short = f"{hit.way} {hit.number}"
    return link(
        "read",
        short,
        css="relic-read-mark",
        title=f"{short}: {hit.place.label}",
        attributes={"style": hue(hit.retriever)},
        work=work.id,
        at=hit.at,
        n=hit.span.length,
        q=search_id,
    )
