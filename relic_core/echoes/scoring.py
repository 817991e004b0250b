"""Echoes: how much each passage of one collection says what a passage of another says, by words or by meaning.

A method makes of two collections of units a function that scores some units of the first against all of the second, a
row for each; higher is better. Words are counted once for each collection and weighed for both together, so that
formulas that stand everywhere ("and it came to pass") weigh little. With f a frequency, d a distance in words, x and y
weighted counts and S a similarity of words:

    tesserae      ln((sum 1/f_a + sum 1/f_b) / (d_a + d_b))       over the words shared, of which there are two or more
    soft-cosine   x'Sy / sqrt(x'Sx y'Sy)                          S = max(0, cos)^gamma above a floor (Sidorov 2014)
    wmd           the least cost of moving x to y                 (Kusner et al. 2015), here as 1 / (1 + cost)

They are compared by Manjavacas, Long and Kestemont (2019), "On the Feasibility of Automated Detection of Allusive Text
Reuse". docs/echoes.md says what each was measured to find.
"""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linprog

from relic_core.domain import best_first, best_of
from relic_core.errors import BadRequest, unknown_name
from relic_core.ports import Progress, silent
from relic_core.text.forms import lemma
from relic_core.text.unbroken import unbroken
from relic_core.text.words import STOPWORDS, tokens

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Scorer = Callable[[range], Floats]
"""Scores some units of the first collection, given by their numbers; shape (len(range), n_b)."""

_LOOK = 3.0
"""Seconds between two looks at what was found so far."""
CODE = "echoes/2"
"""Version of how scores are made: a new one makes other scores."""

Terms = Literal["tokens", "lemmas", "character n-grams"]
_NGRAMS = (3, 4, 5)
_FORMS = """
    elias elijah, eliseus elisha, noe noah, jonas jonah, esaias isaiah, osee hosea, juda judah, chanaan canaan,
    charran haran, jeremy jeremiah, jeremias jeremiah, sina sinai, sion zion, sodoma sodom, sarepta zarephath,
    sidon zidon, rachab rahab, booz boaz, naasson nahshon, aminadab amminadab, josias josiah, ezekias hezekiah,
    zacharias zechariah, zorobabel zerubbabel, sychem shechem, madian midian, emmor hamor, jephthae jephthah,
    gedeon gideon, urias uriah, nephthalim naphtali, zabulon zebulun, nineve nineveh, tyrus tyre
"""
_NAMES = dict(pair.split() for pair in _FORMS.split(","))
"""Names as the Authorized Version has them in the New Testament, and as in the Old."""
_TWO = 2
_BLOCK = 64
"""Units of the first collection that are scored at a time."""


ALONE = "passages"
"""Vectors of units that are each read by themselves, by the pretrained encoder."""


@dataclass(frozen=True, slots=True)
class MethodCard:
    """What there is to know of a method without running it; `vectors`: of which retriever's index, `ALONE`, or none."""

    name: str
    label: str
    description: str
    vectors: str = ""
    words: bool = False

    @property
    def counts(self) -> bool:
        """Whether it goes by whole words, as lemmas or as they stand."""
        return self.words or not self.vectors

    @property
    def filtered(self) -> bool:
        """Whether `Filters` say which words count."""
        return self.counts or self.name == DEFAULT


METHODS = (
    MethodCard(
        "combined",
        "Combined",
        "Sequences of characters and meaning together, weighted to find as many known allusions as possible.",
        vectors=ALONE,
    ),
    MethodCard("tf-idf", "TF-IDF", "Cosine of weighted words: what both use, rare words counting most."),
    MethodCard("bow", "Bag of words", "Cosine of counted words, all weighing the same."),
    MethodCard("jaccard", "Jaccard", "The share of their different words that both use."),
    MethodCard(
        "tesserae",
        "Tesserae",
        "Two or more shared words, the better the rarer they are and the closer together they stand.",
    ),
    MethodCard(
        "embeddings",
        "Sentence embeddings",
        "Cosine of meanings, by a general language model that reads each passage by itself.",
        vectors=ALONE,
    ),
    MethodCard(
        "dense-relic",
        "dense-RELiC",
        "Cosine of meanings, by the model trained on critics' quotations.",
        vectors="dense-relic",
    ),
    MethodCard(
        "soft-cosine",
        "Soft cosine",
        "Cosine of weighted words in which related words count as partly shared.",
        vectors=ALONE,
        words=True,
    ),
    MethodCard(
        "wmd",
        "Word mover's distance",
        "How far the words of one have to be moved in meaning to become those of the other.",
        vectors=ALONE,
        words=True,
    ),
    MethodCard(
        "hybrid",
        "Hybrid",
        "Tesserae, and soft cosine where Tesserae finds nothing.",
        vectors=ALONE,
        words=True,
    ),
)
"""In the order in which they are offered."""

DEFAULT = METHODS[0].name


def card(name: str) -> MethodCard:
    """Describe one method. Raises BadRequest: no method has that name."""
    for each in METHODS:
        if each.name == name:
            return each
    raise unknown_name("method", name, (each.name for each in METHODS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which words count: in at most a share of all units, and at least so often in both collections together."""

    terms: Terms = "lemmas"
    stopwords: bool = False
    most: float = 1.0
    least: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.most <= 1 or self.least < 1:
            raise BadRequest(
                f"Words in at most a share of {self.most:g} of the passages and at least {self.least} times cannot be "
                "asked for: the share is above 0 and at most 1, the count 1 or more."
            )


@dataclass(frozen=True, slots=True)
class Counted:
    """The words of a collection of units; both of shape (n_units, n_terms), `first` where a term stands, from 1."""

    vocabulary: Mapping[str, int]
    counts: sp.csr_array
    first: sp.csr_array

    @classmethod
    def of(cls, texts: Sequence[str], terms: Terms = "lemmas", *, stopwords: bool = False) -> Counted:
        """Count the terms of some texts."""
        vocabulary: dict[str, int] = {}
        columns, counts, first, starts = array("i"), array("f"), array("f"), array("q", [0])
        for text in texts:
            found = terms_of(text, terms, stopwords=stopwords)
            held = Counter(found)
            columns.extend(vocabulary.setdefault(term, len(vocabulary)) for term in held)
            counts.extend(held.values())
            places = dict(zip(reversed(found), range(len(found), 0, -1), strict=True))
            first.extend(places[term] for term in held)
            starts.append(len(columns))
        shape = (len(texts), len(vocabulary))
        made = [
            sp.csr_array((np.array(data), np.array(columns), np.array(starts)), shape=shape) for data in (counts, first)
        ]
        return cls(vocabulary, *made)


def terms_of(text: str, terms: Terms = "lemmas", *, stopwords: bool = False) -> list[str]:
    """List the terms of a text, in order; function words are never lemmatized."""
    words = [_NAMES.get(word, word) for word in tokens(unbroken(text)) if stopwords or word not in STOPWORDS]
    if terms == "tokens":
        return words
    if terms == "lemmas":
        return [word if word in STOPWORDS else lemma(word) for word in words]
    joined = f" {' '.join(words)} "
    found: list[str] = []
    for size in _NGRAMS:
        found.extend(joined[at : at + size] for at in range(len(joined) - size + 1))
    return found


class Two:
    """Two collections counted over one vocabulary, and the weights of words in both. Raises BadRequest: none left."""

    def __init__(self, a: Counted, b: Counted, filters: Filters = Filters()) -> None:
        vocabulary = dict(b.vocabulary)
        columns = np.array([vocabulary.setdefault(term, len(vocabulary)) for term in a.vocabulary], dtype=np.int64)
        size = len(vocabulary)
        self.vocabulary: tuple[str, ...] = tuple(vocabulary)
        self._first = _widened(a.first, columns, size), _widened(b.first, None, size)
        counts = _widened(a.counts, columns, size), _widened(b.counts, None, size)
        self.units = counts[0].shape[0] + counts[1].shape[0]
        self.holding = sum(np.bincount(each.indices, minlength=size) for each in counts)
        self.frequency = sum(np.bincount(each.indices, weights=each.data, minlength=size) for each in counts)
        kept = (self.holding <= max(1.0, filters.most * self.units)) & (self.frequency >= filters.least)
        if not kept.any():
            raise BadRequest(
                "The filters leave no word to compare by: allow words in a larger share of the passages, or rarer ones."
            )
        self._kept = sp.diags_array(kept.astype(np.float32))
        self.a, self.b = counts if kept.all() else tuple(_pruned(each @ self._kept) for each in counts)

    def weighted(self, *, power: float = 1.0, pivot: float = 1.0) -> tuple[sp.csr_array, sp.csr_array]:
        """Give both as rows of tf-idf with sublinear tf: (1 + ln tf) (1 + ln((1 + n) / (1 + n_w)))^power.

        - `pivot`: rows of the second are divided by norm^pivot, so that below 1 long units lose less by their length;
          those of the first are of length 1.
        """
        idf = sp.diags_array(((1 + np.log((1 + self.units) / (1 + self.holding))) ** power).astype(np.float32))
        a, b = ((_with(each, 1 + np.log(each.data)) @ idf).tocsr() for each in (self.a, self.b))
        return _unit_rows(a), _unit_rows(b, pivot)

    def firsts(self, which: int) -> sp.csr_array:
        """Give where each word first stands, of the words that the filters leave."""
        return _pruned(self._first[which] @ self._kept)


def _widened(counts: sp.csr_array, columns: npt.NDArray[np.int64] | None, size: int) -> sp.csr_array:
    indices = counts.indices if columns is None else columns[counts.indices]
    return sp.csr_array((counts.data, indices, counts.indptr), shape=(counts.shape[0], size))


def _pruned(counts: sp.csr_array) -> sp.csr_array:
    counts = counts.tocsr()
    counts.eliminate_zeros()
    return counts


def _with(counts: sp.csr_array, data: Floats) -> sp.csr_array:
    return sp.csr_array((data.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)


def _unit_rows(counts: sp.csr_array, pivot: float = 1.0) -> sp.csr_array:
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    norms = np.where(norms, norms, 1)
    mean = float(norms.mean()) if len(norms) else 1.0
    return (sp.diags_array(1 / (mean * (norms / mean) ** pivot)) @ counts).tocsr().astype(np.float32)


def _products(a: sp.csr_array, b: sp.csr_array) -> Scorer:
    across = b.T.tocsr()
    return lambda rows: (a[rows.start : rows.stop] @ across).toarray()


def cosine(a: sp.csr_array, b: sp.csr_array) -> Scorer:
    """Score by the cosine of rows."""
    return _products(_unit_rows(a), _unit_rows(b))


def jaccard(two: Two) -> Scorer:
    """Score by the share of the different words of both that both have."""
    ones = [_with(each, np.ones_like(each.data)) for each in (two.a, two.b)]
    shared = _products(*ones)
    sizes = [np.diff(each.indptr).astype(np.float32) for each in ones]

    def score(rows: range) -> Floats:
        both = shared(rows)
        shares: Floats = both / np.maximum(sizes[0][rows.start : rows.stop, None] + sizes[1] - both, 1)
        return shares

    return score


def tesserae_score(sums: Doubles, distances: Doubles) -> Doubles:
    """Compute Tesserae's score.

    - `sums`: of 1 / f over the words shared, in both passages together.
    - `distances`: between the two rarest of them, in both passages together.

    >>> round(float(tesserae_score(np.array(150.0 + 225), np.array(3.0 + 2))), 3)
    4.317
    """
    return np.log(sums / distances)


def tesserae(two: Two) -> Scorer:
    """Score by Tesserae's formula; 0 where fewer than two words are shared.

    A frequency is that in the own collection, in a thousand words; a distance is counted in words, those that do not
    count left out. Scores are brought between 0 and 1 by the logistic function, which keeps their order.
    """
    inverse = []
    for each in (two.a, two.b):
        occurrences = np.bincount(each.indices, weights=each.data, minlength=len(two.vocabulary))
        inverse.append(
            np.divide(occurrences.sum() / 1000, occurrences, out=np.zeros_like(occurrences), where=occurrences > 0)
        )
    rarest = np.argsort(np.argsort(two.frequency, kind="stable"))  # by word, 0 the rarest
    first_a, by_word = two.firsts(0), two.firsts(1).T.tocsr()
    size = two.b.shape[0]

    def row(at: int) -> Floats:
        found = np.zeros(size, dtype=np.float32)
        span = slice(first_a.indptr[at], first_a.indptr[at + 1])
        words, places = first_a.indices[span], first_a.data[span]
        order = np.argsort(rarest[words])
        words, places = words[order], places[order]
        spans = [slice(by_word.indptr[word], by_word.indptr[word + 1]) for word in words]
        if len(spans) < _TWO:
            return found
        held = np.concatenate([by_word.indices[each] for each in spans])
        there = np.concatenate([by_word.data[each] for each in spans])
        which = np.repeat(np.arange(len(words)), [each.stop - each.start for each in spans])
        sums = np.bincount(held, weights=(inverse[0] + inverse[1])[words][which], minlength=size)
        order = np.lexsort((which, held))  # by unit, the rarest word first
        held, there, which = held[order], there[order], which[order]
        starts = np.flatnonzero(np.diff(held, prepend=-1))
        several = starts[np.diff(starts, append=len(held)) >= _TWO]
        if len(several):
            apart = np.abs(places[which[several]] - places[which[several + 1]]) + np.abs(
                there[several] - there[several + 1]
            )
            units = held[several]
            found[units] = 1 / (1 + np.exp(-tesserae_score(sums[units], np.maximum(apart, _TWO))))
        return found

    return lambda rows: np.stack([row(at) for at in rows]) if len(rows) else np.zeros((0, size), np.float32)


_FLOOR, _GAMMA, _NEAREST = 0.5, 2.0, 20


def _unit(vectors: Floats) -> Floats:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return unit


def similarity(vectors: Floats) -> sp.csr_array:
    """Make the similarity of words: max(0, cos)^gamma above a floor, each word's nearest alone; ones on the diagonal.

    - `vectors`: shape (n_terms, dimension); a word without a vector, all zeros, is like itself alone.
    """
    unit = _unit(vectors)
    size = len(unit)
    rows, columns, values = [np.arange(size)], [np.arange(size)], [np.ones(size, np.float32)]
    for start in range(0, size, 512):
        block = unit[start : start + 512] @ unit.T
        block[np.arange(len(block)), np.arange(start, start + len(block))] = 0
        if size > _NEAREST:
            block[block < -np.partition(-block, _NEAREST, axis=1)[:, [_NEAREST]]] = 0
        row, column = np.nonzero(block > _FLOOR)
        rows.append(row + start)
        columns.append(column)
        values.append(block[row, column] ** _GAMMA)
    made = sp.csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(size, size))
    return made.maximum(made.T).tocsr().astype(np.float32)


_DRAWN = 15_000
"""Words whose similarities by lot fit into memory, some 2 GB while they are drawn."""


def random_similarity(size: int) -> Floats:
    """Draw the similarity of words by lot, around a half, and ones on the diagonal: the paper's control, section 5.

    Raises BadRequest: there are too many words.
    """
    if size > _DRAWN:
        raise BadRequest(
            f"These works have {size:,} different words, and similarities by lot are drawn for {_DRAWN:,} at most. "
            "Compare a chapter, or leave out rare words by --least."
        )
    drawn = 0.5 + 0.05 * np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    alike: Floats = np.tril(drawn, -1)
    alike += alike.T
    np.fill_diagonal(alike, 1)
    return alike


def soft_cosine(a: sp.csr_array, b: sp.csr_array, alike: sp.csr_array | Floats) -> Scorer:
    """Score by the soft cosine; with the identity it is the cosine.

    >>> s = sp.csr_array(np.array([[1, 0.5], [0.5, 1]]))
    >>> float(soft_cosine(sp.csr_array([[1.0, 0.0]]), sp.csr_array([[0.0, 1.0]]), s)(range(1))[0, 0])
    0.5
    """

    def scaled(each: sp.csr_array) -> sp.csr_array:
        squares = np.asarray(each.multiply(each @ alike).sum(axis=1)).ravel()
        return (sp.diags_array(1 / np.sqrt(np.where(squares > 0, squares, 1))) @ each).tocsr()

    return _products(sp.csr_array(scaled(a) @ alike), scaled(b))


def wmd(x: Doubles, y: Doubles, costs: Doubles) -> float:
    """Compute the word mover's distance: the least cost of moving one bag of words to another, by linear programming.

    - `x`, `y`: weights of the words, each of sum 1; shapes (n,) and (m,), costs (n, m).
    """
    n, m = costs.shape
    flows = sp.vstack([sp.kron(sp.eye_array(n), np.ones((1, m))), sp.kron(np.ones((1, n)), sp.eye_array(m))])
    found = linprog(costs.ravel(), A_eq=flows.tocsr(), b_eq=np.concatenate([x, y]), method="highs")
    return max(0.0, float(found.fun))


def word_movers(two: Two, vectors: Floats, *, exact: int = 20) -> Scorer:
    """Score by 1 / (1 + the word mover's distance): the distance itself for the best of each row, for others a bound.

    By the bound each word goes to its nearest, and the dearer of both ways counts.

    - `vectors`: of the words, shape (n_terms, dimension); costs are distances of unit vectors, 0 to 2.
    - `exact`: how many of a row are computed exactly. No other of the row stands above any of them.
    """
    unit = _unit(vectors)
    a, b = (_with(each, each.data) for each in (two.a, two.b))
    empty = np.diff(b.indptr) == 0
    starts = b.indptr[:-1][~empty]
    sums = np.maximum(np.asarray(b.sum(axis=1)).ravel(), 1)

    def costs_of(words: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> Doubles:
        costs: Doubles = np.sqrt(np.maximum(2 - 2 * (unit[words] @ unit[others].T), 0)).astype(np.float64)
        costs[words[:, None] == others[None, :]] = 0
        return costs

    def row(at: int) -> Floats:
        span = slice(a.indptr[at], a.indptr[at + 1])
        words, weights = a.indices[span], a.data[span].astype(np.float64)
        if not len(words) or not b.nnz:
            return np.zeros(b.shape[0], np.float32)
        weights = weights / weights.sum()
        costs = costs_of(words, np.arange(len(two.vocabulary)))
        bound: Doubles = np.full(b.shape[0], np.inf)
        bound[~empty] = weights @ np.minimum.reduceat(costs[:, b.indices], starts, axis=1)
        bound = np.maximum(bound, (b @ costs.min(axis=0)) / sums)
        best = np.argsort(bound, kind="stable")[: min(exact, len(starts))]
        for number in best:
            held = slice(b.indptr[number], b.indptr[number + 1])
            other = b.indices[held]
            bound[number] = wmd(weights, b.data[held] / sums[number], costs_of(words, other))
        others = np.setdiff1d(np.arange(len(bound)), best)
        bound[others] = np.maximum(bound[others], bound[best].max(initial=0))
        return (1 / (1 + bound)).astype(np.float32)

    return lambda rows: np.stack([row(at) for at in rows]) if len(rows) else np.zeros((0, b.shape[0]), np.float32)


def hybrid(first: Scorer, second: Scorer) -> Scorer:
    """Take the first, and 1, where it finds something, and the second elsewhere."""

    def score(rows: range) -> Floats:
        found = first(rows)
        return np.where(found > 0, 1 + found, second(rows))

    return score


def dense(a: Floats, b: Floats) -> Scorer:
    """Score by the products of vectors."""
    return lambda rows: a[rows.start : rows.stop] @ b.T


def word_vectors(two: Two, a: Floats, b: Floats) -> Floats:
    """Make vectors of words of those of the units that hold them: their mean, less what all words have in common."""
    sums = two.a.T @ a + two.b.T @ b
    means = sums / np.maximum(two.frequency, 1)[:, None]
    centred: Floats = (means - means.mean(axis=0)).astype(np.float32)
    return centred


def random_vectors(two: Two) -> Floats:
    """Make vectors by lot, which leave all words equally far apart."""
    return np.random.default_rng(0).standard_normal((len(two.vocabulary), 64)).astype(np.float32)


_LARGEST = 1 << 30
"""Bytes of a file of vectors."""


def read_vectors(path: Path, two: Two) -> Floats:
    """Read vectors of words from a file in the text format of word2vec or of GloVe; of a lemma, its own line's."""
    wanted = {term: at for at, term in enumerate(two.vocabulary)}
    found: dict[int, Floats] = {}
    dimension = 0
    try:
        size = path.stat().st_size
        if size > _LARGEST:
            raise BadRequest(
                f"{path.name} has {size / 1e9:.1f} GB; vectors of words may have {_LARGEST / 1e9:.1f} GB. Cut the file "
                "to its first lines: they hold the most frequent words."
            )
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                word, *numbers = line.split() or [""]
                if not word or (number == 1 and len(numbers) == 1):
                    continue  # word2vec says first how many words and dimensions there are
                dimension = dimension or len(numbers)
                if len(numbers) != dimension or dimension == 0:
                    raise BadRequest(
                        f"Line {number:,} of {path.name} has {len(numbers)} numbers, and those before it {dimension}. "
                        "The file is damaged or holds no vectors: each line is a word and its numbers."
                    )
                if word in wanted:
                    found.setdefault(wanted[word], np.array(numbers, dtype=np.float32))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise BadRequest(f"{path} cannot be read as vectors of words in text format ({error}).") from None
    if not found:
        raise BadRequest(f"{path.name} has a vector for none of the words of these works: is it of another language?")
    vectors = np.zeros((len(wanted), dimension), dtype=np.float32)
    vectors[list(found)] = np.stack(list(found.values()))
    return vectors


_PARTS_OF_SPEECH = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_ABOVE = {"@", "@i"}
"""Pointers of WordNet to what is more general: hypernyms."""
_SATELLITE, _SIMILAR = "s", "&"
"""An adjective that is like a more general one, and its pointer there, which the other has back."""
_STEPS, _DIRECTIONS = 3, 512


def wordnet_files(folder: Path) -> list[Path]:
    """List the database files of a WordNet."""
    return [folder / f"{kind}.{name}" for name, kind in product(_PARTS_OF_SPEECH, ("index", "data"))]


def wordnet_vectors(folder: Path, two: Two) -> Floats:
    """Make vectors of words of WordNet's database files: of a word's meanings and what is more general than these.

    A word's second meaning counts half, its third a third, and what stands a step above a meaning half of it, of
    several half of their sum. Each meaning has a direction by lot, so that the cosine of two words is that of their
    sums of meanings but for some 0.04.
    """
    wanted = {term: at for at, term in enumerate(two.vocabulary)}
    senses: list[list[str]] = [[] for _ in wanted]
    above: dict[str, list[str]] = {}
    try:
        for name, letter in _PARTS_OF_SPEECH.items():
            for word, _, count, *rest in _wordnet_lines(folder / f"index.{name}"):
                if word in wanted:
                    senses[wanted[word]] += [f"{letter}{offset}" for offset in rest[-int(count) :]]
            for offset, _, kind, words, *rest in _wordnet_lines(folder / f"data.{name}"):
                up = _ABOVE | {_SIMILAR} if kind == _SATELLITE else _ABOVE
                at = 2 * int(words, 16)
                pointers = rest[at + 1 : at + 1 + 4 * int(rest[at])]
                above[f"{letter}{offset}"] = [
                    f"{letter}{pointers[each + 1]}" for each in range(0, len(pointers), 4) if pointers[each] in up
                ]
        vectors = np.zeros((len(wanted), _DIRECTIONS), dtype=np.float32)
        for at, own in enumerate(senses):
            level = {meaning: 1 / number for number, meaning in enumerate(own, start=1)}
            for _ in range(_STEPS + 1):
                for meaning, weight in level.items():
                    lot = np.random.default_rng([ord(meaning[0]), int(meaning[1:])])
                    vectors[at] += weight * lot.standard_normal(_DIRECTIONS, dtype=np.float32)
                below, level = level, {}
                for meaning, weight in below.items():
                    for higher in above.get(meaning, ()):
                        level[higher] = level.get(higher, 0.0) + weight / 2
    except (OSError, ValueError, IndexError) as error:
        raise BadRequest(
            f"{folder} cannot be read as WordNet ({error}). Name the folder that holds index.noun, data.noun and the "
            "other six files of its database."
        ) from None
    if not any(senses):
        raise BadRequest("WordNet has none of the words of these works: are they of another language?")
    return vectors


def _wordnet_lines(path: Path) -> Iterator[list[str]]:
    """Give the fields of each line of a database file of WordNet, without its glosses and its licence."""
    with path.open(encoding="utf-8") as file:
        yield from (line.split(" | ", 1)[0].split() for line in file if not line.startswith("  "))


@dataclass(frozen=True, slots=True)
class Passages:
    """A collection of units; their vectors where a method asks for them, of length 1: shape (n_units, dimension)."""

    texts: tuple[str, ...]
    vectors: Floats | None = None

    @property
    def unit_vectors(self) -> Floats:
        """Their vectors. Raises BadRequest: there are none."""
        if self.vectors is None:
            raise BadRequest("This method compares meanings, and the works have not been prepared for that.")
        return self.vectors


def make(
    name: str,
    a: Passages,
    b: Passages,
    filters: Filters | None = None,
    *,
    vectors: Callable[[Two], Floats] | None = None,
) -> Scorer:
    """Make the scorer of a method for two collections, with the filters it does best with where none are given.

    - `vectors`: makes the vectors of words, where not of the passages' own.
    """
    filters = filters or Filters(stopwords=name == DEFAULT)

    def two(terms: Terms = filters.terms) -> Two:
        counted = [Counted.of(each.texts, terms, stopwords=filters.stopwords) for each in (a, b)]
        return Two(counted[0], counted[1], filters)

    kind = card(name)
    if name == DEFAULT:
        parts = _products(*two("character n-grams").weighted(power=_POWER, pivot=_PIVOT))
        meaning = dense(a.unit_vectors, b.unit_vectors)
        return lambda rows: _WEIGHTS["parts"] * parts(rows) + _WEIGHTS["meaning"] * meaning(rows)
    if not kind.filtered:
        return dense(a.unit_vectors, b.unit_vectors)
    pairs = two()
    by_words: dict[str, Callable[[], Scorer]] = {
        "bow": lambda: cosine(pairs.a, pairs.b),
        "tf-idf": lambda: _products(*pairs.weighted()),
        "jaccard": lambda: jaccard(pairs),
        "tesserae": lambda: tesserae(pairs),
    }
    if name in by_words:
        return by_words[name]()
    words = vectors(pairs) if vectors else word_vectors(pairs, a.unit_vectors, b.unit_vectors)
    if name == "wmd":
        return word_movers(pairs, words)
    alike = random_similarity(len(words)) if vectors is random_vectors else similarity(words)
    soft = soft_cosine(*pairs.weighted(), alike)
    return hybrid(tesserae(pairs), soft) if name == "hybrid" else soft


_WEIGHTS = {"parts": 1.0, "meaning": 0.4}
_POWER, _PIVOT = 1.3, 0.85
"""What the parts of the combination weigh, and how parts of words are weighed: chosen on bible-references
(docs/echoes.md)."""


class Pair(NamedTuple):
    """Two units that echo each other, by their numbers."""

    a: int
    b: int
    score: float


_ENOUGH = 8
"""Different content words from which a passage counts in full where pairs of all passages are compared."""


def fullness(texts: Sequence[str]) -> Floats:
    """Say how far passages count: one shared word makes two short ones alike, and is not an echo; (n_texts,)."""
    words = np.array([len(set(terms_of(text, "tokens"))) for text in texts], dtype=np.float32)
    return np.sqrt(np.minimum(words, _ENOUGH) / _ENOUGH)


def best_pairs(
    scorer: Scorer,
    units: int,
    *,
    top: int,
    progress: Progress = silent,
    look: Callable[[list[Pair]], None] | None = None,
) -> list[Pair]:
    """Find the pairs of two collections that score highest above 0; equal scores keep the order of the text.

    - `look`: is given those found so far, now and then.
    """
    looked = time.monotonic()
    rows, columns, scores = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
    least = 0.0
    for start in range(0, units, _BLOCK):
        block = scorer(range(start, min(start + _BLOCK, units)))
        row, column = np.nonzero(block > least)
        rows, columns = np.concatenate([rows, row + start]), np.concatenate([columns, column])
        scores = np.concatenate([scores, block[row, column]])
        if len(scores) > top:
            best = np.sort(best_of(scores, top))
            rows, columns, scores = rows[best], columns[best], scores[best]
            least = float(scores.min())
        progress(min(start + _BLOCK, units), units, "Comparing passages")
        if look and time.monotonic() - looked > _LOOK:
            look(_pairs(rows, columns, scores))
            looked = time.monotonic()
    return _pairs(rows, columns, scores)


def _pairs(rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], scores: npt.NDArray[np.float32]) -> list[Pair]:
    return [Pair(int(rows[at]), int(columns[at]), float(scores[at])) for at in best_first(scores)]


def rescored(pairs: Sequence[Pair], scorer: Scorer, progress: Progress = silent) -> list[Pair]:
    """Score some pairs anew, the best first."""
    found: list[Pair] = []
    numbers = sorted({pair.a for pair in pairs})
    for done, number in enumerate(numbers, start=1):
        scores = scorer(range(number, number + 1))[0]
        found += [Pair(number, pair.b, float(scores[pair.b])) for pair in pairs if pair.a == number]
        progress(done, len(numbers), "Comparing again")
    return sorted(found, key=lambda pair: -pair.score)
