"""RELiC's own way to cut: spaCy's dependency parser with ellipses, colons and semicolons as boundaries.

Optional: it needs the model ``en_core_web_sm``, which is no PyPI package, and takes minutes where the rules take
seconds. Where a boundary falls inside a gap (which side a quotation mark goes to) is settled as the rules settle it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from relic_core.errors import BadRequest, TextTooLarge
from relic_core.text.sentences import next_opening, sentences_between

MODEL = "en_core_web_sm"
_PARTING = frozenset({";", ":", "...", "…"})


@Language.component("relic_marks")
def _part_at_marks(doc: Doc) -> Doc:
    for token in doc[:-1]:
        if token.text in _PARTING:
            doc[token.i + 1].is_sent_start = True
    return doc


@dataclass(frozen=True)
class ParserSegmenter:
    """A segmenter by a spaCy pipeline that sets sentence starts."""

    pipeline: Language

    @classmethod
    def load(cls) -> Self:
        """Load the model. Raises BadRequest: it is not installed."""
        try:
            pipeline = spacy.load(MODEL, exclude=["ner", "tagger", "attribute_ruler", "lemmatizer"])
        except OSError as error:
            raise BadRequest(
                f"The segmenter 'parser' needs spaCy's model {MODEL}, which is not installed. Install it with "
                f"'python -m spacy download {MODEL}', or use the segmenter 'rules', which needs no model."
            ) from error
        pipeline.add_pipe("relic_marks", first=True)
        return cls(pipeline)

    @property
    def identity(self) -> str:
        """Name and version, those of the model included."""
        return f"relic-parser/1 {MODEL}/{self.pipeline.meta['version']}"

    def segment(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        """Cut one paragraph. Raises TextTooLarge: it is longer than the parser can hold in memory."""
        if end - start > self.pipeline.max_length:
            raise TextTooLarge(
                f"A paragraph of {end - start:,} characters is too long for the parser, which takes at most "
                f"{self.pipeline.max_length:,}; use the segmenter 'rules' for this text."
            )
        paragraph = text[start:end]
        bounds = [0]
        for sentence in self.pipeline(paragraph).sents:
            bound = _between_words(paragraph, sentence.start_char)
            if bound > bounds[-1]:
                bounds.append(bound)
        return sentences_between(text, [*(start + bound for bound in bounds), end])


def _between_words(paragraph: str, place: int) -> int:
    """Move a boundary to where the next sentence begins in its gap between two words; 0 where it is in no gap."""
    end = place
    while end < len(paragraph) and not paragraph[end].isalnum():
        end += 1
    begin = place
    while begin > 0 and not paragraph[begin - 1].isalnum():
        begin -= 1
    opening = next_opening(paragraph[begin:end])
    return begin + opening if begin and opening and end < len(paragraph) else 0
