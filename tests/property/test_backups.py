"""Whatever a back-up says of itself, and whatever a restore that was begun has written down: told in words."""

import contextlib
import json
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.errors import BadBackup, StoreError
from relic_core.formats.backups import BackupFile
from relic_core.store import swapping

SAID = {"format": 1, "program": "p", "store_version": 1, "store_engine": "e", "created": "c", "works": 1,
        "store": "relic.duckdb", "left_out": [], "members": {}}  # fmt: skip
DECIDED = {"staged": ".restoring-1", "aside": "before-restore-1", "store": "relic.duckdb", "old": [], "new": []}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=9), each, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["data/a", "data/a/b", "data/relic.duckdb", "relic.toml", "manifest.json", "data/", "../x", "data/\0", ""]
)
MEMBERS = st.dictionaries(NAMES | st.text(max_size=9), st.just({"bytes": 0, "sha256": "x"}) | JSON, max_size=5)


@given(key=st.sampled_from([*SAID, "more"]), value=JSON, members=MEMBERS, listed=st.booleans())
def test_a_manifest_is_understood_or_refused(tmp_path_factory, key, value, members, listed):
    path = Path(tmp_path_factory.getbasetemp(), "said.zip")
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("manifest.json", json.dumps({**SAID, "members": members, key: value}))
        for name in members if listed else ():
            with contextlib.suppress(ValueError, UserWarning):
                archive.writestr(name.partition("\0")[0] or "empty", b"")
    path.write_bytes(packed.getvalue())
    try:
        BackupFile(path).close()
    except BadBackup as error:
        assert "Nothing was changed" in str(error)


@given(st.sampled_from([*DECIDED, "more"]), JSON)
def test_what_a_restore_decided_is_understood_or_refused(tmp_path_factory, key, value):
    data = Path(tmp_path_factory.mktemp("decided"))
    (data / swapping.MARKER).write_text(json.dumps({**DECIDED, key: value}))
    if key == "more" or isinstance(value, str) or value == [] or (key in {"old", "new"} and isinstance(value, list)):
        return  # what may be
    with pytest.raises(StoreError, match="delete the file"):
        swapping.finish(data)
    assert [path.name for path in data.iterdir()] == [swapping.MARKER]
