"""Assistants that write beside the app: each by a server of its own, some of which are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

from relic_core.config import PROJECT, Settings
from relic_core.domain import SearchRequest
from tools.reliability.rows import Row, Trial

_PROTOCOL = "2025-06-18"
_AT_ONCE = 2
_NOTES = 10


def assistants(trial: Trial) -> Row:
    """Let assistants keep notes while the app keeps searches; kill the server of one, and look for what was kept."""
    row = Row(
        name="assistants beside the app",
        done=f"{_AT_ONCE} servers for assistants kept {_NOTES} notes each while the app kept searches without a pause, "
        f"{trial.rounds} times; each time one of them was killed (SIGKILL) half-way.",
        expected="Every call is answered until the kill, the app meanwhile too, and nothing acknowledged is lost.",
        happened="Not tried: the package mcp is not installed (requirements-mcp.txt).",
        held=None,
    )
    if find_spec("mcp") is None:
        return row
    notes: set[str] = set()
    searches: set[str] = set()
    for number in range(trial.rounds):
        trial.say(f"assistants beside the app, {number + 1} of {trial.rounds}")
        with ExitStack() as stack, ThreadPoolExecutor(_AT_ONCE) as pool:
            servers = [stack.enter_context(_server(trial.app.settings)) for _ in range(_AT_ONCE)]
            kept = [
                pool.submit(_keep, server, trial.work_id, f"round {number}, assistant {at}", killed=at == 0)
                for at, server in enumerate(servers)
            ]
            while not all(each.done() for each in kept):
                asked = SearchRequest(work_id=trial.work_id, claim_text=f"beside assistants {number} {len(searches)}")
                searches.add(trial.app.history.keep(asked).id)
            for each in kept:
                notes |= each.result()
    there = {view.note.kept.claim_text for view in trial.app.notebook.notes()}
    there |= {search.id for search in trial.app.history.recent(1_000_000)}
    lost = len((notes | searches) - there)
    wanted = trial.rounds * (_NOTES * (_AT_ONCE - 1) + _NOTES // 2)
    return Row(
        name=row.name,
        done=row.done,
        expected=row.expected,
        happened=f"{len(notes)} of {wanted} notes and {len(searches)} searches were acknowledged, {lost or 'none'} of "
        "them lost.",
        held=lost == 0 and len(notes) == wanted and bool(searches),
        counts={"answered": len(notes), "kills": trial.rounds, "lost": lost},
    )


@contextmanager
def _server(settings: Settings) -> Iterator[subprocess.Popen[str]]:
    """Start a server that may keep notes, and greet it; it ends with the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "relic_core", "mcp", "--keep"],
        cwd=PROJECT, env={**os.environ, **settings.to_environment()}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            client = {"name": "drill", "version": "1"}
            _ask(process, "initialize", protocolVersion=_PROTOCOL, capabilities={}, clientInfo=client)
            _say(process, method="notifications/initialized")
            yield process
        finally:
            process.kill()


def _keep(process: subprocess.Popen[str], work: str, name: str, *, killed: bool) -> set[str]:
    """Keep notes, each on a claim of its own; gives the claims of those that were acknowledged."""
    acknowledged = set()
    for number in range(_NOTES // 2 if killed else _NOTES):
        claim = f"{name}, note {number}"
        answer = _ask(process, "tools/call", name="keep_note", arguments={"work": work, "at": "1.1.1", "claim": claim})
        if not answer.get("result", {}).get("isError", True):
            acknowledged.add(claim)
    if killed:
        _say(process, id=2, method="tools/call", params={"name": "find_word", "arguments": {"word": "the"}})
        process.kill()
    return acknowledged


def _ask(process: subprocess.Popen[str], method: str, **parameters: object) -> dict[str, Any]:
    _say(process, id=1, method=method, params=parameters)
    assert process.stdout is not None  # noqa: S101 - it was asked for above
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def _say(process: subprocess.Popen[str], **message: object) -> None:
    assert process.stdin is not None  # noqa: S101 - as above
    process.stdin.write(f"{json.dumps({'jsonrpc': '2.0', **message})}\n")
    process.stdin.flush()
