"""Find shows what another system ranked, for a claim of its file."""

from __future__ import annotations

from relic_core.domain import ContextSize
from relic_core.formats import trec
from tests.app.reading import FIND, as_read, found, html, said, sound

SHAPE = ContextSize(4, 4)


def test_an_imported_ranking_is_a_column_for_its_claims_in_the_order_of_its_file(app, tmp_path):
    benchmark = app.bench.benchmarks.open("sample")
    window = next(each for each in benchmark.windows() if each.gold.length > 1)
    work, length = benchmark.work(window.pool), window.gold.length
    starts = range(0, 40 * length, length)
    ends = [(work.sentences[start].start, work.sentences[start + length - 1].end) for start in starts]
    path = tmp_path / "theirs.run"
    path.write_text(
        "".join(
            f"{window.id} Q0 {trec.document(window.book, stands)} {rank} {50 - rank} theirs\n"
            for rank, stands in enumerate(ends, start=1)
        )
    )
    run, *_ = app.bench.runs.import_ranking(path, benchmark, SHAPE, "ColBERT")
    at = app.open(FIND)
    assert "ColBERT (imported)" in map(as_read, at.get_by_key("find_retrievers").options)
    at.get_by_key("find_retrievers").set_value(["bm25", "imported:ColBERT"])
    at.get_by_key("find_length").set_value(length)
    claim = window.claim(SHAPE)
    at = sound(found(at, f"{claim.left} ____ {claim.right}"))
    (search,) = app.bench.history.recent(1)
    cards = app.bench.search.run(search.request).columns[1].cards
    assert [card.span.start for card in cards] == list(starts[: len(cards)])
    assert str(cards[0].place.address) in html(at)
    carried = app.bench.sharing.open_code(app.bench.sharing.share(search.id, search.request).code)
    assert (carried.request.retrievers, carried.notices) == (search.request.retrievers, ())
    other = sound(found(at, "The brass bolt stands for a false certainty"))
    assert "ranks no claim" in said(other)
    app.bench.runs.remove(run.id)
    reopened = sound(app.open(FIND, q=search.id))
    assert "'ColBERT'" in said(reopened), "a column that is left out is told"
