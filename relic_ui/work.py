"""The parts of the page of a work: the edition, its numbers, its chapters, what was set aside, indexes, searches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import streamlit as st

from relic_core.domain import Search
from relic_core.errors import RelicError
from relic_core.services.editions import Facts, Numbers
from relic_core.wiring import App
from relic_ui import citing, novel, person
from relic_ui.jobs import show_job, stop_label
from relic_ui.library import correcting
from relic_ui.library.previews import left_out_list
from relic_ui.links import link
from relic_ui.naming import inside, length_of, name_of_search, ways, works_html
from relic_ui.shell import literal
from relic_ui.sources import sources_reading
from relic_ui.visit import visit

_HOW = {
    "double": "the words inside double quotation marks, which set off speech in this edition; marks inside a speech "
    "and apostrophes are recognised as such",
    "single": "the words inside single quotation marks, which set off speech in this edition; apostrophes and double "
    "marks are recognised as such",
    "dashes": "the paragraphs that open with a dash, which sets off speech in this edition. Nothing marks where the "
    "speech ends and “he said” begins, so the true share is lower",
    "speakers": "the words under a speaker’s name; stage directions are not counted",
    "none": "no marks of speech were found in this edition",
}
_SPLITS = {"train": "training", "validation": "validation", "test": "test"}
_SEARCHES_SHOWN = 20
_CLAIM_SHOWN = 160
_KILO = 1000


def asked(app: App) -> Facts | None:
    """Find the work that the page's address names; where there is none, say what to do."""
    work_id = st.query_params.get("work", "")
    try:
        if work_id:
            with st.spinner("Counting sentences, words and speeches …"):
                return app.editions.facts(work_id, person=person.current())
        message = ""
    except RelicError:
        if work_id in {work.id for work in app.works.summaries()}:
            raise
        removed = {work.id: work for work in app.works.removed()}
        if work_id in removed:
            message = (
                f"{removed[work_id].title} was removed. The Library has it among its removed works: put it back there."
            )
        else:
            message = f"Your library has no work {work_id[:60]}. It may be on another machine, or be another edition."
    st.title("About a work")
    if message:
        st.info(literal(message), icon=":material/menu_book:")
    st.html(works_html(app.works.summaries(), "work"))
    st.html(f"<p>{link('library', 'Open the library', css='relic-work-link')}</p>")
    return None


def show(app: App, facts: Facts) -> None:
    """Draw the page of a work."""
    _show_title(facts)
    novel.show(app, facts)
    _show_edition(app, facts)
    citing.show_for_work(app, facts.summary.id)
    _show_numbers(facts.numbers)
    sources_reading.show_most_quoted(app, facts.summary.id)
    if app.sources.all():
        sources_reading.show_quoting(app, facts.summary.id)
    _show_set_aside(app, facts.summary.id, facts.numbers)
    _show_indexes(app, facts)
    _show_searches(app, facts)


def _show_title(facts: Facts) -> None:
    work = facts.summary
    st.title(literal(work.title))
    by = [
        work.author or "Author unknown",
        str(work.year or ""),
        f"translated by {work.translator}" * bool(work.translator),
    ]
    st.html(
        f'<p class="relic-lede">{escape(", ".join(filter(None, by)))}</p><p class="relic-work-do">'
        f"{link('read', 'Read it', work=work.id)}{link('find', 'Find a quotation in it', work=work.id)}"
        f"{link('concordance', 'Find a word in it', work=work.id)}</p>"
    )


def _show_edition(app: App, facts: Facts) -> None:
    work, entry = facts.summary, facts.entry
    rows = [
        ("Source", _source(work.source)),
        ("Format", escape(facts.format[:1].upper() + facts.format[1:])),
        ("Added", f"{work.added:%d %B %Y}".lstrip("0")),
    ]
    if entry is not None:
        listing = f"{_SPLITS[entry.split]} split, there as <cite>{escape(entry.title)}</cite> ({entry.year})"
        if entry.gutenberg and not work.source.startswith("Project Gutenberg"):
            listing += f"; Project Gutenberg has an edition of it as number {entry.gutenberg}"
        rows.append(("In RELiC", listing))
    fingerprint = (
        f"<code>{work.sha256}</code><p>Computed from the text (sha256). A text with the same fingerprint is the same "
        "text, letter for letter: give it where others should be able to check your edition.</p>"
    )
    details = [
        ("Sentences cut by", escape(facts.segmenter)),
        ("Fingerprint", fingerprint),
    ]
    st.header("The edition")
    if visit().get("work_correcting") != work.id:
        if st.button("Correct details", key="work_correct", type="tertiary", icon=":material/edit:"):
            visit()["work_correcting"] = work.id
            st.rerun()
    elif correcting.show_form(app, work):
        del visit()["work_correcting"]
        st.rerun()
    st.html(f'{_listed(rows)}<details class="relic-shelf-found"><summary>Details</summary>{_listed(details)}</details>')


def _listed(rows: Sequence[tuple[str, str]]) -> str:
    return f'<dl class="relic-work-facts">{"".join(f"<dt>{name}</dt><dd>{fact}</dd>" for name, fact in rows)}</dl>'


def _source(source: str) -> str:
    words = []
    for word in source.split(" "):
        bare = word.rstrip(".,;)")
        if bare.startswith(("https://", "http://")):
            words.append(f'<a href="{escape(bare)}" rel="noreferrer">{escape(bare)}</a>{escape(word[len(bare) :])}')
        else:
            words.append(escape(word))
    return " ".join(words) or "not known"


def _show_numbers(numbers: Numbers) -> None:
    tiles = [
        (f"{len(numbers.chapters):,}", "chapter" if len(numbers.chapters) == 1 else "chapters"),
        (f"{numbers.paragraphs:,}", "paragraphs"),
        (f"{numbers.sentences:,}", "sentences"),
        (f"{numbers.words:,}", "words"),
        (f"{numbers.distinct_words:,}", "different words"),
        (f"{numbers.sentence_length:.1f}", "words a sentence"),
        (_percent(numbers.dialogue) if numbers.style != "none" else "–", "dialogue"),
    ]
    st.header("In numbers")
    st.html(
        '<ul class="relic-work-numbers">'
        + "".join(f"<li><strong>{number}</strong> {name}</li>" for number, name in tiles)
        + "</ul>"
        + f'<p class="relic-quiet relic-measure">Dialogue: {_HOW[numbers.style]}. '
        + ("" if numbers.style in {"none", "speakers"} else "A story told in speech counts as dialogue. ")
        + (
            f"The longest chapter is {escape(numbers.longest.name)}, with {numbers.longest.words:,} words."
            if numbers.longest
            else ""
        )
        + "</p>"
    )


def _percent(share: float) -> str:
    """Write a share.

    >>> _percent(0.471), _percent(0.046), _percent(0.0004)
    ('47%', '4.6%', '0.0%')
    """
    return f"{share:.0%}" if share >= 0.095 else f"{share:.1%}"  # noqa: PLR2004 - below, a decimal tells more


def _show_set_aside(app: App, work_id: str, numbers: Numbers) -> None:
    st.header("What was left out")
    if not numbers.left_out:
        st.html('<p class="relic-measure">Nothing: the whole file is the author’s text.</p>')
        return
    st.html(
        f'<p class="relic-measure">{_percent(numbers.set_aside)} of the file is headings, or not the author’s text. '
        "You see it when you read; no search finds it.</p>"
        f'<details class="relic-shelf-found"><summary>What it is</summary>{left_out_list(numbers.left_out)}</details>'
    )
    if not numbers.pieces:
        return
    with st.expander("Put a piece back"):
        for piece in numbers.pieces:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.html(left_out_list([piece]), width="stretch")
                if st.button("Put it back", key=f"work_back_{piece.start}", help=literal(piece.sample)):
                    app.works.put_back(work_id, piece.start)
                    app.indexes.start(work_id)
                    st.rerun()


def _show_indexes(app: App, facts: Facts) -> None:
    st.header("Prepared for searching")
    if facts.foreign:
        st.info(facts.foreign, icon=":material/translate:")
    names = ways(app)
    jobs: dict[str, str] = visit().setdefault("work_jobs", {})  # by the work that each prepares
    job = app.jobs.get(jobs[facts.summary.id]) if facts.summary.id in jobs else None
    if facts.missing:
        missing = ", ".join(inside(names[name]) for name in facts.missing)
        st.html(
            f'<p class="relic-measure">Not yet prepared for searching {escape(missing)}, for which the work has to be '
            "read once. Searching by words needs no preparation.</p>"
        )
        if job:
            show_job(app, job.id, stop=stop_label(job))
        if not (job and job.active) and st.button("Prepare it", key="work_prepare", icon=":material/play_arrow:"):
            jobs[facts.summary.id] = app.indexes.start(facts.summary.id).id
            st.rerun()
    elif not facts.indexes:
        st.html('<p class="relic-measure">Only searching by words is available here, and it needs no preparation.</p>')
    else:
        st.html('<p class="relic-measure">Ready for every way of searching.</p>')
    if facts.indexes:
        rows = "".join(
            f"<li><strong>{escape(names[index.retriever])}</strong>, {_size(index.size)}, made on "
            f"{f'{index.created:%d %B %Y}'.lstrip('0')}"
            + ("" if index.fits else " <em>(of an earlier text or another model: not used)</em>")
            + f'<span class="relic-shelf-sample relic-work-code">{escape(index.encoder)}</span></li>'
            for index in facts.indexes
        )
        st.html(
            '<details class="relic-shelf-found"><summary>The indexes, and the models that made them</summary>'
            f'<ul class="relic-shelf-left-out">{rows}</ul></details>'
        )


def _size(number: int) -> str:
    """Write a size on disk.

    >>> _size(820), _size(14_600), _size(16_400_000)
    ('820 bytes', '15 kB', '16 MB')
    """
    if number < _KILO:
        return f"{number} bytes"
    return f"{number / _KILO:.0f} kB" if number < _KILO**2 else f"{number / _KILO**2:.0f} MB"


def _show_searches(app: App, facts: Facts) -> None:
    st.header("Searches in it")
    if not facts.searches:
        find = link("find", "Find a quotation in it", css="relic-work-link", work=facts.summary.id)
        kept = "your searches are kept here, to open again with one click."
        st.html(f'<p class="relic-measure">None yet. {find}: {kept}</p>')
        return
    rows = [
        f"<li>{link('find', name_of_search(app, search, longest=_CLAIM_SHOWN), q=search.id)}"
        f' <span class="relic-quiet">{f"{search.created:%d %B %Y}".lstrip("0")}, '
        f"{length_of(search.request)}{_inside(search, len(facts.numbers.chapters))}</span></li>"
        for search in facts.searches
    ]
    st.html(_list(rows[:_SEARCHES_SHOWN]))
    if more := rows[_SEARCHES_SHOWN:]:
        st.html(
            f'<details class="relic-shelf-found"><summary>{len(more)} earlier ones</summary>{_list(more)}</details>'
        )


def _list(rows: Iterable[str]) -> str:
    return f'<ul class="relic-work-searches">{"".join(rows)}</ul>'


def _inside(search: Search, every: int) -> str:
    return f", in {len(search.request.chapters)} of {every} chapters" if search.request.chapters else ""
