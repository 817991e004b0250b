"""The look of the page of trainings."""

from __future__ import annotations

TRAINING = """
<style>
.relic-training-do { display: flex; flex-wrap: wrap; gap: .4rem; margin-top: .4rem; }
.relic-trainings a[aria-current] { font-weight: 700; }
.relic-training-facts { list-style: none; display: grid; gap: .7rem 1.2rem; margin: .4rem 0 0 !important;
  padding: 0 !important; grid-template-columns: repeat(4, minmax(0, 15rem)); }
.relic-training-facts li { border-top: 3px solid var(--relic-line); padding: .35rem 0 0; margin: 0 !important;
  font-size: .9rem; line-height: 1.4; }
.relic-training-facts strong { display: block; font-family: var(--relic-serif); font-size: 1.5rem; font-weight: 600;
  line-height: 1.3; font-variant-numeric: tabular-nums; }
.relic-training-facts span { display: block; opacity: .85; }
.relic-training-recipe summary { cursor: pointer; font-size: .9rem; min-height: 1.6rem; line-height: 1.6rem; }
.relic-training-recipe summary:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.relic-training-recipe dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; font-size: .9rem;
  margin: .4rem 0 0 !important; padding: 0 !important; max-width: 62rem; }
.relic-training-recipe dt { opacity: .82; }
.relic-training-recipe dd { margin: 0; overflow-wrap: anywhere; }
.relic-training-costs { max-width: 44rem; border-left: 3px solid var(--relic-line); padding: .1rem 0 .1rem .9rem; }
.relic-training-costs p { margin: .15rem 0; }
.stMain :is(.st-key-training_loss_plot, .st-key-training_recall_plot) .js-plotly-plot
  :is(.xtick, .ytick, .g-xtitle, .legend, .annotation) text { fill: currentColor !important; }
#training-one, #training-compare, #training-new { scroll-margin-top: 4.5rem; }
.st-key-training_loss_plot { min-height: 330px; }
.st-key-training_recall_plot { min-height: 380px; }
@media (max-width: 640px) {
  .relic-training-facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .relic-training-recipe dl { grid-template-columns: 1fr; gap: 0; }
  .relic-training-recipe dd { margin-bottom: .35rem; }
}
</style>
"""
