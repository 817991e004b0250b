"""The ports: what a retriever, an encoder, a segmenter, a progress report must be able to do.

Every name is imported from here; the modules only keep like with like.
"""

from __future__ import annotations

from relic_core.ports.benchmarks import Benchmark, WorkSource
from relic_core.ports.models import Encoder, Reranker
from relic_core.ports.retrievers import Combining, Compacting, CorpusRetriever, Retriever, VectorRetriever
from relic_core.ports.texts import Segmenter
from relic_core.ports.work import Executor, Progress, Workers, silent

__all__ = [
    "Benchmark",
    "Combining",
    "Compacting",
    "CorpusRetriever",
    "Encoder",
    "Executor",
    "Progress",
    "Reranker",
    "Retriever",
    "Segmenter",
    "VectorRetriever",
    "WorkSource",
    "Workers",
    "silent",
]
