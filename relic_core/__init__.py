"""RELiC Workbench: find the quotation that supports a literary claim."""

import os
from pathlib import Path

__version__ = "0.1.0"

INSTALLED = (Path(__file__).resolve().parent.parent / "relic_ui" / "_app").is_dir()
"""Whether this is from a wheel, which has the app's script there; a checkout has it at the top."""
MODULE = "python -m relic_core"
COMMAND = "relic" if INSTALLED else MODULE
"""What a person types; sentences say `MODULE`, and where they are shown it is what is right here."""

# OpenMP's threads wait for each other by spinning unless told not to. On a machine that does anything else beside, that
# made indexing five to six times as slow (two cores, one of them busy). It is read when torch is loaded, hence here.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
