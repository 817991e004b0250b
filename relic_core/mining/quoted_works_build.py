"""Writing the index of quoted works: words, offsets, sentences, the table of runs, the manifest."""

from __future__ import annotations

import json
from collections.abc import Sized
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from relic_core import __version__
from relic_core.errors import BadRequest
from relic_core.mining.quoted_works import CODE, MANIFEST, TEXTS, VOCABULARY, QuotedWork, manifest_digest
from relic_core.mining.spellings import RUN, run_hashes, spelt
from relic_core.text.words import STOPWORDS, WORD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import Work
    from relic_core.mining.quoted_works import Numbers
    from relic_core.ports import Progress

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


def write(works: Iterable[Work], folder: Path, progress: Progress) -> None:
    """Write the files of an index into a folder that is there.

    Raises BadRequest: there is no work, or one occurs twice.
    """
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
        "files": {path.name: path.stat().st_size for path in sorted(folder.iterdir())},
    }
    manifest["digest"] = manifest_digest(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1), encoding="utf-8")


def _read(work: Work, numbers_of: dict[str, int], printed: dict[str, int]) -> _Read:
    found: list[int] = []
    starts: list[int] = []
    lengths: list[int] = []
    held = np.zeros(len(work.sentences), dtype=np.int32)
    for sentence in work.sentences:
        before = len(found)
        for match in WORD.finditer(work.text, sentence.start, sentence.end):
            raw = match.group()
            number = printed.get(raw)
            if number is None:
                number = printed[raw] = numbers_of.setdefault(spelt(raw), len(numbers_of))
            found.append(number)
            starts.append(match.start())
            lengths.append(min(len(raw), _LONGEST))
        held[sentence.index] = len(found) - before
    return _Read(
        np.array(found, dtype=np.int32),
        np.array(starts, dtype=np.int32),
        np.array(lengths, dtype=np.uint16),
        held,
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
    """List the words that are each work's own, the most frequent first."""
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
