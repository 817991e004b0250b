"""Mined windows as a reader sees them: quotation and the work's own sentences side by side, lit where they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from relic_core.domain import MinedWindow, Offsets, Place, SecondarySource, WindowQuestion, Work, WorkSummary
from relic_core.reporting.passages import Piece, Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowView:
    """A mined window with what it quotes.

    - `sentences`: the work's own sentences, the line wraps of its file undone; lines of verse are parted by a line
      feed, paragraphs by an empty line.
    - `lit`, `lit_in_sentences`: stretches of ``window.quotation`` whose words the work shares; the same in these.
    - `match`, `evidence`: the latest answers (`ANSWERS`); empty where nobody has answered.
    """

    window: MinedWindow
    source: SecondarySource
    work: WorkSummary
    place: Place
    sentences: str
    lit: tuple[Offsets, ...]
    lit_in_sentences: tuple[Offsets, ...]
    set_aside: str
    match: str = ""
    evidence: str = ""


def make_view(
    window: MinedWindow,
    *,
    work: Work,
    summary: WorkSummary,
    source: SecondarySource,
    set_aside: str,
    answers: Mapping[tuple[str, WindowQuestion], str],
) -> WindowView:
    """Set a window beside the sentences that it quotes; `answers` are the latest, by window and question."""
    sentences, lit = set_sentences(work, window)
    return WindowView(
        window=window,
        source=source,
        work=summary,
        place=work.place(window.gold),
        sentences=sentences,
        lit=window.lit,
        lit_in_sentences=lit,
        set_aside=set_aside,
        match=answers.get((window.id, "match"), ""),
        evidence=answers.get((window.id, "evidence"), ""),
    )


def set_sentences(work: Work, window: MinedWindow) -> tuple[str, tuple[Offsets, ...]]:
    """Set the sentences of a work that a window quotes, and say where its lit stretches are in them.

    Of a stretch that runs over several sentences there is one for each piece.
    """
    text = ""
    lit: list[Offsets] = []

    def add(pieces: Sequence[Piece]) -> None:
        nonlocal text
        for piece in pieces:
            if piece.lit and piece.text:
                if lit and lit[-1][1] == len(text):
                    lit[-1] = (lit[-1][0], len(text) + len(piece.text))
                else:
                    lit.append((len(text), len(text) + len(piece.text)))
            text += piece.text

    gold = work.sentences[window.gold.start : window.gold.end]
    for index, members in groupby(gold, key=lambda sentence: sentence.paragraph):
        setting = Setting(work, work.paragraphs[index])
        text += "\n\n" if text else ""
        before: int | None = None
        for sentence in members:
            if before is not None:
                add(setting.pieces(before, sentence.start, _within(window.lit_in_work, before, sentence.start)))
            add(setting.pieces(sentence.start, sentence.end, _within(window.lit_in_work, sentence.start, sentence.end)))
            before = sentence.end
    return text, tuple(lit)


def _within(stretches: Sequence[Offsets], start: int, end: int) -> list[Offsets]:
    """Cut stretches to ``start:end`` and count them from its start.

    >>> _within([(2, 6), (9, 12)], 4, 10)
    [(0, 2), (5, 6)]
    """
    cut = [(max(first, start) - start, min(last, end) - start) for first, last in stretches]
    return [(first, last) for first, last in cut if first < last]
