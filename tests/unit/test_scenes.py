"""The chapters that hold most of an answer, and the names that tell them from one another."""

from __future__ import annotations

import numpy as np

from relic_core.domain import Ranking
from relic_core.services.scenes import scenes
from tests.making import make_work


def test_a_chapter_is_marked_by_names_and_by_no_initial_or_number():
    held = [
        *("Then Mara rowed M. Duval over.", "There Mara met the Seventy.", "So M. Duval slept."),
        *("Again Mara feared the Seventy.", "Then came M. Duval.", "He hid from the Seventy."),
    ]
    work = make_work(held, *([f"The river rose on day {day}.", "It fell.", "It rose."] for day in range(6)))
    count = len(work.sentences)
    ranking = Ranking(
        "bm25", 1, (work.id,), np.zeros(count, np.int32), np.arange(count, dtype=np.int32), -np.arange(count) / 9, count
    )
    assert scenes(work, ranking, ())[0].marks == ("Mara",)
