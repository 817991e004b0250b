"""One training on its page: how it goes, its charts, the same figures as tables, its recipe."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.reporting import charts, trainings
from relic_core.services.training.words import explained
from relic_ui.shell import literal, show_errors
from relic_ui.tables import save, show
from relic_ui.training.training import summary

if TYPE_CHECKING:
    from relic_core.domain.trainings import ModelKind
    from relic_core.services.training.following import Followed
    from relic_core.wiring import App

_LOSS = (
    "The loss says how wrong the model is about the quotations it is being taught: it should fall, quickly at first. "
    "What counts is whether it then finds quotations it was not taught, below."
)
_NO_BETTER: dict[ModelKind, str] = {
    "encoder": "It finds no more than the model it began from does.",
    "reranker": "It orders no better than the ranking does that it reorders.",
}
_RECALL = (
    "Recall at 10 is the share of claims for which the critic’s own quotation is among the first ten of its whole "
    "work. The weights that did best are kept."
)


def show_one(app: App, training_id: str) -> None:
    """Draw one training; while it runs its figures are drawn anew every few seconds."""
    followed = app.trainings.get(training_id)
    st.header(literal(followed.training.name), anchor="training-one")
    if followed.active:
        _poll(app, training_id)
    else:
        _show(followed)
    _show_recipe(followed)


def _poll(app: App, training_id: str) -> None:
    drawn = False

    @st.fragment(run_every="3s")
    def poll() -> None:
        nonlocal drawn
        with show_errors():
            now = app.trainings.get(training_id)
            if drawn and not now.active:
                st.rerun()
            drawn = True
            _show(now)

    poll()


def _show(followed: Followed) -> None:
    if followed.active:
        share = min(1.0, followed.step / followed.of) if followed.of else 0.0
        st.progress(share, text=literal(f"{summary(followed)} {_capital(followed.note)}".strip()))
        if followed.note == "Stopping.":
            st.html('<p class="relic-quiet">It stops after the step it is in, with a checkpoint to go on from.</p>')
    elif followed.state == "failed":
        st.warning(literal(f"{summary(followed)} {followed.note}"), icon=":material/warning:")
    else:
        st.html(f'<p class="relic-measure">{escape(f"{summary(followed)} {followed.note}")}</p>')
    st.html(_facts(followed))
    watch, best, before = followed.watch, followed.best, followed.before
    if not followed.active and watch in best and watch in before and best[watch] <= before[watch]:
        st.info(
            f"{_NO_BETTER[followed.training.kind]} Teach it longer, or on more quotations, before you search with it.",
            icon=":material/balance:",
        )
    if followed.losses:
        _chart(
            "Loss",
            _LOSS,
            trainings.draw_losses(followed.losses),
            trainings.losses_table(followed.losses),
            key="loss",
        )
    if followed.validations:
        _chart(
            "Recall",
            _RECALL,
            trainings.draw_recalls(followed.validations),
            trainings.validations_table(followed.validations, followed.watch),
            key="recall",
        )
    elif followed.losses:
        st.html('<p class="relic-quiet">It has not been validated yet.</p>')


def _chart(title: str, said: str, figure: object, table: object, *, key: str) -> None:
    st.subheader(title)
    st.html(f'<p class="relic-measure relic-quiet">{escape(said)}</p>')
    with st.container(key=f"training_{key}_plot"):
        st.plotly_chart(
            figure,
            key=f"training_{key}",
            config=charts.config(f"training {title.lower()}"),
            alt=f"{title} by step. The figures stand below as a table.",
        )
    show(table)
    save([table], f"training {title.lower()}", key=f"training_{key}_save")


def _facts(followed: Followed) -> str:
    """Set the numbers that a person looks for first."""
    facts = [("learns from", f"{followed.pairs:,} + {followed.windows:,}", "quotations of any book, and of your works")]
    if followed.losses:
        facts.append(("loss now", f"{followed.losses[-1][1]:.3f}", f"after step {followed.step:,}"))
    if followed.memory:
        facts.append(("memory", f"{followed.memory / 1024:.1f} GB", "the most its process took"))
    watch, best, before = followed.watch, followed.best, followed.before
    if watch in best:
        was = f"before: {before[watch]:.1f}" if watch in before else f"after step {best['step']:,}"
        facts.append((f"best {watch}", f"{best[watch]:.1f}", was))
    items = "".join(
        f"<li>{escape(what)}<strong>{escape(value)}</strong><span>{escape(more)}</span></li>"
        for what, value, more in facts
        if followed.of
    )
    return f'<ul class="relic-training-facts">{items}</ul>' if items else "<span></span>"


def _capital(note: str) -> str:
    """Make a sentence of a note.

    >>> _capital("validating: 1 of 5 works")
    'Validating: 1 of 5 works.'
    """
    return f"{note[:1].upper()}{note[1:].rstrip('.')}." if note else ""


def _show_recipe(followed: Followed) -> None:
    rows = "".join(
        f"<dt>{escape(key)}</dt><dd>{escape(_written(value))}"
        f'<span class="relic-quiet"> {escape(explained(key, followed.training.kind))}</span></dd>'
        for key, value in {**followed.training.recipe, **followed.training.asked}.items()
    )
    st.html(
        '<details class="relic-training-recipe"><summary>The recipe, and what it was asked to learn from</summary>'
        f"<dl>{rows}</dl></details>"
    )


def _written(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(" ".join(map(str, each)) if isinstance(each, list) else str(each) for each in value) or "all"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value) or "–"
