"""Index files: whole or not there, and noticed when they were touched."""

import errno
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from relic_core.errors import NoIndex, StaleIndex, StoreReadOnly
from relic_core.retrieval import index_files
from relic_core.retrieval.index_files import MANIFEST, Parts, Recipe, building, digest_of_facts

RECIPE = Recipe(
    retriever="demo", work_id="emma-12345678", title="Emma", work="f" * 64, segmenter="rules/1", encoder="m/1", code="1"
)
ARRAYS = {"sums": np.arange(12, dtype=np.float32).reshape(4, 3), "counts": np.array([1, 2, 3, 4], dtype=np.int32)}
ROWS = 4


@pytest.fixture
def folder(tmp_path):
    return index_files.save(tmp_path, RECIPE, ARRAYS, notes={"seconds": 1.5})


def test_what_is_saved_is_loaded_again_read_only(tmp_path, folder):
    loaded = index_files.load(tmp_path, RECIPE)
    assert loaded.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array)
        assert loaded[name].dtype == array.dtype
        assert isinstance(loaded[name], np.memmap)
        assert not loaded[name].flags.writeable


def test_the_manifest_says_what_the_index_is_made_of(folder):
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    assert manifest.items() >= RECIPE.facts.items()
    assert manifest["notes"] == {"seconds": 1.5}
    assert set(manifest["arrays"]) == set(ARRAYS)
    assert manifest["created"] and manifest["program"]


def test_nothing_half_made_stays(tmp_path, folder):
    assert [path.name for path in folder.parent.iterdir()] == [RECIPE.digest[:12]]


def test_an_index_that_was_never_built(tmp_path):
    assert not index_files.exists(tmp_path, RECIPE)
    with pytest.raises(NoIndex, match="Emma"):
        index_files.load(tmp_path, RECIPE)


@pytest.mark.parametrize("fact", ["work", "segmenter", "encoder", "code"])
def test_an_index_of_another_recipe_is_not_found(tmp_path, folder, fact):
    other = Recipe(**{**RECIPE.facts, "title": "Emma", fact: "another"})
    assert not index_files.exists(tmp_path, other)
    with pytest.raises(NoIndex):
        index_files.load(tmp_path, other)


def edit_manifest(folder):
    path = folder / MANIFEST
    path.write_text(path.read_text(encoding="utf-8").replace('"rules/1"', '"rules/2"'), encoding="utf-8")


def swap_bytes(folder):
    path = folder / "sums.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def sealed(**changes):
    """Edit a manifest by hand and give it the digest that belongs to it."""

    def edit(folder):
        manifest = {**json.loads((folder / MANIFEST).read_text(encoding="utf-8")), **changes}
        del manifest["manifest"]
        manifest["manifest"] = digest_of_facts(manifest)
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")

    return edit


DAMAGE = {
    "manifest without arrays": sealed(arrays=None),
    "manifest with an entry that is none": sealed(arrays={"sums": "here"}),
    "manifest with a size that is none": sealed(arrays={"sums": {"bytes": "many", "sha256": "0"}}),
    "manifest without notes": sealed(notes=[]),
    "manifest edited by hand": edit_manifest,
    "manifest not JSON": lambda folder: (folder / MANIFEST).write_text("{", encoding="utf-8"),
    "manifest not an object": lambda folder: (folder / MANIFEST).write_text("[]", encoding="utf-8"),
    "manifest gone": lambda folder: (folder / MANIFEST).unlink(),
    "array cut short": lambda folder: os.truncate(folder / "sums.npy", 100),
    "array gone": lambda folder: (folder / "counts.npy").unlink(),
    "array with another byte": swap_bytes,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_noticed_and_saving_again_repairs_it(tmp_path, folder, damage):
    damage(folder)
    with pytest.raises(StaleIndex, match=r"Emma .* damaged") as caught:
        index_files.load(tmp_path, RECIPE)
    assert not isinstance(caught.value, NoIndex)
    assert not index_files.exists(tmp_path, RECIPE)
    index_files.save(tmp_path, RECIPE, ARRAYS)
    np.testing.assert_array_equal(index_files.load(tmp_path, RECIPE)["sums"], ARRAYS["sums"])


def test_a_manifest_moved_from_another_index_is_noticed(tmp_path, folder):
    other = Recipe(**{**RECIPE.facts, "title": "Emma", "code": "2"})
    folder.rename(other.folder(tmp_path))
    with pytest.raises(StaleIndex):
        index_files.load(tmp_path, other)


def test_an_array_outside_the_folder_is_never_opened(tmp_path, folder):
    (folder / "sums.npy").rename(folder.parent / "stolen.npy")
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    del manifest["manifest"]
    manifest["arrays"]["../stolen"] = manifest["arrays"].pop("sums")
    manifest["manifest"] = digest_of_facts(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(StaleIndex, match="damaged"):
        index_files.load(tmp_path, RECIPE)


def test_a_whole_index_is_not_replaced(tmp_path, folder):
    before = (folder / MANIFEST).read_bytes()
    index_files.save(tmp_path, RECIPE, ARRAYS, notes={"seconds": 99})
    assert (folder / MANIFEST).read_bytes() == before


def test_many_writers_of_one_index_leave_one_whole_index(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(lambda _: index_files.save(tmp_path, RECIPE, ARRAYS), range(24)))
    assert len(folders) == 1
    np.testing.assert_array_equal(index_files.load(tmp_path, RECIPE)["sums"], ARRAYS["sums"])
    assert len(list(RECIPE.folder(tmp_path).parent.iterdir())) == 1


def test_no_pickle_is_ever_written_or_read(tmp_path):
    with pytest.raises(ValueError, match=r"pickle"):
        index_files.save(tmp_path, RECIPE, {"sums": np.array([{"a": 1}], dtype=object)})
    assert not index_files.exists(tmp_path, RECIPE)


def test_a_root_that_cannot_be_a_folder_is_named(tmp_path):
    root = tmp_path / "indexes"
    root.write_text("a file", encoding="utf-8")
    with pytest.raises(StoreReadOnly, match="RELIC_INDEXES"):
        index_files.save(root, RECIPE, ARRAYS)
    with pytest.raises(StoreReadOnly, match="RELIC_INDEXES"):
        Parts(root, RECIPE).save(0, ARRAYS)


def test_a_folder_that_gives_way_during_the_rename_is_no_fault(tmp_path, monkeypatch):
    """Another process may have moved a damaged index out of the way by the time we look."""
    rename = Path.rename

    def refused(self, target):
        monkeypatch.undo()
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self, None, target)

    monkeypatch.setattr(Path, "rename", refused)
    index_files.save(tmp_path, RECIPE, ARRAYS)
    assert Path.rename is rename
    assert index_files.exists(tmp_path, RECIPE)


def test_a_root_where_no_lock_can_be_made_is_named(tmp_path):
    root = tmp_path / "indexes"
    root.write_text("a file", encoding="utf-8")
    with (
        pytest.raises(StoreReadOnly, match="RELIC_INDEXES"),
        building(root, RECIPE, while_waiting=pytest.fail),
    ):
        pytest.fail("nothing can be built there")


def test_what_killed_builds_left_is_gone_before_the_next_and_the_rest_stays(tmp_path, folder):
    other = Recipe(**{**RECIPE.facts, "title": "Emma", "code": "2"})
    Parts(tmp_path, RECIPE).save(0, ARRAYS)
    left = [folder.with_name(f".making-{folder.name}-0a1b2c3d"), folder.with_name(".damaged-0a1b2c3d")]
    elsewhere = folder.with_name(f".making-{other.digest[:12]}-0a1b2c3d")  # somebody may be at it
    for path in (*left, elsewhere):
        path.mkdir()
    with building(tmp_path, RECIPE, while_waiting=pytest.fail):
        assert not any(path.exists() for path in left)
        assert elsewhere.exists()
        assert index_files.exists(tmp_path, RECIPE)
        assert Parts(tmp_path, RECIPE).load(0, ROWS) is not None


@pytest.mark.parametrize(("code", "days", "stays"), [("1", 40, True), ("2", 20, True), ("2", 40, False)])
def test_parts_that_no_build_goes_on_with_are_deleted_by_the_next_one_of_another_recipe(tmp_path, code, days, stays):
    old = Recipe(**{**RECIPE.facts, "title": "Emma", "code": code})
    Parts(tmp_path, old).save(0, ARRAYS)
    when = time.time() - days * 86_400
    os.utime(old.folder(tmp_path).with_suffix(".parts"), (when, when))
    with building(tmp_path, RECIPE, while_waiting=pytest.fail):
        assert (Parts(tmp_path, old).load(0, ROWS) is not None) == stays


def test_parts_are_kept_until_cleared(tmp_path):
    parts = Parts(tmp_path, RECIPE)
    assert parts.load(0, ROWS) is None
    parts.save(0, ARRAYS)
    np.testing.assert_array_equal(Parts(tmp_path, RECIPE).load(0, ROWS)["sums"], ARRAYS["sums"])
    assert parts.load(1, ROWS) is None
    parts.clear()
    assert parts.load(0, ROWS) is None


def test_a_damaged_part_counts_as_not_done(tmp_path):
    parts = Parts(tmp_path, RECIPE)
    parts.save(0, ARRAYS)
    (path,) = tmp_path.rglob("*.npz")
    for content in (path.read_bytes()[:-30], b"", b"nothing of the kind"):
        path.write_bytes(content)
        assert parts.load(0, ROWS) is None


@pytest.mark.parametrize(
    ("soft", "hard", "raised", "allowed"),
    [(1_024, 4_096, 4_096, 1_365), (1_024, 500_000, 36_000, 12_000), (500_000, 500_000, 500_000, 12_000)],
)
def test_a_third_of_the_files_that_may_be_open_is_for_indexes_and_they_become_as_many_as_can_be(
    monkeypatch, soft, hard, raised, allowed
):
    limits = [(soft, hard)]
    monkeypatch.setattr(index_files.resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(index_files.resource, "setrlimit", lambda _, wanted: limits.append(wanted))
    assert (index_files.files_allowed(), limits[-1]) == (allowed, (raised, hard))


def test_a_system_that_allows_fewer_files_than_it_says_is_asked_for_no_more(monkeypatch):
    def refuse(*_):
        raise ValueError

    monkeypatch.setattr(index_files.resource, "getrlimit", lambda _: (300, index_files.resource.RLIM_INFINITY))
    monkeypatch.setattr(index_files.resource, "setrlimit", refuse)
    assert index_files.files_allowed() == 100
