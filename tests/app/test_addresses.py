"""Addresses that were edited by hand, cut off or made up: every page stands and names no command."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from relic_core.domain import SearchRequest
from tests.app.conftest import APP
from tests.app.reading import said, sound

HOSTILE = (
    "9" * 3000,
    "<b>*q*</b> $x$ ../,/%00\x00\x1b[31m\r\n\t\u202e\u0661\u00b2\U0001f600e\u0301\ufeff",
    "-1",
)
"""A number beyond any, too long for everything else; markup, a path, control characters and letters that are hard to
set; a number where none can be."""
GIVEN, WORK, SEARCH = "GIVEN", "WORK", "SEARCH"
"""What stands in a query for a hostile value, for the work that is there and for a search that was made."""

QUERIES = {
    "cite": ({"work": GIVEN, "at": GIVEN, "n": GIVEN, "q": GIVEN}, {"work": WORK, "at": GIVEN, "n": GIVEN}),
    "attribution": ({},),
    "concordance": (
        dict.fromkeys(("word", "work", "sort", "page", "variants", "forms", "case", "form", "voice"), GIVEN),
        {"word": "river", "work": WORK, "sort": GIVEN, "page": GIVEN},
    ),
    "drafts": ({"draft": GIVEN},),
    "echoes": (
        dict.fromkeys(("work", "with", "method", "chapter", "at", "n", "top", "most", "least"), GIVEN),
        {"work": WORK, "with": WORK, "method": "tf-idf", "chapter": GIVEN, "top": GIVEN},
    ),
    "find": ({"q": GIVEN, "w": GIVEN, "m": GIVEN}, {"search": GIVEN}, {"like": WORK, "at": GIVEN, "n": GIVEN}),
    "help": ({"page": GIVEN},),
    "history": (
        {"words": GIVEN, "work": GIVEN, "page": GIVEN},
        {"q": SEARCH, "show": GIVEN},
        {"q": GIVEN, "show": "then"},
    ),
    "library": ({"work": GIVEN, "show": GIVEN, "page": GIVEN},),
    "notebook": ({"note": GIVEN, "collection": GIVEN},),
    "proxy_task": ({"study": GIVEN, "show": GIVEN, "item": GIVEN},),
    "read": (
        {"work": GIVEN, "at": GIVEN, "n": GIVEN, "q": GIVEN, "w": GIVEN},
        {"work": WORK, "at": "1.1.1", "n": GIVEN, "words": GIVEN, "q": GIVEN},
    ),
    "recall": (
        dict.fromkeys(("benchmark", "runs", "metric", "view", "sort", "least", "beside", "show", "page"), GIVEN),
        dict.fromkeys(("least", "book", "length", "shape", "k", "page"), GIVEN),
    ),
    "sources": (
        {"source": GIVEN, "page": GIVEN, "show": GIVEN, "kind": GIVEN},
        {"work": WORK, "at": GIVEN, "page": GIVEN},
        {"about": GIVEN, "work": GIVEN},
    ),
    "training": ({"id": GIVEN},),
    "work": ({"work": GIVEN},),
}
"""Of each page everything that its address may carry."""


def test_every_page_has_its_queries():
    assert set(QUERIES) == {path.stem for path in (APP.parent / "pages").glob("*.py")}


@pytest.mark.parametrize("page", QUERIES)
def test_no_value_of_an_address_breaks_a_page_or_shows_a_command(app, page):
    (sample,) = app.bench.works.summaries()
    request = SearchRequest(work_id=sample.id, claim_text="Brass", retrievers=("bm25",))
    known = {WORK: sample.id, SEARCH: app.bench.history.keep(request).id}
    app.open()  # the one server that all of these visitors come to
    for given in HOSTILE:
        for query in QUERIES[page]:
            at = AppTest.from_file(str(APP), default_timeout=60)
            for name, value in query.items():
                at.query_params[name] = (known | {GIVEN: given}).get(value, value)
            told = said(sound(at.switch_page(f"pages/{page}.py").run()))
            assert "python -m" not in told, (query, given)
            assert max(map(len, told.split()), default=0) <= 400, "what is long is cut off"
