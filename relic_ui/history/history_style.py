"""The look of the searches: their list, then and now, and two columns compared."""

from __future__ import annotations

HISTORY = """
<style>
.relic-history { max-width: 62rem; }
.relic-history li { border-top: 1px solid var(--relic-line); padding: .6rem 0 .65rem; margin: 0 !important;
  display: grid; grid-template-columns: 3.4rem minmax(0, 1fr); column-gap: .8rem; overflow-wrap: anywhere;
  align-items: baseline; }
.relic-history time { font-size: .875rem; opacity: .82; font-variant-numeric: tabular-nums; }
.relic-history-claim { font-family: var(--relic-serif); font-size: 1.1rem; line-height: 1.4; }
.relic-history-of { font-size: .9rem; line-height: 1.45; opacity: .86; }
.relic-history-do { display: flex; flex-wrap: wrap; align-items: center; gap: .1rem 1.2rem; font-size: .9rem; }
.relic-history-do .relic-button { font-size: .8125rem; padding: 0 .6rem; min-height: 1.5rem; }
:is(.relic-history-do, .relic-history-back, .relic-history-more, .relic-moved-where) a { display: inline-block;
  min-height: 1.6rem; line-height: 1.6rem; }
.relic-history-day { font-size: 1rem !important; font-weight: 600; margin: .9rem 0 .3rem !important;
  padding: 0 !important; }
.relic-history-back { font-size: .9rem; }
.relic-history-more { display: flex; gap: 1.4rem; font-size: .9rem; }
h1.relic-history-title { font-family: var(--relic-serif); font-size: 2.1rem; font-weight: 600; line-height: 1.2;
  padding: 0; margin: 0 0 .35rem; }
.relic-history-asked { font-family: var(--relic-serif); font-size: 1.15rem; line-height: 1.5; max-width: 48rem;
  margin: .2rem 0 .2rem; padding: 0 0 0 .9rem; border-left: 3px solid var(--relic-line); overflow-wrap: anywhere;
  opacity: 1; color: inherit; }
.relic-history-asked p { font-size: inherit; }
.relic-changed { margin: .2rem 0 0 !important; padding: 0 0 0 1.1rem !important; max-width: 48rem; }
.relic-changed li { margin: .2rem 0 !important; font-size: inherit; }
.relic-moved li { display: grid; grid-template-columns: 2rem minmax(0, 1fr); column-gap: .7rem; padding: .55rem 0;
  margin: 0 !important; border-top: 1px solid var(--relic-line); overflow-wrap: anywhere; }
.relic-moved li:first-child { border-top: 0; }
.relic-moved blockquote { font-size: 1.02rem; line-height: 1.45; margin: 0; }
.relic-moved blockquote p + p { margin-top: .4em; }
.relic-moved-where { font-size: .85rem; line-height: 1.6; }
.relic-moved-how { font-size: .875rem; font-weight: 600; line-height: 1.5; }
.relic-moved-quiet .relic-moved-how { font-weight: 400; opacity: .82; }
.relic-moved .relic-rank { align-self: start; }
.relic-column .relic-quiet.relic-moved-sum { min-height: 0; }
.st-key-compare_columns .relic-column p { min-height: 0; }
.relic-likeness { display: inline-block; width: 8rem; max-width: 100%; height: .5rem; background: var(--relic-faint);
  border-radius: .25rem; overflow: hidden; vertical-align: middle; margin: 0 .5rem; }
.relic-likeness i { display: block; height: 100%; background: #1f7079; }
@media (max-width: 640px) {
  .relic-history li { grid-template-columns: 1fr; row-gap: .1rem; }
}
</style>
"""
