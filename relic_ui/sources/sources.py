"""The parts of the page of secondary sources: the windows of one of them, of a work, or of one sentence of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, cast

import streamlit as st

from relic_core.errors import NotFound
from relic_core.reporting.passages import quotation
from relic_core.services.sources import WindowList
from relic_ui import buttons, person
from relic_ui.links import link
from relic_ui.naming import many, shorten
from relic_ui.shell import literal, show_errors
from relic_ui.sources.sources_window import EVIDENCE, MATCH, window_html

if TYPE_CHECKING:
    from relic_core.services.sources import Show
    from relic_core.wiring import App

PAGE = 20
"""Windows on a page."""
_SHOWS: dict[str, tuple[Show, str]] = {
    "": ("kept", "Kept"),
    "aside": ("set aside", "Set aside"),
    "all": ("all", "All"),
}
_WORKS_NAMED = 8
_TO_LIST = {"data-then": "#windows-heading"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the page's address asks for.

    - `source_id`, `work_id`: Windows of this source; on this work.
    - `at`: those on one sentence of the work, by its address; empty for all.
    - `show`: a key of the filter: empty for those that are kept.
    - `page`: from 1.
    """

    source_id: str
    work_id: str
    at: str
    show: str
    page: int

    @property
    def parameters(self) -> dict[str, str | int | None]:
        """The address, for links that change a part of it."""
        return {
            "source": self.source_id,
            "work": self.work_id,
            "at": self.at,
            "show": self.show,
            "page": self.page if self.page > 1 else None,
        }


def asked() -> Asked:
    """Read the page's address."""
    given = st.query_params
    page, show = given.get("page", ""), given.get("show", "")
    return Asked(
        source_id=given.get("source", ""),
        work_id=given.get("work", ""),
        at=given.get("at", "") if given.get("work") else "",
        show=show if show in _SHOWS else "",
        page=int(page) if page.isascii() and page.isdigit() and 0 < len(page) <= 6 and int(page) else 1,  # noqa: PLR2004
    )


# ---- the list of a source, a work or a sentence -------------------------------------------------------------------


def show(app: App, wanted: Asked) -> None:
    """Draw the windows that the address asks for, and do what was pressed in them."""
    does, to = buttons.pressed()
    head = st.container()  # filled last: its counts follow what was judged just now
    try:
        with st.spinner("Laying the quotations beside the work …"):
            found = _found(app, wanted)
        with show_errors():
            found = _judge(app, wanted, found, does, to)
        with head:
            st.html(_head(app, wanted))
    except NotFound as error:
        st.title("Criticism")
        st.warning(literal(str(error)), icon=":material/link_off:")
        st.html(f"<p>{link('sources', 'All quotations', css='relic-work-link')}</p>")
        return
    _show_list(wanted, found)


def _head(app: App, wanted: Asked) -> str:
    """Say whose windows these are."""
    back = f'<p class="relic-window-back">{link("sources", "← Criticism", css="relic-back")}</p>'
    if wanted.at:
        page = app.reading.page(wanted.work_id, at=wanted.at)
        if page.passage is None:
            raise NotFound(page.notice or f"{wanted.at} is no sentence of {page.work.title}.")
        words = quotation(page.work, page.passage).plain
        place = page.place.label.replace(" · ", ", ") if page.place else ""
        whole = link("sources", f"All quotations of {page.work.title}", work=wanted.work_id)
        read = link("read", "Read it in its chapter", work=wanted.work_id, at=page.at)
        return (
            f'{back}<h1 class="relic-window-title">Who quotes this sentence</h1>'
            f'<blockquote class="relic-window-sentence"><p>{escape(shorten(words, 600))}</p></blockquote>'
            f'<p class="relic-quiet relic-window-links"><span><cite>{escape(page.work.title)}</cite>, {escape(place)}'
            f"</span>{read}{whole}</p>"
        )
    if wanted.source_id:
        source = app.sources.get(wanted.source_id)
        name = f'<h1 class="relic-window-title">{escape(source.title)}</h1>'
        if source.author:
            name += f'<p class="relic-lede">{escape(source.author)}</p>'
        return back + name + _works_of(app, wanted)
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


def _works_of(app: App, wanted: Asked) -> str:
    """Name the works that a source quotes, each a link to its windows there."""
    summary = next((each for each in app.sources.all() if each.source.id == wanted.source_id), None)
    if summary is None:
        return '<p class="relic-quiet">It was removed from the secondary sources.</p>'
    if summary.problem:
        return f'<p class="relic-quiet">{escape(summary.problem)}</p>'
    items = []
    for work_id, title, windows in summary.works[:_WORKS_NAMED]:
        current = {"aria-current": "true"} if work_id == wanted.work_id else None
        name = link("sources", title, attributes=current, source=wanted.source_id, work=work_id)
        items.append(f"<li>{name} {windows:,}</li>")
    if (more := len(summary.works) - _WORKS_NAMED) > 0:
        items.append(f"<li>and {many(more, 'other work')}</li>")
    if len(summary.works) == 1:
        only = f"<cite>{escape(summary.works[0][1])}</cite>"
        return f'<p class="relic-quiet">{many(summary.windows, "quotation")} of {only}.</p>'
    whole = link("sources", "all of them", source=wanted.source_id)
    every = f" Only one work is shown: {whole}." if wanted.work_id else ""
    return (
        f'<p class="relic-quiet">{many(summary.windows, "quotation")} of your works.{every}</p>'
        f'<ul class="relic-window-works relic-quiet" aria-label="Works it quotes">{"".join(items)}</ul>'
    )


def _found(app: App, wanted: Asked) -> WindowList:
    """Find the windows; while the reader stays at an address they stand still, whatever is judged of them."""
    state = st.session_state
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
            start=(wanted.page - 1) * PAGE,
            limit=PAGE,
        )
    state["sources_shown"] = (wanted, found)
    return found


def _judge(app: App, wanted: Asked, found: WindowList, does: str, to: str) -> WindowList:
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
    st.session_state["sources_shown"] = (wanted, found)
    return found


def _show_list(wanted: Asked, found: WindowList) -> None:
    first = 1 if wanted.at else (wanted.page - 1) * PAGE + 1
    filters = "" if wanted.at else _filters(wanted)
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
    st.html(_meanings())


def _heading(wanted: Asked, found: WindowList, first: int) -> str:
    kind = {"": "", "aside": " set aside", "all": ", with those set aside"}[wanted.show]
    told = many(found.total, "quotation")
    if found.total <= PAGE or wanted.at or not found.views:
        return f"{told}{kind}"
    return f"{told}{kind}: {first:,} to {first + len(found.views) - 1:,}"


def _filters(wanted: Asked) -> str:
    items = ""
    for key, (_, label) in _SHOWS.items():
        to = replace(wanted, show=key, page=1).parameters
        current = {"aria-current": "true"} if key == wanted.show else {}
        items += link("sources", label, title=f"{label} quotations", attributes={**_TO_LIST, **current}, **to)
    return f'<nav class="relic-window-filter" aria-label="Which quotations">{items}</nav>'


def _nothing(wanted: Asked) -> str:
    if wanted.page > 1:
        return "The list is not so long any more: go back to its beginning."
    if wanted.at:
        return "No secondary source quotes this sentence."
    if wanted.show == "aside":
        return "Nothing was set aside here."
    return "No quotations are kept here. Look among those set aside, or at all of them."


def _pages(wanted: Asked, total: int) -> str:
    pages = max(1, -(-total // PAGE))
    if wanted.at or pages == 1:
        return "<span></span>"

    def to(label: str, number: int) -> str:
        if not 1 <= number <= pages or number == wanted.page:
            return ""
        return link("sources", label, attributes=_TO_LIST, **replace(wanted, page=number).parameters)

    here = f"<span>Page {wanted.page:,} of {pages:,}</span>"
    steps = (to("First", 1), to("Previous", wanted.page - 1), here, to("Next", wanted.page + 1), to("Last", pages))
    return f'<nav class="relic-kwic-pages" aria-label="Pages">{"".join(steps)}</nav>'


def _meanings() -> str:
    """Explain what can be said of a window."""
    items = "".join(
        f"<dt>{label} ({answer})</dt><dd>{meaning[:1].upper()}{meaning[1:]}</dd>"
        for answer, (label, meaning) in EVIDENCE.items()
    )
    return (
        '<details class="relic-shelf-found relic-window-meanings"><summary>What the answers mean</summary>'
        "<p>What a quotation supports, by the types of RELiC’s paper (section 2.3), whose authors found 151, 31 and 18 "
        f"of each among 200:</p><dl>{items}</dl>"
        "<p>What is no quotation of this passage is set aside: it is not counted beside the text, and goes into no "
        "data made of these quotations. What a rule set aside counts again when you say that it is one. Your "
        "answers are kept; press an answer again to take it back.</p></details>"
    )
