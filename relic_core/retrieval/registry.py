"""The retrievers there are. Adding one is one file with a `create` function, and one card here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, cast

from relic_core.errors import BadRequest, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from relic_core.config import Settings
    from relic_core.domain import Work
    from relic_core.ports import LibraryRetriever, Retriever

    Factory = Callable[[Settings, Sequence[Retriever]], Retriever]
    LibraryFactory = Callable[
        [Settings, Retriever, Sequence[LibraryRetriever], Callable[[str], Work]], LibraryRetriever
    ]

Kind = Literal["lexical", "dense", "fusion", "reranker", "baseline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverCard:
    """What there is to know of a retriever without loading it.

    - `description`: what it does, in one sentence for a scholar.
    - `kind`: what it goes by: words, meaning, other rankings, the head of another ranking read anew, or nothing at all.
    - `factory`: "module:function"; the function takes the settings and the components.
    - `usual`: whether every work is prepared for it and every search asks it; where not, it answers those who choose
      it.
    - `library`: "module:function" of what searches many works at once by what it has prepared of each; the function
      takes the settings, the retriever, the components' own searchers of many works, and what loads a work by its id.
      Empty where it searches single works only.
    """

    name: str
    label: str
    description: str
    kind: Kind
    factory: str
    shown: bool = True
    usual: bool = True
    components: tuple[str, ...] = ()
    library: str = ""


_CARDS = (
    RetrieverCard(
        name="dense-relic",
        label="dense-RELiC",
        description="Compares meanings: a language model that learnt from critics' quotations reads each passage in "
        "its context and the claim.",
        kind="dense",
        factory="relic_core.retrieval.dense:create_trained",
        library="relic_core.retrieval.library.dense:create_library",
    ),
    RetrieverCard(
        name="bm25",
        label="BM25",
        description="Compares words: passages that use the claim's own words come first, rare words counting most.",
        kind="lexical",
        factory="relic_core.retrieval.bm25:create",
        library="relic_core.retrieval.library.words:create_library",
    ),
    RetrieverCard(
        name="reranked",
        label="Reranked",
        description="Takes the hundred passages that stand highest by meaning and by words together, and reads each of "
        "them anew beside the claim.",
        kind="reranker",
        factory="relic_core.retrieval.reranked:create",
        components=("fusion",),
        library="relic_core.retrieval.library.reranked:create_library",
    ),
    RetrieverCard(
        name="fusion",
        label="Combined",
        description="Puts first what stands high by meaning and by words.",
        kind="fusion",
        factory="relic_core.retrieval.fusion:create",
        components=("dense-relic", "bm25"),
        library="relic_core.retrieval.library.fusion:create_library",
    ),
    RetrieverCard(
        name="zero-shot",
        label="Dense, zero-shot",
        description="Compares meanings: a general-purpose language model, not trained on literature, "
        "reads each passage in its context and the claim.",
        kind="dense",
        factory="relic_core.retrieval.dense:create",
        usual=False,
        library="relic_core.retrieval.library.dense:create_library",
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
)


def cards() -> tuple[RetrieverCard, ...]:
    """List all retrievers, in the order in which pages show them."""
    return _CARDS


def card(name: str) -> RetrieverCard:
    """Describe one retriever.

    Raises BadRequest: no retriever has that name.

    >>> card("fusion").components
    ('dense-relic', 'bm25')
    """
    for each in _CARDS:
        if each.name == name:
            return each
    raise unknown_name("retriever", name, (each.name for each in _CARDS))


def in_order(names: Iterable[str]) -> tuple[RetrieverCard, ...]:
    """Give the cards of some retrievers and of all that they are made of, each after its components.

    Raises BadRequest: no retriever has one of the names.

    >>> [each.name for each in in_order(["reranked"])]
    ['dense-relic', 'bm25', 'fusion', 'reranked']
    """
    found: dict[str, RetrieverCard] = {}
    for name in names:
        wanted = card(name)
        for each in (*in_order(wanted.components), wanted):
            found.setdefault(each.name, each)
    return tuple(found.values())


def create(name: str, *, settings: Settings, made: dict[str, Retriever] | None = None) -> Retriever:
    """Make a retriever and those it is made of.

    - `settings`: where indexes are kept and which encoder is used.
    - `made`: retrievers made earlier, by name: they are used again, and new ones are added.

    Raises BadRequest: no retriever has that name.
    """
    made = {} if made is None else made
    if name not in made:
        wanted = card(name)
        components = [create(part, settings=settings, made=made) for part in wanted.components]
        made[name] = cast("Factory", _function(wanted.factory))(settings, components)
    return made[name]


def create_library(
    name: str,
    *,
    settings: Settings,
    made: dict[str, Retriever],
    load: Callable[[str], Work],
    libraries: dict[str, LibraryRetriever] | None = None,
) -> LibraryRetriever:
    """Make what searches many works at once, of a retriever and of those it is made of.

    - `settings`: where indexes are kept and how much memory a search may take.
    - `made`: retrievers made earlier, by name: they are used again, and new ones are added.
    - `libraries`: what was made earlier by this function, by name: it is used again, and what is new is added.

    Raises BadRequest: no retriever has that name, or it searches single works only.
    """
    libraries = {} if libraries is None else libraries
    if name not in libraries:
        wanted = card(name)
        if not wanted.library:
            able = ", ".join(each.name for each in _CARDS if each.library)
            raise BadRequest(f"{wanted.label} ({name}) searches one work at a time. The whole library: {able}.")
        parts = [
            create_library(part, settings=settings, made=made, load=load, libraries=libraries)
            for part in wanted.components
        ]
        retriever = create(name, settings=settings, made=made)
        libraries[name] = cast("LibraryFactory", _function(wanted.library))(settings, retriever, parts, load)
    return libraries[name]


def _function(where: str) -> object:
    module, function = where.split(":")
    found: object = getattr(import_module(module), function)
    return found
