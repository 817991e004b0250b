"""Asking the prompts of the RELiC paper: what each retriever puts first (its section on out-of-distribution queries).

The paper asked its model, which took one sentence of left context and none on the right, a few prompts and printed the
first three quotations (Tables 6 and A5). Here every retriever that pages offer is asked the same. Its hits are those of
its ranking, as in every measured figure: quotations of two sentences that overlap are not put together, which pages do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from relic_core.domain import MASK, ContextSize, Span, Work, rank_scores
from relic_core.errors import NoIndex
from relic_core.library import catalogue
from relic_core.library.catalogue import CatalogueEntry
from relic_core.ports import Progress, silent
from relic_core.retrieval import registry
from relic_core.retrieval.registry import RetrieverCard
from relic_core.services.prompts import PROMPTS, Prompt
from relic_core.text.masking import read_claim
from relic_core.wiring import App

FIRST = 3
"""Hits of each retriever that are looked at, as in the paper."""

SHAPE = ContextSize(1, 0)
"""Context of the claims, as in the paper."""

_ID_DIGITS = 12


@dataclass(frozen=True, slots=True)
class PaperPrompt:
    """A prompt as the RELiC paper asked it for its table "6" or "A5"."""

    prompt: Prompt
    table: str
    length: int

    @property
    def asked(self) -> str:
        """What was asked: one sentence, the masked quotation behind it, and nothing on the right (shape 1/0).

        >>> PaperPrompt(Prompt("Emma", "Austen", "Emma mistakes her own heart"), "6", 1).asked
        'Emma mistakes her own heart: [MASK]'
        """
        return f"{self.prompt.claim}{self.prompt.closing} {MASK}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A prompt with what the retrievers put first: `FIRST` hits, or fewer where fewer share a word with it."""

    prompt: PaperPrompt
    slug: str
    work: Work = field(repr=False)
    hits: Mapping[str, tuple[Span, ...]]

    def id_of(self, span: Span) -> str:
        """Name a passage as an answer to this prompt, by digest: nobody can see from it who found it."""
        return passage_id(self.prompt, self.work, span)

    @property
    def passages(self) -> dict[str, Span]:
        """All that was found, each passage once, by id in the order of the text."""
        return {self.id_of(span): span for span in sorted({span for found in self.hits.values() for span in found})}


def paper_prompts() -> tuple[PaperPrompt, ...]:
    """List the prompts of the RELiC paper, once for each table that has them, in the order of the tables.

    >>> [(each.table, each.prompt.title, each.length) for each in paper_prompts()][2:]
    [('6', 'Pride and Prejudice', 2), ('6', 'Brave New World', 1), ('A5', 'Pride and Prejudice', 1)]
    """
    found = [PaperPrompt(prompt, table, length) for prompt in PROMPTS for table, length in prompt.tables]
    return tuple(sorted(found, key=lambda each: each.table))


def passage_id(prompt: PaperPrompt, work: Work, span: Span) -> str:
    """Digest the prompt, the text of the work and the place: "p", lest it be taken for a number, and 12 hex digits."""
    start, end = characters(work, span)
    text = f"{prompt.asked}\n{span.length} {work.sha256} {start} {end}"
    return f"p{hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]}"


def characters(work: Work, span: Span) -> tuple[int, int]:
    """Give the character offsets of a span in the text of its work."""
    return work.sentences[span.start].start, work.sentences[span.end - 1].end


def entry_of(prompt: PaperPrompt) -> CatalogueEntry:
    """Find the work of a prompt in the catalogue of RELiC's works.

    >>> [entry_of(prompt).slug for prompt in paper_prompts()][:2]
    ['frankenstein', 'the_great_gatsby']
    """
    entry = catalogue.find_named(prompt.prompt.title, prompt.prompt.author)
    if entry is None:
        raise LookupError(f"the catalogue has no {prompt.prompt.title}, of which RELiC has a prompt")
    return entry


def asked_here() -> tuple[PaperPrompt, ...]:
    """List the prompts whose works anybody may have."""
    return tuple(prompt for prompt in paper_prompts() if entry_of(prompt).free_in_us is None)


def left_out() -> tuple[tuple[PaperPrompt, str], ...]:
    """List the prompts that are not asked, each with the reason in a few words.

    >>> [(prompt.prompt.title, why) for prompt, why in left_out()]
    [('Brave New World', 'in copyright in the United States until 31 December 2027')]
    """
    entries = [(prompt, entry_of(prompt)) for prompt in paper_prompts()]
    return tuple(
        (prompt, f"in copyright in the United States until {entry.last_day}")
        for prompt, entry in entries
        if entry.free_in_us is not None
    )


def ask(app: App, names: Sequence[str] = (), progress: Progress = silent) -> tuple[Answered, ...]:
    """Ask every retriever that pages offer for a whole library, too (or those of `names`), the prompts of the paper.

    Raises NotFound, NoIndex: a work is not in the library, or not prepared; the message says which and how to.
    """
    offered = [card.name for card in app.retrievers.cards() if card.library]
    cards = [registry.card(name) for name in dict.fromkeys(names or offered)]
    prompts = asked_here()
    works = app.benchmarks.find([entry_of(prompt).slug for prompt in prompts])
    _check_prepared(app, works.values(), cards)
    found: list[Answered] = []
    total = len(prompts) * len(cards)
    for prompt in prompts:
        slug = entry_of(prompt).slug
        hits: dict[str, tuple[Span, ...]] = {}
        for card in cards:
            progress(len(found) * len(cards) + len(hits), total, f"{card.label}: {prompt.prompt.title}")
            hits[card.name] = _first(app, card, prompt, works[slug])
        found.append(Answered(prompt=prompt, slug=slug, work=works[slug], hits=hits))
    progress(total, total)
    return tuple(found)


def _first(app: App, card: RetrieverCard, prompt: PaperPrompt, work: Work) -> tuple[Span, ...]:
    claim = read_claim(prompt.asked, max_words=app.settings.max_claim_words)
    scores = app.retrievers.get(card.name).score(claim, work, prompt.length)
    hits = rank_scores(card.name, work.id, prompt.length, scores).hits(FIRST)
    if card.kind == "lexical":  # a score of 0 means no shared word: such a passage is no answer, here as on pages
        hits = tuple(hit for hit in hits if hit.score > 0)
    return tuple(hit.span for hit in hits)


def _check_prepared(app: App, works: Iterable[Work], cards: Sequence[RetrieverCard]) -> None:
    needed = [card.name for card in registry.in_order(card.name for card in cards)]
    commands, lacking = [], []
    for work in works:
        missing = [name for name in app.indexes.missing(work.id, needed) if name in needed]
        if missing:
            lacking.append(f"{work.title} ({', '.join(registry.card(name).label for name in missing)})")
            named = " ".join(f"--retriever {name}" for name in missing)
            commands.append(f"  python -m relic_core index {work.id} {named}")
    if commands:
        lines = "\n".join(commands)
        raise NoIndex(f"Not prepared yet: {', '.join(lacking)}. Prepare, some minutes each, and ask again:\n{lines}")
