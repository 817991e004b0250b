"""Who uses the app in this visit: the person that a provider signed in, where one is set up."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence

import streamlit as st

from relic_core.errors import BadRequest

_DIGITS = 16
_PROVIDER = "client_id"
"""What tells the part of a provider from other parts below ``[auth]``."""
_TELLING = ("cookie_secret", "redirect_uri", "server_metadata_url")
"""What a file of secrets holds, under whatever name, that was written for signing in."""
_SHORTEST = 32
_ADDRESS = re.compile(r"""[^@\s,;:"<>()\[\]\\]+@[\w.-]+""")
"""One person's: no list of addresses, no quoted name, nothing that another reader of addresses takes otherwise."""


def current() -> str:
    """Give whose notes and judgements these are; empty where nobody signs in, and all share one notebook.

    A digest of the provider's address and of its name for the person: the same at every visit, and telling nothing.
    """
    user = st.user.to_dict()
    return identity(str(user.get("iss", "")), str(user.get("sub", ""))) if user.get("is_logged_in") else ""


def identity(issuer: str, subject: str) -> str:
    """Make the id of a person.

    >>> identity("https://login.example.edu", "1815") == identity("https://login.example.edu", "1815")
    True
    >>> len(identity("https://login.example.edu", "1815"))
    16
    """
    return hashlib.sha256(f"{issuer}\n{subject}".encode()).hexdigest()[:_DIGITS]


def providers() -> tuple[str, ...]:
    """List who can sign people in: "default" for the one of ``[auth]`` itself, then those below it by name.

    Raises BadRequest: a file of secrets cannot be read, names no provider, or has too short a secret: nobody is let in
    by a slip of the pen. A file of another program's secrets alone is as none.
    """
    files = [path for path in st.get_option("secrets.files") if os.path.lexists(path)]
    try:
        loaded = st.secrets.load_if_toml_exists()
    except (OSError, ValueError):  # a folder, somebody else's, or no UTF-8
        loaded, files = False, files or st.get_option("secrets.files")
    if not loaded:
        if files:
            raise BadRequest(
                f"The file {files[-1]} cannot be read as TOML, so nobody is let in. Correct it and restart."
            )
        return ()
    auth = st.secrets.get("auth")
    if not isinstance(auth, Mapping):
        auth = {}
    named = [name for name, value in auth.items() if isinstance(value, Mapping) and _PROVIDER in value]
    found = (*(("default",) if _PROVIDER in auth else ()), *named)
    if found and len(str(auth.get("cookie_secret", ""))) < _SHORTEST:
        raise BadRequest(
            f"The cookie_secret of the file of secrets is missing, or has less than {_SHORTEST} characters: cookies "
            "could be forged. Nobody is let in. docs/operating.md says how to make one."
        )
    held = st.secrets.to_dict()
    if not found and (not held or "auth" in held or any(word in str(held) for word in _TELLING)):
        raise BadRequest(
            "The file of secrets has no part [auth] that names a provider by its client_id. Nobody is let in. "
            "docs/operating.md shows one; without sign-in, remove the file."
        )
    return found


def confirmed(user: Mapping[str, object]) -> bool:
    """Whether the provider vouches for somebody's address; one that does not speak of it does.

    >>> [confirmed({"email": "ada@example.org"} | user) for user in ({}, {"email_verified": "false"})]
    [True, False]
    """
    return str(user.get("email_verified", True)).lower() in {"true", "1"}  # some providers say it in words


def address_of(user: Mapping[str, object]) -> str:
    """Give the address that a provider gave of somebody; empty where it is not a single address that can be read.

    >>> [address_of({"email": email}) for email in ("Ada@Example.org", "ada@evil.net,x@example.org", '"@example.org')]
    ['Ada@Example.org', '', '']
    """
    given = str(user.get("email") or "").strip(" ")
    # The Kelvin sign is a small k once capitals do not count: such letters would make one address of two.
    changes = any(letter.isascii() != letter.casefold().isascii() for letter in given)
    return given if _ADDRESS.fullmatch(given) and given.isprintable() and not changes else ""


def refused(user: Mapping[str, object], allowed: Sequence[str]) -> str:
    """Say why somebody who signed in may not use the app; nothing where they may.

    - `allowed`: addresses and domains; where there are none, everyone may.

    >>> refused({"sub": "1", "email": "Ada@Example.org"}, ["example.org"])
    ''
    >>> refused({"sub": "1", "email": "ada@example.org.evil.net"}, ["example.org"])
    'ada@example.org.evil.net is not on the list of people who may use this library.'
    >>> refused({"sub": "1", "email": "ada@example.org", "email_verified": False}, ["example.org"])
    'The provider has not confirmed that ada@example.org is your address.'
    """
    if not user.get("sub"):
        return "The provider did not say who you are."
    if not allowed:
        return ""
    if not user.get("email"):
        return "The provider did not give your address, which this library goes by."
    address = address_of(user).casefold()
    if address and not confirmed(user):
        return f"The provider has not confirmed that {address} is your address."
    if address and {address, address.partition("@")[2]} & {each.casefold() for each in allowed}:
        return ""
    # What cannot be read is not repeated: it may be anything.
    return (
        f"{address or 'What the provider gave as your address'} is not on the list of people who may use this library."
    )
