"""The place in a chapter: what is lit, its address, the bar that copies it, and where the reader was last.

Everything happens in the browser (``reading_place.js``): marking a sentence asks the server for nothing, so the page
stands still.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from relic_ui.component import component

_JS = Path(__file__).with_name("reading_place.js").read_text(encoding="utf-8")

_HTML = """
<style class="relic-read-light"></style>
<p class="relic-read-offer" hidden><a class="relic-link" href="read" target="_self">Continue</a></p>
<section class="relic-read-quoting" aria-label="Who quotes this sentence" tabindex="-1" hidden></section>
<section class="relic-read-bar" aria-label="The passage marked" hidden>
  <p role="status"><strong data-part="place"></strong><span data-part="said"></span></p>
  <div>
    <button type="button" data-part="earlier" aria-label="Mark the sentence before" title="Sentence before">↑</button>
    <button type="button" data-part="later" aria-label="Mark the sentence after" title="Sentence after">↓</button>
    <button type="button" data-part="longer" aria-label="One sentence more" title="One sentence more">+</button>
    <button type="button" data-part="shorter" aria-label="One sentence less" title="One sentence less">−</button>
    <button type="button" data-part="copy-address">Copy address</button>
    <button type="button" data-part="copy-words" aria-label="Copy words: the sentence with its place"
      title="Copy the sentence with its place">Copy words</button>
    <button type="button" class="relic-button" data-part="keep">Keep</button>
    <span data-part="kept"></span>
    <span data-part="quoted"></span>
    <span data-part="like"></span>
    <span data-part="cite"></span>
    <span data-part="about"></span>
    <button type="button" data-part="close" aria-label="Unmark" title="Unmark">×</button>
  </div>
</section>
"""


def show_place(data: Mapping[str, object]) -> None:
    """Draw what follows the reader.

    - `data`: ``work``, ``title``, ``chapter`` (from 1), ``address`` (of what is shown), ``lit`` (``at`` and ``n``, or
      None), ``resumed`` (the reader comes back to the chapter), ``cited`` (how the work is named below a quotation),
      ``about`` (a link), ``like`` and ``cite`` (links to passages like one of the work, and to the citation of one; the
      place is added to them here), ``offer`` (titles by work: where this browser kept a place in one, it is offered),
      ``quoted`` (how often sentences of the chapter are quoted, by their addresses), and ``quoting`` (who quotes the
      sentence that is lit, as HTML; empty where that was not asked), ``search`` (what the reader comes from), and
      ``kept`` (the passages of the work that are in the notebook: address, length, note, collection, and
      whether for the claim at hand).
    """
    # It shares the page's styles and links.
    place = component("relic_reading_place", html=_HTML, js=_JS, isolate_styles=False)
    place(key="read_place", data=dict(data))
