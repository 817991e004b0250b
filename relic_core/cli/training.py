"""Train a model on what was mined here, and look after the trainings there are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from relic_core.cli import console
from relic_core.cli.commands import Words, command, engine_option, format_option, refuse_others
from relic_core.cli.console import note
from relic_core.domain import SHAPES, ContextSize
from relic_core.domain.trainings import Followed, ModelKind, duration
from relic_core.errors import BadRequest
from relic_core.installed import COMMAND
from relic_core.reporting import tables, trainings

if TYPE_CHECKING:
    from relic_core.services.models import Defaults
    from relic_core.services.training_plans import TrainingRequest, Use
    from relic_core.wiring import App

_PACKAGED = ("packaged", "packaged-encoder", "packaged-reranker", "packaged-large")
_POLL = 1.0
_USED: tuple[tuple[ModelKind, str, str], ...] = (
    ("encoder", "Searches use", "model"),
    ("reranker", "What they find is reordered by", "reranker"),
)


@command(
    "train --dry-run",
    "train --length try --wait",
    "train --recipe laptop --set batch=32 --name first",
    "train --pairs 13000 --no-windows",
    "train --recipe reranker --length some --name orders",
    "train --data train.json --val val.json --recipe paper --shape 4/4",
    "train --recipe source --supervision span --base bart",
    "train --list",
    "train --show first",
    "train --compare first second",
    "train --stop first",
    "train --resume first",
    "train --use first",
    "train --calibrate first",
    "train --use packaged",
)
@click.option(
    "--recipe",
    default="default",
    show_default=True,
    metavar="NAME|FILE",
    help="A name (--recipes), or a .json file; 'reranker' trains what reorders the first thirty, 'source' what says "
    "where a quotation comes from.",
)
@click.option(
    "--supervision", metavar="WAY", help="Of 'source', which source it trains with: pair, span, found or retrieved."
)
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a value of the recipe.")
@click.option("--length", metavar="NAME", help="How long: try, some, once, thrice.")
@click.option("--pairs", type=int, metavar="N", help="The most pairs, drawn by whole sources; 0 for none.")
@click.option("--windows", is_flag=True, help="Only on quotations of works here.")
@click.option("--no-windows", is_flag=True, help="Without them.")
@click.option("--sources", type=Words(), default=(), metavar="ID...", help="Only on what these sources quote.")
@click.option("--data", metavar="FILE", help="On RELiC's own train.json, in place of what was mined.")
@click.option("--val", metavar="FILE", help="With --data: RELiC's val.json, by whose loss the training is stopped.")
@click.option("--shape", help="Sentences of criticism of a claim (4/4,1/0): a training for each. All: all six.")
@click.option("--base", default="", metavar="MODEL", help="From this folder or hub name in the local cache.")
@click.option("--name", default="", help="Its name; its date where none is given.")
@click.option("--validate", type=int, metavar="N", help="On so many (150; a reranker on 50); 0 for none.")
@click.option(
    "--hard",
    default="",
    metavar="MODEL",
    help="Look for hard negatives first: default (dense-RELiC as it is now), base, a training's id, a model, or none; "
    "as a rule, for a reranker default and else none.",
)
@click.option(
    "--start",
    default="",
    metavar="MODEL",
    help="Go on from an encoder that was trained before: default (dense-RELiC as it is now), a training's id, a model, "
    "or base; as a rule, a reranker goes on from default and an encoder begins from its base.",
)
@engine_option
@click.option("--wait", is_flag=True, help="Show how it goes until it ends; Ctrl-C leaves it running.")
@click.option("--dry-run", is_flag=True, help="Only say what it would learn from and how long it takes.")
@click.option("--recipes", is_flag=True, help="List the recipes that come with the program.")
@click.option("--list", is_flag=True, help="List the trainings, and the default model.")
@click.option("--show", metavar="ID", help="How one goes, and its figures; a name will do.")
@click.option("--compare", type=Words(), metavar="ID...", help="Figures side by side, and in what they differ.")
@click.option("--stop", metavar="ID", help="Stop one after the step it is in, with a checkpoint.")
@click.option("--resume", metavar="ID", help="Go on from its last checkpoint.")
@click.option("--use", metavar="ID", help=f"Search with its model; for those that come along: {', '.join(_PACKAGED)}.")
@click.option(
    "--calibrate",
    metavar="ID",
    help="Fit what its encoder's scores are worth, for levels and joined claims; a model's folder will do.",
)
@click.option("--back", is_flag=True, help="Take back the last choice, of whichever model.")
@click.option("--remove", metavar="ID", help="Take one out of the list; its files stay.")
@click.option("--restore", metavar="ID", help="Put a removed one back, by its whole id.")
@format_option(*tables.FORMATS)
def train(app: App, wait: bool, form: tables.Format, **typed: Any) -> int | None:
    """Train a model of your own on the quotations that were found in your secondary sources.

    It is done in the background, outlives this terminal, and can be stopped and resumed. Ends with 1 where a training
    that was waited for did not finish.
    """
    does = [name for name in ("resume", *_DO, *_SHOW) if typed[name]]
    if len(does) > 1:
        raise click.UsageError(f"--{does[0]} and --{does[1]} are two things: one at a time.")
    if not does:
        return _begin_each(app, SimpleNamespace(**typed), wait=wait)
    (do,) = does
    refuse_others(f"train --{do}", do, "form", *(["wait", "engine"] if do == "resume" else []))
    if do == "resume":
        return _resume(app, typed[do], wait=wait)
    if do in _SHOW:
        _SHOW[do](app, typed[do], form)
    else:
        _DO[do](app, typed[do])
    return 0


def _begin_each(app: App, given: SimpleNamespace, *, wait: bool) -> int:
    """Begin a training; where shapes are given one for each, with its shape in its name."""
    if given.shape is None:
        return _begin(app, given, wait=wait)
    sizes = SHAPES if given.shape == "all" else tuple(map(ContextSize.parse, given.shape.split(",")))
    worst, name, changes = 0, given.name or given.recipe, given.changes
    for size in sizes:
        given.name, given.changes = f"{name} {size}", (*changes, f'shapes=[["{size}", 1]]')
        worst = max(worst, _begin(app, given, wait=wait))
    return worst


def _begin(app: App, given: SimpleNamespace, *, wait: bool) -> int:
    asked = _read(given)
    with console.ProgressLine("Looking at what was mined"):
        prospect = app.training_plans.prospect(asked)
    if prospect.lacking:
        raise BadRequest(prospect.lacking)
    found = prospect.material
    print(
        f"It learns from {found.pairs:,} pairs and {found.windows:,} windows, and is validated on "
        f"{prospect.validated:,} windows."
    )
    if prospect.estimate is not None:
        estimate = prospect.estimate
        print(
            f"On this machine, as it is now, it takes {estimate.words} ({estimate.steps:,} steps) and up to "
            f"{estimate.disk / 1e9:.1f} GB of disk."
            + (f" Of that, looking for hard negatives takes {duration(estimate.looking)}." if estimate.looking else "")
        )
    note(*prospect.notes)
    if given.dry_run:
        return 0
    training = app.trainings.start(asked)
    print(f"{training.name} has begun, as {training.id}. How it goes: {COMMAND} train --show {training.id}")
    return _wait(app, training.id) if wait else 0


def _read(given: SimpleNamespace) -> TrainingRequest:
    from relic_core.services.training_plans import NO_MODEL, TrainingRequest, recipe_of

    if given.windows and given.no_windows:
        raise click.UsageError("--windows and --no-windows do not go together.")
    recipe = recipe_of(given.recipe, list(given.changes))
    if given.supervision:
        recipe = recipe.with_(supervision=given.supervision)
    if given.base:
        recipe = recipe.with_(base=given.base)
    use: Use = "pairs" if given.no_windows else "pairs and windows"
    if given.windows or given.pairs == 0:
        if given.no_windows:
            raise BadRequest("Without pairs and without windows there is nothing to learn from. Leave one of them.")
        use = "windows"
    options: dict[str, Any] = {} if given.validate is None else {"validation": given.validate}
    for field, path in (("data", given.data), ("validation_data", given.val)):
        options |= {field: str(Path(path).expanduser().resolve())} if path else {}
    if given.hard:
        options["hard"] = NO_MODEL if given.hard == "none" else given.hard
    if given.start:
        options["start"] = NO_MODEL if given.start == "base" else given.start
    asked = TrainingRequest(name=given.name, recipe=recipe, use=use, sources=given.sources, **options)
    asked = asked.lasting(given.length) if given.length is not None else asked
    return replace(asked, pairs=given.pairs) if given.pairs is not None else asked


def _wait(app: App, training_id: str) -> int:
    try:
        with console.ProgressLine("Training") as progress:
            while (followed := app.trainings.get(training_id)).active:
                loss = f", loss {followed.losses[-1][1]:.3f}" if followed.losses else ""
                progress(followed.step, followed.of, f"{followed.note or followed.state}{loss}{_left(followed)}")
                time.sleep(_POLL)
    except KeyboardInterrupt:
        note(f"It goes on. To stop it: python -m relic_core train --stop {training_id}")
        raise
    print(_state(followed))
    return 0 if followed.state == "finished" else 1


def _resume(app: App, named: str, *, wait: bool) -> int:
    followed = app.trainings.resume(app.trainings.find(named).training.id)
    where = f"from step {followed.checkpoint:,}" if followed.checkpoint else "from its beginning"
    print(f"{followed.training.name} goes on {where}.")
    return _wait(app, followed.training.id) if wait else 0


def _list(app: App, _: bool, form: tables.Format) -> None:
    every = app.trainings.all()
    if every or form != "table":
        rows = tuple(
            (
                each.training.id,
                each.training.name,
                each.state,
                each.training.kind,
                f"{each.step:,} of {each.of:,}" if each.of else "",
                f"{each.watch} {each.best[each.watch]:.1f}" if each.watch in each.best else "",
                f"{each.training.created:%Y-%m-%d %H:%M}",
            )
            for each in every
        )
        heads = ("id", "name", "state", "makes", "steps", "best figure", "begun (UTC)")
        print(tables.write((tables.Table(caption="", heads=heads, rows=rows),), form).lstrip("\n"))
    else:
        print(f"Nothing has been trained yet. See what would be learnt from: {COMMAND} train --dry-run")
    if form == "table":
        print()
        _print_used(app.trainings.default)
        if removed := app.trainings.removed():
            print(f"Removed: {', '.join(f'{each.id} ({each.name})' for each in removed)}.")


def _show(app: App, named: str, form: tables.Format) -> None:
    followed = app.trainings.find(named)
    made = [trainings.validations_table(followed.validations, followed.watch)] if followed.validations else []
    made += [trainings.losses_table(followed.losses)] if followed.losses else []
    if form == "table":
        given = {**followed.training.recipe, **followed.training.asked}
        facts = [
            ("steps", f"{followed.step:,} of {followed.of:,}{_left(followed)}"),
            ("learns from", f"{followed.pairs:,} pairs, {followed.windows:,} windows"),
            ("time", f"{followed.seconds / 60:,.1f} minutes"),
            ("memory", f"{followed.memory:,.0f} MiB"),
            ("files", f"{followed.bytes / 1e6:,.0f} MB"),
            *((key, str(value)) for key, value in given.items() if value not in ("", [])),
        ]
        print(_state(followed))
        print(console.table(("", ""), facts).lstrip("\n"), end="\n\n")
    print(tables.write(tuple(made), form))


def _compare(app: App, named: Sequence[str], form: tables.Format) -> None:
    print(tables.write(app.trainings.compared([app.trainings.find(each).training.id for each in named]), form))


def _recipes(_app: App, _: bool, form: tables.Format) -> None:
    from relic_core.services.training_plans import ABOUT, RECIPES

    rows = tuple((name, recipe.kind, ABOUT.get(name, ""), recipe.digest[:12]) for name, recipe in RECIPES.items())
    print(tables.write((tables.Table(caption="", heads=("name", "makes", "what for", "digest"), rows=rows),), form))


def _stop(app: App, named: str) -> None:
    followed = app.trainings.stop(app.trainings.find(named).training.id)
    if followed.active:
        print(f"{followed.training.name} stops after the step it is in, with a checkpoint to go on from.")
    else:
        print(_state(followed))


def _use(app: App, named: str) -> None:
    from relic_core.services.models import PACKAGED, PACKAGED_LARGE

    kinds = PACKAGED.get(named)
    if kinds is not None:
        app.trainings.use_packaged(named)
    else:
        training = app.trainings.find(named).training
        app.trainings.use(training.id)
        kinds = (training.kind,)
    _print_used(app.trainings.default)
    if "encoder" in kinds:
        when = "when they are first searched"
        if named == PACKAGED_LARGE:
            when = "in the background while the app runs, and the small model answers until then"
        print(f"Works are prepared for a model {when}; all at once: {COMMAND} index --all")
        if named not in PACKAGED and not app.trainings.is_calibrated(named):
            print(f"So that it says when it is unsure: {COMMAND} train --calibrate {named}")


def _calibrate(app: App, named: str) -> None:
    with console.ProgressLine("Calibrating") as progress:
        fitted = app.calibrate(named, progress)
    print(fitted)


def _back(app: App, _: bool) -> None:
    app.trainings.go_back()
    _print_used(app.trainings.default)


def _remove(app: App, named: str) -> None:
    training = app.trainings.remove(app.trainings.find(named).training.id)
    print(f"{training.name} is removed. To put it back: {COMMAND} train --restore {training.id}")


def _restore(app: App, named: str) -> None:
    print(f"{app.trainings.restore(named).name} is back.")


def _state(followed: Followed) -> str:
    state = f"{followed.training.name} ({followed.training.id}): {followed.state}. {followed.note}".rstrip()
    if followed.best:
        watch = followed.watch
        before = f" (before: {followed.before[watch]:.1f})" if watch in followed.before else ""
        state += f"\nBest {watch}: {followed.best.get(watch, 0.0):.1f}{before}, after step {followed.best['step']:,}."
    return state


def _left(followed: Followed) -> str:
    return "" if followed.left is None else f", {duration(followed.left)} left"


def _print_used(default: Defaults) -> None:
    from relic_core.services.models import SETTINGS

    if default.problem:
        print(default.problem)
    for kind, does, what in _USED:
        of = default.of(kind)
        if of.fixed:
            print(f"{does} the {what} that {SETTINGS[kind]} names: {of.fixed}.")
        elif of.problem:
            print(of.problem)
        elif of.choice is not None:
            print(f"{does} the {what} {of.choice.named} ({of.choice.training}).")
        elif not default.problem:
            print(f"{does} the packaged {what}.")


_DO: dict[str, Callable[[App, Any], None]] = {
    "use": _use, "calibrate": _calibrate, "back": _back, "stop": _stop, "remove": _remove, "restore": _restore,
}  # fmt: skip
_SHOW: dict[str, Callable[[App, Any, tables.Format], None]] = {
    "list": _list, "show": _show, "compare": _compare, "recipes": _recipes,
}  # fmt: skip
