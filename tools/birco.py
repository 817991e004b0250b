"""BIRCO's pickles as JSON lines, which the program reads: ``python -m tools.birco set.pickle FOLDER``.

A pickle is a program: loading one may run anything. This reader admits two names alone, numpy's scalar and its dtype,
and puts functions of its own in their place, which know strings and numbers; any other name ends the reading.
"""

from __future__ import annotations

import json
import pickle
import re
import struct
import sys
from pathlib import Path
from typing import IO, Any

MAX_BYTES = 32 * 2**20
"""Larger files are refused: the largest set of BIRCO has a few megabytes."""


class _Dtype:
    """A number format by its name and its order of bytes, such as "U9" and "<"."""

    def __init__(self, kind: str, *_: object) -> None:
        if not re.fullmatch(r"U[0-9]{1,6}|[iu][1248]|f[48]|b1", kind):
            raise pickle.UnpicklingError(f"it holds numpy's '{kind:.20}'; only strings and numbers are read")
        self.kind, self.big = kind, False

    def __setstate__(self, state: tuple[object, ...]) -> None:
        self.big = state[1] == ">"


def _scalar(dtype: _Dtype, raw: bytes) -> str | int | float:
    if dtype.kind[0] == "U":
        return raw.decode("utf-32-be" if dtype.big else "utf-32-le").rstrip("\0")  # numpy fills up with zeros
    if dtype.kind[0] == "f":
        number: float = struct.unpack(f"{'>' if dtype.big else '<'}{'f' if dtype.kind == 'f4' else 'd'}", raw)[0]
        return number
    return int.from_bytes(raw, "big" if dtype.big else "little", signed=dtype.kind[0] == "i")


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as of the class above
        if module in {"numpy.core.multiarray", "numpy._core.multiarray"} and name == "scalar":
            return _scalar
        if (module, name) == ("numpy", "dtype"):
            return _Dtype
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, and only plain data are read")


def read(file: IO[bytes]) -> Any:  # noqa: ANN401 - what the file holds
    """Read a pickle of plain data. Raises ValueError: it is too large, damaged, or holds more than that."""
    if len(file.read(MAX_BYTES + 1)) > MAX_BYTES:
        raise ValueError(f"It has more than {MAX_BYTES:,} bytes.")
    file.seek(0)
    try:
        return _Reader(file).load()
    except (
        pickle.UnpicklingError,
        EOFError,
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        ValueError,
        OverflowError,
        MemoryError,
    ) as error:
        raise ValueError(f"It is not a pickle of plain data: {error}.") from error


def convert(source: Path, target: Path) -> tuple[Path, ...]:
    """Write a set as ``queries.jsonl``, ``pools.jsonl`` and ``passages.jsonl`` into a new folder; give the files."""
    with source.open("rb") as file:
        data = read(file)
    if not (isinstance(data, dict) and {"query", "corpus", "qrel"} <= data.keys()):
        raise ValueError("It is not a set of BIRCO: query, corpus and qrel are missing.")
    lines = {
        "queries": [{"id": key, "text": text} for key, text in data["query"].items()],
        "passages": [{"id": key, "text": text} for key, text in data["corpus"].items()],
        "pools": [{"query_id": key, "relevance": grades} for key, grades in data["qrel"].items()],
    }
    target.mkdir(parents=True)
    written = []
    for name, rows in lines.items():
        written.append(target / f"{name}.jsonl")
        written[-1].write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return tuple(written)


if __name__ == "__main__":
    if len(sys.argv) != 3:  # noqa: PLR2004 - the program, a file, a folder
        sys.exit("Write a pickle of BIRCO and a new folder: python -m tools.birco set.pickle FOLDER")
    try:
        print(*convert(Path(sys.argv[1]), Path(sys.argv[2])), sep="\n")
    except (OSError, ValueError) as error:
        sys.exit(f"{sys.argv[1]} was not converted. {error}")
