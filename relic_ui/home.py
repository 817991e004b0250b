"""The home page: one sentence on what this is, claims that answer at one click, and the shelf."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.services.prompts import prompts_for
from relic_ui.find import like, scope
from relic_ui.naming import name_of

if TYPE_CHECKING:
    from relic_core.wiring import App

_WORKS_WITH_EXAMPLES = 4


def show(app: App) -> None:
    """Draw the page."""
    st.title("Which passage bears you out?")
    st.html(
        '<p class="relic-lede">Choose a work and write a claim about it. Three ways of searching bring up the passages '
        "that could stand as evidence, side by side, word for word, each with its place in the work and its "
        "chapter around it. You can also ask all works of your library at once.</p>"
    )
    summaries = app.works.summaries()
    offered = [work for work in summaries if prompts_for(work)][:_WORKS_WITH_EXAMPLES]
    if offered:
        st.header("Try one")
    for work in offered:
        st.html(f'<p class="relic-quiet">In {escape(name_of(work))}</p>')
        for number, prompt in enumerate(prompts_for(work)):
            if st.button(prompt.claim, key=f"home-{work.id}-{number}", icon=":material/arrow_forward:"):
                st.session_state.update(find_work=work.id, find_claim=prompt.claim, find_length=prompt.length)
                like.ask_a_claim()
                scope.limit_to(work.id, ())
                st.switch_page("pages/find.py")
    st.header("Your library")
    st.html(
        f'<p class="relic-measure">{_said_of_library(app, len(summaries))} from the RELiC shelf or from Project '
        "Gutenberg, or add your own editions as plain text, EPUB or TEI; they stay on this machine.</p>"
    )
    st.page_link("pages/library.py", label="Open the library", icon=":material/menu_book:")
    st.header("How to read the results")
    st.html(
        '<ul class="relic-measure">'
        "<li><strong>dense-RELiC</strong> compares meanings: it can find a passage that shares no word with your claim."
        "</li>"
        "<li><strong>BM25</strong> compares words: it finds passages that use the rarer words of your claim.</li>"
        "<li><strong>Reranked</strong> reads the best hundred of both anew, each beside your claim.</li>"
        "<li>Something always comes first. Each card says how far it stands out from the rest of the work, and "
        "whether passages of unrelated books would answer as well; where they would, the page calls the evidence "
        "weak. The judgement is yours.</li></ul>"
    )
    st.header("When you have found one")
    st.html(
        '<ul class="relic-measure">'
        "<li><strong>Keep</strong> it on its card. It stands in your notebook with the claim and its place, for your "
        "own words, a verdict and tags, and goes from there into Word, Markdown or a table.</li>"
        "<li><strong>Cite</strong> it in MLA or Chicago style, or take it to Zotero. These texts have no page numbers, "
        "so a citation gives chapter and paragraph.</li>"
        "<li><strong>Share</strong> the search. Its address opens on a colleague's machine too, and says there what "
        "differs.</li></ul>"
    )
    with st.container(horizontal=True, gap="small"):
        st.page_link("pages/notebook.py", label="Open the notebook", icon=":material/bookmark:")
        st.page_link("pages/history.py", label="Look through your searches", icon=":material/history:")


def _said_of_library(app: App, many: int) -> str:
    """Say what is there to be searched, up to the word that offers more."""
    if many:
        return (
            f"{'One work is' if many == 1 else f'{many} works are'} ready to search, to read, and to look through for "
            "a word. Take others"
        )
    back = " What you removed can be put back there." if app.works.removed() else ""
    return (
        "It is empty, so there is nothing to search yet. With its first work, a claim can be asked of it here and on "
        f"<em>Find a quotation</em>.{back} Take one"
    )
