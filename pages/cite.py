"""Cite: how do I cite this work, or this passage of it?"""

from __future__ import annotations

from relic_ui import citing, shell

app = shell.page("Cite")
with shell.show_errors():
    citing.show(app, citing.asked())
