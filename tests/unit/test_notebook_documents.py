"""Notes as documents: quotations set by the rule of their style, citations behind them, a list of works at the end."""

from __future__ import annotations

import csv as reader_of
import io
from dataclasses import replace
from datetime import UTC, datetime

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relic_core.domain import Collection, KeptPassage, Note
from relic_core.formats.notebook import Section
from relic_core.reporting.citations.quoting import quote
from relic_core.reporting.citations.text_runs import TextRun
from relic_core.reporting.notebook_exports import COLUMNS, csv, markdown, word
from tests.approved import says
from tests.making_citations import cited

SAYS = says("documents")

NOW = datetime(2026, 11, 5, 12, tzinfo=UTC)
EMMA = replace(cited("Emma", "Jane Austen", 1815, publisher="Dent", year=1906), id="emma-1")
SHORT = "He said “no”. She … [did] not answer."


def note(quotation=SHORT, *, number=1, line=None, **given):
    kept = KeptPassage(
        work_id="emma-1", sha256="e" * 64, title="Emma (as kept)", author="J. Austen", at="3.5.1", length=2, start=0,
        end=9, place="Chapter 3 · paragraph 5", chapter="Chapter 3", paragraph=5, line=line, quotation=quotation,
        claim_text=given.pop("claim", ""), origin=given.pop("origin", "find"),
    )  # fmt: skip
    return Note(id=f"n{number}", collection_id="c", kept=kept, created=NOW, updated=NOW, **given)


def section(*notes, name="Clues"):
    return Section(Collection(id=name, name=name, created=NOW), notes)


def written(*notes, style="mla", editions=None):
    return markdown([section(*notes)], style, {"emma-1": EMMA} if editions is None else editions)


# ---- the rule of long quotations -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "style", "block"),
    [
        ("x" * 300, "mla", False),
        ("x" * 301, "mla", True),
        ("word " * 99, "chicago-notes", False),
        ("word " * 100, "chicago-author-date", True),
        ("One.\n\nTwo.", "mla", True),
        ("a\nb\nc", "mla", False),
        ("a\nb\nc\nd", "mla", True),
        ("a\nb\n\nc", "mla", False),
        ("a\nb", "chicago-notes", True),
        ("one line of verse", "chicago-notes", False),
    ],
)
def test_a_long_quotation_is_set_off_by_the_rule_of_its_style(words, style, block):
    assert quote(words, (), style, verse="line of verse" in words).block is block


@pytest.mark.parametrize(
    ("words", "inline"),
    [
        ("It rained.", "“It rained”"),
        ("Did it?", "“Did it?”"),
        ("It rained …", "“It rained …”"),
        ("It rained...", "“It rained...”"),
        ("It rained. . . .", "“It rained. . . .”"),
        ("“It rained.”", "“‘It rained’”"),
        ("a [b] “c ‘d’”", "“a [b] ‘c “d”’”"),
        ("one\ntwo\n\nthree", "“one / two // three”"),
    ],
)
def test_a_short_quotation_stands_between_marks_that_are_turned_inside(words, inline):
    assert quote(words, (TextRun("(3)"),), "mla").text == f"{inline} (3)."


# ---- Markdown --------------------------------------------------------------------------------------------------------


def test_a_short_quotation_is_followed_by_its_citation_and_the_stop():
    made = written(note(words="Mine *own*.\nA line.\n\nMore.", tags=("irony", "b_c"), verdict="supports", claim="Who?"))
    assert made.split("\n\n---")[0] == (
        "# Clues\n\n## 1. *Emma*, Chapter 3, paragraph 5\n\n"
        "“He said ‘no’. She … \\[did\\] not answer” (Austen, ch. 3, par. 5).\n\n"
        "Mine \\*own\\*.\\\nA line.\n\nMore.\n\n"
        "Claim: Who?\\\nVerdict: Supports the claim\\\nTags: irony, b\\_c\n\n"
        "## Works Cited\n\n- Austen, Jane. *Emma*. 1815. Dent, 1906."
    )


def test_a_long_quotation_is_a_block_with_its_citation_behind_the_stop():
    made = written(note("First “one”.\n\nSecond."))
    assert "> First “one”.\n>\n> Second. (Austen, ch. 3, pars. 5-6)\n\n" in made
    verse = written(note("a\nb\nc\nd", line=14))
    assert "> a\\\n> b\\\n> c\\\n> d (Austen, ch. 3, lines 14-17)\n\n" in verse


def test_notes_are_full_at_the_first_mention_and_short_later():
    made = written(note(), note(number=2), style="chicago-notes")
    assert made.count("She … \\[did\\] not answer.”\n\n") == 2
    assert made.index("Jane Austen, *Emma* (1815; Dent, 1906), chap. 3") < made.index("\n\nAusten, *Emma*, chap. 3")
    assert made.count("## Bibliography") == made.count("- Austen, Jane.") == 1


def test_a_work_that_is_not_there_is_cited_as_it_was_kept():
    assert "- Austen, J. *Emma (as kept)*.\n" in written(note(), editions={})


def test_mla_gives_the_title_where_several_works_of_an_author_are_cited():
    persuasion = replace(EMMA, id="p", title="Persuasion")
    other = replace(note("Anne hoped.", number=2), kept=replace(note("Anne hoped.").kept, work_id="p"))
    made = written(note(), other, editions={"emma-1": EMMA, "p": persuasion})
    assert "(Austen, *Emma*, ch. 3, par. 5)." in made
    assert "(Austen, *Persuasion*, ch. 3, par. 5)." in made
    assert "(Austen, ch. 3, par. 5)." in written(note(), note(number=2))


def test_letters_of_a_year_are_the_same_in_the_text_in_the_list_and_in_the_table():
    diary = replace(EMMA, id="p", title="A Diary")
    other = replace(note("Anne hoped.", number=2), kept=replace(note("Anne hoped.").kept, work_id="p"))
    sections, editions = [section(note()), section(other, name="B")], {"emma-1": EMMA, "p": diary}
    made = markdown(sections, "chicago-author-date", editions, title="Notebook")
    assert "(Austen \\[1815\\] 1906b, chap. 3, para. 5)." in made
    assert "- Austen, Jane. (1815) 1906a. *A Diary*. Dent.\n- Austen, Jane. (1815) 1906b. *Emma*. Dent." in made
    table = rows(csv(sections, "chicago-author-date", editions))
    assert [row["citation"] for row in table] == [
        "(Austen [1815] 1906b, chap. 3, para. 5)",
        "(Austen [1815] 1906a, chap. 3, para. 5)",
    ]
    assert table[1]["entry"] == "Austen, Jane. (1815) 1906a. A Diary. Dent."


def test_what_was_asked_is_called_what_it_was_and_a_verdict_as_on_the_page():
    assert "Claim: She is vain\\\nVerdict: Unsure" in written(note(claim="She is vain", verdict="unsure"))
    looked_for = written(note(claim="vanity", origin="concordance"))
    assert SAYS["word"] in looked_for
    assert "Claim" not in looked_for


def test_an_empty_collection_is_a_title_and_nothing_is_listed():
    assert written().startswith(f"# Clues\n\n---\n\n{SAYS['no passages']}")


def test_the_list_names_each_work_once_in_its_order():
    other = replace(note(number=2), kept=replace(note().kept, work_id="b", title="A Bee", author=""))
    made = written(note(), other, note(number=3))
    assert made.count("- Austen, Jane") == 1
    assert made.index("- Austen") < made.index("- *A Bee*.")


SEVERAL = (section(note(), note(number=2), name="Light & water"), section(name="Bare"), section(note(), name="#2"))


def test_each_collection_of_several_has_a_heading_and_its_notes_stand_below_it():
    made = markdown(SEVERAL, "mla", {"emma-1": EMMA}, title="Notebook")
    assert [line for line in made.splitlines() if line.startswith("#")] == [
        "# Notebook",
        "## Light \\& water",
        "### 1. *Emma*, Chapter 3, paragraph 5",
        "### 2. *Emma*, Chapter 3, paragraph 5",
        "## \\#2",
        "### 1. *Emma*, Chapter 3, paragraph 5",
        "## Works Cited",
    ]


def test_a_work_that_was_cited_in_one_collection_is_known_in_the_next():
    made = markdown(SEVERAL, "chicago-notes", {"emma-1": EMMA}, title="Notebook")
    assert made.count("Jane Austen, *Emma* (1815; Dent, 1906)") == 1
    assert SAYS["three passages"] in made


# ---- Word ------------------------------------------------------------------------------------------------------------


def paragraphs(data):
    return docx.Document(io.BytesIO(data)).paragraphs


def test_word_has_the_same_paragraphs_with_italics_and_indents():
    made = paragraphs(word([section(note(), note("One.\n\nTwo.", number=2))], "mla", {"emma-1": EMMA}))
    texts = [each.text for each in made]
    assert texts[:3] == [
        "Clues",
        "1. Emma, Chapter 3, paragraph 5",
        "“He said ‘no’. She … [did] not answer” (Austen, ch. 3, par. 5).",
    ]
    entry = next(each for each in made if each.text.startswith("Austen, Jane"))
    assert [run.text for run in entry.runs if run.italic] == ["Emma"]
    assert [(each.style.name, each.text[:8]) for each in made if each.style.name != "Normal"] == [
        ("Heading 1", "Clues"),
        ("Heading 2", "1. Emma,"),
        ("Heading 2", "2. Emma,"),
        ("Quote", "One."),
        ("Quote", "Two. (Au"),
        ("Heading 2", "Works Ci"),
        ("Bibliography", "Austen, "),
        ("Details", "2 passag"),
    ]


@pytest.mark.parametrize(("style", "right"), [("mla", None), ("chicago-notes", 0.5), ("chicago-author-date", 0.5)])
def test_indents_are_those_of_the_styles_and_no_paragraph_has_its_own(style, right):
    document = docx.Document(io.BytesIO(word([section(note("One.\n\nTwo."))], style, {"emma-1": EMMA})))
    quote, entry = (document.styles[name] for name in ("Quote", "Bibliography"))
    assert quote.paragraph_format.left_indent.inches == 0.5
    assert (quote.paragraph_format.right_indent and quote.paragraph_format.right_indent.inches) == right
    assert quote.font.italic is False
    assert (entry.paragraph_format.left_indent.inches, entry.paragraph_format.first_line_indent.inches) == (0.5, -0.5)
    assert entry.builtin
    for each in document.paragraphs:
        assert each._p.pPr is None or [child.tag.rpartition("}")[2] for child in each._p.pPr] == ["pStyle"]


def test_word_shows_collections_and_notes_in_its_navigation():
    made = paragraphs(word(SEVERAL, "mla", {"emma-1": EMMA}, title="Notebook"))
    assert [(int(each.style.name[-1]), each.text) for each in made if each.style.name.startswith("Heading")] == [
        (1, "Notebook"),
        (2, "Light & water"),
        (3, "1. Emma, Chapter 3, paragraph 5"),
        (3, "2. Emma, Chapter 3, paragraph 5"),
        (2, "#2"),
        (3, "1. Emma, Chapter 3, paragraph 5"),
        (2, "Works Cited"),
    ]


def test_word_says_when_the_notes_were_written_last():
    properties = docx.Document(io.BytesIO(word([section(note())], "mla", {}))).core_properties
    assert (properties.created, properties.modified) == (NOW, NOW)


@settings(max_examples=30)  # each writes a file
@given(st.text(max_size=60), st.text(max_size=60))
def test_word_takes_any_characters(words, name):
    made = paragraphs(word([section(note(f"It {words} rained", words=words), name=name)], "chicago-notes", {}))
    assert made[-1].text.startswith(SAYS["one passage"])


# ---- the table -------------------------------------------------------------------------------------------------------


def rows(made):
    assert made.startswith("\ufeff")
    return list(reader_of.DictReader(io.StringIO(made[1:], newline="")))


def test_the_table_has_a_row_for_each_note():
    made = csv([section(note(tags=("a", "b"), verdict="unsure"))], "chicago-author-date", {"emma-1": EMMA})
    (row,) = rows(made)
    assert tuple(row) == COLUMNS
    assert row["quotation"] == SHORT
    assert row["citation"] == "(Austen [1815] 1906, chap. 3, para. 5)"
    assert row["entry"] == "Austen, Jane. (1815) 1906. Emma. Dent."
    assert (row["tags"], row["verdict"], row["year"]) == ("a; b", "unsure", "1815")


def test_the_table_says_how_each_note_was_kept():
    found = note(claim="She is vain")
    found = replace(found, kept=replace(found.kept, retriever="dense", rank=3))
    kept = [found, note(origin="read"), note(origin="concordance", claim="vain*"), note(origin="proxy_task")]
    made = rows(csv([section(*kept)], "mla", {}, labels={"dense": "Dense"}))
    assert [row["how it was kept"] for row in made] == [
        "Dense, rank 3.",
        SAYS["from reading"],
        "Found by the word “vain*”.",
        SAYS["from proxy task"],
    ]
    assert [(row["found by"], row["rank"]) for row in made] == [("dense", "3"), *[("", "")] * 3]


@pytest.mark.parametrize("mark", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_the_table_is_a_formula(mark):
    evil = f"{mark}HYPERLINK(1)"
    (row,) = rows(csv([section(note(evil, words=evil, tags=(evil,), claim=evil), name=evil)], "mla", {}))
    assert {row[name] for name in ("quotation", "words", "tags", "claim", "collection")} == {f"'{evil}"}


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=80))
def test_the_table_is_read_back_to_the_letter_but_for_the_apostrophe(words):
    (row,) = rows(csv([section(note(f"x{words}", words=words))], "mla", {}))
    assert row["quotation"] == f"x{words}"
    assert row["words"] in {words, f"'{words}"}
