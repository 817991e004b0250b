"""The file of settings, ``relic.toml``: found, parsed, its keys held to the settings there are."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.config.described import Described, variable
from relic_core.config.places import PROJECT
from relic_core.config.values import from_toml
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME = "relic.toml"
NAMED_BY = "RELIC_CONFIG"


def find(environment: Mapping[str, str], folder: Path = PROJECT) -> Path | None:
    """Say which file of settings is read, if any: the one that is named, else ``relic.toml`` in the project.

    - `environment`: where ``RELIC_CONFIG`` may name a file.

    Raises BadRequest: the file that is named is not there.
    """
    named = environment.get(NAMED_BY, "").strip()
    if not named:
        usual = folder / NAME
        return usual if usual.is_file() else None
    try:
        path = Path(named).expanduser().absolute()
    except RuntimeError:
        raise BadRequest(
            f"{NAMED_BY} is '{named}', and there is no such home folder here. Write the path in full."
        ) from None
    if path.is_dir() or not path.exists():
        raise BadRequest(f"{NAMED_BY} is '{named}', and there is no such file. Name a file of settings, or unset it.")
    return path


def read(path: Path, descriptions: Mapping[str, Described]) -> dict[str, object]:
    """Read a file of settings.

    - `descriptions`: the settings there are, by name.

    Returns: what it sets. A text of no length sets nothing.

    Raises BadRequest: it cannot be read or is no TOML; it has a key that is no setting, or a value of another kind.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadRequest(f"The file of settings {path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise BadRequest(f"The file of settings {path} is not in UTF-8. Save it as UTF-8 and try again.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(
            f"The file of settings {path} is no TOML: {error}. `python -m relic_core settings --example` writes one "
            "that is."
        ) from error
    for key in found:
        if key not in descriptions:
            raise BadRequest(_unknown(key, path, descriptions))
    return {
        key: from_toml(descriptions[key], value, where(key, path), path.parent)
        for key, value in found.items()
        if not (value == "" and descriptions[key].kind in {"folder", "text"})
    }


def where(name: str, path: Path) -> str:
    """Say where a setting of a file stands.

    >>> where("lock_seconds", Path("/srv/relic.toml"))
    'lock_seconds in /srv/relic.toml'
    """
    return f"{name} in {path}"


def unknown_variables(environment: Iterable[str], names: Iterable[str], allowed: Iterable[str]) -> None:
    """Refuse variables ``RELIC_*`` that are no settings: a slip of the pen must not go unnoticed.

    Raises BadRequest: there is one.
    """
    known = {variable(name) for name in names} | {NAMED_BY, *allowed}
    for given in sorted(environment):
        if given.startswith("RELIC_") and given not in known:
            near = difflib.get_close_matches(given, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise BadRequest(
                f"The environment sets {given}, which is no setting.{hint} `python -m relic_core settings` lists all."
            )


def _unknown(key: str, path: Path, names: Iterable[str]) -> str:
    known = list(names)
    bare = key.lower().removeprefix("relic_")
    near = [bare] if bare in known else difflib.get_close_matches(bare, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{path} sets {key}, which is no setting.{hint} Known: {', '.join(known)}."
