"""The words of the works that may be quoted, with a table of their word runs, in a folder that processes share.

Works and sources are compared word by word. A word is what `relic_core.text.words` takes for one, brought to one
spelling, without its apostrophes; hyphens and dashes part words. So another edition's spelling, punctuation, italics
and line breaks make no difference. Every run of `RUN` words of a work is in a table, sorted by a hash, so that all runs
of a source are looked up at once. The arrays are memory-mapped: processes of one machine share them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from relic_core import __version__
from relic_core.domain import Span, Work, WorkVersion
from relic_core.errors import BadRequest, NoIndex, StaleIndex, StoreError
from relic_core.formats.files import Count, Strict, digest_of, record_of
from relic_core.ports import Progress
from relic_core.text.unbroken import cuts
from relic_core.text.variants import one_spelling
from relic_core.text.words import STOPWORDS, WORD, fold, whole_words

Numbers = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

RUN = 4
"""Words in a run: runs of three are too common to look up, and of five one slip of the pen spoils five."""
UNKNOWN = -1
"""Number of a word that none of the works has."""


_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def spelt(word: str) -> str:
    """Bring a word to the spelling under which it is compared.

    >>> spelt("Honour’d"), spelt("DON'T"), spelt("Brontë")
    ('honored', 'dont', 'bronte')
    """
    folded = one_spelling(fold(word)).replace("'", "")
    return folded or word


def run_hashes(numbers: Numbers) -> Hashes:
    """Hash every run of words."""
    count = max(0, len(numbers) - RUN + 1)
    made = np.zeros(count, dtype=np.uint64)
    for at in range(RUN):
        made += numbers[at : at + count].astype(np.uint64) + np.uint64(1)
        made *= _FACTOR
        made ^= made >> _SHIFT
    return made


QUOTED_WORKS = "quoted-works"
"""The folder of the index, below that of all indexes."""
CODE = "quoted works/2"
_DIGITS = 16
"""Of a fingerprint: enough to tell works apart, and many of them are kept for each source."""
MANIFEST = "manifest.json"
_ARRAYS = (
    "words", "starts", "lengths", "bits", "hashes", "places", "first_words", "sentence_starts", "sentence_ends",
    "first_bytes",
)  # fmt: skip
VOCABULARY, TEXTS = "vocabulary.txt", "sentences.txt"
_MOST_PRINTED = 500_000
"""Spellings of sources that are remembered, some 100 MB of them: each scanned book adds thousands of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedWork:
    """One work as the index knows it; `first_word` and `first_sentence` count those of all works.

    - `own`: words that it uses often and hardly any other work does: its people and places, mostly.
    """

    id: str
    title: str
    author: str
    sha256: str
    fingerprint: str
    segmenter: str
    first_word: int
    words: int
    first_sentence: int
    sentences: int
    own: tuple[str, ...] = ()


class Words(NamedTuple):
    """The words of a text: the number of each (`UNKNOWN` where no work has it), its spelling, its offsets."""

    numbers: Numbers
    spellings: list[str]
    starts: Numbers
    ends: Numbers


class _Manifest(Strict):
    digest: str
    works: tuple[QuotedWork, ...]
    files: dict[str, tuple[Count, str]]


class QuotedWorks:
    """The words of many works and a table of their runs; opened by `open`, made by `build`.

    - `words`: the words of the sentences of all works, one work after the other, as numbers of the vocabulary.
    - `bits`: how rare each word is: -log2 of its share of all words, smoothed.
    - `places`: the first word of each run, in the order of `hashes`.
    - `first_words`: the first word of each sentence, among the words of all works; behind them the number of words.
    - `digest`: of what the index was made from.
    """

    def __init__(self, folder: Path, manifest: _Manifest) -> None:
        self.folder = folder
        self.digest = manifest.digest
        self.works = manifest.works
        arrays = {
            name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)) for name in _ARRAYS
        }
        self.words: Numbers = arrays["words"]
        self.starts: Numbers = arrays["starts"]
        self.lengths: npt.NDArray[np.uint16] = arrays["lengths"]
        self.bits: npt.NDArray[np.float32] = np.array(arrays["bits"])
        self.hashes: Hashes = arrays["hashes"]
        self.places: Numbers = arrays["places"]
        self.first_words: Places = np.array(arrays["first_words"])
        self.sentence_starts: Numbers = arrays["sentence_starts"]
        self.sentence_ends: Numbers = arrays["sentence_ends"]
        self._first_bytes: Places = arrays["first_bytes"]
        self._texts: npt.NDArray[np.uint8] = np.memmap(folder / TEXTS, dtype=np.uint8, mode="r")
        self.spellings = (folder / VOCABULARY).read_text(encoding="utf-8").split("\n")
        self._printed: dict[str, tuple[int, str]] = {}

    @classmethod
    def open(cls, folder: Path, *, thorough: bool = False) -> QuotedWorks:
        """Open an index; its manifest and the sizes of its files are checked, and where `thorough` all their bytes."""
        try:
            data = (folder / MANIFEST).read_bytes()
            whole = record_of(dict[str, Any], data)
        except FileNotFoundError:
            raise NoIndex(f"There is no index of quoted works in {folder}. Mine again, and it is built.") from None
        except (OSError, ValueError) as error:
            raise _damaged(folder, f"{MANIFEST} cannot be read") from error
        if whole.get("digest") != manifest_digest(whole):
            raise _damaged(folder, f"{MANIFEST} was changed")
        if whole.get("code") != CODE:
            raise StaleIndex(
                f"The index of quoted works in {folder} is of the kind '{whole.get('code')!s:.40}', and this program "
                f"reads '{CODE}'. Delete the folder and mine again: it is built anew."
            )
        try:
            manifest = record_of(_Manifest, data, extra="ignore")
            for name, (size, digest) in manifest.files.items():
                path = folder / name
                if path.stat().st_size != size or (thorough and digest_of(path) != digest):
                    raise _damaged(folder, f"{name} is not as it was written")
            return cls(folder, manifest)
        except (OSError, ValueError) as error:
            raise _damaged(folder, "a file cannot be read, or an earlier version made it") from error

    @classmethod
    def build(cls, works: Iterable[Work], folder: Path, progress: Progress) -> QuotedWorks:
        """Write the index of some works, whole or not at all, and open it. One that is there is replaced.

        - `works`: taken one at a time; one with `__len__` gives the progress its end.
        """
        making = folder.with_name(f".making-{folder.name}-{uuid.uuid4().hex[:8]}")
        with _writing(folder):
            try:
                making.mkdir(parents=True)
                _write(works, making, progress)
                old = folder.with_name(f".old-{folder.name}-{uuid.uuid4().hex[:8]}")
                if folder.exists():
                    folder.rename(old)
                making.rename(folder)
                shutil.rmtree(old, ignore_errors=True)
            finally:
                shutil.rmtree(making, ignore_errors=True)
        return cls.open(folder)

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """Each word's number."""
        return {word: number for number, word in enumerate(self.spellings)}

    @cached_property
    def first_word_of(self) -> Places:
        """Where the words of each work begin; int64, shape (n_works,)."""
        return np.array([work.first_word for work in self.works], dtype=np.int64)

    def read(self, text: str) -> Words:
        """Find the words of a text."""
        printed = self._printed
        if len(printed) > _MOST_PRINTED:
            printed.clear()
        starts, ends, pairs = [], [], []
        for match in WORD.finditer(text):
            raw = match.group()
            found = printed.get(raw)
            if found is None:
                spelling = spelt(raw)
                found = printed[raw] = self.vocabulary.get(spelling, UNKNOWN), spelling
            pairs.append(found)
            starts.append(match.start())
            ends.append(match.end())
        numbers, spellings = zip(*pairs, strict=True) if pairs else ((), ())
        return Words(
            np.array(numbers, dtype=np.int32),
            list(spellings),
            np.array(starts, dtype=np.int32),
            np.array(ends, dtype=np.int32),
        )

    def look_up(self, numbers: Numbers, *, commonest: int) -> tuple[Places, Places]:
        """Find the runs of a text in the works, but for those there more often than `commonest`."""
        if len(numbers) < RUN:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        known = np.lib.stride_tricks.sliding_window_view(numbers != UNKNOWN, RUN).all(axis=1)
        here = np.flatnonzero(known)
        hashes = run_hashes(numbers)[here]
        order = np.argsort(hashes, kind="stable")  # neighbours in the table are read together
        here, hashes = here[order], hashes[order]
        first = np.searchsorted(self.hashes, hashes, "left")
        stop = np.searchsorted(self.hashes, hashes, "right")
        counts = stop - first
        kept = (counts > 0) & (counts <= commonest)
        here, first, counts = here[kept], first[kept], counts[kept]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        there = self.places[np.repeat(first, counts) + within].astype(np.int64)
        return np.repeat(here, counts), there

    def sentence_text(self, number: int) -> str:
        """Give a sentence to the letter, by its position among the sentences of all works."""
        return bytes(self._texts[self._first_bytes[number] : self._first_bytes[number + 1]]).decode()

    def words_in(self, sentence: int) -> int:
        """Count the words of a sentence, by its number among those of all works."""
        return int(self.first_words[sentence + 1]) - int(self.first_words[sentence])

    def owner_of(self, word: int) -> int:
        """Find the position of the work that a word belongs to; the word is counted over all works."""
        return int(np.searchsorted(self.first_word_of, word, "right")) - 1

    def sentence_of(self, word: int) -> int:
        """Find the sentence of a word; both are counted over all works."""
        return int(np.searchsorted(self.first_words, word, "right")) - 1

    def offsets(self, first: int, last: int) -> tuple[int, int]:
        """Give the offsets of words in their work's text, from the first to the end of the last."""
        return int(self.starts[first]), int(self.starts[last]) + int(self.lengths[last])

    def gold_texts(self, work: QuotedWork, span: Span) -> tuple[str, ...]:
        """Give the sentences of a span of a work."""
        return tuple(self.sentence_text(work.first_sentence + each) for each in range(span.start, span.end))


def marks(versions: Mapping[str, WorkVersion]) -> dict[str, str]:
    """Give the beginning of each work's fingerprint, by id: what is kept with each source that was mined for it."""
    return {work_id: known.fingerprint[:_DIGITS] for work_id, known in sorted(versions.items())}


def open_or_build(
    folder: Path, versions: Mapping[str, WorkVersion], load: Callable[[str], Work], progress: Progress
) -> QuotedWorks | None:
    """Open the index of a library's works, built anew where they changed; None where the library is empty."""
    if not versions:
        return None
    if (quoted := open_current(folder, versions, thorough=True)) is not None:
        return quoted

    def say(done: int, total: int, note: str = "") -> None:
        progress(done, max(total, len(versions)), f"Reading the works of the library: {note}")

    return QuotedWorks.build(map(load, sorted(versions)), folder, say)


def open_current(folder: Path, versions: Mapping[str, WorkVersion], *, thorough: bool) -> QuotedWorks | None:
    """Open the index of a library's works; None where it has to be built anew. `thorough` as for `QuotedWorks.open`."""
    with suppress(StaleIndex):
        quoted = QuotedWorks.open(folder, thorough=thorough)
        if {work.id: work.fingerprint for work in quoted.works} == {
            work_id: known.fingerprint for work_id, known in versions.items()
        }:
            return quoted
    return None


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"The index of quoted works cannot be written to {folder} ({error.strerror}). It needs a folder that is "
            "yours to write, with some twenty bytes of room for each word of the works."
        ) from error


def manifest_digest(manifest: dict[str, Any]) -> str:
    """Sha256 over what a manifest says, but for this digest itself."""
    facts = {name: value for name, value in manifest.items() if name != "digest"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _damaged(folder: Path, what: str) -> StaleIndex:
    return StaleIndex(
        f"The index of quoted works in {folder} is damaged: {what}. Delete the folder and mine again: it is built anew."
    )


_LONGEST = 65_535
_OWN_LEAST, _OWN_WORKS, _OWN_LETTERS, _OWN_MOST = 5, 2, 4, 200
"""How often a work has to use a word of its own, how many works may, how long the word is, and how many are kept."""
_PRIOR, _PRIOR_BITS, _MOST_BITS_COMMON = 20_000, 13.0, 7.0
"""What is taken for granted of words before any is counted: as if so many had been read, each so rare; and function
words at most so."""


class _Read(NamedTuple):
    """The words of a work's sentences: numbers, offsets, lengths, and how many each sentence has."""

    words: Numbers
    starts: Numbers
    lengths: npt.NDArray[np.uint16]
    held: Numbers


def _write(works: Iterable[Work], folder: Path, progress: Progress) -> None:
    numbers_of: dict[str, int] = {}
    printed: dict[str, int] = {}
    known: list[QuotedWork] = []
    read: list[_Read] = []
    places: list[Numbers] = []
    sizes = [0]
    first_word = first_sentence = 0
    total = len(works) if isinstance(works, Sized) else 0
    with (folder / TEXTS).open("wb") as texts:
        for done, work in enumerate(works):
            progress(done, max(total, done + 1), work.title)
            if any(each.id == work.id for each in known):
                raise BadRequest(f"The work '{work.id}' was given twice. Give each work once.")
            read.append(_read(work, numbers_of, printed))
            places.append(np.array([(each.start, each.end) for each in work.sentences], np.int32).reshape(-1, 2))
            sizes.extend(texts.write(work.text[each.start : each.end].encode()) for each in work.sentences)
            known.append(
                QuotedWork(
                    id=work.id,
                    title=work.title,
                    author=work.author,
                    sha256=work.sha256,
                    fingerprint=work.fingerprint,
                    segmenter=work.segmenter,
                    first_word=first_word,
                    words=len(read[-1].words),
                    first_sentence=first_sentence,
                    sentences=len(work.sentences),
                )
            )
            first_word += len(read[-1].words)
            first_sentence += len(work.sentences)
    if not known:
        raise BadRequest("There is no work to look for quotations of. Add works to the library first.")
    progress(len(known), len(known), "")
    vocabulary = tuple(numbers_of)
    words = [each.words for each in read]
    known = [replace(each, own=own) for each, own in zip(known, _own(words, vocabulary), strict=True)]
    bounds = np.concatenate(places)
    _save(
        folder,
        starts=np.concatenate([each.starts for each in read]),
        lengths=np.concatenate([each.lengths for each in read]),
        first_words=np.concatenate([[0], np.cumsum(np.concatenate([each.held for each in read]), dtype=np.int64)]),
        sentence_starts=bounds[:, 0],
        sentence_ends=bounds[:, 1],
        first_bytes=np.cumsum(np.array(sizes, dtype=np.int64)),
    )
    _write_table(folder, words, vocabulary)
    (folder / VOCABULARY).write_text("\n".join(vocabulary), encoding="utf-8", newline="\n")
    manifest: dict[str, Any] = {
        "code": CODE,
        "program": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "run": RUN,
        "works": [asdict(each) for each in known],
        "files": {path.name: (path.stat().st_size, digest_of(path)) for path in sorted(folder.iterdir())},
    }
    manifest["digest"] = manifest_digest(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1), encoding="utf-8")


def _read(work: Work, numbers_of: dict[str, int], printed: dict[str, int]) -> _Read:
    found: list[int] = []
    starts: list[int] = []
    lengths: list[int] = []
    held = np.zeros(len(work.sentences), dtype=np.int32)
    gone = cuts(work.text)
    for sentence in work.sentences:
        before = len(found)
        for start, end, raw in whole_words(work.text, sentence.start, sentence.end, gone):
            number = printed.get(raw)
            if number is None:
                number = printed[raw] = numbers_of.setdefault(spelt(raw), len(numbers_of))
            found.append(number)
            starts.append(start)
            lengths.append(min(end - start, _LONGEST))
        held[sentence.index] = len(found) - before
    return _Read(
        np.array(found, dtype=np.int32), np.array(starts, dtype=np.int32), np.array(lengths, dtype=np.uint16), held
    )


def _write_table(folder: Path, words: Sequence[Numbers], vocabulary: Sequence[str]) -> None:
    joined = np.concatenate(words)
    firsts = np.cumsum([0, *map(len, words)])
    places = np.concatenate(
        [
            np.arange(first, first + max(0, len(each) - RUN + 1), dtype=np.int32)
            for first, each in zip(firsts, words, strict=False)
        ]
    )
    hashes = np.concatenate([run_hashes(each) for each in words])
    order = np.argsort(hashes, kind="stable")
    _save(folder, words=joined, hashes=hashes[order], places=places[order], bits=_bits(joined, vocabulary))


def _own(words: Sequence[Numbers], vocabulary: Sequence[str]) -> list[tuple[str, ...]]:
    counted = [np.unique(each, return_counts=True) for each in words]
    in_works = np.bincount(np.concatenate([found for found, _ in counted]), minlength=len(vocabulary))
    made = []
    for found, counts in counted:
        kept = (counts >= _OWN_LEAST) & (in_works[found] <= _OWN_WORKS)
        order = np.argsort(-counts[kept], kind="stable")[:_OWN_MOST]
        chosen = (vocabulary[number] for number in found[kept][order])
        made.append(tuple(word for word in chosen if len(word) >= _OWN_LETTERS and word.isalpha()))
    return made


def _bits(words: Numbers, vocabulary: Sequence[str]) -> npt.NDArray[np.float32]:
    """Tell how rare words are; in a library of a few pages nearly every word would seem common."""
    counts = np.bincount(words, minlength=len(vocabulary))
    bits = np.log2(len(words) + _PRIOR) - np.log2(counts + _PRIOR * 2.0**-_PRIOR_BITS)
    common = np.isin(np.array(vocabulary, dtype=str), [spelt(word) for word in STOPWORDS])
    return np.asarray(np.where(common, np.minimum(bits, _MOST_BITS_COMMON), bits), dtype=np.float32)


def _save(folder: Path, **arrays: npt.NDArray[Any]) -> None:
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
