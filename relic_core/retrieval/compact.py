"""The compact index of a whole library: for libraries whose indexes are together too large for memory.

Sentences are compared, not spans: an inverted file of `nlist` lists (FAISS: ``IVF, SQ4``, inner products) holds the
vector of every sentence of all works in half a byte for each dimension. A search looks into the `nprobe` lists nearest
to what is asked, takes the sentences found, and scores every span that holds one of them from the indexes of the single
works, exactly. So one compact index serves every length; what it may miss is a span none of whose sentences was found.
The lists stay on disk, memory-mapped: a search reads those it looks into. Those built before, of a whole byte for each
dimension, are read as they are.

It is built in parts, each of some works, which workers may share and of which a build that was stopped has kept those
that were finished. The parts are then merged, list by list, so that what a search reads of a list lies together.

How many of the best it does miss is measured when it is built: recall at k is the share of the k best spans, as all
spans scored would rank them, that are among those found. Found spans are scored exactly, so each of them then stands
among the first k of the approximate answer too.

It is built from the indexes of single works, nothing is encoded again, and it stands beside them with a manifest of its
own: ``<indexes>/<retriever>/library/<digest of the recipe>/``. Works added since are not part of it, and those
that are gone are passed over.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from relic_core.domain import LENGTHS, Claim, Span, WorkVersion, best_first
from relic_core.encoders.cards import Similarity
from relic_core.errors import StaleIndex
from relic_core.ports import Progress, Workers
from relic_core.retrieval import index_files
from relic_core.retrieval.index_files import Recipe
from relic_core.retrieval.sentence_sums import DenseIndex

Measures = Mapping[int, tuple[float, float]]
"""By length of span: recall at 10 and at 100."""

CODE = "compact/2"
"""Version of what is in the file and of how it is searched; a new one makes old indexes unused."""

FOLDER = "library"
"""Stands where the id of a work does for single works; ids end with eight hexadecimal digits."""

FILE = "library.faiss"
LISTS = "library.lists"
"""The centroids, and the inverted lists: of each list the bytes of all its vectors, then their sentences."""

PART = 1_000_000
"""Sentences of a part, its last work apart: a worker holds half a byte for each of their dimensions in memory."""

FOUND = 2_000
"""Sentences taken from the inverted file for each search."""

SEED = 20_220_522
"""Of the sample that the lists are trained on, of the lists, and of the questions that recall is measured on."""

_NLIST_PER_ROOT = 8
"""Lists for each square root of the number of sentences (FAISS, Guidelines: 4 to 16). Claims lie far from all sentences
and what is nearest to them is spread over many lists; of more lists a smaller share has to be read."""
_LEARNT_FROM = 40
"""Sentences for each list that its centroid is trained on; FAISS wants 39 to 256."""
_LEAST_PER_LIST = 39
_MANY_LISTS = 1_024
"""Lists from which on centroids are trained in two levels and found through a graph (HNSW) where sentences are put in:
comparing every sentence with every centroid would take longer than all else."""
_LINKS = 32
"""Of a centroid in the graph."""
_CANDIDATES = 16
"""Centroids that a walk through the graph keeps in view where sentences are put into lists (efSearch)."""

QUESTIONS = 200
"""Questions that recall is measured on: the claims given, filled up with made ones."""

WANTED = 0.98
"""Recall at 10 that `nprobe` is chosen for, at every length."""

_TRAINED, _QUESTIONS = "trained.faiss", "questions.npy"
"""Files beside the parts: the index before anything was put in, and the questions."""

_ID = 8
"""Bytes of the number of a sentence in a list."""
_BUFFER = 1 << 24
"""Bytes that are written at a time."""

_SAMPLED = 4
"""How many times the sentences wanted for learning the works have that they are drawn from."""

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

    def recipe(self, work: WorkVersion) -> Recipe: ...

    def claim_vector(self, claim: Claim) -> npt.NDArray[np.float32]: ...


class Compact:
    """A compact index, open."""

    def __init__(self, index: Any, notes: Mapping[str, Any]) -> None:  # noqa: ANN401 - faiss is not typed
        self._index = index
        self._nprobe = int(notes["probes"])
        counts = [sentences for *_, sentences, _ in notes["works"]]
        self._first = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self._number = {tuple(key): number for number, (*key, _, _) in enumerate(notes["works"])}
        self._bytes = [size for *_, size in notes["works"]]
        self.measured: Measures = {int(length): (ten, hundred) for length, (ten, hundred) in notes["measured"].items()}

    def holds(self, work: WorkVersion) -> bool:
        """Whether a work is in it, with the text and sentences it now has."""
        return _key(work) in self._number

    def size(self, work: WorkVersion) -> int | None:
        """Give the bytes that the index of a work had when it was put in; None of a work that is not in it."""
        number = self._number.get(_key(work))
        return None if number is None else self._bytes[number]

    def find(self, vector: npt.NDArray[np.float32], works: Sequence[WorkVersion]) -> dict[str, npt.NDArray[np.int64]]:
        """Find sentences of some works, all of which must be in it: by work id, ascending; none of a work, no key."""
        ids = {self._number[_key(work)]: work.id for work in works}
        among = None
        if len(ids) < len(self._number):
            chosen = np.isin(np.arange(len(self._number)), list(ids))
            bits = np.packbits(np.repeat(chosen, np.diff(self._first)), bitorder="little")
            among = _faiss().IDSelectorBitmap(bits)
        rows = np.sort(_search(self._index, vector[None], self._nprobe, among)[0])
        numbers = np.searchsorted(self._first, rows, side="right") - 1
        return {
            ids[number]: rows[numbers == number] - self._first[number]
            for number in np.unique(numbers).tolist()
            if number in ids
        }


def _search(index: Any, questions: npt.NDArray[np.float32], nprobe: int, among: Any = None) -> npt.NDArray[np.int64]:  # noqa: ANN401 - faiss is not typed
    """Find the sentences nearest to each question, `among` some, counted through all works; -1 for none."""
    faiss = _faiss()
    near, lists = _coarse(index).search(questions, nprobe)
    params = faiss.SearchParametersIVF(nprobe=nprobe, sel=among)
    found = np.empty((len(questions), FOUND), dtype=np.int64)
    scores = np.empty(found.shape, dtype=np.float32)
    pointers = map(faiss.swig_ptr, (lists, near, scores, found))
    index.search_preassigned_c(len(questions), faiss.swig_ptr(questions), FOUND, *pointers, False, params)
    return found


def _coarse(index: Any) -> Any:  # noqa: ANN401 - faiss is not typed
    """Give what compares a question with every centroid: for one at a time that takes milliseconds, and misses none."""
    faiss = _faiss()
    coarse = faiss.downcast_index(index.quantizer)
    return faiss.downcast_index(coarse.storage) if _has_graph(index) else coarse


def _has_graph(index: Any) -> bool:  # noqa: ANN401 - faiss is not typed
    return isinstance(_faiss().downcast_index(index.quantizer), _faiss().IndexHNSW)


def spans_of(sentences: npt.NDArray[np.int64], work: WorkVersion, length: int) -> npt.NDArray[np.int64]:
    """List where the spans begin that hold one of some sentences.

    >>> from relic_core.domain import WorkVersion
    >>> work = WorkVersion(id="a", title="A", fingerprint="", reading="", segmenter="", sentences=10)
    >>> spans_of(np.array([0, 5, 9]), work, 2).tolist()
    [0, 4, 5, 8]
    """
    starts = np.unique(sentences[:, None] - np.arange(length))
    return starts[(starts >= 0) & (starts < work.candidates(length))]


def newest(root: Path, retriever: str, encoder: str, works: Sequence[WorkVersion]) -> Recipe | None:
    """Find the compact index of an encoder that holds the most sentences of some works; None where there is none."""
    found = [
        manifest
        for manifest in index_files.manifests(root, retriever, FOLDER)
        if (manifest["encoder"], manifest["code"]) == (encoder, CODE)
    ]
    if len(found) > 1:
        wanted = {_key(work) for work in works}
        found.sort(
            key=lambda manifest: sum(
                sentences for *key, sentences, _ in manifest["notes"]["works"] if tuple(key) in wanted
            )
        )
    return index_files.Recipe.in_manifest(found[-1]) if found else None


def open_compact(root: Path, recipe: Recipe) -> Compact:
    """Open a compact index, its lists memory-mapped; its file is handed to FAISS only after its content was checked.

    Of the lists the size is checked alone: reading them through would take longer than hundreds of searches. Damaged
    ones find other sentences, never other scores, which come from the works' own indexes.
    """
    faiss = _faiss()
    notes = index_files.notes(root, recipe)
    path, sizes = index_files.checked(root, recipe, FILE), index_files.load(root, recipe)["sizes"]
    try:
        index = _opened(path, path.with_name(LISTS), sizes)
    except RuntimeError:
        raise StaleIndex(
            f"The compact index of the library for {recipe.retriever} was written by FAISS {notes['faiss']}, and "
            f"FAISS {faiss.__version__} cannot read it. Delete {path.parent} and build it again."
        ) from None
    return Compact(index, notes)


def build(
    dense: _Prepared,
    works: Sequence[WorkVersion],
    progress: Progress,
    *,
    claims: Sequence[Claim] = (),
    workers: Workers | None = None,
) -> None:
    """Build the compact index of some works from their own indexes, and measure it.

    Those of the same encoder that were built before are deleted then. `progress` counts sentences. A build that was
    stopped goes on with the parts that it lacks. Where somebody else is building the same one, waits for that.

    - `claims`: real questions; recall is measured on them and on made ones.
    - `workers`: build the parts; by default this process does. They see the folder of indexes under the same path.

    Raises NoIndex, StaleIndex: a work has not been prepared, or its index is damaged.
    """
    recipe = _recipe(works, dense.name, dense.encoder_identity)

    def waiting() -> None:
        progress(0, _rows(works), "Another program is building the library's index")

    with index_files.building(dense.root, recipe, while_waiting=waiting):
        if not index_files.exists(dense.root, recipe):
            _build(dense, recipe, works, progress, claims, workers)
    for manifest in index_files.manifests(dense.root, dense.name, FOLDER):
        other = index_files.Recipe.in_manifest(manifest)
        if other.encoder == recipe.encoder and other.digest != recipe.digest:
            index_files.remove(dense.root, other)


def _build(
    dense: _Prepared,
    recipe: Recipe,
    works: Sequence[WorkVersion],
    progress: Progress,
    claims: Sequence[Claim],
    workers: Workers | None,
) -> None:
    faiss = _faiss()
    began = time.perf_counter()
    rows = _rows(works)
    parts = index_files.Parts(dense.root, recipe)
    progress(0, rows, "Learning what sentences there are")
    questions = _begin(dense, works, claims, parts)
    tasks = _parts(dense, recipe, works)
    done = 0
    for sentences in workers.map(make_part, tasks) if workers else map(make_part, tasks):
        done += sentences
        progress(done, rows, "Putting the works in")
    progress(rows, rows, "Measuring what it finds")
    best = Best(questions, dense.similarity)
    shards, bytes_of_works = [], []
    for task in tasks:
        part = parts.load(task.number)
        if part is None:
            raise StaleIndex(
                f"Part {task.number} of the library's index is damaged. Build it again: the others are kept."
            )
        best.merge(part["rows"], part["scores"])
        shards.append((parts.path(task.file), part["sizes"]))
        bytes_of_works += part["bytes"].tolist()
    sizes: npt.NDArray[np.uint64] = np.stack([sizes for _, sizes in shards]).sum(axis=0, dtype=np.uint64)
    parts.write(LISTS, lambda path: _merge(shards, path))
    index = _opened(parts.path(_TRAINED), parts.path(LISTS), sizes)
    nprobe, measures = _measure(
        dict(zip(LENGTHS, best.rows, strict=False)), lambda nprobe: _search(index, questions, nprobe), index.nlist
    )
    bits = 8 * index.code_size // index.d  # 8 where an earlier version began the build
    notes = {
        "works": [[*_key(work), work.sentences, size] for work, size in zip(works, bytes_of_works, strict=True)],
        "sentences": rows,
        "encoder": dict(dense.facts),
        "faiss": faiss.__version__,
        "index": f"IVF{index.nlist}{f'_HNSW{_LINKS}' if _has_graph(index) else ''},SQ{bits}",
        "probes": nprobe,
        "found": FOUND,
        "seed": SEED,
        "measured": {str(length): recalls for length, recalls in measures.items()},
        "measured on": {
            "claims": min(len(claims), len(questions)),
            "made questions": max(0, len(questions) - len(claims)),
        },
        "parts": len(tasks),
        "seconds": round(time.perf_counter() - began, 2),
    }
    files = {FILE: parts.path(_TRAINED).rename, LISTS: parts.path(LISTS).rename}
    index_files.save(dense.root, recipe, {"sizes": sizes}, files=files, notes=notes)
    parts.clear()


def queries(
    dense: _Prepared, works: Sequence[WorkVersion], claims: Sequence[Claim], rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Make `QUESTIONS`: real claims, and two neighbouring sentences' vector with noise, which is like none stored."""
    questions = [dense.claim_vector(claim) for claim in claims[:QUESTIONS]]
    indexes: dict[str, DenseIndex] = {}
    pairs = np.array([work.candidates(2) for work in works], dtype=np.float64)
    for number in rng.choice(len(works), QUESTIONS - len(questions), p=pairs / pairs.sum()) if pairs.sum() else ():
        work = works[number]
        index = indexes[work.id] = indexes.get(work.id) or dense.open(work)
        passage = index.vector(Span(int(rng.integers(work.candidates(2))), 2), dense.similarity)
        noise = rng.standard_normal(len(passage))
        made = passage + noise * (_NOISE * np.linalg.norm(passage) / np.linalg.norm(noise))
        questions.append((made / (np.linalg.norm(made) or 1.0)).astype(np.float32))
    return np.array(questions, dtype=np.float32)


def _measure(
    best: Mapping[int, npt.NDArray[np.int64]], search: Callable[[int], npt.NDArray[np.int64]], nlist: int
) -> tuple[int, Measures]:
    """Choose into how many lists to look, and measure recall with them.

    - `best`: by length the best spans for each question, as the rows of their first sentences: see `Best`.
    - `search`: gives the sentences found for each question, counted through all works, with so many lists probed.

    Returns: the fewest lists that give a recall at 10 of `WANTED` at every length, in steps of four to a doubling, all
    where none does; and the measures with so many.
    """
    steps = sorted({min(nlist, round(2 ** (step / 4))) for step in range(4 * nlist.bit_length() + 1)})
    measured: dict[int, Measures] = {}

    def enough(nprobe: int) -> bool:
        measured[nprobe] = _recalls(best, search(nprobe)) if best else {}
        return nprobe == nlist or all(ten >= WANTED for ten, _ in measured[nprobe].values())

    first = next(at for at in (*range(0, len(steps), 4), len(steps) - 1) if enough(steps[at]))
    nprobe = next(steps[at] for at in range(max(0, first - 3), first + 1) if enough(steps[at]))
    return nprobe, measured[nprobe]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some works of a compact index that is being built, the recipes of their own indexes, and its first row in it."""

    root: Path
    recipe: Recipe
    number: int
    first: int
    works: tuple[Recipe, ...]
    similarity: Similarity

    @property
    def file(self) -> str:
        """Name of the file of its lists, among those of the parts."""
        return f"{self.number:05}.lists"


def make_part(part: Part) -> int:
    """Put the sentences of a part, which it counts, into lists, and rank its spans for the questions, unless done."""
    parts = index_files.Parts(part.root, part.recipe)
    finished = parts.load(part.number)
    if finished is not None and parts.path(part.file).exists():
        return int(finished["sizes"].sum())
    faiss = _faiss()
    index = faiss.read_index(str(parts.path(_TRAINED)))
    best = Best(np.load(parts.path(_QUESTIONS), allow_pickle=False), part.similarity)
    at, taken = part.first, []
    for recipe in part.works:
        taken.append(index_files.size(part.root, recipe))
        work = DenseIndex(**index_files.load(part.root, recipe))
        vectors = np.ascontiguousarray(work.sentence_vectors(part.similarity))
        index.add_with_ids(vectors, np.arange(at, at + len(vectors)))
        best.add(work, at)
        at += len(vectors)
    lists = index.invlists
    sizes = np.array([lists.list_size(number) for number in range(index.nlist)], dtype=np.uint64)

    def write(path: Path) -> None:
        with path.open("wb") as file:
            for number in np.flatnonzero(sizes).tolist():
                size = int(sizes[number])
                file.write(faiss.rev_swig_ptr(lists.get_codes(number), size * index.code_size))
                file.write(faiss.rev_swig_ptr(lists.get_ids(number), size))

    parts.write(part.file, write)
    parts.save(part.number, {"rows": best.rows, "scores": best.scores, "sizes": sizes, "bytes": np.array(taken)})
    return at - part.first


class Best:
    """The best spans of each length for some questions, as all spans scored rank them.

    - `rows`: of their first sentences, shape (n_lengths, n_questions, 100); -1 where there are fewer.
    - `scores`: theirs.
    """

    def __init__(self, questions: npt.NDArray[np.float32], similarity: Similarity) -> None:
        self._questions = questions
        self._similarity: Similarity = similarity
        shape = (len(LENGTHS) if len(questions) else 0, len(questions), _BEST)
        self.rows = np.full(shape, -1, dtype=np.int64)
        self.scores = np.full(shape, -np.inf, dtype=np.float32)

    def add(self, work: DenseIndex, first: int) -> None:
        """Score all spans of a work, whose first sentence has that row."""
        lengths = LENGTHS[: len(self.rows)]
        for number, found in enumerate(work.score_many(self._questions, lengths, self._similarity)):
            some = np.flatnonzero((found > self.scores[number, :, -1]).any(axis=1))
            self._merge(number, np.broadcast_to(first + some, (len(self._questions), len(some))), found[some].T)

    def merge(self, rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float32]) -> None:
        """Take in the best of other works, in the shape of `rows` and `scores`."""
        for number in range(len(self.rows)):
            self._merge(number, rows[number], scores[number])

    def _merge(self, number: int, rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float32]) -> None:
        together = np.concatenate([self.scores[number], scores], axis=1)
        which = np.concatenate([self.rows[number], rows], axis=1)
        some = np.argpartition(-together, _BEST - 1, axis=1)[:, :_BEST]
        order = best_first(np.take_along_axis(together, some, axis=1))
        keep = np.take_along_axis(some, order, axis=1)
        self.scores[number] = np.take_along_axis(together, keep, axis=1)
        self.rows[number] = np.take_along_axis(which, keep, axis=1)


def _parts(dense: _Prepared, recipe: Recipe, works: Sequence[WorkVersion]) -> list[Part]:
    """Cut works into parts of about `PART` sentences."""
    cut: list[Part] = []
    some: list[Recipe] = []
    first = at = 0
    for number, work in enumerate(works, start=1):
        some.append(dense.recipe(work))
        at += work.sentences
        if at - first >= PART or number == len(works):
            cut.append(
                Part(
                    root=dense.root, recipe=recipe, number=len(cut), first=first, works=tuple(some),
                    similarity=dense.similarity,
                )
            )  # fmt: skip
            some, first = [], at
    return cut


def _begin(
    dense: _Prepared, works: Sequence[WorkVersion], claims: Sequence[Claim], parts: index_files.Parts
) -> npt.NDArray[np.float32]:
    """Learn the lists, and make the questions, which it gives; or read what an earlier build had of both."""
    if not (parts.path(_TRAINED).exists() and parts.path(_QUESTIONS).exists()):
        rng = np.random.default_rng(SEED)
        questions = queries(dense, works, claims, rng)
        index = _trained(dense, works, rng)
        parts.write(_QUESTIONS, lambda path: np.save(path, questions, allow_pickle=False))
        trained = _faiss().serialize_index(index).tobytes()
        parts.write(_TRAINED, lambda path: path.write_bytes(trained))
    kept: npt.NDArray[np.float32] = np.load(parts.path(_QUESTIONS), allow_pickle=False)
    return kept


def _trained(dense: _Prepared, works: Sequence[WorkVersion], rng: np.random.Generator) -> Any:  # noqa: ANN401 - faiss is not typed
    """Learn the centroids from a sample, and between which numbers those of each dimension stand."""
    faiss = _faiss()
    rows = _rows(works)
    nlist = max(1, min(int(_NLIST_PER_ROOT * rows**0.5), rows // _LEAST_PER_LIST))
    sample = _sample(dense, works, _LEARNT_FROM * nlist, rng)
    if nlist < _MANY_LISTS:
        index = faiss.index_factory(sample.shape[1], f"IVF{nlist},SQ4", faiss.METRIC_INNER_PRODUCT)
        index.cp.seed = SEED
    else:
        index = faiss.index_factory(sample.shape[1], f"IVF{nlist}_HNSW{_LINKS},SQ4", faiss.METRIC_INNER_PRODUCT)
        graph = faiss.downcast_index(index.quantizer)
        graph.hnsw.efSearch = _CANDIDATES
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # several would link them otherwise every time
        graph.add(_centroids(sample, nlist))
        faiss.omp_set_num_threads(threads)
    index.train(sample)
    return index


def _centroids(sample: npt.NDArray[np.float32], nlist: int) -> npt.NDArray[np.float32]:
    """Learn centroids in two levels: the square root of as many, then each one's share; shape (nlist, dimension)."""
    groups, first = _kmeans(sample, max(1, int(nlist**0.5)))
    sizes = np.bincount(groups, minlength=len(first))
    shares = np.diff(np.concatenate([[0], np.cumsum(sizes)]) * nlist // len(sample))
    return np.concatenate(
        [_kmeans(sample[groups == group], int(share))[1] for group, share in enumerate(shares) if share]
    )


def _kmeans(vectors: npt.NDArray[np.float32], k: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Learn `k` centroids, of length 1; the number of each vector's own, and the centroids."""
    faiss = _faiss()
    learnt = faiss.Kmeans(vectors.shape[1], k, niter=10, seed=SEED, spherical=True, min_points_per_centroid=1)
    learnt.train(vectors)
    return learnt.index.search(vectors, 1)[1][:, 0], learnt.centroids


def _sample(
    dense: _Prepared, works: Sequence[WorkVersion], wanted: int, rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Draw the vectors of so many sentences, from works drawn first that have some times as many."""
    order = rng.permutation(len(works))
    sizes = np.array([works[number].sentences for number in order])
    enough = int(np.searchsorted(np.cumsum(sizes), _SAMPLED * wanted)) + 1
    share = min(1.0, wanted / max(1, sizes[:enough].sum()))
    taken = []
    for number, size in zip(order[:enough].tolist(), sizes.tolist(), strict=False):
        some = np.sort(rng.choice(size, round(size * share), replace=False))
        taken.append(dense.open(works[number]).sentence_vectors(dense.similarity)[some])
    return np.concatenate(taken)


def _merge(shards: Sequence[tuple[Path, npt.NDArray[np.uint64]]], path: Path) -> None:
    """Merge the lists of parts, each a file and the sizes of its lists, into one file."""
    opened = []
    for shard, sizes in shards:
        if not sizes.any():  # its works are empty, and so is its file
            continue
        width = shard.stat().st_size // int(sizes.sum())
        begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64) * width
        opened.append((np.memmap(shard, dtype=np.uint8, mode="r"), begins.tolist(), sizes.tolist(), width - _ID))
    with path.open("wb", buffering=_BUFFER) as file:
        for number in range(len(shards[0][1])):
            for data, begins, sizes, code in opened:
                file.write(data[begins[number] : begins[number] + sizes[number] * code].data)
            for data, begins, sizes, code in opened:
                file.write(data[begins[number] + sizes[number] * code : begins[number + 1]].data)


def _opened(trained: Path, lists: Path, sizes: npt.NDArray[np.uint64]) -> Any:  # noqa: ANN401 - faiss is not typed
    """Open an index over lists on disk, memory-mapped, of those sizes. Raises RuntimeError: FAISS cannot read it."""
    faiss = _faiss()
    index = faiss.read_index(str(trained))
    on_disk = faiss.OnDiskInvertedLists(index.nlist, index.code_size, str(lists))
    sizes = np.ascontiguousarray(sizes)
    on_disk.set_all_lists_sizes(faiss.swig_ptr(sizes))
    on_disk.read_only, on_disk.totsize = True, lists.stat().st_size
    on_disk.do_mmap()
    index.replace_invlists(on_disk, True)
    on_disk.this.disown()
    index.ntotal = int(sizes.sum())
    index.parallel_mode = 1  # over lists: a search is one question, which would keep one core busy otherwise
    return index


def _faiss() -> Any:  # noqa: ANN401 - its stubs do not know all that is called here
    import faiss

    return faiss


def _rows(works: Sequence[WorkVersion]) -> int:
    return sum(work.sentences for work in works)


def _key(work: WorkVersion) -> tuple[str, str, str]:
    return work.id, work.reading, work.segmenter


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
