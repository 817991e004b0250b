"""Whether this is an installed program or a checkout, and what a person types to run it."""

from pathlib import Path

INSTALLED = (Path(__file__).resolve().parent.parent / "relic_ui" / "_app").is_dir()
"""Whether this is from a wheel, which has the app's script there; a checkout has it at the top."""
MODULE = "python -m relic_core"
COMMAND = "relic" if INSTALLED else MODULE
"""What a person types; sentences say `MODULE`, and where they are shown it is what is right here."""
