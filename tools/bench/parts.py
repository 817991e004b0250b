"""What the bench measures: each part against a named baseline of the same run."""

from __future__ import annotations

import contextlib
import http.client
import json
import multiprocessing
import os
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from relic_core.config import PROJECT
from relic_core.config.machine import machine
from relic_core.domain import LENGTHS, MAX_CONTEXT, Claim, Corpus, SearchRequest, Span, rank_scores
from relic_core.encoders.batching import TOKENS
from relic_core.encoders.cards import read_card
from relic_core.encoders.generator import without_progress_bars
from relic_core.encoders.towers import flat_span
from relic_core.encoders.weights import TOKENIZER, find_model
from relic_core.errors import BadRequest, RelicError
from relic_core.mining.matches import find_matches
from relic_core.mining.prose import read_prose
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.ports import silent
from relic_core.retrieval.dense import Dense, blocks, trained_model
from relic_core.wiring import build
from tools.bench.bench import (
    DENSE,
    LONGEST,
    MIDDLING,
    Figure,
    Measured,
    Target,
    as_fast,
    head,
    median_and_tail,
    named,
    not_measured,
    number,
    timed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection

    import numpy.typing as npt

    from relic_core.config import Settings
    from relic_core.domain import Offsets, Ranking, Scores, Work
    from relic_core.encoders.cards import EncoderCard
    from relic_core.encoders.late_chunking import LateChunkingEncoder
    from relic_core.encoders.precision import Precision
    from relic_core.ports import CorpusRetriever, Retriever
    from tools.bench.bench import Bench


TOP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far two retrievers agree, each figure the mean over the claims.

    - `overlap_at_10`: share of the first ten of one that are among the first ten of the other, 0 to 1; of all
      candidates where there are fewer.
    - `correlation`: spearman's rank correlation over all candidates, -1 to 1; 1 where there is one candidate.
    - `claims`: how many were asked.
    """

    overlap_at_10: float
    correlation: float
    claims: int


def agreement(a: Retriever, b: Retriever, work: Work, claims: Sequence[Claim], length: int) -> Agreement:
    """Compare the rankings of two retrievers that have both prepared a work.

    - `a`, `b`: in either order: the figures are the same.
    - `work`: whose spans are ranked.
    - `claims`: what is asked; at least one.

    Raises BadRequest: there is no claim, or no span of this length.
    Raises NoIndex: one of the retrievers has not prepared the work.
    Raises BadClaim: a claim holds nothing to search with.
    """
    candidates = work.candidates(length)
    if not claims or candidates == 0:
        raise BadRequest(
            f"Rankings of {candidates:,} spans of {length} sentences of {work.title} for {len(claims):,} claims cannot "
            "be compared: it takes a span and a claim at least. Choose a shorter length, or name claims."
        )
    overlaps, correlations = [], []
    for claim in claims:
        first, second = (rank_scores(each.name, work.id, length, each.score(claim, work, length)) for each in (a, b))
        top = min(TOP, candidates)
        overlaps.append(len(np.intersect1d(first.order[:top], second.order[:top])) / top)
        correlations.append(spearman(first, second))
    return Agreement(
        overlap_at_10=float(np.mean(overlaps)), correlation=float(np.mean(correlations)), claims=len(claims)
    )


def spearman(a: Ranking, b: Ranking) -> float:
    """Correlate the ranks of two rankings of the same spans (Spearman 1904); no two ranks of a ranking are equal.

    >>> def ranked(*scores):
    ...     return rank_scores("demo", "work", 1, np.array(scores, dtype=np.float32))
    >>> spearman(ranked(3, 2, 1), ranked(9, 5, 1)), spearman(ranked(3, 2, 1), ranked(1, 2, 3))
    (1.0, -1.0)
    """
    n = len(a)
    if n < 2:  # noqa: PLR2004 - one candidate has one place
        return 1.0
    apart = (a.ranks - b.ranks).astype(np.float64)
    return float(1 - 6 * np.sum(apart**2) / (n * (n * n - 1.0)))


BATCH = 32
"""Texts in a batch: what `SentenceTransformer.encode` takes where nothing is said."""

_POOLING = {"mean": "mean", "first": "cls", "pooler": "cls"}
"""What sentence-transformers calls the ways of pooling; the pooler's own layer, which costs little, is left out."""


class SentenceTransformersBaseline:
    """`SentenceTransformer.encode` with the files of an encoder card's model, in float32: each passage by itself.

    - `card`: which model; its passages' tower is taken.
    - `device`: where it computes, as torch names it.

    Raises BadWeights: the model's files are missing or not the expected ones.
    """

    def __init__(self, card: EncoderCard, *, device: str = "cpu") -> None:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

        from relic_core.encoders.weights import named_as, state_of

        files = find_model(card.passage_model)
        folder = files.folder
        with without_progress_bars():
            reader = Transformer(
                str(folder),
                max_seq_length=card.window + 2,
                model_kwargs={"dtype": "float32", "local_files_only": True, "trust_remote_code": False},
                processor_kwargs={"local_files_only": True, "tokenizer_file": str(folder / TOKENIZER)},
                config_kwargs={"local_files_only": True, "trust_remote_code": False},
            )
        if files.layers is not None:
            reader.model.load_state_dict(named_as(state_of(files), reader.model.state_dict()), strict=False)
        modules: list[Any] = [reader, Pooling(reader.get_embedding_dimension(), pooling_mode=_POOLING[card.pooling])]
        if card.similarity == "cosine":
            modules.append(Normalize())
        self._model = SentenceTransformer(modules=modules, device=device, local_files_only=True)
        self._prefix = card.passage_prefix

    def encode(self, work: Work, spans: Sequence[Span]) -> tuple[float, npt.NDArray[np.float32]]:
        """Encode spans of a work in batches of `BATCH`, which the library itself sorts by length.

        What it returns:
        - `seconds`: that encoding took, the joining of the texts left out.
        - `vectors`: each of length 1 where the card compares by cosine.
        """
        texts = [f"{self._prefix}{flat_span(work, span)}" for span in spans]
        began = time.perf_counter()
        vectors: npt.NDArray[np.float32] = self._model.encode(texts, batch_size=BATCH, show_progress_bar=False)
        return time.perf_counter() - began, vectors


def plain_forward(encoder: LateChunkingEncoder, batches: int) -> tuple[int, float]:
    """Run an encoder's own model over full batches and do nothing else: the most that it can read in a time.

    The rows are as long as the encoder's longest stretch, none is padded, and a batch has as many as when a work is
    read. The ids are random words, of which the time does not depend.

    - `encoder`: its model object and number format are used.
    - `batches`: how many, after one that is not counted.

    What it returns:
    - `tokens`: that went through, special tokens included.
    - `seconds`: what they took.
    """
    import torch

    tower = encoder._pair.passages  # noqa: SLF001 - the very model that reads works is wanted
    model = tower._loaded  # noqa: SLF001
    special = len(tower.opening) + len(tower.closing)
    length = encoder._stretch + special  # noqa: SLF001
    shape = (max(1, TOKENS[model.device.type] // length), length)
    made = torch.Generator().manual_seed(0)
    ids = torch.randint(0, tower.tokenizer.get_vocab_size(), shape, generator=made).to(model.device)
    mask = torch.ones_like(ids)
    began = 0.0
    with torch.inference_mode():
        for batch in range(batches + 1):
            if batch == 1:
                _wait_for(model)
                began = time.perf_counter()
            model(input_ids=ids, attention_mask=mask)
        _wait_for(model)
    return batches * ids.numel(), time.perf_counter() - began


def threads() -> int:
    """Count the threads that torch computes with on the processor."""
    import torch

    return torch.get_num_threads()


def _wait_for(model: Any) -> None:  # noqa: ANN401 - transformers is not typed
    """Wait until a GPU has done what it was given; a processor has."""
    import torch

    if model.device.type == "cuda":
        torch.cuda.synchronize()


PART_WORDS = "bm25"
BASELINE_WORDS = "rank_bm25"

_TOP = 10
_TIMES_AS_FAST_WORDS = 300
_SEED_WORDS = 4


def measure_words(bench: Bench) -> Measured:
    """Take the times of queries for every length, ours and theirs in turn, and compare the first ten.

    Each claim is asked once of each for a length, so that nobody can answer from memory.
    """
    work = bench.work(LONGEST)
    count = bench.effort.reference_claims
    kinds = {"a real claim": bench.claims[:count], "a page of the work": pages(work, count)}
    times: dict[str, list[Figure]] = {kind: [] for kind in kinds}
    tables: list[float] = []
    theirs: list[float] = []
    same = asked = 0
    with bench.apart() as make:
        ours, reference = make("bm25"), make("bm25-reference")
        for length in LENGTHS:
            bench.say(f"BM25, passages of {length}")
            warm = bench.claims[-1]
            tables.append(timed(ours.score, warm, work, length)[0])
            theirs.append(timed(reference.score, warm, work, length)[0])
            for kind, claims in kinds.items():
                quick: list[float] = []
                slow: list[float] = []
                for claim in claims:
                    seconds, wanted = timed(reference.score, claim, work, length)
                    slow.append(seconds)
                    seconds, found = timed(ours.score, claim, work, length)
                    quick.append(seconds)
                    same += top(found) == top(wanted)
                    asked += 1
                target = Target(of="ratio", bound="at least", limit=_TIMES_AS_FAST_WORDS)
                what = f"{kind}, passages of {length}"
                times[kind].append(as_fast(what, quick, BASELINE_WORDS, slow, unit="ms", target=target))
    agree = Figure(
        what="queries with the same first ten",
        value=100 * same / asked,
        unit="%",
        baseline=BASELINE_WORDS,
        target=Target(of="value", bound="at least", limit=100),
        repetitions=asked,
    )
    built = as_fast("making the tables of all lengths", [sum(tables)], BASELINE_WORDS, [sum(theirs)], unit="s")
    return Measured(
        part=PART_WORDS,
        on=named(work),
        figures=(*(figure for each in times.values() for figure in each), agree, built),
        details={
            "same_first_ten": same,
            "queries_compared": asked,
            "words_of_claims": {
                kind: float(np.median([len(claim.words.split()) for claim in claims])) for kind, claims in kinds.items()
            },
        },
    )


def pages(work: Work, count: int) -> tuple[Claim, ...]:
    """Take pages of a work for claims: sentences on either side of one that is left out, as many as 4/4 claims have.

    Of a work that is shorter than a page, fewer sentences.

    - `count`: how many; the same ones every time.
    """
    drawn = random.Random(_SEED_WORDS)  # noqa: S311 - no secret
    made = []
    for _ in range(count):
        gap = drawn.randrange(len(work.sentences))
        first, last = max(0, gap - MAX_CONTEXT), min(len(work.sentences), gap + 1 + MAX_CONTEXT)
        before, after = (
            flat_span(work, Span(start, stop - start)) if stop > start else ""
            for start, stop in ((first, gap), (gap + 1, last))
        )
        made.append(Claim(left=before, right=after, masked=True))
    return tuple(made)


def top(scores: Scores) -> list[int]:
    """Give the first ten, ties in the order of the text.

    Scores are rounded to what float32 carries, so that spans that both sides hold equal tie on both.
    """
    best: list[int] = rank_scores("", "", 0, np.round(scores, 4)).order[:_TOP].tolist()
    return best


PART_BUILDING = "building"
BASELINE_BUILDING = "sentence-transformers, every span"

_TIMES_AS_FAST_BUILDING = {True: 12.0, False: 6.0}
"""Where the processor multiplies bfloat16 in tiles (AMX), and where not."""
_SEED_BUILDING = 5
_WARM_UP = 4
"""Sentences that are read before anything is timed: models are loaded by the first."""


def measure_building(bench: Bench) -> Measured:
    """Build the index some times, and between the builds have the baseline encode spans of one length after another."""
    from relic_core.encoders.precision import best_arithmetic

    work = bench.work(MIDDLING)
    card = read_card(trained_model(bench.app.settings))
    bench.say("loading the models")
    baseline = SentenceTransformersBaseline(card, device=best_arithmetic().device)
    baseline.encode(work, [Span(0, 1)])
    built: list[float] = []
    lengths = {}
    every = -(-len(LENGTHS) // bench.effort.builds)
    for turn, length in enumerate(LENGTHS):
        if turn % every == 0:
            bench.say("building the index")
            built.append(seconds_of_a_build(bench, work))
        spans = work.candidates(length)
        drawn = _draw(spans, spans if bench.full else bench.effort.spans, length)
        bench.say(f"sentence-transformers, passages of {length}")
        seconds, _ = baseline.encode(work, drawn) if drawn else (0.0, None)
        lengths[length] = {
            "spans": spans,
            "encoded": len(drawn),
            "seconds": seconds,
            "seconds_for_all": seconds * spans / max(1, len(drawn)),
        }
    ours = sorted(built)[len(built) // 2]
    theirs = sum(each["seconds_for_all"] for each in lengths.values())
    sampled = sum(int(each["encoded"]) for each in lengths.values())
    total = sum(int(each["spans"]) for each in lengths.values())
    words = len(work.text.split())
    note = "The baseline encoded every span."
    if sampled < total:
        spent = number(sum(each["seconds"] for each in lengths.values()))
        note = (
            f"The baseline encoded {sampled:,} of the {total:,} spans, drawn at random, in {spent} s; its time for all "
            "of them is reckoned from that, length by length."
        )
    return Measured(
        part=PART_BUILDING,
        on=named(work),
        figures=(
            Figure(
                what="building the index for all lengths",
                value=ours,
                unit="s",
                baseline=BASELINE_BUILDING,
                baseline_value=theirs,
                ratio=theirs / ours,
                target=Target(of="ratio", bound="at least", limit=_TIMES_AS_FAST_BUILDING[bool(machine()["amx"])]),
                repetitions=len(built),
            ),
            Figure(what="words indexed", value=words / ours, unit="words/s", repetitions=len(built)),
        ),
        notes=(note,),
        details={"builds_s": built, "baseline_sampled_spans": sampled, "spans": total, "lengths": lengths},
    )


def seconds_of_a_build(bench: Bench, work: Work) -> float:
    """Build a work's index from nothing with the model loaded; in seconds."""
    with bench.apart() as make:
        retriever = make(DENSE)
        retriever.prepare(head(work, _WARM_UP), silent)
        return timed(retriever.prepare, work, silent)[0]


def _draw(spans: int, count: int, length: int) -> list[Span]:
    """Draw spans of a length, the same every time; all of them where there are no more."""
    starts = range(spans)
    if count < spans:
        starts = sorted(random.Random(_SEED_BUILDING).sample(starts, count))  # type: ignore[assignment]  # noqa: S311 - no secret
    return [Span(start, length) for start in starts]


PART_DOUBLING = "doubling"
BASELINE_DOUBLING = "linear"

_PARTS = (16, 8, 4, 2, 1)
_LINEAR = 1.15
"""An exponent up to this is taken for linear: the parts differ in their prose as well as in their length."""
_QUERIES = 15


def measure_doubling(bench: Bench) -> Measured:
    """Measure index, tables and queries of ever longer beginnings of the longest work."""
    work = bench.work(LONGEST)
    whole, bounded = _series(work, len(work.sentences)), _series(work, bench.effort.sentences)
    if len(bounded) < len(_PARTS):
        return not_measured(
            PART_DOUBLING, f"{work.title} is too short to be cut into a series of lengths.", on=named(work)
        )
    made: list[tuple[str, str, list[tuple[Work, float]]]] = []
    series: tuple[tuple[str, str, list[Work], Callable[[Bench, Work], float]], ...] = (
        ("building the index", "s", bounded, seconds_of_a_build),
        ("tables of BM25 for all lengths", "s", whole, _tables),
        ("a query by BM25", "ms", whole, _query),
    )
    for what, unit, works, seconds_of in series:
        times = []
        for part in works:
            bench.say(f"{what}, {len(part.sentences):,} sentences")
            times.append((part, seconds_of(bench, part)))
        made.append((what, unit, times))
    figures = []
    details = {}
    for what, unit, times in made:
        words = [_words(part) for part, _ in times]
        seconds = [each for _, each in times]
        scale = 1000.0 if unit == "ms" else 1.0
        power = exponent(words, seconds)
        figures.append(
            Figure(
                what=f"{what}: exponent over {_span(times)} sentences",
                value=power,
                unit="",
                baseline=BASELINE_DOUBLING,
                baseline_value=1.0,
                ratio=power,
                target=Target(of="value", bound="at most", limit=_LINEAR),
                repetitions=len(times),
            )
        )
        details[what] = [
            {"sentences": len(part.sentences), "words": count, unit: each * scale}
            for (part, each), count in zip(times, words, strict=True)
        ]
    notes = tuple(f"{what}: {', '.join(_told(each, unit) for each in times)}." for what, unit, times in made)
    return Measured(part=PART_DOUBLING, on=named(work), figures=tuple(figures), notes=notes, details=details)


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Fit the power with which time grows.

    >>> round(exponent([100, 200, 400], [1.0, 2.0, 4.0]), 6), round(exponent([100, 200, 400], [1.0, 4.0, 16.0]), 6)
    (1.0, 2.0)
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _series(work: Work, longest: int) -> list[Work]:
    # Never the whole: what other parts have counted of its words would still be in memory.
    most = min(longest, len(work.sentences) - 1)
    sizes = dict.fromkeys(max(len(LENGTHS), most // part) for part in _PARTS)
    return [head(work, size) for size in sizes]


def _span(times: Sequence[tuple[Work, float]]) -> str:
    return f"{len(times[0][0].sentences):,} to {len(times[-1][0].sentences):,}"


def _words(work: Work) -> int:
    return sum(len(work.text[each.start : each.end].split()) for each in work.sentences)


def _tables(bench: Bench, work: Work) -> float:
    with bench.apart() as make:
        bm25 = make("bm25")
        return timed(lambda: [bm25.score(bench.claims[0], work, length) for length in LENGTHS])[0]


def _query(bench: Bench, work: Work) -> float:
    with bench.apart() as make:
        bm25 = make("bm25")

        def ask(length: int) -> float:
            return timed(bm25.score, bench.claims[0], work, length)[0]

        for length in LENGTHS:
            ask(length)
        return float(np.median([ask(length) for length in LENGTHS for _ in range(_QUERIES)]))


def _told(measured: tuple[Work, float], unit: str) -> str:
    work, seconds = measured
    return f"{len(work.sentences):,} sentences {number(seconds * (1000.0 if unit == 'ms' else 1.0))} {unit}"


PART_ENCODER = "encoder"
BASELINE_ENCODER = "plain forward pass, full batches"

_RATE = 0.8
_TOKENS = 2.0


def measure_encoder(bench: Bench) -> Measured:
    """Build an index and run the bare model in turn."""
    from relic_core.encoders.late_chunking import load_late_chunking

    card = read_card(trained_model(bench.app.settings))
    work = head(bench.work(MIDDLING), bench.effort.sentences)
    if card.spans == "alone":
        why = f"the encoder {card.name} reads every span by itself, so there is no one pass to hold against anything."
        return not_measured(PART_ENCODER, why, on=named(work))
    encoder = load_late_chunking(card)
    bench.say("counting tokens")
    # An index is built block by block, and a stretch does not go on from one to the next.
    cuts = [encoder.cut(replace(work, sentences=work.sentences[b.start : b.stop])) for b in blocks(work)]
    special = len(encoder.pair.passages.opening) + len(encoder.pair.passages.closing)
    stretches = [len(row) + special for rows, _, _ in cuts for row in rows]
    encoded, tokens = sum(stretches), sum(int(counts.sum()) for _, _, counts in cuts)
    rates: list[float] = []
    plain: list[float] = []
    for _ in range(bench.effort.builds):
        bench.say("the plain forward pass")
        through, seconds = plain_forward(encoder, bench.effort.forwards)
        plain.append(through / seconds)
        bench.say("building the index")
        rates.append(encoded / seconds_of_a_build(bench, work))
    ours, theirs = sorted(rates)[len(rates) // 2], sorted(plain)[len(plain) // 2]
    return Measured(
        part=PART_ENCODER,
        on=named(work),
        figures=(
            Figure(
                what="tokens through the encoder while an index is built",
                value=ours,
                unit="tokens/s",
                baseline=BASELINE_ENCODER,
                baseline_value=theirs,
                ratio=ours / theirs,
                target=Target(of="ratio", bound="at least", limit=_RATE),
                repetitions=len(rates),
            ),
            Figure(
                what="tokens encoded, context and special tokens included",
                value=encoded,
                unit="tokens",
                baseline="tokens of the work",
                baseline_value=tokens,
                ratio=encoded / tokens,
                target=Target(of="ratio", bound="at most", limit=_TOKENS),
            ),
        ),
        details={
            "encoder": encoder.identity,
            "stretches": len(stretches),
            "rates": rates,
            "plain_rates": plain,
        },
    )


PART_FORMATS = "agreement"
BASELINE_FORMATS: Precision = "float32"

_OTHER: Precision = "bfloat16"


def measure_formats(bench: Bench) -> Measured:
    """Index the part twice, ask both, and compare what they rank."""
    from relic_core.encoders.late_chunking import LateChunkingEncoder

    work = head(bench.work(MIDDLING), bench.effort.agreeing)
    card = read_card(trained_model(bench.app.settings))
    if card.spans == "alone":
        return not_measured(PART_FORMATS, f"the encoder {card.name} reads every span by itself.", on=named(work))

    with tempfile.TemporaryDirectory() as folder:

        def made(precision: Precision) -> Dense:
            encoder = LateChunkingEncoder(card, precision=precision)
            dense = Dense(DENSE, encoder=lambda: encoder, root=Path(folder) / precision, similarity=card.similarity)
            bench.say(f"building the index in {precision}")
            dense.prepare(work, silent)
            return dense

        ours, theirs = made(_OTHER), made(BASELINE_FORMATS)
        found = [agreement(ours, theirs, work, bench.claims, length) for length in LENGTHS]
    overlap = [each.overlap_at_10 for each in found]
    correlation = [each.correlation for each in found]
    asked = len(bench.claims) * len(LENGTHS)
    return Measured(
        part=PART_FORMATS,
        on=named(work),
        figures=(
            Figure(
                what=f"of the first ten by {BASELINE_FORMATS}, found in the first ten by {_OTHER}",
                value=100 * float(np.mean(overlap)),
                unit="%",
                baseline=BASELINE_FORMATS,
                repetitions=asked,
            ),
            Figure(
                what=f"rank correlation of all passages, {_OTHER} with {BASELINE_FORMATS}",
                value=float(np.mean(correlation)),
                unit="",
                baseline=BASELINE_FORMATS,
                repetitions=asked,
            ),
        ),
        details={
            "overlap_at_10": dict(zip(map(str, LENGTHS), overlap, strict=True)),
            "correlation": dict(zip(map(str, LENGTHS), correlation, strict=True)),
        },
    )


ONE, LIBRARY = "latency", "library"

_ONE_MS, _LIBRARY_MS = 30.0, 300.0
_SHOWN = 10


def measure_latency(bench: Bench) -> Measured:
    """Ask one work."""
    work = bench.prepared(LONGEST)
    if work is None:
        return not_measured(ONE, _nothing(bench))
    retrievers = bench.app.retrievers
    figures: list[Figure] = []
    for card in retrievers.default():
        retriever = retrievers.get(card.name)
        under = _ONE_MS if card.name == DENSE else None
        bench.say(f"{card.label} in {work.title}")
        ask = _ranking(retriever, work)
        figures += median_and_tail(f"ranking by {card.name}", _times(bench, ask, bench.effort.queries), under=under)
    bench.say(f"whole answers in {work.title}")
    figures += median_and_tail("the whole answer, with cards", _times(bench, _answer(bench, work.id), _few(bench)))
    return Measured(part=ONE, on=named(work), figures=tuple(figures))


def measure_library(bench: Bench) -> Measured:
    """Ask all works that are prepared, at once."""
    imprints = list(bench.app.works.imprints().values())
    retrievers = bench.app.retrievers
    cards = [card for card in retrievers.default() if card.library]
    figures: list[Figure] = []
    notes: list[str] = []
    searched = 0
    for card in sorted(cards, key=lambda card: card.name != DENSE):
        library = cast("CorpusRetriever", retrievers.get(card.name))
        if card.name == DENSE:
            missing = set(library.missing(imprints, LENGTHS[0]))
            imprints = [imprint for imprint in imprints if imprint.id not in missing]
            if not imprints:
                return not_measured(LIBRARY, _nothing(bench))
            searched = sum(imprint.sentences for imprint in imprints)
            if missing:
                notes.append(f"{len(missing)} works are left out: they have not been prepared.")
        corpus = Corpus(tuple(imprints), bench.app.works.load)
        bench.say(f"{card.label} in the library")
        under = _LIBRARY_MS if card.name == DENSE else None
        times = _times(bench, _library_ranking(library, corpus), bench.effort.library_queries)
        figures += median_and_tail(f"ranking by {card.name}", times, under=under)
        if not library.rank(bench.claims[0], corpus, LENGTHS[0]).exact:
            notes.append(f"{card.name} compared by an approximate index, not with every passage.")
    bench.say("whole answers from the library")
    times = _times(bench, _answer(bench, ""), max(1, bench.effort.library_queries // 2))
    figures += median_and_tail("the whole answer, with cards", times)
    return Measured(
        part=LIBRARY,
        on=f"{len(imprints):,} prepared works ({searched:,} sentences)",
        figures=tuple(figures),
        notes=tuple(notes),
        details={"works": len(imprints), "sentences": searched},
    )


def _times(bench: Bench, ask: Callable[[Claim, int], object], count: int) -> list[float]:
    """Ask as many questions as wanted, lengths in turn, after each length was asked once; in seconds."""
    first = bench.questions(1)[0]
    for length in LENGTHS:
        ask(first, length)
    asked = bench.questions(count + 1)[1:] or [first]
    return [timed(ask, claim, LENGTHS[at % len(LENGTHS)])[0] for at, claim in enumerate(asked)]


def _ranking(retriever: Retriever, work: Work) -> Callable[[Claim, int], object]:
    def ask(claim: Claim, length: int) -> None:
        rank_scores(retriever.name, work.id, length, retriever.score(claim, work, length)).hits(_SHOWN)

    return ask


def _library_ranking(library: CorpusRetriever, works: Corpus) -> Callable[[Claim, int], object]:
    def ask(claim: Claim, length: int) -> None:
        library.rank(claim, works, length).hits(_SHOWN)

    return ask


def _answer(bench: Bench, work_id: str) -> Callable[[Claim, int], object]:
    request = SearchRequest(work_id=work_id)

    def ask(claim: Claim, length: int) -> None:
        bench.app.search.run(replace(request, claim_text=claim.words, length=length))

    return ask


def _few(bench: Bench) -> int:
    """Count the whole answers: half as many as rankings, since each ranks with every retriever."""
    return max(1, bench.effort.queries // 2)


def _nothing(bench: Bench) -> str:
    work = f" {bench.work('').id}" if bench.work_id else " WORK"
    what = "the work is not" if bench.work_id else "no work is"
    return f"{what} prepared. Prepare it first: python -m relic_core index{work}"


PART_MEMORY = "memory"

_OPEN = 3
_LIMIT_MB = 1500.0
_PROCESSES = Path("/proc")


def measure_memory(bench: Bench) -> Measured:
    """Have a new process do what the app does, and ask it how large it was at most; then look at the server."""
    works = sorted(
        (each for each in bench.app.works.summaries() if bench.work_id in {"", each.id}),
        key=lambda each: (bench.app.indexes.ready(each.id, DENSE), each.sentences),
        reverse=True,
    )[:_OPEN]
    if not works:
        return not_measured(PART_MEMORY, "no work is stored. Add the sample first: python -m relic_core setup.")
    prepared = sum(bench.app.indexes.ready(each.id, DENSE) for each in works)
    bench.say("a process of its own")
    spawned = multiprocessing.get_context("spawn")
    here, there = spawned.Pipe(duplex=False)
    child = spawned.Process(
        target=_work,
        args=(bench.app.settings, [each.id for each in works], bench.claims[0].words, there),
        name="what the app does",
    )
    child.start()
    there.close()  # so that the end of the child is noticed here
    try:
        loaded, peak = here.recv()
    except EOFError:
        child.join()
        return not_measured(PART_MEMORY, f"the process ended with {child.exitcode} before it could tell.")
    finally:
        child.join()
    done = Figure(
        what=f"answering with {len(works)} works open, at most",
        value=peak,
        unit="MB",
        baseline="the same before a work is opened",
        baseline_value=loaded,
        ratio=peak / loaded,
    )
    notes = [] if prepared == len(works) else [f"Only {prepared} of the {len(works)} works are prepared."]
    figures = [done]
    bench.say("the app's server")
    with server(PROJECT / "app.py", {**os.environ, **bench.app.settings.to_environment()}) as (process, _):
        beside = peak_mb(process)
    if beside:
        figures += [
            Figure(what="the app's server before a page is opened", value=beside, unit="MB"),
            Figure(
                what="both together",
                value=peak + beside,
                unit="MB",
                baseline="answering alone",
                baseline_value=peak,
                ratio=(peak + beside) / peak,
                target=Target(of="value", bound="under", limit=_LIMIT_MB),
            ),
        ]
    else:
        notes.append("This system does not tell how large another process is, so the app's server is not in it.")
    return Measured(
        part=PART_MEMORY,
        on=", ".join(f"{each.title} ({each.sentences:,} sentences)" for each in works),
        figures=tuple(figures),
        notes=tuple(notes),
    )


def _work(settings: Settings, work_ids: list[str], claim: str, told: Connection) -> None:
    """Do in this process what the app does, and send how many MB it had before the first work, and at most."""
    app = build(settings)
    names = tuple(card.name for card in app.retrievers.default())
    loaded = peak_mb(os.getpid())
    for work_id in work_ids:
        for length in LENGTHS:
            app.search.run(SearchRequest(work_id=work_id, claim_text=claim, length=length, retrievers=names))
    told.send((loaded, peak_mb(os.getpid())))
    told.close()


def peak_mb(process: int) -> float:
    """Give the most memory that a process has held, in MB of a million bytes; mapped files that were read count.

    Linux hands the maximum that `getrusage` tells on to a process from the one that started it, so there it is read
    from ``/proc``. Elsewhere only this process can be asked, and 0 is given of another.
    """
    status = _PROCESSES / str(process) / "status"
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6
    if process != os.getpid():
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


PART_START = "start"

_PATIENCE = 120.0
_LOOK_SECONDS = 0.02
_LIBRARIES = "import torch, transformers; transformers.AutoModel"
_HERE = "127.0.0.1"


def measure_start(bench: Bench) -> Measured:
    """Start the app and an empty one in turn; then ask in fresh processes, in turn with the libraries alone."""
    work = bench.prepared(LONGEST)
    if work is None:
        return not_measured(PART_START, "no work is prepared. Prepare one first: python -m relic_core index WORK")
    settings = bench.app.settings
    ours: list[float] = []
    empty: list[float] = []
    answers: list[float] = []
    libraries: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        blank = Path(folder) / "blank.py"
        blank.write_text("", encoding="utf-8")
        # A store of its own: what is asked would come into the history of the reader's.
        apart = replace(settings, data=Path(folder) / "data")
        build(apart).store.works.add(work)
        environment = {**os.environ, **apart.to_environment()}
        for _ in range(bench.effort.starts):
            bench.say("starting the app")
            empty.append(seconds_to_health(blank, environment))
            ours.append(seconds_to_health(PROJECT / "app.py", environment))
            bench.say("a first answer")
            libraries.append(_seconds_of(["-c", _LIBRARIES], environment))
            asking = ["-m", "relic_core", "search", work.id, bench.claims[0].words]
            answers.append(_seconds_of(asking, environment))
    return Measured(
        part=PART_START,
        on=named(work),
        figures=(
            as_fast("`streamlit run app.py` until its server is healthy", ours, "an empty app", empty, unit="s"),
            as_fast(
                "`python -m relic_core search` in a fresh process, until it has answered and ended",
                answers,
                "importing torch and transformers",
                libraries,
                unit="s",
            ),
        ),
        notes=("No page is drawn: that takes a browser.",),
    )


@contextlib.contextmanager
def server(app: Path, environment: Mapping[str, str], *, port: int = 0) -> Iterator[tuple[int, float]]:
    """Start an app with Streamlit on a port of this machine, wait until its server is healthy, and end it after.

    - `port`: where; a free one if 0.

    What it yields:
    - `process`: its id.
    - `seconds`: from the start of the process to the first healthy answer.

    Raises RelicError: it ended by itself, or was not healthy in time.
    """
    port = port or free_port()
    options = {
        "server.port": port,
        "server.address": _HERE,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "streamlit", "run", str(app), *flags],
            cwd=app.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
        try:
            while not _healthy(port):
                waited = time.perf_counter() - began
                if process.poll() is not None or waited > _PATIENCE:
                    said.seek(0)
                    last = said.read().decode(errors="replace").strip().splitlines()[-1:]
                    raise RelicError(
                        f"Streamlit did not come up with {app.name} in {waited:.0f} s: {''.join(last) or 'no word'}. "
                        "Start the app by hand to see why (README)."
                    )
                time.sleep(_LOOK_SECONDS)
            yield process.pid, time.perf_counter() - began
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """Give a port of this machine on which nobody listens."""
    with socket.socket() as free:
        free.bind((_HERE, 0))
        port: int = free.getsockname()[1]
    return port


def seconds_to_health(app: Path, environment: Mapping[str, str]) -> float:
    """Start an app and end it; in seconds, until its server was healthy. Raises as `server`."""
    with server(app, environment) as (_, seconds):
        return seconds


def _healthy(port: int) -> bool:
    connection = http.client.HTTPConnection(_HERE, port, timeout=5)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().status == http.client.OK
        except OSError:  # nobody listens yet
            return False


def _seconds_of(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run Python and take the time.

    Raises RelicError: it failed.
    """
    began = time.perf_counter()
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, *arguments],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RelicError(f"A process that the bench started failed: {''.join(said) or done.returncode}")
    return seconds


PART_QUOTATIONS = "mining"
BASELINE_QUOTATIONS = "Quid"

_COMMAND = "quid"
_TIMES_AS_FAST_QUOTATIONS = 10
_LEAST_FOUND = 95.0
_SEED_QUOTATIONS = 6
_LEAST_WORDS = 14
"""Of a passage that is quoted: what is left of it when words are left out are still eight."""


class Planted(NamedTuple):
    """A source made of pages of a work with quotations of another, and where these stand."""

    text: str
    at: tuple[Offsets, ...]


def measure_quotations(bench: Bench) -> Measured:
    """Look for the planted quotations, ours and theirs, and count what was found."""
    work = bench.work(MIDDLING)
    page = _pages(bench, work)
    if page is None:
        return not_measured(
            PART_QUOTATIONS, "it takes a second work, whose pages stand for a critic's.", on=named(work)
        )
    source = plant(work, page, count=bench.effort.quotations)
    with tempfile.TemporaryDirectory() as folder:
        bench.say("the index of the work's words")
        building, works = timed(QuotedWorks.build, [work], Path(folder) / "words", silent)
        bench.say("quotations")
        seconds = []
        for _ in range(bench.effort.builds):
            taken, found = timed(lambda: find_matches(read_prose(source.text), works))
            seconds.append(building + taken)
        prose = read_prose(source.text)
        ours = share_found(source, [prose.in_source(match.start, match.end) for match in found])
        command = shutil.which(_COMMAND)
        theirs: tuple[float, float] | None = None
        if command is not None:
            bench.say(f"{BASELINE_QUOTATIONS}, which takes its time")
            theirs = _quid(command, work, source, Path(folder))
    target = Target(of="value", bound="at least", limit=_LEAST_FOUND)
    share = Figure(
        what="planted quotations that are found",
        value=ours,
        unit="%",
        baseline=BASELINE_QUOTATIONS if theirs else "",
        baseline_value=theirs[1] if theirs else None,
        ratio=ours / theirs[1] if theirs and theirs[1] else None,
        target=target,
        repetitions=len(source.at),
    )
    what = "finding the quotations of one work in one source, the index of its words included"
    if theirs:
        speed = Target(of="ratio", bound="at least", limit=_TIMES_AS_FAST_QUOTATIONS)
        time = as_fast(what, seconds, BASELINE_QUOTATIONS, [theirs[0]], unit="s", target=speed)
    else:
        time = Figure(what=what, value=sorted(seconds)[len(seconds) // 2], unit="s", repetitions=len(seconds))
    note = (
        f"Not held against {BASELINE_QUOTATIONS}: there is no command `{_COMMAND}` on the path. Install it into an "
        "environment of its own (pip install Quid==2.6.7) and put the command on the path."
    )
    return Measured(
        part=PART_QUOTATIONS,
        on=f"{named(work)} quoted among pages of {page.title} ({len(source.text):,} characters)",
        figures=(time, share),
        notes=() if theirs else (note,),
        details={"quotations": len(source.at), "characters": len(source.text), "seconds_for_the_index": building},
    )


def plant(work: Work, pages: Work, *, count: int) -> Planted:
    """Set passages of a work into pages of another; the same ones every time.

    - `pages`: whose sentences stand for a critic's.
    - `count`: quotations; fewer where the work has too few sentences that are long enough.
    """
    drawn = random.Random(_SEED_QUOTATIONS)  # noqa: S311 - no secret
    long = [each.index for each in work.sentences if len(work.sentence_text(each.index).split()) >= _LEAST_WORDS]
    chosen = drawn.sample(long, min(count, len(long)))
    page = 8
    most = max(1, len(pages.sentences) - page)
    text, at = "", []
    for nth, index in enumerate(chosen):
        start = (nth * page) % most
        before = " ".join(pages.span_text(Span(start, min(page, len(pages.sentences) - start))).split())
        quotation = _altered(work.sentence_text(index).split(), nth)
        text += f"{before} He writes, “"
        at.append((len(text), len(text) + len(quotation)))
        text += f"{quotation}” and says no more.\n\n"
    return Planted(text, tuple(at))


def share_found(source: Planted, found: Sequence[Offsets]) -> float:
    """Give the share of planted quotations of which some part was found, in per cent."""
    hits = sum(any(start < end and first < stop for first, end in found) for start, stop in source.at)
    return 100 * hits / max(1, len(source.at))


def _altered(words: list[str], number: int) -> str:
    """Quote a sentence as critics do: to the letter, with words left out, with a word explained."""
    middle = len(words) // 2
    if number % 3 == 1:
        return " ".join([*words[:middle], "...", *words[middle + 2 :]])
    if number % 3 == 2:  # noqa: PLR2004
        return " ".join([*words[:middle], "[as he says]", *words[middle:]])
    return " ".join(words)


def _pages(bench: Bench, work: Work) -> Work | None:
    """Choose the work whose pages are the source's."""
    others = [each for each in bench.app.works.summaries() if each.id != work.id]
    titled = [each for each in others if each.title == LONGEST]
    if not others:
        return None
    return bench.app.works.load(max(titled or others, key=lambda each: (each.sentences, each.id)).id)


def _quid(command: str, work: Work, source: Planted, folder: Path) -> tuple[float, float]:
    """Run Quid with its defaults: its seconds, and the share of planted quotations that it finds in per cent.

    Raises RelicError: it failed, or wrote what is no result of the version this was written for.
    """
    quoted, quoting = folder / "work.txt", folder / "source.txt"
    quoted.write_text(work.text, encoding="utf-8", newline="")
    quoting.write_text(source.text, encoding="utf-8", newline="")
    arguments = [command, "compare", str(quoted), str(quoting), "--no-text"]
    seconds, done = timed(subprocess.run, arguments, capture_output=True, text=True, check=False)
    try:
        rows = json.loads(done.stdout.rpartition("Results:")[2])
        found = [(int(row["target_span"]["start"]), int(row["target_span"]["end"])) for row in rows]
    except (ValueError, KeyError, TypeError):
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise RelicError(
            f"{command} did not give the result of Quid 2.6.7 ({' '.join(last) or 'it said nothing'}). Mend it, or "
            "take it off the path: the figures are then ours alone."
        ) from None
    return seconds, share_found(source, found)
