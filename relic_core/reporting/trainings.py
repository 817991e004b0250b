"""Trainings as charts and tables: how the loss falls and recall rises, and several of them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from relic_core.domain.figures import Cell, Figure, Table
from relic_core.domain.trainings import Followed, Training, duration
from relic_core.reporting.charts import FONT, GRID, legend

if TYPE_CHECKING:
    import plotly.graph_objects as go


RECALLS = ("recall@1", "recall@10", "recall@100")
SHAPES = ("4/4", "1/1", "1/0")
LOSS_HEIGHT = 330
RECALL_HEIGHT = 380

_INK = "#2f7fae"
_FAINT = "rgba(47, 127, 174, 0.42)"
_TOP = 100
_DRAWN = 400
"""Points of a line at the most: a longer training is drawn by the means of its stretches."""
_STRETCHES = 30
_ROWS = 12
_STYLES = {
    "recall@1": ("#a0477a", "diamond", "dot"),
    "recall@10": ("#1f7f89", "circle", "solid"),
    "recall@100": ("#b0701c", "square", "dash"),
}


def draw_losses(losses: Sequence[tuple[int, float]]) -> go.Figure:
    """Draw how the loss falls: each step faintly, and the mean of a stretch of steps as the line to read."""
    import plotly.graph_objects as go

    def line(points: int, name: str, step: str, **look: object) -> go.Scatter:
        steps, means = zip(*_means(losses, points), strict=True) if losses else ((), ())
        hover = f"{step} %{{x:,}}: %{{y:.3f}}<extra></extra>"
        return go.Scatter(x=steps, y=means, mode="lines", line=look, name=name, hovertemplate=hover)

    name = "each step" if len(losses) <= _DRAWN else "a few steps"
    figure = go.Figure([
        line(_DRAWN, name, "step", color=_FAINT, width=1),
        line(_STRETCHES, "mean of a stretch", "about step", color=_INK, width=2.5),
    ])  # fmt: skip
    figure.update_traces(visible=len(losses) > _STRETCHES, selector=0)  # else both are one line
    return _laid_out(figure, "loss", LOSS_HEIGHT)


def draw_recalls(validations: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Draw how recall rises, in percent by "step", from what is reached before the first step."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, (colour, symbol, dash) in _STYLES.items():
        figure.add_scatter(
            x=[each["step"] for each in validations],
            y=[each.get(name) for each in validations],
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": dash},
            marker={"symbol": symbol, "size": 9},
            cliponaxis=False,
            name=name,
            hovertemplate=f"step %{{x:,}}: {name} %{{y:.1f}}%<extra></extra>",
        )
    _laid_out(figure, "recall, %", RECALL_HEIGHT)
    figure.update_yaxes(rangemode="tozero")
    return figure


def validations_table(validations: Sequence[Mapping[str, Any]], watch: str) -> Table:
    """Set the figures of all validations of a training; the best of the figure that is watched is marked."""
    windows = int(validations[-1].get("windows", 0)) if validations else 0
    trained = [each for each in validations if each["step"]]
    best = max(trained, key=lambda each: float(each.get(watch, 0.0)), default={})
    ranked = any("median" in each for each in validations) or not validations
    shown = [*(RECALLS if ranked else ("loss",)), *(["median"] if ranked else []), *([watch] * (watch not in RECALLS))]
    return Table(
        caption="Validations",
        heads=("step", *(f"{each}, %" if each.startswith("recall") else _head(each) for each in shown), "kept"),
        rows=tuple(
            (
                "before" if not each["step"] else f"{each['step']:,}",
                *(_figure(each.get(key)) for key in shown),
                "these weights" if each is best else "",
            )
            for each in validations
        ),
        notes=(
            f"{windows:,} quotations, each ranked in its whole work, with four sentences of criticism either side.",
            "The median is that of the rank of the critic's own quotation: smaller is better.",
        )
        if ranked
        else (f"{windows:,} quotations; the likelihood is 100 exp(-loss).",),
    )


def losses_table(losses: Sequence[tuple[int, float]]) -> Table:
    """Set the loss of a training by stretches of its steps."""
    return Table(
        caption="Loss",
        heads=("up to step", "mean loss"),
        rows=tuple(
            (f"{step:,}", Figure(text=f"{loss:.3f}", value=loss)) for step, loss in _means(losses, _ROWS, at_end=True)
        ),
    )


def compared(every: Sequence[Followed]) -> tuple[Table, Table]:
    """Set trainings side by side: the best figures at every shape and what they took, and in what they differ."""
    names, bests = [each.training.name for each in every], [each.best for each in every]
    keys = [f"{recall}{'' if shape == SHAPES[0] else f' {shape}'}" for shape, recall in product(SHAPES, RECALLS)]
    rows: list[tuple[Cell, ...]] = []
    for key in keys:
        changes = (_change(each.best.get(key), each.before.get(key)) for each in every)
        rows.append((_title(key), *changes))
    rows.append(("median rank, 4/4", *(_figure(best.get("median")) for best in bests)))
    rows.append(("quotations validated on", *(f"{int(best.get('windows', 0)):,}" if best else "–" for best in bests)))
    rows.append(("state", *(each.state for each in every)))
    rows.append(("steps", *(f"{each.step:,}" for each in every)))
    rows.append(("time", *(duration(each.seconds) for each in every)))
    figures = Table(
        caption="Figures of the best weights",
        heads=("", *names),
        rows=tuple(rows),
        notes=(
            "In brackets, the difference to the model it began from, in points of a hundred.",
            "What a reranker makes is compared with the ranking that it reorders.",
            "Figures of trainings that were validated on different quotations do not compare.",
        ),
    )
    apart = _differences([each.training for each in every])
    return figures, Table(
        caption="In what they differ",
        heads=("setting", *names),
        rows=tuple((key, *values) for key, values in apart),
        notes=() if apart else ("In nothing: the recipes and what they were asked to learn from are the same.",),
    )


def value(given: object) -> str:
    """Write a value of a recipe, or of what was asked, as a person reads it."""
    if isinstance(given, list):
        return ", ".join(" ".join(map(str, each)) if isinstance(each, list) else str(each) for each in given) or "all"
    return "yes" if given is True else "no" if given is False else str(given) if given != "" else "–"


def _differences(trainings: Sequence[Training]) -> list[tuple[str, tuple[str, ...]]]:
    made = [{"kind": training.kind, **training.recipe, **training.asked} for training in trainings]
    rows = []
    for key in dict.fromkeys(chain.from_iterable(made)):
        values = tuple(value(each.get(key, "")) for each in made)
        if key != "name" and len(set(values)) > 1:
            rows.append((key, values))
    return rows


def _laid_out(figure: go.Figure, measure: str, height: int) -> go.Figure:
    figure.update_layout(
        height=height,
        margin={"l": 0, "r": 14, "t": _TOP, "b": 8},
        legend=legend(height),
        showlegend=True,
        hovermode="closest",
        dragmode=False,
        modebar={"orientation": "h"},
    )
    figure.add_annotation(
        text=measure, showarrow=False, font={"size": FONT},
        x=0, y=1, xref="paper", yref="paper", xanchor="left", yanchor="bottom", yshift=6,
    )  # fmt: skip
    axis = {"fixedrange": True, "gridcolor": GRID, "zerolinecolor": GRID, "tickfont": {"size": FONT}}
    figure.update_xaxes(title={"text": "step", "standoff": 6, "font": {"size": FONT}}, rangemode="tozero", **axis)
    figure.update_yaxes(**axis)
    return figure


def _means(losses: Sequence[tuple[int, float]], most: int, *, at_end: bool = False) -> list[tuple[int, float]]:
    """Take the means of at most so many stretches, each at its middle, or at its end.

    >>> _means([(1, 4.0), (2, 2.0), (3, 1.0), (4, 0.0)], 2)
    [(2, 3.0), (4, 0.5)]
    """
    size = max(1, -(-len(losses) // most))
    stretches = [losses[at : at + size] for at in range(0, len(losses), size)]
    places = [each[-1 if at_end else len(each) // 2][0] for each in stretches]
    return [(at, sum(loss for _, loss in each) / len(each)) for at, each in zip(places, stretches, strict=True)]


def _title(key: str) -> str:
    """Write a figure's name with its shape.

    >>> _title("recall@10"), _title("recall@1 1/0")
    ('recall@10, 4/4', 'recall@1, 1/0')
    """
    name, _, shape = key.partition(" ")
    return f"{name}, {shape or SHAPES[0]}"


def _head(key: str) -> str:
    return "median rank" if key == "median" else key


def _figure(value: float | None) -> Cell:
    return "–" if value is None else Figure(text=f"{value:.1f}", value=value)


def _change(best: float | None, before: float | None) -> Cell:
    if best is None:
        return "–"
    return f"{best:.1f} ({best - before:+.1f})".replace("-", "−") if before is not None else f"{best:.1f}"
