"""Where a search looks: some chapters of one work, or some works of the library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import streamlit as st

from relic_core.domain import EVERYWHERE, WorkFilter, WorkSummary
from relic_core.services.reading import ContentsPart
from relic_core.wiring import App
from relic_ui import naming, person
from relic_ui.naming import name_of
from relic_ui.shell import warn_of_address
from relic_ui.visit import visit

_WHOLE, _RANGE, _CHOSEN = "whole", "range", "chosen"
_HOW = {_WHOLE: "Whole work", _RANGE: "From … to …", _CHOSEN: "One by one"}
_LAST_YEAR = 9999


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a search looks.

    - `work`: the work; None for the library.
    - `chapters`: chapters of the work, numbered from 1; empty for all.
    - `works`: the works searched: the one, or those that the filter admits.
    """

    work: WorkSummary | None
    chapters: tuple[int, ...] = ()
    work_filter: WorkFilter = EVERYWHERE
    works: tuple[WorkSummary, ...]

    @property
    def limits(self) -> str:
        """What limits it, in words; empty where nothing does."""
        if self.work:
            return f"{len(self.chapters)} of {self.work.chapters:,} chapters" if self.chapters else ""
        return "" if self.work_filter == EVERYWHERE else naming.many(len(self.works), "work")


def searched_last(app: App, works: Iterable[str]) -> str:
    """Name the work that the reader searched last, of these; the first of them where none was."""
    works = list(works)
    return next((work for work in app.history.works_asked(person=person.current()) if work in works), works[0])


def limit_to(work_id: str, chapters: Sequence[int]) -> None:
    """Have the panel of a work begin with these chapters, numbered from 1; with all where there are none."""
    visit()["find_chapters_wanted"] = (work_id, tuple(chapters))


def in_chapters(app: App, work: WorkSummary) -> Scope:
    """Give the chapters of a work that are chosen."""
    state = visit()
    of, wanted = state.pop("find_chapters_wanted", ("", ()))
    if of == work.id or state.get("find_chapters_of") != work.id:  # the chapters of one work are not those of another
        state["find_chapters_of"] = work.id
        _put(wanted if of == work.id else (), app, work)
    return Scope(work=work, chapters=_chapters(work.chapters), works=(work,))


def _chapters(many: int) -> tuple[int, ...]:
    """Read the panel; all chapters are none."""
    state = visit()
    how, chosen = state["find_within"], set()
    if how == _RANGE:
        first, last = sorted((state["find_first"], state["find_last"]))
        chosen = set(range(first, last + 1))
    elif how == _CHOSEN:
        for option in state["find_chapters"]:
            chosen.update(_inside(option))
    return tuple(sorted(chosen)) if len(chosen) < many else ()


def _put(chapters: Sequence[int], app: App, work: WorkSummary) -> None:
    """Set the panel to chapters: to a range where they follow one another."""
    state, many = visit(), work.chapters
    known = sorted({chapter for chapter in chapters if 1 <= chapter <= many})
    if len(known) < len(set(chapters)):
        warn_of_address(
            "This address names chapters that this edition does not have; "
            + ("the others are searched." if known else "the whole work is searched.")
        )
    state.update({"find_within": _WHOLE, "find_first": 1, "find_last": many, "find_chapters": []})
    if not known:
        return
    if known[-1] - known[0] + 1 == len(known):
        state.update({"find_within": _RANGE, "find_first": known[0], "find_last": known[-1]})
    else:
        contents = app.reading.page(work.id).contents
        state.update({"find_within": _CHOSEN, "find_chapters": _options(set(known), _parts(contents))})


def _inside(option: tuple[int, int]) -> range:
    return range(option[0], option[1] + 1)


def _options(chapters: set[int], parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Write chapters as whole parts, as far as they are, and single chapters.

    >>> _options({1, 2, 5}, [(1, 2), (3, 6)])
    [(1, 2), (5, 5)]
    """
    whole = [part for part in parts if chapters.issuperset(_inside(part))]
    single = sorted(chapters.difference(*map(_inside, whole)))
    return [*whole, *((chapter, chapter) for chapter in single)]


def _parts(contents: Sequence[ContentsPart]) -> dict[tuple[int, int], str]:
    """Name the parts of several chapters, by their first and last chapter."""
    parts = {}
    for part in contents:
        if part.name and len(part.chapters) > 1:
            first, last = part.chapters[0][0] + 1, part.chapters[-1][0] + 1
            parts[first, last] = f"{part.name}, all {last - first + 1} chapters"
    return parts


def choose_chapters(app: App, work: WorkSummary) -> None:
    """Draw the choice of chapters; a work of one has none."""
    state, many = visit(), work.chapters
    if many == 1:
        return
    contents = app.reading.page(work.id).contents
    names = {
        index + 1: f"{part.name}, {name}" if part.name and part.name != name else name
        for part in contents
        for index, name in part.chapters
    }

    def begin() -> None:
        if state["find_within"] == _CHOSEN and not state["find_chapters"]:
            first, last = sorted((state["find_first"], state["find_last"]))
            if last - first + 1 < many:  # what was chosen as a range can be changed one by one
                state["find_chapters"] = _options(set(range(first, last + 1)), _parts(contents))

    st.segmented_control(
        "Chapters to search",
        list(_HOW),
        format_func=_HOW.__getitem__,
        key="find_within",
        persist_state="session",
        required=True,
        on_change=begin,
    )
    if state["find_within"] == _RANGE:
        for label, key in (("From", "find_first"), ("To", "find_last")):
            st.selectbox(
                label,
                list(names),
                format_func=names.__getitem__,
                key=key,
                persist_state="session",
                filter_mode="contains",
            )
    elif state["find_within"] == _CHOSEN:
        options = _parts(contents) | {(chapter, chapter): name for chapter, name in names.items()}
        st.multiselect(
            "Parts and chapters" if len(options) > len(names) else "Chapters",
            list(options),
            format_func=options.__getitem__,
            key="find_chapters",
            persist_state="session",
            placeholder="The whole work, until you choose",
            filter_mode="contains",
            select_all=False,
        )


def narrow_to(work_filter: WorkFilter) -> None:
    """Set the panel of the library."""
    visit().update(
        {
            "find_authors": list(work_filter.authors),
            "find_first_year": work_filter.first_year,
            "find_last_year": work_filter.last_year,
            "find_works": list(work_filter.works),
        }
    )


def can_narrow_to(work_filter: WorkFilter, summaries: Sequence[WorkSummary]) -> bool:
    """Whether all that a search was narrowed to is in the library."""
    works, authors = {work.id for work in summaries}, {work.author for work in summaries}
    return works.issuperset(work_filter.works) and authors.issuperset(work_filter.authors)


def in_works(summaries: Sequence[WorkSummary]) -> Scope:
    """Give the works of the library that are chosen."""
    state = visit()
    authors, works = {work.author for work in summaries}, {work.id for work in summaries}
    for key, known in (("find_authors", authors), ("find_works", works)):  # removed works cannot be chosen
        st.session_state[key] = [each for each in st.session_state.get(key, ()) if each in known]
    work_filter = WorkFilter(
        works=tuple(sorted(state["find_works"])),
        authors=tuple(sorted(state["find_authors"])),
        first_year=state.get("find_first_year"),
        last_year=state.get("find_last_year"),
    )
    return Scope(
        work=None, work_filter=work_filter, works=tuple(work for work in summaries if work_filter.admits(work))
    )


def choose_works(scope: Scope, summaries: Sequence[WorkSummary]) -> None:
    """Draw the choice of works of the library."""
    by_id = {work.id: work for work in summaries}
    authors = sorted({work.author for work in summaries}, key=lambda name: (name.split(" ")[-1].casefold(), name))
    st.multiselect(
        "Authors",
        authors,
        format_func=lambda author: author or "Author unknown",
        key="find_authors",
        persist_state="session",
        placeholder="All authors",
        filter_mode="contains",
        select_all=False,
    )
    with st.container(horizontal=True, gap="small"):
        for label, key in (("First published from", "find_first_year"), ("to", "find_last_year")):
            st.number_input(
                label,
                value=None,
                min_value=1,
                max_value=_LAST_YEAR,
                step=1,
                key=key,
                persist_state="session",
                placeholder="Any year",
                width=150,
            )
    if notice := _notice_of_years(scope.work_filter, summaries):
        st.html(f'<p class="relic-quiet">{notice}</p>')
    st.multiselect(
        "Works",
        list(by_id),
        format_func=lambda work_id: name_of(by_id[work_id]),
        key="find_works",
        persist_state="session",
        placeholder="All works",
        filter_mode="contains",
        select_all=False,
    )
    sentences = sum(work.sentences for work in scope.works)
    searched = f"{len(scope.works)} of {len(by_id)} works are searched: {sentences:,} sentences."
    st.html(f'<p class="relic-quiet">{searched}</p>')
    if scope.work_filter:
        st.button("Search all works again", key="find_all_works", on_click=narrow_to, args=(EVERYWHERE,))


def _notice_of_years(work_filter: WorkFilter, summaries: Sequence[WorkSummary]) -> str:
    """Say what a choice of years does that the reader may not expect; empty where it is nothing."""
    first, last = work_filter.first_year, work_filter.last_year
    if first is not None and last is not None and first > last:
        return "The first year is after the last, so no work is left."
    unknown = sum(work.year is None for work in summaries)
    if unknown and (first is not None or last is not None):
        return f"{'One work' if unknown == 1 else f'{unknown} works'} of unknown year left out."
    return ""
