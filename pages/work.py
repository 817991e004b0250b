"""About a work: which edition is this, what was made of its text, and what has been asked of it?"""

from __future__ import annotations

from relic_ui import shell, work

app = shell.page("About a work")
with shell.show_errors():
    if facts := work.asked(app):
        work.show(app, facts)
