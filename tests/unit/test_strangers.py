"""Before the door: what a browser may send, how many strangers there may be, and how long half a request may stand."""

from __future__ import annotations

import asyncio
import socket
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import uvicorn
from streamlit import config as streamlit_config
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from uvicorn.protocols.http import auto
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from relic_ui import strangers, uploads
from relic_ui.drafts.drafts import LONGEST_DRAFT
from relic_ui.notebook import notebook, notebook_note
from relic_ui.shell import LONGEST_PASTE

PROJECT = Path(__file__).resolve().parents[2]

DROPPED = {
    "type": {
        *("clear_cache", "set_run_on_save", "load_git_info"),
        *("debug_disconnect_websocket", "debug_shutdown_runtime"),
    },
    "payload": {"install_skills", "dismiss_skills_nudge"},
}
"""What is for developers of an app, who can do it without a browser."""


def run(main):
    """Run a coroutine in a thread: tests that drive a browser leave a loop running in theirs."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(main())).result()


class Sessions(set):
    """Streamlit's visits: the ids of those it keeps, and of those that are open."""

    active = frozenset()


@pytest.fixture
def sessions(monkeypatch):
    kept = Sessions()
    listed = SimpleNamespace(list_sessions=lambda: [SimpleNamespace(session=SimpleNamespace(id=each)) for each in kept])
    server = SimpleNamespace(
        is_active_session=lambda visit: visit in kept.active, close_session=kept.discard, _session_mgr=listed
    )
    monkeypatch.setattr(strangers.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(uploads, "_allowed", {})
    return kept


class Browser:
    """One end of a websocket; Streamlit's, which is behind the middleware, hears and draws."""

    def __init__(self, visits, sessions, name, address="192.0.2.1", *, drawn=True):
        self.sent, self.heard, self.told, self._drawn = asyncio.Queue(), [], [], drawn
        scope = {"type": "websocket", "client": (address, 1)}
        self.task = asyncio.create_task(visits(scope, self.sent.get, self._hear))
        self.name, self._sessions = name, sessions

    async def _hear(self, message):
        self.told.append(message["type"])
        if message["type"] == "websocket.close":
            await self.sent.put({"type": "websocket.disconnect"})

    async def served(self, receive, send):
        """Be what Streamlit is to this browser."""
        drawn = ForwardMsg()
        drawn.new_session.initialize.session_id = self.name
        self._sessions.add(self.name)
        self._sessions.active |= {self.name}
        if self._drawn:
            await send({"type": "websocket.send", "bytes": drawn.SerializeToString()})
        while (message := await receive())["type"] == "websocket.receive":
            self.heard.append(message)
            await send({"type": "websocket.send", "bytes": b""})
        self._sessions.active -= {self.name}


@pytest.fixture
def crowd(sessions):
    """Open websockets behind the middleware, each in its turn."""
    coming = []

    async def streamlit(_scope, receive, send):
        await coming.pop(0).served(receive, send)

    visits = strangers.Visits(streamlit)

    async def come(name, address="192.0.2.1", **given):
        coming.append(browser := Browser(visits, sessions, name, address, **given))
        while name not in sessions and not browser.task.done():
            await asyncio.sleep(0)
        return browser

    return come


def frame(kind, payload=""):
    said = BackMsg()
    if payload:
        getattr(said.backend_operation_request, payload).SetInParent()
    elif said.DESCRIPTOR.fields_by_name[kind].message_type:
        getattr(said, kind).SetInParent()
    else:
        setattr(said, kind, True)
    return {"type": "websocket.receive", "bytes": said.SerializeToString()}


def kinds(message, oneof):
    return {field.name for field in message.DESCRIPTOR.oneofs_by_name[oneof].fields}


def test_all_that_a_browser_can_send_is_taken_or_dropped():
    """A new Streamlit may have more: say in `strangers` which of the two it is."""
    for message, oneof in ((BackMsg, "type"), (BackendOperationRequest, "payload")):
        taken, dropped = strangers.TAKEN[oneof], DROPPED[oneof]
        assert not taken & dropped
        assert taken | dropped == kinds(message, oneof)


def test_what_is_for_developers_does_not_reach_streamlit_whoever_sends_it(crowd):
    async def talk():
        browser = await crowd("ada")
        uploads._allowed["ada"] = 1
        dropped = [frame(kind) for kind in DROPPED["type"]]
        dropped += [frame("backend_operation_request", payload) for payload in DROPPED["payload"]]
        taken = [frame(kind) for kind in strangers.TAKEN["type"] - {"backend_operation_request"}]
        taken += [frame("backend_operation_request", payload) for payload in strangers.TAKEN["payload"]]
        taken += [{"type": "websocket.receive", "text": "words"}, {"type": "websocket.receive", "bytes": b"\xff"}]
        for message in (*dropped, *taken, *dropped, {"type": "websocket.disconnect"}):
            await browser.sent.put(message)
        await browser.task
        assert browser.heard == taken

    run(talk)


def test_of_a_stranger_who_leaves_nothing_is_kept_and_of_who_was_let_in_the_visit_is(crowd, sessions):
    async def leave():
        for name in ("stranger", "too early", "ada"):
            browser = await crowd(name, drawn=name != "too early")
            if name == "ada":
                uploads._allowed[name] = 1
            await browser.sent.put({"type": "websocket.disconnect"})
            await browser.task
        assert sessions == {"ada"}

    run(leave)


def test_where_strangers_crowd_the_oldest_of_the_most_crowded_address_goes_and_who_was_let_in_stays(
    crowd, sessions, monkeypatch
):
    monkeypatch.setattr(strangers, "MOST", 3)

    async def come():
        inside = []
        for number in range(5):
            inside.append(await crowd(f"in {number}", "192.0.2.3"))
            uploads._allowed[f"in {number}"] = 1
        alone = await crowd("alone", "192.0.2.2")
        many = [await crowd(f"many {number}", "192.0.2.3") for number in range(4)]
        await asyncio.gather(many[0].task, many[1].task)
        assert all("websocket.close" in browser.told for browser in many[:2])
        assert not any(browser.task.done() for browser in (*inside, alone, *many[2:]))
        assert sessions == {browser.name for browser in (*inside, alone, *many[2:])}
        for browser in (*inside, alone, *many[2:]):
            await browser.sent.put({"type": "websocket.disconnect"})
            await browser.task

    run(come)


@pytest.fixture
def served(monkeypatch):
    """Serve by uvicorn, guarded and with no patience, an app that takes a websocket; gives the port."""
    monkeypatch.setattr(auto.AutoHTTPProtocol, "connection_made", auto.AutoHTTPProtocol.connection_made)
    monkeypatch.setattr(strangers, "PATIENCE", 0.3)
    strangers.guard_connections()

    async def app(scope, receive, send):
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            while (message := await receive())["type"] != "websocket.disconnect":
                if message.get("bytes"):
                    await send({"type": "websocket.send", "bytes": b"taken"})
        elif scope["type"] == "http":
            await asyncio.sleep(0.8)  # longer than a request may take to come
            await send({"type": "http.response.start", "status": 204})
            await send({"type": "http.response.body"})

    free = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="critical", ws="websockets-sansio"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [free]})
    thread.start()
    yield free.getsockname()[1]
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"])
def test_half_a_request_is_given_up(served, begun):
    with socket.create_connection(("127.0.0.1", served), timeout=30) as half:
        half.sendall(begun)
        assert half.recv(1) == b""


def test_half_of_a_second_request_is_given_up_and_a_slow_answer_is_not(served):
    with socket.create_connection(("127.0.0.1", served), timeout=30) as half:
        half.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert half.recv(1_000).startswith(b"HTTP/1.1 204")
        half.sendall(b"GET / HT")
        assert half.recv(1) == b""


def test_a_frame_larger_than_the_state_of_a_page_may_be_is_refused_and_a_page_may_stay_open(served):
    limit = streamlit_config.get_option("server.maxWidgetStateSize") * 1_000_000
    with connect(f"ws://127.0.0.1:{served}", max_size=None) as browser:
        browser.send(bytes(limit))
        assert browser.recv() == b"taken"
        with pytest.raises(ConnectionClosed) as closed:
            browser.send(bytes(limit + 1))
            browser.recv()
        assert closed.value.rcvd.code == 1009


def test_the_server_takes_the_fields_of_the_longest_page():
    served = tomllib.loads((PROJECT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["server"]
    letter = len("書".encode())
    limit = served["maxWidgetStateSize"] * 1_000_000
    assert notebook._PAGE * notebook_note.MOST * letter < 0.8 * limit
    assert 2 * LONGEST_PASTE * letter < 0.8 * limit  # the claim, and once more from the button that puts a gap into it
    assert 0.8 * limit >= 2 * LONGEST_DRAFT  # the Latin and Cyrillic alphabets take two bytes a letter at most
    assert served["maxWidgetStateSize"] <= 1
