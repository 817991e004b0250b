"""What the bench measures: each part against a named baseline of the same run, in a function of the part's name."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import multiprocessing
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt

from relic_core.config import PROJECT, Settings
from relic_core.config.provenance import code, machine
from relic_core.domain import (
    COMPOSING,
    DEFAULT_RETRIEVERS,
    LENGTHS,
    MAX_CONTEXT,
    Claim,
    Condition,
    Corpus,
    Ranking,
    Scores,
    SearchRequest,
    Span,
    Work,
    WorkSummary,
    rank_scores,
)
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.precision import Precision, best_arithmetic
from relic_core.encoders.pretrained import without_progress
from relic_core.encoders.towers import flat_span
from relic_core.encoders.weights import TOKENIZER, find_model, named_as, state_of
from relic_core.errors import NotFound, RelicError, unknown_name
from relic_core.language_models.server import Server
from relic_core.ports import CorpusRetriever, Progress, Retriever, silent
from relic_core.retrieval import registry
from relic_core.retrieval.dense import Dense, trained_model
from relic_core.retrieval.read_by_model import ReadByModel
from relic_core.wiring import App, build
from tools.bench import plain as without_amx
from tools.bench.report import PARTS, Figure, Measured, Report, Target, number
from tools.machine import busy, in_full

P = ParamSpec("P")
T = TypeVar("T")

LONGEST = "War and Peace"
MIDDLING = "Pride and Prejudice"
"""The works that figures are laid down for; where they are not stored, the longest is taken."""

DENSE = "dense-relic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How often things are repeated, and how much of a work is taken.

    - `reference_claims`: claims of each kind that rank_bm25 is asked for every length; it takes over a second for each
      on a long work.
    - `spans`: spans of each length that sentence-transformers encodes; the whole is reckoned from them.
    - `queries`, `library_queries`: questions whose time is taken, for one work and for the library.
    - `agreeing`: sentences of the part of a work that two number formats rank.
    """

    claims: int = 24
    reference_claims: int = 5
    spans: int = 1500
    builds: int = 3
    queries: int = 100
    library_queries: int = 40
    agreeing: int = 1500
    starts: int = 3


USUAL = Effort()
QUICK = Effort(
    claims=4, reference_claims=1, spans=8, builds=1, queries=3, library_queries=2,
    agreeing=60, starts=1,
)  # fmt: skip
"""Just enough that every part runs: its figures mean nothing."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a part measures with; nothing of `app` is changed: what is built is built elsewhere.

    - `work_id`: the work that every part takes; empty for each part's own.
    - `full`: measure baselines whole that are reckoned from a part otherwise.
    - `claims`: real ones, the longest first.
    """

    app: App
    effort: Effort
    work_id: str
    full: bool
    claims: tuple[Claim, ...]
    say: Callable[[str], None]

    def work(self, preferred: str) -> Work:
        """Choose a work: the one that was named, else that of a title, else the longest that is stored."""
        return self.app.works.load(self._choose(preferred, self.app.works.summaries()).id)

    def prepared(self, preferred: str) -> Work | None:
        """Choose as `work` does among the works that are prepared for searching by meaning; None where none is."""
        ready = [each for each in self.named() if self.app.indexes.ready(each.id, DENSE)]
        return self.app.works.load(self._choose(preferred, ready).id) if ready else None

    def named(self) -> list[WorkSummary]:
        """List the works that may be taken."""
        return [each for each in self.app.works.summaries() if self.work_id in {"", each.id}]

    def _choose(self, preferred: str, among: Sequence[WorkSummary]) -> WorkSummary:
        if not among:
            raise NotFound("There is no work to measure with. Add the sample first: python -m relic_core setup.")
        for each in among:
            if each.id == self.work_id:
                return each
        titled = [each for each in among if each.title == preferred]
        return max(titled or among, key=lambda each: (each.sentences, each.id))

    def questions(self, count: int) -> list[Claim]:
        """Put together claims of real prose of which none is asked twice, so that no memory of answers can help.

        The left side is one critic's and the right another's.
        """
        shift = range(len(self.claims))
        pairs = (
            (left, self.claims[(at + by) % len(self.claims)]) for by in shift for at, left in enumerate(self.claims)
        )
        made = [Claim(left=left.left, right=right.right, masked=True) for left, right in islice(pairs, count)]
        asked = [claim for claim in made if claim.words]
        return [*asked, *self.claims][:count] if len(asked) < count else asked

    @contextlib.contextmanager
    def apart(self) -> Iterator[Callable[[str], Retriever]]:
        """Make retrievers that have prepared nothing, with a folder of indexes of their own that is deleted after."""
        with tempfile.TemporaryDirectory() as folder:
            settings = replace(self.app.settings, indexes=Path(folder))
            yield lambda name: registry.create(name, settings=settings)


def named(work: Work) -> str:
    """Name a work with its size."""
    return f"{work.title} ({len(work.sentences):,} sentences)"


def head(work: Work, sentences: int) -> Work:
    """Take the first sentences of a work, as a work of its own."""
    kept = min(sentences, len(work.sentences))
    return replace(work, id=f"{work.id}-{kept}", sentences=work.sentences[:kept])


def timed(call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> tuple[float, T]:
    """Take the seconds of a call, and give what it gives."""
    began = time.perf_counter()
    value = call(*arguments, **options)
    return time.perf_counter() - began, value


def not_measured(why: str, *, on: str = "") -> Measured:
    """Say of a part why it has no figures."""
    return Measured(on=on, notes=(f"Not measured: {why}",))


def as_fast(what: str, seconds: Sequence[float], baseline: str, theirs: Sequence[float], **facts: Any) -> Figure:  # noqa: ANN401 - passed on to Figure
    """Make a figure of the medians of two series of seconds; the ratio says how many times as fast ours is."""
    scale = 1000.0 if facts["unit"] == "ms" else 1.0
    ours, other = float(np.median(seconds)), float(np.median(theirs))
    return Figure(
        what=what,
        value=ours * scale,
        baseline=baseline,
        baseline_value=other * scale,
        ratio=other / ours,
        repetitions=len(seconds),
        **facts,
    )


def median_and_tail(what: str, seconds: Sequence[float], *, under: float | None = None) -> tuple[Figure, Figure]:
    """Make two figures of a series of seconds: its median, and its 95th percentile (under so many ms) as a multiple."""
    median, tail = (float(np.percentile(seconds, share)) * 1000 for share in (50, 95))
    target = None if under is None else Target(of="value", bound="under", limit=under)
    return (
        Figure(what=f"{what}, median", value=median, unit="ms", repetitions=len(seconds)),
        Figure(
            what=f"{what}, 95th percentile",
            value=tail,
            unit="ms",
            baseline="its median",
            baseline_value=median,
            ratio=tail / median,
            target=target,
            repetitions=len(seconds),
        ),
    )


# ---- queries by words -----------------------------------------------------------------------------------------------

_TOP = 10
_SEED = 4
_TIMES_AS_FAST = 300


def bm25(bench: Bench) -> Measured:
    """Take the times of queries for every length, ours and theirs in turn, and compare the first ten.

    Each claim is asked once of each for a length, so that nobody can answer from memory.
    """
    work, baseline = bench.work(LONGEST), "rank_bm25"
    count = bench.effort.reference_claims
    kinds = {"a real claim": bench.claims[:count], "a page of the work": pages(work, count)}
    times: dict[str, list[Figure]] = {kind: [] for kind in kinds}
    tables: list[float] = []
    theirs: list[float] = []
    same: list[bool] = []
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
                    same.append(top(found) == top(wanted))
                target = Target(of="ratio", bound="at least", limit=_TIMES_AS_FAST)
                what = f"{kind}, passages of {length}"
                times[kind].append(as_fast(what, quick, baseline, slow, unit="ms", target=target))
    agree = Figure(
        what="queries with the same first ten",
        value=100 * float(np.mean(same)),
        unit="%",
        baseline=baseline,
        target=Target(of="value", bound="at least", limit=100),
        repetitions=len(same),
    )
    built = as_fast("making the tables of all lengths", [sum(tables)], baseline, [sum(theirs)], unit="s")
    return Measured(on=named(work), figures=(*(figure for each in times.values() for figure in each), agree, built))


def pages(work: Work, count: int) -> tuple[Claim, ...]:
    """Take pages of a work for claims: sentences on either side of one that is left out, as many as 4/4 claims have.

    The same ones every time; of a work that is shorter than a page, fewer sentences.
    """
    drawn = random.Random(_SEED)  # noqa: S311 - no secret
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
    """Give the first ten, ties in the order of the text; rounded to float32, so that equal spans tie on both sides."""
    best: list[int] = rank_scores("", "", 0, np.round(scores, 4)).order[:_TOP].tolist()
    return best


# ---- indexing -------------------------------------------------------------------------------------------------------

BATCH = 32
"""Texts in a batch: what `SentenceTransformer.encode` takes where nothing is said."""

_POOLING = {"mean": "mean", "first": "cls", "pooler": "cls"}
"""What sentence-transformers calls the ways of pooling; the pooler's own layer, which costs little, is left out."""


class SentenceTransformersBaseline:
    """`SentenceTransformer.encode` with the files of a card's passages' tower, in float32: each passage by itself."""

    def __init__(self, card: EncoderCard, *, device: str = "cpu") -> None:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

        files = find_model(card.passage_model)
        folder = files.folder
        with without_progress():
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
        """Encode spans in batches of `BATCH`, which the library itself sorts by length; give seconds and vectors.

        Joining the texts is left out of the time; vectors have length 1 where the card compares by cosine.
        """
        texts = [f"{self._prefix}{flat_span(work, span)}" for span in spans]
        began = time.perf_counter()
        vectors: npt.NDArray[np.float32] = self._model.encode(texts, batch_size=BATCH, show_progress_bar=False)
        return time.perf_counter() - began, vectors


_TIMES_AS_FAST_BUILDING = {True: 12.0, False: 6.0}
"""Where the processor multiplies bfloat16 in tiles (AMX), and where not."""
_WARM_UP = 4
"""Sentences that are read before anything is timed: models are loaded by the first."""


def building(bench: Bench) -> Measured:
    """Build the index some times, and between the builds have the baseline encode spans of one length after another."""
    work = bench.work(MIDDLING)
    bench.say("loading the models")
    card = read_card(trained_model(bench.app.settings))
    baseline = SentenceTransformersBaseline(card, device=best_arithmetic().device)
    baseline.encode(work, [Span(0, 1)])
    built: list[float] = []
    every = -(-len(LENGTHS) // bench.effort.builds)
    spent = theirs = 0.0
    sampled = total = 0
    for turn, length in enumerate(LENGTHS):
        if turn % every == 0:
            bench.say("building the index")
            built.append(seconds_of_a_build(bench, work))
        spans = work.candidates(length)
        drawn = _draw(spans, spans if bench.full else bench.effort.spans, length)
        bench.say(f"sentence-transformers, passages of {length}")
        seconds, _ = baseline.encode(work, drawn) if drawn else (0.0, None)
        spent, theirs = spent + seconds, theirs + seconds * spans / max(1, len(drawn))
        sampled, total = sampled + len(drawn), total + spans
    ours = sorted(built)[len(built) // 2]
    note = "The baseline encoded every span."
    if sampled < total:
        note = (
            f"The baseline encoded {sampled:,} of the {total:,} spans, drawn at random, in {number(spent)} s; its time "
            "for all of them is reckoned from that, length by length."
        )
    index = Figure(
        what="building the index for all lengths",
        value=ours,
        unit="s",
        baseline="sentence-transformers, every span",
        baseline_value=theirs,
        ratio=theirs / ours,
        target=Target(of="ratio", bound="at least", limit=_TIMES_AS_FAST_BUILDING[bool(machine()["amx"])]),
        repetitions=len(built),
    )
    words = Figure(what="words indexed", value=len(work.text.split()) / ours, unit="words/s", repetitions=len(built))
    return Measured(on=named(work), figures=(index, words), notes=(note,))


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
        starts = sorted(random.Random(_SEED).sample(starts, count))  # type: ignore[assignment]  # noqa: S311 - no secret
    return [Span(start, length) for start in starts]


# ---- number formats -------------------------------------------------------------------------------------------------

_FORMATS: tuple[Precision, Precision] = ("bfloat16", "float32")


def agreement(bench: Bench) -> Measured:
    """Index the part in either number format, ask both, and compare what they rank."""
    from relic_core.encoders.late_chunking import LateChunkingEncoder

    work = head(bench.work(MIDDLING), bench.effort.agreeing)
    card = read_card(trained_model(bench.app.settings))
    if card.spans == "alone":
        return not_measured(f"the encoder {card.name} reads every span by itself.", on=named(work))
    overlaps, correlations = [], []
    with tempfile.TemporaryDirectory() as folder:

        def made(precision: Precision) -> Dense:
            one_pass = LateChunkingEncoder(card, precision=precision)
            dense = Dense(DENSE, encoder=lambda: one_pass, root=Path(folder) / precision, similarity=card.similarity)
            bench.say(f"building the index in {precision}")
            dense.prepare(work, silent)
            return dense

        both = [made(precision) for precision in _FORMATS]
        for length in LENGTHS:
            for claim in bench.claims:
                a, b = (rank_scores(each.name, work.id, length, each.score(claim, work, length)) for each in both)
                first = min(_TOP, len(a))
                overlaps.append(len(np.intersect1d(a.order[:first], b.order[:first])) / first)
                correlations.append(spearman(a, b))
    ours, theirs = _FORMATS
    return Measured(
        on=named(work),
        figures=(
            Figure(
                what=f"of the first ten by {theirs}, found in the first ten by {ours}",
                value=100 * float(np.mean(overlaps)),
                unit="%",
                baseline=theirs,
                repetitions=len(overlaps),
            ),
            Figure(
                what=f"rank correlation of all passages, {ours} with {theirs}",
                value=float(np.mean(correlations)),
                unit="",
                baseline=theirs,
                repetitions=len(correlations),
            ),
        ),
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


# ---- answers --------------------------------------------------------------------------------------------------------

_ONE_MS, _LIBRARY_MS = 30.0, 300.0
_JOINED, _FEW_WORDS = 1.5, 12
_SHOWN = 10


def latency(bench: Bench) -> Measured:
    """Ask one work."""
    work = bench.prepared(LONGEST)
    if work is None:
        return not_measured(_nothing(bench))
    retrievers = bench.app.retrievers
    figures: list[Figure] = []
    for card in retrievers.default():
        retriever = retrievers.get(card.name)
        under = _ONE_MS if card.name == DENSE else None
        bench.say(f"{card.label} in {work.title}")
        times = _times(bench, partial(_rank, retriever, work), bench.effort.queries)
        figures += median_and_tail(f"ranking by {card.name}", times, under=under)
    bench.say(f"whole answers in {work.title}")
    # Half as many as rankings, since each ranks with every retriever; of the library too.
    times = _times(bench, partial(_answer, bench, work.id), max(1, bench.effort.queries // 2))
    figures += median_and_tail("the whole answer, with cards", times)
    bench.say(f"joined claims in {work.title}")
    count = max(1, bench.effort.queries // 2)
    one, three = (_times(bench, partial(_answer_joined, bench, work.id, more), count) for more in (0, 2))
    ratio = float(np.median(three) / np.median(one))
    figures.append(
        Figure(
            what="three short claims joined, with cards",
            value=float(np.median(three)) * 1000,
            unit="ms",
            baseline="one of them, without the reranker",
            baseline_value=float(np.median(one)) * 1000,
            ratio=ratio,
            target=Target(of="ratio", bound="under", limit=_JOINED),
            repetitions=count,
        )
    )
    return Measured(on=named(work), figures=tuple(figures))


def library(bench: Bench) -> Measured:
    """Ask all works that are prepared, at once."""
    work_versions = list(bench.app.works.work_versions().values())
    retrievers = bench.app.retrievers
    cards = [card for card in retrievers.default() if card.library]
    figures: list[Figure] = []
    notes: list[str] = []
    searched = 0
    for card in sorted(cards, key=lambda card: card.name != DENSE):
        searching = cast("CorpusRetriever", retrievers.get(card.name))
        if card.name == DENSE:
            missing = set(searching.missing(work_versions, LENGTHS[0]))
            work_versions = [version for version in work_versions if version.id not in missing]
            if not work_versions:
                return not_measured(_nothing(bench))
            searched = sum(version.sentences for version in work_versions)
            if missing:
                notes.append(f"{len(missing)} works are left out: they have not been prepared.")
        corpus = Corpus(tuple(work_versions), bench.app.works.load)
        bench.say(f"{card.label} in the library")
        under = _LIBRARY_MS if card.name == DENSE else None
        times = _times(bench, partial(_rank_library, searching, corpus), bench.effort.library_queries)
        figures += median_and_tail(f"ranking by {card.name}", times, under=under)
        if not searching.rank(bench.claims[0], corpus, LENGTHS[0]).exact:
            notes.append(f"{card.name} compared by an approximate index, not with every passage.")
    bench.say("whole answers from the library")
    times = _times(bench, partial(_answer, bench, ""), max(1, bench.effort.library_queries // 2))
    figures += median_and_tail("the whole answer, with cards", times)
    return Measured(
        on=f"{len(work_versions):,} prepared works ({searched:,} sentences)",
        figures=tuple(figures),
        notes=tuple(notes),
    )


_PASSAGES, _AT_ONCE, _CALLS = 50, 8, 200
_UP_SECONDS = 60


def reading(bench: Bench) -> Measured:
    """Ask a server that answers at once: by the call, and 50 passages by score."""
    work = bench.work(MIDDLING)
    claims = bench.questions(bench.effort.starts + 1)
    with _answering_server() as address, tempfile.TemporaryDirectory() as folder:
        settings = replace(
            bench.app.settings, data=Path(folder), reader=address, reader_model="none", reader_context=1_000_000,
            reader_at_once=_AT_ONCE, reader_passages=_PASSAGES,
        )  # fmt: skip
        client, stop = Server(settings), threading.Event()
        with contextlib.closing(http.client.HTTPConnection(address.split("/")[2])) as bare:
            seconds = [timed(client.ask, _MESSAGES, stop)[0] for _ in range(_CALLS)]
            theirs = [timed(_bare_call, bare)[0] for _ in range(_CALLS)]
        over = 1000 * (float(np.median(seconds)) - float(np.median(theirs)))
        reader = ReadByModel(registry.create("random", settings=settings), settings, "score")
        spans = range(min(_PASSAGES, len(work.sentences)))
        passages = [flat_span(work, Span(at, 1)) for at in spans]
        reads = [timed(reader.read, claim, passages, silent)[0] for claim in claims][1:]  # the first opens the store
        known = [timed(reader.readings, claim, passages)[0] for claim in claims]
    calls = Target(of="value", bound="under", limit=5.0)
    columns = Target(of="value", bound="under", limit=2.0)
    page = Target(of="value", bound="under", limit=50.0)
    return Measured(
        on=named(work),
        figures=(
            Figure(
                what="the client's own time for a call", value=over, unit="ms", target=calls, repetitions=_CALLS,
                baseline="the bare call", baseline_value=1000 * float(np.median(theirs)),
            ),
            Figure(
                what=f"{len(passages)} passages by score, {_AT_ONCE} at once", value=float(np.median(reads)), unit="s",
                target=columns, repetitions=len(reads),
            ),
            Figure(
                what=f"what it made of {len(passages)} passages, as a page asks", value=1000 * float(np.median(known)),
                unit="ms", target=page, repetitions=len(known),
            ),
        ),
    )  # fmt: skip


_MESSAGES = [{"role": "user", "content": "A passage."}]
_ANSWER = b'{"choices": [{"message": {"content": "{\\"score\\": 5}"}}], "usage": {"total_tokens": 9}}'


class _Answering(http.server.BaseHTTPRequestHandler):
    """Gives every question a score of 5."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(_ANSWER), _ANSWER))

    def log_message(self, *_: object) -> None: ...


def _serve(port: int) -> None:
    http.server.ThreadingHTTPServer(("127.0.0.1", port), _Answering).serve_forever()


@contextlib.contextmanager
def _answering_server() -> Iterator[str]:
    """Run the server in a process of its own, so that its time is not the client's."""
    port = free_port()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(port,), daemon=True)
    process.start()
    try:
        deadline = time.monotonic() + _UP_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.join()


def _bare_call(connection: http.client.HTTPConnection) -> None:
    body = json.dumps({"model": "none", "messages": _MESSAGES}).encode()
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    json.loads(connection.getresponse().read())


def _times(bench: Bench, ask: Callable[[Claim, int], object], count: int) -> list[float]:
    """Ask as many questions as wanted, lengths in turn, after each length was asked once; in seconds."""
    first = bench.questions(1)[0]
    for length in LENGTHS:
        ask(first, length)
    asked = bench.questions(count + 1)[1:] or [first]
    return [timed(ask, claim, LENGTHS[at % len(LENGTHS)])[0] for at, claim in enumerate(asked)]


def _rank(retriever: Retriever, work: Work, claim: Claim, length: int) -> None:
    rank_scores(retriever.name, work.id, length, retriever.score(claim, work, length)).hits(_SHOWN)


def _rank_library(retriever: CorpusRetriever, works: Corpus, claim: Claim, length: int) -> None:
    retriever.rank(claim, works, length).hits(_SHOWN)


def _answer_joined(bench: Bench, work_id: str, more: int, claim: Claim, length: int) -> None:
    """Ask a short claim as a page does at once, joined to as many others; none of them was asked before."""
    words = claim.words.split()
    texts = [" ".join(words[at * _FEW_WORDS : (at + 1) * _FEW_WORDS]) for at in range(more + 1)]
    conditions = tuple(Condition("and", text) for text in dict.fromkeys(texts[1:]) if any(map(str.isalnum, text)))
    ways = COMPOSING[:1] if conditions else DEFAULT_RETRIEVERS
    request = SearchRequest(work_id=work_id, claim_text=texts[0], conditions=conditions, length=length, retrievers=ways)
    bench.app.search.run(request, at_once=True)


def _answer(bench: Bench, work_id: str, claim: Claim, length: int) -> None:
    bench.app.search.run(SearchRequest(work_id=work_id, claim_text=claim.words, length=length))


def _nothing(bench: Bench) -> str:
    work = f" {bench.work('').id}" if bench.work_id else " WORK"
    what = "the work is not" if bench.work_id else "no work is"
    return f"{what} prepared. Prepare it first: python -m relic_core index{work}"


# ---- memory and start -----------------------------------------------------------------------------------------------


def plain(bench: Bench) -> Measured:
    """Have two processes prepare a work and answer the same claims in turns, one as a processor without AMX would."""
    work = bench.work(MIDDLING)
    bench.say(f"{work.title} on two processors")
    questions = bench.questions(1 + max(1, bench.effort.queries // 5))
    asked = [(claim, LENGTHS[at % len(LENGTHS)]) for at, claim in enumerate(questions)]
    figures, note = without_amx.measured(bench.app.settings, work.id, asked)
    return Measured(on=named(work), figures=figures, notes=(note,))


_OPEN = 3
_LIMIT_MB = 1500.0
_PROCESSES = Path("/proc")


def memory(bench: Bench) -> Measured:
    """Have a new process do what the app does, and ask it how large it was at most; then look at the server."""
    works = sorted(
        bench.named(),
        key=lambda each: (bench.app.indexes.ready(each.id, DENSE), each.sentences),
        reverse=True,
    )[:_OPEN]
    if not works:
        return not_measured("no work is stored. Add the sample first: python -m relic_core setup.")
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
        return not_measured(f"the process ended with {child.exitcode} before it could tell.")
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
        on=", ".join(f"{each.title} ({each.sentences:,} sentences)" for each in works),
        figures=tuple(figures),
        notes=tuple(notes),
    )


def _work(settings: Settings, work_ids: list[str], claim: str, pipe: Connection) -> None:
    """Do in this process what the app does, and send how many MB it had before the first work, and at most."""
    app = build(settings)
    names = tuple(card.name for card in app.retrievers.default())
    loaded = peak_mb(os.getpid())
    for work_id in work_ids:
        for length in LENGTHS:
            app.search.run(SearchRequest(work_id=work_id, claim_text=claim, length=length, retrievers=names))
    pipe.send((loaded, peak_mb(os.getpid())))
    pipe.close()


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


_PATIENCE = 120.0
_LOOK_SECONDS = 0.02
_LIBRARIES = "import torch, transformers; transformers.AutoModel"
_HERE = "127.0.0.1"


def start(bench: Bench) -> Measured:
    """Start the app and an empty one in turn; then ask in fresh processes, in turn with the libraries alone."""
    work = bench.prepared(LONGEST)
    if work is None:
        return not_measured("no work is prepared. Prepare one first: python -m relic_core index WORK")
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
            command = ["-m", "relic_core", "search", work.id, bench.claims[0].words]
            answers.append(_seconds_of(command, environment))
    return Measured(
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
    """Start an app with Streamlit on a port of this machine (0: a free one), wait until healthy, and end it after.

    Yields its process id, and the seconds from its start to the first healthy answer.

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
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "streamlit", "run", str(app), *flags],
            cwd=app.parent,
            env={**environment, "RELIC_FETCH_LARGER": "no"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            while not _healthy(port):
                waited = time.perf_counter() - began
                if process.poll() is not None or waited > _PATIENCE:
                    output.seek(0)
                    last = output.read().decode(errors="replace").strip().splitlines()[-1:]
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
    """Run Python and take the time. Raises RelicError: it failed."""
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
        last_line = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RelicError(f"A process that the bench started failed: {''.join(last_line) or done.returncode}")
    return seconds


_MEASURES: dict[str, Callable[[Bench], Measured]] = {
    each.__name__: each for each in (bm25, building, latency, library, reading, memory, start, plain, agreement)
}


def measure(
    app: App,
    parts: Sequence[str],
    *,
    work_id: str = "",
    full: bool = False,
    quick: bool = False,
    progress: Progress,
) -> Report:
    """Measure one part after another; all of `PARTS` where none is named. Nothing in `app` is changed.

    - `work_id`: the work that every part takes, in place of its own.
    - `full`: measure baselines whole that are reckoned from a part otherwise.
    - `quick`: do only as much as shows that every part runs.

    Raises NotFound: the sample's examples, whose claims are asked, are not in the store; or there is no work.
    """
    for part in parts:
        if part not in PARTS:
            raise unknown_name("part of the bench", part, PARTS)
    chosen = [part for part in PARTS if part in parts or not parts]
    effort = QUICK if quick else USUAL
    examples = app.store.examples.of_split("sample")
    if not examples:
        raise NotFound("The claims to measure with are those of the sample. Add it first: python -m relic_core setup.")
    longest = sorted(examples, key=lambda each: (-len(each.claim.words), each.id))
    claims = tuple(each.claim for each in longest[: effort.claims])
    words = round(sum(len(claim.words.split()) for claim in claims) / len(claims))
    began, at, note = time.perf_counter(), datetime.now(UTC), busy()
    found = []
    for done, part in enumerate(chosen):
        progress(done, len(chosen), part)

        def say(what: str, done: int = done, part: str = part) -> None:
            progress(done, len(chosen), f"{part}: {what}")

        bench = Bench(app=app, effort=effort, work_id=work_id, full=full, claims=claims, say=say)
        found.append(replace(_MEASURES[part](bench), part=part))
    progress(len(chosen), len(chosen), "")
    import torch

    return Report(
        machine={**in_full(), "threads": torch.get_num_threads()},
        code=code(),
        date=at.isoformat(timespec="seconds"),
        seconds=round(time.perf_counter() - began, 1),
        claims=f"{len(claims)} claims of the sample, the longest, with the sentences of criticism around the "
        f"quotation, up to 4 on either side ({words} words)",
        quick=quick,
        notes=(note,) if note else (),
        parts=tuple(found),
    )
