"""A folder of places: what was mined without a word of it kept, one folder for each source."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from relic_core.errors import RelicError, StoreError
from relic_core.formats.files import as_object, as_string, parse, read_text, written_whole
from relic_core.mining import volumes
from relic_core.mining.plans import Done

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.mining.volumes import Mined

_VOLUME = "volume.json"
_FORMAT = "relic places of a volume/1"
_DIGITS = 16


class Places:
    """Writes a folder for each source: ``volume.json``, and files of pairs and windows with offsets and digests.

    ``volume.json`` is written last: a source without it was not finished, and is mined again.
    """

    def __init__(self, folder: Path, *, rules: str, works: Sequence[str], pairs: bool) -> None:
        self._folder = folder
        asked = json.dumps([rules, list(works), pairs])
        self._asked = hashlib.sha256(asked.encode()).hexdigest()[:_DIGITS]
        self._done = Done(frozenset(works), pairs=pairs)

    def done(self) -> dict[str, Done]:
        """Say which files were mined under the same rules for the same works, by their sha256."""
        found = {}
        for path in sorted(self._folder.glob(f"*/{_VOLUME}")):
            with suppress(RelicError):  # damaged: it is mined again, and written anew
                facts = as_object(parse(read_text(path), str(path)), str(path))
                if as_string(facts.get("asked", ""), str(path), empty=True) == self._asked:
                    found[as_string(facts.get("file"), str(path))] = self._done
        return found

    def write(self, mined: Mined) -> None:
        """Write what was mined of a source.

        Raises StoreError: the folder cannot be written.
        """
        folder = self._folder / mined.file[:_DIGITS]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in (_VOLUME, volumes.PAIRS_FILE, volumes.WINDOWS_FILE):  # of a run that asked for something else
                (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"The folder {folder} cannot be written ({error.strerror}). Name one that is yours to write."
            ) from error
        for name, data in mined.files.items():
            with written_whole(folder / name) as file:
                file.write(data)
        facts = {
            "format": _FORMAT,
            "asked": self._asked,
            "file": mined.file,
            "source": asdict(mined.source),
            "language": mined.language,
            "problem": mined.problem,
            "pairs": mined.found[0],
            "windows": mined.found[1],
            "dropped": dict(mined.dropped),
        }
        with written_whole(folder / _VOLUME) as file:
            file.write(json.dumps(facts, ensure_ascii=False, indent=1).encode() + b"\n")
