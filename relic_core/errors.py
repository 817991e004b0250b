"""The tree of errors; each message is written for the person who reads it.

::

    RelicError
    ├── BadText            a text that cannot become a work
    │   ├── EmptyText
    │   ├── NotText        binary data, or an unknown encoding
    │   ├── OtherFormat    a document of a kind that is not read
    │   ├── UnsafeFile     a file made to harm, or locked
    │   └── TextTooLarge
    ├── BadBenchmark       a benchmark file, run file or ranking that is damaged or does not fit its works
    ├── BadClaim           a claim that cannot be searched with
    ├── BadRequest         a setting out of its range, an unknown name
    │   ├── StudyFrozen    a change to a study that people have answered
    │   └── StudyHeld      a study whose works are not here as they were when it was made
    ├── NotFound           a work, search, job or folder that is not there
    ├── SourceUnavailable  a mirror that cannot be reached, or gives something else than what was asked
    │   └── SourceAway     one that does not answer, or asks to be left alone for a while
    ├── ReaderUnavailable  a language model that cannot be asked, or does not answer
    │   ├── TokensUsedUp   one that has taken as many tokens as it may
    │   └── NoSuchModel    a model that its server does not have
    ├── StaleIndex         an index that does not fit its work or encoder
    │   └── NoIndex        an index that has not been built yet
    ├── BadBackup          a back-up that is damaged, changed, or of a newer version
    ├── BadWeights         model files that are missing or not the ones expected
    ├── StoreError
    │   ├── StoreBusy      another process holds the store
    │   ├── StoreTooNew    written by a newer version of this program
    │   └── StoreReadOnly  the folder or file cannot be written
    │       └── StoreFull  the disk has no room left
    └── JobCancelled       raised inside a job whose owner asked it to stop

Every message says what was given, what is allowed and what to do next.

What holds everywhere is not said again beside each function. Who asks for a thing by its id, name or path meets
`NotFound` where there is none; by a name out of a fixed list, of a metric or a retriever, `BadRequest`. Reading a file
of a benchmark, run, study, search or notebook that is damaged, or of another kind, raises `BadBenchmark`, and one that
cannot be written `StoreError`. What a function calls raises through it.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from relic_core.installed import COMMAND, MODULE


class RelicError(Exception):
    """Something the person using the program can understand and act on.

    >>> try:
    ...     raise NotFound("There is no such work.")
    ... except RelicError as error:
    ...     print(error)
    There is no such work.
    """

    def __str__(self) -> str:
        return super().__str__().replace(MODULE, COMMAND)


class BadText(RelicError):
    """A text that cannot become a work."""


class EmptyText(BadText):
    """A text without any words."""


class NotText(BadText):
    """Data that is not text in an encoding we know."""


class OtherFormat(BadText):
    """A document of a kind that is not read: a PDF, a web page, a word processor's file."""


class UnsafeFile(BadText):
    """A file that is not opened: made to grow without end, to reach outside itself, or locked."""


class TextTooLarge(BadText):
    """A text above the size limit."""


class BadBenchmark(RelicError):
    """A file of a benchmark, of rankings or of a run that is damaged, or does not fit the works it speaks of."""


class BadClaim(RelicError):
    """A claim that cannot be searched with."""


class BadRequest(RelicError):
    """A setting out of range or an unknown name."""


class StudyFrozen(BadRequest):
    """A change to a study that people have answered."""


class StudyHeld(BadRequest):
    """A study whose works are not here as they were when it was made."""


class NotFound(RelicError):
    """A thing that was asked for by name and is not there."""


class SourceUnavailable(RelicError):
    """A place that texts are fetched from does not give what was asked."""


class SourceAway(SourceUnavailable):
    """A place that texts are fetched from does not answer, or asks to be left alone for a while."""


class ReaderUnavailable(RelicError):
    """A language model that cannot be asked, or does not answer."""


class TokensUsedUp(ReaderUnavailable):
    """A language model that has taken as many tokens as it may."""


class NoSuchModel(ReaderUnavailable):
    """A language model that its server does not have."""


class StaleIndex(RelicError):
    """An index that does not fit its work, encoder or files."""


class NoIndex(StaleIndex):
    """An index that has not been built yet."""


class BadWeights(RelicError):
    """Model files that are missing, damaged or not the expected ones."""


class BadBackup(RelicError):
    """A back-up that cannot be restored: damaged, changed since it was made, or of a newer version."""


class StoreError(RelicError):
    """Something is wrong with the store."""


class StoreBusy(StoreError):
    """Another process holds the store."""


class StoreTooNew(StoreError):
    """The store was written by a newer version of this program."""


class StoreReadOnly(StoreError):
    """The store cannot be written."""


class StoreFull(StoreReadOnly):
    """The disk of the store has no room left."""


class JobCancelled(RelicError):
    """Raised inside a job whose owner asked it to stop."""


def unknown_name(kind: str, given: str, known: Iterable[str]) -> BadRequest:
    """Make the error for a name of a kind ("retriever") that is not registered, with the nearest known names.

    >>> str(unknown_name("retriever", "bm52", ["bm25", "dense"]))
    "There is no retriever called 'bm52'. Did you mean bm25? Known: bm25, dense."
    """
    names = sorted(known)
    near = difflib.get_close_matches(given, names, n=2)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return BadRequest(f"There is no {kind} called '{given}'.{hint} Known: {', '.join(names)}.")


@contextmanager
def written_to(folder: Path, *, called: str, setting: str, then: str) -> Iterator[None]:
    """Say in plain words why a folder cannot be written: no right to (StoreReadOnly), or a full disk (StoreFull)."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}:
            raise StoreReadOnly(
                f"The folder of {called} {folder} cannot be written ({error.strerror}). Give this program the right to "
                f"write there, or set {setting} to another folder."
            ) from error
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise StoreFull(
                f"The disk that holds the {called} ({folder}) is full. Make room, or set {setting} to a folder on "
                f"another disk; then {then} where it stopped."
            ) from error
        raise
