"""The quotation card: the quotation, its place, what can be done with it, and behind a word why it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from relic_core.domain import Hit, Unit, Work
from relic_core.reporting.passages import quotation, surroundings, whole_sentences, widened
from relic_core.services.answers import HITS_BY_WORK, Card, Column, widen
from relic_core.services.search import SearchResult
from relic_core.services.sources import QuotationCounts
from relic_ui import typography
from relic_ui.buttons import button
from relic_ui.citing import cite_link
from relic_ui.find.conditions import JOINS
from relic_ui.find.like import more_link
from relic_ui.keep import Marks
from relic_ui.links import link
from relic_ui.naming import inside, listed, many, name_of, shorten
from relic_ui.passages import passage_html
from relic_ui.shell import literal
from relic_ui.style import hue

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


def _line_of(card: Card, result: SearchResult, search_id: str) -> str:
    """Name the line of a card; a search that could not be kept has no id."""
    return f"{search_id or abs(hash(result.request))}/{card.work.id}/{card.span.start}"


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
    card = column.card
    name = f" <span>· {escape(card.label)}</span>" * bool(card.purpose)
    st.html(
        f'<details class="relic-column" style="{hue(card.name)}"><summary><h2>{escape(card.called)}{name}</h2>'
        f'</summary><p class="relic-quiet">{escape(card.description)}</p></details>'
    )


def show_notes(column: Column, result: SearchResult) -> None:
    """Say what is wrong with a column, how well an approximate index does, or why nothing was found."""
    if column.note and column.exact:
        st.warning(literal(column.note), icon=":material/warning:")
    elif column.note:
        st.html(f'<p class="relic-quiet relic-inexact">{escape(column.note)}</p>')
    elif not column.cards and not column.pending:
        where = "these chapters" if result.request.chapters else "this work" if result.work else "these works"
        st.html(f'<p class="relic-quiet">No passage in {where} uses words of {_asked(result)}.</p>')


def card_html(
    placed: Placed, result: SearchResult, search_id: str, marks: Marks, quoted: Callable[[str], QuotationCounts]
) -> str:
    """Make the HTML of one card; of a library, it says which work the passage is from (`quoted` takes its id)."""
    line_name, number = _line_of(placed.card, result, search_id), placed.number
    card = _widened(placed.card, line_name)
    place, work, n = card.place, card.work, card.line.length
    at = str(place.address)
    where = _tied(f"{place.label} · {place.fraction:.0%}")
    named = f"{name_of(work)}, " * (result.work is None)
    title = f'<cite class="relic-card-work">{escape(name_of(work))}</cite>' if named else ""
    said = f"{where} into the work: read it in its chapter"
    rank = f'<span class="relic-rank"><span class="relic-sr">Passage </span>{number}</span>'
    head = f"<h3>{rank} {title} {link('read', where, title=said, work=work.id, at=at, n=n, q=search_id)}</h3>"
    chosen_by = "".join(
        f'<span class="relic-by" style="{hue(retriever)}"><span class="relic-by-way">{"also " * placed.again}'
        f"{escape(inside(by))}, </span>{there}</span>"
        for retriever, by, there in placed.chosen_by
    )
    keep = marks.html(
        work.id, at, n, search_id, placed.retriever, str(placed.rank), place=f"passage {number}, {named}{where}"
    )
    around = passage_html(surroundings(work, card.line, sentences=SURROUNDING_SENTENCES), mark_gold=True)
    said = ("" if placed.again else chosen_by) + _critics(card, quoted(work.id))
    if card.speakers:
        said = f"<span>spoken by {escape(listed(card.speakers))}</span>{said}"
    by = f'<p class="relic-card-by">{said}</p>' if said else ""
    body = (
        f"<header>{head}{by}</header><blockquote>{passage_html(card.whole)}</blockquote>"
        f"{_parts(placed, result.request.unit, search_id)}"
        f'<div class="relic-card-do">{keep} {cite_link(work.id, at, n, search_id)}'
        f"{_length_html(card, placed, line_name)}"
        f'<details><summary>Show context</summary><div class="relic-around">{around}</div></details>'
        f'<details class="relic-why"><summary>Why this?</summary>{_why(placed, result)}'
        f"<div>{more_link(work.id, at, n)}</div></details></div>"
    )
    if placed.again:
        line = escape(typography.chosen(shorten(card.quotation.plain, _LINE)))
        body = f"<details><summary>{rank}<span>{line}</span>{chosen_by}</summary>{body}</details>"
    css = "relic-card relic-card-again" if placed.again else "relic-card"
    return f'<article class="{css}" id="{placed.anchor}" style="{hue(placed.retriever)}">{body}</article>'


def _length_html(card: Card, placed: Placed, line_name: str) -> str:
    """Make the buttons that widen the line of a card, and take that back."""
    passage = f"passage {placed.number}"
    can_grow = widened(card.work, card.line, card.shown) != card.line
    more = button(LONGER, line_name, "+", title=f"Quote more of {passage}") if can_grow else ""
    less = button(SHORTER, line_name, "−", title=f"Quote less of {passage}") if card.line != placed.card.line else ""
    return f'<span class="relic-length">{more}{less}</span>'


def _tied(where: str) -> str:
    """Let a line break between the parts of a place, and not within one."""
    parts = where.split(" · ")
    return " · ".join([*parts[:-2], "\u00a0·\u00a0".join(parts[-2:]).replace("paragraph ", "paragraph\u00a0")])


def threshold_html(placed: Placed, all_placed: Sequence[Placed]) -> str:
    """Make the line above the first card that does not belong to the answer of a composed search; nothing elsewhere."""
    if placed is not next((each for each in all_placed if each.card.parts and not each.card.answers), None):
        return ""
    return '<p class="relic-below">Less probable, and not in the answer</p>'


def _parts(placed: Placed, unit: Unit, search_id: str) -> str:
    """Say what a card is worth for each claim; of a chapter or a work by which passage."""
    card, lines = placed.card, []
    for at, part in enumerate(card.parts):
        joined = f"{JOINS[part.condition.joined]} " * bool(at)
        said = f"<b>{joined}</b>{escape(shorten(part.condition.claim_text, _LINE))}"
        where = ""
        if unit != "passage" and part.span != card.span:
            words = escape(typography.chosen(shorten(quotation(card.work, part.span).plain, _LINE)))
            there = link(
                "read", part.place.label, work=card.work.id, at=str(part.place.address), n=card.span.length, q=search_id
            )
            where = f"<q>{words}</q> {there}"
        likely = f"{part.probability:.0%}"
        likely = "under 1%" if part.probability and likely == "0%" else likely
        lines.append(f"<li><span>{likely}</span><div>{said}{where}</div></li>")
    return f'<ul class="relic-parts" aria-label="Probability for each claim">{"".join(lines)}</ul>' if lines else ""


def work_html(work: Work, number: int, hits: Sequence[Hit], search_id: str, marks: Marks) -> str:
    """Make the HTML of a work in a list of works, with the passages that put it there."""
    rank = f'<span class="relic-rank"><span class="relic-sr">Work </span>{number}</span>'
    passages = []
    for hit in hits:
        span = whole_sentences(work, hit.span)
        place, n = work.place(span), span.length
        at, where = str(place.address), _tied(f"{place.label} · {place.fraction:.0%}")
        said = f"{where} into the work: read it in its chapter"
        read = link("read", where, title=said, work=work.id, at=at, n=n, q=search_id)
        keep = marks.html(work.id, at, n, search_id, "", "", place=f"{name_of(work)}, {where}")
        passages.append(
            f"<blockquote>{passage_html(quotation(work, span))}</blockquote>"
            f'<p class="relic-quiet relic-work-do">{read} {keep} {cite_link(work.id, at, n, search_id)}</p>'
        )
    head = f'<header><h3>{rank} <cite class="relic-card-work">{escape(name_of(work))}</cite></h3></header>'
    return f'<article class="relic-card relic-work" id="work-{number}">{head}{"".join(passages)}</article>'


def other_works_html(result: SearchResult, shown: int) -> str:
    """Say which works are further down a list of works, and which have nothing; nothing where all are shown."""
    ordered = [hits[0].work_id for hits in result.by_work]
    names = {work.id: name_of(work) for work in result.searched}
    below = [names[work_id] for work_id in ordered[shown:] if work_id in names]
    none = [name for work_id, name in names.items() if work_id not in ordered]
    lines = []
    if below:
        lines.append(f"Further down: {escape(listed(below))}.")
    if none:
        lines.append(f"Nothing among the first {HITS_BY_WORK:,} passages of any column: {escape(listed(none))}.")
    return "".join(f'<p class="relic-quiet relic-measure">{line}</p>' for line in lines)


def _critics(card: Card, quoted: QuotationCounts) -> str:
    """Say how many critics quote a passage, and lead to what they say; nothing where none does."""
    critics, most = quoted.by(card.line)
    if not critics:
        return ""
    at = str(card.work.address(most))
    return link("sources", f"quoted by {many(critics, 'critic')}", css="relic-critics", work=card.work.id, at=at)


def _asked(result: SearchResult) -> str:
    return "the passage" if result.source else "your claim"


def _why(placed: Placed, result: SearchResult) -> str:
    """Say in three lines why a card is there; behind "Figures" its ranks, and the passages that it stands for."""
    card, asked = placed.card, _asked(result).replace("your", "the")
    # The claim that holds a passage's words matches it whatever it is worth.
    lines = ["Your claim already quotes words of this passage." if card.quoted else escape(card.strength.sentence)]
    if card.matches:
        met = ", ".join(f"{escape(mine)} – {escape(theirs)}" for mine, theirs in card.matches)
        lines.append(f"Nearest words, of {asked} and of the passage: {met}.")
    elif card.shared:
        words = ", ".join(escape(word) for word in card.shared[:_WORDS_NAMED])
        lines.append(f"Shares with {asked}: {words}.")
    else:
        lines.append(f"Shares no telling word with {asked}.")
    also = [
        f"{inside(column.card.called)} ({number})"
        for column in result.columns
        if column.retriever != placed.retriever
        for number in [next((at for at, shown in enumerate(column.cards, 1) if shown.shows(card)), 0)]
        if number
    ]
    if len(result.columns) > 1:
        lines.append(f"Also found {escape(listed(also))}." if also else "No other column here shows it.")
    why = "".join(f"<div>{line}</div>" for line in lines)
    figures = _figures(card, unprepared=any(work.id == card.work.id for work in result.unprepared))
    return f"{why}<details><summary>Figures</summary>{figures}</details>"


def _figures(card: Card, *, unprepared: bool) -> str:
    """Give the ranks of a passage among all overlapping ones, and the passages that its card stands for."""
    others = [(escape(inside(other.called)), rank) for other, rank in card.other_ranks]
    ranked = [f"{rank:,} {other}" for other, rank in others if rank]
    lines = [f"Ranked {', '.join([f'{card.rank:,} here', *ranked])}, counting every overlapping passage."]
    if unranked := [other for other, rank in others if not rank]:
        lines.append(f"Not {'searched yet' if unprepared else 'found'} {listed(unranked, last='or')}.")
    figures = "".join(f"<div>{line}</div>" for line in lines)
    if not card.others:
        return figures
    passages = "".join(
        f'<p class="relic-quiet">Rank {hit.rank:,}</p>{passage_html(quotation(card.work, hit.span))}'
        for hit in card.others
    )
    more = f"{many(len(card.others), 'more passage')} here".capitalize()
    return f'{figures}<div>{more}:</div><div class="relic-around">{passages}</div>'
