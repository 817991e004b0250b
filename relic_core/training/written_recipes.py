"""What recipes of every kind have in common: written as one JSON object, read back, changed, known by a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar, cast

from relic_core.errors import BadRequest, unknown_name

if TYPE_CHECKING:
    from typing import Self

    from relic_core.domain.trainings import ModelKind

KIND = "kind"
"""Key of a recipe's JSON that says what it makes; where it is left out, an encoder."""

_APART = {"name", KIND}
"""What makes no other training, and has no part in the digest."""


class WrittenRecipe:
    """A recipe, whatever it makes; its classes are dataclasses with a name and shapes among their fields."""

    __slots__ = ()

    kind: ClassVar[ModelKind] = "encoder"
    """What it makes."""
    called: ClassVar[str] = "a recipe"
    """What a message calls it."""

    def to_json(self) -> dict[str, Any]:
        """Write it as a JSON object; of an encoder's the kind is left out, as it was before there were others."""
        said = {key: _as_lists(value) for key, value in asdict(cast("Any", self)).items()}
        return said if self.kind == "encoder" else {KIND: self.kind, **said}

    @property
    def digest(self) -> str:
        """Sha256 of all that it says, its name and its kind apart."""
        said = {key: value for key, value in self.to_json().items() if key not in _APART}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_json(cls, given: object) -> Self:
        """Read a recipe of this kind; what it leaves out is as in the default.

        Raises BadRequest: it is no object, of another kind, says what no recipe says, or a value is not allowed.

        >>> from relic_core.training.recipes import Recipe
        >>> Recipe.from_json({"batch": 32}) == Recipe(batch=32)
        True
        """
        if not isinstance(given, Mapping):
            raise BadRequest("A recipe must be one JSON object, {...}.")
        values, known = dict(given), [field.name for field in fields(cast("Any", cls))]
        kind = values.pop(KIND, cls.kind)
        if kind != cls.kind:
            raise BadRequest(
                f'The kind given is {json.dumps(kind, default=str)}, and {cls.called} has "{cls.kind}". A kind cannot '
                "be changed: begin with a recipe that makes what you want."
            )
        for key in values:
            if key not in known:
                raise unknown_name(f"setting of {cls.called}", str(key), known)
        return cls(**{key: _as_tuples(value) for key, value in values.items()})

    def with_(self, **changes: Any) -> Self:  # noqa: ANN401 - any of the fields
        """Give the recipe with some values changed; raises as `from_json`."""
        return self.from_json({**self.to_json(), **changes})


def _as_lists(value: object) -> object:
    return [_as_lists(each) for each in value] if isinstance(value, tuple) else value


def _as_tuples(value: object) -> object:
    return tuple(_as_tuples(each) for each in value) if isinstance(value, list | tuple) else value
