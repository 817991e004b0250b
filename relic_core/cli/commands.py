"""What commands are made of: click's, taking words as they were always typed, and the options that several share."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from relic_core.cli.console import check_utf8
from relic_core.domain.people import NOBODY
from relic_core.installed import COMMAND, MODULE
from relic_core.reporting.tables import PARTS

if TYPE_CHECKING:
    from relic_core.wiring import App

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

_NUMBER = re.compile(r"-(\d+|\d*\.\d+)")
_SENTENCE = 200
ENGINE = "engine"
"""The option that is a setting: the app is made with it."""
_SEPARATOR = "\0"
"""Nobody can type it."""


class Words(click.ParamType[tuple[str, ...]]):
    """The words after an option, up to the next option: ``--works emma persuasion``."""

    name = "words"

    def __init__(self, least: int = 1) -> None:
        self.least = least

    def convert(self, value: Any, param: object, ctx: object) -> tuple[str, ...]:  # noqa: ARG002 - click's
        """Take apart what `arrange` joined."""
        return value if isinstance(value, tuple) else tuple(value.split(_SEPARATOR)[1:])


def arrange(
    ctx: click.Context, typed: Sequence[str], parameters: Iterable[click.Parameter]
) -> tuple[list[str], list[str]]:
    """Part what was typed into options, each joined with its value, and other words; they may come in any order.

    A long option may be cut short where that is clear. What holds a space, and a negative number, is not an option.
    """
    known = {name: each for each in parameters if isinstance(each, click.Option) for name in each.opts}
    options: list[str] = []
    words: list[str] = []
    rest = deque(typed)
    while rest:
        word = rest.popleft()
        if word == "--":
            words += rest
            break
        option = _option(ctx, word, known)
        name, joined, value = option.partition("=")
        taken = known.get(name)
        if taken is None or taken.is_flag:
            (options if option else words).append(option or word)
            continue
        several = isinstance(taken.type, Words)
        values = [value] * bool(joined)
        while rest and (several or not values) and not joined and rest[0] != "--" and not _option(ctx, rest[0], known):
            values.append(rest.popleft())
        if len(values) < (taken.type.least if isinstance(taken.type, Words) else 1):
            raise click.BadOptionUsage(name, f"Option '{name}' requires an argument.", ctx)
        options.append(f"{name}={''.join(_SEPARATOR + each for each in values) if several else values[0]}")
    return options, words


def _option(ctx: click.Context, word: str, known: Iterable[str]) -> str:
    """Write an option in full; empty for a word that is none."""
    name, joined, value = word.partition("=")
    fits = [name] if name in known else [each for each in known if name > "--" and each.startswith(name)]
    if len(fits) > 1:
        ctx.fail(f"Option '{name}' could be {' or '.join(fits)}.")
    if fits:
        return f"{fits[0]}{joined}{value}"
    return "" if len(word) < len("-x") or word[0] != "-" or " " in word or _NUMBER.fullmatch(word) else word


class Command(click.Command):
    """A command: its function gets the app and what was typed, and returns the exit code, or nothing for 0."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take options and words in any order."""
        options, words = arrange(ctx, args, self.get_params(ctx))
        return super().parse_args(ctx, [*options, "--", *words])

    def invoke(self, ctx: click.Context) -> int:
        """Run it, unless something but a path is in another encoding than UTF-8."""
        for each in self.params:
            if each.type is click.STRING and isinstance(value := ctx.params[each.name], str):
                check_utf8(each.name, value)
        assert self.callback is not None  # noqa: S101 - `command` makes it of a function
        app = ctx.obj(engine) if (engine := ctx.params.get(ENGINE)) else ctx.obj()
        typed = {name: value for name, value in ctx.params.items() if name != ENGINE}
        return ctx.invoke(self.callback, app, **typed) or 0


class Actions(click.Group):
    """A command whose first word says what to do: each action is a `Command`, and ``default`` the one of no word."""

    command_class = Command

    def __init__(self, *arguments: Any, default: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.default = default
        self.subcommand_metavar = "[ACTION] ..." if default else "ACTION ..."

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        """Name the actions in their own order."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Describe each action in a whole sentence."""
        with formatter.section(f"Actions{f' ({self.default} where none is typed)' * bool(self.default)}"):
            formatter.write_dl([(name, each.get_short_help_str(_SENTENCE)) for name, each in self.commands.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the action, before which options may stand."""
        parameters = {name: each.get_params(ctx) for name, each in self.commands.items()}
        options, words = arrange(ctx, args, chain.from_iterable(parameters.values()))
        if not words and (not self.default or set(ctx.help_option_names) & set(options)):
            return super().parse_args(ctx, options)
        action, *words = words or [self.default]
        own, others = set[str](), set[str]()
        for name, several in parameters.items():
            for each in several:
                (own if name == action else others).update(each.opts)
        names = (option.partition("=")[0] for option in options)
        if given := [name for name in names if name in others - own]:
            ctx.fail(f"{self.name} {action} takes no {', '.join(given)}.")
        return super().parse_args(ctx, ["--", action, *options, "--", *words])


def command(*examples: str, more: str = "") -> Callable[[Function], Command]:
    """Make a command of a function, whose name and docstring become those of the command."""
    return click.command(cls=Command, epilog=show(*examples, more=more))


def show(*examples: str, more: str = "") -> str:
    """Write examples for the end of a help, and what else is to be said there."""
    lines = (f"  {each.replace(MODULE, COMMAND) if MODULE in each else f'{COMMAND} {each}'}" for each in examples)
    return "\n".join(("\b", "Examples:", *lines, *(["", more] if more else [])))


def format_option(*forms: str) -> Decorator:
    """Let a command print in one of several forms, of which the first is the default."""
    return click.option(
        "--format", "form", type=click.Choice(forms), default=forms[0], show_default=True, help="How it is printed."
    )


def person_option(whose: str) -> Decorator:
    """Let a command's user say whose things are meant, as `People.find` takes it."""
    help_text = f"{whose}, where people sign in: an address, or a number that `hand-over` lists."
    return click.option("--person", default=NOBODY, show_default=True, metavar="WHO", help=help_text)


def path_option(option: str, metavar: str, what: str, *name: str, **attributes: Any) -> Decorator:
    """Let a command be given a file or a folder."""
    return click.option(option, *name, type=Path, metavar=metavar, help=what, **attributes)


def add_remove_and_restore(
    group: Actions, what: str, argument: Decorator, rows: Callable[[App], Any], name: Callable[[Any], str]
) -> None:
    """Give a group the two actions; a removed one is named by its whole id, one that is there as `argument` says."""

    @group.command("remove", help=f"Take a {what} out of the list.")
    @argument
    def remove(app: App, **named: str) -> None:
        found = rows(app).find(*named.values())
        rows(app).remove(found.id)
        print(f"{name(found)} is removed. Bring it back: {COMMAND} {group.name} restore {found.id}")

    @group.command("restore", help=f"Put a removed {what} back.")
    @click.argument("removed", metavar="ID", help="The whole of it.")
    def restore(app: App, removed: str) -> None:
        print(f"{name(rows(app).restore(removed))} is back.")


engine_option = click.option(
    f"--{ENGINE}",
    metavar="ADDRESS",
    help="What shares the work: a cluster of Dask (dask://HOST:8786), or local for one on this machine.",
)
metric_option = click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="A figure of the table; may be given several times."
)
by_option = click.option(
    "--by", type=click.Choice(PARTS), callback=lambda _ctx, _option, part: part or "", help="A row for each of these."
)


def refuse_others(what: str, *taken: str) -> None:
    """End with the usage where options were given that ``what`` would ignore; ``taken`` names what it takes."""
    ctx = click.get_current_context()
    given = [
        each.opts[0]
        for each in ctx.command.params
        if isinstance(each, click.Option) and each.name not in taken
        if ctx.get_parameter_source(each.name) is ParameterSource.COMMANDLINE and ctx.params[each.name] != each.default
    ]
    if given:
        ctx.fail(f"{what} takes no {', '.join(given)}.")
