"""Where a measurement comes from: the version of the program, its commit, the machine."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from typing import TYPE_CHECKING

from relic_core import __version__
from relic_core.config import PROJECT
from relic_core.services import bench

if TYPE_CHECKING:
    from pathlib import Path

_PATIENCE = 10.0
"""Seconds that git may take; a repository on a slow disk must not keep a measurement waiting."""


@cache
def code(project: Path = PROJECT) -> str:
    """Say which version of the program measures, with its commit where it runs from a checkout.

    Parameters
    ----------
    project : Path
        The folder that holds ``relic_core``.

    Returns
    -------
    str
        "0.1.0", "0.1.0 5eb1338c01f2", or "0.1.0 5eb1338c01f2+changes" where the program's files are not those of the
        commit. Without git, or where git cannot tell, the version alone.

    Examples
    --------
    >>> from pathlib import Path
    >>> code(Path("/nowhere")) == __version__
    True
    """
    if not (project / ".git").exists():  # a file in a worktree; a repository further up is somebody else's
        return __version__
    commit = _git(project, "rev-parse", "--short=12", "HEAD")
    changes = _git(project, "status", "--porcelain", "--", "relic_core")
    if not commit or changes is None:
        return __version__
    return f"{__version__} {commit}{'+changes' if changes else ''}"


def machine() -> dict[str, str]:
    """Describe the machine that measures."""
    return {name: str(value) for name, value in bench.machine().items()}


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
