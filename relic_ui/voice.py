"""The choice between the words of characters and those of the narrator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

from relic_core.domain import VOICES

_LABELS = {"any": "All words", "speech": "Speech", "narration": "Narration"}


def choose_voice(
    key: str, help_text: str, *, on_change: Callable[[], None] | None = None, label: Literal["visible", "collapsed"]
) -> None:
    """Draw the choice; `help_text` explains what it does here."""
    st.segmented_control(
        "Speech or narration",
        VOICES,
        format_func=_LABELS.__getitem__,
        key=key,
        persist_state="session",
        required=True,
        on_change=on_change,
        help=help_text,
        label_visibility=label,
    )
