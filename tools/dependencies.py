"""Look at what the program is installed from: licences, newer versions, advisories; write the hashes of packages.

Licences are read from the installed packages: none may be under the GPL, LGPL or AGPL. --newer asks the package index
through pip. --advisories takes records in the form of OSV (https://ossf.github.io/osv-schema), a file or a folder of
them, as `https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip` unpacks to; nothing is fetched for it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from relic_core.config import PROJECT
from relic_core.errors import BadRequest, SourceUnavailable
from relic_core.formats.files import digest_of
from relic_core.wiring import App
from tools import command

CONSTRAINTS, HASHES, CONTAINER = "constraints.txt", "hashes.txt", "requirements-signin.txt"
_PIN = re.compile(r"^([\w.-]+)==([\w.!+-]+)")
_REFUSED = re.compile(r"\b[AL]?GPL|general public licen[cs]e|affero", re.IGNORECASE)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_LICENCE = "License ::"
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64")
"""Those of the container."""
_OWN = ("PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL")
"""What may have pip look at other places than its own index."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package as it is pinned; `licence` is what the installed one says, empty where it is not installed."""

    name: str
    version: str
    licence: str


def pins(path: Path = PROJECT / CONSTRAINTS) -> dict[str, str]:
    """Read the pins of a list: versions by names in the one form."""
    found = filter(None, map(_PIN.match, path.read_text(encoding="utf-8").splitlines()))
    return {canonicalize_name(each[1]): each[2] for each in found}


def packages() -> list[Package]:
    """List what is pinned, each with its licence."""
    return [Package(name, version, licence_of(name)) for name, version in pins().items()]


def licence_of(name: str) -> str:
    """Read the licence of an installed package: its expression, else its classifiers, else the first line in words."""
    try:
        facts = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    if "License-Expression" in facts:
        return facts["License-Expression"]
    classes = [each.split(" :: ")[-1] for each in facts.get_all("Classifier") or () if each.startswith(_LICENCE)]
    classes = [each for each in classes if each != "OSI Approved"]
    return "; ".join(classes) or str(facts.json.get("license") or "not said").splitlines()[0]


def is_refused(licence: str) -> bool:
    """Whether a licence is one that this program cannot stand on; of several to choose from, whether all are.

    >>> [is_refused(each) for each in ("MIT", "LGPL-2.1-only", "MIT OR GPL-2.0-or-later", "GNU Affero v3")]
    [False, True, False, True]
    """
    return all(_REFUSED.search(each) for each in _OR.split(licence.replace("-or-later", "")))


def container() -> set[str]:
    """Name the packages of the container: those of its list, and what the installed ones ask for."""
    waiting = [PROJECT / CONTAINER]
    names: set[str] = set()
    wanted: list[str] = []
    while waiting:
        lines = waiting.pop().read_text(encoding="utf-8").splitlines()
        waiting += [PROJECT / line.split()[1] for line in lines if line.startswith("-r ")]
        wanted += [canonicalize_name(pin[1]) for pin in map(_PIN.match, lines) if pin]
    while wanted:
        name = wanted.pop()
        if name not in names:
            names.add(name)
            wanted += _needs(name)
    return names


def _needs(name: str) -> list[str]:
    try:
        asked = map(Requirement, metadata.requires(name) or ())
    except metadata.PackageNotFoundError:
        raise BadRequest(f"{name} is not installed. Run `make test` once, so that all that is pinned is.") from None
    return [canonicalize_name(each.name) for each in asked if not each.marker or each.marker.evaluate({"extra": ""})]


def _pip(*arguments: str) -> str:
    """Run pip beside the settings of this machine."""
    own = {name: value for name, value in os.environ.items() if name not in _OWN}
    asked = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check"],
        env={**own, "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode:
        raise SourceUnavailable(f"pip could not ask its index: {(asked.stderr.strip().splitlines() or [''])[-1]}")
    return asked.stdout


def newer() -> dict[str, str]:
    """Ask the index for newer versions of what is installed: by name. Raises SourceUnavailable."""
    listed = json.loads(_pip("list", "--outdated", "--format=json"))
    return {canonicalize_name(each["name"]): each["latest_version"] for each in listed}


def fetch_hashes(wanted: Sequence[str]) -> dict[str, set[str]]:
    """Ask the index for the hashes of wheels ("name==1.0") for the platforms of the container; nothing is installed.

    Raises SourceUnavailable.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for platform in _PLATFORMS:
        report = _pip(
            *("install", "--dry-run", "--quiet", "--no-deps", "--ignore-installed", "--only-binary=:all:"),
            *("--target=nowhere", "--report=-", "--python-version=3.11", "--implementation=cp"),
            *(f"--platform={each}" for each in (platform, platform.replace("_2_28_", "2014_"), *_older(platform))),
            *wanted,
        )
        for each in json.loads(report)["install"]:
            name = canonicalize_name(each["metadata"]["name"])
            found[name].add(each["download_info"]["archive_info"]["hashes"]["sha256"])
    return found


def _older(platform: str) -> list[str]:
    return [platform.replace("_28_", f"_{minor}_") for minor in (17, 24, 26, 27)]


def write_hashes(path: Path, wheels: Sequence[Path], hashes: dict[str, set[str]]) -> None:
    """Write the list that the container is installed from; `wheels` are files that no index of ours has."""
    versions = pins()
    for wheel in wheels:
        hashes[canonicalize_name(wheel.name.split("-")[0])].add(digest_of(wheel))
    lines = [
        "# What the container installs, with the hashes of its files, for x86-64 and 64-bit ARM. Written by",
        "# `python -m tools.dependencies --write-hashes`; not edited by hand.",
    ]
    for name in sorted(hashes):
        listed = "".join(f" \\\n    --hash=sha256:{each}" for each in sorted(hashes[name]))
        lines.append(f"{name}=={versions[name]}{listed}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def advisories(given: Path) -> Iterator[dict[str, Any]]:
    """Read advisories in the form of OSV, from a file of one or a list of them, or from a folder of such files.

    Raises BadRequest: a file is not one.
    """
    for path in sorted(given.rglob("*.json")) if given.is_dir() else [given]:
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadRequest(f"{path} holds no advisories: {error}") from None
        yield from read if isinstance(read, list) else [read]


def concerns(advisory: dict[str, Any], name: str, version: str) -> bool:
    """Whether an advisory concerns a version of a package."""
    for each in advisory.get("affected", ()):
        if canonicalize_name(each.get("package", {}).get("name", "")) != name:
            continue
        ranges = (ends for each_range in each.get("ranges", ()) for ends in [each_range.get("events", ())])
        if version in each.get("versions", ()) or any(_within(events, version) for events in ranges):
            return True
    return False


def _within(events: Iterable[dict[str, str]], version: str) -> bool:
    inside = False
    for event in events:
        ((kind, at),) = event.items()
        try:
            reached = at == "0" or Version(version) >= Version(at)
        except InvalidVersion:  # of a repository's commits
            return False
        if kind == "introduced" and reached:
            inside = True
        elif (kind == "fixed" and reached) or (kind == "last_affected" and Version(version) > Version(at)):
            inside = False
    return inside


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--newer", action="store_true", help="ask the index for newer versions")
    parser.add_argument("--advisories", type=Path, metavar="PATH", help="advisories in the form of OSV: file or folder")
    parser.add_argument("--write-hashes", action="store_true", help=f"ask the index, and write {HASHES}")
    parser.add_argument(
        "--wheel", type=Path, action="append", default=[], help="a file beside the index, for --write-hashes"
    )


def do(app: App, options: Namespace) -> int:  # noqa: ARG001 - every command has the same two
    """Do it; end with 1 where a licence is refused or an advisory concerns a pin."""
    if options.write_hashes:
        wanted = container()
        found = fetch_hashes([f"{name}=={version}" for name, version in pins().items() if name in wanted])
        write_hashes(PROJECT / HASHES, options.wheel, found)
        print(f"{len(found)} packages in {HASHES}")
        return 0
    later = newer() if options.newer else {}
    known = list(advisories(options.advisories)) if options.advisories else []
    bad = 0
    for package in packages():
        remarks = [f"newer: {later[package.name]}"] if package.name in later else []
        remarks += ["REFUSED"] * is_refused(package.licence)
        remarks += [each.get("id", "?") for each in known if concerns(each, package.name, package.version)]
        bad += len(remarks) - (package.name in later)
        print(f"{package.name:32}{package.version:18}{package.licence or 'not installed':48.48}{', '.join(remarks)}")
    print(f"{len(pins())} packages; {bad or 'nothing'} to be mended. {'' if known else 'Advisories: none were given.'}")
    return 1 if bad else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("dependencies", __doc__, add_options, do, arguments)


if __name__ == "__main__":
    sys.exit(main())
