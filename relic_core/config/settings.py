"""Settings: frozen, keyword-only, checked when made; read from the environment and from a file."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - the examples of docstrings make one
from typing import TYPE_CHECKING, Any

from relic_core.config import files
from relic_core.config.described import about, descriptions, variable
from relic_core.config.places import PROJECT
from relic_core.config.values import check, from_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST_TEXT = 2_000_000_000
"""In bytes: offsets into a text are kept in 32 bits."""
_NO_SETTINGS = ("RELIC_SHARED",)
"""Variables of ours that are none: where tests find real novels."""

KEPT = "Where things are kept"
MODELS = "Models"
LIMITS = "Limits"
FETCHING = "Fetching books"
PEOPLE = "Signing in"


def _half_of_memory() -> float:
    """Give half of the machine's physical memory, in MB."""
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2_000_000)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where things are kept and how much is allowed.

    Each field is a key of the file and, in capitals behind ``RELIC_``, a variable of the environment. What a setting is
    stands beside it, once: the list of all settings and the example of a file are made from these lines.
    """

    data: Path = field(
        default=PROJECT / "data",
        metadata=about(
            says="Folder of the store, of uploads, jobs and trainings. Back up this one.", group=KEPT, kind="folder",
            usually="data in the project",
            sample='"data"',
        ),
    )  # fmt: skip
    indexes: Path = field(
        default=PROJECT / "indexes",
        metadata=about(
            says="Folder of built indexes, which can always be built again.", group=KEPT, kind="folder",
            usually="indexes in the project",
            sample='"indexes"',
        ),
    )  # fmt: skip
    library: Path | None = field(
        default=None,
        metadata=about(
            says="Folder of text files that the Library offers for adding.", group=KEPT, kind="folder",
            usually="none", sample='"/srv/texts"',
        ),
    )  # fmt: skip
    benchmarks: Path | None = field(
        default=None,
        metadata=about(
            says="Folder of benchmark data that do not come with the program: birco_relic/, relic/.", group=KEPT,
            kind="folder", usually="none", sample='"/srv/benchmarks"',
        ),
    )  # fmt: skip
    model: str = field(
        default="",
        metadata=about(
            says="The encoder that is used as it is: a folder, a name in Hugging Face's local cache, or a card.",
            group=MODELS, kind="text", usually="all-MiniLM-L6-v2, which comes with the installation",
        ),
    )  # fmt: skip
    trained: str = field(
        default="",
        metadata=about(
            says="The trained encoder, dense-RELiC: as the encoder above.", group=MODELS, kind="text",
            usually="the one chosen on the page Training, else the one that comes with the program",
        ),
    )  # fmt: skip
    reranker: str = field(
        default="",
        metadata=about(
            says="The reranker: its folder, or likelihood: and a model (docs/reranking.md).", group=MODELS, kind="text",
            usually="the one chosen on the page Training, else the one that comes with the program",
        ),
    )  # fmt: skip
    max_text_bytes: int = field(
        default=20_000_000,
        metadata=about(
            says="Largest file accepted as a work, in bytes, however it is added.", group=LIMITS, kind="whole number",
            most=_LARGEST_TEXT, advice="Split longer texts into volumes.",
        ),
    )  # fmt: skip
    max_upload_bytes: int = field(
        default=300_000_000,
        metadata=about(
            says="Largest upload of secondary sources, a text or a .zip, in bytes; what is larger is named by its "
            "path. server.maxUploadSize in .streamlit/config.toml should be the same, in MB.",
            group=LIMITS, kind="whole number", most=_LARGEST_TEXT, advice="Name larger archives by their path.",
        ),
    )  # fmt: skip
    max_claim_words: int = field(
        default=2_000,
        metadata=about(says="Longest claim accepted, in words.", group=LIMITS, kind="whole number"),
    )
    lock_seconds: float = field(
        default=8.0,
        metadata=about(
            says="How long to wait for a store that another process holds, in seconds.", group=LIMITS, kind="number"
        ),
    )
    job_lock_seconds: float = field(
        default=600.0,
        metadata=about(
            says="How long a job or a training, which nobody sits before, waits for it, in seconds.", group=LIMITS,
            kind="number",
        ),
    )  # fmt: skip
    library_memory: float = field(
        default_factory=_half_of_memory,
        metadata=about(
            says="How large the indexes of all works searched may be together, in MB, for a search by meaning to "
            "compare every passage; above it an approximate index is used.",
            group=LIMITS, kind="number", usually="half of the machine's memory",
            sample="8_000",
        ),
    )  # fmt: skip
    gutenberg: str = field(
        default="https://gutenberg.pglaf.org",
        metadata=about(
            says="Address of the mirror of Project Gutenberg that books are fetched from.", group=FETCHING, kind="text"
        ),
    )
    gutenberg_pause: float = field(
        default=2.0,
        metadata=about(
            says="Seconds between two requests to it: 2 or more, as Project Gutenberg asks of programs, but for a "
            "mirror on this machine.",
            group=FETCHING, kind="number", zero=True,
        ),
    )  # fmt: skip
    sign_in_allow: tuple[str, ...] = field(
        default=(),
        metadata=about(
            says="Who may use the app after signing in: addresses (ada@example.org) and whole domains (example.org). "
            "Where it names anybody, nobody gets in without signing in (docs/operating.md).",
            group=PEOPLE, kind="list", usually="everyone whom the provider signs in, where one is set up",
            sample='["ada@example.org", "example.edu"]',
        ),
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Check the numbers, the mirror and the list of people."""
        check(self.as_mapping(), descriptions(Settings), variable)

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

    def as_mapping(self) -> dict[str, object]:
        """Give every setting by its name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings: the environment stands over the file, the file over what is usual.

        - `environment`: in place of ``os.environ``; then a file is read only where ``RELIC_CONFIG`` in it names one.

        Raises BadRequest: a number that is no number, or out of range; a folder below the home of a user whom there is
        not; a variable or key that is no setting; a file that cannot be read.

        >>> Settings.from_environment({"RELIC_MAX_CLAIM_WORDS": "100"}).max_claim_words
        100
        """
        values, _ = cls.read(environment)
        return cls(**values)

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
        """Read what is set, and say where: the values by name, and for each its variable, or its key and file.

        Parameters and errors as for `from_environment`.
        """
        given = os.environ if environment is None else environment
        described = descriptions(cls)
        files.unknown_variables(given, described, _NO_SETTINGS)
        path = None if environment is not None and files.NAMED_BY not in environment else files.find(given)
        values = {} if path is None else files.read(path, described)
        where = {} if path is None else {name: files.where(name, path) for name in values}
        for name, each in described.items():
            raw = given.get(variable(name), "").strip()
            if raw:
                values[name] = from_text(each, raw, variable(name))
                where[name] = variable(name)
        if "gutenberg" in values:
            values["gutenberg"] = str(values["gutenberg"]).rstrip("/")
        if "sign_in_allow" in values:
            values["sign_in_allow"] = _told_apart(values["sign_in_allow"])
        usual = {name: value for name, value in cls().as_mapping().items() if name not in values}
        check(usual | values, described, lambda name: where.get(name) or variable(name))
        return values, where

    def to_environment(self) -> dict[str, str]:
        """Write the settings as environment variables, for a process that is to have the same and read no file.

        >>> given = Settings(library=Path("/texts"), lock_seconds=0.5, sign_in_allow=("ada@example.org", "b.org"))
        >>> Settings.from_environment(given.to_environment()) == given
        True
        """
        written = {variable(name): _as_text(value) for name, value in self.as_mapping().items()}
        return {**written, files.NAMED_BY: os.devnull}


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _told_apart(people: object) -> tuple[str, ...]:
    """Write addresses in small letters, each once, in their order."""
    given = people if isinstance(people, tuple) else ()
    return tuple(dict.fromkeys(str(each).lower().removeprefix("@") for each in given))
