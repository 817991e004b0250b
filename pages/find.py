"""Find: which passages of this work would serve as evidence for my claim?"""

from __future__ import annotations

from relic_ui import finding

finding.page("pages/find.py")
