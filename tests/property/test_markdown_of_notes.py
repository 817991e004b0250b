"""Whatever a passage or the scholar's words hold, their Markdown shows the words and obeys none of them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from relic_core.domain import Collection, KeptPassage, Note
from relic_core.formats.notebook import Section
from relic_core.reporting.notebook_exports import markdown

NOW = datetime(2026, 11, 5, 12, tzinfo=UTC)
KEPT = KeptPassage(
    work_id="emma-1", sha256="e" * 64, title="Emma", author="Jane Austen", at="3.5.1", length=1, start=0, end=9,
    place="Chapter 3 · paragraph 5", chapter="Chapter 3", paragraph=5, quotation="",
)  # fmt: skip
STARTS = [
    "* ",
    "- ",
    "+ ",
    "_x_ ",
    "# ",
    "> ",
    "< ",
    "| ",
    "1. ",
    "1) ",
    "(1) ",
    "(a) ",
    "i. ",
    "A.  ",
    "IV) ",
    ": ",
    "=",
    "---",
]
LINE = st.builds(
    "{}{}".format,
    st.sampled_from(["", *STARTS]),
    st.text(
        st.one_of(st.sampled_from("*_#><|`~[](){}!\\&;:.-+=$^@%\"' \t\r12aI"), st.characters(codec="utf-8")),
        max_size=20,
    ),
)
WORDS = st.lists(LINE, min_size=1, max_size=4).map("\n".join)
PANDOCS_LIST = re.compile(
    r"\s*(?:[-+*:~]|#\.|\(?(?:\d+|[A-Za-z]|[ivxlcdm]+|[IVXLCDM]+|@\w*)\)|(?:\d+|[a-z]|[ivxlcdm]{2,}|[IVXLCDM]{2,})\.)(?:\s|$)"
    r"|\s*[A-Z]\.(?:\s\s|$)"
)
OURS = {"h1", "h2", "p", "em", "br", "blockquote", "ul", "li", "hr"}


class Shown(HTMLParser):
    def __init__(self):
        super().__init__()
        self.words, self.tags = "", []

    def handle_data(self, data):
        self.words += data

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


def shown(text):
    """Read Markdown as CommonMark with tables, struck words, and the marks that a printer's hand would change."""
    reader = MarkdownIt("commonmark", {"typographer": True}).enable(["table", "strikethrough", "replacements"])
    found = Shown()
    found.feed(reader.render(text))
    found.close()
    return found


def bare(words):
    """Leave aside white space, and the characters that no document holds."""
    return re.sub(r"[\s\x00\ufffd]", "", words)


@given(WORDS, WORDS, st.booleans())
@example("It rained -- and ... rained.", "(a) one\n(b) two\n\ni. three", False)
@example("a\n\n# b", "a\r- b", True)
@example("It rained.", "..", False)
@example("It rained.", "rain ... and wind ....", False)
def test_the_markdown_of_a_note_shows_its_words_and_is_inert(quotation, words, verse):
    kept = replace(KEPT, quotation=f"So {quotation}", line=4 if verse else None)
    note = Note(id="n", collection_id="c", kept=kept, words=words, created=NOW, updated=NOW)
    made = markdown([Section(Collection(id="c", name="Clues", created=NOW), (note,))], "mla", {})
    page = shown(made)
    assert set(page.tags) <= OURS
    assert (page.tags.count("ul"), page.tags.count("li"), page.tags.count("hr")) == (1, 1, 1)
    assert (page.tags.count("h1"), page.tags.count("h2")) == (1, 2)
    assert bare(words) in bare(page.words)
    passage = made.split("\n\n")[2]
    assert ("<blockquote>" in MarkdownIt().render(passage)) == passage.startswith("> ")
    for line in made.splitlines():
        if not line.startswith("- Austen"):
            assert not PANDOCS_LIST.match(line.removeprefix("> "))
