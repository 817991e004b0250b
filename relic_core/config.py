"""Settings: frozen, keyword-only, checked when made; read from environment variables ``RELIC_*``."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT = Path(__file__).resolve().parent.parent
ASSETS = Path(__file__).resolve().parent / "assets"

_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}
_LEAST_PAUSE = 2.0
"""In seconds: what Project Gutenberg asks of programs."""
_LARGEST_TEXT = 2_000_000_000
"""In bytes: offsets into a text are kept in 32 bits."""


def _half_of_memory() -> float:
    """Give half of the machine's physical memory, in MB."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2_000_000


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where things are kept and how much is allowed.

    Attributes
    ----------
    data : Path
        Folder of the store and of jobs (``RELIC_DATA``, default ``data`` in the project).
    indexes : Path
        Folder of built indexes (``RELIC_INDEXES``, default ``indexes`` in the project).
    library : Path or None
        Folder of text files offered for adding (``RELIC_LIBRARY``).
    benchmarks : Path or None
        Folder of benchmark data that do not ship with the program (``RELIC_BENCHMARKS``): ``birco_relic/``, ``relic/``.
    model : str
        Folder, name or card (a ``.json`` file) of the encoder that is used as it is (``RELIC_MODEL``); empty means the
        packaged all-MiniLM-L6-v2.
    trained : str
        The same of the trained encoder, dense-RELiC (``RELIC_TRAINED``); empty means the one that was chosen among the
        trainings, or the one that comes with the program.
    reranker : str
        Folder of the reranker, which reorders what was found (``RELIC_RERANKER``); empty means the one that was chosen
        among the trainings, or the one that comes with the program.
    max_text_bytes : int
        Largest text file accepted (``RELIC_MAX_TEXT_BYTES``).
    max_claim_words : int
        Longest claim accepted, in words (``RELIC_MAX_CLAIM_WORDS``).
    gutenberg : str
        Address of the mirror of Project Gutenberg that books are fetched from (``RELIC_GUTENBERG``).
    gutenberg_pause : float
        Seconds between two requests to it (``RELIC_GUTENBERG_PAUSE``): 2 or more, as Project Gutenberg asks of
        programs, but for a mirror on this machine.
    lock_seconds : float
        How long to wait for a store that another process holds (``RELIC_LOCK_SECONDS``).
    job_lock_seconds : float
        How long a job waits for it, or a training, which nobody sits before (``RELIC_JOB_LOCK_SECONDS``).
    library_memory : float
        In MB: how large the indexes of all works searched may be together for a search by meaning to compare every
        passage; above it an approximate index is used (``RELIC_LIBRARY_MEMORY``, default half of the machine's memory).
    """

    data: Path = PROJECT / "data"
    indexes: Path = PROJECT / "indexes"
    library: Path | None = None
    benchmarks: Path | None = None
    model: str = ""
    trained: str = ""
    reranker: str = ""
    max_text_bytes: int = 20_000_000
    max_claim_words: int = 2_000
    gutenberg: str = "https://gutenberg.pglaf.org"
    gutenberg_pause: float = 2.0
    lock_seconds: float = 8.0
    job_lock_seconds: float = 600.0
    library_memory: float = field(default_factory=_half_of_memory)

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("max_text_bytes", "max_claim_words", "lock_seconds", "job_lock_seconds", "library_memory"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise BadRequest(f"RELIC_{name.upper()} is {value}; it must be a number greater than 0.")
        if self.max_text_bytes > _LARGEST_TEXT:
            raise BadRequest(
                f"RELIC_MAX_TEXT_BYTES is {self.max_text_bytes:,}; it must be at most {_LARGEST_TEXT:,}. Split longer "
                "texts into volumes."
            )
        mirror = urlsplit(self.gutenberg)
        if mirror.scheme not in {"http", "https"} or not mirror.hostname:
            raise BadRequest(
                f"RELIC_GUTENBERG is '{self.gutenberg}'; it must be the address of a mirror, "
                "https://gutenberg.pglaf.org for example."
            )
        least = 0.0 if mirror.hostname in _THIS_MACHINE else _LEAST_PAUSE
        if not (math.isfinite(self.gutenberg_pause) and self.gutenberg_pause >= least):
            raise BadRequest(
                f"RELIC_GUTENBERG_PAUSE is {self.gutenberg_pause}; Project Gutenberg asks programs to leave at least "
                f"{_LEAST_PAUSE:.0f} seconds between two requests."
            )

    @property
    def store(self) -> Path:
        """The DuckDB file."""
        return self.data / "relic.duckdb"

    @property
    def downloads(self) -> Path:
        """Folder of what was fetched from elsewhere."""
        return self.data / "downloads"

    @property
    def sources(self) -> Path:
        """Folder of secondary sources that were uploaded."""
        return self.data / "sources"

    @property
    def jobs(self) -> Path:
        """Folder of jobs and their journals."""
        return self.data / "jobs"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings from environment variables.

        Parameters
        ----------
        environment : mapping of str to str, optional
            In place of ``os.environ``.

        Raises
        ------
        BadRequest
            A number that is no number, or out of range; a folder below the home of a user whom there is not.

        Examples
        --------
        >>> Settings.from_environment({"RELIC_MAX_CLAIM_WORDS": "100"}).max_claim_words
        100
        """
        given = os.environ if environment is None else environment
        default = cls()

        def number(name: str, fallback: float) -> float:
            raw = given.get(name, "").strip()
            try:
                value = float(raw) if raw else fallback
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                raise BadRequest(f"{name} is '{raw}'; it must be a number.")
            return value

        def folder(name: str, raw: str | Path) -> Path:
            try:
                return Path(raw).expanduser().absolute()
            except RuntimeError:
                raise BadRequest(
                    f"{name} is '{raw}', and there is no such home folder here. Write the path in full."
                ) from None

        library = given.get("RELIC_LIBRARY", "").strip()
        benchmarks = given.get("RELIC_BENCHMARKS", "").strip()
        return cls(
            data=folder("RELIC_DATA", given.get("RELIC_DATA") or default.data),
            indexes=folder("RELIC_INDEXES", given.get("RELIC_INDEXES") or default.indexes),
            library=folder("RELIC_LIBRARY", library) if library else None,
            benchmarks=folder("RELIC_BENCHMARKS", benchmarks) if benchmarks else None,
            model=given.get("RELIC_MODEL", "").strip(),
            trained=given.get("RELIC_TRAINED", "").strip(),
            reranker=given.get("RELIC_RERANKER", "").strip(),
            max_text_bytes=int(number("RELIC_MAX_TEXT_BYTES", default.max_text_bytes)),
            max_claim_words=int(number("RELIC_MAX_CLAIM_WORDS", default.max_claim_words)),
            gutenberg=(given.get("RELIC_GUTENBERG", "").strip() or default.gutenberg).rstrip("/"),
            gutenberg_pause=number("RELIC_GUTENBERG_PAUSE", default.gutenberg_pause),
            lock_seconds=number("RELIC_LOCK_SECONDS", default.lock_seconds),
            job_lock_seconds=number("RELIC_JOB_LOCK_SECONDS", default.job_lock_seconds),
            library_memory=number("RELIC_LIBRARY_MEMORY", default.library_memory),
        )

    def to_environment(self) -> dict[str, str]:
        """Write the settings as environment variables, for a process that is to have the same.

        Examples
        --------
        >>> given = Settings(library=Path("/texts"), lock_seconds=0.5)
        >>> Settings.from_environment(given.to_environment()) == given
        True
        """
        return {
            "RELIC_DATA": str(self.data),
            "RELIC_INDEXES": str(self.indexes),
            "RELIC_LIBRARY": "" if self.library is None else str(self.library),
            "RELIC_BENCHMARKS": "" if self.benchmarks is None else str(self.benchmarks),
            "RELIC_MODEL": self.model,
            "RELIC_TRAINED": self.trained,
            "RELIC_RERANKER": self.reranker,
            "RELIC_MAX_TEXT_BYTES": str(self.max_text_bytes),
            "RELIC_MAX_CLAIM_WORDS": str(self.max_claim_words),
            "RELIC_GUTENBERG": self.gutenberg,
            "RELIC_GUTENBERG_PAUSE": str(self.gutenberg_pause),
            "RELIC_LOCK_SECONDS": str(self.lock_seconds),
            "RELIC_JOB_LOCK_SECONDS": str(self.job_lock_seconds),
            "RELIC_LIBRARY_MEMORY": str(self.library_memory),
        }
