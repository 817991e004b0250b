"""Echoes between works: asked for, found once and kept, and given back ready to be set."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from relic_core.config import Settings
from relic_core.domain import Job, Sentence, Span, Work
from relic_core.domain.bounds import Count, Positive
from relic_core.domain.figures import Table, many
from relic_core.domain.grouping import grouped
from relic_core.echoes import measuring as known_echoes
from relic_core.echoes import scoring
from relic_core.echoes.files import Echo, Side
from relic_core.echoes.measuring import KnownEchoes
from relic_core.echoes.scoring import ALONE, DEFAULT, METHODS, Counted, Filters, MethodCard, Passages, Scorer
from relic_core.encoders.cards import read_card
from relic_core.encoders.towers import PassageEncoder, flat_text, shared
from relic_core.errors import BadRequest, NotFound
from relic_core.formats.files import digest_of, record_in, write_whole
from relic_core.ports import Progress, silent
from relic_core.reporting.passages import quotation
from relic_core.retrieval import index_files
from relic_core.retrieval.dense import Dense
from relic_core.retrieval.registry import Retrievers
from relic_core.services.jobs import Jobs
from relic_core.services.works import Works
from relic_core.text.words import word_spans

__all__ = ["DEFAULT", "METHODS", "Echo", "EchoAnswer", "EchoRequest", "Echoes", "Side"]

KIND = "echoes"
TOP, MOST = 100, 1_000
_WHOLE, _LEAST = 60, 25
"""Words: a paragraph of at most so many is not cut; a unit that is not a verse has at least so many."""
_PIECE = 256
"""Units that are encoded before what was done is kept."""
_SAME, _LONG = 0.3, 8
"""Share of the units of a work, of so many words or more, that are in the others to the letter, from which they are
taken for editions of one work."""
_MOST_UNITS, _MANY_UNITS = {DEFAULT: 120_000, "wmd": 60_000}, 500_000
"""Passages that fit into memory, some 2 GB, by method."""
_ITSELF = "This is a work against itself: a passage is not paired with itself, and each pair stands once."
_EDITIONS = (
    "These are editions of one work: many passages agree to the letter. Those are left out, so that what is shown is "
    "where the editions differ, the smallest differences first."
)
_RELATED = 0.6
"""Cosine of word vectors from which words count as related."""


_GREETINGS_CODE = "greetings/1"
_GREETINGS = re.compile(
    r"\b(?:I (?:humbly )?beg (?:your|a thousand) pardons?|(?:I )?thank you|many thanks|good[- ](?:morning|evening|"
    r"afternoon|night|day|bye)|how (?:do|d['’]ye) (?:you )?do|I am (?:very )?(?:glad|happy) to (?:see|hear) (?:you|it)|"
    r"(?:your )?(?:most )?(?:obedient|humble) servant|if you please|upon my (?:word|honou?r))\b",
    re.IGNORECASE,
)
PART, _FIRST = ".part", 5
"""Ending of the file with the first pairs while the rest is found, and how many it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoRequest:
    """What is to be compared with what, and how.

    - `chapter`: of the first work, from 1; 0 for all of it.
    - `at`, `length`: a passage of the first work, as its address and sentences; empty for all.
    - `most`, `least`, `stopwords`: as `Filters`; None for what the method does best with.
    - `tokens`: words as printed, not their lemmas.
    - `vectors`: a file of vectors of words in text format, a folder of WordNet, or "random"; empty for those of the
      works' own index.
    """

    work_id: str
    others: tuple[str, ...]
    method: str = DEFAULT
    chapter: int = 0
    at: str = ""
    length: int = 1
    top: int = TOP
    most: float = 1.0
    least: int = 1
    stopwords: bool | None = None
    vectors: str = ""
    tokens: bool = field(default=False, repr=False)  # what was kept before it goes by a digest of the rest

    @property
    def parameters(self) -> dict[str, str]:
        """What the address of the page that shows it carries; what is as usual is left away."""
        given = {
            "work": self.work_id,
            "with": ",".join(self.others),
            "method": self.method if self.method != DEFAULT else "",
            "chapter": str(self.chapter or ""),
            "at": self.at,
            "n": str(self.length) if self.at and self.length > 1 else "",
            "top": str(self.top) if self.top != TOP else "",
            "most": f"{self.most:g}" if self.most < 1 else "",
            "least": str(self.least) if self.least > 1 else "",
            "tokens": "1" if self.tokens else "",
        }
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoAnswer:
    """The echoes found among so many passages of either side; `notice`: that the works are one, or editions."""

    request: EchoRequest
    echoes: tuple[Echo, ...]
    units: tuple[int, int]
    notice: str = ""


class Echoes:
    """Finds echoes; what was found is kept under the indexes, by what it was made of."""

    methods = METHODS

    def __init__(self, works: Works, retrievers: Retrievers, settings: Settings, jobs: Callable[[], Jobs]) -> None:
        self._works, self._retrievers, self._settings, self._jobs = works, retrievers, settings, jobs

    def find(self, request: EchoRequest, progress: Progress = silent) -> EchoAnswer:
        """Compare the works, or open what was found before."""
        first, others = self._texts(request)
        path = self._path(request, first, others)
        found = _kept(path)
        if found is None:

            def keep(found: _Found, path: Path) -> None:
                with index_files.writing(self._settings.indexes):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_whole(path, json.dumps(asdict(found)))

            part = path.with_suffix(PART)
            try:
                found = self._compare(request, first, others, progress, lambda some: keep(some, part))
                keep(found, path)
            finally:
                part.unlink(missing_ok=True)
        return self._answer(request, first, others, found)

    def found(self, request: EchoRequest, ending: str = ".json") -> EchoAnswer | None:
        """Open what was found before; None where nothing was. Raises as `find`.

        - `ending`: `PART` for the first pairs of a comparison that is under way.
        """
        first, others = self._texts(request)
        kept = _kept(self._path(request, first, others).with_suffix(ending))
        return self._answer(request, first, others, kept) if kept else None

    def start(self, request: EchoRequest) -> Job:
        """Find them in a job."""
        first, others = self._texts(request)
        title = f"Comparing {first.title} with {others[0].title if len(others) == 1 else f'{len(others)} works'}"
        subject = self._path(request, first, others).stem
        return self._jobs().start(KIND, title=title, subject=subject, arguments=request.parameters)

    def job(self, request: EchoRequest) -> Job | None:
        """Give the last job that was to find them."""
        return self._jobs().latest(KIND, self._path(request, *self._texts(request)).stem)

    def run(self, arguments: dict[str, Any], progress: Progress) -> str:
        """Find them, in a job."""
        return many(len(self.find(read_request(arguments), progress).echoes), "pair")

    def measure(
        self,
        method: str,
        folder: Path | None,
        texts: Path | None = None,
        vectors: str = "",
        progress: Progress = silent,
        *,
        tokens: bool = False,
    ) -> Table:
        """Measure a method on known echoes; `texts` is where their verses are, if not in the folder.

        - `vectors`, `tokens`: as of `EchoRequest`.
        """
        card, known = _card(method, vectors, tokens=tokens), self.known(folder, texts)
        index = _index(method, vectors)
        read = []
        for work in (known.a, known.b):
            spans = [Span(at, 1) for at in range(len(work.sentences))]
            texts_of = tuple(map(work.span_text, spans))
            read.append(Passages(texts_of, self._vectors(work, spans, index, progress)))
        filters = Filters(terms="tokens") if tokens else None
        a, b = read
        scorer = scoring.make(method, a, b, filters, vectors=_word_vectors(vectors))
        ranks = known_echoes.ranks(scorer, known.echoes, progress)
        return known_echoes.table(f"{card.label}{', tokens' if tokens else ''}", known, ranks)

    def known(self, folder: Path | None = None, texts: Path | None = None) -> KnownEchoes:
        """Read the known echoes; parameters and errors as for `measure`."""
        folder = folder or self._settings.benchmarks
        if folder is None:
            raise NotFound(f"The known echoes do not ship with the program. {known_echoes.NEEDS}")
        return known_echoes.read(folder, texts)

    def _texts(self, request: EchoRequest) -> tuple[Work, tuple[Work, ...]]:
        card = _card(request.method, request.vectors, tokens=request.tokens)
        if not card.filtered and (request.most != 1 or request.least != 1 or request.stopwords is not None):
            raise BadRequest(f"{card.name} compares meanings, not words: leave most, least and stopwords away.")
        if (request.at and request.chapter) or (request.length != 1 and not request.at):
            raise BadRequest("Name a chapter, or the address of a passage and perhaps its length, not both.")
        if not 1 <= request.top <= MOST:
            raise BadRequest(f"{request.top} pairs cannot be shown: ask for 1 to {MOST:,}.")
        if not request.others:
            raise BadRequest("Compare it with which work? Name one or more.")
        first = self._works.load(request.work_id)
        if request.at:
            first.span_at(request.at, request.length)
        if not 0 <= request.chapter <= len(first.chapters):
            raise NotFound(f"{first.title} has {len(first.chapters)} chapters, and no {request.chapter}.")
        return first, tuple(self._works.load(each) for each in dict.fromkeys(request.others))

    def _path(self, request: EchoRequest, first: Work, others: Sequence[Work]) -> Path:
        model = self._model(_index(request.method, request.vectors))
        works = [each.reading for each in (first, *others)]
        facts = [
            scoring.CODE,
            _GREETINGS_CODE,
            works,
            model,
            replace(request, work_id="", others=(), vectors=_digest(request.vectors)),
            *(["tokens"] if request.tokens else []),
        ]
        digest = sha256(repr(facts).encode()).hexdigest()[:24]
        return self._settings.indexes / "echoes" / f"{digest}.json"

    def _model(self, name: str) -> str:
        if name == ALONE:
            return self._encoder().identity
        return self._retrievers.get(name).encoder_identity if name else ""

    def _encoder(self) -> PassageEncoder:
        return shared(PassageEncoder(read_card(self._settings.model)))

    def _alone(self, work: Work, spans: Sequence[Span], progress: Progress) -> npt.NDArray[np.float32]:
        """Encode units by themselves; many are kept as an index, whose building goes on where it was stopped."""
        encoder = self._encoder()

        def make(block: range) -> dict[str, npt.NDArray[np.float32]]:
            texts = [_flat(flat_text(work, *work.span_offsets(spans[at]))) for at in block]
            return {"vectors": encoder.encode_passages(texts)}

        def report(done: int, note: str) -> None:
            progress(done, len(spans), f"{work.title}: {note}")

        if len(spans) < _PIECE:
            return make(range(len(spans)))["vectors"]
        cut = sha256(repr([(span.start, span.length) for span in spans]).encode()).hexdigest()[:12]
        recipe = index_files.Recipe.of(
            work.version, retriever=ALONE, encoder=encoder.identity, code=f"{ALONE}/1, units {cut}"
        )
        pieces = [range(at, min(at + _PIECE, len(spans))) for at in range(0, len(spans), _PIECE)]

        def join(parts: Sequence[index_files.Arrays]) -> tuple[index_files.Arrays, dict[str, Any]]:
            return {"vectors": np.concatenate([part["vectors"] for part in parts])}, {}

        root = self._settings.indexes
        if not index_files.exists(root, recipe):
            index_files.build(root, recipe, pieces, make=make, join=join, report=report)
        return np.array(index_files.load(root, recipe)["vectors"])

    def _vectors(self, work: Work, spans: Sequence[Span], name: str, progress: Progress) -> Any:  # noqa: ANN401 - an array or None
        """Give the vectors of units from the index of a retriever, which is made where it is missing."""
        if not name:
            return None
        if name == ALONE:
            return self._alone(work, spans, progress)
        retriever = self._retrievers.get(name)
        if not isinstance(retriever, Dense):
            raise BadRequest(
                f"The model of {name} reads passages alone, and echoes need one that reads them in a work."
            )
        retriever.prepare(work, progress)
        sums = retriever.open(work.version).sums
        edges = list(chain.from_iterable((span.start, span.end) for span in spans))
        padded = np.concatenate([sums, np.zeros((1, sums.shape[1]), np.float32)])
        vectors = np.add.reduceat(padded, edges, axis=0)[::2]
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def _compare(
        self,
        request: EchoRequest,
        first: Work,
        others: Sequence[Work],
        progress: Progress,
        look: Callable[[_Found], None],
    ) -> _Found:
        index, most = _index(request.method, request.vectors), _MOST_UNITS.get(request.method, _MANY_UNITS)
        cut = [units(each) for each in others]
        spans = chosen(first, request), list(chain.from_iterable(cut))
        owners = [at for at, each in enumerate(cut) for _ in each]
        if sum(map(len, spans)) > most:
            raise BadRequest(
                f"These {1 + len(others)} works have {sum(map(len, spans)):,} passages, and {request.method} compares "
                f"{most:,} at a time. Choose fewer works, a chapter, or a method by whole words such as tf-idf."
            )
        texts = (
            [first.span_text(span) for span in spans[0]],
            [others[owner].span_text(span) for owner, span in zip(owners, spans[1], strict=True)],
        )
        vectors = [self._vectors(first, spans[0], index, progress)]
        vectors.append(
            np.concatenate([self._vectors(each, own, index, progress) for each, own in zip(others, cut, strict=True)])
            if index
            else None
        )
        a, b = (Passages(tuple(map(_ungreeted, some)), own) for some, own in zip(texts, vectors, strict=True))
        filters = Filters(
            terms="tokens" if request.tokens else "lemmas",
            most=request.most,
            least=request.least,
            stopwords=request.method == DEFAULT if request.stopwords is None else request.stopwords,
        )
        progress(0, len(a.texts), "Counting words")
        own = np.array([each.fingerprint == first.fingerprint for each in others])[owners]
        same_text = grouped(np.flatnonzero(~own).tolist(), b.texts.__getitem__)
        editions = _share_of([_ungreeted(first.span_text(span)) for span in units(first)], same_text) >= _SAME

        def adjusted(scorer: Scorer) -> Scorer:
            if editions:
                scorer = _without(scorer, lambda row: same_text.get(a.texts[row], []))
            if own.any():
                scorer = _without(scorer, _once(spans[0], spans[1], own))
            if len(a.texts) > 1:
                scorer = _by_fullness(scorer, scoring.fullness(a.texts), scoring.fullness(b.texts))
            return scorer

        def made(pairs: Sequence[scoring.Pair]) -> _Found:
            found = [
                (spans[0][each.a].start, spans[0][each.a].length, owners[each.b], spans[1][each.b].start,
                 spans[1][each.b].length, round(each.score, 5))
                for each in pairs
            ]  # fmt: skip
            notice = " ".join(sentence for sentence, holds in ((_ITSELF, own.any()), (_EDITIONS, editions)) if holds)
            return _Found(found, (len(a.texts), len(b.texts)), _related(a, b, pairs), notice)

        scorer = adjusted(scoring.make(request.method, a, b, filters, vectors=_word_vectors(request.vectors)))
        if request.method == "wmd":  # dear: asked about what words alone put first
            by_words = adjusted(scoring.make("tf-idf", a, b, filters))
            first_pairs = scoring.best_pairs(by_words, len(a.texts), top=MOST, progress=progress)
            pairs = scoring.rescored(first_pairs, scorer, progress)[: request.top]
        else:
            pairs = scoring.best_pairs(
                scorer, len(a.texts), top=request.top, progress=progress, look=lambda some: look(made(some[:_FIRST]))
            )
        return made(pairs)

    def _answer(self, request: EchoRequest, first: Work, others: Sequence[Work], found: _Found) -> EchoAnswer:
        made = []
        for number, ((start, length, owner, other, sentences, score), related) in enumerate(
            zip(found.pairs, found.related, strict=True), start=1
        ):
            spans = (first, Span(start, length)), (others[owner], Span(other, sentences))
            there = [set(scoring.terms_of(quotation(work, span).plain)) for work, span in spans]
            meets = dict(related), {right: left for left, right in related}
            sides = [_side(work, span, there[1 - at], meets[at]) for at, (work, span) in enumerate(spans)]
            made.append(Echo(number=number, score=score, a=sides[0], b=sides[1]))
        return EchoAnswer(request=request, echoes=tuple(made), units=found.units, notice=found.notice)


def read_request(given: dict[str, Any]) -> EchoRequest:
    """Read a request as an address carries it; numbers that are none are as usual."""

    def number(name: str, default: int) -> int:
        written = str(given.get(name, ""))
        return int(written) if written.isascii() and written.isdecimal() and len(written) < len("1000000") else default

    try:
        most = min(1.0, float(given.get("most", 1)))
    except ValueError:
        most = 1.0
    return EchoRequest(
        work_id=given.get("work", ""),
        others=tuple(each for each in given.get("with", "").split(",") if each),
        method=given.get("method") or DEFAULT,
        chapter=number("chapter", 0),
        at=given.get("at", ""),
        length=max(1, number("n", 1)),
        top=number("top", TOP),
        most=most if most > 0 else 1.0,
        least=max(1, number("least", 1)),
        tokens=given.get("tokens") == "1",
    )


def units(work: Work) -> list[Span]:
    """Cut a work into the passages that are compared.

    A verse is one. Elsewhere short paragraphs of a chapter are taken together, and long ones cut between sentences, so
    that each has at least `_LEAST` words where its chapter has as many.
    """
    found: list[Span] = []

    def close(end: int) -> None:
        start = found[-1].end if found else 0
        if start < end:
            found.append(Span(start, end - start))

    for _, chapter in groupby(work.sentences, key=lambda sentence: sentence.chapter):
        held, end = 0, found[-1].end if found else 0
        for _, paragraph in groupby(chapter, key=lambda sentence: sentence.paragraph):
            own = list(paragraph)
            verse = work.place(Span(own[0].index, 1)).verse
            rest = total = sum(_words(work, each) for each in own)
            if verse:
                close(own[0].index)
                held = 0
            for each in own:
                end = each.index + 1
                held, rest = held + _words(work, each), rest - _words(work, each)
                enough = held >= _LEAST and (not rest or (total > _WHOLE and rest >= _LEAST))
                if (verse and not rest) or (enough and not verse):
                    close(end)
                    held = 0
        close(end)
    return found


def _words(work: Work, sentence: Sentence) -> int:
    return len(work.sentence_text(sentence.index).split())


def chosen(work: Work, request: EchoRequest) -> list[Span]:
    """Give the passages of the first work that are asked about. Raises BadRequest: the chapter holds no sentence."""
    if request.at:
        return [work.span_at(request.at, request.length)]
    if not request.chapter:
        return units(work)
    found = [span for span in units(work) if work.sentences[span.start].chapter == request.chapter - 1]
    if not found:
        raise BadRequest(f"{work.chapter_name(request.chapter - 1)} of {work.title} has no sentence.")
    return found


@dataclass(frozen=True, slots=True)
class _Found:
    """What is kept of a comparison: numbers of the two passages of each pair and its score, and words that meet."""

    pairs: list[tuple[Count, Positive, Count, Count, Positive, float]]
    units: tuple[Count, Count]
    related: list[list[tuple[str, str]]]
    notice: str


def _kept(path: Path) -> _Found | None:
    """Read what was found before; None where nothing was, or it is damaged."""
    with suppress(OSError, ValueError):
        return record_in(_Found, path)
    return None


def _card(method: str, vectors: str, *, tokens: bool) -> MethodCard:
    """Find the card of a method. Raises BadRequest: it does not take what is asked of it."""
    card = scoring.card(method)
    if tokens and not card.counts:
        names = ", ".join(each.name for each in METHODS if each.counts)
        raise BadRequest(f"{card.name} does not go by whole words: leave tokens away, or compare by {names}.")
    if vectors and not card.words:
        names = ", ".join(each.name for each in METHODS if each.words)
        raise BadRequest(f"{card.name} takes no vectors of words: leave them away, or compare by {names}.")
    return card


def _index(method: str, vectors: str) -> str:
    """Name the retriever whose index is needed; none where vectors of words come from elsewhere."""
    card = scoring.card(method)
    return "" if card.words and vectors else card.vectors


def _flat(text: str) -> str:
    return " ".join(text.replace("_", " ").split())


def _digest(vectors: str) -> str:
    if vectors in {"", "random"}:
        return vectors and "random similarity"  # what was found before by vectors by lot is another control
    path = Path(vectors)
    try:
        return " ".join(map(digest_of, scoring.wordnet_files(path) if path.is_dir() else [path]))
    except OSError as error:
        raise BadRequest(f"{vectors} cannot be read as vectors of words ({error.strerror}).") from None


def _word_vectors(vectors: str) -> Callable[[scoring.Two], npt.NDArray[np.float32]] | None:
    if not vectors:
        return None
    if vectors == "random":
        return scoring.random_vectors
    read = scoring.wordnet_vectors if Path(vectors).is_dir() else scoring.read_vectors
    return lambda two: read(Path(vectors), two)


def _related(a: Passages, b: Passages, pairs: Sequence[scoring.Pair]) -> list[list[tuple[str, str]]]:
    """List for each pair the lemmas that are related and stand on one side alone; none where there are no vectors."""
    if a.vectors is None or b.vectors is None or not pairs:
        return [[] for _ in pairs]
    two = scoring.Two(Counted.of(a.texts), Counted.of(b.texts))
    vectors = scoring.word_vectors(two, a.vectors, b.vectors)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    found = []
    for pair in pairs:
        words = [side.indices[side.indptr[at] : side.indptr[at + 1]] for side, at in ((two.a, pair.a), (two.b, pair.b))]
        left, right = np.setdiff1d(words[0], words[1]), np.setdiff1d(words[1], words[0])
        own: list[tuple[str, str]] = []
        if len(left) and len(right):
            alike = vectors[left] @ vectors[right].T
            best = alike.argmax(axis=1)
            mutual = alike.argmax(axis=0)[best] == np.arange(len(left))
            strong = mutual & (alike[np.arange(len(left)), best] >= _RELATED)
            own = [(two.vocabulary[left[at]], two.vocabulary[right[best[at]]]) for at in np.flatnonzero(strong)]
        found.append(own)
    return found


def _side(work: Work, span: Span, there: Container[str], meets: Mapping[str, str]) -> Side:
    """Set one passage of a pair, with the words lit that the other shares, or that meet one of it."""
    met: dict[str, str] = {}

    def light(sentence: str) -> list[tuple[int, int]]:
        found = []
        for start, end, token in word_spans(sentence):
            term = next(iter(scoring.terms_of(token)), "")
            if term in there or term in meets:
                found.append((start, end))
            if term in meets and term not in there:
                met[sentence[start:end]] = meets[term]
        return found

    return Side(work=work, span=span, place=work.place(span), passage=quotation(work, span, light=light), met=met)


def _ungreeted(text: str) -> str:
    """Leave out greetings and forms of politeness, on whichever line: they are no echo of anything.

    >>> _ungreeted("“I beg your pardon,” said he. “Good morning, sir!”")
    '“ ,” said he. “ , sir!”'
    """
    return _GREETINGS.sub(" ", _flat(text))


def _without(scorer: Scorer, left_out: Callable[[int], npt.NDArray[np.bool_] | list[int]]) -> Scorer:
    """Leave out some units of the second collection, which differ by row."""

    def score(rows: range) -> npt.NDArray[np.float32]:
        found = scorer(rows)
        for at, row in enumerate(rows):
            found[at, left_out(row)] = 0
        return found

    return score


def _once(a: Sequence[Span], b: Sequence[Span], own: npt.NDArray[np.bool_]) -> Callable[[int], npt.NDArray[np.bool_]]:
    """Leave out of a work against itself units that share a sentence with a passage, and the second of each pair."""
    starts, ends = np.array([(span.start, span.end) for span in b]).T
    both = own & np.isin(starts, [span.start for span in a])
    return lambda row: (own & (starts < a[row].end) & (ends > a[row].start)) | (both & (starts < a[row].start))


def _by_fullness(scorer: Scorer, a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> Scorer:
    return lambda rows: scorer(rows) * a[rows.start : rows.stop, None] * b


def _share_of(texts: Sequence[str], there: Container[str]) -> float:
    long = [text for text in texts if text.count(" ") >= _LONG]
    return sum(text in there for text in long) / max(1, len(long))
