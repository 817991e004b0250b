"""Write everything of the library that cannot be made again into one file."""

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
        "backup",
        summary=(
            "Write works, notes, judgements, sources, models and settings into one file, also while the app is "
            "running. `restore FILE.zip` puts it back."
        ),
        examples=(
            "  python -m relic_core backup ~/relic-backup.zip\n"
            "  python -m relic_core backup /mnt/backups/relic-$(date +%F).zip --without-models\n"
            "  python -m relic_core backup ~/relic-backup.zip --force\n"
            "  python -m relic_core restore ~/relic-backup.zip --check"
        ),
    )
    parser.add_argument("file", metavar="FILE.zip", type=Path, help="where to")
    parser.add_argument("--force", action="store_true", help="replace an earlier back-up of that name")
    parser.add_argument("--without-models", action="store_true", help="leave out the models that were trained here")
    return parser


def run(app: App, options: Namespace) -> int:
    """Make the back-up and say what is in it."""
    with console.ProgressLine("Backing up") as progress:
        made = app.backups.make(options.file, progress, models=not options.without_models, force=options.force)
    works = "1 work" if made.works == 1 else f"{made.works:,} works"
    print(f"{options.file} holds {works} and {len(made.members):,} files, {made.bytes / 1e6:,.1f} MB unpacked.")
    print("Left out:\n" + "\n".join(f"  {each}" for each in made.left_out))
    return 0
