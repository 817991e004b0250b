r"""The report of the paper's prompts as a file of JSON; that which comes with the program is one.

::

    {
     "format": "relic prompts/1",
     "sha256": "…",                       over everything else in the file
     "created": "…", "code": "…", "shape": "1/0", "seeds": [1, 2],
     "works": [{"slug": "frankenstein", "title": "…", "author": "…", "sha256": "…", "segmenter": "…"}, …],
     "retrievers": [{"name": "bm25", "label": "BM25", "encoder": "", "configuration": {…}}, …],
     "prompts": [{"table": "6", "claim": "…", "asked": "…", "work": "frankenstein", "length": 1,
       "passages": {"p3f…": {"address": "3.5.2", "start": 812, "length": 1, "characters": [81230, 81370],
                             "verdicts": ["supports", "partly"]}, …},
       "hits": {"bm25": ["p3f…", …], …}}, …],
     "left_out": [{"table": "6", "title": "…", "author": "…", "length": 1, "why": "…"}]
    }

Sentences are counted from 0 in the edition whose text has the sha256 of the work; hits are ids of passages, best first.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from relic_core.config import ASSETS
from relic_core.errors import BadBenchmark, NotFound
from relic_core.formats.files import as_object, parse, read_text, written_whole
from tools.prompts.report import Asked, Edition, Judged, Report, Reported
from tools.prompts.sheets import READERS, VERDICTS

if TYPE_CHECKING:
    from pathlib import Path

REPORT = ASSETS / "prompts.json"
"""The report that comes with the program."""

FORMAT = "relic prompts/1"
"""Name and version of the format: a file of another version is refused."""


def write_report(path: Path, report: Report) -> None:
    """Write a report whole or not at all.

    Raises StoreError: the file cannot be written.
    """
    content = {**asdict(report), "created": report.created.isoformat()}
    whole = {"format": FORMAT, "sha256": _digest(content), **content}
    with written_whole(path) as file:
        file.write(f"{json.dumps(whole, indent=1, ensure_ascii=False)}\n".encode())


def read_report(path: Path) -> Report:
    """Read a report and check it.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is no report, was changed by hand, or is of a version that this program does not know.
    """
    content = as_object(parse(read_text(path), str(path)), str(path))
    if content.pop("format", None) != FORMAT:
        raise BadBenchmark(f"{path} is no report of this program's prompts in the format '{FORMAT}'. Make it anew.")
    if content.pop("sha256", None) != _digest(content):
        raise _damaged(path, "its content is not what its sha256 says")
    try:
        return _report_of(content)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise _damaged(path, str(error)) from None


def shipped() -> Report:
    """Read the report that comes with the program.

    Raises NotFound: none has been made yet.
    Raises BadBenchmark: as `read_report`.
    """
    if not REPORT.is_file():
        raise NotFound(
            "No report of the prompts comes with this version of the program. docs/prompts.md says how one is made."
        )
    return read_report(REPORT)


def _report_of(content: dict[str, Any]) -> Report:
    prompts = []
    for each in content.pop("prompts"):
        passages = {id_: _judged(said) for id_, said in each.pop("passages").items()}
        hits = {name: tuple(ids) for name, ids in each.pop("hits").items()}
        if unknown := {id_ for ids in hits.values() for id_ in ids} - set(passages):
            raise ValueError(f"the hits {', '.join(sorted(unknown))} have no place")
        prompts.append(Reported(**each, passages=passages, hits=hits))
    return Report(
        created=datetime.fromisoformat(content.pop("created")),
        seeds=tuple(content.pop("seeds")),
        works=tuple(Edition(**each) for each in content.pop("works")),
        retrievers=tuple(Asked(**each) for each in content.pop("retrievers")),
        prompts=tuple(prompts),
        left_out=tuple(content.pop("left_out")),
        **content,
    )


def _judged(said: dict[str, Any]) -> Judged:
    start, end = said.pop("characters")
    verdicts = tuple(said.pop("verdicts"))
    if len(verdicts) != READERS or not set(verdicts) <= set(VERDICTS):
        raise ValueError(f"{READERS} verdicts of {', '.join(VERDICTS)} are wanted, and {verdicts} stand there")
    return Judged(**said, characters=(start, end), verdicts=verdicts)


def _damaged(path: Path, what: str) -> BadBenchmark:
    return BadBenchmark(f"{path} cannot be used as a report: {what:.300}. Take it anew from where it came, or make it.")


def _digest(content: dict[str, Any]) -> str:
    compact = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(compact.encode()).hexdigest()
