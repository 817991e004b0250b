"""The page of criticism: the works that are quoted, and the windows of a source, a work or one sentence of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, cast

import streamlit as st
from markupsafe import Markup

from relic_core.domain import MAX_LENGTH, Offsets, SecondarySource
from relic_core.errors import NotFound
from relic_core.reporting import charts, statistics
from relic_core.reporting.passages import quotation
from relic_core.services.sources import UNLABELLED, Show, SourceSummary, WindowList, WindowView
from relic_core.wiring import App
from relic_ui import buttons, person, tables
from relic_ui.links import link, number, pages_html
from relic_ui.naming import many
from relic_ui.shell import literal, show_errors, warn_of_address
from relic_ui.sources import known
from relic_ui.templates import render
from relic_ui.visit import visit

EVIDENCE = {
    "claim-supporting": (
        "A claim",
        (
            "the critic makes a claim about the work, and the quotation is the evidence for it. The words around it "
            "refer to what is quoted."
        ),
    ),
    "paraphrase-supporting": (
        "A paraphrase",
        (
            "the critic retells what happens, and the quotation goes with the retelling. The words around it make no "
            "argument about what is quoted."
        ),
    ),
    "other": (
        "Something else",
        "not criticism of the work: it discusses a film, for example, or the print is damaged.",
    ),
}
"""Answers on evidence → what the button says, and what the answer means (RELiC, section 2.3)."""

MATCH = {"right": "Yes", "wrong": "No"}
"""Answers on the match → what the button says."""
_WEAK = 82.0
"""Likeness, of 100, of the least like sentence, below which a match is called weak: one in ten of those kept."""
_KINDS = {"inline": "", "block": ", set off", "verse": ", set off as verse"}


def window_id(window: str) -> str:
    """Name the place of a window on its page."""
    return f"window-{window}"


def window_html(view: WindowView, number: int, *, of: str) -> Markup:
    """Make the HTML of one window, an item of a list.

    - `number`: its number in the list, from 1.
    - `of`: what the list is of: what is the same in all of it is not said again.
    """
    return render(
        "sources/window.html",
        view=view,
        number=number,
        of=of,
        name=window_id(view.window.id),
        kinds=_KINDS,
        weak=_WEAK,
        match=MATCH,
        evidence=EVIDENCE,
        labelling=labelling(),
        cited=cited,
        marked=marked,
    )


def labelling() -> bool:
    """Whether the reader makes a data set, and labels what is shown."""
    return bool(visit().get("sources_label"))


def cited(source: SecondarySource) -> Markup:
    """Name a source: its title, and the author where one is known."""
    title = Markup("<cite>{}</cite>").format(source.title)
    return title + Markup(' <span class="relic-window-by">{}</span>').format(source.author) if source.author else title


def marked(text: str, lit: Iterable[Offsets]) -> Markup:
    r"""Set words with the lit stretches as marks; an empty line parts paragraphs.

    >>> marked("A & B rose", [(0, 5)])
    Markup('<p><mark>A &amp; B</mark> rose</p>')
    >>> marked("It rose.\n\nIt fell.", [(3, 12)])
    Markup('<p>It <mark>rose.</mark></p><p><mark>It</mark> fell.</p>')
    """
    lit = sorted(lit)
    paragraphs, at = Markup(), 0
    for paragraph in re.split(r"(\n{2,})", text):
        if paragraph.strip():
            paragraphs += Markup("<p>{}</p>").format(_marked(paragraph, at, lit))
        at += len(paragraph)
    return paragraphs


def _marked(text: str, at: int, lit: Iterable[Offsets]) -> Markup:
    """Set the stretch of a text that begins at `at`."""
    html, done = Markup(), 0
    for start, end in lit:
        first, last = max(start - at, done), min(end - at, len(text))
        if first < last:
            html += text[done:first] + Markup("<mark>{}</mark>").format(text[first:last])
            done = last
    return html + text[done:]


_NOTHING = "<span></span>"
PAGE = 20
"""Windows on a page."""
_SHOWS: dict[str, tuple[Show, str]] = {
    "": ("kept", "Counted"),
    "aside": ("set aside", "Left out"),
    "all": ("all", "All"),
}
_KINDS_SHOWN = {"": "Any kind", **{answer: label for answer, (label, _) in EVIDENCE.items()}, UNLABELLED: "No label"}
_WORKS_NAMED = 8
_TO_LIST = {"data-then": "#windows-heading"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesQuery:
    """What the page's address asks for.

    - `source_id`, `work_id`: Windows of this source; on this work.
    - `at`: those on one sentence of the work, by its address; empty for all.
    - `show`: a key of the filter: empty for those that are kept.
    - `kind`: what they are there for: an answer on evidence, `UNLABELLED`, or empty for all.
    - `page`: from 1.
    """

    source_id: str
    work_id: str
    at: str
    show: str
    kind: str
    page: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The address, for links that change a part of it."""
        return {
            "source": self.source_id,
            "work": self.work_id,
            "at": self.at,
            "show": self.show,
            "kind": self.kind,
            "page": self.page if self.page > 1 else None,
        }


def asked() -> SourcesQuery:
    """Read the page's address."""
    given = st.query_params
    show = given.get("show", "")
    return SourcesQuery(
        source_id=given.get("source", ""),
        work_id=given.get("work", ""),
        at=given.get("at", "") if given.get("work") else "",
        show=show if show in _SHOWS else "",
        kind=kind if (kind := given.get("kind", "")) in _KINDS_SHOWN else "",
        page=number(given.get("page", "")) or 1,
    )


def show(app: App, wanted: SourcesQuery) -> None:
    """Draw the windows that the address asks for, and do what was pressed in them."""
    does, to = buttons.pressed()
    head = st.container()  # filled last: its counts follow what was judged just now
    try:
        with st.spinner("Opening the work …"):
            found = _found(app, wanted)
        with show_errors():
            found = _judge(app, wanted, found, does, to)
        with head:
            st.html(_head(app, wanted) + _lines(app, wanted))
    except NotFound as error:
        st.title("Criticism")
        warn_of_address(literal(str(error)))
        st.html(f"<p>{link('sources', 'All quotations', css='relic-work-link')}</p>")
        return
    also = _known(app, wanted)
    if found.views or also == _NOTHING or wanted.page > 1 or wanted.show or wanted.kind:
        _show_list(wanted, found)
    st.html(also)


def _lines(app: App, wanted: SourcesQuery) -> str:
    """List the lines of a work that are quoted most, by chapter; nothing of a source or of one sentence."""
    if wanted.at or wanted.source_id:
        return ""
    return known.by_chapter_html(app.works.load(wanted.work_id), app.sources.quoted(wanted.work_id))


def _known(app: App, wanted: SourcesQuery) -> str:
    """List the books that quote the work, or its sentence, and are not in the library."""
    if wanted.source_id or (wanted.page > 1 and not wanted.at):
        return _NOTHING
    page = app.reading.page(wanted.work_id, at=wanted.at) if wanted.at else None
    return known.also_html(app.sources.quoted(wanted.work_id), page.passage if page else None) or _NOTHING


def _head(app: App, wanted: SourcesQuery) -> str:
    back = f'<p class="relic-window-back">{link("sources", "← Criticism", css="relic-back")}</p>'
    if wanted.at:
        page = app.reading.page(wanted.work_id, at=wanted.at)
        if page.passage is None:
            raise NotFound(page.notice or f"{wanted.at} is not a sentence of {page.work.title}.")
        words = quotation(page.work, page.passage).plain
        return f"{back}{render('sources/sentence.html', page=page, words=words)}"
    if wanted.source_id:
        source = app.sources.get(wanted.source_id)
        summary = next((each for each in app.sources.all() if each.source.id == source.id), None)
        head = render("sources/source.html", source=source, summary=summary, work_id=wanted.work_id, most=_WORKS_NAMED)
        return f"{back}{head}"
    work = app.reading.page(wanted.work_id).work
    quoted = app.sources.quoted(work.id)
    critics = "one source" if quoted.sources == 1 else f"{quoted.sources:,} sources"
    counted = f"Quoted in {many(quoted.windows, 'place')} by {critics}." if quoted.windows else "Not quoted so far."
    read = link("read", "Read it with the counts beside the text", work=work.id)
    about = link("work", "Its most quoted passages", work=work.id)
    return (
        f'{back}<h1 class="relic-window-title">Who quotes {escape(work.title)}</h1>'
        f'<p class="relic-quiet relic-window-links"><span>{counted}</span>{read}{about}</p>'
    )


def _found(app: App, wanted: SourcesQuery) -> WindowList:
    """Find the windows; while the reader stays at an address they stand still, whatever is judged of them."""
    state = visit()
    kept = state.get("sources_shown")
    if kept is not None and kept[0] == wanted and state.get("came_from") == state.get("page"):
        return cast("WindowList", kept[1])
    if wanted.at:
        page = app.reading.page(wanted.work_id, at=wanted.at)
        views = app.sources.quoting(wanted.work_id, page.passage.start) if page.passage else ()
        found = WindowList(total=len(views), views=views)
    else:
        found = app.sources.windows(
            source_id=wanted.source_id,
            work_id=wanted.work_id,
            show=_SHOWS[wanted.show][0],
            evidence=wanted.kind,
            start=(wanted.page - 1) * PAGE,
            limit=PAGE,
        )
    state["sources_shown"] = (wanted, found)
    return found


def _judge(app: App, wanted: SourcesQuery, found: WindowList, does: str, to: str) -> WindowList:
    """Keep what was pressed, and show it in its row."""
    pressed = next((view for view in found.views if view.window.id == to), None)
    if pressed is None:
        return found
    if does in MATCH:
        app.sources.press(to, "match", does, judge=person.current())
    elif does in EVIDENCE:
        app.sources.press(to, "evidence", does, judge=person.current())
    else:
        return found
    now = app.sources.window(to)
    found = replace(found, views=tuple(now if view is pressed else view for view in found.views))
    visit()["sources_shown"] = (wanted, found)
    return found


def _show_list(wanted: SourcesQuery, found: WindowList) -> None:
    first = 1 if wanted.at else (wanted.page - 1) * PAGE + 1
    filters = "" if wanted.at else _filters(wanted)
    if wanted.kind:
        visit()["sources_label"] = True
    st.html(
        '<div class="relic-window-bar">'
        f'<h2 id="windows-heading" class="relic-item">{_heading(wanted, found, first)}</h2>{filters}</div>'
    )
    if not found.views:
        st.info(_nothing(wanted), icon=":material/format_quote:")
        return
    of = "sentence" if wanted.at else "source" if wanted.source_id else "work"
    rows = "".join(window_html(view, number, of=of) for number, view in enumerate(found.views, start=first))
    st.html(f'<ol class="relic-windows" aria-labelledby="windows-heading">{rows}</ol>')
    st.html(_pages(wanted, found.total))
    st.toggle("Label them for a data set", key="sources_label", persist_state="session")
    if labelling():
        st.html(render("sources/meanings.html", evidence=EVIDENCE))


def _heading(wanted: SourcesQuery, found: WindowList, first: int) -> str:
    kind = {"": "", "aside": " left out", "all": ", with those left out"}[wanted.show]
    total = many(found.total, "quotation") + " in your library" * (not wanted.source_id)  # of a work more are known
    if found.total <= PAGE or wanted.at or not found.views:
        return f"{total}{kind}"
    return f"{total}{kind}: {first:,} to {first + len(found.views) - 1:,}"


def _filters(wanted: SourcesQuery) -> str:
    def to(label: str, title: str, *, chosen: bool, **changed: str) -> str:
        attributes = {**_TO_LIST, "aria-current": "true"} if chosen else _TO_LIST
        parameters = replace(wanted, page=1, **changed).parameters
        return link("sources", label, title=title, attributes=attributes, **parameters)

    shows = "".join(
        to(label, f"{label} quotations", chosen=key == wanted.show, show=key) for key, (_, label) in _SHOWS.items()
    )
    kinds = "".join(
        to(label, f"There for: {label}", chosen=key == wanted.kind, kind=key) for key, label in _KINDS_SHOWN.items()
    )
    kinds = f'<nav class="relic-window-filter" aria-label="What they are there for">{kinds}</nav>' * labelling()
    return f'<nav class="relic-window-filter" aria-label="Which quotations">{shows}</nav>{kinds}'


def _nothing(wanted: SourcesQuery) -> str:
    if wanted.page > 1:
        return "The list has become shorter: go back to its beginning."
    if wanted.at:
        return "No secondary source quotes this sentence."
    if wanted.kind:
        return "No quotation here has this label. Look at any kind."
    if wanted.show == "aside":
        return "Nothing was left out here. Quotations of fewer than eight words are not looked for."
    return "No quotations here. Look at those left out, or at all."


def _pages(wanted: SourcesQuery, total: int) -> str:
    def to(label: str, number: int) -> str:
        return link("sources", label, attributes=_TO_LIST, **replace(wanted, page=number).parameters)

    pages = 1 if wanted.at else max(1, -(-total // PAGE))
    return pages_html(wanted.page, pages, to) or "<span></span>"


_FIRST_SHOWN = 12
_LEDE = (
    '<p class="relic-lede">Which lines do critics use, and who uses them? Every quotation found in your secondary '
    "sources is shown beside the sentences of the work it comes from.</p>"
)


def show_none(app: App) -> None:
    """Say that there is no criticism yet, and where it is added; of works that critics are known to quote, which."""
    if works := _quoted_works(app):
        st.header("Works that are quoted", anchor="works")
        st.html(render("sources/quoted.html", works=works, first=_FIRST_SHOWN))
        st.html(f'<p class="relic-quiet">{known.OWN_WORDS} {known.add_link()}</p>')
        return
    st.html(_LEDE)
    st.info(
        "There are no secondary sources yet. Add books or articles about your works in the Library; the program "
        "finds where they quote them.",
        icon=":material/format_quote:",
    )
    st.html(f"<p>{known.add_link()}</p>")


def choose(app: App, listed: Sequence[SourceSummary]) -> None:
    """Offer the works that are quoted, and the sources that quote them."""
    works = _quoted_works(app)
    st.header("Works that are quoted", anchor="works")
    if works:
        st.html(render("sources/quoted.html", works=works, first=_FIRST_SHOWN))
    else:
        st.html('<p class="relic-measure">None so far: the sources do not quote the works of your library.</p>')
    see = link("library", "See all your criticism", css="relic-work-link", part="Criticism")
    st.html(f'<p class="relic-quiet">{_quoting(listed, {key for key, *_ in works})}. {see}</p>')
    if works:
        _offer_numbers(app)


def _quoted_works(app: App) -> list[tuple[str, str, int, int]]:
    """List the quoted works, the most quoted first: id, name, windows, sources."""
    with st.spinner("Counting quotations …"):
        found = [
            (work.id, f"{work.title}{f', {work.author}' * bool(work.author)}", windows, sources)
            for work, windows, sources in app.sources.quoted_works()
        ]
    return sorted(found, key=lambda each: (-each[2], each[1], each[0]))


def _quoting(listed: Sequence[SourceSummary], works: Collection[str]) -> str:
    """Say how many of the reader's own sources quote a work of these, and how many were not searched.

    >>> from types import SimpleNamespace
    >>> essay = SimpleNamespace(works=(("emma", "Emma", 2),), problem="")
    >>> _quoting([essay, SimpleNamespace(works=(), problem="It is empty.")], {"emma"})
    'One of 2 secondary sources in your library quotes them; one could not be searched'
    >>> _quoting([essay], {"emma"})
    'The one secondary source in your library quotes some of them'
    """
    quoting = sum(any(quoted and key in works for key, _, quoted in each.works) for each in listed)
    failed = sum(bool(each.problem) for each in listed)
    sentence = f"{_number(quoting).capitalize()} of {many(len(listed), 'secondary source')} in your library "
    sentence += "quotes them" if quoting == 1 else "quote them"
    if quoting == len(listed) == 1:
        sentence = "The one secondary source in your library quotes some of them"
    return f"{sentence}; {_number(failed)} could not be searched" if failed else sentence


def _number(count: int) -> str:
    return {0: "none", 1: "one"}.get(count, f"{count:,}")


_WHAT = "Your quotations"


def _offer_numbers(app: App) -> None:
    """Offer the numbers; they are counted when they are asked for, since every quoted work is read for it."""
    st.header("In numbers", anchor="numbers")
    st.html(
        '<p class="relic-measure">How many quotations there are, how long they are, and how much of each work is ever '
        "quoted, beside the figures of RELiC. Those of <i>training</i>, <i>dev</i> and <i>test</i> are there to train "
        "on, to choose by and to report on.</p>"
    )
    if st.toggle("Count the quotations", key="sources_numbers"):
        with show_errors():
            _show_numbers(app)


def _show_numbers(app: App) -> None:
    try:
        with st.spinner("Counting …"):
            counted = app.statistics()
    except NotFound as error:
        st.info(str(error), icon=":material/info:")
        return
    kept = sum(source.windows for source in app.sources.all())
    if counted.total < kept:
        st.caption(
            f"Counted are {counted.total:,} of {kept:,} quotations. The others run over more than {MAX_LENGTH} "
            "sentences, or are in no split."
        )
    for note in app.dataset.stale():
        st.caption(literal(note))
    made = statistics.tables(counted, what=_WHAT)
    st.plotly_chart(
        statistics.draw_lengths(counted, what="in your sources"),
        key="sources_lengths",
        config=charts.config("length of the quotations"),
        alt="How many sentences the quotations have. The figures are below as a table.",
    )
    for table in made:
        tables.show(table)
    tables.save(made, "quotations in numbers", key="sources_numbers_save")
