"""What jobs of the tests do in their processes."""

from __future__ import annotations

import os
import time
from pathlib import Path


def count(workbench, arguments, progress):
    """Count to a number, with a pause at each step."""
    steps = arguments["steps"]
    for step in range(steps):
        progress(step, steps, f"by process {os.getpid()}")
        time.sleep(arguments.get("pause", 0))
    if arguments.get("group"):
        return Path("/proc/self/autogroup").read_text(encoding="ascii").strip()
    if told := arguments.get("tell"):
        return f"It has {', '.join(sorted({name for name in os.environ if name.startswith(tuple(told))}))}."
    return f"Counted {steps} in {workbench.settings.data}, not in {os.getppid()}."
