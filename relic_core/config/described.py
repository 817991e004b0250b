"""What a setting is, said once: reading the environment and the file, the list and the example all go by it."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["folder", "text", "whole number", "number", "list"]

PREFIX = "RELIC_"
_KEY = "described"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One setting.

    - `says`: what it is, in one or two sentences for the person who runs the program.
    - `kind`: what it is made of. Folders are paths; a list is written with commas in the environment.
    - `most`: the largest number allowed; every number has to be above 0.
    - `zero`: 0 is allowed, too.
    - `advice`: what to do where a number is too large.
    - `usually`: its value where it is not set, in words, where the value itself would tell little.
    - `sample`: a value to show in an example, as TOML writes it, where none is set usually.
    """

    says: str
    group: str
    kind: Kind
    most: float = math.inf
    zero: bool = False
    advice: str = ""
    usually: str = ""
    sample: str = ""

    @property
    def allowed(self) -> str:
        """What may be given, in words.

        >>> Described(says="", group="", kind="whole number", most=2_000).allowed
        'a whole number greater than 0 and at most 2,000'
        """
        match self.kind:
            case "folder":
                return "the path of a folder"
            case "list":
                return "a list of texts"
            case "text":
                return "a text"
            case _:
                upper = f" and at most {self.most:,.0f}" if math.isfinite(self.most) else ""
                return f"a {self.kind} {'of 0 or more' if self.zero else 'greater than 0'}{upper}"


def about(**said: Any) -> dict[str, Described]:  # noqa: ANN401 - the fields of `Described`
    """Describe a setting, as the metadata of a field."""
    return {_KEY: Described(**said)}


def descriptions(settings: type[Any]) -> Mapping[str, Described]:
    """Give the description of every setting, by its name, in their order."""
    return {field.name: field.metadata[_KEY] for field in dataclasses.fields(settings)}


def variable(name: str) -> str:
    """Name the environment variable of a setting.

    >>> variable("lock_seconds")
    'RELIC_LOCK_SECONDS'
    """
    return f"{PREFIX}{name.upper()}"
