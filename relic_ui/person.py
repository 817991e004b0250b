"""Who uses the app in this visit: the person that a provider signed in, where one is set up."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

_DIGITS = 16
_PROVIDER = "client_id"
"""What tells the part of a provider from other parts below ``[auth]``."""


def current() -> str:
    """Give whose notes and judgements these are; empty where nobody signs in, and all share one notebook.

    Returns: the same for a person at every visit, and telling nothing about them: a digest of the provider's address
    and of what the provider calls them.
    """
    said = st.user.to_dict()
    return identity(str(said.get("iss", "")), str(said.get("sub", ""))) if said.get("is_logged_in") else ""


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

    Raises BadRequest: there is a file of secrets, and it cannot be read: nobody is let in by a slip of the pen.
    """
    if not st.secrets.load_if_toml_exists():
        there = [path for path in map(Path, st.get_option("secrets.files")) if path.is_file()]
        if there:
            raise BadRequest(
                f"The file {there[-1]} cannot be read as TOML, so nobody is let in. Correct it and start anew."
            )
        return ()
    auth = st.secrets.get("auth") or {}
    named = [name for name, value in auth.items() if isinstance(value, Mapping) and _PROVIDER in value]
    found = (*(("default",) if _PROVIDER in auth else ()), *named)
    if auth and not found:
        raise BadRequest(
            "The file of secrets has a part [auth] that names no provider: client_id is missing. Nobody is let in. "
            "docs/operating.md shows one."
        )
    return found


def confirmed(said: Mapping[str, object]) -> bool:
    """Whether the provider vouches for somebody's address; one that does not speak of it does.

    >>> confirmed({"email": "ada@example.org"}), confirmed({"email": "ada@example.org", "email_verified": "false"})
    (True, False)
    """
    return str(said.get("email_verified", True)).lower() != "false"  # some providers say it in words


def refused(said: Mapping[str, object], allowed: Sequence[str]) -> str:
    """Say why somebody who signed in may not use the app; nothing where they may.

    - `allowed`: addresses and domains; where there are none, everyone may.

    >>> refused({"sub": "1", "email": "Ada@Example.org"}, ["example.org"])
    ''
    >>> refused({"sub": "1", "email": "ada@example.org.evil.net"}, ["example.org"])
    'ada@example.org.evil.net is not among those who may use this library.'
    >>> refused({"sub": "1", "email": "ada@example.org", "email_verified": False}, ["example.org"])
    'The provider has not confirmed that ada@example.org is your address.'
    """
    if not said.get("sub"):
        return "The provider did not say who you are."
    if not allowed:
        return ""
    address = str(said.get("email") or "").strip().lower()
    if not address:
        return "The provider did not give your address, which this library goes by."
    if not confirmed(said):
        return f"The provider has not confirmed that {address} is your address."
    if address in allowed or address.rpartition("@")[2] in allowed:
        return ""
    return f"{address} is not among those who may use this library."
