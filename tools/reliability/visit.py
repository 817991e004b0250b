"""A visit without a browser: a websocket that speaks Streamlit's messages, and the uploads of its own."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Self

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

_QUIET = logging.getLogger(__name__)
_QUIET.addHandler(logging.NullHandler())
"""For the client, which takes a server that hangs up on it for an error of its own."""

PATIENCE = 60.0
"""Seconds in which a page is drawn on a busy machine."""


class Visit:
    """One visitor of a server (http://localhost:8501 for example), with the cookies it gives."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=PATIENCE)
        self._http.get("/_stcore/health")
        cookies = "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())
        self.xsrf = self._http.cookies.get("_streamlit_xsrf") or ""
        self._connection = connect(
            f"{url.replace('http', 'ws', 1)}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit"), Subprotocol(self.xsrf or "none")],
            additional_headers={"Cookie": cookies},
            origin=Origin(url),
            max_size=None,
            logger=_QUIET,
            ping_interval=None,  # a busy server is not gone
        )
        self.id = ""

    def __enter__(self) -> Self:
        self.socket = self._connection.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave, as closing the tab does."""
        self._connection.__exit__(None, None, None)
        self._http.close()

    @property
    def served_by(self) -> str:
        """The cookie by which a proxy keeps the visit with one server."""
        return self._http.cookies.get("relic_server") or ""

    def open(self, page: str = "", query: str = "") -> list[ForwardMsg]:
        """Open a page ("find"; "" for home), and give what the server says until it is drawn."""
        asked = BackMsg()
        asked.rerun_script.page_name, asked.rerun_script.query_string = page, query
        self.send(asked)
        return self.drawn()

    def send(self, asked: BackMsg) -> None:
        """Send a message as it is; `is_open` says whether the server hung up on it."""
        with suppress(ConnectionClosed):
            self.socket.send(asked.SerializeToString())

    def drawn(self) -> list[ForwardMsg]:
        """Give what the server says until the page is drawn, or it hangs up."""
        return list(self._until_drawn())

    @property
    def is_open(self) -> bool:
        """Whether neither side has hung up."""
        return self.socket.protocol.close_code is None

    def upload(self, data: bytes, name: str = "a.txt") -> int:
        """Upload a file; gives the status of the answer, 0 where the server hung up on it."""
        address = f"/_stcore/upload_file/{self.id or 'nobody'}/{name}-{time.monotonic_ns()}"
        try:
            return self._http.put(
                address, files={"file": (name, data, "text/plain")}, headers={"X-Xsrftoken": self.xsrf}
            ).status_code
        except httpx.TransportError:
            return 0

    def status(self, path: str) -> int:
        """Ask for an address; gives the status of the answer."""
        return self._http.get(path).status_code

    def _until_drawn(self) -> Iterator[ForwardMsg]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                message = ForwardMsg.FromString(self.socket.recv(timeout=PATIENCE, decode=False))
            except ConnectionClosed:
                return
            if message.WhichOneof("type") == "new_session":
                self.id = message.new_session.initialize.session_id
            yield message
            if message.WhichOneof("type") == "script_finished":
                return
