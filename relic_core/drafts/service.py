"""Drafts: checked here and now or in a job, and kept only if their writer says so."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from relic_core.domain import CitedWork, Job
from relic_core.domain.drafts import ChosenPassage, Draft, DraftReport, QuotationCheck
from relic_core.drafts import reading, report
from relic_core.drafts.checking import MOST_WORDS, Checker, Library, found_place, refuse_long
from relic_core.drafts.critics import Critics
from relic_core.errors import BadRequest, NotFound
from relic_core.formats.files import record_in, record_of, records_in_lines, write_whole
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.ports import Progress, silent
from relic_core.services.works import Works

T = TypeVar("T")

ENDINGS, LONGEST = reading.ENDINGS, MOST_WORDS
read_draft = reading.read_draft
_ID = re.compile(r"[0-9a-f]{32}")
_DAY = 86_400.0
"""Seconds after which a draft that nobody kept is deleted, when the next one is checked or the list is looked at."""
_DRAFT, _KEPT, _CHECKS, _REPORT = "draft.json", "kept", "checks.jsonl", "report.json"
_OWNER, _ORIGINAL, _CHOSEN = "owner", "original", "chosen.json"
_CHECK, _WHOLE = TypeAdapter(QuotationCheck), TypeAdapter(DraftReport)
_PASSAGES = TypeAdapter(tuple[ChosenPassage, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDraft:
    """A draft that was given to be checked, as far as its check has come; `original` is its file, where it had one."""

    id: str
    report: DraftReport
    done: bool
    kept: bool
    original: Path | None


class Drafts:
    """Checks drafts against the library. Each has a folder, named by chance, of which only its writer knows."""

    def __init__(
        self,
        folder: Path,
        works: Works,
        quoted: Callable[[Progress], QuotedWorks | None],
        cited: Callable[[Collection[str]], dict[str, CitedWork]],
        critics: Critics,
        start_job: Callable[..., Job],
    ) -> None:
        self._folder, self._works, self._quoted, self._cited = folder, works, quoted, cited
        self._critics, self._start_job = critics, start_job

    def check(
        self, draft: Draft, progress: Progress = silent, seen: Callable[[QuotationCheck], object] = lambda _: None
    ) -> DraftReport:
        """Check a draft here and now; `seen` gets each check as it is made.

        Raises BadRequest: there is no work to look in. Raises BadText: it is too long, or a work.
        """
        refuse_long(draft)  # before the works are read
        progress(0, 1, "Reading the draft")
        checker = self._checker(draft, progress)
        checks, total = [], len(checker.quotations)
        for check in checker.check():
            checks.append(check)
            seen(check)
            progress(len(checks), total, f"{len(checks):,} of {total:,} quotations")
        searched = len(self._works.summaries())
        return DraftReport(
            draft=draft,
            checks=_in_order(checks),
            searched=searched,
            unquoted=checker.unquoted(checks),
            notices=checker.notices(checks),
        )

    def _checker(self, draft: Draft, progress: Progress) -> Checker:
        quoted = self._quoted(progress)
        if quoted is None:
            raise BadRequest("There is no work to check quotations against. Add works in the Library.")
        summaries = self._works.summaries()
        cited = self._cited([work.id for work in summaries])
        return Checker(draft, Library(quoted, summaries, self._works.load, cited, self._critics))

    def start(self, draft: Draft, owner: str = "", original: bytes = b"") -> str:
        """Start a job that checks a draft; gives the id under which the draft is found. Raises BadText: too long."""
        refuse_long(draft)
        self._sweep()
        draft_id = secrets.token_hex(16)
        folder = self._folder / draft_id
        folder.mkdir(parents=True, mode=0o700)
        if original:
            write_whole(folder / _ORIGINAL, original)
        write_whole(folder / _OWNER, owner)
        write_whole(folder / _DRAFT, json.dumps(asdict(draft)))
        self._start_job("check", title="Checking a draft", subject=draft_id, arguments={"draft": draft_id})
        return draft_id

    def run_job(self, arguments: dict[str, Any], progress: Progress) -> str:
        """Do a "check" job, whose checks can be seen as they are made."""
        folder = self._folder / str(arguments["draft"])
        if not folder.is_dir():
            raise NotFound("The draft was deleted before it was checked.")
        with (folder / _CHECKS).open("w", encoding="utf-8", buffering=1) as lines:
            found = self.check(
                _read(Draft, folder / _DRAFT),
                progress,
                lambda check: lines.write(f"{_CHECK.dump_json(check).decode()}\n"),
            )
        write_whole(folder / _REPORT, _WHOLE.dump_json(found))
        return "Checked."  # jobs are listed for everybody

    def get(self, draft_id: str, owner: str = "") -> StoredDraft:
        """Give a draft and the checks made so far. Raises NotFound: it is not there, or somebody else's."""
        folder = self._path(draft_id, owner)
        done = (folder / _REPORT).is_file()
        if done:
            found = _read(DraftReport, folder / _REPORT)
        else:
            checks = filter(None, records_in_lines(folder / _CHECKS, partial(record_of, QuotationCheck)))
            found = DraftReport(draft=_read(Draft, folder / _DRAFT), checks=_in_order(checks), searched=0)
        found = replace(found, chosen=_chosen_of(folder))
        original = folder / _ORIGINAL
        return StoredDraft(
            id=draft_id,
            report=found,
            done=done,
            kept=(folder / _KEPT).is_file(),
            original=original if original.is_file() else None,
        )

    def choose(
        self, draft_id: str, start: int, work_id: str, at: str, length: int, owner: str = "", *, there: bool = True
    ) -> None:
        """Put a passage at a place of a draft; where not `there`, take it away.

        - `start`: where the paragraph or the quotation begins that it serves.
        """
        folder, work = self._path(draft_id, owner), self._works.load(work_id)
        passage = ChosenPassage(start, found_place(work, self._cited([work_id])[work_id], work.span_at(at, length)))
        others = tuple(each for each in _chosen_of(folder) if each != passage)
        write_whole(folder / _CHOSEN, _PASSAGES.dump_json((*others, passage) if there else others))

    def keep(self, draft_id: str, owner: str = "") -> None:
        """Keep a draft until its writer deletes it."""
        write_whole(self._path(draft_id, owner) / _KEPT, "")

    def delete(self, draft_id: str, owner: str = "") -> None:
        """Delete a draft and all that was found, for good."""
        shutil.rmtree(self._path(draft_id, owner))

    def kept(self, owner: str = "") -> tuple[StoredDraft, ...]:
        """List the drafts that a writer keeps, the latest first."""
        self._sweep()
        found = sorted(self._folder.glob(f"*/{_KEPT}"), key=lambda path: -path.stat().st_mtime)
        drafts = []
        for path in found:
            with suppress(NotFound):
                drafts.append(self.get(path.parent.name, owner))
        return tuple(drafts)

    def save(self, found: DraftReport, path: Path, original: bytes = b"", style: str = "mla") -> None:
        """Write what was found to a file, by the ending of its name."""
        write_whole(path, self.written(found, path.suffix.lower(), original, style))

    def written(self, found: DraftReport, ending: str, original: bytes = b"", style: str = "mla") -> str | bytes:
        """Write what was found as ".docx", with comments in a copy of the `original`, as ".csv", ".json" or ".html"."""
        if ending == ".docx":
            return report.as_word(found, original, style)
        if ending == ".html":
            return report.as_page(found, self._cited(report.cited_ids(found)), style)
        return report.as_table(found, style) if ending == ".csv" else report.as_json(found)

    def _path(self, draft_id: str, owner: str) -> Path:
        folder = self._folder / draft_id
        with suppress(FileNotFoundError):
            if _ID.fullmatch(draft_id) and (folder / _OWNER).read_text(encoding="utf-8") == owner:
                return folder
        raise NotFound("This draft is not here: it was deleted, or is another writer's. Give it again.")

    def _sweep(self) -> None:
        """Delete what nobody kept within a day."""
        for owned in self._folder.glob(f"*/{_OWNER}"):
            folder = owned.parent
            with suppress(FileNotFoundError):
                if not (folder / _KEPT).is_file() and time.time() - folder.stat().st_mtime > _DAY:
                    shutil.rmtree(folder)


def _chosen_of(folder: Path) -> tuple[ChosenPassage, ...]:
    path = folder / _CHOSEN
    return _read(tuple[ChosenPassage, ...], path) if path.is_file() else ()


def _in_order(checks: Iterable[QuotationCheck]) -> tuple[QuotationCheck, ...]:
    return tuple(sorted(checks, key=lambda check: check.at))


def _read(kind: type[T], path: Path) -> T:
    try:
        return record_in(kind, path)
    except (OSError, ValueError) as error:
        raise NotFound(f"The draft in {path.parent} is damaged ({path.name}: {error}). Give it again.") from None
