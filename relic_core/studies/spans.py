"""Spans: how far readers agree on how much of a passage is an allusion, and what their spans are worth as queries.

The formulas are in docs/proxy_task.md, "How much is the allusion?". Spans are half-open, in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, product, starmap
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from relic_core.domain.figures import Table
from relic_core.domain.spans import Span
from relic_core.domain.studies import MOST_WORDS, Item, ItemResult, Measure, Option, span_choice, span_of
from relic_core.echoes import scoring
from relic_core.echoes.measuring import Known, KnownEchoes, ranks, table
from relic_core.echoes.scoring import Passages
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.evaluation.benchmarks.passages import work_of
from relic_core.evaluation.intervals import Interval, draws, ends, over_of, units
from relic_core.evaluation.metrics import Values
from relic_core.formats.files import Strict, as_object, checked, parse
from relic_core.ports import silent
from relic_core.studies import raters
from relic_core.text.forms import text_lemmas
from relic_core.text.words import tokens

Marked = tuple[int, int]

WINDOWS = (3, 10)
"""Words on either side of the anchor that the paper compares manual spans with (its Table 4)."""
_TOO_FEW = "No passage has been marked by two readers yet."
_EQUAL = "It cannot be computed: all spans are equal, or one passage alone was marked."
_MEANINGS = {
    "overlap": (
        "Overlap",
        """How much of the words that either of two readers marked was marked by both, on average. By chance: the same
        for spans of different passages, laid on one another at their anchors.""",
    ),
    "expected": (
        "Expected overlap",
        "What the paper takes for chance: the words that pairs share, of all they marked.",
    ),
    "kappa": (
        "Kappa of spans",
        "How far the overlap goes beyond what is expected: 1 is perfect agreement, 0 no more. The paper's figure.",
    ),
    "kappa by permutation": (
        "Kappa against other passages",
        "The same beyond the overlap of spans of different passages: any two spans share their anchor.",
    ),
    "perfect agree": ("Same span", "The share of pairs of readers who marked exactly the same words."),
}


def shared(s: Marked, t: Marked) -> int:
    """Count the words that two spans share."""
    return max(0, min(s[1], t[1]) - max(s[0], t[0]))


def overlap(s: Marked, t: Marked) -> float:
    """Compute O: 1 for equal spans, 0 for those that share no word.

    >>> round(overlap((3, 8), (4, 9)), 3), overlap((0, 2), (0, 2))
    (0.667, 1.0)
    """
    both = shared(s, t)
    return both / (s[1] - s[0] + t[1] - t[0] - both)


def consensus(spans: Sequence[Marked]) -> Marked:
    """Give the span that overlaps all marked ones most; of equals the shortest, then the first.

    >>> consensus([(3, 8), (4, 9), (4, 8)])
    (4, 8)
    """
    starts, ends_ = map(set, zip(*spans, strict=True))
    made = [(start, end) for start, end in product(starts, ends_) if start < end]
    return min(made, key=lambda each: (-sum(overlap(each, span) for span in spans), each[1] - each[0], each))


def majority(choices: Sequence[int]) -> int:
    """Give the consensus of what was chosen, as a choice; 0 where fewer than two decided."""
    if len(choices) < 2:  # noqa: PLR2004 - one reader agrees with nobody
        return 0
    start, end = consensus([span_of(choice) for choice in choices])
    return span_choice(start + 1, end)


def agreement(items: Sequence[Sequence[Marked]], weights: Values | None = None) -> dict[str, Values]:
    """Measure agreement on the spans of items, or of samples of the items that two readers have marked.

    - `weights`: shape (samples, n_items marked twice): how often each was drawn; once each where not given.

    Returns: "overlap" (O_o), "expected" (O_e), "kappa" and "perfect agree", shape (samples,), NaN where there is none.

    Raises BadRequest: a span without words, or no item that two readers have marked.
    """
    if any(end <= start for start, end in chain.from_iterable(items)):
        raise BadRequest("A span holds at least one word: its end stands behind its beginning.")
    pairs = [pairs for spans in items if (pairs := list(combinations(spans, 2)))]
    if not pairs:
        raise BadRequest("Agreement on spans needs an item that two readers have marked.")
    rows = []
    for some in pairs:
        both = sum(starmap(shared, some))
        unshared = sum(s[1] - s[0] + t[1] - t[0] for s, t in some) - 2 * both
        rows.append((len(some), sum(starmap(overlap, some)), sum(s == t for s, t in some), both, unshared))
    sums = np.array(rows, dtype=np.float64)
    count, over, same, agreed, apart = (sums.sum(axis=0)[np.newaxis] if weights is None else weights @ sums).T
    observed, expected = over / count, agreed / (agreed + apart)
    return {
        "overlap": observed,
        "expected": expected,
        "kappa": raters.beyond(observed, expected),
        "perfect agree": same / count,
    }


def by_permutation(items: Sequence[Sequence[Marked]], weights: Values | None = None) -> Values:
    """Give the mean overlap of spans of different items, of one table or of samples of its items.

    - `items`: their spans, in words from their anchors.
    - `weights`: shape (samples, n_items): how often each was drawn; an item drawn twice is no other item.

    Returns: shape (samples,), NaN where one item alone was marked, or drawn.
    """
    starts, ends_ = np.array(list(chain.from_iterable(items)), dtype=np.int64).reshape(-1, 2).T
    both = np.clip(np.minimum.outer(ends_, ends_) - np.maximum.outer(starts, starts), 0, None)
    lengths = ends_ - starts
    of = np.repeat(np.eye(len(items)), [len(spans) for spans in items], axis=1)
    apart = 1 - np.eye(len(items))
    sums = apart * (of @ (both / (np.add.outer(lengths, lengths) - both)) @ of.T)
    counts = apart * np.outer(of.sum(axis=1), of.sum(axis=1))
    drawn = np.ones((1, len(items))) if weights is None else weights
    total, count = (((drawn @ each) * drawn).sum(axis=1) for each in (sums, counts))
    mean: Values = np.divide(total, count, out=np.full(len(drawn), np.nan), where=count > 0)
    return mean


def measures(items: Sequence[ItemResult]) -> tuple[tuple[Measure, ...], dict[str, Interval]]:
    """Measure how far readers agree, with 95% intervals by bootstrap: over books where there are several."""
    twice = [each for each in items if len(each.choices) > 1]
    marked = [list(map(span_of, each.choices)) for each in twice]
    books = [each.item.book for each in twice]
    anchored = [
        [(start - each.item.anchor, end - each.item.anchor) for start, end in spans]
        for each, spans in zip(twice, marked, strict=True)
    ]

    def measured(weights: Values | None = None) -> dict[str, Values]:
        found, chance = agreement(marked, weights), by_permutation(anchored, weights)
        return found | {"kappa by permutation": raters.beyond(found["overlap"], chance), "chance": chance}

    values = measured() if twice else {}
    samples: dict[str, Values] = {}
    if len(books) > 1:
        members = units(books, over=over_of(books))
        drawn = [measured(times[:, members]) for times in draws(members, samples=2000, seed=0)]
        samples = {key: np.concatenate([each[key] for each in drawn]) for key in values}
    made, around = [], {}
    for key, (label, meaning) in _MEANINGS.items():
        known = values.get(key, np.array([np.nan]))
        value = float(known[0]) if np.isfinite(known[0]) else None
        why = "" if value is not None else f" {_EQUAL if books else _TOO_FEW}"
        chance = float(values["chance"][0]) if key == "overlap" and values else np.nan
        of = chance if np.isfinite(chance) else None
        made.append(Measure(key=key, label=label, value=value, meaning=" ".join(meaning.split()) + why, chance=of))
        drawn_here = samples.get(key, np.array([]))
        finite = drawn_here[np.isfinite(drawn_here)]
        if value is not None and len(finite):
            low, high = ends(finite)
            around[key] = Interval(value=value, low=low, high=high)
    return tuple(made), around


# ---- items -----------------------------------------------------------------------------------------------------------


class SpanPair(NamedTuple):
    """A passage and what it is said to allude to.

    - `anchor`: words of the passage from which the allusion is known; empty where nobody named any.
    - `book`: what the passage is of, a key; `source`: where it stands, in words.
    """

    id: str
    passage: str
    anchor: str
    targets: tuple[str, ...]
    book: str
    source: str
    kind: str = ""


class _Line(Strict):
    passage: str = Field(min_length=1)
    anchor: str = Field(min_length=1)
    target: str | list[str] = Field(default_factory=list)
    id: str = ""
    work: str = ""
    source: str = ""


def read_pairs(text: str, name: str) -> list[SpanPair]:
    """Read pairs: JSON lines with "passage" and "anchor", or the pairs that Echoes saves as JSON.

    A line may also have "id", "target" (words, or a list of such), "work" and "source".
    """
    if text.lstrip().startswith("["):
        rows: Any = parse(text, name)
        return [
            _saved_pair(as_object(row, where), where) for at, row in enumerate(rows, 1) if (where := f"{name}, {at}")
        ]
    found = []
    for at, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            pair = checked(_Line, parse(line, where := f"{name}, line {at}"), where)
            targets = [pair.target] if isinstance(pair.target, str) else pair.target
            flat = tuple(" ".join(each.split()) for each in targets)
            found.append(SpanPair(pair.id or str(at), pair.passage, pair.anchor, flat, pair.work or name, pair.source))
    return found


def _saved_pair(row: Mapping[str, Any], where: str) -> SpanPair:
    names = ("a_passage", "b_passage", "a_work", "a_place", "b_work", "b_place", "number")
    lacking = [name for name in names if name not in row]
    if lacking:
        raise BadBenchmark(f"{where} has no {', '.join(lacking)}: it is not a file that Echoes has saved as JSON.")
    source = f"{row['a_work']}, {row['a_place']}; beside it {row['b_work']}, {row['b_place']}"
    target = " ".join(str(row["b_passage"]).split())  # `Item.right` has one on each line
    return SpanPair(str(row["number"]), str(row["a_passage"]), "", (target,), str(row["a_work"]), source)


def known_pairs(known: KnownEchoes) -> list[SpanPair]:
    """Give the places of the Gospels and Acts with the verses that they quote or allude to; none has an anchor."""
    return [
        SpanPair(
            id=f"{at:03}",
            passage=" ".join(map(known.a.sentence_text, each.units)),
            anchor="",
            targets=tuple(map(known.b.sentence_text, each.golds)),
            book=each.book,
            source=known.a.place(Span(each.units[0], 1)).label.replace(" · paragraph ", ":"),
            kind=each.kind,
        )
        for at, each in enumerate(known.echoes, start=1)
    ]


def make_items(pairs: Sequence[SpanPair]) -> list[Item]:
    """Make items of pairs. Where no anchor is named it is the word that both sides share and the fewest passages have.

    Left out are pairs that share no word and have no anchor, and passages of too many words.

    Raises BadBenchmark: an anchor is not in its passage.
    """
    pairs = [pair for pair in pairs if len(pair.passage.split()) < MOST_WORDS]
    lemmas = [list(map(text_lemmas, pair.passage.split())) for pair in pairs]
    counts = Counter(chain.from_iterable(frozenset().union(*words) for words in lemmas))
    found = []
    for pair, words in zip(pairs, lemmas, strict=True):
        anchor = _named(pair) if pair.anchor else _rarest(words, text_lemmas(" ".join(pair.targets)), counts)
        passage = " ".join(pair.passage.split())
        if anchor:
            option = Option(span=Span(0, 1), at=(0, len(passage)), address="", words=passage)
            found.append(
                Item(
                    id=pair.id, book=pair.book, work_id="", left="", right="\n".join(pair.targets), options=(option,),
                    right_option=0, chooser="", gold_rank=0, kind=pair.kind, source=pair.source, anchor=anchor,
                )
            )  # fmt: skip
    return found


def _rarest(words: Sequence[frozenset[str]], wanted: frozenset[str], counts: Mapping[str, int]) -> int:
    shared_with = ((own & wanted, at) for at, own in enumerate(words, 1))
    places = [(min(map(counts.__getitem__, both)), at) for both, at in shared_with if both]
    return min(places)[1] if places else 0


def _named(pair: SpanPair) -> int:
    words, anchor = pair.passage.split(), tokens(pair.anchor)
    for at, word in enumerate(words):
        if tokens(word) and anchor and tokens(" ".join(words[at:]))[: len(anchor)] == anchor:
            return at + 1
    raise BadBenchmark(
        f"Pair '{pair.id}': the anchor '{pair.anchor:.60}' is not in its passage. Write it as the passage does."
    )


# ---- spans as queries ------------------------------------------------------------------------------------------------


def queries(result: ItemResult) -> dict[str, str]:
    """Give what is searched with: the readers' consensus, words on either side of the anchor, the anchor's sentence."""
    item, words = result.item, result.item.words
    at = item.anchor - 1
    start, end = span_of(result.majority)
    ends_ = [number for number, word in enumerate(words, start=1) if word.rstrip("\"'”’)").endswith((".", "!", "?"))]
    before, after = [0, *(each for each in ends_ if each <= at)], [*(each for each in ends_ if each > at), len(words)]
    return {
        "marked by readers": " ".join(words[start:end]),
        **{f"{n} words on either side": " ".join(words[max(0, at - n) : at + n + 1]) for n in WINDOWS},
        "the sentence": " ".join(words[before[-1] : after[0]]),
    }


def retrieval(items: Sequence[ItemResult], candidates: Sequence[str], method: str) -> Table:
    """Compare spans with windows as queries: how often a method finds a passage alluded to (the paper's Table 4).

    - `candidates`: passages to choose from, besides those that items are said to allude to.

    Raises BadRequest: no passage has a consensus, or the method goes by more than words.
    """
    if scoring.card(method).vectors:
        names = ", ".join(card.name for card in scoring.METHODS if not card.vectors)
        raise BadRequest(f"{method} goes by meaning. Spans are compared by a method that goes by words: {names}.")
    used = [each for each in items if each.majority and each.item.right]
    if not used:
        raise BadRequest("No passage whose allusion is given has been marked by two readers yet.")
    targets = [each.item.right.split("\n") for each in used]
    every = {text: at for at, text in enumerate(dict.fromkeys([*chain.from_iterable(targets), *candidates]))}
    golds = [tuple(map(every.__getitem__, some)) for some in targets]
    passages = work_of("Passages", {str(at): text for text, at in every.items()}, "")
    known = tuple(
        Known(kind=each.item.kind or "allusion", book=each.item.book, units=(at,), golds=own)
        for at, (each, own) in enumerate(zip(used, golds, strict=True))
    )
    made, texts_of = [], [queries(each) for each in used]
    for label in texts_of[0]:
        texts = tuple(each[label] for each in texts_of)
        scorer = scoring.make(method, Passages(texts), Passages(tuple(every)))
        named = f"{label} ({np.mean([len(text.split()) for text in texts]):.1f} words)"
        made.append(table(named, KnownEchoes(known, passages, passages), ranks(scorer, known, silent)))
    return replace(
        made[0],
        caption=f"What spans are worth as queries, by {scoring.card(method).label}: {made[0].caption}",
        heads=("query", *made[0].heads[1:]),
        rows=tuple(chain.from_iterable(zip(*(each.rows for each in made), strict=True))),
    )
