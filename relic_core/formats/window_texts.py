"""The words of windows that a manifest lists, as they were cut out of the sources on this machine.

One Parquet file, beside which the manifest alone says where the windows stand: it may not be passed on where the
sources may not. Its metadata name the digest of the manifest it was cut by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark
from relic_core.formats import parquet_tables
from relic_core.formats.files import as_string

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FORMAT = "relic window texts/1"

_COLUMNS = {
    "id": ("text", False),
    "left": ("texts", False),
    "quotation": ("text", False),
    "right": ("texts", False),
}


@dataclass(frozen=True, slots=True)
class WindowText:
    """The words of a window: its sentences before the quotation, the quotation as the source has it, those after."""

    left: tuple[str, ...]
    quotation: str
    right: tuple[str, ...]


def write_texts(path: Path, texts: Iterable[tuple[str, WindowText]], digest: str) -> int:
    """Write the words of windows by their ids.

    - `path`: the file; one that is there is replaced.

    Returns: how many were written.

    Raises StoreError: the file cannot be written.
    """
    rows = [
        {"id": name, "left": list(text.left), "quotation": text.quotation, "right": list(text.right)}
        for name, text in texts
    ]
    return parquet_tables.write(path, FORMAT, {"manifest": digest}, _COLUMNS, [rows])


def read_texts(path: Path) -> tuple[dict[str, WindowText], str]:
    """Read the words of windows.

    What it returns:
    - `texts`: by id.
    - `digest`: of the manifest they were cut by.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is damaged, or an id occurs twice.
    """
    head, batches = parquet_tables.read(path, FORMAT, ("manifest",), _COLUMNS)
    texts: dict[str, WindowText] = {}
    for batch in batches:
        for row in batch:
            if row["id"] in texts:
                raise BadBenchmark(f"{path}: window '{row['id']:.80}' occurs twice.")
            texts[row["id"]] = WindowText(tuple(row["left"]), row["quotation"], tuple(row["right"]))
    return texts, as_string(head["manifest"], f"{path}: the metadata, 'manifest'")
