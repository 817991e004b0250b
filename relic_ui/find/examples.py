"""What the page Find offers before it is asked: claims to begin with, and the library."""

from __future__ import annotations

import streamlit as st

from relic_core.services.prompts import Prompt, prompts_for
from relic_core.services.search import shown_gap
from relic_ui.find import like
from relic_ui.find.claim_box import ask
from relic_ui.find.scope import Scope
from relic_ui.links import link
from relic_ui.shell import literal
from relic_ui.visit import visit


def show_examples(where: Scope) -> None:
    """Offer claims about a work to click; a click asks at once. Beside a passage none is offered."""
    work = where.work
    prompts = prompts_for(work) if work else ()
    if work is None or not prompts or like.under_way():
        return

    def take(prompt: Prompt) -> None:
        visit().update({"find_claim": prompt.claim, "find_more": "", "find_rows": 0})
        ask()

    with st.container(gap="xsmall", key="examples"):
        offer = "Try one of these" if len(prompts) > 1 else "Try this"
        st.html(f'<p class="relic-quiet">{offer}:</p>', width="content")
        for number, prompt in enumerate(prompts):
            label = shown_gap(prompt.claim)
            st.button(literal(label), key=f"try-{work.id}-{number}", type="tertiary", on_click=take, args=(prompt,))


def show_library(many: int) -> None:
    """Say how many works there are, and how to add more."""
    there = "One work is" if many == 1 else f"{many} works are"
    add = link("library", "Add more", part="Add")
    st.html(
        f'<p class="relic-quiet relic-measure">{there} in your library. {add} from the RELiC shelf, from Project '
        "Gutenberg, or as a file of your own. It stays on this computer.</p>"
    )
