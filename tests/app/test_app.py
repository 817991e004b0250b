"""The app as a whole: pages that open by their address, and a store that cannot be opened."""

from __future__ import annotations

import gc
import weakref
from unittest.mock import Mock

import duckdb
import pytest

from relic_core.errors import StoreBusy
from relic_core.store.connection import Database
from relic_ui import shell
from relic_ui.shell import HELP, MENU, RESEARCH
from tests.app.reading import FIND, LIBRARY, said, sound

WARM = shell._warm  # as it is: the fixture puts another in its place

PAGES = {
    "app.py": "Find the passage that supports your claim",
    FIND: "Find the passage that supports your claim",
    "pages/history.py": "Searches",
    "pages/read.py": "Read",
    "pages/concordance.py": "Find a word",
    "pages/notebook.py": "Notebook",
    LIBRARY: "Library",
    "pages/sources.py": "Criticism",
    "pages/attribution.py": "Where is this from?",
    "pages/recall.py": "Recall",
    "pages/help.py": "Help",
    "pages/work.py": "About a work",
}


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_by_its_address_with_the_whole_menu(app, page):
    at = sound(app.open(page))
    assert [title.value for title in at.title] == [PAGES[page]]
    assert [link.value for link in at.sidebar.get("page_link")] == [label for _, label, _ in (*MENU, *RESEARCH, HELP)]


@pytest.mark.parametrize("page", PAGES)
def test_a_data_folder_that_cannot_be_written_is_told(app, page, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("RELIC_DATA", str(file / "data"))
    at = sound(app.open(page))
    assert "RELIC_DATA" in said(at)
    assert file.read_text() == "not a folder"


def test_a_store_of_a_newer_version_is_told_and_left_alone(app):
    app.store.close()
    with duckdb.connect(str(app.settings.store)) as newer:
        newer.execute("INSERT INTO migrations VALUES (99, 'from_the_future', now()::TIMESTAMP)")
    at = sound(app.open(FIND))
    assert "newer version" in said(at)
    with duckdb.connect(str(app.settings.store), read_only=True) as store:
        assert store.execute("SELECT count(*) FROM migrations WHERE name = 'from_the_future'").fetchone() == (1,)


def test_an_unreadable_setting_is_told(app, monkeypatch):
    monkeypatch.setenv("RELIC_LOCK_SECONDS", "soon")
    assert "RELIC_LOCK_SECONDS is 'soon'" in said(sound(app.open()))


# About a work asks for nothing without a work, Recall for runs, the notebook for notes
@pytest.mark.parametrize(
    "page",
    sorted(
        PAGES.keys() - {"pages/work.py", "pages/recall.py", "pages/sources.py", "pages/notebook.py", "pages/help.py"}
    ),
)
def test_a_store_that_becomes_busy_later_is_told_on_every_page(app, page, monkeypatch):
    at = sound(app.open(page))

    def held(database, patience):
        raise StoreBusy("Another program holds the store. Wait until it has finished.")

    monkeypatch.setattr(Database, "reading", held)
    at.run()
    assert "Another program holds the store." in said(sound(at))


def test_the_first_page_is_drawn_before_the_encoder_is_loaded_and_the_larger_model_comes_after(monkeypatch):
    begun = Mock()
    monkeypatch.setattr(shell, "time", Mock(sleep=begun.pause))  # no other thread waits there
    WARM(begun)
    after = ["indexes.read_broken_words", "larger_model.start_by_itself", "indexes.read_by_larger"]
    assert [name for name, *_ in begun.mock_calls] == ["pause", "indexes.warm", *after]
    assert begun.pause.call_args.args[0] >= 1


def test_once_the_encoder_is_loaded_libraries_are_not_searched_for_garbage_after_every_run(monkeypatch):
    monkeypatch.setattr(shell, "time", Mock())
    gc.unfreeze()
    WARM(Mock())
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    assert frozen > len(gc.get_objects()) / 2


def test_an_app_that_another_takes_the_place_of_is_let_go_with_what_it_had_loaded(monkeypatch):
    class Loaded:
        def __init__(self) -> None:
            self.indexes, self.larger_model, self.itself = Mock(), Mock(), self

    monkeypatch.setattr(shell, "time", Mock())
    before = Loaded()
    still = weakref.ref(before)
    WARM(before)
    del before
    WARM(Loaded())
    gc.unfreeze()
    assert still() is None
