"""Citations are what the handbooks ask for: each kind of work against a page checked by hand."""

import re
from html import unescape
from pathlib import Path

import pytest

from relic_core.reporting.citations.styles import STYLES, cite, style
from relic_core.reporting.citations.text_runs import as_markdown
from tests.making_citations import KINDS

GOLDEN = Path(__file__).parent.parent / "golden" / "citations"


def page(kind):
    work, locator = KINDS[kind]
    lines = []
    for name in STYLES:
        lines.append(f"## {style(name).label}")
        lines += [f"{each.label}: {as_markdown(each.runs)}" for each in cite(work, name, locator)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", KINDS)
def test_golden_citations(kind):
    assert page(kind) == (GOLDEN / f"{kind}.md").read_text(encoding="utf-8")


def test_every_golden_page_has_its_kind():
    assert {path.stem for path in GOLDEN.glob("*.md")} == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_html_and_plain_text_say_the_same(kind):
    work, locator = KINDS[kind]
    for name in STYLES:
        for form in cite(work, name, locator):
            assert unescape(re.sub(r"</?i>", "", form.html)) == form.text
            assert ".." not in form.text
            assert "  " not in form.text
