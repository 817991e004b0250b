"""Who may upload, and how much: nothing before the door, and so many bytes for a visit and for the server.

Streamlit takes files from anyone who opened a websocket, signed in or not, and keeps them in memory for as long as it
keeps the visit. Middleware, its own hook (`st.App`), comes before that.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

_VISIT, _SERVER = 2, 4
"""How many of the largest uploads one visit may hold, and all visits together."""
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/")
_METRICS = re.compile(r"/_stcore/metrics/?$")

_allowed: dict[str, int] = {}
"""The largest upload in bytes of every visit that passed the door, by Streamlit's id of it."""
_asks: dict[str, Callable[[], str]] = {}
"""Says why who passed it would not pass it now: between two uploads nobody draws a page."""


def allow(largest: int, refused: Callable[[], str] = str) -> None:
    """Let this visit upload files of so many bytes, for as long as it is not refused; 0 to refuse them."""
    if context := get_script_run_ctx():
        if largest:
            _allowed[context.session_id], _asks[context.session_id] = largest, refused
        else:
            _allowed.pop(context.session_id, None)


def allowed(visit: str) -> bool:
    """Whether a visit has passed the door."""
    return visit in _allowed


class Limits:
    """Middleware that refuses uploads before their first byte is read, and hides the server's metrics."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._arriving: Counter[str] = Counter()
        """Bytes that are on their way, by visit."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] == "http":
            if _METRICS.search(scope["path"]):
                await PlainTextResponse("Not found", 404)(scope, receive, send)
                return
            upload = _UPLOAD.search(scope["path"])
            if upload is not None and scope["method"] == "PUT":
                await self._take(upload[1], scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _take(self, visit: str, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope["headers"]).get(b"content-length", b"")
        if visit not in _allowed or _asks[visit]():
            refusal = PlainTextResponse("Sign in before you upload a file.", 403)
        elif not given.isdigit():
            refusal = PlainTextResponse("The size of the file must be given.", 411)
        elif not self._has_room(visit, int(given)):
            refusal = PlainTextResponse("There is no room for this file. Remove others, or reload the page.", 413)
        else:
            self._arriving[visit] += int(given)
            try:
                await self._app(scope, receive, send)
            finally:
                self._arriving[visit] -= int(given)
            return
        await refusal(scope, receive, send)

    def _has_room(self, visit: str, size: int) -> bool:
        held = Counter({each: _held(each) for each in list(_files().file_storage)}) + self._arriving
        largest = _allowed[visit]
        return held[visit] + size <= _VISIT * largest and held.total() + size <= _SERVER * largest


@asynccontextmanager
async def serving(_app: st.App) -> AsyncIterator[None]:
    """Free what visits uploaded once they have ended, for as long as the server runs."""
    watch = asyncio.create_task(_end_visits())
    try:
        yield
    finally:
        watch.cancel()


async def _end_visits() -> None:
    """End visits that left files behind and have not come back.

    Streamlit keeps a visit for some time after its connection is lost, and the last of them until another one leaves.
    """
    patience = float(st.get_option("server.disconnectedSessionTTL"))
    left: dict[str, float] = {}
    while True:
        await asyncio.sleep(patience / 8)
        server, now = runtime.get_instance(), time.monotonic()
        for visit in {*_allowed, *_files().file_storage}:
            if server.is_active_session(visit):
                left.pop(visit, None)
                continue
            gone = now - left.setdefault(visit, now)
            if gone >= patience / 2 and _held(visit):
                server.close_session(visit)
            if gone >= patience:
                _files().remove_session_files(visit)  # of a visit that Streamlit ended itself
                _allowed.pop(visit, None)
                _asks.pop(visit, None)
                del left[visit]


def _files() -> MemoryUploadedFileManager:
    return cast("MemoryUploadedFileManager", runtime.get_instance().uploaded_file_mgr)


def _held(visit: str) -> int:
    """Give the bytes of the files of a visit."""
    return sum(len(file.data) for file in _files().file_storage.get(visit, {}).values())
