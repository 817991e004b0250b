"""Check every quotation of a draft against the library."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relic_core.cli import console
from relic_core.cli.commands import command, format_option, path_option
from relic_core.drafts import report as reporting
from relic_core.drafts.service import read_draft
from relic_core.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from relic_core.domain.drafts import DraftReport
    from relic_core.wiring import App

_WIDEST = 100
_WRITTEN = (".docx", ".csv", ".json", ".html")


@command("check essay.docx", "check essay.docx --save essay-checked.docx", "check essay.md --format json")
@click.argument("file", type=Path, metavar="FILE")
@path_option("--save", "FILE", f"Write what was found to a file: {', '.join(_WRITTEN)}. The draft is never changed.")
@format_option("table", "csv", "json")
def check(app: App, file: Path, save: Path | None, form: str) -> None:
    """Check every quotation of a draft: to the letter, altered, from elsewhere, or not found in the library.

    The draft may be a .docx, .odt, .md, .txt, .html, .tex or .pdf file.
    """
    if not file.is_file():
        raise NotFound(f"There is no file {file}. Check the name and its folder.")
    if save is not None:
        if save.suffix.lower() not in _WRITTEN:
            raise BadRequest(f"{save.name} is of no kind that is written. End its name in {', '.join(_WRITTEN)}.")
        if save.exists() and save.samefile(file):
            raise BadRequest(f"{file} is the draft, which is never changed. Give --save another name.")
    data = file.read_bytes()
    draft = read_draft(data, file.name)
    with console.ProgressLine("Checking") as progress:
        found = app.drafts.check(draft, progress)
    console.note(*found.notices)
    if save is not None:
        app.drafts.save(found, save, data if file.suffix.lower() == ".docx" else b"")
        print(f"{found.summary}. Written to {save}.")
    elif form == "csv":
        print(reporting.as_table(found), end="")
    else:
        print(reporting.as_json(found) if form == "json" else _as_text(found))


def _as_text(found: DraftReport) -> str:
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    lines = [f"{found.summary}.", ""]
    for number, each in enumerate(found.checks, start=1):
        lines.append(f"{number:4d}  “{console.shorten(each.words, width - 8)}”")
        remarks = reporting.remarks_on(each)
        lines += [textwrap.fill(one, width, initial_indent=" " * 6, subsequent_indent=" " * 8) for one in remarks]
    return "\n".join(lines)
