"""A mirror of Project Gutenberg on this machine: it serves files under Gutenberg's paths, and misbehaves on request."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WEB_PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Welcome to the caf\xc3\xa9</body></html>"


@dataclass
class Mirror:
    """What is served, how, and what was asked.

    Attributes
    ----------
    books : dict
        Number → bytes.
    end : str
        Which of a book's names it has: "cache" (cache/epub/N/pgN.txt), "-0", "-8" or "" (in the tree of digits).
    misbehaviour : list of str
        What to do instead of answering rightly: the first entry is for the next request, and so on; "fine" is for
        behaving. The last entry that begins with "always " stays.
    asked : list of tuple
        Path and headers of each request.
    """

    books: dict[int, bytes] = field(default_factory=dict)
    end: str = "cache"
    misbehaviour: list[str] = field(default_factory=list)
    content_type: str = "text/plain; charset=utf-8"
    retry_after: str = "1"
    etags: bool = True
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    address: str = ""
    release: threading.Event = field(default_factory=threading.Event)

    def path(self, number: int) -> str:
        digits = str(number)
        tree = "/".join([*(digits[:-1] or "0"), digits])
        return f"/cache/epub/{number}/pg{number}.txt" if self.end == "cache" else f"/{tree}/{number}{self.end}.txt"

    def find(self, path: str) -> bytes | None:
        return next((data for number, data in self.books.items() if self.path(number) == path), None)

    def next_deed(self) -> str:
        if not self.misbehaviour:
            return "fine"
        if self.misbehaviour[0].startswith("always "):
            return self.misbehaviour[0].removeprefix("always ")
        return self.misbehaviour.pop(0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mirror: Mirror

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # who asked has read enough
            super().handle()

    def do_GET(self) -> None:
        mirror = self.mirror
        mirror.asked.append((self.path, dict(self.headers)))
        data = mirror.find(self.path)
        deed = mirror.next_deed()
        if deed == "fine":
            return self._fine(data)
        if deed.isdecimal():  # a status, busy ones with Retry-After
            headers = {"Retry-After": mirror.retry_after} if deed in {"429", "503"} and mirror.retry_after else {}
            return self._send(int(deed), b"Not now.", headers)
        if deed == "web page":
            return self._send(200, WEB_PAGE, {"Content-Type": "text/html"})
        if deed == "broken off":
            self._head(200, {"Content-Length": str(len(data or b"") + 500)})
            self.wfile.write(data or b"")
        elif deed == "broken chunks":
            self._head(200, {"Transfer-Encoding": "chunked"})
            self.wfile.write(b"20\r\nonly a little")
        elif deed == "endless":
            self._head(200, {"Transfer-Encoding": "chunked"})
            while not mirror.release.is_set():
                try:
                    self.wfile.write(b"1000\r\n" + b"endless " * 512 + b"\r\n")
                except OSError:
                    break
        elif deed == "slow":
            body = data or b""
            self._head(200, {"Content-Length": str(len(body))})
            for at in range(0, len(body), max(1, len(body) // 5)):
                self.wfile.write(body[at : at + max(1, len(body) // 5)])
                self.wfile.flush()
                mirror.release.wait(0.02)
        elif deed.startswith("redirect "):
            return self._send(302, b"", {"Location": deed.removeprefix("redirect ")})
        else:
            raise AssertionError(deed)
        self.close_connection = True
        return None

    def _fine(self, data: bytes | None) -> None:
        if data is None:
            return self._send(404, WEB_PAGE, {"Content-Type": "text/html"})
        etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        marks = {"ETag": etag} if self.mirror.etags else {"Last-Modified": "Sat, 21 Nov 2026 08:00:00 GMT"}
        known = self.headers.get("If-None-Match") == etag
        if not self.mirror.etags:
            known = self.headers.get("If-Modified-Since") == marks["Last-Modified"]
        if known:
            return self._send(304, b"", marks)
        return self._send(200, data, {"Content-Type": self.mirror.content_type, **marks})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self._head(status, headers | ({} if status == 304 else {"Content-Length": str(len(data))}))
        self.wfile.write(data)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serve(books: dict[int, bytes] | None = None, **options: object) -> Iterator[Mirror]:
    """Run a mirror for the length of a block."""
    mirror = Mirror(books=dict(books or {}), **options)  # type: ignore[arg-type]  # its own fields
    handler = type("Handler", (_Handler,), {"mirror": mirror})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    mirror.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield mirror
    finally:
        mirror.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def corpus_books(shared: Path) -> dict[int, bytes]:
    """Read the real files of the corpus that have a number at Project Gutenberg."""
    with (shared / "corpus" / "works.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["gutenberg_id"]]
    folder = shared / "corpus" / "primary"
    return {int(row["gutenberg_id"]): (folder / f"{row['slug']}.txt").read_bytes() for row in rows}
