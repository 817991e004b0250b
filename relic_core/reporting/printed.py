"""A page to be printed: headings, paragraphs, tables and items in one HTML file that needs no other file."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from relic_core.reporting.tables import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.reporting.tables import Cell, Table

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 Georgia, "Times New Roman", serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
caption { text-align: left; font-weight: bold; padding-bottom: 0.4rem; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.6rem 0.25rem 0; border-bottom: 1px solid #8888; }
.number { text-align: right; white-space: nowrap; } .interval { display: block; font-size: 0.8rem; opacity: 0.8; }
.gap { border-bottom: 2px solid; padding: 0 3rem; } .words { white-space: pre-line; }
article { break-inside: avoid; border-top: 1px solid #8888; padding-top: 0.5rem; margin-top: 1rem; }
li.right { font-weight: bold; } .small { font-size: 0.85rem; opacity: 0.85; }
@media print { body { max-width: none; margin: 0; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedItem:
    """A claim with its options, and what was answered.

    - `options`: the words of each option, and what is said of it: who chose it, how often.
    - `right_option`: number of the critic's, from 1.
    """

    heading: str
    left: str
    right: str
    options: tuple[tuple[str, str], ...]
    right_option: int
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a page: its heading, and what stands below in this order."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    items: tuple[PrintedItem, ...] = ()


def page(title: str, sections: Sequence[Section], *, foot: str = "") -> str:
    """Set a page; everything given is shown as it is, markup in it too.

    - `foot`: a last line: what made it.
    """
    body = "\n".join(_section(each) for each in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f'{body}\n<p class="small">{escape(foot)}</p>\n</body>\n</html>\n'
    )


def _section(section: Section) -> str:
    parts = [f"<h2>{escape(section.heading)}</h2>"]
    parts += [f'<p class="words">{escape(paragraph)}</p>' for paragraph in section.paragraphs]
    parts += [_table(table) for table in section.tables]
    parts += [_item(item) for item in section.items]
    return f"<section>\n{chr(10).join(parts)}\n</section>"


def _table(table: Table) -> str:
    right = table.to_the_right

    def cell(value: Cell, at: int) -> str:
        kind = ' class="number"' if right[at] or isinstance(value, Figure) else ""
        if not isinstance(value, Figure):
            return f"<td{kind}>{escape(f'{value:,}' if isinstance(value, int) else value)}</td>"
        interval = f'<span class="interval">{escape(value.interval)}</span>' if value.interval else ""
        return f"<td{kind}>{escape(value.text)}{interval}</td>"

    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    rows = "\n".join(f"<tr>{''.join(cell(value, at) for at, value in enumerate(row))}</tr>" for row in table.rows)
    notes = "".join(f'<p class="small">{escape(note)}</p>\n' for note in table.notes)
    return (
        f'<div class="wide"><table>\n<caption>{escape(table.caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>\n{notes}"
    )


def _item(item: PrintedItem) -> str:
    options = []
    for number, (words, said) in enumerate(item.options, start=1):
        kind = ' class="right"' if number == item.right_option else ""
        quoted = " (the critic’s quotation)" if number == item.right_option else ""
        options.append(
            f'<li{kind}><span class="words">{escape(words)}</span><br>'
            f'<span class="small">{escape(said)}{quoted}</span></li>'
        )
    remarks = "".join(f'<p class="small words">{escape(remark)}</p>' for remark in item.remarks)
    return (
        f"<article>\n<h3>{escape(item.heading)}</h3>\n"
        f'<p>{escape(item.left)} <span class="gap" role="img" aria-label="missing quotation"></span> '
        f"{escape(item.right)}</p>\n<ol>{''.join(options)}</ol>\n{remarks}\n</article>"
    )
