"""What is said of an edition for citations, as fields to fill in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import streamlit as st

from relic_core.domain import EditionDetails
from relic_core.errors import BadRequest

_FIELDS = (
    ("editor", "Editor", 215, "None; several: parted by ;"),
    ("collection", "In the collection", 260, "Of a story or poem: the book it is in"),
    ("edition", "Edition", 120, "2nd"),
    ("volume", "Volume", 90, "2"),
    ("volumes", "Of volumes", 110, "Number"),
    ("publisher", "Publisher", 260, "Not known"),
    ("place", "Place", 150, "Not known"),
    ("year", "Year of this edition", 150, "Year"),
    ("container", "Held by", 190, "Project Gutenberg, for example"),
    ("number", "Number there", 120, "None"),
    ("url", "Address", 330, "https://"),
    ("language", "Language", 120, "English"),
)
_NUMBERS = {"year": "year of this edition", "volumes": "number of volumes"}


def text_fields(names: Iterable[tuple[str, str, int, str]], about: object, key: str) -> dict[str, str]:
    """Draw a field for each, given by name, label, width and what is shown in it where it is empty."""
    return {
        name: st.text_input(
            label, value=str(getattr(about, name) or ""), key=f"{key}-{name}", width=width, placeholder=empty
        )
        for name, label, width, empty in names
    }


def fields(details: EditionDetails, key: str) -> tuple[dict[str, str], date | None]:
    """Draw the fields of an edition (`key` sets them apart from another's); give what they hold, and the date."""
    with st.container(horizontal=True, gap="small"):
        entered = text_fields(_FIELDS, details, key)
        accessed = st.date_input(
            "Taken from there on",
            value=details.accessed,
            max_value=datetime.now(UTC).date(),
            key=f"{key}-accessed",
            width=190,
            format="YYYY-MM-DD",
        )
    return entered, accessed


def read(details: EditionDetails, entered: dict[str, str], accessed: date | None) -> EditionDetails:
    """Turn what the fields hold into details.

    Raises BadRequest: the year or the number of volumes is not a number.

    >>> from relic_core.domain import EditionDetails
    >>> read(EditionDetails(), {"publisher": " Dent ", "year": "1906"}, None).year
    1906
    """
    given: dict[str, Any] = {name: " ".join(value.split()) for name, value in entered.items()}
    for name, what in _NUMBERS.items():
        written = str(given.get(name, ""))
        try:
            given[name] = int(written) if written else None
        except ValueError:
            raise BadRequest(
                f"The {what}, '{written[:40]}', is not a number. Write it in digits, or leave it empty."
            ) from None
    return replace(details, **given, accessed=accessed)
