"""The words of this project as frozen dataclasses: one word, one thing.

Conventions, stated once and tested:

* offsets are half-open and count characters: ``work.text[start:end]``;
* a rank starts at 1 and rank 1 is the best; a higher score is better;
* ties keep the order of the text;
* the candidates of a work for a length ``n`` are all its spans of ``n`` consecutive sentences, so there are
  ``max(0, len(sentences) - n + 1)`` of them, and a candidate is named by the index of its first sentence;
* ``k`` above the number of candidates means all candidates.
"""

from __future__ import annotations

from relic_core.domain.claims import GAP, MASK, Claim, Example
from relic_core.domain.notes import ORIGINS, VERDICTS, Collection, CollectionCount, KeptPassage, Note, Origin, note_id
from relic_core.domain.places import Address, Place
from relic_core.domain.rankings import (
    Group,
    Hit,
    Ranking,
    Scores,
    best_first,
    best_of,
    group_overlapping,
    rank_at,
    rank_scores,
    rank_works,
)
from relic_core.domain.records import Job, JobState
from relic_core.domain.runs import RELEVANT, BenchmarkCard, Book, Offsets, Outcome, Pool, Run
from relic_core.domain.searches import (
    COMPOSING,
    DEFAULT_RETRIEVERS,
    EVERYWHERE,
    MAX_CLAIMS,
    MAX_RESULTS,
    UNITS,
    VOICES,
    Condition,
    Corpus,
    Joined,
    Search,
    SearchRequest,
    SeedPassage,
    Unit,
    Voice,
    WorkFilter,
    in_words,
    joined_claims,
)
from relic_core.domain.sources import (
    ANSWERS,
    Judgement,
    MinedWindow,
    Pair,
    QuotationKind,
    SecondarySource,
    WindowQuestion,
    passage_id,
    window_id,
)
from relic_core.domain.spans import ANY_LENGTH, LENGTHS, MAX_LENGTH, MIN_LENGTH, PASSAGE, Span
from relic_core.domain.windows import MAX_CONTEXT, SHAPES, ContextSize, QuotationContext
from relic_core.domain.works import (
    GIVEN_PASSAGES,
    Chapter,
    CitedWork,
    EditionDetails,
    Format,
    LeftOut,
    Paragraph,
    ParagraphKind,
    Sentence,
    Work,
    WorkSummary,
    WorkVersion,
    fingerprint,
    reading,
)
