"""The look of the concordance, a part of `relic_ui.style`, which had grown too long for one file."""

from __future__ import annotations

KWIC = """
<style>
.relic-kwic-summary p { font-size: 1.05rem; }
.relic-kwic-summary b, .relic-kwic-summary cite, .relic-kwic-forms b { font-family: var(--relic-serif); }
.relic-kwic-forms { line-height: 1.7; }
.relic-kwic-try { margin-top: .6rem !important; }
.relic-kwic-near { margin: .2rem 0 0; }
.relic-kwic-strip { margin: .1rem 0 0; }
.relic-kwic-track { position: relative; height: 2rem; background: var(--relic-faint); border-radius: .25rem;
  overflow: hidden; }
.relic-kwic-strips .relic-kwic-track { height: 1.1rem; }
.relic-kwic-marks { position: absolute; inset: 0; pointer-events: none; }
.relic-kwic-chapter { position: absolute; top: 0; bottom: 0; }
.relic-kwic-tinted { background: var(--relic-faint); }
a.relic-kwic-chapter:hover { background: var(--relic-lit); }
.relic-kwic-axis { margin-right: 0; }
.relic-kwic-strips li { display: grid; grid-template-columns: 15rem 1fr 3rem; gap: 0 .8rem; align-items: center;
  margin: 0 !important; padding: 0; min-height: 1.75rem; font-size: .9rem; }
.relic-kwic-name a { display: block; overflow: hidden; line-height: 1.75rem; text-overflow: ellipsis;
  white-space: nowrap; }
.relic-kwic-count { text-align: right; font-variant-numeric: tabular-nums; }
.relic-kwic-counts { margin-top: .5rem; }
.relic-kwic-counts summary { cursor: pointer; font-size: .9rem; min-height: 1.6rem; line-height: 1.6rem; }
.relic-kwic-counts > div { max-height: 22rem; overflow: auto; max-width: 52rem; }
.relic-kwic-counts table { border-collapse: collapse; width: 100%; font-size: .9rem; }
.relic-kwic-counts :is(th, td) { padding: .18rem .8rem .18rem 0; text-align: left; font-weight: 400; border: 0;
  vertical-align: baseline; }
.relic-kwic-counts thead th { font-size: .8rem; opacity: .82; }
.relic-kwic-counts td:not(.relic-kwic-bar), .relic-kwic-counts thead th:not(:first-child) { text-align: right;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
.relic-kwic-bar { width: 34%; }
.relic-kwic-bar i { display: block; height: .6rem; background: currentColor; opacity: .45; border-radius: .1rem; }
.relic-kwic { width: 100%; table-layout: fixed; border-collapse: collapse; font-family: var(--relic-serif);
  font-size: 1rem; line-height: 1.4; margin: 0; }
.relic-kwic :is(th, td) { border: 0; border-top: 1px solid var(--relic-line); padding: .3rem .25rem; overflow: hidden; }
.relic-kwic thead th { border-top: 0; font-family: inherit; font-size: .8rem; font-weight: 400; text-align: left;
  opacity: .82; }
.relic-kwic :is(td, thead th).relic-kwic-left { text-align: right; }
.relic-kwic :is(td, th).relic-kwic-word { width: calc(var(--relic-kwic-word) * .56rem + 1.6rem); text-align: center; }
.relic-kwic :is(td, th).relic-kwic-right { padding-left: 0; }
.relic-kwic :is(td, th).relic-kwic-place { width: 15.5rem; padding-left: 1rem; }
.relic-kwic div { overflow: hidden; white-space: nowrap; display: flex; }
.relic-kwic-left div { justify-content: flex-end; mask-image: linear-gradient(90deg, #0000, #000 2rem); }
.relic-kwic-right div { mask-image: linear-gradient(270deg, #0000, #000 2rem); }
.relic-kwic mark { background: var(--relic-lit); color: inherit; border-radius: .15em; padding: 0 .12em;
  overflow-wrap: anywhere; }
.relic-kwic td.relic-kwic-place { font-family: "Source Sans", sans-serif; font-size: .85rem; }
@media (min-width: 1200px) { /* room for the button beside the place */
  .relic-kwic :is(td, th).relic-kwic-place { width: 21.5rem; }
  .relic-kwic td.relic-kwic-place { position: relative; padding-right: 6rem; }
  .relic-kwic .relic-kwic-place .relic-keep { position: absolute; right: 0; top: .3rem; }
}
.relic-kwic :is(.relic-kwic-title, .relic-kwic-place a) { display: block; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; }
.relic-kwic .relic-kwic-place :is(a, a + span) { line-height: 1.5rem; }
.relic-kwic .relic-kwic-place a + span { flex: none; white-space: pre; }
.relic-kwic tr[id] { scroll-margin-block: 5rem; }
#kwic-places, #kwic-summary { scroll-margin-top: 5rem; }
.relic-kwic-pages { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; margin-top: .8rem; align-items: baseline; }
.relic-kwic-pages a, .relic-kwic-near a, .relic-kwic-forms a { display: inline-block; min-height: 1.6rem; }
@media (max-width: 640px) {
  .relic-kwic-strips li { grid-template-columns: 1fr 3rem; padding: .2rem 0; }
  .relic-kwic-strips .relic-kwic-strip { grid-row: 2; grid-column: 1 / -1; }
  .relic-kwic-bar { display: none; }
  .relic-kwic thead { position: absolute; left: -9999px; }
  .relic-kwic, .relic-kwic tbody, .relic-kwic tr { display: block; }
  .relic-kwic tr { border-top: 1px solid var(--relic-line); padding: .45rem 0 .5rem; line-height: 1.5; }
  .relic-kwic :is(td, td.relic-kwic-word, td.relic-kwic-place) { display: inline; border: 0; padding: 0; width: auto; }
  .relic-kwic td.relic-kwic-place { display: block; margin-top: .15rem; }
  .relic-kwic div { display: inline; white-space: normal; mask-image: none; }
  .relic-kwic :is(.relic-kwic-title, .relic-kwic-place a) { white-space: normal; }
  .relic-kwic .relic-kwic-place a { display: inline; }
  .relic-kwic .relic-kwic-place .relic-keep { margin-left: .8rem; }
  .stMain :is(.st-key-concordance_word, .st-key-concordance_work) { width: 100% !important; max-width: none; }
}
</style>
"""
