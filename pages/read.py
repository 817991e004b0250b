"""Read: what does this passage say where it stands?"""

from __future__ import annotations

from relic_ui import buttons, shell
from relic_ui.read import read, read_address

app = shell.page("Read")
with shell.show_errors():
    read_address.keep_pressed(app, *buttons.pressed())
    wanted = read_address.asked()
    page = read_address.open_page(app, wanted) if wanted.work_id else None
    if page is None:
        read.choose(app)
    else:
        read.show(app, page, wanted)
