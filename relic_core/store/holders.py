"""Who holds the store: a process, named from what DuckDB or a lock file says."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path


def holder(said: str) -> str:
    """Name the process in DuckDB's message about a lock.

    >>> holder("Conflicting lock is held in /usr/bin/python3.11 (PID 0). See also ...")
    '/usr/bin/python3.11, process 0'
    >>> holder("Could not set lock on file")
    'it does not say which'
    """
    found = re.search(r"held in (.+?) \(PID (\d+)\)", said)
    return named(found[1], found[2]) if found else named("", "")


def named(command: str, process: str) -> str:
    """Name a process by its number, with its command as far as the system tells it."""
    if not process:
        return "it does not say which"
    with contextlib.suppress(OSError):  # no /proc outside Linux, and the process may just have ended
        arguments = Path("/proc", process, "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        command = " ".join(os.fsdecode(argument) for argument in arguments)[:200] or command
    return f"{command}, process {process}" if command else f"process {process}"
