"""The texts that encoders read: sentences and spans of a work, their hard line wraps undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relic_core.domain import Sentence, Span, Work


def flat(work: Work, sentence: Sentence) -> str:
    """Undo the hard line wraps of a sentence."""
    return " ".join(work.text[sentence.start : sentence.end].split())


def flat_span(work: Work, span: Span) -> str:
    """Join the sentences of a span; what stands between them and is not the author's text is left out."""
    return " ".join(flat(work, sentence) for sentence in work.sentences[span.start : span.end])
