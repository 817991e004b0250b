"""One secondary source at a time: from its bytes to pairs and windows, by a pure function that runs anywhere.

`mine` works on a text. `mine_volume` is the same for processes and clusters: it gets names, reads the bytes itself
where it runs, and whatever is wrong with one volume comes back as a sentence about that volume. So only names travel
out and what was found travels back; a cluster's machines need the sources and the index of works under the same paths.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from relic_core.domain import MinedWindow, Pair, SecondarySource
from relic_core.errors import RelicError
from relic_core.formats.pair_files import FileHeader, PairRow, QuotedEdition, WindowRow, write_pairs, write_windows
from relic_core.library.secondary import SourceFile, describe, read_source, text_of, unread
from relic_core.mining import prose as reading
from relic_core.mining.pairs import make_pairs
from relic_core.mining.quotations import find_quotations
from relic_core.mining.quoted_works import QuotedWork, QuotedWorks
from relic_core.mining.windows import make_windows
from relic_core.text.languages import is_english, language
from relic_core.text.sentences import default_segmenter

WINDOW_RULES = "windows/1"
"""Version of all rules by which windows are found; raise it with any change that finds others."""

ENGLISH = "en"
_SHORT = 20_000
"""Characters: a short text's language is judged by its small words, a book's by three parts of it."""
PAIRS_FILE, WINDOWS_FILE = "pairs.jsonl", "windows.jsonl"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """What was found in one source.

    - `source`: without text and hash where it could not be read.
    - `file`: sha256 of the bytes it was read from; empty where it could not be read or was lost: it is not done then.
    - `language`: "en", "fr", ...; empty where the source could not be read.
    - `windows`: all that were found on the works looked for; nothing is set aside yet.
    - `dropped`, `problem`: why how many quotations were passed over, or why nothing could be found, in plain words.
    - `files`: where only places were asked for: `PAIRS_FILE` and `WINDOWS_FILE` with offsets and digests. There are no
      pairs and windows then, so that no word of the source leaves the process.
    """

    source: SecondarySource
    task: VolumeTask | None = None
    file: str = ""
    language: str = ""
    pairs: tuple[Pair, ...] | None = None
    windows: tuple[MinedWindow, ...] = ()
    found: tuple[int, int] = (0, 0)
    dropped: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""
    seconds: float = 0.0
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeTask:
    """What is to be done with one volume, by names alone.

    - `works`: folder of the `QuotedWorks`; None where no windows are wanted.
    - `max_bytes`: largest size accepted, where that is more than `secondary.MOST_BYTES`.
    - `places`: give offsets and digests only, in files, with the version `code` of the program.
    """

    file: SourceFile
    works: Path | None
    among: frozenset[str] | None = None
    pairs: bool = True
    max_bytes: int = 0
    places: bool = False
    code: str = ""


def rules() -> str:
    """Name the versions of all rules that decide what is found: of reading, of windows, of cutting sentences."""
    return f"{reading.RULES} {WINDOW_RULES} {default_segmenter().identity}"


def mine(
    text: str,
    source: SecondarySource,
    *,
    works: QuotedWorks | None,
    among: Collection[str] | None = None,
    pairs: bool = True,
) -> Mined:
    """Find the quotations of a source, and the works that it quotes, `among` some."""
    began = time.perf_counter()
    spoken = ENGLISH if len(text) < _SHORT and is_english(text) else language(text)
    if spoken != ENGLISH:
        return Mined(
            source=source,
            language=spoken,
            pairs=() if pairs else None,
            problem=f"It seems not to be in English (its language looks like '{spoken}').",
            seconds=time.perf_counter() - began,
        )
    prose = reading.read_prose(text)
    quotations = find_quotations(prose)
    made = make_pairs(prose, quotations, source.id) if pairs else None
    windows = () if works is None else make_windows(prose, quotations, source, works, among=among)
    return Mined(
        source=source,
        language=spoken,
        pairs=made.pairs if made else None,
        windows=windows,
        found=(len(made.pairs) if made else 0, len(windows)),
        dropped=made.dropped if made else {},
        seconds=time.perf_counter() - began,
    )


def mine_volume(task: VolumeTask) -> Mined:
    """Read a volume and mine it; what is wrong with the volume is said in the result and raises nothing."""
    works = None if task.works is None else _works(task.works, _modified(task.works))
    began = time.perf_counter()
    source = unread(task.file)
    try:
        data = read_source(task.file, max_bytes=task.max_bytes)
        text = text_of(data, name=task.file.name, max_bytes=task.max_bytes)
        file = hashlib.sha256(data).hexdigest()
        del data
        source = describe(task.file, text)
        mined = mine(text, source, works=works, among=task.among, pairs=task.pairs)
        mined = replace(mined, task=task, file=file, seconds=time.perf_counter() - began)
        return _without_words(mined, task, works) if task.places else mined
    except RelicError as error:
        return Mined(source=source, task=task, problem=str(error), seconds=time.perf_counter() - began)
    except MemoryError:
        return lost(task, "there was not enough memory for it")
    except Exception as error:  # a fault of the program in one volume must not end the work on two thousand
        if task.places:  # what the error says, and where it arose, may hold words of the source
            logger.error("Mining %s failed: %s", task.file.place, type(error).__name__)  # noqa: TRY400
            return lost(task, f"the program made a mistake ({type(error).__name__})")
        logger.exception("Mining %s failed", task.file.place)
        return lost(task, f"the program made a mistake ({error!r:.200})")


def lost(task: VolumeTask, reason: str) -> Mined:
    """Give the result for a volume that could not be mined through no known fault of its own.

    It is not counted as mined: the next run tries it again.
    """
    return Mined(
        source=unread(task.file),
        task=task,
        problem=f"It was not mined: {reason}. Mine again with fewer workers, or leave this file out.",
    )


@lru_cache(maxsize=1)
def _works(folder: Path, modified: int) -> QuotedWorks:
    """Open the works once for all volumes of this process, and again where they were built anew."""
    del modified  # part of the cache's key
    return QuotedWorks.open(folder)


def _modified(folder: Path) -> int:
    return folder.stat().st_mtime_ns if folder.exists() else 0


def _without_words(mined: Mined, task: VolumeTask, works: QuotedWorks | None) -> Mined:
    quoted = {work.id: work for work in works.works} if works else {}
    made = {"code": task.code, "rules": rules()}
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        if mined.pairs is not None:
            path = Path(folder, PAIRS_FILE)
            distinct = {pair.id: pair for pair in mined.pairs}
            rows = [PairRow(pair=pair) for pair in distinct.values()]
            write_pairs(path, FileHeader(made=made, sources=(mined.source,)), rows, places=True)
            files[path.name] = path.read_bytes()
        if works is not None:
            path = Path(folder, WINDOWS_FILE)
            named = sorted({window.work_id for window in mined.windows})
            editions = tuple(_edition(quoted[work_id]) for work_id in named)
            places = [_placed(window, works, quoted[window.work_id]) for window in mined.windows]
            write_windows(path, FileHeader(made=made, sources=(mined.source,), works=editions), places, places=True)
            files[path.name] = path.read_bytes()
    return replace(mined, pairs=None, windows=(), files=files)


def _placed(window: MinedWindow, works: QuotedWorks, work: QuotedWork) -> WindowRow:
    first = work.first_sentence + window.gold.start
    last = work.first_sentence + window.gold.end - 1
    return WindowRow(
        window=window,
        sentences=works.gold_texts(work, window.gold),
        in_work=(int(works.sentence_starts[first]), int(works.sentence_ends[last])),
    )


def _edition(work: QuotedWork) -> QuotedEdition:
    return QuotedEdition(
        id=work.id,
        title=work.title,
        author=work.author,
        year=None,
        sha256=work.sha256,
        fingerprint=work.fingerprint,
        segmenter=work.segmenter,
        origin="",
    )
