"""Every setting with its value and where it comes from; an example of a file of settings."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.config.described import Described, descriptions
from relic_core.config.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

USUAL = "as usual"
_WIDTH = 98


@dataclass(frozen=True, slots=True)
class Stated:
    """A setting as it stands.

    - `name`: the key of the file; in capitals, with ``RELIC_`` before it, the variable.
    - `comes_from`: the variable, the key and file, or "as usual".
    """

    name: str
    value: str
    comes_from: str
    described: Described


def stated(environment: Mapping[str, str] | None = None) -> list[Stated]:
    """List every setting with its value and where it comes from.

    - `environment`: as for `Settings.from_environment`.

    Raises BadRequest: as `Settings.from_environment` does.

    >>> [each.comes_from for each in stated({"RELIC_LOCK_SECONDS": "2"}) if each.name.startswith(("lock", "max_c"))]
    ['as usual', 'RELIC_LOCK_SECONDS']
    """
    values, where = Settings.read(environment)
    settings = Settings(**values)
    return [
        Stated(name, _in_words(getattr(settings, name), described), where.get(name, USUAL), described)
        for name, described in descriptions(Settings).items()
    ]


def example() -> str:
    """Write a file of settings in which everything is commented out, with what each setting is."""
    return "\n".join(_example_lines()) + "\n"


def as_file(settings: Settings) -> str:
    r"""Write settings as a file: those that are not as usual.

    >>> as_file(Settings(lock_seconds=2.5, sign_in_allow=("example.org",)))
    'lock_seconds = 2.5\nsign_in_allow = ["example.org"]\n'
    """
    usual = Settings().as_mapping()
    changed = {name: value for name, value in settings.as_mapping().items() if value != usual[name]}
    return "".join(f"{name} = {_toml(value)}\n" for name, value in changed.items())


def _example_lines() -> Iterator[str]:
    yield "# Settings of RELiC Workbench. Kept as relic.toml in the project, or elsewhere, named by RELIC_CONFIG."
    yield "# A line takes effect without its #. What the environment sets stands over this file: RELIC_LOCK_SECONDS for"
    yield "# lock_seconds, and so on. Paths are relative to the folder of this file."
    yield "# `python -m relic_core settings` shows what is in force. Start the app anew after a change."
    usual = Settings().as_mapping()
    group = ""
    for name, described in descriptions(Settings).items():
        if described.group != group:
            group = described.group
            yield f"\n# ---- {group} {'-' * (_WIDTH - len(group))}"
        unset = f" If not set: {described.usually}." if described.usually else ""
        yield ""
        yield from textwrap.wrap(
            described.says + unset, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
        )
        yield f"# {name} = {described.sample or _toml(usual[name])}"


def _toml(value: object) -> str:
    match value:
        case Path() | str():
            return json.dumps(str(value), ensure_ascii=False)  # TOML writes such texts as JSON does
        case tuple():
            return json.dumps(list(value), ensure_ascii=False)
        case int():
            return f"{value:_}"
        case _:
            return str(value)


def _in_words(value: object, described: Described) -> str:
    match value:
        case None | "" | ():
            return described.usually or "none"
        case tuple():
            return ", ".join(value)
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.10g}"
        case _:
            return str(value)
