"""The look of the proxy task: an item and its three passages, the list of studies, results."""

from __future__ import annotations

PROXY = """
<style>
.relic-proxy { max-width: 76rem; }
.relic-proxy-head { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; align-items: baseline; margin: 0 0 .9rem;
  font-size: .9rem; }
.relic-proxy-head h2 { font-size: 1.15rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.5;
  font-variant-numeric: tabular-nums; scroll-margin-top: 5rem; }
.relic-proxy-head p { margin: 0; font-size: inherit; }
.relic-proxy-head [data-part="counted"] { margin-left: auto; opacity: .82; font-variant-numeric: tabular-nums; }
.relic-proxy-head progress { flex: 1 0 100%; height: .3rem; accent-color: #1f7079; appearance: none; border: 0;
  border-radius: .2rem; background: var(--relic-faint); overflow: hidden; }
.relic-proxy-head progress::-webkit-progress-bar { background: var(--relic-faint); }
.relic-proxy-head progress::-webkit-progress-value { background: #1f7079; }
.relic-proxy-head progress::-moz-progress-bar { background: #1f7079; }

.relic-proxy-body { display: grid; gap: 1.1rem 2.4rem; grid-template-columns: minmax(0, 1fr); }
.relic-proxy-context { font-size: 1.02rem; line-height: 1.6; overflow-wrap: anywhere; max-width: 40rem; }
.relic-proxy-context p { margin: 0; font-size: inherit; }
.relic-proxy-context h3, .relic-proxy-choose h3 { font-size: .86rem; font-weight: 600; letter-spacing: 0;
  line-height: 1.4; margin: 0 0 .35rem; padding: 0; }
.relic-proxy-mask { font-weight: 600; background: var(--relic-lit); border-radius: .2em; padding: .05em .45em;
  white-space: nowrap; box-decoration-break: clone; }
.relic-proxy-options { display: grid; gap: .6rem; }
.relic-proxy-options li { margin: 0 !important; }
.relic-proxy button { font: inherit; color: inherit; cursor: pointer; }
.relic-proxy-option { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .1rem .8rem; width: 100%;
  text-align: left; background: none; border: 1px solid var(--relic-line); border-radius: .5rem;
  padding: .8rem 1rem .8rem .8rem; min-height: 3.4rem; align-items: start; overflow-wrap: anywhere; }
.relic-proxy-option .relic-rank { font-size: .9rem; --relic-hue: currentColor; }
.relic-proxy-words { font-family: var(--relic-serif); font-size: 1.1rem; line-height: 1.5; }
.relic-proxy-words > span { display: block; white-space: pre-line; }
.relic-proxy-words > span + span { margin-top: .45em; }
.relic-proxy-option[aria-pressed="true"] { border-color: #1f7079; box-shadow: inset 0 0 0 2px #1f7079;
  background: var(--relic-faint); }
.relic-proxy-option[aria-pressed="true"] .relic-rank { background: #1f7079; color: #fff; border-color: #1f7079; }
.relic-proxy-option[aria-disabled] { cursor: default; }
.relic-proxy-note { grid-column: 2; font-size: .86rem; font-weight: 600; }
.relic-proxy-right { border-width: 2px; border-color: #2b7f5f; }
.relic-span { font-family: var(--relic-serif); font-size: 1.2rem; line-height: 2; margin: 0 0 .6rem !important;
  user-select: none; -webkit-user-select: none; touch-action: manipulation; }
.relic-span [data-word] { cursor: pointer; padding: .28em 0; }
.relic-span .relic-span-in { background: var(--relic-lit); }
.relic-span .relic-span-anchor { text-decoration: underline 2px; text-underline-offset: .25em; font-weight: 600; }
.relic-proxy-context blockquote { border-left: 3px solid #e0a400; padding: .1rem 0 .1rem .8rem; margin: .6rem 0;
  color: inherit; opacity: 1; }
.relic-proxy-context p + p { margin-top: .5em; }
.relic-span-end { display: inline-block; width: .34em; height: 1.35em; margin: 0 .1em; vertical-align: -.3em;
  background: #1f7079; border-radius: .17em; }
.relic-proxy .relic-span-end:focus { outline: 3px solid currentColor; outline-offset: 2px; }
.relic-proxy-plain { border: 1px solid var(--relic-line); background: none; border-radius: .5rem; min-height: 2.75rem;
  padding: .3rem 1rem; }
.relic-proxy-plain[aria-pressed="true"] { border-color: #1f7079; box-shadow: inset 0 0 0 2px #1f7079; }
.relic-proxy-plain[aria-disabled] { opacity: .6; cursor: default; }
.relic-proxy-do { display: flex; flex-wrap: wrap; gap: .6rem; margin: .7rem 0 0; align-items: center; }
.relic-proxy-foot .relic-proxy-do { margin: 0; }
.relic-proxy-plain[hidden] { display: none; }
.relic-proxy-busy .relic-proxy-option:not([aria-pressed="true"]) { opacity: .6; }
.relic-proxy-trouble { margin: .6rem 0 0 !important; font-weight: 600; }
.relic-proxy-trouble:empty { display: none; }
.relic-proxy-verdict { margin: 0 0 .6rem !important; font-weight: 600; }
.relic-proxy-foot { border-top: 1px solid var(--relic-line); margin-top: 1.1rem; padding-top: .6rem; display: flex;
  flex-wrap: wrap; gap: .5rem 1.4rem; align-items: start; font-size: .9rem; }
.relic-proxy-foot details { flex: 1 1 22rem; max-width: 40rem; }
.relic-proxy-foot summary { cursor: pointer; min-height: 2.75rem; line-height: 2.75rem; }
.relic-proxy-foot label { display: block; margin: 0 0 .25rem; }
.relic-proxy-foot textarea { width: 100%; min-height: 4.6rem; font: inherit; font-size: 1rem; color: inherit;
  background: var(--st-secondary-background-color); border: 1px solid var(--relic-line); border-radius: .4rem;
  padding: .5rem .7rem; box-sizing: border-box; resize: vertical; }
.relic-proxy-keys { display: flex; flex-wrap: wrap; gap: .2rem .9rem; align-items: center; min-height: 2.75rem;
  margin-left: auto; }
.relic-proxy-keys p { margin: 0; font-size: inherit; }
.relic-proxy kbd { font: inherit; font-size: .8rem; border: 1px solid var(--relic-line); border-radius: .25rem;
  padding: 0 .4em; background: none; color: inherit; }
.relic-proxy:not(.relic-proxy-keyed) :is(kbd, .relic-proxy-keys p) { display: none; }
.relic-proxy-keys button { background: none; border: 0; text-decoration: underline; text-underline-offset: .2em;
  min-height: 2.75rem; padding: 0; font-size: .9rem; }
@media (min-width: 1000px) {
  .relic-proxy-body { grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); align-content: start; min-height: 27rem; }
}
/* A finger would leave its mark on the next item, where it would look like a hint. */
@media (hover: hover) {
  .relic-proxy :is(.relic-proxy-option, .relic-proxy-plain):not([aria-disabled]):hover {
    background: var(--relic-faint); }
}
@media (hover: none), (max-width: 640px) {
  .relic-proxy kbd, .relic-proxy-keys { display: none !important; }
}
@media (max-width: 640px) {
  .relic-proxy-do .relic-proxy-plain { flex: 1 1 auto; }
  .relic-proxy-head progress { order: 1; }
  .relic-proxy-head [data-part="work"] { order: 2; flex: 1 0 100%; }
}

h1.relic-proxy-title { font-family: var(--relic-serif); font-size: 1.6rem; font-weight: 600; line-height: 1.25;
  padding: 0; margin: 0; overflow-wrap: anywhere; }
.relic-proxy-back { font-size: .9rem; margin-bottom: .3rem !important; }
.relic-proxy-bar { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; align-items: baseline;
  justify-content: space-between; max-width: 76rem; margin: 0; font-size: .9rem; }
.relic-proxy-bar h1.relic-proxy-title { font-size: 1.2rem; }
.relic-proxy-bar p { font-size: inherit; overflow-wrap: anywhere; }
:is(.relic-proxy-bar, .relic-proxy-links, .relic-proxy-case, .relic-studies, .relic-proxy-back, .relic-proxy-review) a {
  display: inline-block; min-height: 1.6rem; line-height: 1.6rem; }
.relic-proxy-links { display: flex; flex-wrap: wrap; gap: .15rem 1.2rem; font-size: .95rem; }
.relic-studies .relic-proxy-works { font-family: var(--relic-serif); font-style: normal; }
.relic-studies .relic-proxy-go { font-weight: 700; }
.relic-proxy-before { max-width: 44rem; }
.relic-proxy-before h2, .relic-proxy-end h2 { font-family: var(--relic-serif); font-weight: 600; }
.relic-proxy-before h2 { font-size: 1.15rem; padding: 0; margin: .9rem 0 .25rem; line-height: 1.35; }
.relic-proxy-before p { margin: 0 0 .5em; white-space: pre-line; overflow-wrap: anywhere; }
.relic-proxy-before .relic-quiet p { font-size: inherit; }
.relic-proxy-end { max-width: 44rem; }
.relic-proxy-end h2 { padding: 0; margin: .6rem 0 .3rem; }
.relic-proxy-end p { margin-bottom: .5rem; }
.relic-proxy-review summary { cursor: pointer; min-height: 2.75rem; line-height: 2.75rem; }
.relic-proxy-review ul { list-style: none; margin: 0 !important; padding: 0 !important; max-width: 52rem; }
.relic-proxy-review li { display: grid; grid-template-columns: 5rem minmax(0, 1fr); gap: 0 .8rem;
  border-top: 1px solid var(--relic-line); padding: .35rem 0; margin: 0 !important; align-items: baseline; }
.relic-proxy-review li > span { font-family: var(--relic-serif); overflow-wrap: anywhere; }
.relic-proxy-review li > .relic-quiet { grid-column: 2; font-family: inherit; }

.relic-proxy-numbers { display: grid; gap: .7rem 1.2rem; margin: .6rem 0 !important;
  grid-template-columns: repeat(3, minmax(0, 17rem)); }
.relic-proxy-numbers li { border-top: 3px solid var(--relic-line); padding: .35rem 0 0; margin: 0 !important;
  font-size: .9rem; line-height: 1.4; overflow-wrap: anywhere; }
.relic-proxy-numbers strong { display: block; font-family: var(--relic-serif); font-size: 1.6rem; font-weight: 600;
  line-height: 1.3; font-variant-numeric: tabular-nums; }
.relic-proxy-numbers li:first-child strong { font-size: 3.2rem; line-height: 1.15; }
.relic-proxy-numbers span { display: block; opacity: .85; font-variant-numeric: tabular-nums; }
.st-key-proxy_plot .js-plotly-plot :is(.xtick, .ytick, .g-xtitle, .legend, .annotation) text {
  fill: currentColor !important; }
.relic-proxy-agreement { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr));
  gap: .9rem 2rem; margin: 0 !important; padding: 0 !important; max-width: 76rem; }
.relic-proxy-agreement > div { border-top: 1px solid var(--relic-line); padding: .4rem 0 0; }
.relic-proxy-agreement dt { font-weight: 600; font-size: .9rem; }
.relic-proxy-agreement dd { margin: 0; }
.relic-proxy-agreement strong { font-family: var(--relic-serif); font-size: 1.35rem; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.relic-proxy-agreement p { font-size: .9rem; line-height: 1.45; }
.relic-span-items { list-style: none; max-width: 52rem; margin: 0 0 1rem !important; padding: 0 !important; }
.relic-span-items li { border-top: 1px solid var(--relic-line); padding: .7rem 0 .8rem; margin: 0 !important;
  overflow-wrap: anywhere; }
.relic-span-items p { margin: 0 0 .25rem; line-height: 1.6; }
.relic-span-passage { font-family: var(--relic-serif); font-size: 1.1rem; }
.relic-span-quoted { font-family: var(--relic-serif); font-size: 1.08em; background: var(--relic-lit); }
.relic-proxy-plain[data-part="mark"] { background: #1f7079; border-color: #1f7079; color: #fff; }
.relic-span-share { background: color-mix(in srgb, #e0a400 var(--share), transparent); }
.relic-span-together { text-decoration: underline 2px; text-underline-offset: .22em; }
.relic-proxy-paradox { border-left: 3px solid #e0a400; padding: .1rem 0 .1rem .8rem; margin: 0 0 .8rem !important; }

.relic-proxy-lacking dt { font-weight: 600; font-size: .9rem; margin-top: .4rem; }
.relic-proxy-lacking dd { margin: 0; font-size: .9rem; overflow-wrap: anywhere; }
.relic-proxy-lede { margin-bottom: .5rem !important; }
.relic-proxy-fold summary { cursor: pointer; font-size: .9rem; min-height: 1.6rem; line-height: 1.6rem; }
.relic-proxy-case { border-top: 1px solid var(--relic-line); padding: .9rem 0 1.1rem; margin: 0; display: grid;
  grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: .3rem 2.4rem; max-width: 76rem; overflow-wrap: anywhere; }
.relic-proxy-case header { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 0 .9rem; align-items: baseline;
  font-size: .86rem; }
.relic-proxy-case h3 { font-size: 1rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.4; }
.relic-proxy-case h3 cite { font-style: normal; font-family: var(--relic-serif); }
.relic-proxy-case h4 { font-size: .8rem; font-weight: 600; margin: .55rem 0 .1rem; padding: 0; letter-spacing: 0; }
.relic-proxy-case header span { opacity: .85; font-variant-numeric: tabular-nums; }
.relic-proxy-case summary { cursor: pointer; font-size: .9rem; min-height: 1.5rem; line-height: 1.5rem; }
.relic-proxy-case details p { font-size: .9rem; margin: .2rem 0 0; }
.relic-proxy-case .relic-proxy-context { font-size: .95rem; line-height: 1.5; }
.relic-proxy-case ol { list-style: none; margin: 0 !important; padding: 0 !important; counter-reset: passage; }
.relic-proxy-case ol > li { margin: 0 0 .8rem !important; padding: 0 0 0 .8rem;
  border-left: 3px solid var(--relic-line); counter-increment: passage; font-size: inherit; }
.relic-proxy-case ol > li.relic-proxy-right { border-left-color: #2b7f5f; }
.relic-proxy-case blockquote { font-size: 1.05rem; margin: 0; padding: 0; border: 0; opacity: 1; color: inherit; }
.relic-proxy-by { font-size: .85rem; line-height: 1.6; }
.relic-proxy-comments ul { margin: 0 0 0 1rem !important; padding: 0 !important; font-size: .9rem; }
@media (max-width: 800px) {
  .relic-proxy-case { grid-template-columns: minmax(0, 1fr); row-gap: .7rem; }
  .relic-proxy-numbers { grid-template-columns: repeat(2, minmax(0, 1fr)); }
}
</style>
"""
