"""The look in one place: type, spacing, colour and the quotation card, for every page.

Colours that carry meaning are mid-tones that read on the light and on the dark page; everything else is mixed from the
text colour of the theme (``.streamlit/config.toml``), so both modes come from one set of rules.
"""

from __future__ import annotations

RETRIEVER_COLOURS = {
    "zero-shot": "#1f7079",
    "bm25": "#96590f",
    "fusion": "#a0477a",
}
"""One colour per retriever, the same on cards, strips and charts."""

OTHER_COLOUR = "#77726a"

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
[class*="st-key-examples"] button p { text-decoration: underline; text-underline-offset: .25em; }
.relic-sr { position: absolute; left: -9999px; }
.relic-lede { font-family: var(--relic-serif); font-size: 1.2rem; line-height: 1.5; max-width: 44rem; margin: 0; }
.relic-quiet { opacity: .82; font-size: .9rem; line-height: 1.45; }
.relic-measure { max-width: 44rem; }
.relic-item { font-size: 1.05rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.35; }

.relic-column { border-top: 3px solid var(--relic-hue, currentColor); padding-top: .6rem; margin: 0; }
.relic-column h2 { font-size: 1.15rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.3; }
.relic-column p { margin: .2rem 0 0; min-height: 4.4em; }
@media (max-width: 640px) { .relic-column p { min-height: 0; } }

.relic-card { border: 1px solid var(--relic-line); border-radius: .5rem; padding: .9rem 1rem .7rem; margin: 0;
  scroll-margin-top: 5rem; overflow-wrap: anywhere; }
.relic-card:target { outline: 2px solid var(--relic-hue, currentColor); outline-offset: 2px; }
.relic-card header { display: flex; gap: .6rem; align-items: baseline; justify-content: space-between; }
.relic-card h3 { font-size: .86rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.35; letter-spacing: 0; }
.relic-rank { font-size: .95rem; font-weight: 700; font-variant-numeric: tabular-nums; color: inherit;
  border: 1.5px solid var(--relic-hue, currentColor); border-radius: 1rem; min-width: 1.75rem; text-align: center;
  line-height: 1.5rem; flex: none; }
.relic-card blockquote { font-family: var(--relic-serif); font-size: 1.1rem; line-height: 1.5; margin: .6rem 0 .5rem;
  padding: 0; border: 0; opacity: 1; color: inherit; hanging-punctuation: first; }
.relic-card blockquote p, .relic-around p { margin: 0; font-size: inherit; }
.relic-card blockquote p + p, .relic-around p + p { margin-top: .45em; }
.relic-verse { white-space: pre-line; padding-left: 1em; }
.relic-card mark, .relic-around mark { background: var(--relic-lit); color: inherit; border-radius: .15em;
  padding: 0 .08em; }
.relic-why { font-size: .875rem; line-height: 1.45; }
.relic-why div { margin: 0 0 .15rem; }
.relic-strength { font-weight: 600; }
.relic-made summary { cursor: pointer; min-height: 1.6rem; }
.relic-card details { margin-top: .45rem; border-top: 1px solid var(--relic-line); padding-top: .35rem; }
.relic-card summary { cursor: pointer; font-size: .875rem; min-height: 1.6rem; line-height: 1.6rem; }
.relic-card summary:focus-visible, .relic-dot:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.relic-around { font-family: var(--relic-serif); font-size: 1rem; line-height: 1.55; padding: .4rem 0 .2rem; }
.relic-around .relic-gold { background: var(--relic-faint); border-bottom: 2px solid var(--relic-hue, currentColor); }

.relic-strip { display: grid; grid-template-columns: max-content 1fr; column-gap: .8rem; row-gap: .3rem;
  align-items: center; margin: 0; }
.relic-strip-name { font-size: .875rem; font-weight: 600; white-space: nowrap; }
.relic-track { position: relative; min-height: 1.75rem; border-radius: .25rem; margin-right: 24px; }
.relic-track::before { content: ""; position: absolute; inset: 0 -24px 0 0; background: var(--relic-faint);
  border-radius: .25rem; }
.relic-dot { position: absolute; width: 24px; height: 24px; border-radius: 12px; text-align: center; font-size: .75rem;
  line-height: 24px; font-weight: 700; color: #fff !important; background: var(--relic-hue);
  text-decoration: none !important; font-variant-numeric: tabular-nums; }
.relic-axis { position: relative; height: 1.2rem; margin-right: 24px; font-size: .75rem; opacity: .85; }
.relic-axis span { position: absolute; white-space: nowrap; padding-left: .2rem;
  border-left: 1px solid var(--relic-line); }
@media (max-width: 640px) {
  .relic-strip { grid-template-columns: 1fr; row-gap: .15rem; }
  .relic-strip-axis-name { display: none; }
  .relic-axis span:nth-child(even) { display: none; }
}
</style>
"""
