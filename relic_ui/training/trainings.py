"""The page of trainings: those there are, one of them as it goes, several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import streamlit as st
from markupsafe import Markup

from relic_core.domain.figures import Table
from relic_core.domain.trainings import Followed, ModelKind, duration
from relic_core.reporting import charts
from relic_core.reporting import trainings as reported
from relic_core.services.models import PACKAGED_LARGE, SETTINGS, Defaults, naming
from relic_core.services.training_plans import setting
from relic_core.wiring import App
from relic_ui import buttons
from relic_ui.jobs import follow, show_followed, when
from relic_ui.removed import show_each, show_undo
from relic_ui.shell import literal, show_errors
from relic_ui.tables import save, show
from relic_ui.templates import render
from relic_ui.visit import visit

_CALIBRATING = "calibrating"
"""Where the page says how a calibration goes."""
_REMOVED_SHOWN = 12


class _Words(NamedTuple):
    """How one of the two models that searches use is spoken of."""

    does: str
    then: str
    use_packaged: str
    back: str


_THEN_LARGER = " It reads works in the background; until then the small model answers."

_USED: dict[ModelKind, _Words] = {
    "encoder": _Words(
        "The app searches with the model",
        " Works are prepared for it when they are first searched.",
        "Use the packaged model",
        "",
    ),
    "reranker": _Words(
        "The best passages are ordered by the reranker", "", "Use the packaged reranker", "the reranker of"
    ),
}
_STATES = {
    "waiting": "Waiting for its turn",
    "running": "Running",
    "stopped": "Stopped",
    "failed": "Failed",
    "finished": "Finished",
}


def do(app: App, does: str, to: str) -> None:
    """Do what a button in the list asks for."""
    acts = {
        "stop-training": app.trainings.stop,
        "resume-training": app.trainings.resume,
        "use-model": app.trainings.use,
    }
    with show_errors():
        if does == "calibrate-model":
            follow(_CALIBRATING, app.trainings.calibrate(to))
        elif does in acts:
            acts[does](to)
            if does == "use-model":
                st.rerun()  # the page that is drawn has still the app of the model before
        elif does == "use-packaged":
            app.trainings.use_packaged(to)
            st.rerun()
        elif does == "model-before":
            app.trainings.go_back()
            st.rerun()
        elif does == "remove-training":
            removed = app.trainings.remove(to)
            visit()["training_removed"] = (removed.id, removed.name)


def show_default(app: App) -> None:
    """Say with which models the app searches, and offer the way back."""
    default = app.trainings.default
    if default.problem:
        st.warning(literal(default.problem), icon=":material/warning:")
        st.html(f"<p>{_packaged_button('packaged', 'Use the packaged models')}</p>")
    paragraphs, buttons_, packaged_ones = [], [], []
    for kind, words in _USED.items():
        of = default.of(kind)
        smaller = of.choice is not None and of.choice.is_large
        packaged = _packaged_button(f"packaged-{kind}", "Use the smaller model" if smaller else words.use_packaged)
        if of.fixed:
            paragraphs.append(
                f"{words.does} that the setting <code>{SETTINGS[kind]}</code> names: "
                f"<strong>{escape(of.fixed)}</strong>. A choice made here counts once it is empty."
            )
        elif of.problem:
            st.warning(literal(of.problem), icon=":material/warning:")
            buttons_.append(packaged)
        elif of.choice is not None:
            paragraphs.append(
                f"{words.does} <strong>{escape(of.choice.named)}</strong>, chosen {escape(when(of.choice.at))}."
                f"{_THEN_LARGER if of.choice.is_large else words.then}"
            )
            buttons_.append(packaged)
        elif not default.problem:
            packaged_ones.append(f"{words.does} that comes with the program.")
    if len(packaged_ones) == len(_USED):
        packaged_ones = ["The app searches with the models that come with the program."]
    paragraphs += packaged_ones
    if default.offers_large:
        paragraphs.append(
            "A larger model is installed. It finds more of what critics quoted; preparing takes three times as long."
        )
        during = "Checking the model …"  # it is unpacked when it is first chosen
        buttons_.append(_packaged_button(PACKAGED_LARGE, "Use the larger model", during))
    back = _back(default)
    st.html("".join(f'<p class="relic-measure">{each}</p>' for each in paragraphs) or "<span></span>")
    if back or buttons_:
        st.html(f'<p class="relic-training-do">{back}{"".join(buttons_)}</p>')


def _packaged_button(to: str, label: str, during: str = "") -> str:
    return buttons.button("use-packaged", to, label, title=f"{label} for searching", during=during)


def _back(default: Defaults) -> str:
    """Offer to take the last choice back, where that brings another model than the packaged one."""
    before = default.before
    names = [
        f"{words.back} {choice.name}".strip()
        for kind, words in _USED.items()
        if (choice := before.of(kind)) is not None and choice != default.of(kind).choice
    ]
    if not names:
        return ""
    label = f"Go back to {' and '.join(names)}"
    return buttons.button("model-before", "it", label, title=f"{label} for searching")


def choose(every: Sequence[Followed]) -> str:
    """Give the id of the training that the address names; else of the one that is under way, or the newest."""
    ids = [each.training.id for each in every]
    asked = st.query_params.get("id", "")
    if asked in ids:
        return asked
    return next((each.training.id for each in every if each.active), ids[0] if ids else "")


def show_list(app: App, every: Sequence[Followed], chosen: str) -> None:
    """List the trainings, each a link to how it goes."""
    show_followed(app, _CALIBRATING)
    show_undo("training", "Removed from the trainings", app.trainings.restore)
    if every:
        default = app.trainings.default
        rows = "".join(
            _row(app, each, chosen=each.training.id == chosen, used=default.use(each.training.id)) for each in every
        )
        st.html(f'<ul class="relic-shelf-works relic-trainings">{rows}</ul>')
    removed = app.trainings.removed()
    if removed:
        with st.expander(f"Removed trainings ({len(removed)})", key="training_removed_list"):
            shown = [(each.id, each.name, "") for each in removed[:_REMOVED_SHOWN]]
            show_each("training", shown, "restore-training-", app.trainings.restore)


def _row(app: App, each: Followed, *, chosen: bool, used: bool) -> Markup:
    finds = each.has_model and not each.active and each.training.selectable and each.training.kind == "encoder"
    current = {"aria-current": "true"} if chosen else {}
    return render(
        "training/row.html",
        each=each,
        used=used,
        summary=summary(each),
        cost=_cost(each),
        to={"data-then": "#training-one", **current},
        can_calibrate=finds and not app.trainings.is_calibrated(each.training.id),
    )


def summary(each: Followed) -> str:
    """Say in a line how a training stands."""
    text = _STATES[each.state]
    if each.of:
        text += f", step {each.step:,} of {each.of:,}"
    if each.left is not None:
        text += f", {duration(each.left)} left"
    watch = each.watch
    if watch in each.best:
        text += f". {watch}: {each.best[watch]:.1f}"
        text += f" (before: {each.before[watch]:.1f})" if watch in each.before else ""
    return f"{text}."


def _cost(each: Followed) -> str:
    parts = {"reranker": ["a reranker"], "source": ["for attribution"]}.get(each.training.kind, [])
    parts += ["for late interaction"] if each.training.is_late else []
    parts.append(f"begun {when(each.training.created)}")
    if each.pairs or each.windows:
        parts.append(f"{each.pairs + each.windows:,} quotations")
    if each.seconds:
        parts.append(duration(each.seconds))
    parts.append(f"{each.bytes / 1e6:,.0f} MB on disk")
    return " · ".join(parts)


def show_comparison(app: App, every: Sequence[Followed]) -> None:
    """Let trainings be chosen and set them side by side."""
    names = {each.training.id: each.training.name for each in every if each.validations or each.losses}
    if len(names) < 2:  # noqa: PLR2004 - nothing to compare
        return
    st.header("Side by side", anchor="training-compare")
    first_two = list(names)[:2]
    wanted = st.multiselect(
        "Trainings to compare", list(names), default=first_two, format_func=names.__getitem__, key="training_compare"
    )
    if wanted:
        made = app.trainings.compared(wanted)
        for table in made:
            show(table)
        save(made, "trainings compared", key="training_compare_save")


_LOSS = (
    "The loss says how wrong the model is about the quotations it is being trained on: it should fall, quickly at "
    "first. What counts is whether it then finds quotations it was not trained on, below."
)
_NO_BETTER: dict[ModelKind, str] = {
    "encoder": "It finds no more than the model it began from.",
    "reranker": "It orders no better than the ranking it started with.",
    "source": "It rates quotations no higher than the model it began from.",
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
    if followed.has_model and not followed.training.selectable:
        st.html(
            f'<p class="relic-measure relic-training-named">{escape(naming(app.settings.data, followed.training))}</p>'
        )
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
            f"{_NO_BETTER[followed.training.kind]} Train it longer, or on more quotations, before you search with it.",
            icon=":material/balance:",
        )
    if followed.losses:
        _chart("Loss", _LOSS, reported.draw_losses(followed.losses), reported.losses_table(followed.losses), key="loss")
    if followed.validations:
        table = reported.validations_table(followed.validations, followed.watch)
        if any(reported.RECALLS[0] in each for each in followed.validations):
            _chart("Recall", _RECALL, reported.draw_recalls(followed.validations), table, key="recall")
        else:
            show(table)
            save([table], "training validations", key="training_validations_save")
    elif followed.losses:
        st.html('<p class="relic-quiet">It has not been validated yet.</p>')


def _chart(title: str, text: str, figure: object, table: Table, *, key: str) -> None:
    st.subheader(title)
    st.html(f'<p class="relic-measure relic-quiet">{escape(text)}</p>')
    with st.container(key=f"training_{key}_plot"):
        st.plotly_chart(
            figure,
            key=f"training_{key}",
            config=charts.config(f"training {title.lower()}"),
            alt=f"{title} by step. The figures are below as a table.",
        )
    show(table)
    save([table], f"training {title.lower()}", key=f"training_{key}_save")


def _facts(followed: Followed) -> str:
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
        f"<dt>{escape(key)}</dt><dd>{escape(reported.value(value))}"
        f'<span class="relic-quiet"> {escape(setting(key, followed.training.kind).does)}</span></dd>'
        for key, value in {**followed.training.recipe, **followed.training.asked}.items()
    )
    st.html(
        '<details class="relic-training-recipe"><summary>The recipe, and what it was asked to learn from</summary>'
        f"<dl>{rows}</dl></details>"
    )


STYLE = Path(__file__).with_name("trainings.css")
