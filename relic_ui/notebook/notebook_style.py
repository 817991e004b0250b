"""The look of the notebook."""

from __future__ import annotations

NOTEBOOK = """
<style>
.relic-note { margin: 0; scroll-margin-top: 5rem; overflow-wrap: anywhere; }
.relic-note header { display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: baseline; }
.relic-note :is(h2, h3) { font-size: .95rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.4;
  letter-spacing: 0; }
.relic-note :is(h2, h3) cite { font-family: var(--relic-serif); font-size: 1.05rem; }
.relic-note blockquote { font-size: 1.15rem; line-height: 1.5; margin: .5rem 0 .6rem; white-space: pre-line;
  max-width: 40rem; hanging-punctuation: first; }
.relic-note-for { font-size: .9rem; line-height: 1.45; max-width: 40rem; border-left: 3px solid var(--relic-line);
  padding-left: .7rem; }
.relic-note-for p { margin: 0; }
.relic-note-for details p { white-space: pre-line; margin-top: .3rem; }
.relic-note summary { cursor: pointer; min-height: 1.6rem; line-height: 1.6rem; }
.relic-note-notice { font-size: .9rem; line-height: 1.45; max-width: 40rem; margin: 0 0 .6rem; padding: .4rem .7rem;
  background: var(--relic-faint); border-radius: .3rem; }
.relic-note-foot { display: flex; flex-wrap: wrap; gap: .3rem .5rem; align-items: center; margin-top: .6rem;
  font-size: .875rem; }
.relic-note-foot details { flex-basis: 100%; }
.relic-note-said { min-height: 1.4rem; font-size: .875rem; opacity: .82; }
.relic-note-version :is(p, blockquote) { font-size: .9rem; line-height: 1.45; overflow-wrap: anywhere; }
.relic-note-version blockquote { white-space: pre-line; max-height: 12rem; overflow-y: auto; margin: .3rem 0;
  opacity: 1; padding: 0 0 0 .7rem; border-left: 3px solid var(--relic-line); color: inherit; }
[class*="st-key-notebook_other_"] { background: color-mix(in srgb, #e0a400 14%, transparent); border-radius: .3rem;
  padding: .5rem .7rem; button p { text-decoration: underline; text-underline-offset: .2em; } }
.relic-notes-claim { font-size: 1.15rem; font-weight: 600; margin: .6rem 0 0; padding: 0; line-height: 1.4;
  max-width: 52rem; overflow-wrap: anywhere; }
.relic-notes-claim span { font-weight: 400; font-size: .9rem; opacity: .82; white-space: nowrap; }
.relic-notes-none { max-width: 44rem; }
.relic-notes-none ol { margin: .8rem 0 0 !important; padding-left: 1.4rem !important; }
.relic-notes-none li { margin: 0 0 .35rem !important; line-height: 1.5; }
@media (max-width: 640px) {
  .st-key-notebook_seek .st-key-notebook_sought { flex: 1 1 10rem !important; min-width: 10rem !important; }
}
</style>
"""
