"""The look of secondary sources and their windows, on their page, in the Library and beside the text."""

from __future__ import annotations

SOURCES = """
<style>
h1.relic-window-title { font-family: var(--relic-serif); font-size: 2.1rem; font-weight: 600; line-height: 1.2;
  padding: 0; margin: 0 0 .35rem; overflow-wrap: anywhere; }
.relic-window-back { font-size: .9rem; margin-bottom: .5rem !important; }
.relic-window-links { display: flex; flex-wrap: wrap; gap: .15rem 1.2rem; align-items: baseline; }
.relic-window-links a, .relic-window-filter a, .relic-window-works a, .relic-window-back a { display: inline-block;
  min-height: 1.5rem; line-height: 1.5rem; }
.relic-window-works { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; margin-top: .2rem !important; }
.relic-window-works li { margin: 0 !important; font-size: inherit; }
.relic-window-works a[aria-current], .relic-window-filter a[aria-current] { font-weight: 700; text-decoration: none; }
.relic-window-sentence { font-family: var(--relic-serif); font-size: 1.15rem; line-height: 1.5; max-width: 44rem;
  margin: .2rem 0 .5rem; padding: 0 0 0 .9rem; border-left: 2px solid var(--relic-line); opacity: 1; color: inherit; }
.relic-window-sentence p { font-size: inherit; }
.relic-window-bar { display: flex; flex-wrap: wrap; gap: .3rem 2rem; align-items: baseline;
  justify-content: space-between; max-width: 76rem; margin: 0; }
.relic-window-bar h2 { scroll-margin-top: 5rem; }
.relic-window-filter { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-size: .9rem; }
.relic-window-filter a[aria-current] { border-bottom: 2px solid currentColor; }
.relic-windows { max-width: 76rem; }
.relic-windows > li { margin: 0 !important; padding: 1.1rem 0 1.2rem; border-top: 1px solid var(--relic-line);
  scroll-margin-top: 5rem; overflow-wrap: anywhere; font-size: inherit; }
.relic-windows > li:last-child { border-bottom: 1px solid var(--relic-line); }
.relic-windows > li:focus-visible { outline: 2px solid currentColor; outline-offset: 3px; }
.relic-windows > li:focus:not(:focus-visible) { outline: none; }
.relic-window h3 { font-size: 1.02rem; font-weight: 600; line-height: 1.4; margin: 0; padding: 0; display: flex;
  flex-wrap: wrap; gap: 0 .6rem; align-items: baseline; letter-spacing: 0; }
.relic-window h3 cite { font-family: var(--relic-serif); font-style: normal; }
.relic-window-by, .relic-window-where { font-weight: 400; font-size: .9rem; opacity: .85; }
.relic-window-number { font-weight: 400; font-size: .85rem; opacity: .75; font-variant-numeric: tabular-nums; }
.relic-window-sides { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .3rem 2.6rem;
  margin-top: .3rem; }
.relic-window h4 { font-size: .8rem; font-weight: 600; opacity: .82; margin: 0 0 .15rem; padding: 0; line-height: 1.4;
  letter-spacing: 0; }
.relic-window blockquote { font-size: 1.08rem; line-height: 1.5; margin: 0; }
.relic-window blockquote p { white-space: pre-line; }
.relic-window blockquote p + p { margin-top: .45em; }
.relic-window-around { font-size: .92rem; line-height: 1.5; opacity: .88; }
.relic-window-around + blockquote, blockquote + .relic-window-around { margin-top: .4rem !important; }
section[aria-label="The critic"] blockquote { padding-left: .8rem; border-left: 2px solid var(--relic-line); }
.relic-windows mark, .relic-read-quoting mark { background: color-mix(in srgb, #e0a400 22%, transparent);
  color: inherit; padding: 0; text-decoration: underline 1px; text-underline-offset: .22em;
  text-decoration-color: #b07c00; text-decoration-skip-ink: none; border-radius: .1em; }
.relic-window blockquote + .relic-window-links { font-size: .875rem; margin-top: .5rem !important; }
.relic-critics-say { max-width: 46rem; }
.relic-critics-say .relic-window-around { font-size: 1rem; line-height: 1.55; opacity: 1; }
.relic-critics-say h3 { margin-bottom: .3rem; }
.relic-critics-say blockquote { font-size: 1rem; padding-left: .9rem; border-left: 2px solid var(--relic-line); }
.relic-critics-say > li > .relic-window-links { font-size: .875rem; margin-top: .5rem !important; }
.relic-window-note { font-size: .9rem; line-height: 1.45; margin-top: .55rem !important; max-width: 52rem;
  padding-left: .8rem; border-left: 2px solid var(--relic-line); }
.relic-window-out .relic-window-sides { opacity: .78; }
.relic-window-judge { display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; margin-top: .7rem; font-size: .85rem;
  align-items: center; }
.relic-window-judge [role=group] { display: flex; flex-wrap: wrap; gap: .3rem .35rem; align-items: center; }
.relic-window-judge span { opacity: .85; margin-right: .2rem; }
.relic-button[aria-pressed=true] { border-color: currentColor; background: var(--relic-lit); font-weight: 600; }
.relic-button[aria-pressed=true]::before { content: "✓ " / ""; }
.relic-window-meanings { max-width: 52rem; }
.relic-window-meanings dl { margin: .3rem 0 !important; padding: 0 !important; }
.relic-window-meanings dt { font-weight: 600; }
.relic-window-meanings dd { margin: 0 0 .3rem; }
.relic-quoted li { display: grid; grid-template-columns: minmax(0, 22rem) minmax(4rem, 16rem) 1fr; gap: 0 1.2rem;
  align-items: center; padding: .3rem 0; margin: 0 !important; font-size: .95rem; max-width: 62rem;
  border-bottom: 1px solid var(--relic-line); overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.relic-quoted-name a { font-family: var(--relic-serif); font-size: 1.05rem; }
.relic-quoted-bar { height: .5rem; background: var(--relic-faint); border-radius: .25rem; overflow: hidden; }
.relic-quoted-bar i { display: block; height: 100%; background: #1f7079; }
.relic-source-problems li { padding: .3rem 0; margin: 0 !important; font-size: .9rem; overflow-wrap: anywhere; }
.relic-work-quoted li { display: grid; grid-template-columns: 2.4rem 1fr; gap: 0 .8rem; padding: .5rem 0;
  margin: 0 !important; border-top: 1px solid var(--relic-line); max-width: 56rem; overflow-wrap: anywhere;
  align-items: baseline; }
.relic-work-quoted strong { font-family: var(--relic-serif); font-size: 1.3rem; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.relic-work-quoted q { font-family: var(--relic-serif); font-size: 1.05rem; line-height: 1.5; quotes: none; }
.relic-work-quoted .relic-window-links { font-size: .875rem; }

.relic-read-quotes { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; align-items: baseline; font-size: .9rem;
  line-height: 1.6; padding-left: var(--relic-read-left); margin: 0; }
.relic-read-quotes p { margin: 0; font-size: inherit; opacity: .85; }
.relic-read-quotes button { font: inherit; color: inherit; background: none; border: 0; padding: 0; min-height: 1.5rem;
  text-decoration: underline; text-underline-offset: .2em; cursor: pointer; min-width: 7.5rem; text-align: left; }
.relic-read-text a.relic-read-quoted { position: absolute; text-indent: 0; width: 1.7rem; height: 24px;
  left: calc(100% - var(--relic-read-right) + .4rem); line-height: 24px; font-family: var(--relic-read-sans);
  font-size: .74rem; font-style: normal; text-align: left; padding-left: .35rem; text-decoration: none;
  user-select: none; font-variant-numeric: tabular-nums; border-left: 2px solid #b07c00; opacity: .8; }
.relic-read-text a.relic-read-quoted:is(:hover, :focus-visible, [aria-current]) { opacity: 1; font-weight: 700;
  background: var(--relic-faint); }
.relic-read-quoted:is(:hover, :focus-visible) + span[id],
.relic-read-quoted:is(:hover, :focus-visible) + .relic-read-marks + span[id] { text-decoration: underline 2px;
  text-decoration-color: var(--relic-read-rule); text-underline-offset: .28em; text-decoration-skip-ink: none; }
html[data-relic-counts-hidden] .relic-read-quoted { display: none; }
.relic-read-quoting { background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color);
  border-radius: .5rem; margin: 0 0 .5rem; box-shadow: 0 2px 12px rgb(0 0 0 / 14%); font-size: .9rem;
  line-height: 1.5; max-height: min(46vh, 27rem); flex-direction: column; outline: none !important; }
.relic-read-quoting:not([hidden]) { display: flex; }
.relic-read-quoting header { display: flex; gap: 1rem; align-items: baseline; justify-content: space-between;
  padding: .5rem .9rem .4rem; border-bottom: 1px solid var(--st-border-color); }
.relic-read-quoting h2 { font-size: 1rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.4; }
.relic-read-quoting h2 span { font-weight: 400; opacity: .85; font-size: .9rem; display: inline-block; }
.relic-read-quoting header button { font: inherit; color: inherit; background: transparent; min-height: 28px;
  border: 1px solid currentColor; border-radius: .4rem; padding: 0 .6rem; cursor: pointer; }
.relic-read-quoting ol { list-style: none; margin: 0; padding: 0 .9rem .3rem; overflow-y: auto;
  overscroll-behavior: contain; }
.relic-read-quoting li { margin: 0; padding: .55rem 0; border-top: 1px solid var(--relic-line); font-size: inherit;
  overflow-wrap: anywhere; max-width: 52rem; }
.relic-read-quoting li:first-child { border-top: 0; }
.relic-read-quoting h3 { font-size: .95rem; font-weight: 600; margin: 0; padding: 0; line-height: 1.4;
  letter-spacing: 0; }
.relic-read-quoting cite { font-family: var(--relic-serif); font-style: normal; }
.relic-read-quoting p { font-size: inherit; margin: .1rem 0 .15rem; }
.relic-read-quoting b { font-family: var(--relic-serif); font-weight: 400; font-size: 1.06em; }
.relic-read-quoting > p { padding: .6rem .9rem; }
.stMain:has(.relic-read-quoting:not([hidden])) { scroll-padding-bottom: min(52vh, 31rem); }
.relic-read-bar [data-part="quoted"] a { display: inline-block; }
@media (max-width: 1099px) {
  .st-key-read_room:has(.relic-read-quotes) { --relic-read-right: 1.6rem; }
  .relic-read-text a.relic-read-quoted { width: 1.4rem; padding-left: .25rem;
    left: calc(100% - var(--relic-read-right) + .25rem); }
}
@media (max-width: 640px) {
  .relic-window-sides { grid-template-columns: minmax(0, 1fr); row-gap: .8rem; }
  .relic-quoted li { grid-template-columns: 1fr; }
  .relic-quoted-bar { max-width: 14rem; margin: .2rem 0; }
  h1.relic-window-title { font-size: 1.7rem; }
}
</style>
"""
