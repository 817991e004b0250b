"""Where the words of a mined window stand in its source, stretch by stretch; and finding them again in another text.

A window keeps its words and where it begins and ends. Between the two lie running heads, page numbers and marks that
reading takes out, so the stretches are looked up in the source as it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from relic_core.errors import NotFound
from relic_core.formats.window_manifest import cut, sha256_of
from relic_core.formats.window_texts import WindowText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relic_core.domain import MinedWindow, Offsets
    from relic_core.formats.window_manifest import ListedWindow, Pieces
    from relic_core.mining.prose import Prose

REACH = 5_000
"""Characters by which a window is looked for before and behind its place, where the source is not to the letter the
one that was mined: a line added to the front matter moves all that follows."""


class Places(NamedTuple):
    """The stretches of the source that make each sentence before the quotation, the quotation, and those after."""

    left: tuple[Pieces, ...]
    quotation: Pieces
    right: tuple[Pieces, ...]


def places(prose: Prose, window: MinedWindow) -> Places:
    """Look up where the words of a window stand in its source.

    Raises NotFound: they are not where the window says: it was mined from another text, or under other rules of
    reading.
    """
    start, end = _quotation(prose, window)
    left: list[Offsets] = []
    before = start
    for sentence in reversed(window.left):
        before = prose.text.rfind(sentence, 0, before)
        left.insert(0, (before, before + len(sentence)))
    right: list[Offsets] = []
    behind = end
    for sentence in window.right:
        found = prose.text.find(sentence, behind)
        behind = found + len(sentence)
        right.append((found, behind))
    if any(first < 0 for first, _ in (*left, *right)):
        raise _moved(window)
    return Places(
        tuple(prose.kept(*stretch) for stretch in left),
        prose.kept(start, end),
        tuple(prose.kept(*stretch) for stretch in right),
    )


def text_at(body: str, at: Places, *, shift: int = 0) -> WindowText:
    """Cut the words of a window out of a text."""
    return WindowText(
        tuple(cut(body, pieces, shift=shift) for pieces in at.left),
        cut(body, at.quotation, shift=shift),
        tuple(cut(body, pieces, shift=shift) for pieces in at.right),
    )


def find_text(body: str, window: ListedWindow, *, near: int = 0, reach: int = REACH) -> tuple[WindowText, int] | None:
    """Cut the words of a listed window out of a body in which they may have moved.

    - `body`: of the source, or of another edition of it.
    - `window`: what is looked for; its hash decides.
    - `near`: by how many characters the window before had moved.
    - `reach`: how much further, at most, this one may have.

    Returns: the words and by how much they have moved; None where they are not there to the letter.
    """
    at = Places(window.left, window.quotation, window.right)
    for shift in _shifts(near, reach):
        text = text_at(body, at, shift=shift)
        if sha256_of(text.left, text.quotation, text.right) == window.sha256:
            return text, shift
    return None


def _shifts(near: int, reach: int) -> Iterator[int]:
    yield near
    for away in range(1, reach + 1):
        yield near + away
        yield near - away


def _quotation(prose: Prose, window: MinedWindow) -> Offsets:
    start = prose.text.find(window.quotation)
    while start >= 0:
        end = start + len(window.quotation)
        if prose.in_source(start, end) == window.at:
            return start, end
        start = prose.text.find(window.quotation, start + 1)
    raise _moved(window)


def _moved(window: MinedWindow) -> NotFound:
    return NotFound(
        f"Window {window.id} is not where it was mined in {window.source_id}. Mine the source again: its text, or the "
        "rules by which it is read, have changed since."
    )
