"""Running it: settings, health, jobs, back-ups, and what belongs to whom."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relic_core import config
from relic_core.cli import console
from relic_core.cli.commands import command, format_option
from relic_core.domain.figures import many
from relic_core.domain.people import NOBODY
from relic_core.installed import COMMAND

if TYPE_CHECKING:
    from relic_core.wiring import App

_MARKS = {"good": "good", "notice": "look", "bad": "BAD"}
_NICER, _GROUP_NICER = 10, 3
"""Of a job's process, and of its session: where the pages want all of the processor, they get two parts in three."""


@command("app", "app --port 8600")
@click.option("--port", type=int, help="Another than 8501.")
def app(app: App, port: int | None) -> None:
    """Start the app in the browser, with a sample to search; Ctrl-C stops it."""
    from relic_core.cli.works import set_up  # not above: a job needs none of it

    set_up(app)
    sys.stdout.flush()
    more = [f"--server.port={port}"] if port else []
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(config.APP), *more])  # noqa: S606 - our own


@command("settings", "settings --example > relic.toml", "RELIC_CONFIG=/etc/relic.toml python -m relic_core settings")
@click.option("--example", is_flag=True, help="Write a commented file of settings instead.")
@format_option("table", "json")
def settings(app: App, example: bool, form: str) -> None:  # noqa: ARG001 - every command gets the app
    """Show every setting, its value and where it comes from: the environment, a file, or neither."""
    if example:
        print(config.example(), end="")
        return
    found = config.stated()
    if form == "json":
        print(console.as_json(found))
    else:
        heads = ("setting", "value", "comes from")
        print(console.table(heads, [(each.name, each.value, each.comes_from) for each in found]))


@command("health", "health --app http://localhost:8501", "health --thorough --format json")
@click.option("--app", "address", default="", metavar="ADDRESS", help="Ask the app at this address, too.")
@click.option("--thorough", is_flag=True, help="Read every row of the store, and compare every index with its hashes.")
@format_option("table", "json")
def health(app: App, address: str, thorough: bool, form: str) -> int:
    """Say whether everything is as it should be: the store, room on the disk, the models, the indexes.

    Ends with 0 where the program can do its work and with 1 where it cannot.
    """
    found = app.examine(address=address, thorough=thorough)
    if form == "json":
        print(console.as_json(found))
    else:
        width = max(len(finding.name) for finding in found)
        for finding in found:
            print(f"{_MARKS[finding.level]:4}  {finding.name:{width}}  {finding.message}")
    return int(any(finding.level == "bad" for finding in found))


@command("jobs", "jobs --stop k3v7qa2x")
@click.option("--stop", metavar="ID", help="Ask a job to stop.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def jobs(app: App, stop: str | None, as_json: bool) -> None:
    """List the latest jobs (long work started by a page), or stop one."""
    if stop:
        job = app.jobs.cancel(stop)
        print(f"{job.title}: {job.note or job.state}")
        return
    found = app.jobs.recent()
    if as_json:
        print(console.as_json(found))
    elif found:
        done = [f"{100 * job.done // job.total}%" if job.total else "" for job in found]
        lines = [
            (job.id, job.state, share, job.title, " ".join(job.note.split()))
            for job, share in zip(found, done, strict=True)
        ]
        print(console.table(("id", "state", "done", "what", "note"), lines))
    else:
        print("There have been no jobs.")


@command("job data/jobs/k3v7qa2x")
@click.argument("folder", type=Path)
def job(app: App, folder: Path) -> int:
    """Do the job of a folder, at a lower priority than the pages (started by the jobs service)."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    _give_way()
    return 0 if app.jobs.run(folder).state == "done" else 1


def _give_way() -> None:
    """Let the pages go first. Linux shares a processor between sessions before it looks at a process's own niceness."""
    os.nice(_NICER)
    group = Path("/proc/self/autogroup")
    if group.exists() and os.getsid(0) == os.getpid():
        with suppress(OSError):  # ten a second may say so on a machine, and not in every container
            group.write_text(str(_GROUP_NICER), "ascii")


@command(
    "backup ~/relic-backup.zip",
    "backup /mnt/backups/relic-$(date +%F).zip --without-models",
    "backup ~/relic-backup.zip --force",
    "restore ~/relic-backup.zip --check",
)
@click.argument("file", metavar="FILE.zip", type=Path)
@click.option("--force", is_flag=True, help="Replace an earlier back-up of that name.")
@click.option("--even-empty", is_flag=True, help="With --force: also one that has works, where the library has none.")
@click.option("--without-models", is_flag=True, help="Leave out the models that were trained here.")
def backup(app: App, file: Path, force: bool, even_empty: bool, without_models: bool) -> None:
    """Write works, notes, judgements, sources, models and settings into one file, also while the app is running.

    `restore FILE.zip` puts it back.
    """
    if even_empty and not force:
        raise click.UsageError("--even-empty goes with --force, which replaces an earlier back-up.")
    with console.ProgressLine("Backing up") as progress:
        made = app.backups.make(file, progress, models=not without_models, force=force, even_empty=even_empty)
    print(
        f"{file} holds {many(made.works, 'work')} and {len(made.members):,} files, {made.bytes / 1e6:,.1f} MB unpacked."
    )
    print("Left out:\n" + "\n".join(f"  {each}" for each in made.left_out))


@command("works --removed", "restore emma", "restore ~/relic-backup.zip --check", "restore ~/relic-backup.zip --force")
@click.argument("what", metavar="WORK|FILE.zip")
@click.option("--check", is_flag=True, help="Of a back-up: only see whether it could be restored.")
@click.option("--force", is_flag=True, help="Of a back-up: also where the library holds something.")
def restore(app: App, what: str, check: bool, force: bool) -> None:
    """Put back a removed work (`works --removed` lists them), or a whole library from a back-up.

    A back-up is checked to the last file first. What was there before is kept aside.
    """
    if not what.lower().endswith(".zip"):
        if check or force:
            raise click.UsageError("--check and --force are for a back-up, FILE.zip, and not for a work.")
        work = app.works.restore(app.works.resolve(what, removed=True).id)
        print(f"{work.title} is back in the library as {work.id}.")
        return
    file, aside = Path(what).expanduser(), None
    with console.ProgressLine("Checking") as progress:
        if check:
            manifest = app.backups.check(file, progress)
        else:
            done = app.backups.restore(file, progress, force=force)
            manifest, aside = done.manifest, done.aside
    summary = f"{many(manifest.works, 'work')} and {len(manifest.members):,} files of {manifest.created}"
    summary += f", made by version {manifest.program}"
    if check:
        print(f"{file} is whole and could be restored: {summary}.")
        return
    print(f"Restored {summary}.")
    if aside is not None:
        print(f"What was there before is kept in {aside}; delete it when it is no longer wanted.")
    print(
        "Start the app anew. The settings in force were left as they are; those of the back-up are in it as "
        f"relic.toml. Indexes are not in a back-up: `{COMMAND} index --all` builds those that are missing."
    )


@command(
    "hand-over",
    "hand-over ada@example.org",
    "hand-over ada@example.org --from ada@old.example.org",
    f"hand-over {NOBODY} --from ada@example.org",
    more=f"A person is named by the address they have signed in with, or by the number in the list; {NOBODY} is who "
    "keeps something where nobody signs in. docs/operating.md says what becomes of what both have.",
)
@click.argument("to", metavar="[PERSON]", default="")
@click.option("--from", "source", default=NOBODY, show_default=True, metavar="PERSON", help="Whose it is until now.")
def hand_over(app: App, to: str, source: str) -> None:
    """Hand notes, collections and searches over to a person who signs in.

    Those that were kept while nobody did, or another person's. Without a person it lists who keeps what.
    """
    if not to:
        if source != NOBODY:
            raise click.UsageError("Say who gets it: hand-over PERSON --from PERSON.")
        rows = []
        for each in app.people.known():
            has = each.holding
            person = has.person if has.person != each.name else ""
            rows.append((each.name, person, has.notes, has.collections, has.searches, has.removed))
        heads = ("person", "number", "notes", "collections", "searches", "removed")
        print(console.table(heads, rows) if rows else "Nobody has kept anything yet.")
        return
    moved = app.people.transfer_ownership(to, source)
    if moved.empty:
        whose = f"{source} keeps nothing" if moved.person else "Nothing is kept"
        print(f"{whose} that could be handed over.")
        return
    what = f"{many(moved.notes, 'note')}, {many(moved.collections, 'collection')}"
    what += f" and {many(moved.searches, 'search', 'searches')}"
    if moved.removed:
        what += f" (and {moved.removed:,} that {'was' if moved.removed == 1 else 'were'} removed before)"
    print(f"Handed over from {source} to {to}: {what}.")
