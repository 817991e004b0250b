"""Read: what does this passage say where it stands?"""

from __future__ import annotations

from relic_ui import buttons, shell
from relic_ui.read import read, read_address, read_keep

workbench = shell.page("Read")
with shell.told():
    read_keep.do(workbench, *buttons.pressed())
    wanted = read_address.asked()
    page = read_address.open_page(workbench, wanted) if wanted.work_id else None
    if page is None:
        read.choose(workbench)
    else:
        read.show(workbench, page, wanted)
