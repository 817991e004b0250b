"""Bounds of the fields of records that files hold: what the store has room for."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le, Predicate

MOST = 2**31 - 1

Count = Annotated[int, Ge(0), Le(MOST)]
Positive = Annotated[int, Ge(1), Le(MOST)]
Bytes = Annotated[int, Ge(0), Le(2**63 - 1)]
Year = Annotated[int, Ge(-1_000_000), Le(1_000_000)]
Amount = Annotated[float, Ge(0), Le(2**53)]
Words = Annotated[str, Predicate(lambda text: bool(text.strip()))]
"""Something to read."""
