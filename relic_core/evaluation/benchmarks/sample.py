"""The sample: excerpts of criticism written for this project, whose quotations are from its sample work.

It checks that all parts work together and says nothing of how good a retriever is: the excerpts were written beside the
work, by the same hand.
"""

from __future__ import annotations

from pathlib import Path

from relic_core.config import Settings
from relic_core.domain import MAX_CONTEXT, BenchmarkCard, QuotationContext
from relic_core.errors import BadBenchmark, BadRequest, BadText
from relic_core.evaluation.benchmarks.opened import Opened, book_of
from relic_core.library import sample
from relic_core.ports import WorkSource

CARD = BenchmarkCard(
    name="sample",
    label="The sample",
    description="Excerpts of criticism on a short novel, both written for this project. It shows that everything "
    "works; no retriever should be chosen by it. Its claims share next to no telling word with their quotations, so "
    "that no counting of words can answer them: BM25 stands where chance does.",
    split=sample.SPLIT,
    pool="whole work",
    main_metric="recall@10",
    examples=72,
    books=1,
    source="Written for this project",
    licence="CC0",
    citation="RELiC Workbench, the sample",
    checksum="8bc9b196d29c35ab34ace74cee2274ff7c4dcbbcc835cb545bc7fd78da77ceb8",
)
BOOK = "high_water_at_averhythe"
_PARAPHRASE = "paraphrase"
"""The one kind of the excerpts that says what the quotation is for; the others name the claim's subject."""


def create(settings: Settings, works: WorkSource, data: Path | None) -> Opened:  # noqa: ARG001 - the registry's signature
    """Read the sample; its quotations have 1 to 5 sentences.

    Raises BadRequest: a file was given: the sample is what ships with the program.
    Raises BadBenchmark: the excerpts do not fit the work.
    """
    if data is not None:
        raise BadRequest(
            f"The benchmark 'sample' ships with the program and takes no file of your own, and {data} was given. "
            "Leave the file out, or name a benchmark that takes one: relic."
        )
    work = sample.read_novel(max_bytes=settings.max_text_bytes)
    excerpts = sample.read_excerpts()
    try:
        examples = sample.align(work, excerpts)
    except BadText as error:
        raise BadBenchmark(str(error)) from error
    windows = [
        QuotationContext(
            id=excerpt.id,
            book=BOOK,
            pool=BOOK,
            left=excerpt.left[-MAX_CONTEXT:],
            right=excerpt.right[:MAX_CONTEXT],
            gold=example.gold,
            quotation=excerpt.quotation,
            kind="paraphrase-supporting" if excerpt.kind == _PARAPHRASE else "claim-supporting",
        )
        for excerpt, example in zip(excerpts, examples, strict=True)
    ]
    return Opened(CARD, windows, books=[book_of(BOOK, work)], works={BOOK: work})
