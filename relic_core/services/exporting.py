"""Pairs and windows out of the store, as files for others: RELiC's JSON, JSON lines, Parquet, a folder of data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from relic_core.errors import BadRequest, NotFound, unknown_name
from relic_core.formats import pair_files
from relic_core.formats.pair_rows import SPLITS
from relic_core.ports import silent
from relic_core.services.dataset import splitting
from relic_core.services.exported_rows import Chosen, Exports

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.domain import SecondarySource
    from relic_core.ports import Progress
    from relic_core.wiring import App

Kind = Literal["pairs", "windows", "dataset"]
"""What is exported: pairs, windows, or both."""

Form = Literal["jsonl", "parquet", "relic", "datasets"]

FORMS: dict[Form, str] = {
    "jsonl": "JSON lines: one row a line, after a line that says what made them",
    "parquet": "Parquet: the same columns, what made them in the metadata",
    "relic": "RELiC's own JSON: a folder with train.json (training), val.json (dev) and test.json (test); windows only",
    "datasets": "a folder for Hugging Face's `datasets`: a data card and Parquet files",
}
"""Form -> what it is."""

_SUFFIXES: dict[str, Form] = {pair_files.JSON_LINES: "jsonl", pair_files.PARQUET: "parquet"}
_IN_FOLDERS: tuple[Form, ...] = ("relic", "datasets")
_SHOWN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What is to be exported.

    - `kind`: of what; a data set is both.
    - `out`: the file, or the folder where the form is one.
    - `form`: one of `FORMS`; told by the file's name where empty, "datasets" where that does not tell.
    - `split`: only this one of `SPLITS`; all but what was left out where empty.
    - `work`, `source`: only windows on this work (an id, its beginning, a title); only what stands in this source
      (`find_source`).
    - `places`: offsets and digests in place of words.
    """

    kind: Kind
    out: Path
    form: str = ""
    split: str = ""
    work: str = ""
    source: str = ""
    places: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was exported.

    - `path`: the file or folder.
    - `form`: one of `FORMS`.
    - `rows`: "pairs", "windows" -> how many were written.
    - `left_out`: why others were not, in plain words -> how many.
    - `notes`: what else has to be known: that the splits are older than what was mined.
    """

    path: Path
    form: Form
    rows: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def export(app: App, request: ExportRequest, progress: Progress = silent) -> Exported:
    """Write pairs, windows or both; row by row, so that memory does not grow with them.

    - `app`: whose store they are in.
    - `request`: which, where, and in which form.
    - `progress`: told how many rows have been written.

    Raises BadRequest: an unknown kind, form or split; a form that cannot hold what is asked; several sources or works
    fit; nothing has been split yet, and splits are wanted.
    Raises NotFound: there is nothing to export, no such source, no such work.
    Raises BadBenchmark: passages that were mined without their words are to be written with them.
    Raises StoreError: the file or folder cannot be written.
    """
    if request.kind not in get_args(Kind):
        raise unknown_name("kind of export", request.kind, get_args(Kind))
    form = _form(request)
    if request.split and request.split not in SPLITS:
        raise unknown_name("split", request.split, SPLITS)
    _refuse_impossible(request, form)
    chosen = Chosen(
        split=request.split,
        work=app.works.resolve(request.work) if request.work else None,
        source=find_source(app, request.source) if request.source else None,
    )
    exports = Exports(app, chosen, progress)
    exports.check_splits(kinds(request.kind), wanted=bool(request.split) or form in _IN_FOLDERS)
    if form == "relic":
        rows, left_out = exports.write_relic(request.out)
    elif form == "datasets":
        rows, left_out = exports.write_datasets(request.out, kinds(request.kind))
    else:
        rows, left_out = exports.write_file(request.out, kinds(request.kind)[0], places=request.places)
    return Exported(path=request.out, form=form, rows=rows, left_out=left_out, notes=splitting.stale(app))


def kinds(kind: Kind) -> tuple[Literal["pairs", "windows"], ...]:
    """Say of what rows an export is."""
    return ("pairs", "windows") if kind == "dataset" else (kind,)


def find_source(app: App, said: str) -> SecondarySource:
    """Find the source a person means: by its id, the beginning of its id, or its number in Project Gutenberg.

    Raises NotFound: there is none.
    Raises BadRequest: there are several.
    """
    there = [stored.source for stored in app.store.sources.all()]
    wanted = said.strip()
    found = [each for each in there if wanted and wanted in (each.id, str(each.number))]
    found = found or [each for each in there if wanted and each.id.startswith(wanted.casefold())]
    if not found:
        raise NotFound(
            f"There is no secondary source '{said:.80}'. `python -m relic_core sources` lists those there are, with "
            "their ids."
        )
    if len(found) > 1:
        some = ", ".join(each.id for each in found[:_SHOWN])
        raise BadRequest(f"'{said:.80}' fits {len(found)} sources: {some}. Give the whole id of one.")
    return found[0]


def _form(request: ExportRequest) -> Form:
    """Say which form is meant: as named, else by the end of the file's name."""
    by_name = _SUFFIXES.get(request.out.suffix.lower())
    if not request.form:
        if by_name:
            return by_name
        if request.kind == "dataset" and not request.out.suffix:
            return "datasets"
        raise BadRequest(
            f"'{request.out.name}' does not say in which form {request.kind} are wanted. Let it end in "
            f"{' or '.join(_SUFFIXES)}, or name one with --format: {', '.join(FORMS)}."
        )
    for form in FORMS:
        if form == request.form:
            if form not in _IN_FOLDERS and by_name != form:
                raise BadRequest(f"'{request.out.name}' is to be of the form {form}; let its name end in .{form}.")
            if form in _IN_FOLDERS and by_name:
                raise BadRequest(
                    f"The form {form} is a folder, and '{request.out.name}' is the name of a file. Leave the end off."
                )
            return form
    raise unknown_name("form of export", request.form, FORMS)


def _refuse_impossible(request: ExportRequest, form: Form) -> None:
    in_folder = form in _IN_FOLDERS
    if form == "relic" and request.kind != "windows":
        raise BadRequest(
            "RELiC's form holds quotations of known works, and of a pair the work is not known. Export windows, or "
            "choose another form."
        )
    if request.kind == "dataset" and not in_folder:
        raise BadRequest(
            "A data set is a folder. Choose the form datasets, or export pairs and windows one after the other."
        )
    if request.places and in_folder:
        raise BadRequest(
            f"The form {form} has to have the words. Offsets without them are written as "
            f"{' or '.join(_SUFFIXES.values())}."
        )
    if request.split == "left out" and in_folder:
        raise BadRequest(
            f"The form {form} has no place for what was left out. Export that as jsonl or parquet, to look at it."
        )
    if request.work and request.kind == "pairs":
        raise BadRequest("Of a pair the quoted work is not known. Export windows, or leave the work off.")
