"""Home: what this is, and a first claim to try."""

from __future__ import annotations

from relic_ui import home, shell

workbench = shell.page("Home")
with shell.show_errors():
    home.show(workbench)
