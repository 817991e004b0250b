"""Criticism: mining secondary sources, listing them and what was found in them, writing it to files."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relic_core.cli import console
from relic_core.cli.commands import Words, command, engine_option, format_option, path_option
from relic_core.cli.console import note
from relic_core.errors import BadRequest, NotFound
from relic_core.installed import COMMAND

if TYPE_CHECKING:
    from relic_core.services.sources import SourceSummary, WindowView
    from relic_core.wiring import App

_BATCH = 200
_ABOUT = 20
"""Windows that answer a claim, at most."""
_WIDTH, _INDENT = 100, " " * 5
_QUOTED = 500
"""Characters of a quotation that stand among the critic's words."""
_SHOWN = 70
"""Characters of a quotation that a table shows."""


@command(
    "mine criticism.zip",
    "mine ~/criticism --workers 4 --works emma persuasion",
    "mine",
    "mine /shared/criticism --engine dask://head:8786",
    "mine volumes.zip --offsets-only places",
)
@click.argument("paths", nargs=-1, type=Path, help="Files, folders, archives; all mined before where none is named.")
@click.option("--workers", type=int, metavar="N", help="How many processes (as many as there are processors).")
@click.option("--dask", metavar="ADDRESS", help="As --engine.")
@engine_option
@click.option("--works", type=Words(), default=(), metavar="WORK...", help="Only look for these works.")
@click.option("--no-pairs", is_flag=True, help="Only look for works, and make no pairs.")
@path_option(
    "--offsets-only", "FOLDER", "Write offsets and digests into this folder, and keep no word of the sources anywhere."
)
@click.option("--again", is_flag=True, help="Mine also what was mined as it is.")
def mine(
    app: App,
    paths: Sequence[Path],
    workers: int | None,
    dask: str | None,
    no_pairs: bool,
    offsets_only: Path | None,
    works: Sequence[str],
    **asked: Any,
) -> int:
    """Find the quotations in secondary sources, and the works of the library that they quote.

    Sources are files (.txt, .epub, TEI .xml), folders and .zip archives of them; a table (.csv) among them may say what
    they are. Stopped, it goes on with the next run; what was mined is not mined again. Ends with 1 where a source could
    not be read.
    """
    asked |= {"pairs": not no_pairs, "places": offsets_only, "workers": app.mining.workers(workers, dask=dask)}
    asked["works"] = [(app.catalogue.stored(name) or app.works.resolve(name)).id for name in works]
    with console.ProgressLine("Mining") as progress:
        summary = app.mining.run(paths, progress, **asked)
    print(summary.figures)
    note(*summary.by_problem)
    return 1 if summary.unread else 0


@command(
    "sources",
    "sources --windows emma --format json",
    "sources --windows jane-austen-and-her-works-1a2b3c4d --show all",
    'sources --about "Emma mistakes her own heart" --windows emma',
    "sources --draw 200 --seed 7 --format json",
    "sources --remove a-dictionary-of-quotations-1a2b3c4d",
)
@click.option("--windows", metavar="SOURCE|WORK", help="List windows: of a source or on a work, by its id or title.")
@click.option(
    "--about", metavar="CLAIM", help="List the 20 windows whose critics' words share most with a claim, the best first."
)
@click.option("--draw", type=int, metavar="COUNT", help="Draw so many of all kept windows by chance, to judge them.")
@click.option("--seed", type=int, default=1, show_default=True, help="What the draw is named by.")
@click.option(
    "--show", type=click.Choice(("kept", "set aside", "all")), default="kept", show_default=True, help="Which windows."
)
@format_option("table", "json")
@click.option("--remove", metavar="SOURCE", help="Hide a source with all that was mined from it.")
@click.option("--restore", metavar="SOURCE", help="Put a source back.")
def sources(
    app: App,
    windows: str | None,
    about: str | None,
    draw: int | None,
    seed: int,
    show: Any,
    form: str,
    remove: str | None,
    restore: str | None,
) -> None:
    """List the secondary sources that were mined, or the windows of one of them, on a work, or about a claim."""
    if draw is not None and (windows or about is not None):
        other = "--windows" if windows else "--about"
        raise click.UsageError(
            f"--draw draws from the windows of all sources, so it cannot go with {other}: give one of them."
        )
    if about is not None and show != "kept":
        raise click.UsageError("--about looks among the windows that are kept, so it cannot go with --show.")
    if remove:
        source = app.sources.remove(remove)
        print(f"{source.title} was removed. To put it back: {COMMAND} sources --restore {source.id}")
    elif restore:
        print(f"{app.sources.restore(restore).title} is back.")
    elif draw is not None:
        _print_windows(app.sources.draw(draw, seed=seed), as_json=form == "json")
    elif about is not None:
        found = app.sources.about(about, limit=_ABOUT, **(_named(app, windows) if windows else {}))
        _print_windows([each.view for each in found], as_json=form == "json", critics=True)
    elif windows:
        which = _named(app, windows)
        views: list[WindowView] = []
        while more := app.sources.windows(**which, show=show, start=len(views), limit=_BATCH).views:
            views += more
        _print_windows(views, as_json=form == "json")
    else:
        _print_sources(app.sources.all(), as_json=form == "json")


def _named(app: App, name: str) -> dict[str, Any]:
    """Find the source or the work that is meant: a source by its id or title, a work as everywhere."""
    listed = [each.source for each in app.sources.all()]
    if any(each.id == name for each in listed):
        return {"source_id": name}
    titled = [each for each in listed if each.title.casefold() == name.strip().casefold()]
    works = [each for each in app.works.summaries() if each.title.casefold() == name.strip().casefold()]
    if titled and len(titled) + len(works) > 1:
        several = ", ".join([f"{each.id} (a source)" for each in titled] + [f"{each.id} (a work)" for each in works])
        raise BadRequest(f"'{name}' is the title of several: {several}. Give the id.")
    if titled:
        return {"source_id": titled[0].id}
    try:
        return {"work_id": app.works.resolve(name).id}
    except NotFound:
        raise NotFound(
            f"No secondary source and no work is called '{name}'. `python -m relic_core sources` lists the sources, "
            "`python -m relic_core works` the works."
        ) from None


def _print_sources(summaries: Sequence[SourceSummary], *, as_json: bool) -> None:
    if as_json:
        print(console.as_json(summaries))
    elif summaries:
        rows = [
            (
                each.source.id,
                each.source.title[:_SHOWN],
                each.source.author,
                each.pairs,
                each.windows,
                each.set_aside,
                each.problem[:_SHOWN],
            )
            for each in summaries
        ]
        print(console.table(("id", "title", "author", "pairs", "windows", "set aside", "problem"), rows))
    else:
        print(f"There are no secondary sources yet. Mine some: {COMMAND} mine FOLDER")


def _print_windows(views: Sequence[WindowView], *, as_json: bool, critics: bool = False) -> None:
    """Print windows: with what the critics say around the quotation, or a line of a table each."""
    if as_json:
        rows = [
            {
                **dataclasses.asdict(view.window),
                "source": view.source.title,
                "work": view.work.title,
                "place": view.place.label,
                "address": str(view.place.address),
                "sentences": view.sentences,
                "set_aside": view.set_aside,
                "match": view.match,
                "evidence": view.evidence,
            }
            for view in views
        ]
        print(console.as_json(rows))
    elif views and critics:
        for number, view in enumerate(views, start=1):
            quotation = textwrap.shorten(view.window.quotation, _QUOTED, placeholder=" …")
            words = " ".join((*view.window.left, f"“{quotation}”", *view.window.right))
            where = f"{view.work.title}, {view.place.label} · {view.place.address} · {view.window.id}"
            print(f"{number:3d}  {', '.join(filter(None, (view.source.title, view.source.author)))}")
            print(textwrap.fill(words, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT))
            print(f"{_INDENT}{where}\n")
    elif views:
        lines = [
            (
                view.window.id,
                view.source.title[: _SHOWN // 2],
                view.work.title[: _SHOWN // 2],
                view.place.label,
                view.window.quotation[:_SHOWN],
                view.evidence,
                view.set_aside,
            )
            for view in views
        ]
        print(console.table(("id", "source", "work", "place", "quotation", "label", "set aside"), lines))
    else:
        print("There are no such windows.")


@command(
    "export pairs pairs.jsonl --split training",
    "export windows emma.parquet --work emma",
    "export windows public-relic --format relic",
    "export dataset quotations",
    "export windows places.jsonl --offsets-only",
)
@click.argument("kind", type=click.Choice(("pairs", "windows", "dataset")))
@click.argument("out", type=Path, help="The file, or the folder, to write.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("jsonl", "parquet", "relic", "datasets")),
    callback=lambda _ctx, _option, form: form or "",
    help="jsonl or parquet: a file, told by its name; relic: a folder of RELiC's own JSON; datasets: a folder for "
    "Hugging Face's datasets, with a data card.",
)
@click.option(
    "--split", default="", help="Only training, dev, test or 'left out' (default: all but what was left out)."
)
@click.option("--work", default="", help="Only windows on this work: an id or a title.")
@click.option("--source", default="", metavar="ID", help="Only what is in this source: its id or number.")
@click.option(
    "--offsets-only",
    "places",
    is_flag=True,
    help="Ids, offsets and digests without the words, for places that texts may not leave.",
)
def export(app: App, **asked: Any) -> None:
    """Write what was mined from secondary sources to files: pairs, windows, or both as a data set."""
    from relic_core.services.dataset import ExportRequest

    with console.ProgressLine("Exporting") as progress:
        made = app.exporter.export(ExportRequest(**asked), progress)
    rows = " and ".join(f"{count:,} {kind if count != 1 else kind[:-1]}" for kind, count in made.rows.items())
    print(f"{rows} {'is' if sum(made.rows.values()) == 1 else 'are'} in {made.path}.")
    if made.left_out:
        print("Not among them:")
        print(console.table(("", ""), sorted(made.left_out.items())).lstrip("\n"))
    note(*app.dataset.stale())
