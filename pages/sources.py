"""Criticism: which lines of a work do critics quote, and who quotes them?"""

from __future__ import annotations

from relic_ui import shell
from relic_ui.sources import sources

app = shell.page("Criticism")
with shell.show_errors():
    wanted = sources.asked()
    if wanted.source_id or wanted.work_id:
        sources.show(app, wanted)
    else:
        sources.choose(app)
