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

from relic_core.domain.claims import MASK, Claim, Example
from relic_core.domain.edition_details import CitedWork, EditionDetails
from relic_core.domain.imprints import Format, Imprint, WorkSummary, fingerprint
from relic_core.domain.library_rankings import LibraryRanking, WorkHit
from relic_core.domain.notes import ORIGINS, VERDICTS, Collection, CollectionCount, Kept, Note, Origin, Verdict, note_id
from relic_core.domain.places import Address, Place
from relic_core.domain.rankings import Group, Hit, Ranking, Scores, group_overlapping, rank_scores
from relic_core.domain.records import Job, JobState, Search
from relic_core.domain.runs import BenchmarkCard, Book, Offsets, Outcome, Pool, Run
from relic_core.domain.scopes import EVERYWHERE, Likeness, Narrowing
from relic_core.domain.sources import (
    ANSWERS,
    Judgement,
    MinedWindow,
    Pair,
    Question,
    QuotationKind,
    SecondarySource,
    passage_id,
    window_id,
)
from relic_core.domain.spans import LENGTHS, MAX_LENGTH, MIN_LENGTH, Span
from relic_core.domain.trainings import Training, TrainingEvent, TrainingState
from relic_core.domain.windows import MAX_CONTEXT, SHAPES, Shape, Window
from relic_core.domain.works import Chapter, LeftOut, Paragraph, ParagraphKind, Sentence, Work

__all__ = [
    "ANSWERS",
    "EVERYWHERE",
    "LENGTHS",
    "MASK",
    "MAX_CONTEXT",
    "MAX_LENGTH",
    "MIN_LENGTH",
    "ORIGINS",
    "SHAPES",
    "VERDICTS",
    "Address",
    "BenchmarkCard",
    "Book",
    "Chapter",
    "CitedWork",
    "Claim",
    "Collection",
    "CollectionCount",
    "EditionDetails",
    "Example",
    "Format",
    "Group",
    "Hit",
    "Imprint",
    "Job",
    "JobState",
    "Judgement",
    "Kept",
    "LeftOut",
    "LibraryRanking",
    "Likeness",
    "MinedWindow",
    "Narrowing",
    "Note",
    "Offsets",
    "Origin",
    "Outcome",
    "Pair",
    "Paragraph",
    "ParagraphKind",
    "Place",
    "Pool",
    "Question",
    "QuotationKind",
    "Ranking",
    "Run",
    "Scores",
    "Search",
    "SecondarySource",
    "Sentence",
    "Shape",
    "Span",
    "Training",
    "TrainingEvent",
    "TrainingState",
    "Verdict",
    "Window",
    "Work",
    "WorkHit",
    "WorkSummary",
    "fingerprint",
    "group_overlapping",
    "note_id",
    "passage_id",
    "rank_scores",
    "window_id",
]
