"""The look of citations: the forms one below the other, each with its button."""

from __future__ import annotations

CITING = """
<style>
.relic-cite { margin: .2rem 0 .4rem !important; padding: 0 !important; max-width: 52rem; }
.relic-cite .relic-copy { display: grid; grid-template-columns: 1fr auto; gap: .1rem 1rem; align-items: start;
  padding: .75rem 0 .8rem; border-top: 1px solid var(--relic-line); }
.relic-cite .relic-copy:last-child { border-bottom: 1px solid var(--relic-line); }
.relic-cite dt { grid-column: 1; font-size: .86rem; font-weight: 600; line-height: 1.4; margin: 0 !important; }
.relic-cite dd.relic-copied { grid-column: 1; margin: 0 !important; font-family: var(--relic-serif); font-size: 1.08rem;
  line-height: 1.5; overflow-wrap: anywhere; padding-left: 1.4rem; text-indent: -1.4rem; }
.relic-cite dd.relic-copied:has(p) { padding-left: 0; text-indent: 0; }
.relic-cite dd blockquote { margin: 0; padding: 0 0 0 1.4rem; border: 0; color: inherit; }
.relic-cite dd p { margin: 0; font-size: inherit; }
.relic-cite dd p + p { text-indent: 1.4rem; }
.relic-cite .relic-cite-do { grid-column: 2; grid-row: 1 / span 2; margin: 0 !important; }
@media (max-width: 640px) { /* an address of the web fits in the whole width, and not beside the button */
  .relic-cite .relic-cite-do { grid-row: 1; }
  .relic-cite dd.relic-copied { grid-column: 1 / -1; }
}
.relic-copy-button { font-family: inherit; font-size: .875rem; color: inherit; background: none;
  border: 1px solid var(--relic-line); border-radius: .4rem; padding: .2rem .7rem; min-height: 2rem; min-width: 4.6rem;
  cursor: pointer; }
.relic-copy-button:hover { border-color: currentColor; }
.relic-cite-quotation { font-family: var(--relic-serif); font-size: 1.1rem; line-height: 1.5; max-width: 44rem;
  margin: .2rem 0 .3rem; padding: 0 0 0 .9rem; border-left: 2px solid var(--relic-line); overflow-wrap: anywhere; }
.relic-cite-quotation p { margin: 0; font-size: inherit; }
.relic-cite-quotation p + p { margin-top: .45em; }
.relic-cite-for { max-width: 44rem; }
.relic-cite-for li { font-size: .9rem; line-height: 1.5; margin: 0 !important; opacity: .9; }
.relic-cite-where { display: flex; flex-wrap: wrap; gap: .15rem 1.2rem; }
.relic-cite-where a { display: inline-block; min-height: 1.5rem; }
</style>
"""
