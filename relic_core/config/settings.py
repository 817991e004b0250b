"""Settings: frozen, checked when made, read from ``RELIC_*`` in the environment and from ``relic.toml``.

What a setting is stands once, beside its field: reading, the list of all settings and the example of a file go by it.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from annotated_types import Ge, Gt, Le
from platformdirs import user_data_path
from pydantic import AllowInfNan, BeforeValidator, TypeAdapter, ValidationError

from relic_core.errors import BadRequest
from relic_core.installed import COMMAND, INSTALLED

PROJECT = Path(__file__).resolve().parent.parent.parent
"""The checkout, or the folder of packages that the program is installed in."""
ASSETS = PROJECT / "relic_core" / "assets"
APP = PROJECT / ("relic_ui/_app" if INSTALLED else "") / "app.py"
HOME = user_data_path("relic-workbench", appauthor=False) if INSTALLED else PROJECT
"""Where things are kept unless a setting says otherwise: in a checkout, or where the system keeps people's data."""

FILE = "relic.toml"
NAMED_BY = "RELIC_CONFIG"
DEFAULT = "default"
THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}

READER_KEY = "RELIC_READER_KEY"
"""Variable of the key to a model's server: read where it is used, so that no file, page or process list shows it."""
_NO_SETTINGS = ("RELIC_SHARED", READER_KEY)
"""Variables of ours that are none: where tests find real novels, and the key."""
_LARGEST_TEXT = 2_000_000_000
"""In bytes: offsets into a text are kept in 32 bits."""
_LEAST_PAUSE = 2.0
"""In seconds: what Project Gutenberg asks of programs."""
_PERSON = re.compile(r"[^@\s,]*@?[^@\s,]+\.[^@\s,.]+|[^@\s,]*@localhost")
"""An address, or a domain with or without its ``@``."""
_WIDTH = 98
_CHOICE = "yes or no"

KEPT, MODELS, LIMITS = "Where things are kept", "Models", "Limits"
MACHINES = "More than one machine (docs/cluster.md)"
FETCHING, PEOPLE = "Fetching books", "Signing in"
READING = "Reading by a language model (docs/reading_by_model.md)"


@dataclass(frozen=True, slots=True)
class About:
    """What a setting is, for the person who runs the program.

    - `unset`: its value where it is not set, in words, where the value itself would say little.
    - `sample`: a value to show in an example, as TOML writes it, where none is set by default.
    - `advice`: what to do where a number is too large.
    """

    group: str
    says: str
    unset: str = ""
    sample: str = ""
    advice: str = ""


def _whole(given: object) -> object:
    """Take "2e6" and 2e6 for a whole number; refuse true."""
    number = float(given) if isinstance(given, str) else given
    if isinstance(number, bool):
        raise ValueError("true is not a number")  # noqa: TRY004 - what pydantic takes
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _number(given: object) -> object:
    if isinstance(given, bool):
        raise ValueError("true is not a number")  # noqa: TRY004 - what pydantic takes
    return given


def _list(given: object) -> object:
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, list | tuple):
        return given
    stripped = (part.strip() if isinstance(part, str) else part for part in parts)
    return tuple(part for part in stripped if part != "")


Whole = Annotated[int, BeforeValidator(_whole), Gt(0)]
Number = Annotated[float, BeforeValidator(_number), AllowInfNan(allow_inf_nan=False)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_list)]
Folders = Annotated[tuple[Path, ...], BeforeValidator(_list)]


def _half_of_memory() -> float:
    """Give half of the machine's physical memory, in MB."""
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2_000_000)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where things are kept and how much is allowed.

    Each field is a key of the file and, in capitals behind ``RELIC_``, a variable of the environment.

    Raises BadRequest: a value is not of its kind or out of range.
    """

    data: Annotated[
        Path,
        About(KEPT, "Folder of the store, of uploads, jobs and trainings. Back up this one.",
              "data in the project, or among your own data where it is installed", '"data"'),
    ] = HOME / "data"  # fmt: skip
    indexes: Annotated[
        Path,
        About(KEPT, "Folder of built indexes, which can always be built again.", "indexes beside data", '"indexes"'),
    ] = HOME / "indexes"
    library: Annotated[
        Path | None,
        About(KEPT, "Folder of text files that the Library offers for adding.", "none", '"/srv/texts"'),
    ] = None
    read_from: Annotated[
        Folders,
        About(KEPT, "Folders beside that of library from which texts, criticism and models may be read by their path.",
              "any folder; where people sign in, the library's alone", '["/srv/criticism"]'),
    ] = ()  # fmt: skip
    benchmarks: Annotated[
        Path | None,
        About(KEPT, "Folder of benchmark data that do not come with the program: birco_relic/, relic/.",
              "none", '"/srv/benchmarks"'),
    ] = None  # fmt: skip
    model: Annotated[
        str,
        About(MODELS, "The encoder that is used as it is: a folder, a name in Hugging Face's local cache, or a card.",
              "all-MiniLM-L6-v2, which comes with the installation"),
    ] = ""  # fmt: skip
    trained: Annotated[
        str,
        About(MODELS, "The trained encoder, dense-RELiC: as the encoder above.",
              "the one chosen on the page Training, else the one that comes with the program"),
    ] = ""  # fmt: skip
    late: Annotated[
        str,
        About(MODELS, "The encoder of late interaction, which compares word by word: as the encoder above, or a folder "
              "of a ColBERT, or of PyLate.", "that of dense-RELiC"),
    ] = ""  # fmt: skip
    sparse: Annotated[
        str,
        About(MODELS, "The SPLADE of the retriever splade: a folder, or a name in Hugging Face's local cache.",
              "none, and nothing is searched by it", '"~/models/splade"'),
    ] = ""  # fmt: skip
    late_top_k: Annotated[
        Whole, About(MODELS, "How many passages of the combined ranking late interaction puts in order.")
    ] = 1_000
    reranker: Annotated[
        str,
        About(MODELS, "The reranker: a folder, or cross:, t5:, rankllama:, causal: or likelihood:"
              " and one (docs/reranking.md).",
              "the one chosen on the page Training, else the one that comes with the program"),
    ] = ""  # fmt: skip
    fetch_larger: Annotated[
        Literal["yes", "no"],
        About(MODELS, "Whether the app fetches the larger model by itself (0.4 GB) once its first page has opened, and "
              "searches with it from then on: yes or no. Where people sign in it never does."),
    ] = "yes"  # fmt: skip
    max_text_bytes: Annotated[
        Whole, Le(_LARGEST_TEXT),
        About(LIMITS, "Largest file accepted as a work, in bytes, however it is added.",
              advice="Split longer texts into volumes."),
    ] = 20_000_000  # fmt: skip
    max_upload_bytes: Annotated[
        Whole, Le(_LARGEST_TEXT),
        About(LIMITS, "Largest upload of secondary sources, a text or a .zip, in bytes; what is larger is named by its "
              "path. server.maxUploadSize in .streamlit/config.toml should be the same, in MB.",
              advice="Name larger archives by their path."),
    ] = 300_000_000  # fmt: skip
    max_claim_words: Annotated[Whole, About(LIMITS, "Longest claim accepted, in words.")] = 2_000
    lock_seconds: Annotated[
        Number, Gt(0), About(LIMITS, "How long to wait for a store that another process holds, in seconds.")
    ] = 8.0
    job_lock_seconds: Annotated[
        Number, Gt(0),
        About(LIMITS, "How long a job or a training, which nobody sits before, waits for it, in seconds."),
    ] = 600.0  # fmt: skip
    library_memory: Annotated[
        Number, Gt(0),
        About(LIMITS, "How large the indexes of all works searched may be together, in MB, for a search by meaning to "
              "compare every passage; above it an approximate index is used.", "half of the machine's memory", "8_000"),
    ] = field(default_factory=_half_of_memory)  # fmt: skip
    engine: Annotated[
        str,
        About(MACHINES, "What shares long work: the scheduler of a cluster of Dask, or local for a cluster on this "
              "machine.", "none: this process, and for mining a process for each processor", '"dask://head:8786"'),
    ] = ""  # fmt: skip
    gutenberg: Annotated[
        str, About(FETCHING, "Address of the mirror of Project Gutenberg that books are fetched from.")
    ] = "https://gutenberg.pglaf.org"
    gutenberg_pause: Annotated[
        Number, Ge(0),
        About(FETCHING, "Seconds between two requests to it: 2 or more, as Project Gutenberg asks of programs, but for "
              "a mirror on this machine."),
    ] = 2.0  # fmt: skip
    reader: Annotated[
        str,
        About(READING, "Address of a server that speaks the OpenAI chat-completions protocol. The key, if it wants "
              f"one, is read from {READER_KEY} alone.", "none, and no model is asked", '"http://localhost:11434/v1"'),
    ] = ""  # fmt: skip
    reader_model: Annotated[str, About(READING, "The model to ask, as the server calls it.", "none", '"qwen3:8b"')] = ""
    reader_allow: Annotated[
        str,
        About(READING, "The one other machine that claims and passages may be sent to, by its name. A server on this "
              "machine needs no leave.", "none", '"api.example.org"'),
    ] = ""  # fmt: skip
    reader_passages: Annotated[Whole, About(READING, "How many passages of a ranking the model reads.")] = 50
    reader_context: Annotated[Whole, About(READING, "How much the model can read at once, in tokens.")] = 8_192
    reader_at_once: Annotated[Whole, Le(64), About(READING, "Requests under way at once.")] = 4
    reader_seconds: Annotated[Number, Gt(0), About(READING, "How long to wait for an answer, in seconds.")] = 60.0
    reader_search_tokens: Annotated[
        Whole, About(READING, "Most tokens, sent and received, that one column of a search may use.")
    ] = 200_000
    reader_run_tokens: Annotated[Whole, About(READING, "Most tokens that one measuring (evaluate) may use.")] = (
        5_000_000
    )
    reader_price: Annotated[
        Number, Ge(0), About(READING, "Price of a million tokens, sent or received; 0 where nothing is paid.")
    ] = 0.0
    sign_in_allow: Annotated[
        Texts,
        About(PEOPLE, "Who may use the app after signing in: addresses (ada@example.org) and whole domains "
              "(example.org). Where it names anybody, nobody gets in without signing in (docs/operating.md).",
              "everyone whom the provider signs in, where one is set up", '["ada@example.org", "example.edu"]'),
    ] = ()  # fmt: skip

    def __post_init__(self) -> None:
        values = self.as_mapping()
        for name, value in values.items():
            _checked(name, value, variable(name))
        _check_together(values, {})

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

    def for_workers(self) -> Settings:
        """Give what a worker of a cluster must know: the models and the folder of indexes; nothing of people."""
        return Settings(
            indexes=self.indexes.absolute(),
            model=self.model,
            trained=self.trained,
            late=self.late,
            sparse=self.sparse,
            late_top_k=self.late_top_k,
            reranker=self.reranker,
            library_memory=self.library_memory,
        )

    def as_mapping(self) -> dict[str, Any]:
        """Give every setting by its name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings: the environment stands over the file, the file over the defaults.

        - `environment`: in place of ``os.environ``; then a file is read only where ``RELIC_CONFIG`` in it names one.

        >>> Settings.from_environment({"RELIC_MAX_CLAIM_WORDS": "100"}).max_claim_words
        100
        """
        values, _ = cls.read(environment)
        return cls(**values)

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
        """Read what is set, and say where: the values by name, and for each its variable, or its key and file."""
        given = os.environ if environment is None else environment
        _refuse_unknown_variables(given)
        path = None if environment is not None and NAMED_BY not in environment else find_file(given)
        values = {} if path is None else _read_file(path)
        where = {} if path is None else {name: f"{name} in {path}" for name in values}
        for name in _abouts():
            if raw := given.get(variable(name), "").strip():
                where[name] = variable(name)
                values[name] = _checked(name, raw, where[name], folder=Path())
        if "gutenberg" in values:
            values["gutenberg"] = values["gutenberg"].rstrip("/")
        if "sign_in_allow" in values:
            values["sign_in_allow"] = tuple(
                dict.fromkeys(each.lower().removeprefix("@") for each in values["sign_in_allow"])
            )
        _check_together(cls().as_mapping() | values, where)
        return values, where

    def to_environment(self) -> dict[str, str]:
        """Write the settings as environment variables, for a process that is to have the same and read no file.

        >>> given = Settings(library=Path("/texts"), lock_seconds=0.5, sign_in_allow=("ada@example.org", "b.org"))
        >>> Settings.from_environment(given.to_environment()) == given
        True
        """
        written = {variable(name): _as_text(value) for name, value in self.as_mapping().items()}
        return {**written, NAMED_BY: os.devnull}


def variable(name: str) -> str:
    """Name the environment variable of a setting.

    >>> variable("lock_seconds")
    'RELIC_LOCK_SECONDS'
    """
    return f"RELIC_{name.upper()}"


def find_file(environment: Mapping[str, str], folder: Path = HOME) -> Path | None:
    """Say which file of settings is read, if any: the one that ``RELIC_CONFIG`` names, else the one beside `data`."""
    named = environment.get(NAMED_BY, "").strip()
    if not named:
        return folder / FILE if (folder / FILE).is_file() else None
    path, there = _folder(named, NAMED_BY, Path()), False
    with contextlib.suppress(OSError):  # a name too long for any file
        there = path.exists() and not path.is_dir()
    if not there:
        raise BadRequest(f"{NAMED_BY} is '{named}', and there is no such file. Name a file of settings, or unset it.")
    return path


@dataclass(frozen=True, slots=True)
class Stated:
    """A setting as it stands: its value in words, and the variable, or the key and file, that it comes from."""

    name: str
    value: str
    comes_from: str


def stated(environment: Mapping[str, str] | None = None) -> list[Stated]:
    """List every setting with its value and where it comes from. Raises as `Settings.from_environment`.

    >>> [each.comes_from for each in stated({"RELIC_LOCK_SECONDS": "2"}) if each.name.startswith(("lock", "max_c"))]
    ['default', 'RELIC_LOCK_SECONDS']
    """
    values, where = Settings.read(environment)
    settings = Settings(**values)
    return [
        Stated(name, _in_words(getattr(settings, name), about), where.get(name, DEFAULT))
        for name, about in _abouts().items()
    ]


def as_file(settings: Settings) -> str:
    r"""Write settings as a file: those that are not the defaults.

    >>> as_file(Settings(lock_seconds=2.5, sign_in_allow=("example.org",)))
    'lock_seconds = 2.5\nsign_in_allow = ["example.org"]\n'
    """
    defaults = Settings().as_mapping()
    changed = {name: value for name, value in settings.as_mapping().items() if value != defaults[name]}
    return "".join(f"{name} = {_toml(value)}\n" for name, value in changed.items())


def example() -> str:
    """Write a file of settings in which everything is commented out, with what each setting is."""
    return "\n".join(_example_lines()) + "\n"


def _example_lines() -> Iterator[str]:
    yield "# Settings of RELiC Workbench. Kept as relic.toml beside data, or elsewhere, named by RELIC_CONFIG."
    yield "# A line takes effect without its #. What the environment sets stands over this file: RELIC_LOCK_SECONDS for"
    yield "# lock_seconds, and so on. Paths are relative to the folder of this file."
    yield f"# `{COMMAND} settings` shows what is in force. Start the app anew after a change."
    defaults, group = Settings().as_mapping(), ""
    for name, about in _abouts().items():
        if about.group != group:
            group = about.group
            yield f"\n# ---- {group} {'-' * (_WIDTH - len(group))}"
        yield ""
        says = f"{about.says} If not set: {about.unset}." if about.unset else about.says
        yield from textwrap.wrap(says, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
        yield f"# {name} = {about.sample or _toml(defaults[name])}"


@cache
def _hints() -> dict[str, Any]:
    return get_type_hints(Settings, include_extras=True)


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_hints()[name])


@cache
def _abouts() -> dict[str, About]:
    return {name: next(each for each in get_args(hint) if isinstance(each, About)) for name, hint in _hints().items()}


def _allowed(name: str) -> str:
    kind, *rest = get_args(_hints()[name])
    if get_origin(kind) is Literal:
        return _CHOICE
    if kind in {str, tuple[str, ...]}:
        return "a text" if kind is str else "a list of texts"
    if kind == tuple[Path, ...]:
        return "a list of folders"
    if kind not in {int, float}:
        return "the path of a folder"
    lower = "of 0 or more" if Ge(0) in rest else "greater than 0"
    upper = next((f" and at most {each.le:,.0f}" for each in rest if isinstance(each, Le)), "")
    return f"a {'whole ' * (kind is int)}number {lower}{upper}"


def _checked(name: str, value: Any, where: str, *, folder: Path | None = None) -> Any:  # noqa: ANN401 - of any setting
    """Give a value of a setting as its type has it; `folder` is what a path in a text is relative to."""
    if folder is not None and isinstance(value, str):
        is_folder = _allowed(name) == "the path of a folder"
        value = _folder(value, where, folder) if is_folder and value.strip() else value.strip()
    try:
        found = _adapter(name).validate_python(value)
        if folder is not None and _allowed(name) == "a list of folders":
            return tuple(_folder(str(each), where, folder) for each in found)
        return found  # noqa: TRY300 - what it raises is handled below
    except ValidationError as error:
        large = error.errors()[0]["type"] == "less_than_equal"
        advice = f" {_abouts()[name].advice}" if large else ""
        raise BadRequest(f"{where} is {_as_written(value)}; it must be {_allowed(name)}.{advice}") from None


def _check_together(values: Mapping[str, Any], where: Mapping[str, str]) -> None:
    """Check the mirror and its pause, which belong together, and the list of people."""
    address, pause = values["gutenberg"], values["gutenberg_pause"]
    mirror = urlsplit(address)
    if mirror.scheme not in {"http", "https"} or not mirror.hostname:
        raise BadRequest(
            f"{where.get('gutenberg') or variable('gutenberg')} is '{address}'; it must be the address of a mirror, "
            "https://gutenberg.pglaf.org for example."
        )
    if pause < _LEAST_PAUSE and mirror.hostname not in THIS_MACHINE:
        raise BadRequest(
            f"{where.get('gutenberg_pause') or variable('gutenberg_pause')} is {pause}; Project Gutenberg asks "
            f"programs to leave at least {_LEAST_PAUSE:.0f} seconds between two requests."
        )
    if address := values["reader"]:
        server = urlsplit(address)
        if (
            server.scheme not in {"http", "https"}
            or not server.hostname
            or "@" in server.netloc
            or server.query
            or server.fragment
        ):
            raise BadRequest(
                f"{where.get('reader') or variable('reader')} must be the address of a server with nothing secret in "
                f"it, http://localhost:11434/v1 for example; a key belongs into {READER_KEY}."
            )
    for each in values["sign_in_allow"]:
        if not _PERSON.fullmatch(each):
            raise BadRequest(
                f"{where.get('sign_in_allow') or variable('sign_in_allow')} has '{each}'; every entry must be an "
                "address (ada@example.org) or a domain (example.org)."
            )


def _read_file(path: Path) -> dict[str, Any]:
    """Read a file of settings. A text of no length sets nothing."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadRequest(f"The file of settings {path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise BadRequest(f"The file of settings {path} is not in UTF-8. Save it as UTF-8 and try again.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(
            f"The file of settings {path} is no TOML: {error}. `python -m relic_core settings --example` writes one "
            "that is."
        ) from error
    names = _abouts()
    for key in found:
        if key not in names:
            bare = key.lower().removeprefix("relic_")
            raise BadRequest(
                f"{path} sets {key}, which is not a setting.{_near(bare, names)} Known: {', '.join(names)}."
            )
    texts = {name for name in names if _allowed(name) in {"a text", "the path of a folder", _CHOICE}}
    values = {}
    for name, value in found.items():
        if name not in texts or value != "":
            where = f"{name} in {path}"
            if isinstance(value, str) and name not in texts:  # numbers and lists have a form of their own in TOML
                raise BadRequest(f"{where} is '{value}'; it must be {_allowed(name)}.")
            values[name] = _checked(name, value, where, folder=path.parent)
    return values


def _refuse_unknown_variables(environment: Iterable[str]) -> None:
    """Refuse variables ``RELIC_*`` that are not settings: a slip of the pen must not go unnoticed."""
    known = {*map(variable, _abouts()), NAMED_BY, *_NO_SETTINGS}
    for given in sorted(environment):
        if given.startswith("RELIC_") and given not in known:
            raise BadRequest(
                f"The environment sets {given}, which is not a setting.{_near(given, known)} `python -m relic_core "
                "settings` lists all."
            )


def _near(given: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    return f" Did you mean {near[0]}?" if near else ""


def _folder(raw: str, where: str, base: Path) -> Path:
    if "\0" in raw:
        raise BadRequest(f"{where} holds a null character, which no path can. Write it anew.")
    try:
        return (base / Path(raw.strip()).expanduser()).absolute()
    except RuntimeError:
        raise BadRequest(
            f"{where} is '{raw}', and there is no such home folder here. Write the path in full."
        ) from None


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _as_written(value: object) -> str:
    """Write a value as a reader finds it in the file: 'many', true, 3,000,000,000."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"'{value}'" if isinstance(value, str) else str(value)[:200]


def _toml(value: object) -> str:
    match value:
        case Path() | str():
            return json.dumps(str(value), ensure_ascii=False)  # TOML writes such texts as JSON does
        case tuple():
            return json.dumps([str(each) for each in value], ensure_ascii=False)
        case int():
            return f"{value:_}"
        case _:
            return str(value)


def _in_words(value: object, about: About) -> str:
    match value:
        case None | "" | ():
            return about.unset or "none"
        case tuple():
            return ", ".join(map(str, value))
        case int() | float():
            return f"{value:,.10g}"
        case _:
            return str(value)
