"""All indexes in a folder, told whole from damaged; no model is loaded for it, and nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.retrieval import index_files
from relic_core.retrieval.checked_files import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What was found.

    - `whole`: indexes whose manifests and files agree.
    - `damaged`: the others, by their place below the folder.
    - `works`: the works of the whole ones: retriever and fingerprint.
    """

    whole: int
    damaged: tuple[str, ...]
    works: frozenset[tuple[str, str]]


def survey(root: Path, *, thorough: bool = False) -> Survey:
    """Look through the indexes of works.

    - `root`: folder of all indexes; one that is not there has none.
    - `thorough`: read every file and hold it to its hash; otherwise sizes are looked at.
    """
    whole, damaged, works = 0, [], set()
    for folder in sorted(path.parent for path in root.glob(f"[!.]*/[!.]*/[!.]*/{index_files.MANIFEST}")):
        retriever, work_id = folder.parent.parent.name, folder.parent.name
        said = next(
            (each for each in index_files.manifests(root, retriever, work_id) if _folder(root, each) == folder), None
        )
        if said is None or (thorough and not _holds(folder, said)):
            damaged.append(folder.relative_to(root).as_posix())
        else:
            whole += 1
            works.add((retriever, str(said["work"])))
    return Survey(whole=whole, damaged=tuple(damaged), works=frozenset(works))


def _folder(root: Path, said: Mapping[str, Any]) -> Path:
    return index_files.Recipe(**{name: said[name] for name in index_files.Recipe.__slots__}).folder(root)


def _holds(folder: Path, said: Mapping[str, Any]) -> bool:
    named = {**{f"{name}.npy": entry for name, entry in said["arrays"].items()}, **said.get("files", {})}
    try:
        return all(digest_of(folder / name) == entry["sha256"] for name, entry in named.items())
    except OSError:
        return False
