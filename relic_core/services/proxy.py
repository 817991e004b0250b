"""The proxy task as a table: how often retrievers tell the critic's quotation from two others (RELiC, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain.studies import OPTIONS
from relic_core.errors import BadRequest
from relic_core.evaluation import metrics
from relic_core.evaluation.intervals import interval_of
from relic_core.evaluation.proxy_items import proxy_values
from relic_core.evaluation.proxy_runs import ItemSettings, alike, ask, built_on, make_items
from relic_core.reporting.tables import Cell, Figure, Table
from relic_core.retrieval import registry
from relic_core.services.figures import figure_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import ContextSize
    from relic_core.evaluation.intervals import Over
    from relic_core.ports import Progress
    from relic_core.wiring import App


def proxy_table(
    app: App,
    name: str,
    retrievers: Sequence[str],
    *,
    chooser: str,
    shape: ContextSize,
    data: Path | None = None,
    progress: Progress,
) -> Table:
    """Ask retrievers the proxy task: the gold among two passages that another retriever put first (RELiC, section 4).

    - `app`: where the works are.
    - `name`: a registered benchmark, whose windows become the items.
    - `chooser`: who chooses the other two options; not one of them.
    - `shape`: how much context each claim takes.
    - `data`: the reader's own file or folder of the benchmark.
    - `progress`: told how many items are done.

    Raises BadRequest: no such retriever or benchmark, or the chooser is asked.
    """
    if not retrievers or any(alike(each) == alike(chooser) for each in retrievers):
        raise BadRequest(
            f"{chooser} chooses the options, so its own accuracy says nothing. Name other retrievers to be asked, or "
            "another chooser."
        )
    benchmark = app.benchmarks.open(name, data=data)
    settings = app.measuring.settings_for(benchmark)
    made = make_items(
        benchmark,
        benchmark.windows(),
        chooser=app.measuring.retriever(chooser, settings),
        settings=ItemSettings(shape=shape),
        progress=progress,
    )
    works = {benchmark.work(window.pool).id: window.pool for window in benchmark.windows()}
    books = [item.book for item in made.items]
    card = metrics.metric("proxy-accuracy")
    over: Over | None = None if len(books) <= 1 else "works" if len(set(books)) > 1 else "examples"
    rows: list[tuple[Cell, ...]] = []
    for each in retrievers:
        asked = app.measuring.retriever(each, settings)
        answers = ask(made.items, lambda work_id: benchmark.work(works[work_id]), asked, progress=progress)
        values = proxy_values(made.items, answers.choices)
        if over is None:
            value = metrics.centre("proxy-accuracy", values)
            figure = Figure(text=card.written(value), value=value)
        else:
            figure = figure_of(card, interval_of(values, books, over=over))
        rows.append((registry.card(each).label, str(shape), figure, len(values)))
    notes = [f"Each claim has {OPTIONS} candidates. Chance is {100 / OPTIONS:.1f}."]
    notes += [
        f"{registry.card(each).label} is built on {registry.card(chooser).label}, which chose the options, and "
        "shares its errors: its figure says less than the others'."
        for each in retrievers
        if built_on(each, chooser)
    ]
    if over is not None:
        notes.append(f"Intervals are 95%, by bootstrap over {over}.")
    if made.left_out:
        notes.append(f"{len(made.left_out):,} claims make no item: no ranking, or too short a work for three options.")
    other = registry.card(chooser).label
    return Table(
        caption=f"{benchmark.card.label}: the critic's quotation told from two passages that {other} put first.",
        heads=("retriever", "context", card.label, "n"),
        rows=tuple(rows),
        notes=tuple(notes),
    )
