"""Strangers, who have not passed the door: how many there may be, what anybody's browser may send, and by which name.

Streamlit takes a websocket from anybody, and keeps a visit and what it sent for minutes after it has left. Middleware,
its own hook (`st.App`), stands before that. What comes before a whole request is uvicorn's alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from socket import gethostname
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from relic_ui import uploads

MOST = 100
"""Strangers at once. Somebody who signs in is one for as long as their first page takes."""

PATIENCE = 10.0
"""Seconds in which the head of a request has to come."""

TAKEN = {
    "type": {"rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request"},
    "payload": {"dataframe_chunk", "deferred_file"},
}
"""What our pages have a browser send, and of its operations those. The rest, for developers, is dropped."""

_TRY_AGAIN_LATER = 1013


@dataclass(eq=False)
class _Visit:
    address: str
    send: Send
    id: str = ""
    """Streamlit's; empty until its first page is drawn."""
    closed: bool = False

    async def close(self) -> None:
        self.closed = True
        with suppress(OSError):  # it has left already
            await self.send({"type": "websocket.close", "code": _TRY_AGAIN_LATER})


class Visits:
    """Middleware that lets a number of strangers in at once, keeps nothing of them, and drops what is not taken."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: list[_Visit] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one websocket; other requests are handed on."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        visit = _Visit((scope.get("client") or ("",))[0], send)

        async def take() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or _is_taken(message.get("bytes")):
                    return message

        async def give(message: Message) -> None:
            if visit.closed:
                return
            visit.closed = message["type"] == "websocket.close"
            if not visit.id and message.get("bytes"):
                visit.id = ForwardMsg.FromString(message["bytes"]).new_session.initialize.session_id
            await send(message)

        self._open.append(visit)
        try:
            await self._make_room()
            await self._app(scope, take, give)
        finally:
            self._open.remove(visit)
            _forget_strangers()

    async def _make_room(self) -> None:
        """Close the oldest stranger's visit where there are too many, at the address from which most of them come.

        A page that is closed so connects again by itself: somebody who is signing in comes through.
        """
        strangers = [visit for visit in self._open if not visit.closed and not uploads.allowed(visit.id)]
        if len(strangers) > MOST:
            ((address, _),) = Counter(visit.address for visit in strangers).most_common(1)
            await next(visit for visit in strangers if visit.address == address).close()


class Hosts:
    """Middleware that answers to names of this machine alone, where nobody signs in.

    A page of the web may have its own name lead to this machine (DNS rebinding), and would read as its own what is
    shown. The name that a proxy was asked for is the proxy's to judge. No page can give a websocket a proxy's header,
    and without a websocket no visit begins, so none of its files has an address.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] == "lifespan" or _is_ours(headers := Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        await PlainTextResponse(
            f"{headers['host']} is not known as a name of this server. Open it as localhost, or name it in "
            "STREAMLIT_SERVER_ALLOWED_HOSTS (docs/operating.md).",
            403,
        )(scope, receive, send)


def _is_ours(headers: Headers) -> bool:
    host = headers.get("host")
    if st.get_option("server.allowedHosts"):
        return is_host_allowed(host)
    named = (gethostname(), st.get_option("server.address"), st.get_option("browser.serverAddress"), "localhost")
    try:
        name = (urlsplit(f"//{host or ''}").hostname or "").rstrip(".")
    except ValueError:
        return False
    with suppress(ValueError):
        return bool(ip_address(name))  # no name leads here
    own = {str(each).lower().removesuffix(".local") for each in named}
    return host is None or name.removesuffix(".local") in own or "x-forwarded-for" in headers


def _forget_strangers() -> None:
    """Drop what Streamlit keeps of strangers who have left; one who left before a page was drawn has no id here."""
    server = runtime.get_instance()
    for kept in server._session_mgr.list_sessions():  # noqa: SLF001 - the only list of them; a test uses the real one
        if not uploads.allowed(kept.session.id) and not server.is_active_session(kept.session.id):
            server.close_session(kept.session.id)


def _is_taken(frame: bytes | None) -> bool:
    try:
        message = BackMsg.FromString(frame or b"")
    except DecodeError:
        return True  # Streamlit closes the connection, as it does for text
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in TAKEN["payload"]
    return frame is None or kind in TAKEN["type"]


def guard_connections() -> None:
    """Have uvicorn refuse large frames before it has them whole, and close connections whose request does not come.

    Streamlit has settings for neither: its `maxMessageSize` holds for pages, too, and a long text is one message.
    """
    largest = int(st.get_option("server.maxWidgetStateSize") * 1e6)
    made = AutoHTTPProtocol.connection_made

    def connection_made(self: Any, transport: asyncio.Transport) -> None:  # noqa: ANN401 - uvicorn's, of either parser
        self.config.ws_max_size = largest
        made(self, transport)
        self.loop.call_later(PATIENCE, look, self, None)

    def look(connection: Any, before: Any) -> None:  # noqa: ANN401 - it, and its last request at the look before
        transport, request = connection.transport, connection.cycle
        if transport.is_closing() or transport.get_protocol() is not connection:  # it is a websocket now
            return
        if request is before and (request is None or request.response_complete):
            transport.abort()
        else:
            connection.loop.call_later(PATIENCE, look, connection, request)

    AutoHTTPProtocol.connection_made = connection_made  # type: ignore[method-assign, assignment]
