"""Asking for a training: three choices in plain words, the rest behind "More", and what it will cost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from relic_core.domain.trainings import Followed, ModelKind, duration
from relic_core.errors import BadRequest, RelicError
from relic_core.services.dataset import SplitSummary
from relic_core.services.training_plans import (
    ABOUT,
    DENSE_RELIC,
    LENGTHS,
    NO_MODEL,
    PRETRAINED,
    RECIPES,
    USES,
    AnyRecipe,
    Prospect,
    TrainingRequest,
    Use,
    defaults_of,
    setting,
)
from relic_core.wiring import App
from relic_ui.links import bring
from relic_ui.naming import many
from relic_ui.shell import literal, show_errors
from relic_ui.visit import visit

_ELSEWHERE = {"name", "kind", "base", "epochs"}
"""Settings that have a choice of their own above, or none."""
_PACKAGED, _OTHER = "The small one that comes with the program", "Another, by its folder or name"
_HARD = {
    NO_MODEL: "Do not look for any",
    DENSE_RELIC: "With the model that the app searches with",
    PRETRAINED: "With the pretrained model chosen above",
}
_PARTS = {"training": "to train on", "dev": "to validate on", "test": "to report on"}
_STARTS = {
    NO_MODEL: "From the pretrained model chosen above",
    DENSE_RELIC: "From dense-RELiC, as the app searches with it",
}


def show(app: App, every: tuple[Followed, ...]) -> None:
    """Offer a new training."""
    st.header("Train a model", anchor="training-new")
    _show_parted()
    if app.training_plans.lacking():
        _show_lacking(app)
        return
    asked = _choose(app, every)
    if asked is None:
        return
    with show_errors():
        prospect = _prospect(app, asked, _key(asked), app.training_plans.stamp())
        if prospect.lacking:
            st.info(literal(prospect.lacking), icon=":material/info:")
            return
        _show_costs(prospect, every)
        if prospect.unparted:
            _offer_split(app, "Prepare the training data again")
        if st.button("Start training", key="training_begin", type="primary", icon=":material/school:"):
            with st.spinner("Loading the model it starts from …"):
                training = app.trainings.start(asked)
            st.query_params["id"] = training.id
            bring("#training-one")  # it stands further up
            st.rerun()


def _show_lacking(app: App) -> None:
    prospect = app.training_plans.prospect(TrainingRequest())
    st.info(literal(prospect.lacking), icon=":material/info:")
    if prospect.unparted:
        _offer_split(app, "Prepare the training data")
    else:
        criticism = {"part": "Criticism"}
        st.page_link("pages/library.py", label="Open the library", icon=":material/menu_book:", query_params=criticism)


def _offer_split(app: App, label: str) -> None:
    if st.button(label, key="training_split", icon=":material/call_split:"):
        with show_errors(), st.spinner("Comparing the quotations with the works that results are measured on …"):
            visit()["training_parted"] = app.dataset.split()
            st.rerun()


def _show_parted() -> None:
    """Say what was decided, until the page is left."""
    state = visit()
    if state.get("came_from") != state.get("page"):
        state.pop("training_parted", None)
    parted: SplitSummary | None = state.get("training_parted")
    if parted is None:
        return
    of = {split: (parted.pairs.get(split, 0), parted.windows.get(split, 0)) for split in _PARTS}
    rows = [
        f"- {what}: {many(pairs, 'quotation')} of any book, {windows:,} of your works"
        for (pairs, windows), what in zip(of.values(), _PARTS.values(), strict=True)
    ]
    reasons = Counter(parted.left_out.get("pair", {})) + Counter(parted.left_out.get("window", {}))
    rows += [f"- left out: {count:,}. {literal(reason)}" for reason, count in reasons.most_common()]
    text = "\n".join(["The training data are ready.", "", *rows])
    (st.success if any(of["training"]) else st.warning)(text, icon=":material/call_split:")


def _choose(app: App, every: tuple[Followed, ...]) -> TrainingRequest | None:
    """Let the choices be made; None where one of them cannot be."""
    length = st.selectbox(
        "How long", list(LENGTHS), format_func=lambda key: LENGTHS[key].label, key="training_length", width=440
    )
    uses: list[Use] = list(USES)
    use = st.radio("On what", uses, format_func=USES.__getitem__, key="training_use")
    base = _choose_base()
    name = st.text_input("Name", key="training_name", placeholder="named by its date", width=440)
    with st.expander("More", key="training_more"):
        recipe_name = st.selectbox(
            "Recipe", list(RECIPES), format_func=lambda key: f"{key}: {ABOUT.get(key, '')}", key="training_recipe"
        )
        recipe = RECIPES[recipe_name]
        further = _choose_further(app, every, recipe, base)
        try:
            changes = _choose_settings(recipe.to_json(), recipe_name, recipe.kind)
            if base:
                changes["base"] = base
            asked = TrainingRequest(name=name, recipe=recipe.with_(**changes), use=use, **further)
        except RelicError as error:
            st.error(literal(str(error)), icon=":material/error:")
            return None
    lasting = asked.lasting(length)
    return lasting if recipe_name not in {"paper", "authors"} else replace(lasting, recipe=asked.recipe)


def _choose_base() -> str:
    which = st.radio("From which model", [_PACKAGED, _OTHER], key="training_base_kind")
    if which == _PACKAGED:
        return ""
    return st.text_input(
        "Folder on the machine that runs the app, or name of a model that was fetched to it", key="training_base",
        width=440,
    ).strip()  # fmt: skip


def _choose_further(app: App, every: tuple[Followed, ...], recipe: AnyRecipe, base: str) -> dict[str, Any]:
    default, kind = defaults_of(recipe), recipe.kind
    titles = {each.source.id: each.source.title for each in app.sources.all()}
    sources = st.multiselect(
        "Only on what these sources quote", list(titles), format_func=titles.__getitem__, key="training_sources",
        placeholder="all secondary sources",
    )  # fmt: skip
    validation = st.number_input(
        "Quotations to validate on. More are surer and take longer; 0 for none", 0, 10_000, default.validation, 10,
        key=f"training_validation_{kind}",
    )  # fmt: skip
    if kind == "source":  # it begins from its base, and learns without negatives
        return {"sources": tuple(sources), "validation": int(validation)}
    encoders = [each.training for each in every if each.has_model and each.training.kind == "encoder"]
    trained = {each.id: f"the model of {each.name}" for each in encoders}
    label = app.retrievers.card("dense-relic").label  # of a model that was chosen its own name
    starts = _STARTS | {DENSE_RELIC: f"From {label}, as the app searches with it"}
    starts |= {key: f"From {label}" for key, label in trained.items()}
    first = NO_MODEL if base else default.start
    start = st.selectbox(
        "What it starts from", list(starts), list(starts).index(first), format_func=starts.__getitem__,
        key=f"training_start_{kind}_{first}",
    )  # fmt: skip
    models = _HARD | {each.id: f"With {trained[each.id]}" for each in encoders if not each.is_late}
    hard = st.selectbox(
        "Find hard negatives first: passages that a model mistakes for the right one", list(models),
        list(models).index(default.hard), format_func=models.__getitem__, key=f"training_hard_{kind}",
    )  # fmt: skip
    return {"sources": tuple(sources), "validation": int(validation), "hard": hard, "start": start}


def _choose_settings(recipe: Mapping[str, Any], name: str, kind: ModelKind) -> dict[str, Any]:
    """Offer every setting of a recipe with its sentence; give those that were changed."""
    changed: dict[str, Any] = {}
    for key, default in recipe.items():
        if key in _ELSEWHERE:
            continue
        what = setting(key, kind)
        label = literal(f"{key}: {what.does}")
        value = _widget(key, default, label, f"training_set_{name}_{key}", what.among)
        if value != default:
            changed[key] = value
    return changed


def _widget(key: str, default: Any, label: str, widget: str, among: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(default, bool):
        return st.checkbox(label, default, key=widget)
    if among:
        return st.selectbox(label, among, among.index(default), key=widget)
    if isinstance(default, int):
        return int(st.number_input(label, value=default, step=1, key=widget))
    if isinstance(default, float):
        return float(st.number_input(label, value=default, step=None, format="%g", key=widget))
    if isinstance(default, str):
        return st.text_input(label, default, key=widget)
    text = st.text_input(label, json.dumps(default), key=widget)
    try:
        return json.loads(text)
    except ValueError:
        raise BadRequest(f"{key} is '{text}', which cannot be read. As it usually is: {json.dumps(default)}") from None


def _key(asked: TrainingRequest) -> str:
    return json.dumps([asked.recipe.to_json(), asked.to_json()], sort_keys=True)


@st.cache_data(max_entries=64, show_spinner="Estimating how long it takes on this machine …")
def _prospect(_app: App, _asked: TrainingRequest, key: str, stamp: tuple[tuple[int, int], ...]) -> Prospect:  # noqa: ARG001 - what the answer depends on
    """Look ahead once for each thing that can be asked, until the store changes."""
    return _app.training_plans.prospect(_asked)


def _show_costs(prospect: Prospect, every: tuple[Followed, ...]) -> None:
    found, estimate = prospect.material, prospect.estimate
    if estimate is None:
        return
    parts = [many(found.pairs, "quotation") + " of any book" if found.pairs else ""]
    parts += [many(found.windows, "quotation") + " of your works" if found.windows else ""]
    paragraphs = [f"It learns from {' and '.join(filter(None, parts))}."]
    paragraphs.append(
        f"It is validated on {prospect.validated:,} others, which it never learns from."
        if prospect.validated
        else "It is not validated."
    )
    paragraphs.append(
        f"On this machine, as busy as it is now, it takes <strong>{escape(estimate.words)}</strong> "
        f"({many(estimate.steps, 'step')}), and up to {estimate.disk / 1e9:.1f} GB of disk. It goes on when you close "
        "the page or the app, and can be stopped and resumed."
    )
    if estimate.looking:
        paragraphs.append(f"Of that, finding hard negatives takes {escape(duration(estimate.looking))}.")
    if any(each.active for each in every):
        paragraphs.append("Another training is under way: this one waits until that has ended.")
    st.html(f'<div class="relic-training-costs">{"".join(f"<p>{each}</p>" for each in paragraphs)}</div>')
    for note in prospect.notes:
        st.info(literal(note), icon=":material/info:")
