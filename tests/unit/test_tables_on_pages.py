"""Tables on pages: columns of words to the left, long remarks broken into lines, figures never."""

from __future__ import annotations

from relic_ui.tables import table_html

REMARK = "is built on BM25, which chose the other options, and shares its errors"


def test_a_long_remark_is_broken_into_lines_and_figures_are_not():
    made = table_html(["who", "right", "items", "remarks"], [["Reranked", "25.0 (17.0-33.3)", "128", REMARK]], "Who")
    assert f'<td class="relic-table-words relic-table-prose">{REMARK}</td>' in made
    assert '<td class="relic-table-words">25.0 (17.0-33.3)</td><td>128</td>' in made


def test_what_names_a_row_keeps_its_own_rule():
    made = table_html(["who", "items"], [[REMARK, "128"]], "Who")
    assert f'<th class="relic-table-words" scope=row>{REMARK}</th>' in made
