"""DuckDB, started once and given a file for as long as one is needed.

Starting DuckDB costs eight times as much as opening a file. So it is started without a file of its own; the store's is
attached to it and detached again, which closes the file and gives up DuckDB's lock on it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from duckdb import DuckDBPyConnection

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # No statement may reach the network or another file.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    # DuckDB's own default is most of the machine, too much beside an encoder.
    "memory_limit": "1GB",
    "threads": "2",
}

_NAME = "store"
"""What the file is called inside."""

_BESIDE = (".wal", ".wal.checkpoint", ".wal.recovery")
"""What DuckDB writes beside a file."""


class Engine:
    """DuckDB for one file; calls from several threads must come one after the other, but for `cursor`.

    - `path`: the file. No statement can reach another.
    """

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._running: DuckDBPyConnection | None = None

    def attach(self) -> None:
        """Open the file, which is there; DuckDB is started where it does not run.

        Raises duckdb.Error: the file cannot be opened, or another process holds it.
        """
        written = self._path.replace("'", "''")
        self._started().execute(f"ATTACH '{written}' AS {_NAME} (TYPE duckdb)")

    def detach(self) -> None:
        """Close the file; no cursor may be open.

        Raises duckdb.Error: what was written cannot be brought to rest.
        """
        self._started().execute(f"DETACH {_NAME}")

    @contextlib.contextmanager
    def cursor(self) -> Iterator[DuckDBPyConnection]:
        """Give a cursor on the file; closing it drops a transaction that was not committed."""
        with contextlib.closing(self._started().cursor()) as cursor:
            cursor.execute(f"USE {_NAME}")
            yield cursor

    def stop(self) -> None:
        """Stop DuckDB, which closes whatever it holds."""
        if self._running is not None:
            try:
                self._running.close()
            finally:
                self._running = None

    def _started(self) -> DuckDBPyConnection:
        if self._running is None:
            overflow = f"{self._path}.tmp"
            self._running = duckdb.connect(":memory:", config=CONFIG | {"temp_directory": overflow})
            self._running.execute("SET allowed_directories = ?", [[overflow]])
            self._running.execute("SET allowed_paths = ?", [[self._path, *(self._path + end for end in _BESIDE)]])
            self._running.execute("SET enable_external_access = false")
        return self._running
