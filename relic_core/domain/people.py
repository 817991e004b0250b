"""People who sign in, as the core knows them: by digests; and what each of them keeps."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

NOBODY = "nobody"
"""How a command calls what was kept while nobody signed in."""

_DIGITS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What one person keeps that is there, each question of a search once; whose it is, nobody's where empty.

    - `removed`: how many of the three can be put back.
    - `address`: digest of the address they signed in with last, as of `address_digest`; empty where they never did.
    """

    person: str
    notes: int = 0
    collections: int = 0
    searches: int = 0
    removed: int = 0
    address: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing at all, not even something that was removed."""
        return not (self.notes or self.collections or self.searches or self.removed)


def address_digest(address: str) -> str:
    """Make of an e-mail address what the store keeps of it; capitals and white space around it do not matter.

    >>> address_digest("Ada@Example.org ") == address_digest("ada@example.org")
    True
    >>> len(address_digest("ada@example.org"))
    32
    """
    normal = address.strip().lower().encode("utf-8", "surrogatepass")
    return hashlib.sha256(b"relic address\n" + normal).hexdigest()[:_DIGITS]
