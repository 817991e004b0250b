"""Teach a model on what was mined here, and look after the trainings there are."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relic_core.cli import console, training_words
from relic_core.errors import BadRequest
from relic_core.reporting import tables, trainings

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.services.training.asking import TrainingRequest, Use
    from relic_core.wiring import App

_BEGINS: dict[str, Any] = {
    "recipe": "default", "set": [], "length": None, "pairs": None, "windows": None, "sources": [], "name": "",
    "validate": None, "hard": "", "start": "", "base": "", "wait": False, "dry_run": False,
}  # fmt: skip
"""Options that begin a training, as they are where they are not given."""
_PACKAGED = ("packaged", "packaged-encoder", "packaged-reranker")
_DOES = ("resume", "list", "show", "use", "back", "stop", "compare", "remove", "restore", "recipes")
_POLL = 1.0


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "train",
        summary=(
            "Teach a model of your own on the quotations that were found in your secondary sources. It is done in the "
            "background, outlives this terminal, and can be stopped and resumed."
        ),
        examples=(
            "  python -m relic_core train --dry-run\n"
            "  python -m relic_core train --length try --wait\n"
            "  python -m relic_core train --recipe laptop --set batch=32 --name first\n"
            "  python -m relic_core train --pairs 13000 --no-windows\n"
            "  python -m relic_core train --recipe reranker --length some --name orders\n"
            "  python -m relic_core train --list\n"
            "  python -m relic_core train --show first\n"
            "  python -m relic_core train --compare first second\n"
            "  python -m relic_core train --stop first\n"
            "  python -m relic_core train --resume first\n"
            "  python -m relic_core train --use first\n"
            "  python -m relic_core train --use packaged"
        ),
    )
    begin = parser.add_argument_group("beginning one")
    begin.add_argument(
        "--recipe", default="default", metavar="NAME|FILE",
        help="a name (--recipes), or a .json file; 'reranker' teaches what reorders the first hundred",
    )  # fmt: skip
    begin.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a value of the recipe")
    begin.add_argument("--length", metavar="NAME", help="how long: try, some, once, thrice")
    begin.add_argument("--pairs", type=int, metavar="N", help="the most pairs, drawn by whole sources; 0 for none")
    windows = begin.add_mutually_exclusive_group()
    windows.add_argument("--windows", action="store_true", default=None, help="only on quotations of works here")
    windows.add_argument("--no-windows", dest="windows", action="store_false", help="without them")
    begin.add_argument("--sources", nargs="+", default=[], metavar="ID", help="only on what these sources quote")
    begin.add_argument("--base", default="", metavar="MODEL", help="from this folder or hub name in the local cache")
    begin.add_argument("--name", default="", help="what to call it")
    begin.add_argument("--validate", type=int, metavar="N", help="on so many (150; a reranker on 50); 0 for none")
    begin.add_argument(
        "--hard", default="", metavar="MODEL",
        help="look for hard negatives first: default (dense-RELiC as it is now), base, a training's id, a model, or "
        "none; as a rule, for a reranker default and else none",
    )  # fmt: skip
    begin.add_argument(
        "--start", default="", metavar="MODEL",
        help="go on from an encoder that was trained before: default (dense-RELiC as it is now), a training's id, a "
        "model, or base; as a rule, a reranker goes on from default and an encoder begins from its base",
    )  # fmt: skip
    begin.add_argument("--wait", action="store_true", help="show how it goes until it ends; Ctrl-C leaves it running")
    begin.add_argument("--dry-run", action="store_true", help="only say what it would learn from and how long it takes")
    look = parser.add_argument_group("looking after those there are")
    look.add_argument("--recipes", action="store_true", help="list the recipes that come with the program")
    look.add_argument("--list", action="store_true", help="list the trainings, and the default model")
    look.add_argument("--show", metavar="ID", help="how one goes, and its figures; a name will do")
    look.add_argument("--compare", nargs="+", metavar="ID", help="figures side by side, and in what they differ")
    look.add_argument("--stop", metavar="ID", help="stop one after the step it is in, with a checkpoint")
    look.add_argument("--resume", metavar="ID", help="go on from its last checkpoint")
    look.add_argument(
        "--use", metavar="ID", help=f"search with its model; for those that come along: {', '.join(_PACKAGED)}"
    )
    look.add_argument("--back", action="store_true", help="take back the last choice, of whichever model")
    look.add_argument("--remove", metavar="ID", help="take one out of the list; its files stay")
    look.add_argument("--restore", metavar="ID", help="put a removed one back, by its whole id")
    look.add_argument("--format", choices=tables.FORMATS, default="table", help="(default: %(default)s)")
    return parser


def run(app: App, options: Namespace) -> int:
    """Do what was asked for. 1 where a training that was waited for did not finish."""
    does = [name for name in _DOES if getattr(options, name)]
    if len(does) > 1:
        options.refuse(f"--{does[0]} and --{does[1]} are two things: one at a time")
    if not does:
        return _begin(app, options)
    taken = ("wait",) if does[0] == "resume" else ()
    console.refuse_unused(options, f"train --{does[0]}", _BEGINS, taken)
    return _DO[does[0]](app, options)


def _begin(app: App, options: Namespace) -> int:
    asked = _asked(options)
    with console.ProgressLine("Looking at what was mined"):
        prospect = app.trainings.prospect(asked)
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
            f"On this machine, as it is now, it takes about {estimate.words} ({estimate.steps:,} steps) and up to "
            f"{estimate.disk / 1e9:.1f} GB of disk.{training_words.looking(estimate)}"
        )
    for note in prospect.notes:
        print(note, file=sys.stderr)
    if options.dry_run:
        return 0
    training = app.trainings.start(asked)
    print(f"{training.name} has begun, as {training.id}. How it goes: python -m relic_core train --show {training.id}")
    return _wait(app, training.id) if options.wait else 0


def _asked(options: Namespace) -> TrainingRequest:
    from relic_core.services.training.asking import NO_HARD, THE_BASE, TrainingRequest, recipe_of

    recipe = recipe_of(options.recipe, options.set)
    if options.base:
        recipe = recipe.with_(base=options.base)
    use: Use = "pairs and windows"
    if options.windows or options.pairs == 0:
        if options.windows is False:
            raise BadRequest("Without pairs and without windows there is nothing to learn from. Leave one of them.")
        use = "windows"
    elif options.windows is False:
        use = "pairs"
    said: dict[str, Any] = {} if options.validate is None else {"validation": options.validate}
    if options.hard:
        said["hard"] = NO_HARD if options.hard == "none" else options.hard
    if options.start:
        said["start"] = THE_BASE if options.start == "base" else options.start
    asked = TrainingRequest(name=options.name, recipe=recipe, use=use, sources=tuple(options.sources), **said)
    asked = asked.lasting(options.length) if options.length is not None else asked
    return replace(asked, pairs=options.pairs) if options.pairs is not None else asked


def _wait(app: App, training_id: str) -> int:
    try:
        with console.ProgressLine("Training") as progress:
            while (followed := app.trainings.get(training_id)).active:
                loss = f", loss {followed.losses[-1][1]:.3f}" if followed.losses else ""
                progress(
                    followed.step,
                    followed.of,
                    f"{followed.note or followed.state}{loss}{training_words.left(followed)}",
                )
                time.sleep(_POLL)
    except KeyboardInterrupt:
        print(f"It goes on. To stop it: python -m relic_core train --stop {training_id}", file=sys.stderr)
        raise
    print(training_words.standing(followed))
    return 0 if followed.state == "finished" else 1


def _list(app: App, options: Namespace) -> int:
    every = app.trainings.all()
    if every or options.format != "table":
        rows = tuple(
            (
                each.training.id,
                each.training.name,
                each.state,
                each.training.kind,
                f"{each.step:,} of {each.of:,}" if each.of else "",
                training_words.best(each),
                f"{each.training.created:%Y-%m-%d %H:%M}",
            )
            for each in every
        )
        heads = ("id", "name", "state", "makes", "steps", "best figure", "begun (UTC)")
        print(tables.write((tables.Table(caption="", heads=heads, rows=rows),), options.format).lstrip("\n"))
    else:
        print("Nothing has been trained yet. See what would be learnt from: python -m relic_core train --dry-run")
    if options.format == "table":
        print(f"\n{training_words.used(app.trainings.default)}")
        if removed := app.trainings.removed():
            print(f"Removed: {', '.join(f'{each.id} ({each.name})' for each in removed)}.")
    return 0


def _show(app: App, options: Namespace) -> int:
    followed = app.trainings.find(options.show)
    made = [trainings.validations_table(followed.validations, followed.watch)] if followed.validations else []
    made += [trainings.losses_table(followed.losses)] if followed.losses else []
    if options.format != "table":
        print(tables.write(tuple(made), options.format))
        return 0
    print(training_words.standing(followed))
    recipe = followed.training.recipe
    facts = [
        ("steps", f"{followed.step:,} of {followed.of:,}{training_words.left(followed)}"),
        ("learns from", f"{followed.pairs:,} pairs, {followed.windows:,} windows"),
        ("time", f"{followed.seconds / 60:,.1f} minutes"),
        ("memory", f"{followed.memory:,.0f} MiB"),
        ("files", f"{followed.bytes / 1e6:,.0f} MB"),
        *((key, str(value)) for key, value in {**recipe, **followed.training.asked}.items() if value not in ("", [])),
    ]
    print(console.table(("", ""), facts).lstrip("\n"), end="\n\n")
    print(tables.write(tuple(made), options.format))
    return 0


def _compare(app: App, options: Namespace) -> int:
    made = app.trainings.compared([app.trainings.find(each).training.id for each in options.compare])
    print(tables.write(made, options.format))
    return 0


def _stop(app: App, options: Namespace) -> int:
    followed = app.trainings.stop(app.trainings.find(options.stop).training.id)
    if followed.active:
        print(f"{followed.training.name} stops after the step it is in, with a checkpoint to go on from.")
    else:
        print(training_words.standing(followed))
    return 0


def _resume(app: App, options: Namespace) -> int:
    followed = app.trainings.resume(app.trainings.find(options.resume).training.id)
    where = f"from step {followed.checkpoint:,}" if followed.checkpoint else "from its beginning"
    print(f"{followed.training.name} goes on {where}.")
    return _wait(app, followed.training.id) if options.wait else 0


def _use(app: App, options: Namespace) -> int:
    from relic_core.services.training.chosen import PACKAGED

    kinds = PACKAGED.get(options.use)
    if kinds is not None:
        app.trainings.use_packaged(kinds)
    else:
        training = app.trainings.find(options.use).training
        app.trainings.use(training.id)
        kinds = (training.kind,)
    print(training_words.used(app.trainings.default))
    if "encoder" in kinds:
        print(
            "Works are prepared for a model when they are first searched; all at once: python -m relic_core index --all"
        )
    return 0


def _back(app: App, options: Namespace) -> int:  # noqa: ARG001 - as all of them
    app.trainings.go_back()
    print(training_words.used(app.trainings.default))
    return 0


def _remove(app: App, options: Namespace) -> int:
    training = app.trainings.remove(app.trainings.find(options.remove).training.id)
    print(f"{training.name} is removed. To put it back: python -m relic_core train --restore {training.id}")
    return 0


def _restore(app: App, options: Namespace) -> int:
    print(f"{app.trainings.restore(options.restore).name} is back.")
    return 0


def _recipes(app: App, options: Namespace) -> int:
    from relic_core.services.training.words import ABOUT

    recipes = app.trainings.recipes
    rows = tuple((name, recipe.kind, ABOUT.get(name, ""), recipe.digest[:12]) for name, recipe in recipes.items())
    print(
        tables.write(
            (tables.Table(caption="", heads=("name", "makes", "what for", "digest"), rows=rows),), options.format
        )
    )
    return 0


_DO = {
    "resume": _resume, "list": _list, "show": _show, "use": _use, "back": _back, "stop": _stop, "compare": _compare,
    "remove": _remove, "restore": _restore, "recipes": _recipes,
}  # fmt: skip
