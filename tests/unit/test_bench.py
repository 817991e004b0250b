from relic_core.services import bench
from relic_core.services.workbench import Workbench
from relic_core.store import Store
from tests.making import make_work


def test_the_figures_of_a_small_work_are_whole_and_the_two_bm25_agree(settings):
    workbench = Workbench(settings)
    sample = workbench.works.ensure_sample()
    work = make_work([[f"The tide rose by {n} inches and the clerk wrote {n % 7} in the register." for n in range(40)]])
    Store(settings.store, lock_seconds=5).works.add(work)
    told = []
    (row,) = bench.measure(workbench, [work.id], lambda done, total, note="": told.append((done, total, note)))
    assert sample is not None
    assert (row.work, row.sentences) == ("A Small Work", 40)
    assert row.bm25_same_tops
    assert min(row.bm25_ms, row.reference_ms, row.dense_ms, row.search_ms, row.dense_build_s) > 0
    assert row.bm25_times_faster == row.reference_ms / row.bm25_ms
    assert told == [(0, 1, "A Small Work")]
    assert not list(settings.indexes.glob("**/*head*")), "the bench leaves no index of its own behind"
