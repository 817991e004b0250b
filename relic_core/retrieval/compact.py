"""The compact index of a whole library: for libraries whose indexes are together too large for memory.

Sentences are compared, not spans: an inverted file of cells (FAISS: ``IVF, SQ8``, inner products) holds the vector of
every sentence of all works in a byte for each dimension. A search looks into the cells nearest to what is asked, takes
the sentences found, and scores every span that holds one of them from the indexes of the single works, exactly. So one
compact index serves every length; what it may miss is a span none of whose sentences was found, and `compact_recall`
says how many of the best it does miss.

It is built from the indexes of single works, nothing is encoded again, and it stands beside them with a manifest of its
own: ``<indexes>/<retriever>/library/<digest of the recipe>/``. Works that were added since are no part of it, and those
that are gone are passed over.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core.domain import LENGTHS
from relic_core.errors import StaleIndex
from relic_core.retrieval import index_builds, index_files
from relic_core.retrieval.compact_recall import measure, queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import Claim, WorkVersion
    from relic_core.ports import Progress
    from relic_core.retrieval.compact_recall import Measures, Prepared
    from relic_core.retrieval.index_files import Recipe

CODE = "compact/1"
"""Version of what is in the file and of how it is searched; a new one makes old indexes unused."""

FOLDER = "library"
"""Stands where the id of a work does for single works; ids end with eight hexadecimal digits."""

FILE = "library.faiss"

FOUND = 2_000
"""Sentences taken from the inverted file for each search."""

SEED = 20_220_522
"""Of the sample that the cells are learnt from, of the cells, and of the questions that recall is measured on."""

_CELLS_PER_ROOT = 2.5
"""Cells for each square root of the number of sentences; between 1 and 4 are usual (FAISS: Guidelines)."""
_LEARNT_FROM = 64
"""Sentences for each cell that its centre is learnt from; FAISS wants 39 to 256."""
_LEAST_PER_CELL = 39


@dataclass(frozen=True, slots=True)
class _Part:
    """Where a work stands in a compact index: its first sentence's row, and how many it has."""

    first: int
    sentences: int


class Compact:
    """A compact index, open."""

    def __init__(self, index: Any, notes: Mapping[str, Any]) -> None:  # noqa: ANN401 - faiss is not typed
        self._index = index
        self._probes = int(notes["probes"])
        self._parts: dict[tuple[str, str, str], _Part] = {}
        self._rows = 0
        for work_id, fingerprint, segmenter, sentences in notes["works"]:
            self._parts[work_id, fingerprint, segmenter] = _Part(self._rows, sentences)
            self._rows += sentences
        self.measured: Measures = {int(length): (ten, hundred) for length, (ten, hundred) in notes["measured"].items()}

    def holds(self, work: WorkVersion) -> bool:
        """Whether a work is in it, with the text and sentences it now has."""
        return _key(work) in self._parts

    def find(
        self, vector: npt.NDArray[np.float32], works: Sequence[WorkVersion], *, probes: int = 0
    ) -> dict[str, npt.NDArray[np.int64]]:
        """Find sentences of some works that it holds.

        - `works`: all must be in it; sentences of other works are not found.
        - `probes`: cells looked into; by default what its measures are for.

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
        asked = faiss.SearchParametersIVF(nprobe=probes or self._probes, **wanted)
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
                best, most = _recipe_of(manifest), held
    return best


def open_compact(root: Path, recipe: Recipe) -> Compact:
    """Open a compact index, its cells memory-mapped; its file is handed to FAISS only after its content was checked.

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


def build(dense: Prepared, works: Sequence[WorkVersion], progress: Progress, *, claims: Sequence[Claim] = ()) -> None:
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

    with index_builds.building(dense.root, recipe, while_waiting=waiting):
        if not index_files.exists(dense.root, recipe):
            _build(dense, recipe, works, progress, claims)
    for manifest in index_files.manifests(dense.root, dense.name, FOLDER):
        other = _recipe_of(manifest)
        if other.encoder == recipe.encoder and other.digest != recipe.digest:
            index_files.remove(dense.root, other)


def _build(
    dense: Prepared, recipe: Recipe, works: Sequence[WorkVersion], progress: Progress, claims: Sequence[Claim]
) -> None:
    faiss = _faiss()
    began = time.perf_counter()
    rng = np.random.default_rng(SEED)
    rows = sum(work.sentences for work in works)
    cells = max(1, min(int(_CELLS_PER_ROOT * rows**0.5), rows // _LEAST_PER_CELL))
    progress(0, 2 * rows, "Learning what sentences there are")
    sample = _sample(dense, works, np.sort(rng.choice(rows, min(rows, _LEARNT_FROM * cells), replace=False)))
    index = faiss.index_factory(sample.shape[1], f"IVF{cells},SQ8", faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = SEED
    index.train(sample)
    for work in works:
        index.add(np.ascontiguousarray(dense.open(work).sentence_vectors(dense.similarity)))
        progress(index.ntotal, 2 * rows, "Putting the works in")
    asked = queries(dense, works, claims, rng)

    def found(probes: int) -> list[npt.NDArray[np.int64]]:
        _, each = index.search(asked, FOUND, params=faiss.SearchParametersIVF(nprobe=probes))
        return list(each)

    def told(done: int) -> None:
        progress(rows + done, 2 * rows, "Measuring what it finds")

    probes, measures = measure(dense, works, asked, found, cells=cells, lengths=LENGTHS, told=told)
    notes = {
        "works": [[*_key(work), work.sentences] for work in works],
        "sentences": rows,
        "encoder": dict(dense.facts),
        "faiss": faiss.__version__,
        "index": f"IVF{cells},SQ8",
        "probes": probes,
        "found": FOUND,
        "seed": SEED,
        "measured": {str(length): recalls for length, recalls in measures.items()},
        "measured on": {"claims": min(len(claims), len(asked)), "made questions": max(0, len(asked) - len(claims))},
        "seconds": round(time.perf_counter() - began, 2),
    }
    files = {FILE: lambda path: faiss.write_index(index, str(path))}
    index_files.save(dense.root, recipe, {}, files=files, notes=notes)


def _sample(dense: Prepared, works: Sequence[WorkVersion], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
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


def _recipe_of(manifest: Mapping[str, Any]) -> Recipe:
    return index_files.Recipe(**{name: manifest[name] for name in index_files.Recipe.__slots__})
