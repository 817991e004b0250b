"""A server of a language model on this machine: it answers by a script, and misbehaves on request."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def parts(messages) -> list[tuple[str, str]]:
    """Give the delimited parts of a question, the claim first: id and text."""
    return re.findall(r"^<<(\w+)\n(.*?)\n\1>>$", messages[1]["content"], re.DOTALL | re.MULTILINE)


def by_shared_words(messages) -> str:
    """Answer as a model would that goes by the words which a passage shares with the claim."""
    instructions, ((_, claim), *passages) = messages[0]["content"], parts(messages)
    criteria = ["It uses words of the claim."]
    if '"criteria"' in instructions and not passages:
        return json.dumps({"criteria": criteria})
    wanted = set(re.findall(r"\w+", claim.casefold()))

    def shared(text) -> int:
        return len(wanted.intersection(re.findall(r"\w+", text.casefold())))

    if '"claims"' in instructions:
        rows = [{"joined": "and" if at == 0 else "but not", "claim": each} for at, each in enumerate(claim.split(", "))]
        return json.dumps({"claims": rows})
    if '"sentences"' in instructions:
        (code, text), (other, _) = passages[:2]
        quoted = " ".join(text.split()[:3])
        said = [
            {"sentence": f"The first says “{quoted}” and no more.", "passages": [code]},
            {"sentence": "The second says “a comet of pure marzipan”.", "passages": [other, code]},
        ]
        if '"verdicts"' not in instructions:  # the last part is a question about the others
            said = [{"sentence": f"Asked {passages[-1][1]} it says “a tureen of sheer basalt”.", "passages": [other]}]
        return json.dumps({"sentences": said, "verdicts": [{"passage": code, "verdict": "supports"}]})
    if '"passages"' in instructions:
        return '{"passages": []}'
    if '"order"' in instructions:
        return json.dumps({"order": [code for code, text in sorted(passages, key=lambda each: -shared(each[1]))]})
    text = passages[-1][1]
    reason = f"It shares {shared(text)} words with the claim."
    said = {"reason": reason, "words": " ".join(text.split()[:3]), "score": min(10, shared(text))}
    return json.dumps({"criteria": criteria, **said} if '"criteria"' in instructions else said)


def by_length(prompt) -> dict:
    """Take words for tokens, the longer the less likely, between a mark of the beginning and a word more."""
    tokens = ["<s>", *re.findall(r"\s*\S+|\s+", prompt), " more"]
    return {"tokens": tokens, "token_logprobs": [None, *(-float(len(token)) for token in tokens[1:])]}


@dataclass
class Chat:
    """A model: `answer` says what it makes of the messages of a question.

    - `name`: what it calls itself in its answers.
    - `logprobs`: what it makes of the prompt of a completion.
    - `misbehaviour`: what to do instead of answering, for the next requests; an entry "always ..." stays.
    - `asked`: body of each question; `keys`: what stood in its Authorization.
    """

    answer: Callable[[list[dict[str, str]]], str] = lambda messages: '{"score": 5}'
    logprobs: Callable[[str], dict | None] = by_length
    misbehaviour: list[str] = field(default_factory=list)
    retry_after: str = "0"
    asked: list[dict] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    address: str = ""
    name: str = "tiny-q4"
    digest: str = "sha256:0123"
    most_at_once: int = 0
    under_way: int = 0
    release: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_deed(self) -> str:
        with self.lock:
            if not self.misbehaviour:
                return "fine"
            if self.misbehaviour[0].startswith("always "):
                return self.misbehaviour[0].removeprefix("always ")
            return self.misbehaviour.pop(0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer waits 40 ms to be acknowledged
    chat: Chat

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # who asked has gone
            super().handle()

    def do_GET(self) -> None:
        if self.path == "/api/tags":  # as Ollama says it
            self._send(200, {"models": [{"name": "tiny", "digest": self.chat.digest}]})
        else:
            self._send(200, {"data": [{"id": "tiny"}]})

    def do_POST(self) -> None:
        chat = self.chat
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with chat.lock:
            chat.asked.append(body)
            chat.keys.append(self.headers.get("Authorization", ""))
            chat.under_way += 1
            chat.most_at_once = max(chat.most_at_once, chat.under_way)
        try:
            self._deed(chat.next_deed(), body)
        finally:
            with chat.lock:
                chat.under_way -= 1

    def _deed(self, deed: str, body: dict) -> None:
        if deed == "slow":
            time.sleep(0.05)
        if deed == "hang":
            self.chat.release.wait(20)
        if deed in {"fine", "slow", "hang"} and self.path.endswith("/v1/completions"):
            self._send(200, {"choices": [{"logprobs": self.chat.logprobs(body["prompt"])}]})
        elif deed in {"fine", "slow", "hang"}:
            said = self.chat.answer(body["messages"])
            choices = [{"message": {"content": said}}]
            self._send(200, {"choices": choices, "model": self.chat.name, "usage": {"total_tokens": 100}})
        elif deed == "half":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
        elif deed in {"drips", "endless", "drips its head"}:
            self.send_response(200)
            self.send_header("Connection", "close")
            if deed != "drips its head":
                self.end_headers()
            piece, pause = (b" " * 1_000_000, 0) if deed == "endless" else (b"X-Drip: 1\r\n", 0.1)
            self.flush_headers()
            with contextlib.suppress(OSError):
                while not self.chat.release.wait(pause):
                    self.wfile.write(piece)
            self.close_connection = True
        elif deed == "context":
            self._send(400, {"error": {"message": "the request exceeds the available context size"}})
        elif deed == "nothing":
            self._send(200, {"choices": []})
        elif deed == "elsewhere":
            self.send_response(307)
            self.send_header("Location", "http://away.example.org/v1")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._send(int(deed), {"error": {"message": f"<b>no</b> {self.headers.get('Authorization', '')}"}})

    def _send(self, status: int, answer: dict) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        if status in {429, 503}:
            self.send_header("Retry-After", self.chat.retry_after)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def serving(**given) -> Iterator[Chat]:
    """Serve a model for the length of a block."""
    chat = Chat(**given)
    handler = type("Handler", (_Handler,), {"chat": chat})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    chat.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        chat.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
