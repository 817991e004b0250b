"""The numbers of a set of windows beside RELiC's own: its Table 1, section A.3 and Figure 2, as tables and a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain import LENGTHS
from relic_core.domain.figures import Figure, Table
from relic_core.mining.statistics import RELIC, Statistics
from relic_core.reporting.charts import GRID, OTHER

if TYPE_CHECKING:
    import plotly.graph_objects as go


_INK = "#4f7fae"
_HEIGHT = 320
_MOST_SOURCES = 25
_SPLITS = {
    "training": "quotations for training (RELiC: training examples)",
    "dev": "quotations of dev",
    "validation": "validation examples",
    "test": "quotations of test (RELiC: test examples)",
}


def tables(counted: Statistics, *, what: str) -> tuple[Table, ...]:
    """Set the numbers of a set of quotations: as the paper gives them, by length, by work, by source."""
    named, by_source = counted.titles, list(counted.by_source.items())
    further = [quotations for _, quotations in by_source[_MOST_SOURCES:]]
    return (
        _paper(counted, what),
        _lengths(counted, what),
        Table(
            caption=f"{what}: by work",
            heads=("work", "split", "quotations", "sources", "largest source", "sentences quoted", "of"),
            rows=tuple(
                (
                    named.get(work, work),
                    each.split,
                    each.windows,
                    each.sources,
                    _share(each.largest / each.windows),
                    _share(each.quoted / each.sentences),
                    each.sentences,
                )
                for work, each in counted.by_work.items()
            ),
        ),
        Table(
            caption=f"{what}: the sources with the most quotations",
            heads=("source", "quotations", "share"),
            rows=tuple(
                (named.get(source, source), quotations, _share(quotations / counted.total))
                for source, quotations in by_source[:_MOST_SOURCES]
            ),
            notes=(f"{len(further):,} further sources have {sum(further):,} quotations.",) if further else (),
        ),
    )


def draw_lengths(counted: Statistics, *, what: str) -> go.Figure:
    """Draw how many sentences the quotations have, with the shares above the columns: the paper's Figure 2."""
    import plotly.graph_objects as go

    lengths = sorted({*LENGTHS, *counted.lengths})
    values = [counted.lengths.get(length, 0) for length in lengths]
    shares = [value / counted.total if counted.total else 0.0 for value in values]
    figure = go.Figure(
        go.Bar(
            x=[str(length) for length in lengths],
            y=values,
            text=[f"{100 * share:.1f}%" for share in shares],
            textposition="outside",
            cliponaxis=False,
            marker_color=_INK if counted.total else OTHER,
            hovertemplate="%{x} sentences: %{y:,} quotations (%{text})<extra></extra>",
        )
    )
    figure.update_layout(
        title={"text": f"Length of the quotations, {what}", "font": {"size": 15}},
        height=_HEIGHT,
        margin={"l": 0, "r": 14, "t": 64, "b": 8},
        bargap=0.3,
        dragmode=False,
        showlegend=False,
    )
    figure.update_xaxes(title_text="sentences of the quotation", type="category", fixedrange=True)
    figure.update_yaxes(
        title_text="quotations", fixedrange=True, gridcolor=GRID, zerolinecolor=GRID, rangemode="tozero"
    )
    return figure


def _paper(counted: Statistics, what: str) -> Table:
    splits = [name for name in _SPLITS if name in counted.examples or name in RELIC.examples]
    rows = [
        (_SPLITS[name], _count(counted.examples.get(name)), _count(RELIC.examples.get(name)), "Table 1")
        for name in splits
    ]
    rows += [
        ("quotations in all (RELiC: examples)", _count(counted.total), _count(RELIC.total), "Table 1"),
        ("average context, words", _one(counted.context_words), _one(RELIC.context_words), "Table 1"),
        ("average quotation, words", _one(counted.quotation_words), _one(RELIC.quotation_words), "Table 1"),
        ("primary sources", _count(counted.works), _count(RELIC.works), "Table 1"),
        ("secondary sources", _count(counted.sources), _count(RELIC.sources), "Table 1"),
        ("sources per work, average", _one(counted.sources_per_work), _one(RELIC.sources_per_work), "A.3"),
        ("share of sentences quoted, average", _share(counted.quoted_share), _share(RELIC.quoted_share), "A.3"),
        ("quotations per work, average", _one(counted.windows_per_work), _one(RELIC.windows_per_work), "A.3"),
        ("quotations per source, average", _one(counted.windows_per_source), _one(RELIC.windows_per_source), "A.3"),
    ]  # fmt: skip
    return Table(
        caption=f"{what}, beside RELiC",
        heads=("number", "here", "RELiC", "in the paper"),
        rows=tuple(rows),
        notes=("RELiC's numbers are those of Thai et al. 2022; its quotations come from articles under copyright.",),
    )


def _lengths(counted: Statistics, what: str) -> Table:
    return Table(
        caption=f"{what}: sentences of the quotations (the paper's Figure 2, which prints no numbers)",
        heads=("sentences", "quotations", "share"),
        rows=tuple(
            (length, quotations, _share(quotations / counted.total)) for length, quotations in counted.lengths.items()
        ),
    )


def _count(number: int | None) -> Figure | str:
    return "" if number is None else Figure(text=f"{number:,}", value=number)


def _one(number: float) -> Figure:
    return Figure(text=f"{number:,.1f}", value=number)


def _share(share: float) -> Figure:
    return Figure(text=f"{100 * share:.2f}%", value=share)
