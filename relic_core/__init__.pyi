# What type checkers and editors read: __init__.py loads these when they are asked for.
from relic_core.api import Library as Library
from relic_core.api import Ranker as Ranker
from relic_core.domain import Span as Span
from relic_core.errors import RelicError as RelicError
from relic_core.ports import Retriever as Retriever
from relic_core.retrieval.registry import register as register

__version__: str
