"""Values of settings: read from text or from TOML, and checked; what cannot be meant is refused where it stands."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from relic_core.config.described import Described

THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}
_LEAST_PAUSE = 2.0
"""In seconds: what Project Gutenberg asks of programs."""
_ALLOWED = re.compile(r"[^@\s,]*@?[^@\s,]+\.[^@\s,.]+|[^@\s,]*@localhost")
"""An address, or a domain with or without its ``@``."""


def from_text(described: Described, raw: str, where: str) -> object:
    """Read the value of an environment variable.

    - `raw`: what was given; not empty.

    Raises BadRequest: it is not of the setting's kind.

    >>> from relic_core.config.described import Described
    >>> from_text(Described(says="", group="", kind="list"), "a@b.org, c.org", "RELIC_X")
    ('a@b.org', 'c.org')
    """
    match described.kind:
        case "folder":
            return _folder(Path(), raw, where)
        case "list":
            return tuple(part.strip() for part in raw.split(",") if part.strip())
        case "text":
            return raw.strip()
        case _:
            try:
                return _number(described, float(raw), where)
            except ValueError:
                raise BadRequest(f"{where} is '{raw}'; it must be {described.allowed}.") from None


def from_toml(described: Described, value: object, where: str, folder: Path) -> object:
    """Take a value of the file.

    Raises BadRequest: it is not of the setting's kind.
    """
    match described.kind:
        case "folder" if isinstance(value, str) and value.strip():
            return _folder(folder, value, where)
        case "list" if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(each.strip() for each in value if each.strip())
        case "text" if isinstance(value, str):
            return value.strip()
        case "number" | "whole number" if isinstance(value, int | float) and not isinstance(value, bool):
            return _number(described, value, where)
    raise BadRequest(f"{where} is {_as_written(value)}; it must be {described.allowed}.")


def check(values: Mapping[str, object], descriptions: Mapping[str, Described], named: Callable[[str], str]) -> None:
    """Check values against what is allowed.

    - `named`: says of a setting where its value was given, for the message.

    Raises BadRequest: a number out of its range; an address that is none; too short a pause between requests.
    """
    for name, described in descriptions.items():
        if described.kind in {"number", "whole number"}:
            _check_range(described, values[name], named(name))
    address = str(values["gutenberg"])
    mirror = urlsplit(address)
    if mirror.scheme not in {"http", "https"} or not mirror.hostname:
        raise BadRequest(
            f"{named('gutenberg')} is '{address}'; it must be the address of a mirror, "
            "https://gutenberg.pglaf.org for example."
        )
    least = 0.0 if mirror.hostname in THIS_MACHINE else _LEAST_PAUSE
    pause = values["gutenberg_pause"]
    if not (isinstance(pause, int | float) and math.isfinite(pause) and pause >= least):
        raise BadRequest(
            f"{named('gutenberg_pause')} is {pause}; Project Gutenberg asks programs to leave at least "
            f"{_LEAST_PAUSE:.0f} seconds between two requests."
        )
    people = values["sign_in_allow"]
    for each in people if isinstance(people, tuple) else ():
        if not _ALLOWED.fullmatch(each):
            raise BadRequest(
                f"{named('sign_in_allow')} has '{each}'; every entry must be an address (ada@example.org) or a domain "
                "(example.org)."
            )


def _check_range(described: Described, value: object, where: str) -> None:
    if (
        not isinstance(value, int | float)
        or not math.isfinite(value)
        or value < 0
        or (value == 0 and not described.zero)
    ):
        raise BadRequest(f"{where} is {value}; it must be {described.allowed}.")
    if value > described.most:
        advice = f" {described.advice}" if described.advice else ""
        raise BadRequest(f"{where} is {value:,}; it must be {described.allowed}.{advice}")


def _number(described: Described, value: float, where: str) -> float:
    if described.kind == "number":
        return float(value)
    if not math.isfinite(value) or value != int(value):
        raise BadRequest(f"{where} is {value}; it must be {described.allowed}.")
    return int(value)


def _folder(base: Path, raw: str, where: str) -> Path:
    try:
        return (base / Path(raw.strip()).expanduser()).absolute()
    except RuntimeError:
        raise BadRequest(
            f"{where} is '{raw}', and there is no such home folder here. Write the path in full."
        ) from None


def _as_written(value: object) -> str:
    """Write a value of TOML as a reader would find it in the file.

    >>> _as_written(True), _as_written("many"), _as_written([1])
    ('true', "'many'", '[1]')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else str(value)[:200]
