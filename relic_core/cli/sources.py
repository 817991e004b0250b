"""List secondary sources, and the windows that were found in them."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from relic_core.cli import console
from relic_core.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from relic_core.cli.console import Commands
    from relic_core.services.sources import Sources, SourceSummary, WindowView
    from relic_core.wiring import App

_BATCH = 200
_SAID = 70
"""Characters of a quotation that a table shows."""


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "sources",
        summary="List the secondary sources that were mined, or the windows of one of them, or those on a work.",
        examples=(
            "  python -m relic_core sources\n"
            "  python -m relic_core sources --windows emma --format json\n"
            "  python -m relic_core sources --windows jane-austen-and-her-works-1a2b3c4d --show all\n"
            "  python -m relic_core sources --draw 200 --seed 7 --format json\n"
            "  python -m relic_core sources --remove a-dictionary-of-quotations-1a2b3c4d"
        ),
    )
    parser.add_argument(
        "--windows", metavar="SOURCE|WORK", help="list windows: of a source or on a work, by its id or its title"
    )
    parser.add_argument(
        "--draw", type=int, metavar="COUNT", help="draw so many of all kept windows by chance, to read and judge them"
    )
    parser.add_argument("--seed", type=int, default=1, help="what the draw is named by (default: %(default)s)")
    parser.add_argument(
        "--show", choices=("kept", "set aside", "all"), default="kept", help="which windows (those that are kept)"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="how they are printed")
    parser.add_argument("--remove", metavar="SOURCE", help="hide a source with all that was mined from it")
    parser.add_argument("--restore", metavar="SOURCE", help="put a source back")
    return parser


def run(app: App, options: Namespace) -> int:
    """Print sources or windows; or remove a source, or put it back."""
    sources = app.sources
    if options.windows and options.draw is not None:
        options.refuse("--draw draws from the windows of all sources, so it cannot go with --windows: give one of them")
    if options.remove:
        source = sources.remove(options.remove)
        print(f"{source.title} was removed. To put it back: python -m relic_core sources --restore {source.id}")
    elif options.restore:
        print(f"{sources.restore(options.restore).title} is back.")
    elif options.draw is not None:
        _windows(sources.draw(options.draw, seed=options.seed), as_json=options.format == "json")
    elif options.windows:
        _windows(_found(app, options), as_json=options.format == "json")
    else:
        _sources(sources.all(), as_json=options.format == "json")
    return 0


def _found(app: App, options: Namespace) -> list[WindowView]:
    """List all windows that were asked for."""
    sources: Sources = app.sources
    which = _named(app, options.windows)
    views: list[WindowView] = []
    while True:
        found = sources.windows(**which, show=options.show, start=len(views), limit=_BATCH)
        views += found.views
        if not found.views or len(views) >= found.total:
            return views


def _named(app: App, said: str) -> dict[str, str]:
    """Find the source or the work that is meant: a source by its id or title, a work as everywhere."""
    listed = [each.source for each in app.sources.all()]
    if any(each.id == said for each in listed):
        return {"source_id": said}
    titled = [each for each in listed if each.title.casefold() == said.strip().casefold()]
    works = [each for each in app.works.summaries() if each.title.casefold() == said.strip().casefold()]
    if titled and len(titled) + len(works) > 1:
        several = ", ".join([f"{each.id} (a source)" for each in titled] + [f"{each.id} (a work)" for each in works])
        raise BadRequest(f"'{said}' is the title of several: {several}. Give the id.")
    if titled:
        return {"source_id": titled[0].id}
    try:
        return {"work_id": app.works.resolve(said).id}
    except NotFound:
        raise NotFound(
            f"No secondary source and no work is called '{said}'. `python -m relic_core sources` lists the sources, "
            "`python -m relic_core works` the works."
        ) from None


def _sources(summaries: Sequence[SourceSummary], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([dataclasses.asdict(summary) for summary in summaries], ensure_ascii=False, indent=2))
    elif summaries:
        rows = [
            (
                each.source.id,
                each.source.title[:_SAID],
                each.source.author,
                each.pairs,
                each.windows,
                each.set_aside,
                each.problem[:_SAID],
            )
            for each in summaries
        ]
        print(console.table(["id", "title", "author", "pairs", "windows", "set aside", "problem"], rows))
    else:
        print("There are no secondary sources yet. Mine some: python -m relic_core mine FOLDER")


def _windows(views: Sequence[WindowView], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([_facts(view) for view in views], ensure_ascii=False, indent=2))
    elif views:
        rows = [
            (
                view.window.id,
                view.source.title[: _SAID // 2],
                view.work.title[: _SAID // 2],
                view.place.label,
                view.window.quotation[:_SAID],
                view.set_aside,
            )
            for view in views
        ]
        print(console.table(["id", "source", "work", "place", "quotation", "set aside"], rows))
    else:
        print("There are no such windows.")


def _facts(view: WindowView) -> dict[str, Any]:
    return {
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
