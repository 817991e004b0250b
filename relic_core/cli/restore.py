"""Put back a removed work, or a whole library from a back-up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "restore",
        summary=(
            "Put back a removed work (`works --removed` lists them), or a whole library from a back-up, which is "
            "checked to the last file first. What was there before is kept aside."
        ),
        examples=(
            "  python -m relic_core works --removed\n"
            "  python -m relic_core restore emma\n"
            "  python -m relic_core restore ~/relic-backup.zip --check\n"
            "  python -m relic_core restore ~/relic-backup.zip --force"
        ),
    )
    parser.add_argument("what", metavar="WORK|FILE.zip", help="a work's id, its beginning, or its title; or a back-up")
    parser.add_argument("--check", action="store_true", help="of a back-up: only see whether it could be restored")
    parser.add_argument("--force", action="store_true", help="of a back-up: also where the library holds something")
    return parser


def run(app: App, options: Namespace) -> int:
    """Undo the removal, or restore the back-up."""
    if options.what.lower().endswith(".zip"):
        return _restore(app, Path(options.what).expanduser(), check=options.check, force=options.force)
    console.refuse_unused(options, "a work", {"check": False, "force": False}, ())
    work = app.works.restore(app.works.resolve(options.what, removed=True).id)
    print(f"{work.title} is back in the library as {work.id}.")
    return 0


def _restore(app: App, file: Path, *, check: bool, force: bool) -> int:
    with console.ProgressLine("Checking") as progress:
        if check:
            manifest = app.backups.check(file, progress)
        else:
            done = app.backups.restore(file, progress, force=force)
            manifest = done.manifest
    works = "1 work" if manifest.works == 1 else f"{manifest.works:,} works"
    said = f"{works} and {len(manifest.members):,} files of {manifest.created}, made by version {manifest.program}"
    if check:
        print(f"{file} is whole and could be restored: {said}.")
        return 0
    print(f"Restored {said}.")
    if done.aside is not None:
        print(f"What was there before is kept in {done.aside}; delete it when it is no longer wanted.")
    print(
        "Start the app anew. The settings in force were left as they are; those of the back-up are in it as "
        "relic.toml. Indexes are not in a back-up: `python -m relic_core index --all` builds those that are missing."
    )
    return 0
