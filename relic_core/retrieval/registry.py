"""The retrievers there are. Adding one is one file with a `create` function, and one card here.

`register` adds one for this process alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from typing import Literal

from relic_core.config import Settings
from relic_core.domain import LENGTHS, WorkVersion
from relic_core.engines import check_model
from relic_core.errors import BadRequest, BadWeights, unknown_name
from relic_core.ports import CorpusRetriever, Retriever

Factory = Callable[[Settings, Sequence[Retriever]], Retriever]

Kind = Literal["lexical", "dense", "fusion", "reranker", "baseline", "imported"]

IMPORTED = "imported:"
"""How the names of systems begin whose rankings were taken in; they have cards, and are none of `cards`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverCard:
    """What there is to know of a retriever without loading it.

    - `purpose`: what the pages of scholars call it; the label where empty: see `called`.
    - `kind`: what it goes by: words, meaning, other rankings, the head of another ranking read anew, nothing at all, or
      what another system said.
    - `factory`: "module:function"; the function takes the settings and the components. Of one that was registered, the
      function.
    - `default`: every work is prepared for it and every search asks it; where not, it answers those who choose it.
    - `library`: whether it searches many works at once: see `relic_core.ports.CorpusRetriever`.
    - `server`: whether it asks a language model on a server: offered only where one is set up.
    - `setting`: the one that names its model, where none comes with the program.
    """

    name: str
    label: str
    description: str
    kind: Kind
    factory: str | Factory
    purpose: str = ""
    shown: bool = True
    default: bool = True
    components: tuple[str, ...] = ()
    library: bool = False
    server: bool = False
    setting: str = ""

    @property
    def on_its_own(self) -> bool:
        """Whether it works with what comes with the program; where not, it is used only where it is named."""
        return not (self.server or self.setting)

    @property
    def registered(self) -> bool:
        """Whether this process alone has it."""
        return not isinstance(self.factory, str)

    @property
    def keeps_own_index(self) -> bool:
        """Whether it is made of others and keeps an index of each work beside theirs."""
        return self.kind == "dense" and bool(self.components)

    @property
    def called(self) -> str:
        """Its purpose, in two words: what it goes by on a page."""
        return self.purpose or self.label

    @property
    def title(self) -> str:
        """Its purpose, then its name.

        >>> card("bm25").title, card("random").title
        ('By words · BM25', 'Random')
        """
        return f"{self.purpose} · {self.label}" if self.purpose else self.label


_A_MODEL = "a model"
"""What the name of the model takes the place of."""


def _by_model(name: str, does: str, description: str, *, shown: bool = False) -> RetrieverCard:
    """Make the card of one way in which a language model on a server orders the top k of the best ranking."""
    recalls = name.startswith("recall")
    return RetrieverCard(
        name=f"llm-{name}",
        label=f"{does} {_A_MODEL}",
        description=description,
        kind="reranker",
        factory=f"relic_core.retrieval.{'recalled' if recalls else 'read_by_model'}:create_{name.replace('-', '_')}",
        shown=shown,
        default=False,
        components=("fusion",),
        library=not recalls,
        server=True,
    )


_CARDS = (
    RetrieverCard(
        name="dense-relic",
        label="dense-RELiC",
        purpose="By meaning",
        description="Compares meanings: a language model trained on critics' quotations reads the claim, and each "
        "passage in its context.",
        kind="dense",
        factory="relic_core.retrieval.dense:create_trained",
        library=True,
    ),
    RetrieverCard(
        name="bm25",
        label="BM25",
        purpose="By words",
        description="Compares words: passages that use the claim's own words come first, rare words counting most.",
        kind="lexical",
        factory="relic_core.retrieval.bm25:create",
        library=True,
    ),
    RetrieverCard(
        name="reranked",
        label="Reranked",
        purpose="By a second model",
        description="Takes the thirty best passages of Combined, and orders them anew with a second model. The one "
        "that comes with the program compares meanings, and hardly reads a passage together with the claim.",
        kind="reranker",
        factory="relic_core.retrieval.reranked:create",
        components=("fusion",),
        library=True,
    ),
    RetrieverCard(
        name="fusion",
        label="Combined",
        purpose="By both",
        description="Puts first what ranks high by meaning, by words, and by the words of what stands around.",
        kind="fusion",
        factory="relic_core.retrieval.fusion:create",
        components=("dense-relic", "bm25", "surroundings"),
        library=True,
    ),
    RetrieverCard(
        name="zero-shot",
        label="Dense, zero-shot",
        purpose="By meaning, pretrained",
        description="Compares meanings: a general-purpose language model, not trained on literature, "
        "reads each passage in its context and the claim.",
        kind="dense",
        factory="relic_core.retrieval.dense:create",
        default=False,
        library=True,
    ),
    RetrieverCard(
        name="late",
        label="Late interaction",
        purpose="Word by word",
        description="Takes the best passages by meaning and by words together, and weighs anew how near each word of "
        "the claim comes to a word of the passage.",
        kind="dense",
        factory="relic_core.retrieval.late:create",
        default=False,
        components=("fusion",),
    ),
    RetrieverCard(
        name="splade",
        label="SPLADE",
        description="Compares words, and words that a model of yours reads between them: each counts as it has learnt.",
        kind="dense",
        factory="relic_core.retrieval.splade:create",
        shown=False,
        default=False,
        setting="RELIC_SPARSE",
    ),
    RetrieverCard(
        name="bm25-reference",
        label="BM25 (rank_bm25)",
        description="The same word comparison by the library used in the RELiC paper; slow, for checking.",
        kind="lexical",
        factory="relic_core.retrieval.bm25_reference:create",
        shown=False,
    ),
    RetrieverCard(
        name="bm25-lemmas",
        label="BM25, lemmas",
        description="The same word comparison, a word counting in all its forms: went and going as go.",
        kind="lexical",
        factory="relic_core.retrieval.bm25:create_with_lemmas",
        shown=False,
    ),
    RetrieverCard(
        name="surroundings",
        label="BM25, surroundings",
        purpose="By the words around",
        description="Compares words: a passage counts by what stands around it, from the scene to the chapter.",
        kind="lexical",
        factory="relic_core.retrieval.surroundings:create",
        shown=False,
        library=True,
    ),
    RetrieverCard(
        name="tf-idf",
        label="TF-IDF, lemmas",
        description="Compares words in all their forms, by the angle between the claim's words and the passage's.",
        kind="lexical",
        factory="relic_core.retrieval.tfidf:create",
        shown=False,
    ),
    RetrieverCard(
        name="random",
        label="Random",
        description="Puts the passages in a random order: what chance alone would find.",
        kind="baseline",
        factory="relic_core.retrieval.random_order:create",
        shown=False,
    ),
    _by_model(
        "reason",
        "Read by",
        "A language model on your server reads the first passages beside the claim, and scores each with a reason. It "
        "may know famous criticism by heart, and its reasons may be wrong: the passages alone are the work's.",
        shown=True,
    ),
    _by_model(
        "recall",
        "Recalled by",
        "A language model on your server says from memory which passages would serve. Those that are in the work "
        "come first, in the work's own words; the others are counted and not shown.",
        shown=True,
    ),
    _by_model(
        "recall-text",
        "Picked from the text by",
        "A language model on your server is given the whole work, part by part, and says which passages would serve.",
    ),
    _by_model(
        "score",
        "Scored by",
        "A language model on your server scores each of the first passages beside the claim, without a reason.",
    ),
    _by_model(
        "subtask",
        "Read against criteria by",
        "A language model on your server writes criteria for the claim and scores each of the first passages by each.",
        shown=True,
    ),
    _by_model(
        "rank",
        "Put in order by",
        "A language model on your server puts the first passages in order, twenty at a time.",
    ),
)


_REGISTERED: dict[str, RetrieverCard] = {}


def cards() -> tuple[RetrieverCard, ...]:
    """List all retrievers of the program, in the order in which pages show them."""
    return _CARDS


def card(name: str) -> RetrieverCard:
    """Describe one retriever. Raises BadRequest: no retriever has that name.

    >>> card("fusion").components
    ('dense-relic', 'bm25', 'surroundings')
    """
    if name.startswith(IMPORTED):
        return RetrieverCard(
            name=name,
            label=f"{name.removeprefix(IMPORTED)} (imported)",
            description="What another system ranked for this claim, as its file says. It chose from the candidates of "
            "the benchmark that the file is of.",
            kind="imported",
            factory="",
            default=False,
        )
    known = {each.name: each for each in _CARDS} | _REGISTERED
    if name in known:
        return known[name]
    raise unknown_name("retriever", name, known)


def register(
    name: str,
    make: Callable[..., Retriever],
    *,
    description: str = "",
    components: Sequence[str] = (),
    library: bool = False,
) -> None:
    """Register a retriever of your own under a name, for this process.

    >>> class Longest(Retriever):
    ...     name, configuration = "longest", {"code": "longest/1"}
    ...
    ...     def score(self, claim, work, length):
    ...         spans = [Span(at, length) for at in range(work.candidates(length))]
    ...         return np.array([len(work.span_text(span)) for span in spans], np.float32)
    >>> register("longest", Longest)

    It is searched with, ranks and is measured by this name. Registered again, it takes the place of the earlier one.

    - `make`: the class, or a function that makes the retriever; called with its components, in their order.
    - `components`: names of retrievers that it is made of.
    - `library`: whether it ranks many works at once: see `relic_core.ports.CorpusRetriever`.

    Raises BadRequest: the program has a retriever of this name.
    """
    if any(each.name == name for each in _CARDS):
        raise BadRequest(f"The program has a retriever called {name}. Choose another name for yours.")

    @cache
    def made(_settings: Settings, parts: tuple[Retriever, ...]) -> Retriever:
        return make(*parts)

    _REGISTERED[name] = RetrieverCard(
        name=name,
        label=name,
        description=description,
        kind="fusion" if components else "baseline",
        factory=lambda settings, parts: made(settings, tuple(parts)),
        default=False,
        components=tuple(components),
        library=library,
    )


def in_order(names: Iterable[str]) -> tuple[RetrieverCard, ...]:
    """Give the cards of some retrievers and of all that they are made of, each after its components.

    >>> [each.name for each in in_order(["reranked"])]
    ['dense-relic', 'bm25', 'surroundings', 'fusion', 'reranked']
    """
    found: dict[str, RetrieverCard] = {}
    for name in names:
        wanted = card(name)
        for each in (*in_order(wanted.components), wanted):
            found.setdefault(each.name, each)
    return tuple(found.values())


def create(name: str, *, settings: Settings, made: dict[str, Retriever] | None = None) -> Retriever:
    """Make a retriever and those it is made of; those `made` earlier are used again, and new ones are added to them."""
    made = {} if made is None else made
    if name not in made:
        if name.startswith(IMPORTED):
            from relic_core.retrieval.imported import stored  # the store is opened for those alone who ask for it

            made[name] = stored(name, settings)
            return made[name]
        wanted = card(name)
        components = [create(part, settings=settings, made=made) for part in wanted.components]
        if not isinstance(wanted.factory, str):
            return wanted.factory(settings, components)  # which keeps it: another may be registered under its name
        module, function = wanted.factory.split(":")
        factory: Factory = getattr(import_module(module), function)
        made[name] = factory(settings, components)
    return made[name]


@dataclass(frozen=True, slots=True)
class RetrieverSpec:
    """What a worker on another machine makes the same retriever of, with all that decides its scores."""

    name: str
    settings: Settings
    configuration: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, retriever: Retriever, settings: Settings) -> RetrieverSpec:
        """Describe a registered retriever; raises what its `configuration` raises."""
        return cls(retriever.name, settings.for_workers(), tuple(sorted(retriever.configuration.items())))


@lru_cache(maxsize=16)
def same_here(spec: RetrieverSpec) -> Retriever:
    """Make the retriever on a worker, once for all tasks. Raises BadWeights: its model or number format is another."""
    made = create(spec.name, settings=spec.settings)
    here = made.configuration
    for name, value in spec.configuration:
        check_model(here.get(name), value)
    return made


_TRAINED = "dense-relic"


def goes_by_trained(name: str) -> bool:
    """Whether the trained encoder has a part in a retriever's scores.

    >>> goes_by_trained("reranked"), goes_by_trained("surroundings")
    (True, False)
    """
    return any(each.name == _TRAINED for each in in_order([name]))


class Retrievers:
    """The retrievers of an app, each made once; `own`: of trained ones the model's name, and that with its date.

    - `smaller`: those of the small model, which answer for works that the larger one in use has not read yet.
    - `model`: "small" or "larger", the model of these; empty for another.
    """

    def __init__(
        self,
        settings: Settings,
        own: Mapping[str, tuple[str, str]],
        *,
        smaller: Retrievers | None = None,
        model: str = "",
    ) -> None:
        self.settings = settings
        self.smaller = smaller
        self.model = model
        self._own = own
        self._beside = smaller
        self._made: dict[str, Retriever] = {}
        self._lock = threading.Lock()

    @property
    def in_use(self) -> Retrievers:
        """The same, which leave no work to the smaller model."""
        found = copy(self)
        found.smaller = None
        return found

    def answering(self, works: Sequence[WorkVersion], *lengths: int) -> Retrievers:
        """Give those that answer for works: the smaller model's as long as more of these are prepared for it, or none.

        One model answers a search, so that the scores of all its columns belong together.
        """
        if self.smaller is None:
            return self
        own = self._lacking(works, *lengths)
        if own and (own >= len(works) or own > self.smaller._lacking(works, *lengths)):  # noqa: SLF001 - of the same class
            return self.smaller
        return self

    def _lacking(self, works: Sequence[WorkVersion], *lengths: int) -> int:
        """Count the works that are not prepared for the trained encoder; all where it cannot be loaded."""
        try:
            retriever = self.get(_TRAINED)
            return len(retriever.missing(works, *(lengths or LENGTHS))) if isinstance(retriever, CorpusRetriever) else 0
        except BadWeights:
            return len(works)

    def cards(self) -> tuple[RetrieverCard, ...]:
        """List the retrievers that pages offer, in the order of their columns; each by its own model."""
        server = bool(self.settings.reader and self.settings.reader_model)
        return tuple(self.card(each.name) for each in _CARDS if each.shown and (server or not each.server))

    def default(self) -> tuple[RetrieverCard, ...]:
        """List those of them that every work is prepared for, and every search asks."""
        return tuple(each for each in self.cards() if each.default)

    def card(self, name: str) -> RetrieverCard:
        """Describe one retriever; one with a model that was chosen, or is on a server, by that model's name.

        What reorders keeps its label, which says what it does, and names the model in its description.
        """
        found = card(name)
        if found.server and (model := self.settings.reader_model):
            return replace(found, label=f"{found.label.removesuffix(_A_MODEL)}{model}")
        if name not in self._own:
            return found
        model, trained = self._own[name]
        description = f"{trained}. {found.description}"
        if found.kind != "dense":
            return replace(found, description=description)
        return replace(found, label=model, description=description)

    def get(self, name: str) -> Retriever:
        """Give the one instance of a retriever, made on first use; the smaller model's, where no model is in it."""
        if self._beside is None:
            with self._lock:
                return create(name, settings=self.settings, made=self._made)
        if not goes_by_trained(name):
            return self._beside.get(name)
        parts = [each.name for each in in_order([name]) if not goes_by_trained(each.name)]
        shared = {part: self._beside.get(part) for part in parts}
        with self._lock:
            self._made.update(shared)
            return create(name, settings=self.settings, made=self._made)

    def models(self, names: Iterable[str]) -> tuple[str, ...]:
        """Name the models that had a part in rankings, each once: identities of encoders, digests of rerankers."""
        names = list(names)
        identities = {name: self.get(name).encoder_identity for name in names}
        for name in names:
            if card(name).kind == "imported":
                identities[name] = card(name).label
            if card(name).kind == "reranker":
                facts = self.get(name).configuration
                identities[name] = f"{facts['reranker reranker']} {facts.get('reranker weights', '')[:12]}".strip()
        ordered = sorted(identities.items(), key=lambda each: card(each[0]).kind == "reranker")  # encoders first
        return tuple(
            dict.fromkeys(
                f"{self._own[name][1]} ({identity})" if name in self._own else identity
                for name, identity in ordered
                if identity
            )
        )
