"""The compact index of a whole library: for libraries whose indexes are together too large for memory.

Sentences are compared, not spans: an inverted file of `nlist` lists (FAISS: ``IVF, SQ8``, inner products) holds the
vector of every sentence of all works in a byte for each dimension. A search looks into the `nprobe` lists nearest to
what is asked, takes the sentences found, and scores every span that holds one of them from the indexes of the single
works, exactly. So one compact index serves every length; what it may miss is a span none of whose sentences was found.

How many of the best it does miss is measured when it is built: recall at k is the share of the k best spans, as all
spans scored would rank them, that are among those found. Found spans are scored exactly, so each of them then stands
among the first k of the approximate answer too.

It is built from the indexes of single works, nothing is encoded again, and it stands beside them with a manifest of its
own: ``<indexes>/<retriever>/library/<digest of the recipe>/``. Works that were added since are no part of it, and those
that are gone are passed over.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from relic_core.domain import LENGTHS, Span, best_first
from relic_core.errors import StaleIndex
from relic_core.retrieval import index_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import Claim, WorkVersion
    from relic_core.encoders.cards import Similarity
    from relic_core.ports import Progress
    from relic_core.retrieval.index_files import Recipe
    from relic_core.retrieval.sentence_sums import DenseIndex

    Measures = Mapping[int, tuple[float, float]]
    """By length of span: recall at 10 and at 100."""

CODE = "compact/1"
"""Version of what is in the file and of how it is searched; a new one makes old indexes unused."""

FOLDER = "library"
"""Stands where the id of a work does for single works; ids end with eight hexadecimal digits."""

FILE = "library.faiss"

FOUND = 2_000
"""Sentences taken from the inverted file for each search."""

SEED = 20_220_522
"""Of the sample that the lists are learnt from, of the lists, and of the questions that recall is measured on."""

_NLIST_PER_ROOT = 2.5
"""Lists for each square root of the number of sentences; between 1 and 4 are usual (FAISS: Guidelines)."""
_LEARNT_FROM = 64
"""Sentences for each list that its centroid is learnt from; FAISS wants 39 to 256."""
_LEAST_PER_LIST = 39

QUESTIONS = 200
"""Questions that recall is measured on: the claims given, filled up with made ones."""

WANTED = 0.98
"""Recall at 10 that `nprobe` is chosen for, at every length."""

_BEST = 100
_NOISE = 1.2
"""Length of the noise in a made question beside a passage's vector of length 1. Claims about a novel are about as far
from its sentences."""


class _Prepared(Protocol):
    """What has prepared the works, as far as a compact index asks it: see `Dense`."""

    name: str
    root: Path
    similarity: Similarity

    @property
    def encoder_identity(self) -> str: ...

    @property
    def facts(self) -> Mapping[str, str | int]: ...

    def open(self, work: WorkVersion) -> DenseIndex: ...

    def claim_vector(self, claim: Claim) -> npt.NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class _Part:
    """Where a work stands in a compact index: its first sentence's row, and how many it has."""

    first: int
    sentences: int


class Compact:
    """A compact index, open."""

    def __init__(self, index: Any, notes: Mapping[str, Any]) -> None:  # noqa: ANN401 - faiss is not typed
        self._index = index
        self._nprobe = int(notes["probes"])
        self._parts: dict[tuple[str, str, str], _Part] = {}
        self._rows = 0
        for work_id, fingerprint, segmenter, sentences in notes["works"]:
            self._parts[work_id, fingerprint, segmenter] = _Part(self._rows, sentences)
            self._rows += sentences
        self.measured: Measures = {int(length): (ten, hundred) for length, (ten, hundred) in notes["measured"].items()}

    def holds(self, work: WorkVersion) -> bool:
        """Whether a work is in it, with the text and sentences it now has."""
        return _key(work) in self._parts

    def find(self, vector: npt.NDArray[np.float32], works: Sequence[WorkVersion]) -> dict[str, npt.NDArray[np.int64]]:
        """Find sentences of some works, all of which must be in it.

        Returns: by work id the sentences found, ascending; works without one are left out.
        """
        faiss = _faiss()
        parts = {work.id: self._parts[_key(work)] for work in works}
        wanted: dict[str, Any] = {}
        if sum(part.sentences for part in parts.values()) < self._rows:
            among = np.zeros(self._rows, dtype=bool)
            for part in parts.values():
                among[part.first : part.first + part.sentences] = True
            wanted["sel"] = faiss.IDSelectorBitmap(np.packbits(among, bitorder="little"))
        asked = faiss.SearchParametersIVF(nprobe=self._nprobe, **wanted)
        _, found = self._index.search(vector[None], FOUND, params=asked)
        rows = np.sort(found[0][found[0] >= 0])
        sentences = {}
        for work_id, part in parts.items():
            first, last = np.searchsorted(rows, [part.first, part.first + part.sentences])
            if first < last:
                sentences[work_id] = rows[first:last] - part.first
        return sentences


def spans_of(sentences: npt.NDArray[np.int64], work: WorkVersion, length: int) -> npt.NDArray[np.int64]:
    """List where the spans begin that hold one of some sentences.

    >>> from relic_core.domain import WorkVersion
    >>> work = WorkVersion(id="a", title="A", fingerprint="", segmenter="", sentences=10)
    >>> spans_of(np.array([0, 5, 9]), work, 2).tolist()
    [0, 4, 5, 8]
    """
    starts = np.unique(sentences[:, None] - np.arange(length))
    return starts[(starts >= 0) & (starts < work.candidates(length))]


def newest(root: Path, retriever: str, encoder: str, works: Sequence[WorkVersion]) -> Recipe | None:
    """Find the compact index of an encoder that holds the most sentences of some works; None where there is none."""
    wanted = {_key(work) for work in works}
    best, most = None, 0
    for manifest in index_files.manifests(root, retriever, FOLDER):
        if (manifest["encoder"], manifest["code"]) == (encoder, CODE):
            held = sum(sentences for *key, sentences in manifest["notes"]["works"] if tuple(key) in wanted)
            if held > most:
                best, most = index_files.Recipe.in_manifest(manifest), held
    return best


def open_compact(root: Path, recipe: Recipe) -> Compact:
    """Open a compact index, its lists memory-mapped; its file is handed to FAISS only after its content was checked.

    Raises NoIndex, StaleIndex: as `index_files.load`.
    """
    faiss = _faiss()
    notes = index_files.notes(root, recipe)
    path = index_files.checked(root, recipe, FILE)
    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
    except RuntimeError:
        raise StaleIndex(
            f"The compact index of the library for {recipe.retriever} was written by FAISS {notes['faiss']}, and "
            f"FAISS {faiss.__version__} cannot read it. Delete {path.parent} and build it again."
        ) from None
    return Compact(index, notes)


def build(dense: _Prepared, works: Sequence[WorkVersion], progress: Progress, *, claims: Sequence[Claim] = ()) -> None:
    """Build the compact index of some works from their own indexes, and measure it.

    Those of the same encoder that were built before are deleted then. `progress` is told of sentences, each counting
    twice: put in, and gone through for measuring. Where somebody else is building the same one, waits for that.

    - `dense`: who has prepared the works.
    - `works`: all works of the library that are prepared.
    - `progress`: told how far it has come.
    - `claims`: real questions; recall is measured on them and on made ones.

    Raises NoIndex, StaleIndex: a work has not been prepared, or its index is damaged.
    Raises StoreReadOnly: the folder of indexes cannot be written.
    """
    total = 2 * sum(work.sentences for work in works)
    recipe = _recipe(works, dense.name, dense.encoder_identity)

    def waiting() -> None:
        progress(0, total, "Another program is building the library's index")

    with index_files.building(dense.root, recipe, while_waiting=waiting):
        if not index_files.exists(dense.root, recipe):
            _build(dense, recipe, works, progress, claims)
    for manifest in index_files.manifests(dense.root, dense.name, FOLDER):
        other = index_files.Recipe.in_manifest(manifest)
        if other.encoder == recipe.encoder and other.digest != recipe.digest:
            index_files.remove(dense.root, other)


def _build(
    dense: _Prepared, recipe: Recipe, works: Sequence[WorkVersion], progress: Progress, claims: Sequence[Claim]
) -> None:
    faiss = _faiss()
    began = time.perf_counter()
    rng = np.random.default_rng(SEED)
    rows = sum(work.sentences for work in works)
    nlist = max(1, min(int(_NLIST_PER_ROOT * rows**0.5), rows // _LEAST_PER_LIST))
    progress(0, 2 * rows, "Learning what sentences there are")
    sample = _sample(dense, works, np.sort(rng.choice(rows, min(rows, _LEARNT_FROM * nlist), replace=False)))
    index = faiss.index_factory(sample.shape[1], f"IVF{nlist},SQ8", faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = SEED
    index.train(sample)
    for work in works:
        index.add(np.ascontiguousarray(dense.open(work).sentence_vectors(dense.similarity)))
        progress(index.ntotal, 2 * rows, "Putting the works in")
    asked = queries(dense, works, claims, rng)

    def search(nprobe: int) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = index.search(asked, FOUND, params=faiss.SearchParametersIVF(nprobe=nprobe))[1]
        return found

    def report(done: int) -> None:
        progress(rows + done, 2 * rows, "Measuring what it finds")

    best = _best(dense, works, asked, report)
    nprobe, measures = _measure(best, search, nlist)
    notes = {
        "works": [[*_key(work), work.sentences] for work in works],
        "sentences": rows,
        "encoder": dict(dense.facts),
        "faiss": faiss.__version__,
        "index": f"IVF{nlist},SQ8",
        "probes": nprobe,
        "found": FOUND,
        "seed": SEED,
        "measured": {str(length): recalls for length, recalls in measures.items()},
        "measured on": {"claims": min(len(claims), len(asked)), "made questions": max(0, len(asked) - len(claims))},
        "seconds": round(time.perf_counter() - began, 2),
    }
    files = {FILE: lambda path: faiss.write_index(index, str(path))}
    index_files.save(dense.root, recipe, {}, files=files, notes=notes)


def queries(
    dense: _Prepared, works: Sequence[WorkVersion], claims: Sequence[Claim], rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Make the questions: real claims, and two neighbouring sentences' vector with noise, which is like none stored.

    Returns: `QUESTIONS` of them; fewer where no work has two sentences.
    """
    asked = [dense.claim_vector(claim) for claim in claims[:QUESTIONS]]
    indexes: dict[str, DenseIndex] = {}
    pairs = np.array([work.candidates(2) for work in works], dtype=np.float64)
    for number in rng.choice(len(works), QUESTIONS - len(asked), p=pairs / pairs.sum()) if pairs.sum() else ():
        work = works[number]
        index = indexes[work.id] = indexes.get(work.id) or dense.open(work)
        passage = index.vector(Span(int(rng.integers(work.candidates(2))), 2), dense.similarity)
        noise = rng.standard_normal(len(passage))
        made = passage + noise * (_NOISE * np.linalg.norm(passage) / np.linalg.norm(noise))
        asked.append((made / (np.linalg.norm(made) or 1.0)).astype(np.float32))
    return np.array(asked, dtype=np.float32)


def _measure(
    best: Mapping[int, npt.NDArray[np.int64]], search: Callable[[int], npt.NDArray[np.int64]], nlist: int
) -> tuple[int, Measures]:
    """Choose into how many lists to look, and measure recall with them.

    - `best`: see `_best`.
    - `search`: gives the sentences found for each question, counted through all works, with so many lists probed.

    What it returns:
    - `nprobe`: the smallest power of two that gives a recall at 10 of `WANTED` at every length; all lists where none
      does.
    - `measures`: with so many.
    """
    nprobe = 1
    while True:
        measures = _recalls(best, search(nprobe)) if best else {}
        if nprobe >= nlist or all(ten >= WANTED for ten, _ in measures.values()):
            return nprobe, measures
        nprobe = min(2 * nprobe, nlist)


def _recalls(best: Mapping[int, npt.NDArray[np.int64]], found: npt.NDArray[np.int64]) -> Measures:
    recalls = {}
    for length, rows in best.items():
        shares = []
        for row, sentences in zip(rows, found, strict=True):
            real = row[row >= 0]  # a library of few spans has fewer than a hundred
            held = real[:, None] + np.arange(length)
            hit: npt.NDArray[np.bool_] = np.any(np.isin(held, sentences), axis=1)
            if len(real):
                shares.append((hit[:10].mean(), hit.mean()))
        if shares:
            ten, hundred = np.mean(shares, axis=0)
            recalls[length] = (round(float(ten), 4), round(float(hundred), 4))
    return recalls


def _best(
    dense: _Prepared,
    works: Sequence[WorkVersion],
    asked: npt.NDArray[np.float32],
    report: Callable[[int], None],
) -> dict[int, npt.NDArray[np.int64]]:
    """Rank all spans; by length the best for each question, as rows of their first sentences, shape (n_questions, 100).

    Where there are fewer spans the rest is -1. Works are gone through one by one, so that no more than one has to be
    in memory.
    """
    lengths = LENGTHS if len(asked) else ()
    rows = {length: np.full((len(asked), _BEST), -1, dtype=np.int64) for length in lengths}
    scores = {length: np.full((len(asked), _BEST), -np.inf, dtype=np.float32) for length in lengths}
    first = 0
    for work in works:
        index = dense.open(work)
        for length in lengths:
            here = index.score_many(asked, length, dense.similarity).T
            together = np.concatenate([scores[length], here], axis=1)
            places = np.arange(first, first + here.shape[1])
            which = np.concatenate([rows[length], np.broadcast_to(places, here.shape)], axis=1)
            some = np.argpartition(-together, _BEST - 1, axis=1)[:, :_BEST]
            order = best_first(np.take_along_axis(together, some, axis=1))
            keep = np.take_along_axis(some, order, axis=1)
            scores[length] = np.take_along_axis(together, keep, axis=1)
            rows[length] = np.take_along_axis(which, keep, axis=1)
        first += work.sentences
        report(first)
    return rows


def _sample(dense: _Prepared, works: Sequence[WorkVersion], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Take the vectors of some sentences, counted through all works, ascending."""
    taken, first = [], 0
    for work in works:
        inside = rows[(rows >= first) & (rows < first + work.sentences)] - first
        taken.append(dense.open(work).sentence_vectors(dense.similarity)[inside])
        first += work.sentences
    return np.concatenate(taken)


def _faiss() -> Any:  # noqa: ANN401 - its stubs do not know all that is called here
    """Give FAISS, loaded when it is first needed."""
    import faiss

    return faiss


def _key(work: WorkVersion) -> tuple[str, str, str]:
    return work.id, work.fingerprint, work.segmenter


def _recipe(works: Sequence[WorkVersion], retriever: str, encoder: str) -> Recipe:
    everything = json.dumps([[*_key(work), work.sentences] for work in works]).encode()
    return index_files.Recipe(
        retriever=retriever,
        work_id=FOLDER,
        title="The whole library",
        work=hashlib.sha256(everything).hexdigest(),
        segmenter="as of each work",
        encoder=encoder,
        code=CODE,
    )
