"""Whatever a title, a name or a publisher holds, files of references are read back as they were written."""

from __future__ import annotations

import json
import re
from datetime import date
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from relic_core.domain import CitedWork, EditionDetails
from relic_core.reporting.citations.edition import parts_of
from relic_core.reporting.citations.exports import FORMATS
from relic_core.reporting.citations.styles import STYLES, cite
from relic_core.reporting.citations.text_runs import as_markdown

MARKS = "\\{}~^&%$#_*`<>[]()\"'“”‘’@,;:.?!=+-|/ "
WORDS = st.text(
    st.one_of(st.sampled_from(MARKS), st.characters(codec="utf-8", exclude_categories=["C", "Z"])), max_size=40
).map(lambda words: " ".join(words.split()))
NAMES = st.one_of(WORDS, st.sampled_from(["Jane Austen", "Guy de Maupassant", "King, Martin Luther, Jr.", "A and B"]))
YEARS = st.none() | st.integers(-3000, 2026).filter(bool)
CITED = st.builds(
    CitedWork,
    id=st.from_regex(r"[a-z]{1,20}-[0-9a-f]{8}", fullmatch=True),
    title=WORDS,
    author=NAMES,
    translator=NAMES,
    year=YEARS,
    details=st.builds(
        EditionDetails, editor=NAMES, collection=WORDS, volume=WORDS, volumes=st.none() | st.integers(1, 99),
        edition=WORDS, publisher=WORDS, place=WORDS, year=st.none() | st.integers(1000, 2026), container=WORDS,
        number=WORDS, url=st.sampled_from(["", "https://www.gutenberg.org/ebooks/158", "https://a.b/c?d={e}&f=%20~g"]),
        accessed=st.none() | st.just(date(2026, 11, 5)), language=WORDS,
    ),
)  # fmt: skip


# ---- BibTeX: a strict reader -----------------------------------------------------------------------------------------


def read_bibtex(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """Read entries as BibTeX does: braces counted, escaped or not."""
    entries, at = [], 0
    while at < len(text):
        head = re.compile(r"\s*@([a-z]+)\{([A-Za-z0-9:._-]+),\n").match(text, at)
        assert head, text[at : at + 40]
        at, fields = head.end(), {}
        while not text.startswith("}\n", at):
            name = re.compile(r"  ([a-z]+) = \{").match(text, at)
            assert name, text[at : at + 40]
            at, depth = name.end(), 1
            start = at
            while depth:
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
            assert name[1] not in fields
            fields[name[1]] = text[start : at - 1]
            assert text.startswith(",\n", at)
            at += 2
        at += 2
        entries.append((head[1], head[2], fields))
    return entries


COMMANDS = {"textbackslash": "\\", "textbraceleft": "{", "textbraceright": "}", "textasciitilde": "~",
            "textasciicircum": "^"}  # fmt: skip


def as_set(latex: str) -> str:
    """Read what LaTeX would set; what it would obey, and nobody meant, fails."""
    found, at = "", 0
    while at < len(latex):
        command = re.compile(r"\{\\([a-z]+)\}|\\([&%$#_])").match(latex, at)
        if command:
            found += COMMANDS[command[1]] if command[1] else command[2]
            at = command.end()
        else:
            assert latex[at] not in "\\{}~^&%$#_", latex
            found += latex[at]
            at += 1
    return found


@given(st.lists(CITED, max_size=3))
def test_bibtex_is_read_back(works):
    entries = read_bibtex(FORMATS["bibtex"].write(works))
    assert [key for _, key, _ in entries] == [work.id for work in works]
    for work, (kind, _, fields) in zip(works, entries, strict=True):
        parts = parts_of(work)
        assert kind == ("incollection" if parts.collection else "book")
        assert as_set(fields["title"]) == parts.title
        for field, said in (("booktitle", parts.collection), ("address", parts.place), ("volume", parts.volume)):
            assert as_set(fields.get(field, "")) == said
        assert len(people(fields.get("author", ""))) == len(parts.authors)


def people(field: str) -> list[str]:
    """Part names at an "and" outside braces, as BibTeX does."""
    found, depth, last = [], 0, 0
    for at, letter in enumerate(field):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if not depth and field.startswith(" and ", at):
            found.append(field[last:at])
            last = at + 5
    return [each for each in (*found, field[last:]) if each.strip()]


# ---- RIS -------------------------------------------------------------------------------------------------------------


def read_ris(text: str) -> list[list[tuple[str, str]]]:
    """Read records; every line has a tag, two spaces, a dash and a space, and ends as on Windows."""
    records: list[list[tuple[str, str]]] = []
    for line in text.split("\r\n"):
        assert "\n" not in line
        assert "\r" not in line
        if not line:
            continue
        found = re.fullmatch(r"([A-Z][A-Z0-9])  - (.*)", line)
        assert found, line
        if found[1] == "TY":
            records.append([])
        records[-1].append((found[1], found[2]))
    assert all(record[0][0] == "TY" and record[-1] == ("ER", "") for record in records)
    return records


@given(st.lists(CITED, max_size=3))
def test_ris_is_read_back(works):
    records = read_ris(FORMATS["ris"].write(works))
    assert len(records) == len(works)
    for work, record in zip(works, records, strict=True):
        parts, said = parts_of(work), dict(record)
        assert said["TI"] == parts.title
        assert said.get("CY", "") == parts.place
        assert [value for tag, value in record if tag == "AU"] == [name.turned for name in parts.authors]
        assert said["TY"] in {"BOOK", "EBOOK", "CHAP"}


# ---- CSL-JSON --------------------------------------------------------------------------------------------------------


@given(st.lists(CITED, max_size=3))
def test_csl_json_is_read_back(works):
    items = json.loads(FORMATS["csl-json"].write(works))
    assert [item["id"] for item in items] == [work.id for work in works]
    for work, item in zip(works, items, strict=True):
        parts = parts_of(work)
        assert item["title"] == parts.title
        assert item["type"] == ("chapter" if parts.collection else "book")
        assert len(item.get("author", ())) == len(parts.authors)
        year = work.details.year if work.details.year is not None else work.year
        assert item.get("issued") == (None if year is None else {"date-parts": [[year]]})


# ---- the same words in every form ------------------------------------------------------------------------------------


class Words(HTMLParser):
    def __init__(self):
        super().__init__()
        self.words, self.tags = "", set()

    def handle_data(self, data):
        self.words += data

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)


def words_of(markup: str) -> tuple[str, set[str]]:
    reader = Words()
    reader.feed(markup)
    reader.close()
    return reader.words, reader.tags


@given(CITED)
def test_html_and_markdown_show_the_words_of_the_plain_text(work):
    markdown = MarkdownIt("commonmark")
    for name in STYLES:
        for form in cite(work, name):
            words, tags = words_of(form.html)
            assert (words, tags - {"i"}) == (form.text, set())
            words, tags = words_of(markdown.render(as_markdown(form.runs)))
            assert tags - {"p", "em"} == set()
            assert " ".join(words.replace("*", "").split()) == " ".join(form.text.replace("*", "").split())
