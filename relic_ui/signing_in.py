"""The door: where sign-in is set up, a page shows nothing before somebody who may has signed in."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.url_util import make_url_path
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from relic_core.config import Settings
from relic_core.errors import BadRequest, RelicError, StoreError
from relic_core.installed import more
from relic_core.wiring import App
from relic_ui import person

_SEEN = "signed_in_seen"
"""In the session: who was remembered in this visit, with their address."""
_KEPT = 32 * 86_400
"""Seconds after which no cookie is taken any more, and nobody need remember that it was given up."""


def pass_the_door(settings: Settings) -> None:
    """Stop the page unless nobody has to sign in, or somebody who may has.

    Raises BadRequest: sign-in is asked for and not set up, or the other way round: nobody is let in by mistake.
    """
    providers, required = person.providers(), settings.data / ".sign-in"
    if not providers:
        if settings.sign_in_allow:
            raise BadRequest(
                "RELIC_SIGN_IN_ALLOW says who may use this library, and no provider is set up to sign them in, so "
                "nobody is let in. docs/operating.md shows how; or leave the setting empty."
            )
        if required.exists():
            raise BadRequest(
                "People signed in to this library before, and no provider is set up any more, so nobody is let in. "
                f"Put the file of secrets back and restart; or open the library to everybody by removing {required}."
            )
        return
    if not required.exists():
        with suppress(OSError):  # opening the library says why
            settings.data.mkdir(parents=True, exist_ok=True)
            required.touch()
    if find_spec("authlib") is None:
        raise BadRequest(
            f"Signing in needs a package that is not installed. For the person who runs this library: {more('signin')}."
        )
    user = st.user.to_dict()
    if not user.get("is_logged_in") or _ended(settings, user).exists():
        _ask(providers)
        st.stop()
    if why := person.refused(user, settings.sign_in_allow):
        _turn_away(why)
        st.stop()


def refused_now(user: Mapping[str, object]) -> str:
    """Say why somebody who signed in may not come in as the list stands now; empty if they may."""
    try:
        settings = Settings.from_environment()
    except RelicError as error:  # the list cannot be read
        return str(error)
    if _ended(settings, user).exists():
        return "You have signed out."
    return person.refused(user, settings.sign_in_allow)


def _ended(settings: Settings, user: Mapping[str, object]) -> Path:
    """Name the file that is there once somebody has signed out, for the one time that they had signed in."""
    once = json.dumps([user.get(each) for each in ("iss", "sub", "iat", "nonce")])
    return settings.data / ".signed-out" / hashlib.sha256(once.encode()).hexdigest()


class Cookies:
    """Middleware that gives what pages offer below /media/ to who may come in alone, and ends a cookie at sign-out.

    Streamlit asks nobody for a cookie there, and takes a cookie out of one browser without forgetting it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._media = make_url_path(st.get_option("server.baseUrlPath"), "media/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] == "http":
            if scope["path"].endswith("/auth/logout"):
                _end(_signed(scope))
            elif scope["path"].startswith(self._media) and (not (user := _signed(scope)) or refused_now(user)):
                await PlainTextResponse("Sign in before you open this file.", 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _signed(scope: Scope) -> dict[str, object]:
    """Read the cookie of who signed in; nothing where there is none, or it is forged."""
    cookies = Request(scope).cookies
    found = starlette_websocket._get_signed_cookie_with_chunks(cookies, USER_COOKIE_NAME)  # noqa: SLF001 - no other is
    user: dict[str, object] = json.loads(found or b"{}")
    return user


def _end(user: Mapping[str, object]) -> None:
    if not (user.get("iat") or user.get("nonce")):  # by a provider that does not say when: they could never come back
        return
    with suppress(OSError, RelicError):  # the browser loses its cookie all the same
        file = _ended(Settings.from_environment(), user)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        for old in file.parent.iterdir():
            if time.time() - old.stat().st_mtime > _KEPT:
                old.unlink(missing_ok=True)


class Admitted:
    """The app in the hands of somebody who signed in, who has it for as long as they may use it.

    Streamlit runs fragments, callbacks and downloads without the page, and so without its door. They ask the app for
    what they show or write, and it asks anew whether they may.
    """

    def __init__(self, app: App, user: Mapping[str, object]) -> None:
        self._app, self._user = app, user

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the app has
        """Give what the app has of that name; or draw the page anew, whose door says why not."""
        if why := refused_now(self._user):
            st.rerun()
            raise BadRequest(why)  # a download has no page
        return getattr(self._app, name)


def remember(app: App) -> None:
    """Remember once in a visit who signed in, so that what was kept before can be handed over to their address."""
    user = st.user.to_dict()
    address, who = person.address_of(user), person.current()
    if not who or not address or not person.confirmed(user) or st.session_state.get(_SEEN) == (who, address):
        return
    with suppress(StoreError):  # no page depends on it, and the next one tries again
        app.people.signed_in(who, address)
        st.session_state[_SEEN] = (who, address)


def show_who() -> None:
    """Say in the menu who is signed in, with a way out; nothing where nobody signs in."""
    user = st.user.to_dict()
    if not user.get("is_logged_in"):
        return
    name = str(user.get("name") or user.get("email") or "somebody")
    with st.container(key="signed-in"):
        st.html(f'<p class="relic-quiet">Signed in as<br><strong>{escape(name)}</strong></p>')
        _way_out()


def _ask(providers: tuple[str, ...]) -> None:
    with st.container(key="sign-in", width=480):
        st.title("Sign in")
        st.html(
            '<p class="relic-lede">This library is for a group. Sign in to search and read; your notes and judgements '
            "are kept as yours.</p>"
        )
        for number, name in enumerate(providers):
            label = "Sign in" if len(providers) == 1 else f"Sign in with {name.capitalize()}"
            kind: Literal["primary", "secondary"] = "primary" if number == 0 else "secondary"
            if st.button(label, key=f"sign-in-{name}", type=kind, icon=":material/login:"):
                st.login(None if name == "default" else name)


def _turn_away(why: str) -> None:
    with st.container(key="turned-away", width=480):
        st.title("You are signed in, but not on the list")
        st.html(
            f'<p class="relic-lede">{escape(why)} Ask the person who runs it to add you, or use another address.</p>'
        )
        _way_out()


def _way_out() -> None:
    if st.button("Sign out", key="sign-out", icon=":material/logout:"):
        st.logout()
        st.stop()  # a page that is run anew before the browser has heard of it would throw its redirect away
