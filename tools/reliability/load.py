"""Twenty people searching at once, beside one alone."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from relic_core.errors import RelicError
from relic_core.services.answers import SearchRequest
from tools.reliability.rows import Row, percentile

if TYPE_CHECKING:
    from tools.reliability.rows import Trial

_MOST_RATIO = 2.0
"""How much longer than their share of the machine people may wait at the median."""


def searchers(trial: Trial) -> Row:
    """Let many ask the one app of a server at once, each for an answer and a line of the history."""
    trial.say("one alone searches")
    _ask(trial, "warm", 1)
    alone = [seconds for seconds, _ in _ask(trial, "alone", trial.rounds)]
    trial.say(f"{trial.searchers} search at once")
    together = threading.Barrier(trial.searchers)

    def one(number: int) -> list[tuple[float, str]]:
        together.wait()
        return _ask(trial, f"searcher {number}", trial.rounds)

    with ThreadPoolExecutor(trial.searchers) as pool:
        answers = [answer for each in pool.map(one, range(trial.searchers)) for answer in each]
    times = [seconds for seconds, _ in answers]
    kept = {search.id for search in trial.app.history.recent(1_000_000)}
    failed = sum(not search_id for _, search_id in answers)
    lost = sum(bool(search_id) and search_id not in kept for _, search_id in answers)
    p50, p95 = (percentile(times, share) / percentile(alone, share) for share in (0.5, 0.95))
    return Row(
        name=f"{trial.searchers} searchers at once",
        done=f"{trial.searchers} threads of one server's app each asked {trial.rounds} times, without a pause "
        "between, "
        f"for the first answer of a page and its line in the history; before that, one alone did.",
        expected=f"Every search is answered and kept; at the median nobody waits more than {_MOST_RATIO:.0f} times "
        "their "
        f"share ({trial.searchers} times as long as alone).",
        happened=f"{len(answers) - failed:,} of {len(answers):,} were answered. Alone p50 "
        f"{percentile(alone, 0.5):.2f} s, p95 "
        f"{percentile(alone, 0.95):.2f} s; together p50 {p50:.1f} times and p95 {p95:.1f} times as long.",
        held=failed == 0 and lost == 0 and p50 <= _MOST_RATIO * trial.searchers,
        counts={"searches": len(answers), "failed": failed, "lost": lost, "p50 ratio": p50, "p95 ratio": p95},
    )


def _ask(trial: Trial, who: str, times: int) -> list[tuple[float, str]]:
    """Ask some times; seconds and the id under which each was kept, empty where it was refused."""
    found = []
    for number in range(times):
        claim = f"{trial.claims[number % len(trial.claims)]} ({who}, {number})"
        request = SearchRequest(work_id=trial.work_id, claim_text=claim)
        began = time.perf_counter()
        try:
            trial.app.search.run(request, at_once=True)
            kept = trial.app.history.keep(request).id
        except RelicError:
            kept = ""
        found.append((time.perf_counter() - began, kept))
    return found
