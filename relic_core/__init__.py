"""RELiC Workbench: find the quotation that supports a literary claim."""

import os

__version__ = "0.1.0"

# OpenMP's threads wait for each other by spinning unless told not to. On a machine that does anything else beside, that
# made indexing five to six times as slow (two cores, one of them busy). It is read when torch is loaded, hence here.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
