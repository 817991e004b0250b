"""Texts: cutting them into sentences."""

from __future__ import annotations

from typing import Protocol


class Segmenter(Protocol):
    """Cuts a stretch of text into sentences."""

    @property
    def identity(self) -> str:
        """Name and version; part of every work and index manifest."""

    def segment(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        """Cut ``text[start:end]``, one paragraph.

        Returns: half-open offsets into `text`, in order, not overlapping, no white space at either end; together they
        hold every visible character of the paragraph.
        """
