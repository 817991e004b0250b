"""Whether everything is as it should be: what an operator asks, and what a container is asked every minute."""

from __future__ import annotations

import secrets
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from relic_core.config import Settings
from relic_core.domain import WorkSummary
from relic_core.domain.figures import many
from relic_core.encoders.cross_encoder import open_reranker
from relic_core.encoders.sparse import SparseEncoder
from relic_core.errors import NoSuchModel, RelicError, StaleIndex
from relic_core.installed import COMMAND
from relic_core.language_models.parsing import spoken
from relic_core.language_models.server import Server
from relic_core.library.gutenberg import Downloads
from relic_core.mining.quoted_works import QUOTED_WORKS, QuotedWorks
from relic_core.retrieval import calibration, dense, late
from relic_core.retrieval.index_files import survey
from relic_core.retrieval.reranked import reranker_model
from relic_core.services.backups import leftovers
from relic_core.services.indexing import Indexes
from relic_core.services.works import Works
from relic_core.store import Store

Level = Literal["good", "notice", "bad"]

_NEEDED = 200_000_000
_WANTED = 2_000_000_000
"""Bytes of room: below the first writing may fail any moment, below the second it is time to make some."""
_NAMED = 8
_PATIENCE = 5.0
"""Seconds that the app may take to answer."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: "bad" where the program cannot do its work, "notice" where somebody should look."""

    name: str
    level: Level
    message: str


def examine(
    store: Store, settings: Settings, works: Works, indexes: Indexes, *, address: str = "", thorough: bool = False
) -> tuple[Finding, ...]:
    """Look at the store, the disk, the models and the indexes, and at the app where its address is given.

    - `thorough`: read every row of the store, and every index to compare it with its hashes, which takes a minute for a
      large library.
    """
    return tuple(_findings(store, settings, works, indexes, address, thorough=thorough))


def _findings(
    store: Store, settings: Settings, works: Works, indexes: Indexes, address: str, *, thorough: bool
) -> Iterator[Finding]:
    if address:
        yield _app(address)
    lacking: tuple[str, ...] | None = None  # not known where the store does not open
    try:
        version = store.version()
        there, removed = works.summaries(), works.removed()
        lacking = indexes.unprepared(there) if there else ()
        if thorough:
            store.read_through()
    except RelicError as error:
        yield Finding("store", "bad", str(error))
    else:
        yield Finding("store", "good", f"{settings.store} opens; all {version} migrations are in it.")
        yield _works(there, removed=len(removed))
    for loss in store.losses():
        yield Finding("log", "notice", loss)
    yield from _left(settings.data)
    yield _room("data", settings.data)
    yield _room("indexes folder", settings.indexes)
    yield from _models(settings)
    yield from language_model(settings)
    yield _indexes(settings, lacking, thorough=thorough)
    if thorough:
        yield from _files(settings)


def _files(settings: Settings) -> Iterator[Finding]:
    """Compare with their hashes what mining reads and what was downloaded."""
    quoted = settings.indexes / QUOTED_WORKS
    if quoted.is_dir():
        try:
            QuotedWorks.open(quoted, thorough=True)
        except StaleIndex as error:
            yield Finding("quoted works", "notice", str(error))
    if damaged := Downloads(settings.downloads).damaged():
        damage = f"{many(len(damaged), 'download')} cannot be read as written ({damaged[0]})."
        yield Finding("downloads", "notice", f"{damage} They are fetched anew when asked for, or delete them.")


def _app(address: str) -> Finding:
    asked = f"{address.rstrip('/')}/_stcore/health"
    if not asked.startswith(("http://", "https://")):
        return Finding("app", "bad", f"'{address}' is not an address of an app; http://localhost:8501 is one.")
    try:
        with urllib.request.urlopen(asked, timeout=_PATIENCE) as answer:  # noqa: S310 - http or https, looked at above
            status = answer.status
    except (urllib.error.URLError, OSError, ValueError) as error:
        return Finding("app", "bad", f"The app does not answer at {address} ({getattr(error, 'reason', error)}).")
    return Finding("app", "good", f"The app answers at {address} ({status}).")


def _works(works: tuple[WorkSummary, ...], *, removed: int) -> Finding:
    size = f"The library has {many(len(works), 'work')}"
    level: Level = "good" if works else "notice"
    return Finding(
        "works", level, f"{size}{f'; {removed:,} more were removed and can be put back' if removed else ''}."
    )


def _left(data: Path) -> Iterator[Finding]:
    """Name what a back-up or a restore that was killed left behind."""
    with suppress(OSError):  # the folder is looked at by itself
        if left := leftovers(data):
            warning = f"A back-up or a restore was killed and left copies of what people wrote, {left[0]} for example."
            yield Finding(
                "back-ups", "notice", f"{warning} The next start, back-up or restore takes them away; or delete them."
            )


def _room(name: str, folder: Path) -> Finding:
    probe = folder / f".health-{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            probe.write_bytes(b"x" * 4096)
        finally:
            probe.unlink(missing_ok=True)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding(name, "bad", f"{folder} cannot be written ({error.strerror}). Make it writable, or make room.")
    room = f"{folder} can be written; {free / 1e9:,.1f} GB are free."
    if free < _NEEDED:
        return Finding(name, "bad", f"{room} That is too little: writing may fail any moment. Make room.")
    if free < _WANTED:
        return Finding(name, "notice", f"{room} Make room before long.")
    return Finding(name, "good", room)


def _trained(model: str) -> str:
    calibration.beside(model)
    return dense.checked_encoder(model)


def _models(settings: Settings) -> Iterator[Finding]:
    looks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("encoder", lambda: dense.checked_encoder(settings.model)),
        ("trained encoder", lambda: _trained(dense.trained_model(settings))),
        ("reranker", lambda: open_reranker(reranker_model(settings)).name),
    )
    if settings.late:
        looks += (("late interaction", lambda: late.checked_encoder(settings)),)
    if settings.sparse:
        looks += (("SPLADE", lambda: SparseEncoder(settings.sparse).name),)
    for name, look in looks:
        try:
            yield Finding(name, "good", f"The files of {look()} are the ones expected.")
        except RelicError as error:  # searching by words goes on without
            yield Finding(name, "bad", str(error))


def language_model(settings: Settings) -> Iterator[Finding]:
    """Ask the language model's server, where one is named, whether it is there, and how fast."""
    if not settings.reader:
        return
    try:
        server = Server(settings)
        names, seconds = server.models()
    except RelicError as error:  # every other search goes on without
        yield Finding("language model", "notice", str(error))
        return
    answering = f"The server of {server.model} answers in {seconds:.2f} s; claims and passages go to {server.place}."
    if names and server.model not in names:
        listed = ", ".join(sorted(names)[:_NAMED])
        yield Finding("language model", "notice", f"{answering} It does not list that model, but {listed}.")
    else:
        yield Finding("language model", "good", answering)


def try_language_model(settings: Settings) -> Iterator[Finding]:
    """Ask the language model for one word, which takes some tokens: how long that takes, or why none comes."""
    began = time.perf_counter()
    try:
        server = Server(settings)
        answer, name = server.try_out()
    except RelicError as error:
        yield Finding("language model", "bad", str(error))
        # A name that is not the server's is corrected by those that it lists.
        listed = language_model(settings) if isinstance(error, NoSuchModel) else ()
        yield from (each for each in listed if each.level == "notice" and each.message != str(error))
        return
    seconds = time.perf_counter() - began
    answered = f"{server.model} answered in {seconds:.1f} s; the server gives its name as {name or 'nothing'}."
    if spoken(answer):
        yield Finding("language model", "good", answered)
    else:
        thought = "It said nothing: a model that thinks aloud may use up the answer with that. Have it not think."
        yield Finding("language model", "notice", f"{answered} {thought}")


def _indexes(settings: Settings, lacking: Sequence[str] | None, *, thorough: bool) -> Finding:
    found = survey(settings.indexes, thorough=thorough)
    held = "read and compared with what was written" if thorough else "looked at"
    looked_at = found.whole + len(found.damaged)
    state = f"{many(looked_at, 'index was', 'indexes were')} {held}, {len(found.damaged) or 'none'} damaged"
    if found.damaged:
        return Finding(
            "indexes",
            "notice",
            f"{state} ({found.damaged[0]}). They are not used and are built anew: `{COMMAND} index --all`.",
        )
    if lacking:
        return Finding(
            "indexes",
            "notice",
            f"{state}; {many(len(lacking), 'work is', 'works are')} not prepared for searching by meaning. "
            f"`{COMMAND} index --all` does it.",
        )
    return Finding("indexes", "good", f"{state}{'' if lacking is None else '; every work is prepared'}.")
