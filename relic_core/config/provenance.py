"""Where a measurement comes from: the version of the program, its commit, the machine."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path

from relic_core import __version__
from relic_core.config import PROJECT

_CPUINFO = Path("/proc/cpuinfo")
_DIGITS = 8

_PATIENCE = 10.0
"""Seconds that git may take; a repository on a slow disk must not keep a measurement waiting."""


@cache
def code(project: Path = PROJECT) -> str:
    """Say which version of the program measures, with a digest of its source and, from a checkout, its commit.

    "0.1.0 source 1f0c22ab", "0.1.0 5eb1338c01f2 source 1f0c22ab", or with "+changes" after the commit where the files
    are not those of the commit. The digest tells apart what version and commit do not.

    >>> from pathlib import Path
    >>> code(Path("/nowhere")) == __version__
    True
    """
    digest = source(project / "relic_core")
    ending = f" source {digest}" if digest else ""
    if not (project / ".git").exists():  # a file in a worktree; a repository further up is somebody else's
        return f"{__version__}{ending}"
    commit = _git(project, "rev-parse", "--short=12", "HEAD")
    changes = _git(project, "status", "--porcelain", "--", "relic_core")
    if not commit or changes is None:
        return f"{__version__}{ending}"
    return f"{__version__} {commit}{'+changes' if changes else ''}{ending}"


def machine() -> dict[str, str | int]:
    """Describe the machine in a few words, as runs keep it."""
    flags, name = processor()
    return {
        "system": platform.system(),
        "processor": name,
        "cores": os.cpu_count() or 1,
        "avx512_bf16": int("avx512_bf16" in flags),
        "amx": int("amx_bf16" in flags),
        "python": platform.python_version(),
    }


def processor() -> tuple[frozenset[str], str]:
    """Read what the processor can do and its name where Linux tells; elsewhere the name that Python has."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset(), platform.processor() or "unknown"
    info = dict(reversed([(part[0].strip(), part[1].strip()) for line in lines if len(part := line.split(":", 1)) > 1]))
    flags = info.get("flags", info.get("Features", ""))
    return frozenset(flags.split()), info.get("model name", platform.machine() or "unknown")


def source(package: Path = PROJECT / "relic_core") -> str:
    """Digest the names and contents of a package's modules; empty where there are none."""
    modules = sorted((path.relative_to(package).as_posix(), path) for path in package.rglob("*.py"))
    facts = [(name, hashlib.sha256(path.read_bytes()).hexdigest()) for name, path in modules]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:_DIGITS] if facts else ""


def _git(project: Path, *arguments: str) -> str | None:
    """Ask git; None where it is not there, or cannot tell."""
    git = shutil.which("git")
    if git is None:
        return None
    try:
        asked = subprocess.run(  # noqa: S603 - our own arguments, no shell
            [git, "--no-optional-locks", *arguments],
            cwd=project, capture_output=True, text=True, timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None
