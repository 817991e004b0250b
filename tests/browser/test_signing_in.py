"""Signing in, in a real browser: asked for on every page, refused to who is not on the list, and undone."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.approved import says
from tests.browser.serving import copied, serving
from tests.oidc_provider import Provider, provider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.serving import Server

SAYS = says("signing_in")


@pytest.fixture(scope="module")
def guarded(prepared, browser, tmp_path_factory) -> Iterator[tuple[Server, Provider]]:
    """Serve the sample to a group, with a provider of our own that signs in whom the test names."""
    folder = tmp_path_factory.mktemp("guarded")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with provider() as known:
        secrets = folder / "home" / ".streamlit" / "secrets.toml"
        secrets.parent.mkdir(parents=True)
        secrets.write_text(known.secrets(f"http://localhost:{port}"), encoding="utf-8")
        allowed = {"HOME": str(folder / "home"), "RELIC_SIGN_IN_ALLOW": "ada@example.org,example.edu"}
        with serving(copied(prepared, folder / "own"), port=port, cold=True, **allowed) as running:
            yield running, known


def test_who_is_not_on_the_list_is_turned_away_and_who_is_gets_in_and_out(guarded, page, axe):
    """Nothing of the library is shown to a stranger, and all of it goes again with signing out."""
    server, known = guarded
    page.goto(f"{server.url}/find")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_role("link", name="Library", exact=True)).to_have_count(0)
    expect(page.get_by_text("Averhythe")).to_have_count(0)
    page.wait_for_timeout(300)
    assert axe(page) == []

    known.person = {"sub": "7", "name": "Eve", "email": "eve@example.org"}
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="not on the list")).to_be_visible()
    expect(page.get_by_text(SAYS["Eve refused"])).to_be_visible()
    expect(page.get_by_role("link", name="Library", exact=True)).to_have_count(0)
    assert axe(page) == []
    _sign_out(page)
    assert known.asked[-1] == "/leave"

    known.person = {"sub": "8", "name": "Ada <b>L.</b>", "email": "ada@example.org", "email_verified": True}
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Library", exact=True)).to_be_visible()
    expect(page.get_by_text("Ada <b>L.</b>")).to_be_visible()
    assert axe(page) == []
    page.goto(f"{server.url}/library")
    expect(page.get_by_role("heading", name="Library", level=1)).to_be_visible()
    _sign_out(page)
    page.goto(f"{server.url}/library")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def _sign_out(page):
    """Sign out, here and at the provider: the heading alone may stand there while the browser has its cookie still."""
    with page.expect_response(lambda answer: "/leave" in answer.url):
        page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_copy_of_the_cookie_is_worth_nothing_once_its_owner_has_signed_out(guarded, page, browser):
    server, known = guarded
    media = f"{server.url}/media/{'0' * 64}.txt"
    assert page.request.get(media).status == 403
    assert page.request.get(f"{server.url}/static/media/{'0' * 8}.woff2").status != 403, "fonts are for everybody"
    known.person = {"sub": "8", "name": "Ada", "email": "ada@example.org"}
    page.goto(server.url)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Library", exact=True)).to_be_visible()
    assert page.request.get(media).status == 404  # nothing of that name, for who may ask
    copied = browser.new_context(storage_state=page.context.storage_state())
    with copied as other:
        thief = other.new_page()
        thief.goto(f"{server.url}/library")
        expect(thief.get_by_role("heading", name="Library", level=1)).to_be_visible()
        _sign_out(page)
        assert thief.request.get(media).status == 403
        thief.get_by_role("link", name="Notebook", exact=True).click()
        expect(thief.get_by_role("heading", name="Sign in")).to_be_visible()
        thief.goto(f"{server.url}/library")
        expect(thief.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Library", exact=True)).to_be_visible()
