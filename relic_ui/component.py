"""Scripts of ours in the browser, as components of Streamlit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st


@st.cache_resource
def component(name: str, **parts: Any) -> Callable[..., Any]:  # noqa: ANN401 - as Streamlit takes them
    """Register a component once per server, with its script, HTML and CSS; what comes back draws it."""
    return st.components.v2.component(name, **parts)
