"""Finding a study by what a person calls it, and telling that a name is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.store.studies import StudyCounts


def meant(listed: Sequence[StudyCounts], said: str) -> StudyCounts:
    """Give the study that a person means by its id, the beginning of one, or its name; of versions the last.

    Raises NotFound, BadRequest: none fits; several do.
    """
    wanted = said.strip().casefold()
    for fits in (
        [each for each in listed if each.id == wanted],
        [each for each in listed if wanted and each.id.startswith(wanted)],
        [each for each in listed if each.name.casefold() == wanted],
        [each for each in listed if wanted and wanted in each.name.casefold()],
    ):
        if len({each.name for each in fits}) == 1:
            return max(fits, key=lambda each: each.version)
        if fits:
            several = ", ".join(f"{each.id} ({each.name})" for each in fits)
            raise BadRequest(f"'{said}' fits several studies: {several}. Give the id.")
    raise NotFound(f"There is no study '{said:.80}'. `python -m relic_core study` lists those there are.")


def named(listed: Sequence[StudyCounts], name: str) -> StudyCounts | None:
    """Give the study of a name, case aside, of versions the last; None where none has it."""
    wanted = name.strip().casefold()
    return max((each for each in listed if each.name.casefold() == wanted), key=lambda each: each.version, default=None)


def check_name_is_free(listed: Sequence[StudyCounts], name: str) -> None:
    """Refuse a name that a study has.

    Raises BadRequest: one has it.
    """
    taken = named(listed, name)
    if taken is not None:
        raise BadRequest(
            f"There is a study called {taken.name} (id {taken.id}). Choose another name, or make a new version of "
            "that one."
        )
