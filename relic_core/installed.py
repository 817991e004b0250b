"""Whether this is an installed program or a checkout, and what a person types to run it."""

from pathlib import Path

INSTALLED = (Path(__file__).resolve().parent.parent / "relic_ui" / "_app").is_dir()
"""Whether this is from a wheel, which has the app's script there; a checkout has it at the top."""
MODULE = "python -m relic_core"
COMMAND = "relic" if INSTALLED else MODULE
"""What a person types; sentences say `MODULE`, and where they are shown it is what is right here."""

LARGER = Path(__file__).with_name("assets") / "requirements-large.txt" if INSTALLED else Path("requirements-large.txt")
"""What lists the packages of the larger model; in a checkout within its folder."""


def more(extra: str) -> str:
    """Say how to install what an extra of the program needs.

    >>> more("mcp")
    'pip install -r requirements-mcp.txt'
    """
    if INSTALLED:
        return f"install the program again from its folder as '.[{extra}]' (pipx install --force '.[{extra}]')"
    return f"pip install -r requirements-{extra}.txt"
