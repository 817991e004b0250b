"""Help: how does this work?"""

from __future__ import annotations

from relic_ui import manual, shell

app = shell.page("Help")
with shell.show_errors():
    manual.show(app)
