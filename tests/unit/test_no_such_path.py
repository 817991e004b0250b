"""A path that no file can have is told wherever one can be named: with a null character in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from relic_core.config import Settings
from relic_core.domain import SearchRequest
from relic_core.errors import BadRequest, RelicError
from relic_core.formats.files import read_bytes, written_folder, written_whole
from relic_core.ports import silent
from relic_core.wiring import build

NONE = Path("no\0where")


def whole():
    with written_whole(NONE):
        pass


def folder():
    with written_folder(NONE, "marker"):
        pass


WAYS = {
    "back-up": lambda app, _: app.backups.make(NONE, silent),
    "restore": lambda app, _: app.backups.restore(NONE, silent, force=True),
    "search opened": lambda app, _: app.sharing.open_named(str(NONE)),
    "search saved": lambda app, work: app.sharing.save("x", SearchRequest(work_id=work.id, claim_text="x"), NONE),
    "notebook": lambda app, _: app.notebook_files.take_in_file(NONE, ""),
    "study": lambda app, _: app.study_files.take_in(NONE),
    "criticism": lambda app, _: app.mining.run([NONE]),
    "texts": lambda app, _: app.works.texts_in(NONE),
    "a text": lambda app, _: app.works.find_files(str(NONE)),
    "benchmark": lambda app, _: app.benchmarks.open("relic", data=NONE),
    "read": lambda *_: read_bytes(NONE),
    "written": lambda *_: whole(),
    "folder written": lambda *_: folder(),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_path_with_a_null_character_is_told_in_words(settings, way):
    app = build(settings)
    work = app.ensure_sample()
    with pytest.raises(RelicError) as error:
        WAYS[way](app, work)
    assert len(str(error.value)) > 30


@pytest.mark.parametrize(
    "line", ['data = "a\\u0000b"', 'read_from = ["/a", "/b\\u0000"]', "read_from = [1]", 'read_from = "/a"']
)
def test_a_folder_of_the_settings_that_none_can_be_is_told(tmp_path, line):
    path = tmp_path / "relic.toml"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(BadRequest, match=line.partition(" ")[0]):
        Settings.from_environment({"RELIC_CONFIG": str(path)})
