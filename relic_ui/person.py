"""Who is using the app."""

from __future__ import annotations


def current() -> str:
    """Name the person who has signed in; empty where nobody signs in."""
    return ""
