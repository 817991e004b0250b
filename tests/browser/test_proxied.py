"""Pages as they come through the proxy of compose.yaml: what its headers allow is all that they need."""

from __future__ import annotations

import shutil

import httpx
import pytest
from playwright.sync_api import expect

from tools.reliability import attacks

PAGES = {"find": "Find", "library": "Library", "concordance": "Find a word", "recall": "Recall", "notebook": "Notebook"}


@pytest.mark.skipif(shutil.which("caddy") is None, reason="There is no caddy here.")
def test_pages_need_nothing_that_the_headers_of_the_proxy_forbid(server, page, tmp_path):
    refused: list[str] = []
    page.on("console", lambda said: "Content Security Policy" in said.text and refused.append(said.text))
    port = int(server.url.rsplit(":", 1)[1])
    with attacks._proxy(tmp_path, [port]) as url:
        for place, heading in PAGES.items():
            page.goto(f"{url}/{place}")
            expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible(timeout=20_000)
            page.wait_for_timeout(500)
        answer = httpx.get(url)
        commands = httpx.get(f"{url}/_stcore/host-config").json()["allowedOrigins"]
    assert refused == []
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    assert "connect-src" not in answer.headers["Content-Security-Policy"]  # as default-src: here alone
    assert (answer.headers["X-Content-Type-Options"], commands) == ("nosniff", [])
    assert not any("Secure" in cookie for cookie in answer.headers.get_list("Set-Cookie"))
