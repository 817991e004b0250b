"""Files of other people's formats, and folders of them: read whole and strictly, written whole or not at all.

What `json` lets pass in silence is refused here: a key that occurs twice in one object (the last would win), NaN and
infinity, half of a surrogate pair. Readers say where something is wrong by a `source`: the file, and what is known of
the place in it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any, BinaryIO, NoReturn, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.config import ExtraValues
from pydantic_core import SchemaValidator

from relic_core.errors import BadBenchmark, BadRequest, NotFound, StoreError
from relic_core.text.decoding import harmless

T = TypeVar("T")

_KINDS: tuple[tuple[type, str], ...] = (
    (type(None), "null"),
    (bool, "true or false"),  # before int, which it is one of
    (int, "a whole number"),
    (float, "a number with a fraction"),
    (str, "a string"),
    (list, "a list"),
    (dict, "an object"),
)


_MOST_ERRORS = 1_000
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a surrogate pair as JSON spells it; two that belong together are a character."""


def _in_utc(moment: datetime) -> datetime:
    if not MINYEAR < moment.year < MAXYEAR:
        raise ValueError("A date so far away has no hour in some time zones")
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A moment with its time zone; what is read is in UTC."""
Count = Annotated[int, Field(ge=0)]
Name = Annotated[str, Field(pattern=r"\S")]


class Strict(BaseModel):
    """A record of a file: nothing is converted, nothing unknown is let in."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class FileDigest(Strict):
    """A file as it was written: its size in bytes and the sha256 of its bytes."""

    bytes: Count
    sha256: str


def read_bytes(path: Path, *, at_most: int | None = None) -> bytes:
    """Read a file whole. Raises BadBenchmark: it cannot be read, or is larger than `at_most`."""
    try:
        size = path.stat().st_size
        if at_most is not None and size > at_most:
            raise BadBenchmark(f"{path} has {size:,} bytes; a file of this kind has at most {at_most:,}.")
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}. Check the name, or fetch the file first.") from None
    except (OSError, ValueError) as error:  # ValueError: a null character
        why = getattr(error, "strerror", error)
        raise BadBenchmark(
            f"{harmless(str(path))} cannot be read ({why}). Name a file that is yours to read."
        ) from None


def digest_of(path: Path) -> str:
    """Sha256 of a file's content, which may be larger than memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_text(path: Path) -> str:
    """Read a file of text in UTF-8, as JSON is by its standard. Raises BadBenchmark: it is in another."""
    return decoded(read_bytes(path), str(path))


def decoded(data: bytes, source: str) -> str:
    """Decode UTF-8. Raises BadBenchmark: it is another encoding, or damaged."""
    try:
        return data.decode("utf-8-sig")  # an editor may have put a byte order mark before it
    except UnicodeDecodeError as error:
        raise BadBenchmark(
            f"{source} is not text in UTF-8: byte {error.start:,} of {len(data):,} cannot be read. It was damaged, cut "
            "short or saved in another encoding; fetch it again."
        ) from None


def parse(text: str, source: str) -> object:
    """Read JSON, strictly.

    Raises BadBenchmark: it is not JSON, cut short, or too deep (with the position); a key occurs twice in one object;
    it holds half of a character.

    >>> parse('{"a": 1, "b": [2]}', "here")
    {'a': 1, 'b': [2]}
    >>> parse('{"a": [1, ', "here")
    Traceback (most recent call last):
    relic_core.errors.BadBenchmark: here is not whole JSON: Expecting value at character 10 of 10. ...
    """
    try:
        value: object = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        what, at = error.msg, error.pos
    except RecursionError:
        what, at = "it is nested too deep", 0
    except ValueError as error:
        what, at = str(error), 0
    else:
        if _ESCAPED_HALF.search(text):
            check_text(json.dumps(value, ensure_ascii=False), source)
        return value
    # Raised out here, so that the error does not hold on to the whole text.
    place = f" at character {at:,} of {len(text):,}" if at else ""
    raise BadBenchmark(
        f"{source} is not whole JSON: {what}{place}. It was probably cut short, damaged or changed by hand: fetch it "
        "again."
    )


def as_object(value: object, source: str, keys: Sequence[str] = ()) -> dict[str, object]:
    """Take a value as a JSON object with these keys and no others; any where none are given."""
    if not isinstance(value, dict):
        raise BadBenchmark(f"{source} must be a JSON object, and is {kind_of(value)}.")
    if keys:
        for key in keys:
            if key not in value:
                raise BadBenchmark(f"{source} has no '{key}'. It must have: {', '.join(keys)}.")
        for key in value:
            if key not in keys:
                raise BadBenchmark(f"{source} has an unknown '{key:.80}'. Known: {', '.join(keys)}.")
    return value


def as_string(value: object, source: str, *, empty: bool = False) -> str:
    """Take a value as a string that can be written again; not an empty one unless it may be."""
    if type(value) is not str:
        raise BadBenchmark(f"{source} must be a string, and is {kind_of(value)}.")
    if not empty and not value.strip():
        raise BadBenchmark(f"{source} is empty.")
    check_text(value, source)
    return value


def checked(kind: type[T], raw: object, here: str, *, extra: ExtraValues = "forbid") -> T:
    """Make a record, or whatever a type names, of plain data, strictly; its error names the place.

    - `extra`: what is done with what is unknown.
    """
    try:
        text = json.dumps(raw, ensure_ascii=False, allow_nan=False)
        check_text(text, here)
        return record_of(kind, text, extra=extra)
    except (ValueError, RecursionError) as error:
        raise BadBenchmark(
            f"{here}: {error}. The file was damaged or changed by hand: take it anew from where it came."
        ) from None


def record_of(kind: type[T], text: str | bytes, *, extra: ExtraValues = "forbid") -> T:
    """Read JSON that this program wrote, as `checked` does. Raises ValueError: it is something else, and why.

    >>> record_of(tuple[int, ...], "[1, 2]")
    (1, 2)
    >>> record_of(tuple[int, ...], '[1, "2"]')
    Traceback (most recent call last):
    ValueError: '1' Input should be a valid integer, and is '2'
    """
    try:
        found: T = _reader(kind).validate_json(text, strict=True, extra=extra)
        return found  # noqa: TRY300 - as a function it would be longer
    except ValidationError as error:
        if error.error_count() > _MOST_ERRORS:
            raise ValueError(f"it is wrong in {error.error_count():,} places") from None
        first = error.errors(include_url=False)[0]
    place = "".join(f"'{each!s:.80}' " for each in first["loc"])
    hidden = isinstance(first["input"], dict) or first["type"] == "json_invalid"
    given = "" if hidden else f", and is {first['input']!r:.60}"
    raise ValueError(f"{place}{first['msg']:.300}{given}")


def records_in_lines(path: Path, read: Callable[[bytes], T]) -> Iterator[T | None]:
    """Read a journal line by line, without an end that was cut short; None for a line that cannot be read.

    Behind a thousand such lines it is no journal, and ends: each costs more than one that can be read.
    """
    unread = 0
    for line in filter(None, path.read_bytes().split(b"\n")[:-1]) if path.is_file() else ():
        try:
            yield read(line)
        except (ValueError, RecursionError):
            unread += 1
            if unread > _MOST_ERRORS:
                return
            yield None


def record_in(kind: type[T], path: Path, *, extra: ExtraValues = "forbid") -> T:
    """Read a file as `record_of` does. Raises OSError: it cannot be read."""
    return record_of(kind, path.read_bytes(), extra=extra)


def _reader_of(kind: Any) -> SchemaValidator:  # noqa: ANN401 - any type
    schema = TypeAdapter(kind).core_schema
    _stop_early(schema)
    return SchemaValidator(schema, _use_prebuilt=False)  # a class's own validator goes on to the end


_reader: Callable[[Any], SchemaValidator] = cache(_reader_of)


def _stop_early(schema: Any) -> None:  # noqa: ANN401 - a schema, or a part of one
    """Have lists stop at the first thing that is wrong: each costs a record, and a large file may hold millions."""
    if isinstance(schema, dict):
        if schema.get("type") in {"list", "tuple"}:
            schema["fail_fast"] = True
        for name, part in schema.items():
            if name != "metadata":
                _stop_early(part)
    elif isinstance(schema, list | tuple):
        for part in schema:
            _stop_early(part)


def check_text(text: str, source: str) -> None:
    """Refuse half of a surrogate pair, which JSON can spell and no file of text can hold."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadBenchmark(
            f"{source} holds half of a character (the lone surrogate U+{ord(text[error.start]):04X}) at character "
            f"{error.start + 1:,}. The text was cut in the middle of a character; take it from its source again."
        ) from None


def kind_of(value: object) -> str:
    """Say what a value is in JSON's words; never shows it, which may be large or endless.

    >>> kind_of(None), kind_of([1]), kind_of(2.5)
    ('null', 'a list', 'a number with a fraction')
    """
    for kinds, name in _KINDS:
        if isinstance(value, kinds):
            return name
    return f"of the type {type(value).__name__}"


def check_path(path: Path) -> None:
    """Refuse a path that no file can have. Raises BadRequest: it holds a null character."""
    if "\0" in str(path):
        raise BadRequest(f"'{harmless(str(path))}' holds a null character, which no path can. Write it anew.")


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when all is written. Raises StoreError: it cannot be."""
    check_path(path)
    half = path.with_name(f".{path.name}.{secrets.token_hex(4)}.half")
    try:
        with half.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # it cannot be written: perhaps not even taken away
            half.unlink(missing_ok=True)
        raise _unwritable(path, error) from error
    except BaseException:  # what was to be written is refused, or Ctrl-C: nothing half made stays behind
        half.unlink(missing_ok=True)
        raise


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before the hours that its content takes; raises as `written_whole`."""
    check_path(path)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be written ({error.strerror}). Name a file in a folder that is there, is yours to write "
        "and has room."
    )


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all, as `written_whole` does; words in UTF-8."""
    with written_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def written_folder(path: Path, marker: str) -> Iterator[Path]:
    """Give a folder to write into that appears under its name only when all is written.

    One that is there is replaced if it is empty or holds the marker, a file that has to be written into it.

    Raises BadRequest: there is something else under that name, or none can be.
    """
    check_path(path)
    path = path.resolve()  # "." has no name beside which to write, and a link is to stay one
    half, old = (path.parent / f".{path.name}.{secrets.token_hex(4)}.{end}" for end in ("half", "old"))
    try:
        _refuse_others(path, marker)
        half.mkdir()
        yield half
        if path.exists():
            path.rename(old)
        half.rename(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}). Name a folder inside one that is there, is yours to write "
            "and has room."
        ) from error
    finally:
        if old.exists() and not path.exists():  # the second of the two moves failed
            old.rename(path)
        for gone in (half, old):
            shutil.rmtree(gone, ignore_errors=True)


def _refuse_others(path: Path, marker: str) -> None:
    if not path.exists() or (path.is_dir() and ((path / marker).is_file() or not any(path.iterdir()))):
        return
    what = f"a folder that holds other things (no {marker})" if path.is_dir() else "a file"
    raise BadRequest(f"{path} is {what}. Name a folder that is not there yet, an empty one, or an earlier export.")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made: dict[str, object] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"it has '{key:.80}' twice in one object")
        made[key] = value
    return made


def _no_number(written: str) -> NoReturn:
    raise ValueError(f"{written} is not a number of JSON")
