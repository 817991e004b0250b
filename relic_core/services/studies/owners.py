"""Who runs a study: a code that opens its results and its management on the page, so that annotators get no hint.

A code is not kept, only what it was sealed to (scrypt with a salt). It guards the page alone: whoever can run the
program's commands, or read its files, has the study anyway, and can give it another code.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from relic_core.wiring import App

LONGEST_CODE = 200
_SCHEME = "scrypt"
_SALT = 16
"""Bytes."""


class Owners:
    """The owners' codes of the studies of an app."""

    def __init__(self, app: App) -> None:
        self._app = app

    def guarded(self, study_id: str) -> bool:
        """Whether a study has an owner's code."""
        return bool(self._app.store.study_owners.sealed(study_id))

    def opens(self, study_id: str, code: str) -> bool:
        """Whether a code is the owner's; any is where the study has none."""
        sealed = self._app.store.study_owners.sealed(study_id)
        return not sealed or fits(code, sealed)

    def give(self, study_id: str, code: str) -> None:
        """Give a study an owner's code from now on; an empty one opens it to everybody.

        Raises BadRequest: the code is too long.
        Raises NotFound: there is no such study.
        """
        study = self._app.studies.study(study_id)
        self._app.store.study_owners.add(study.id, seal(code))


def seal(code: str) -> str:
    """Seal a code: what is kept of it, from which it cannot be read; empty for an empty one.

    Raises BadRequest: it is too long.

    >>> sealed = seal("ferry")
    >>> "ferry" in sealed, fits("ferry", sealed), fits("Ferry", sealed), seal(" ")
    (False, True, False, '')
    """
    if len(code) > LONGEST_CODE:
        raise BadRequest(
            f"A code may have {LONGEST_CODE} characters, and this has {len(code):,}. Choose a shorter one."
        )
    if not code.strip():
        return ""
    salt = secrets.token_bytes(_SALT)
    return f"{_SCHEME}${salt.hex()}${_digest(code, salt).hex()}"


def fits(code: str, sealed: str) -> bool:
    """Whether a code is the one that was sealed."""
    _, salt, digest = sealed.split("$")
    return hmac.compare_digest(_digest(code[: LONGEST_CODE + 1], bytes.fromhex(salt)), bytes.fromhex(digest))


def _digest(code: str, salt: bytes) -> bytes:
    return hashlib.scrypt(code.strip().encode("utf-8", "surrogatepass"), salt=salt, n=2**14, r=8, p=1)
