"""The look of the recall page, and the colours of its charts."""

from __future__ import annotations

from relic_ui.style import OTHER_COLOUR, RETRIEVER_COLOURS

FURTHER_COLOURS = ("#b5472e", "#7c5bb0", "#2b7f5f", "#8a6d1c")
"""For retrievers that have no colour of their own, in turn: mid-tones that stand out from a light and a dark page."""

CHART_COLOURS = {**RETRIEVER_COLOURS, "bm25-lemmas": "#4f7a2c", "tf-idf": "#3f62b5", "random": OTHER_COLOUR}

RECALL = """
<style>
.relic-recall-numbers { list-style: none; display: grid; gap: .7rem 1.2rem; margin: 0 !important;
  padding: 0 !important; grid-template-columns: repeat(var(--relic-row, 4), minmax(0, 17rem)); }
.relic-recall-waiting { margin: 0; padding: 1rem 0; overflow: hidden; opacity: .85; }
.st-key-recall_plot:has(.main-svg) .relic-recall-waiting { visibility: hidden; }
.relic-recall-numbers li { border-top: 3px solid var(--relic-hue, currentColor); padding: .35rem 0 0;
  margin: 0 !important; font-size: .9rem; line-height: 1.4; }
.relic-recall-numbers strong { display: block; font-family: var(--relic-serif); font-size: 1.6rem; font-weight: 600;
  line-height: 1.3; font-variant-numeric: tabular-nums; }
.relic-recall-numbers span { display: block; opacity: .85; font-variant-numeric: tabular-nums; }
.relic-recall-card { max-width: 62rem; }
.relic-recall-card dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; font-size: .9rem;
  margin: .4rem 0 0 !important; padding: 0 !important; }
.relic-recall-card dt { opacity: .82; }
.relic-recall-card dd { margin: 0; overflow-wrap: anywhere; }
.relic-recall-fold summary { cursor: pointer; font-size: .9rem; min-height: 1.6rem; line-height: 1.6rem; }
.relic-recall-fold summary:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.relic-recall-fold code, .relic-recall-fold pre { font-family: ui-monospace, monospace; font-size: .8rem;
  color: inherit; background: none; padding: 0; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.relic-table-caption a, .relic-recall-under a, .relic-recall-case a,
.relic-recall-back a { color: inherit; text-underline-offset: .2em; }
#recall-chart, #recall-examples { scroll-margin-top: 4.5rem; }
#recall-examples:focus { outline: none; }
.st-key-recall_plot .js-plotly-plot :is(.xtick, .ytick, .g-xtitle, .legend, .annotation) text {
  fill: currentColor !important; }
.relic-recall-case { border-top: 1px solid var(--relic-line); padding: .9rem 0 1.1rem; margin: 0; display: grid;
  grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .2rem 2.4rem; scroll-margin-top: 5rem;
  overflow-wrap: anywhere; }
.relic-recall-case header { grid-column: 1 / -1; font-size: .86rem; display: flex; flex-wrap: wrap; gap: 0 .9rem;
  align-items: baseline; }
.relic-recall-case h3 { font-size: 1rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.4; }
.relic-recall-case header span { opacity: .82; }
.relic-recall-case h4 { font-size: .8rem; font-weight: 600; margin: .55rem 0 .1rem; padding: 0; line-height: 1.4;
  letter-spacing: 0; }
.relic-recall-case blockquote { font-family: var(--relic-serif); font-size: 1.05rem; line-height: 1.5; margin: 0;
  padding: 0; border: 0; opacity: 1; color: inherit; }
.relic-recall-case blockquote p { margin: 0; font-size: inherit; }
.relic-recall-case blockquote p + p { margin-top: .4em; }
.relic-recall-claim { font-size: .95rem; line-height: 1.5; }
.relic-recall-claim b { font-weight: 600; white-space: nowrap; background: var(--relic-lit); border-radius: .15em;
  padding: 0 .3em; }
.relic-recall-where { font-size: .85rem; line-height: 1.6; opacity: .95; }
.relic-recall-where a { display: inline-block; min-height: 1.5rem; }
.relic-recall-run { border-left: 3px solid var(--relic-hue, currentColor); padding: 0 0 0 .8rem; margin: .55rem 0 0; }
.relic-recall-run h4 { margin: 0 0 .1rem; }
.relic-recall-run h4 span { font-weight: 400; }
.relic-recall-back { font-size: .9rem; }
.relic-recall-missing { font-size: .9rem; max-width: 62rem; border-left: 3px solid var(--relic-line);
  padding: .1rem 0 .1rem .8rem; }
.relic-recall-missing p { margin: .2rem 0; }
.relic-recall-missing a { color: inherit; text-underline-offset: .2em; }
.relic-recall-ranks { border-collapse: collapse; font-size: .9rem; margin: .55rem 0 0; }
.relic-recall-ranks :is(th, td) { border: 0; border-bottom: 1px solid var(--relic-line);
  padding: .22rem 1.4rem .22rem 0;  text-align: left; font-weight: 400; font-variant-numeric: tabular-nums; }
.relic-recall-ranks thead th { font-weight: 600 !important; }
@media (max-width: 640px) {
  .relic-recall-case { grid-template-columns: minmax(0, 1fr); }
  .relic-recall-numbers { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .relic-recall-card dl { grid-template-columns: 1fr; gap: 0; }
  .relic-recall-card dd { margin-bottom: .35rem; }
  .stMain :is(.st-key-recall_benchmark, .st-key-recall_metric, .st-key-recall_part, .st-key-recall_sort,
    .st-key-recall_least) { width: 100% !important; min-width: 100% !important; flex: 1 1 100% !important;
    max-width: none !important; }
  .stMain :is(.st-key-recall_benchmark, .st-key-recall_metric, .st-key-recall_part, .st-key-recall_sort,
    .st-key-recall_least) > div { width: 100% !important; max-width: none !important; }
}
</style>
"""
