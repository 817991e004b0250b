"""Claims to begin with on the Find page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from relic_core.services.prompts import prompts_for

if TYPE_CHECKING:
    from relic_core.domain import WorkSummary
    from relic_core.services.prompts import Prompt


def show_examples(work: WorkSummary) -> None:
    """Offer claims to click; a click asks at once."""
    prompts = prompts_for(work)
    if not prompts:
        return

    def take(prompt: Prompt) -> None:
        st.session_state.update(find_claim=prompt.claim, find_length=prompt.length)

    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="examples"):
        st.html('<p class="relic-quiet">Try:</p>', width="content")
        for number, prompt in enumerate(prompts):
            st.button(prompt.claim, key=f"try-{work.id}-{number}", type="tertiary", on_click=take, args=(prompt,))
