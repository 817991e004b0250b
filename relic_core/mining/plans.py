"""What there is to mine: files looked through, what was mined of them before told from what is new."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from relic_core.config import Settings
from relic_core.domain.figures import many
from relic_core.errors import RelicError
from relic_core.library import secondary
from relic_core.library.secondary import SourceFile
from relic_core.ports import Progress
from relic_core.store.sources import Known


class Done(NamedTuple):
    """What was mined of a file before; a source that was removed since stays away."""

    works: frozenset[str]
    pairs: bool
    removed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A file with something to be done; `among`: ids of the works that it has not been searched for yet."""

    file: SourceFile
    root: Path
    sha256: str
    size: int
    among: frozenset[str]
    pairs: bool


@dataclass(slots=True)
class Plan:
    """What there is to do, and what not: unread files with why, those known or the same, and names of other kinds."""

    planned: list[Planned] = field(default_factory=list)
    unread: list[tuple[SourceFile, Path, str]] = field(default_factory=list)
    already: int = 0
    removed: int = 0
    twice: int = 0
    others: list[str] = field(default_factory=list)
    max_bytes: int = 0


def done_before(known: Iterable[Known], rules: str) -> dict[str, Done]:
    """Say of files, by their sha256, what was mined under these rules, and whether the source was removed."""
    done: dict[str, Done] = {}
    for each in known:
        if each.rules == rules or each.removed:
            done[each.file] = Done(each.works, each.pairs, each.removed)
    return done


def make_plan(
    roots: Sequence[Path],
    progress: Progress,
    *,
    settings: Settings,
    done: Mapping[str, Done],
    works: Mapping[str, str],
    pairs: bool,
) -> Plan:
    """Look through files, folders and archives; each file is read once, for its hash."""
    max_bytes = settings.max_text_bytes
    plan = Plan(max_bytes=max_bytes)
    seen: set[str] = set()
    files: list[tuple[Path, SourceFile]] = []
    for root in roots:
        files += ((root, file) for file in secondary.list_sources(root, settings=settings, others=plan.others))
    for number, (root, file) in enumerate(files):
        progress(number, len(files), f"Looking through {many(len(files), 'book')}: {file.name}")
        try:
            data = secondary.read_source(file, max_bytes=max_bytes)
        except RelicError as error:
            plan.unread.append((file, root, str(error)))
            continue
        sha256 = hashlib.sha256(data).hexdigest()
        before = done.get(sha256, Done(frozenset(), pairs=False))
        among = frozenset(work_id for work_id, known in works.items() if known not in before.works)
        wants_pairs = pairs and not before.pairs
        if sha256 in seen:
            plan.twice += 1
        elif before.removed:
            plan.removed += 1
        elif sha256 in done and not among and not wants_pairs:
            plan.already += 1
        else:
            plan.planned.append(
                Planned(file=file, root=root, sha256=sha256, size=len(data), among=among, pairs=wants_pairs)
            )
        seen.add(sha256)
    return plan
