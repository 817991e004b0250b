"""A page without a browser: Streamlit's AppTest, on a workbench of the test's own."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from relic_core.config import Settings
from relic_core.encoders.towers import Tower
from relic_core.encoders.weights import load_tokenizer
from relic_core.library import sample
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
from relic_core.wiring import App, build
from tests.app.reading import html, sound
from tests.fake_retrievers import fake_reranked
from tests.inline import InlineExecutor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relic_core.domain import Example, Work
    from relic_core.ports import Executor

APP = Path(__file__).resolve().parents[2] / "app.py"
_TOKENIZERS = cache(load_tokenizer)
_MODELS: dict[object, Any] = {}
_ALIGNED: dict[tuple[str, tuple[sample.Excerpt, ...]], tuple[Example, ...]] = {}


def _model(tower: Tower) -> Any:
    key = tower.files, tower._arithmetic, tower._longest, tower._card.pooling
    return _MODELS.get(key) or _MODELS.setdefault(key, tower.build())


def _align(work: Work, excerpts: tuple[sample.Excerpt, ...], align=sample.align) -> tuple[Example, ...]:
    if (work.id, excerpts) not in _ALIGNED:
        _ALIGNED[work.id, excerpts] = align(work, excerpts)
    return _ALIGNED[work.id, excerpts]


class Held:
    """Takes jobs and never runs them: each stays queued, as it would behind a long one."""

    def __init__(self) -> None:
        self.alive: list[int] = []

    def submit(self, folder: Path, alive: int) -> None:
        self.alive.append(os.dup(alive))

    def let_go(self) -> None:
        while self.alive:
            os.close(self.alive.pop())


class Visited:
    """The app as one visitor after another finds it.

    Attributes
    ----------
    settings : Settings
        Where its store and its indexes are.
    held : Held
        The executor that runs no job; `run_jobs` puts one in its place that runs each at once.
    store : ExitStack
        What holds the store open; closed before another file takes its place.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.held, self.store = Held(), ExitStack()
        self.settings = Settings(data=folder / "data", indexes=folder / "indexes")
        for name, value in self.settings.to_environment().items():
            monkeypatch.setenv(name, value)
        # The real one takes seconds on every search; what is tested here is what a page makes of its answer.
        monkeypatch.setattr("relic_core.retrieval.reranked.create", fake_reranked)
        # Of a server that goes on; here each visitor would load the encoder that no more than a few of them ask.
        monkeypatch.setattr("relic_ui.shell._warm", lambda _workbench: None)
        # What each of the many servers would read anew.
        monkeypatch.setattr("relic_core.encoders.towers.load_tokenizer", _TOKENIZERS)
        monkeypatch.setattr(Tower, "_model", property(_model))
        monkeypatch.setattr("relic_core.library.sample.align", _align)
        self._run_with(self.held)

    def run_jobs(self) -> None:
        """Let jobs run to their end before the page goes on."""
        self._run_with(InlineExecutor(self.settings))

    def _run_with(self, executor: Executor) -> None:
        self._monkeypatch.setattr("relic_ui.shell.build", partial(build, executor=executor))
        st.cache_resource.clear()

    @property
    def bench(self) -> App:
        """A look at the same store from outside."""
        return build(self.settings, executor=self.held)

    def open(self, page: str = "app.py", /, **query: str) -> AppTest:
        """Open a page by its address, as a new visitor of a server that has just started."""
        st.cache_resource.clear()
        at = AppTest.from_file(str(APP), default_timeout=60)
        for name, value in query.items():
            at.query_params[name] = value
        return at.switch_page(page).run()

    def run_restarted(self, at: AppTest) -> AppTest:
        """Run an open page, with what stands in its widgets, on a server that has just started."""
        shown = at._tree.get_widget_states()
        st.cache_resource.clear()
        at._session_state = AppTest.from_file(str(APP))._session_state
        return sound(at._run(shown))


@pytest.fixture(scope="session", autouse=True)
def _packages_are_read_once() -> Iterator[None]:
    """Let Streamlit look for components among what is installed once, not anew for each page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture
def app(prepared, tmp_path, monkeypatch) -> Iterator[Visited]:
    """Give a test the app with the sample ready to search."""
    shutil.copytree(prepared, tmp_path / "own")
    made = Visited(tmp_path / "own", monkeypatch)
    # Opened and closed by each unit of work, as it is where others want it too, the store takes a third of all time.
    with made.store:
        made.store.enter_context(Database.at(made.settings.store).reading(LockTimeout(1)))
        yield made
    made.held.let_go()
    st.cache_resource.clear()


@pytest.fixture
def press_button(monkeypatch) -> Callable[..., AppTest]:
    """Return a function that presses a button of a page's own HTML, as the browser's listener would tell of it.

    `unseen` is one that the page does not show: of a component, or of something that has gone meanwhile.
    """

    def pressing(at: AppTest, does: str, to: str, *, unseen: bool = False) -> AppTest:
        assert unseen or f'data-does="{does}" data-to="{to}"' in html(at), "there is no such button"
        with monkeypatch.context() as patch:
            told = [(does, to)]
            patch.setattr("relic_ui.buttons.pressed", lambda: told.pop() if told else ("", ""))
            return sound(at.run())

    return pressing
