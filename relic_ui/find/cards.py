"""The quotation card: the quotation, its place, what can be done with it, and behind a word why it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from relic_core.domain import Hit, Place, Work
from relic_core.reporting.passages import Passage, quotation, surroundings, whole_sentences, widened
from relic_core.services.answers import HITS_BY_WORK, Card, Column, widen
from relic_core.services.search import SearchResult
from relic_core.services.sources import QuotationCounts
from relic_ui import typography
from relic_ui.find.conditions import JOINS
from relic_ui.find.like import more_link
from relic_ui.keep import Marks
from relic_ui.naming import inside, listed, name_of, shorten
from relic_ui.shell import literal
from relic_ui.templates import render

SURROUNDING_SENTENCES = 6
_WORDS_NAMED = 8
_LINE = 120
"""Characters of a passage that is shown again."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A card in its place on the page.

    - `number`: from 1, without gaps, whatever its rank.
    - `rank`: its number in the column of its retriever, which a note gives of it too.
    - `anchor`: its name on the page.
    - `retriever`, `way`: whose card it is, and what pages call that; `by`: the list that it is in.
    - `chosen_by`: the columns that chose it, by retriever and name, with its number there.
    - `again`: a column further left shows the passage, so that one line of it is enough.
    """

    card: Card
    number: int
    rank: int
    anchor: str
    retriever: str
    way: str
    by: str
    chosen_by: tuple[tuple[str, str, int], ...] = ()
    again: bool = False


_WIDENED = "find_widened"
LONGER, SHORTER = "longer", "shorter"
"""What the buttons of a card do to its line."""


def press_line(does: str, to: str) -> None:
    """Do what was pressed to the line of a card: widen it, or take that back."""
    steps = st.session_state.setdefault(_WIDENED, {})
    if does == LONGER:
        steps[to] = steps.get(to, 0) + 1
    elif does == SHORTER:
        steps[to] = max(0, steps.get(to, 0) - 1)


def _widened(card: Card, line: str) -> Card:
    """Give a card with its line as the reader has widened it."""
    for _ in range(st.session_state.get(_WIDENED, {}).get(line, 0)):
        card = widen(card)
    return card


def placed_in(column: Column, left: Sequence[Column] = ()) -> list[Placed]:
    """List the cards of a column, and say which of them columns to the left of it show."""
    return [
        Placed(
            card,
            number,
            number,
            f"hit-{column.retriever}-{number}",
            column.retriever,
            column.card.called,
            column.card.called,
            also := tuple(
                (other.retriever, other.card.called, there)
                for other in left
                for there, shown in enumerate(other.cards, start=1)
                if shown.shows(card)
            ),
            again=bool(also),
        )
        for number, card in enumerate(column.cards, start=1)
    ]


def placed_best(result: SearchResult) -> list[Placed]:
    """List the cards of the best evidence."""
    ways = {column.retriever: column.card.called for column in result.columns}
    return [
        Placed(
            each.card,
            number,
            each.rank,
            f"hit-best-{number}",
            each.retriever,
            ways.get(each.retriever, "Best evidence"),
            "Best evidence",
            tuple((column.retriever, column.card.called, there) for column, there in each.chosen_by),
        )
        for number, each in enumerate(result.best, start=1)
    ]


def show_heading(column: Column) -> None:
    """Draw the heading of a column; what it does opens under it."""
    st.html(render("find/column.html", card=column.card))


def show_notes(column: Column, result: SearchResult) -> None:
    """Say what is wrong with a column, how well an approximate index does, or why nothing was found."""
    if column.note and column.exact:
        st.warning(literal(column.note), icon=":material/warning:")
    elif column.note:
        st.html(Markup('<p class="relic-quiet relic-inexact">{}</p>').format(column.note))
    elif not column.cards and not column.pending:
        where = "these chapters" if result.request.chapters else "this work" if result.work else "these works"
        st.html(f'<p class="relic-quiet">No passage in {where} uses words of {_asked(result)}.</p>')


def card_html(
    placed: Placed, result: SearchResult, search_id: str, marks: Marks, quoted: Callable[[str], QuotationCounts]
) -> Markup:
    """Make the HTML of one card; of a library, it says which work the passage is from (`quoted` takes its id)."""
    card = placed.card
    # A search that could not be kept has no id.
    line_name = f"{search_id or abs(hash(result.request))}/{card.work.id}/{card.span.start}"
    card = _widened(card, line_name)
    work, line = card.work, card.line
    where, title = _where(card.place), "" if result.work else name_of(work)
    place = f"passage {placed.number}, {f'{title}, ' if title else ''}{where}"
    at, rank = str(card.place.address), str(placed.rank)
    critics, most = quoted(work.id).by(line)
    return render(
        "find/card.html",
        placed=placed,
        card=card,
        line_name=line_name,
        search_id=search_id,
        title=title,
        where=where,
        critics=critics,
        most=most,
        unit=result.request.unit,
        joins=JOINS,
        likely=_likely,
        longest=_LINE,
        shown=_shown,
        quotation=quotation,
        more_link=more_link,
        can_grow=widened(work, line, card.shown) != line,
        keep=marks.html(work.id, at, line.length, search_id, placed.retriever, rank, place=place),
        around=surroundings(work, line, sentences=SURROUNDING_SENTENCES),
        why=_why(placed, result),
        figures=_figures(card, unprepared=any(each.id == work.id for each in result.unprepared)),
    )


def _where(place: Place) -> str:
    return _tied(f"{place.label} · {place.fraction:.0%}")


def _tied(where: str) -> str:
    """Let a line break between the parts of a place, and not within one."""
    parts = where.split(" · ")
    return " · ".join([*parts[:-2], "\u00a0·\u00a0".join(parts[-2:]).replace("paragraph ", "paragraph\u00a0")])


def threshold_html(placed: Placed, all_placed: Sequence[Placed]) -> Markup:
    """Make the line above the first card that does not belong to the answer of a composed search; nothing elsewhere."""
    if placed is not next((each for each in all_placed if each.card.parts and not each.card.answers), None):
        return Markup()
    return Markup('<p class="relic-below">Less probable, and not in the answer</p>')


def _likely(probability: float) -> str:
    """Say what a card is worth for a claim."""
    likely = f"{probability:.0%}"
    return "under 1%" if probability and likely == "0%" else likely


def _shown(passage: Passage) -> str:
    return typography.chosen(shorten(passage.plain, _LINE))


def work_html(work: Work, number: int, hits: Sequence[Hit], search_id: str, marks: Marks) -> Markup:
    """Make the HTML of a work in a list of works, with the passages that put it there."""
    spans = [whole_sentences(work, hit.span) for hit in hits]
    places = [work.place(span) for span in spans]
    return render(
        "find/work.html",
        work=work,
        name=name_of(work),
        number=number,
        passages=zip(spans, places, map(_where, places), strict=True),
        quotation=quotation,
        search_id=search_id,
        marks=marks,
    )


def other_works_html(result: SearchResult, shown: int) -> Markup:
    """Say which works are further down a list of works, and which have nothing; nothing where all are shown."""
    ordered = [hits[0].work_id for hits in result.by_work]
    names = {work.id: name_of(work) for work in result.searched}
    below = [names[work_id] for work_id in ordered[shown:] if work_id in names]
    none = [name for work_id, name in names.items() if work_id not in ordered]
    lines = []
    if below:
        lines.append(f"Further down: {listed(below)}.")
    if none:
        lines.append(f"Nothing among the first {HITS_BY_WORK:,} passages of any column: {listed(none)}.")
    return Markup("").join(Markup('<p class="relic-quiet relic-measure">{}</p>').format(line) for line in lines)


def _asked(result: SearchResult) -> str:
    return "the passage" if result.source else "your claim"


def _why(placed: Placed, result: SearchResult) -> list[str]:
    """Say in three lines why a card is there; behind "Figures" its ranks, and the passages that it stands for."""
    card, asked = placed.card, _asked(result).replace("your", "the")
    # The claim that holds a passage's words matches it whatever it is worth.
    lines = ["Your claim already quotes words of this passage." if card.quoted else card.strength.sentence]
    if card.matches:
        met = ", ".join(f"{mine} – {theirs}" for mine, theirs in card.matches)
        lines.append(f"Nearest words, of {asked} and of the passage: {met}.")
    elif card.shared:
        lines.append(f"Shares with {asked}: {', '.join(card.shared[:_WORDS_NAMED])}.")
    else:
        lines.append(f"Shares no telling word with {asked}.")
    also = []
    for column in result.columns:
        number = next((at for at, shown in enumerate(column.cards, 1) if shown.shows(card)), 0)
        if number and column.retriever != placed.retriever:
            also.append(f"{inside(column.card.called)} ({number})")
    if len(result.columns) > 1:
        lines.append(f"Also found {listed(also)}." if also else "No other column here shows it.")
    return lines


def _figures(card: Card, *, unprepared: bool) -> list[str]:
    """Give the ranks of a passage among all overlapping ones."""
    others = [(inside(other.called), rank) for other, rank in card.other_ranks]
    ranked = [f"{rank:,} {other}" for other, rank in others if rank]
    lines = [f"Ranked {', '.join([f'{card.rank:,} here', *ranked])}, counting every overlapping passage."]
    if unranked := [other for other, rank in others if not rank]:
        lines.append(f"Not {'searched yet' if unprepared else 'found'} {listed(unranked, last='or')}.")
    return lines
