"""The choice between the words of characters and those of the narrator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

from relic_core.domain import VOICES

_LABELS = {"any": "All words", "speech": "Speech", "narration": "Narration"}


def choose_voice(
    key: str, said: str, *, on_change: Callable[[], None] | None = None, label: Literal["visible", "collapsed"]
) -> None:
    """Draw the choice; `said` explains what it does here."""
    st.segmented_control(
        "Speech or narration",
        VOICES,
        format_func=_LABELS.__getitem__,
        key=key,
        persist_state="session",
        required=True,
        on_change=on_change,
        help=said,
        label_visibility=label,
    )
