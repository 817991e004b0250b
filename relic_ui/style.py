"""The look in one place: type, spacing, colour and the quotation card, for every page.

Colours that carry meaning are mid-tones that read on the light and on the dark page; everything else is mixed from the
text colour of the theme (``.streamlit/config.toml``), so both modes come from one set of rules.
"""

from __future__ import annotations

from relic_ui.kwic_style import KWIC
from relic_ui.sources_style import SOURCES
from relic_ui.tables import TABLES

RETRIEVER_COLOURS = {
    "dense-relic": "#1f7079",
    "bm25": "#96590f",
    "reranked": "#a0477a",
    "fusion": "#5a64a8",
    "zero-shot": "#5f7a34",
    "late": "#8a4b2f",
}
"""One colour per retriever, the same on cards, strips and charts."""

OTHER_COLOUR = "#77726a"


def hue(retriever: str) -> str:
    """Give the CSS that sets a retriever's colour."""
    return f"--relic-hue:{RETRIEVER_COLOURS.get(retriever, OTHER_COLOUR)}"


CSS = """
<style>
:root {
  --relic-serif: "Source Serif", "Source Serif 4", Georgia, "Times New Roman", serif;
  --relic-faint: color-mix(in srgb, currentColor 8%, transparent);
  --relic-line: color-mix(in srgb, currentColor 18%, transparent);
  --relic-lit: color-mix(in srgb, #e0a400 34%, transparent);
}
.stMainBlockContainer { max-width: 84rem; padding-inline: clamp(1rem, 3.5vw, 4rem); }
[class*="relic-"] p, p[class*="relic-"] { margin-bottom: 0; }
button[data-selected="true"], button:is([kind="secondary"], [kind="tertiary"]):is(:hover, :active, :focus) {
  color: inherit !important; }
[class*="st-key-examples"] button p { text-decoration: underline; text-underline-offset: .25em; text-align: left; }
.relic-sr { position: absolute; left: -9999px; }
[data-testid="stPageLink-NavLink"]:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
.relic-lede { font-family: var(--relic-serif); font-size: 1.2rem; line-height: 1.5; max-width: 44rem; margin: 0; }
.relic-quiet { opacity: .82; font-size: .9rem; line-height: 1.45; }
.relic-measure { max-width: 44rem; }
h2.relic-menu { font-size: .875rem; font-weight: 600; opacity: .82; margin: 1rem 0 .2rem; padding: 0 .5rem; }
a.relic-link, .relic-work-facts a, .relic-recall-case a, .relic-recall-back a { color: inherit;
  text-underline-offset: .2em; }
:is(.relic-card, .relic-column, .relic-shelf-do, .relic-shelf-found, .relic-work-facts, .relic-missed,
  .relic-kwic-counts, .relic-read-contents, .relic-note, .relic-proxy, .relic-proxy-review, .relic-proxy-fold,
  .relic-recall-fold) summary:focus-visible,
:is(.relic-from-marks, .relic-like, .relic-read-text, .relic-read-near, .relic-read-contents, .relic-read-search,
  .relic-read-bar, .relic-read-quotes, .relic-read-quoting, .relic-note, .relic-proxy) a:focus-visible,
:is(.relic-read-bar, .relic-read-quotes, .relic-read-quoting, .relic-proxy) button:focus-visible,
:is(.relic-shelf-works, .relic-shelf) li:focus-visible, .relic-kwic-counts div:focus-visible,
:is(.relic-dot, .relic-button, .relic-copy-button, .relic-table, .relic-echo, .relic-proxy textarea):focus-visible,
.relic-read-skip:focus, .relic-echo:target { outline: 2px solid currentColor; outline-offset: 2px; }
.relic-dot:focus-visible { outline-color: var(--relic-hue); }
.relic-like:focus, .relic-note:focus, .relic-read-text span[id]:focus, .relic-window-bar h2:focus,
.relic-proxy :is(h2, [data-part="verdict"]):focus, h1.relic-proxy-title:focus, #proxy-end:focus,
.relic-proxy-known:focus, #recall-examples:focus { outline: none; }
.relic-shelf-works, .relic-shelf, .relic-shelf-left-out, .relic-work-numbers, .relic-work-searches, .relic-kwic-strips,
.relic-window-works, .relic-quoted, .relic-work-quoted, .relic-windows, .relic-moved, .relic-history, .relic-cite-for,
.relic-proxy-options, .relic-recall-numbers, .relic-proxy-numbers { list-style: none; margin: 0 !important;
  padding: 0 !important; }
:is(.relic-card, .relic-like, .relic-window, .relic-note, .relic-moved, .relic-echo, .relic-recall-case) blockquote {
  font-family: var(--relic-serif); padding: 0; border: 0; opacity: 1; color: inherit; }
:is(.relic-card, .relic-like, .relic-window, .relic-moved, .relic-echo, .relic-recall-case) blockquote p { margin: 0;
  font-size: inherit; }
.relic-item { font-size: 1.05rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.35; }

.relic-column { border-top: 3px solid var(--relic-hue, currentColor); padding-top: .3rem; margin: 0; }
.relic-column h2 { font-size: 1rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.5; display: inline; }
.relic-column h2 span { font-weight: 400; opacity: .82; }
.relic-column summary { cursor: pointer; min-height: 1.5rem; line-height: 1.5rem; }
.relic-column p { margin: .2rem 0 .3rem; }

.relic-card { border: 1px solid var(--relic-line); border-radius: .5rem; padding: .7rem .9rem .5rem; margin: 0;
  scroll-margin-top: 5rem; overflow-wrap: anywhere; display: flex; flex-direction: column; }
.relic-card:target { outline: 2px solid var(--relic-hue, currentColor); outline-offset: 2px; }
.relic-card blockquote { font-size: 1.1rem; line-height: 1.45; margin: 0 0 .4rem; hanging-punctuation: first; }
.relic-card header { order: 1; display: flex; flex-wrap: wrap; gap: 0 1.2rem; font-size: .8125rem;
  line-height: 1.5rem; }
.relic-card h3 { margin: 0; padding: 0; font-size: inherit; font-weight: 400; line-height: inherit; letter-spacing: 0; }
.relic-card h3 a { text-decoration-color: var(--relic-line); }
.relic-card h3 > .relic-card-work + a { display: block; }
.relic-card-work { font-family: var(--relic-serif); font-style: normal; font-weight: 600; }
.relic-rank { font-size: .8rem; font-weight: 700; font-variant-numeric: tabular-nums; color: inherit; flex: none;
  border: 1.5px solid var(--relic-hue, currentColor); border-radius: 1rem; min-width: 1.5rem; text-align: center;
  line-height: 1.3rem; display: inline-block; margin-right: .35rem; }
.relic-work header { order: -1; font-size: 1rem; margin-bottom: .4rem; }
.relic-work h3 { display: flex; gap: .6rem; align-items: center; }
.relic-work blockquote { margin: 0; }
.relic-work .relic-quiet { margin: 0 0 .6rem; }
.relic-card-by { display: flex; flex-wrap: wrap; gap: 0 .9rem; font-size: inherit; }
.relic-by::before { content: ""; display: inline-block; width: .55em; height: .55em; border-radius: 1em;
  background: var(--relic-hue); margin-right: .4em; }
.relic-card-do { order: 2; display: flex; flex-wrap: wrap; gap: .1rem .7rem; align-items: center; font-size: .8125rem;
  margin-top: .15rem; }
.relic-card-do a { display: inline-block; min-height: 1.5rem; line-height: 1.5rem; }
.relic-length { display: flex; gap: .2rem; }
.relic-length .relic-button { min-width: 1.6rem; min-height: 1.5rem; padding: 0; line-height: 1;
  text-align: center; justify-content: center; }
.relic-card summary { cursor: pointer; min-height: 1.5rem; line-height: 1.5rem; }
.relic-card-do details[open] { flex-basis: 100%; order: 1; border-top: 1px solid var(--relic-line);
  margin-top: .3rem; padding-top: .2rem; }
.relic-card-do > details:not([open]) > summary { list-style: none; text-decoration: underline;
  text-underline-offset: .2em; }
@supports selector(::details-content) { /* what opens stands below, and nothing in the row moves under the pointer */
  .relic-card-do > details { display: contents; }
  .relic-card-do > details > summary { list-style: none; text-decoration: underline; text-underline-offset: .2em; }
  .relic-card-do > details[open] > summary { text-decoration-thickness: 2px; }
  .relic-card-do > details:not([open])::details-content { display: none; }
  .relic-card-do > details::details-content { order: 1; flex-basis: 100%; border-top: 1px solid var(--relic-line);
    margin-top: .3rem; padding-top: .2rem; }
}
.relic-card .relic-parts { list-style: none; margin: 0 0 .35rem; padding: 0; font-size: .8125rem; line-height: 1.45; }
.relic-card .relic-parts li { display: flex; gap: .7rem; margin: 0 0 .15rem; padding: 0; font-size: inherit; }
.relic-parts li > span { flex: none; min-width: 2.4rem; text-align: right; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.relic-parts q { display: block; font-family: var(--relic-serif); font-size: .95rem; quotes: none; }
.relic-below { font-size: .8125rem; opacity: .82; border-top: 1px solid currentColor; padding-top: .4rem; }
.relic-reading { margin: .3rem 0 1rem .8rem; padding-left: .7rem; border-left: 2px dotted currentColor;
  font-size: .9rem; line-height: 1.45; }
.relic-reading p { margin: .2rem 0; }
.relic-misquoted { font-style: italic; opacity: .82; }
.relic-misquoted::before { content: "⚠ "; font-style: normal; }
.relic-why { line-height: 1.5; }
.relic-why div { margin: 0 0 .15rem; }
.relic-card-again { padding: .35rem .7rem; }
.relic-card-again > details > summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem .5rem;
  font-size: .8125rem; }
.relic-card-again > details > summary > span:nth-child(2) { font-family: var(--relic-serif); font-size: 1rem; flex: 1;
  line-height: 1.35; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden;
  min-width: 60%; }
.relic-card-again > details[open] > summary > span:nth-child(2) { visibility: hidden; }
.relic-card-again > details::details-content { display: flex; flex-direction: column; padding-top: .3rem; }
.relic-card-again > details:not([open])::details-content { display: none; }
.relic-around p { margin: 0; font-size: inherit; }
:is(.relic-card, .relic-echo) blockquote p + p, .relic-around p + p { margin-top: .45em; }
.relic-verse { white-space: pre-line; padding-left: 1em; }
.relic-card mark, .relic-around mark { background: var(--relic-lit); color: inherit; border-radius: .15em;
  padding: 0 .08em; }
.relic-made summary { cursor: pointer; min-height: 1.6rem; }
.relic-around { font-family: var(--relic-serif); font-size: 1rem; line-height: 1.55; padding: .4rem 0 .2rem; }
.relic-card blockquote .relic-rest { opacity: .75; }
.relic-around .relic-gold { background: var(--relic-faint); border-bottom: 2px solid var(--relic-hue, currentColor); }

.relic-source { font-family: var(--relic-serif); font-size: 1.35rem; padding: 0; margin: .4rem 0 .6rem;
  scroll-margin-top: 5rem; }
.relic-nobreak { white-space: nowrap; }
.relic-target { font-family: var(--relic-serif); font-size: 1.1rem; line-height: 1.6; max-width: 46rem; opacity: 1;
  margin: 0 0 .6rem; padding: 0 0 0 1rem; border-left: 3px solid var(--relic-line); color: inherit;
  overflow-wrap: anywhere; }
.relic-target mark { background: var(--relic-lit); color: inherit; border-radius: .15em; }
.relic-target .relic-rest { opacity: .7; }
.relic-attributed p, .relic-attributed li { margin: 0 0 .2rem; font-size: .95rem; }
.relic-attributed ul { margin: 0 0 .6rem; }
.relic-gain { text-decoration: underline 2px color-mix(in srgb, #2b98a5 var(--relic-gain), transparent);
  text-underline-offset: .22em; }
.st-key-attribution_cards .relic-card + .relic-card { margin-top: .6rem; }

[data-stale="true"] :is(.relic-card, .relic-strip, .relic-from-works) { opacity: .3; transition: opacity .2s .3s; }
.relic-strip { container-type: inline-size; }
.relic-track { position: relative; height: calc(25px * var(--relic-rows) + 10px); margin-inline: 12px;
  --relic-rows: var(--relic-wide); border-bottom: 1px solid var(--relic-line); }
.relic-ridge { position: absolute; inset: 0; background: currentColor; opacity: .2; }
.relic-track span { position: absolute; inset: 0 auto; border-left: 1px solid var(--relic-line); }
.relic-track i { position: absolute; bottom: -1px; height: 7px; width: 3px; margin-left: -1.5px;
  background: var(--relic-hue); }
.relic-dot { position: absolute; bottom: calc(25px * var(--relic-row) + 5px); --relic-row: var(--relic-wide);
  width: 24px; height: 24px; margin-left: -12px; border-radius: 12px; text-align: center;
  font-size: .75rem; line-height: 24px; font-weight: 700; color: #fff !important; background: var(--relic-hue);
  text-decoration: none !important; font-variant-numeric: tabular-nums; }
.relic-axis { position: relative; height: 1.2rem; margin-right: 24px; font-size: .75rem; opacity: .85; }
.relic-axis span { position: absolute; white-space: nowrap; padding-left: .2rem;
  border-left: 1px solid var(--relic-line); }
.relic-strip-names { position: relative; height: 1rem; margin-inline: 12px; font-size: .75rem; line-height: 1rem;
  opacity: .82; overflow: visible; }
.relic-strip-names span { position: absolute; white-space: nowrap; padding-left: 2px; }
p.relic-legend { display: flex; flex-wrap: wrap; gap: 0 .9rem; font-size: .75rem; line-height: 1.1rem; margin: 0;
  padding-inline: 12px; }
.relic-shade::before { content: ""; display: inline-block; width: 1.1em; height: .6em; background: currentColor;
  opacity: .3; clip-path: polygon(0 100%, 50% 0, 100% 100%); margin-right: .4em; }
@container (max-width: 623px) {
  .relic-track { --relic-rows: var(--relic-narrow); }
  .relic-dot { --relic-row: var(--relic-narrow); }
  .relic-dot:not([style*="narrow"]), .relic-fine span, .relic-strip-names span:not(.relic-narrow) { display: none; }
}
@container (min-width: 624px) {
  .relic-dot:not([style*="wide"]), .relic-strip-names span:not(.relic-wide) { display: none; }
}
@media (max-width: 640px) {
  .relic-card:not(.relic-card-again) .relic-by-way { position: absolute; left: -9999px; }
  .relic-card:not(.relic-card-again) header { gap: 0 .7rem; }
  .relic-card blockquote { font-size: 1.05rem; line-height: 1.4; }
  .stMainBlockContainer:has(.st-key-find_body article) { padding-top: 3.6rem; }
}
@media (max-width: 640px) { .relic-axis span:nth-child(even) { display: none; } }

.stMainBlockContainer:has(.st-key-find_body article) { padding-top: 4rem;
  > [data-testid="stVerticalBlock"], .st-key-find_body { gap: .6rem; }
  .st-key-find_head { gap: 0; }
}
:is(.st-key-find_side, .st-key-find_best, .st-key-find_one) [data-testid="stVerticalBlock"] { gap: .6rem; }
.st-key-find_best, .st-key-find_one, .st-key-attribution_cards { max-width: 52rem; }
[data-testid="stVerticalBlock"]:is(.st-key-find_best, .st-key-find_by-work) { gap: 0; }
@media (min-width: 900px) {
  :is(.st-key-find_best, .st-key-find_one, .st-key-attribution_cards) .relic-card { flex-flow: row wrap;
    justify-content: space-between; gap: 0 1rem; }
  .st-key-attribution_cards h3 > .relic-card-work + a { display: inline; margin-left: .5rem; }
  :is(.st-key-find_best, .st-key-find_one, .st-key-attribution_cards) .relic-card {
    .relic-card-do { flex: 1 0 auto; justify-content: flex-end; margin-top: 0; }
    .relic-keep a { order: -1; }
    :is(blockquote, .relic-parts) { flex-basis: 100%; }
  }
  @supports selector(::details-content) { /* what opens is as wide as the card, below a row that stays */
    :is(.st-key-find_best, .st-key-find_one, .st-key-attribution_cards) .relic-card:not(.relic-card-again) {
      column-gap: .7rem;
      header { flex: 1 1 0; min-width: 14rem; }
      .relic-keep, .relic-card-do { display: contents; }
      :is(.relic-card-do, .relic-keep) > *, .relic-card-do summary { order: 2; align-self: start; flex: none; }
      .relic-keep a { order: 1; }
      .relic-card-do > details::details-content { order: 3; }
    }
  }
}
[class*="st-key-find_folded"] summary { padding-block: .35rem !important; min-height: 2.5rem; }
[class*="st-key-find_folded"] summary p { font-family: var(--relic-serif); font-size: 1.1rem; line-height: 1.35;
  display: flex; flex-wrap: wrap; align-items: baseline; column-gap: .6rem; }
[class*="st-key-find_folded"] summary :is(em, strong) { font-family: "Source Sans", sans-serif; font-size: .875rem;
  font-style: normal; white-space: nowrap; }
[class*="st-key-find_folded"] summary em { opacity: .82; white-space: normal; }
[class*="st-key-find_folded"] summary strong { text-decoration: underline; text-underline-offset: .2em; }
.st-key-find_scenes { gap: .1rem 1rem !important; }
.st-key-find_scenes p, .st-key-find_scenes button { margin: 0; min-height: 1.5rem; font-size: .875rem; }
@media (max-width: 40rem) { /* one line, so that the cards come first */
  .st-key-find_scenes:has(button) { flex-wrap: nowrap !important; overflow-x: auto; }
  .st-key-find_scenes:has(button) > * { flex: none; white-space: nowrap; }
}
.st-key-find_do { flex-wrap: nowrap !important; justify-content: space-between; }
.st-key-find_view [role="radiogroup"], .st-key-find_view [role="toolbar"] { flex-wrap: nowrap; overflow-x: auto; }
.st-key-find_view button { white-space: nowrap; }
@media (max-width: 640px) {
  .st-key-find_do:has(.st-key-find_split) { flex-wrap: wrap !important; }
  .st-key-find_view button { padding-inline: .38rem; }
  .st-key-find_view button p { font-size: .75rem; }
  .st-key-find_view { min-width: 0; flex: 1 1 0 !important; }
  .st-key-find_do:has(.st-key-find_split) .st-key-find_view { flex-basis: 80% !important; }
  .st-key-find_share button p { position: absolute; left: -9999px; }
  [class*="st-key-find_folded"] summary p { font-size: 1rem; }
  :is(.st-key-find_work, .st-key-find_more) { flex: 1 0 100% !important; }
  [class*="st-key-find_row_"] { flex-wrap: wrap !important; }
  [class*="st-key-find_part_"] { flex: 1 0 100% !important; order: 1; }
}
.relic-unsure { max-width: 62rem; }
[class*="st-key-find_remove_"] button { padding-inline: .5rem; }
:is([class*="st-key-find_"], [class*="st-key-home_"]) [data-testid="InputInstructions"] { display: none; }
@media (max-width: 640px) { :is([class*="st-key-find_"], [class*="st-key-home_"]) textarea { min-height: 5.75rem; } }
.st-key-find_share button { min-height: 2rem; padding-block: 0; }
@media (max-width: 900px) {
  .st-key-find_side [data-testid="stHorizontalBlock"] { flex-wrap: nowrap; gap: .5rem; }
  .st-key-find_side [data-testid="stColumn"] { flex: 1 1 0; min-width: 12rem; }
}
@media (max-width: 640px) {
  .st-key-find_side [data-testid="stHorizontalBlock"] { overflow-x: auto; gap: .75rem;
    scroll-snap-type: x mandatory; overscroll-behavior-x: contain; }
  .st-key-find_side [data-testid="stColumn"] { flex: 0 0 min(100%, 26rem); min-width: min(100%, 26rem);
    scroll-snap-align: start; }
}

.relic-like { margin: 0; padding: 0 0 0 1rem; border-left: 3px solid var(--relic-line); max-width: 52rem;
  scroll-margin-top: 100vh; overflow-wrap: anywhere; }
.relic-like blockquote { font-size: 1.1rem; line-height: 1.5; margin: .3rem 0 .35rem; }
.relic-like blockquote p + p { margin-top: .45em; }
.relic-like figcaption { font-size: .875rem; }

.relic-from { list-style: none; margin: .3rem 0 0 !important; padding: 0 !important; columns: 2 26rem;
  column-gap: 2.2rem; }
.relic-from li { display: grid; grid-template-columns: 2.7rem 1fr; align-items: baseline;
  margin: 0 !important; padding: .22rem 0; break-inside: avoid; border-bottom: 1px solid var(--relic-line); }
.relic-from-year { font-size: .875rem; opacity: .82; font-variant-numeric: tabular-nums; }
.relic-from cite { font-family: var(--relic-serif); font-style: normal; }
.relic-from-work, .relic-from-marks { display: flex; flex-wrap: wrap; gap: .25rem; }
.relic-from-work { justify-content: space-between; align-items: baseline; column-gap: 1rem; line-height: 1.3; }
.relic-from-marks a { font-size: .75rem; line-height: 24px; font-weight: 600; color: #fff !important;
  background: var(--relic-hue); text-decoration: none !important; border-radius: 12px; padding: 0 .6em;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
.relic-from-works summary { cursor: pointer; min-height: 1.6rem; font-size: .9rem; }
.st-key-find_length label ~ * button { min-height: 2.5rem; }
.st-key-find_retrievers [role="toolbar"] { flex-wrap: wrap; }

.relic-work-do a, .relic-shelf-do a, .relic-shelf-state a { display: inline-block; min-height: 1.6rem;
  line-height: 1.6rem; }
.relic-shelf-works li, .relic-shelf li { border-top: 1px solid var(--relic-line); padding: .55rem 0;
  margin: 0 !important; max-width: 62rem; display: grid; column-gap: 1.2rem; align-items: baseline;
  overflow-wrap: anywhere; scroll-margin-top: 5rem; }
.relic-shelf-works li { grid-template-columns: 1fr auto; }
.relic-shelf li { grid-template-columns: 3rem 1fr auto; padding: .35rem 0; }
.relic-shelf li:last-child { border-bottom: 1px solid var(--relic-line); }
.relic-shelf-works progress { accent-color: #1f7079; }
.relic-shelf-works h3, .relic-shelf-title cite { font-family: var(--relic-serif); }
.relic-shelf-works h3 { font-size: 1.15rem; }
.relic-shelf-title cite { font-size: 1.08rem; margin-right: .35rem; }
.relic-shelf-year { font-variant-numeric: tabular-nums; opacity: .82; font-size: .9rem; }
.relic-shelf-do, .relic-shelf-state, .relic-work-do { display: flex; flex-wrap: wrap; gap: .2rem 1rem;
  align-items: baseline; font-size: .9rem; }
.relic-shelf-do summary, .relic-shelf-found summary, .relic-work-facts summary { cursor: pointer; min-height: 1.6rem;
  line-height: 1.6rem; }
.relic-shelf-do details { width: 8.5rem; }
.relic-shelf-do details > div { display: grid; justify-items: start; gap: .3rem; margin: .2rem 0; }
.relic-button { font: inherit; color: inherit; background: none; border: 1px solid var(--relic-line); cursor: pointer;
  border-radius: .4rem; padding: .1rem .8rem; min-height: 1.75rem; text-align: left; }
.relic-keep { display: inline-flex; flex-wrap: wrap; gap: .1rem .5rem; align-items: center; }
.relic-keep .relic-button { font-size: .8125rem; padding: 0 .6rem; min-height: 1.5rem; }
.relic-keep a { font-size: .8125rem; display: inline-block; min-height: 1.5rem; line-height: 1.5rem; }
.relic-card .relic-keep { display: contents; /* what is done stays where it was: the link takes room that is left */
  .relic-button { min-width: 3.7rem; justify-content: center; text-align: center; }
  a { order: 1; }
}
.relic-button:hover { background: var(--relic-faint); }
.relic-button[aria-disabled] { cursor: default; border-color: transparent; background: none; padding-inline: 0; }
[role=tab][aria-selected=true], [role=tab][aria-selected=true] p { color: inherit !important; }
.relic-job { font-size: .9rem; line-height: 1.45; overflow-wrap: anywhere; max-width: 30rem; }
.relic-job progress { display: block; width: 100%; height: .4rem; accent-color: #1f7079; }
.stVerticalBlock > :has(> .st-key-shelf-job) { position: sticky; bottom: 0; z-index: 20; }
.st-key-shelf-job:has([data-testid]) { background: Canvas; background: light-dark(#f3f0e7, #26241f);
  border-radius: .5rem; border: 1px solid var(--relic-line); padding: .5rem .8rem; max-width: 62rem; }
.relic-shelf-state { min-height: 1.9rem; }
.relic-shelf-stage { font-style: italic; }
.relic-shelf-first p { margin: 0 0 .4em; font-size: inherit; }
.relic-shelf-first { font-family: var(--relic-serif); font-size: 1.05rem; line-height: 1.5; max-width: 44rem;
  margin: .2rem 0 .6rem; padding: 0 0 0 .9rem; border-left: 2px solid var(--relic-line); opacity: 1; color: inherit; }
[class*="st-key-correct-"] [data-testid="InputInstructions"],
[class*="st-key-own-"] [data-testid="InputInstructions"] { display: none; }
.relic-shelf-found { font-size: .9rem; margin: .1rem 0; }
.relic-shelf-found ol { margin: .2rem 0 .4rem !important; padding: 0 !important; columns: 18rem; list-style: none; }
.relic-shelf-found ol span { opacity: .82; }
.relic-shelf-left-out li { padding: .3rem 0; margin: 0 !important; font-size: .9rem; overflow-wrap: anywhere; }
.relic-shelf-sample { display: block; font-family: var(--relic-serif); opacity: .82; max-width: 44rem; }
.relic-work-code, .relic-work-facts code { font-family: ui-monospace, monospace; font-size: .8rem; color: inherit;
  background: none; overflow-wrap: anywhere; }
.relic-work-facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.4rem;
  margin: 0 !important; padding: 0 !important; }
.relic-work-facts dt { opacity: .82; font-size: .9rem; }
.relic-work-facts dd { margin: 0; overflow-wrap: anywhere; }
.relic-work-numbers { display: grid; grid-template-columns: repeat(auto-fill, minmax(6.5rem, 1fr)); gap: .6rem 1rem; }
.relic-work-numbers li { border-top: 2px solid var(--relic-line); padding: .35rem 0 0; margin: 0 !important;
  font-size: .9rem; }
.relic-work-numbers strong { display: block; font-family: var(--relic-serif); font-size: 1.45rem; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.relic-work-numbers + p { margin-top: .7rem; }
.relic-work-chapters { border-collapse: collapse; width: 100%; max-width: 56rem; font-size: .9rem; margin: 0; }
.relic-work-chapters th, .relic-work-chapters td { border: 0; border-bottom: 1px solid var(--relic-line);
  padding: .3rem .9rem .3rem 0; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.relic-work-chapters th:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; width: 55%;
  font-weight: 400; }
.relic-work-chapters thead th { font-weight: 600 !important; }
.relic-work-chapters th a { display: inline-block; min-height: 1.5rem; }
.relic-work-chapters td:last-child span:last-child { display: inline-block; min-width: 2.8rem; }
.relic-work-bar { display: inline-block; width: 6rem; height: .5rem; background: var(--relic-faint); overflow: hidden;
  border-radius: .25rem; margin-right: .5rem; }
.relic-work-bar i { display: block; height: 100%; background: #1f7079; }
.relic-work-searches li { padding: .25rem 0; margin: 0 !important; max-width: 56rem; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  .relic-shelf-works li { grid-template-columns: 1fr; row-gap: .3rem; }
  .relic-shelf li { grid-template-columns: 2.7rem 1fr; }
  .relic-shelf-state { grid-column: 2; }
  .relic-work-facts { grid-template-columns: 1fr; }
  .relic-work-facts dd { margin-bottom: .4rem; }
  .relic-work-bar { display: none; }
  .relic-work-chapters th, .relic-work-chapters td { padding-right: .5rem; }
}

.relic-search-do { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; font-size: .9rem; }
.relic-search-do a { display: inline-block; min-height: 1.6rem; line-height: 1.6rem; }
[data-testid="stPopoverBody"]:has(.relic-share) [data-testid="stVerticalBlock"] { gap: .6rem; }
[data-testid="stPopoverBody"]:has(.relic-share) { padding-block: 1rem; }

.relic-read-skip { position: absolute; left: -9999px; }
.relic-read-skip:focus { position: static; }
.stMainBlockContainer:has(.st-key-read_room) { padding-bottom: 1rem; }
.relic-read-title { font-family: var(--relic-serif) !important; font-weight: 600 !important;
  font-size: 1.8rem !important; padding: 0 !important; line-height: 1.2; }
.relic-read-author { display: block; font-family: var(--relic-serif); font-size: 1.05rem; font-weight: 400;
  opacity: .85; margin-top: .2rem; }
.relic-works { line-height: 1.9; }
.st-key-read_room { --relic-read-left: 2rem; --relic-read-right: 0rem; --relic-read-rule: #b07c00;
  --relic-read-sans: "Source Sans", "Source Sans 3", sans-serif; }
.st-key-read_room a:not(.relic-read-mark) { color: inherit; }
.relic-read-text { position: relative; font-family: var(--relic-serif); font-size: 1.16rem; line-height: 1.62;
  padding: 0 var(--relic-read-right) 0 var(--relic-read-left); overflow-wrap: break-word;
  max-width: calc(29.5em + var(--relic-read-left) + var(--relic-read-right)); }
.relic-read-text h2 { font-size: 1.5rem; line-height: 1.25; padding: 0; margin: .6rem 0 1.6rem; font-weight: 600;
  scroll-margin-top: 5rem; }
.relic-read-text h2:focus:not(:focus-visible) { outline: none; }
.relic-read-part { display: block; font-size: 1rem; font-weight: 400; opacity: .85; margin-bottom: .3rem; }
.relic-read-text p { font-size: inherit; margin: 0; scroll-margin-block: 5rem; }
.relic-read-text span[id] { scroll-margin-block: 6rem; outline-offset: 2px; }
.relic-read-prose { text-indent: 1.5em; }
.relic-read-prose.relic-read-first, .relic-read-speaker + .relic-read-prose { text-indent: 0; }
.relic-read-verse { white-space: pre-line; padding-left: 1.6em; }
.relic-read-prose + .relic-read-verse, .relic-read-verse + .relic-read-prose, .relic-read-verse + .relic-read-verse {
  margin-top: .8em !important; }
.relic-read-speaker { font-variant-caps: all-small-caps; letter-spacing: .06em; margin-top: .8em !important; }
.relic-read-speaker + .relic-read-verse { margin-top: 0 !important; }
.relic-read-stage { font-style: italic; padding-left: 1.6em; margin-block: .6em !important; }
.relic-read-stage em { font-style: normal; }
.relic-read-aside { font-size: .95rem !important; line-height: 1.5; opacity: .85; padding-left: 1.6em;
  margin-block: .7em !important; }
.relic-read-text .relic-read-heading { font-size: 1.05rem; font-weight: 600; text-align: center; padding: 0;
  margin: 1.6em 0 .9em; line-height: 1.35; }
.relic-read-break { border: 0; margin: 1.3em 0; text-align: center; line-height: 1; }
.relic-read-break::before { content: "* * *" / ""; opacity: .7; }
.relic-read-n, .relic-read-line { position: absolute; font-family: var(--relic-read-sans);
  font-size: .72rem; font-style: normal; text-indent: 0; line-height: calc(1.16rem * 1.62); user-select: none;
  font-variant-numeric: tabular-nums; }
.relic-read-text .relic-read-n { left: 0; min-width: 1.5rem; color: inherit; text-decoration: none; opacity: 0; }
.relic-read-text p:is(:hover, :focus-within) > .relic-read-n, .relic-read-text .relic-read-n:is([href$="5"],
  [href$="0"]) { opacity: .75; }
.relic-read-text .relic-read-n:is(:hover, :focus-visible) { opacity: 1; text-decoration: underline; }
.relic-read-line { right: var(--relic-read-right); opacity: .75; }
.relic-read-note-link { font-size: .75em; vertical-align: .4em; line-height: 0; padding: 0 .35em; user-select: none; }
.relic-read-notes { margin-top: 2.5rem; border-top: 1px solid var(--relic-line); padding-top: .5rem; }
.relic-read-text .relic-read-notes h3 { font-size: 1rem; padding: 0; margin: 0 0 .4rem; }
.relic-read-text .relic-read-note { font-size: 1rem; line-height: 1.5; margin-bottom: .4em; }
.relic-read-note .relic-read-n { opacity: .85 !important; line-height: 1.5rem; font-size: .8rem; }
.relic-read-text p:target { background: var(--relic-faint); }
.relic-read-marks { display: inline-flex; gap: 2px; vertical-align: baseline; margin-right: .4em; text-indent: 0;
  user-select: none; }
.relic-read-text .relic-read-mark { font-family: var(--relic-read-sans); font-size: .74rem;
  font-style: normal; line-height: 24px; font-weight: 600; color: #fff; background: var(--relic-hue);
  text-decoration: none; border-radius: 12px; padding: 0 .6em; white-space: nowrap; }
.relic-read-near { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; align-items: baseline; font-size: .9rem;
  padding-left: var(--relic-read-left); line-height: 1.7; }
.relic-read-keys { opacity: .75; font-size: .8rem; }
.relic-read-search { font-size: .9rem; line-height: 1.5; }
.relic-read-search ul { list-style: none; padding: 0; margin: .4rem 0 0; display: flex; gap: 1.2rem; }
.relic-read-search li { margin: 0; }
.relic-read-contents { font-size: .9rem; line-height: 1.4; }
.relic-read-contents summary { cursor: pointer; padding: .2rem 0; font-weight: 600; min-height: 24px; }
.relic-read-contents ol { list-style: none; padding: 0 0 .3rem; margin: 0; }
.relic-read-contents details ol { padding-left: 1rem; }
.relic-read-contents li { margin: 0; padding: .12rem 0; font-size: inherit; min-height: 24px; }
.relic-read-contents details summary { font-weight: 400; }
.relic-read-contents a { color: inherit; text-decoration: none; }
.relic-read-contents a:hover { text-decoration: underline; }
.relic-read-contents a[aria-current] { font-weight: 700; border-left: 3px solid currentColor; padding-left: .45rem;
  margin-left: -.6rem; }
.relic-read-list { position: relative; padding-left: .7rem; }
.relic-read-count { font-size: .75rem; border: 1px solid var(--relic-line); border-radius: 1rem; padding: 0 .45em;
  white-space: nowrap; }
.st-key-read_place { position: sticky; bottom: 0; z-index: 20; }
.relic-missed summary { cursor: pointer; font-size: .9rem; min-height: 1.6rem; line-height: 1.6rem; }
.relic-missed dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .86rem;
  margin: .3rem 0 .2rem !important; padding: 0 !important; }
.relic-missed dt { opacity: .82; }
.relic-missed dd { margin: 0; font-variant-numeric: tabular-nums; }
.relic-missed p { font-size: .9rem; margin: .3rem 0 0; }
@media (max-width: 640px) {
  .relic-missed dl { grid-template-columns: 1fr; gap: 0; }
  .relic-missed dd { margin-bottom: .35rem; }
}
.relic-read-bar, .relic-read-offer { background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color); border-radius: .5rem; padding: .5rem .8rem; font-size: .875rem;
  line-height: 1.5; margin: 0 0 .5rem !important; box-shadow: 0 2px 12px rgb(0 0 0 / 14%); }
.relic-read-bar { position: relative; }
.relic-read-bar > p { margin-right: 2.4rem; min-height: 1.9rem; }
.relic-read-bar > div { display: flex; flex-wrap: wrap; gap: .35rem; align-items: center; }
.relic-read-bar [data-part="said"] { margin-left: .6rem; }
.relic-read-bar p { font-size: inherit; }
.relic-read-bar > div a { margin-inline: .3rem; }
.relic-read-bar button { font: inherit; color: inherit; background: transparent; border: 1px solid currentColor;
  border-radius: .4rem; min-height: 28px; min-width: 28px; padding: 0 .55rem; cursor: pointer; }
.relic-read-bar button:disabled { opacity: .4; cursor: default; }
.relic-read-bar [data-part="about"] { margin-left: auto; }
.relic-read-bar [data-part="close"] { position: absolute; top: .4rem; right: .6rem; }
.stMain:has(.relic-read-bar:not([hidden])) .relic-read-text :is(span, a, button) { scroll-margin-bottom: 7rem; }
@media (hover: none), (max-width: 640px) {
  .relic-read-keys { display: none; }
}
@media (min-width: 1100px) {
  .st-key-read_room { display: grid; grid-template-columns: 15rem minmax(0, 1fr); column-gap: 1.5rem;
    --relic-read-left: 2.2rem; --relic-read-right: 8rem; }
  .st-key-read_room > :has(> .st-key-read_side) { position: sticky; top: 4rem; align-self: start; }
  .relic-read-contents > summary { pointer-events: none; list-style: none; }
  .relic-read-list { max-height: calc(100vh - 16rem); overflow-y: auto; overscroll-behavior: contain; }
  .relic-read-marks { position: absolute; right: 0; width: 5.8rem; flex-direction: column; align-items: start;
    margin-right: 0; }
}
</style>
"""
CSS += KWIC + SOURCES + TABLES
