"""Every kind of small file that was read wrongly once, as scholars sent them, read as its makers meant it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from relic_core.config import Settings
from relic_core.domain import ContextSize, Work
from relic_core.errors import BadBenchmark
from relic_core.evaluation import figures
from relic_core.evaluation.benchmarks import registry
from relic_core.evaluation.imported import import_ranking
from relic_core.library.reading import read_file
from relic_core.library.secondary import SourceFile, describe
from relic_core.mining.volumes import mine
from relic_core.text.unbroken import unbroken
from relic_core.text.words import whole_spans
from tests.making_books import left_out, looked_up
from tests.shelf import Shelf

pytestmark = pytest.mark.corpus

ADA = "Ada Marlow"
FERRY = "The Ferry House"
TWO = ("Chapter I", "Chapter II")
BROKEN = {"transformation", "everything", "nobody", "answer"}
SOFT = {"transformation", "marshes", "gardener", "lavender", "lantern", "window", "officer", "flinch"}
IN_TEI = {"transformation", "everything", "water", "well", "known", "bosartig", "character", "lantern", "morning"}
IN_TEI |= {"evening", "meadow", "garden"}

ROWS = {
    "de.txt": ("Die Fähre", "Johanna Martin", ("Erstes Kapitel", "Zweites Kapitel", "Drittes Kapitel"), (5, 0, 12)),
    "e_classonly.epub": (FERRY, ADA, ("Chapter I: The Rain", "Chapter II: The Lantern"), (4, 0, 5)),
    "e_meta_cp1251.epub": (FERRY, ADA, ("Глава I",), (1, 0, 2)),
    "e_nonlinear.epub": (FERRY, ADA, (*TWO, "Chapter III"), (6, 0, 7)),
    "e_percent.epub": (FERRY, ADA, TWO, (4, 0, 5)),
    "e_q.epub": (FERRY, ADA, TWO[:1], (3, 0, 5)),
    "enc_double.txt": (FERRY, ADA, TWO, (3, 0, 10)),
    "enc_macroman.txt": (FERRY, ADA, TWO, (3, 0, 10)),
    "f_calnotes.epub": (FERRY, ADA, TWO[:1], (3, 4, 7)),
    "f_drop_div.epub": (FERRY, ADA, (*TWO, "Chapter III", "Chapter IV", "Chapter V"), (5, 0, 6)),
    "f_toc_joined.epub": (FERRY, ADA, ("Chapter 1: The Rain", "Chapter 2: The Lantern"), (4, 0, 5)),
    "fr.txt": ("Le Bac d'Averne", "Jeanne Martin", ("CHAPITRE PREMIER", "CHAPITRE II", "CHAPITRE III"), (7, 0, 22)),
    "gb_old.txt": (FERRY, ADA, TWO, (3, 0, 6)),
    "gb_pages.txt": (FERRY, ADA, TWO, (3, 0, 8)),
    "m_editor_intro.epub": ("Introduced Ferry", ADA, TWO, (4, 0, 5)),
    "m_preface.epub": ("The Ferry Papers", ADA, ("Preface", *TWO), (5, 0, 6)),
    "m_roles.epub": ("Two Roles", ADA, TWO[:1], (2, 0, 2)),
    "m_stories.epub": (
        "Three Stories",
        ADA,
        ("The Mill, Chapter I", "The Mill, Chapter II", "The Ferry", "The Bell"),
        (7, 0, 9),
    ),
    "m_translator.epub": ("Translated Ferry", ADA, TWO, (4, 0, 5)),
    "m_translator.txt": ("Translated Ferry", ADA, TWO, (2, 0, 2)),
    "n_galdos2.epub": ("n_galdos2", "Benito Pérez\xa0Galdós", TWO[:1], (3, 0, 3)),
    "n_pardo.epub": ("n_pardo", "Emilia Pardo\xa0Bazán", TWO[:1], (3, 0, 3)),
    "q_footnotes.txt": ("On the Heroines", "A. Critic", ("",), (3, 0, 5)),
    "softhyphen.txt": ("The Sluice Keeper", ADA, TWO, (3, 0, 6)),
    "t_author_dracor.xml": ("DraCor", "William Shakespeare", TWO[:1], (1, 0, 1)),
    "t_author_gerdracor.xml": ("GerDraCor", "Johann Wolfgang von Goethe", TWO[:1], (1, 0, 1)),
    "t_hyphen.xml": (FERRY, ADA, ("Chapter 1",), (1, 0, 3)),
    "t_milestone.xml": (FERRY, ADA, TWO, (2, 0, 2)),
}
"""Title, author, chapters; paragraphs, notes and sentences."""


def read(shared: Path, name: str) -> Work:
    return read_file((shared / "inputs" / name).read_bytes(), name=name)


def found(work: Work) -> set[str]:
    """Give the words that a search finds: those that stand in sentences."""
    spans = whole_spans(work.text)
    return {token for start, _, token in spans if any(each.start <= start < each.end for each in work.sentences)}


def kinds(work: Work) -> set[str]:
    return {kind for kind, _ in left_out(work)}


def said(work: Work, at: int) -> str:
    return work.sentence_text(at)


HOLDS: dict[str, Callable[[Work], bool]] = {
    "de.txt": lambda work: [said(work, at)[-1] for at in (0, 1, 2)] == [".", ".", "«"],
    "e_q.epub": lambda work: {"“", "”", "‘", "’"} <= set(work.text),
    "e_meta_cp1251.epub": lambda work: "паром" in found(work),
    "enc_double.txt": lambda work: {"cafe", "zoe", "naive"} <= found(work) and not set("â€Ã") & set(work.text),
    "enc_macroman.txt": lambda work: {"cafe", "zoe", "naive"} <= found(work) and "“" in work.text,
    "f_calnotes.epub": lambda work: "nobody" in found(work) and {each.chapter for each in work.paragraphs} == {0},
    "f_drop_div.epub": lambda work: (
        [said(work, at).split()[0] for at in (0, 1, 2, 4, 5)] == ["THE", "The", "“Who", "IN", "A"]
    ),
    "fr.txt": lambda work: len(looked_up(work, "histoire")) == 4,
    "gb_old.txt": lambda work: kinds(work) == {"licence", "heading"} and not work.guessed,
    "gb_pages.txt": lambda work: found(work) >= BROKEN and not {"12", "13", "14", "15", "pg"} & found(work),
    "m_editor_intro.epub": lambda work: "front matter" in kinds(work),
    "m_translator.epub": lambda work: "front matter" in kinds(work),
    "m_translator.txt": lambda work: "front matter" in kinds(work),
    "softhyphen.txt": lambda work: found(work) >= SOFT,
    "t_hyphen.xml": lambda work: found(work) >= IN_TEI and "well-known" in work.text,
}
"""What else holds of a file."""


@pytest.mark.parametrize("name", ROWS)
def test_a_file_is_read_as_its_makers_meant_it(shared, name):
    work = read(shared, name)
    notes = sum(each.kind == "note" for each in work.paragraphs)
    counted = (len(work.paragraphs) - notes, notes, len(work.sentences))
    assert (work.title, work.author, tuple(each.name for each in work.chapters), counted) == ROWS[name]
    assert HOLDS.get(name, bool)(work)


def test_every_file_has_its_row(shared):
    pasted = {"paste_plain.txt", "paste_hyphen.txt", "README.md", "judged"}
    assert {path.name for path in (shared / "inputs").iterdir()} == {*ROWS, *pasted}


def test_a_passage_pasted_with_the_line_ends_of_a_pdf_has_the_words_of_the_plain_one(shared):
    plain, broken = ((shared / "inputs" / f"paste_{how}.txt").read_text("utf-8") for how in ("plain", "hyphen"))
    assert unbroken(broken).split() == plain.split()
    assert [token for *_, token in whole_spans(broken)] == [token for *_, token in whole_spans(plain)]


def test_numbers_of_notes_are_no_part_of_a_quotation_or_of_what_stands_around_it(shared):
    text = (shared / "inputs" / "q_footnotes.txt").read_text("utf-8")
    (pair,) = mine(text, describe(SourceFile(path=Path("q_footnotes.txt")), text), works=None).pairs
    words = " ".join([*pair.left, pair.quotation, *pair.right])
    assert not any(mark in words for mark in ("12", "15", "14", "¹", "*"))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("comma.run", "line 2"),
        ("empty.run", "holds no ranking"),
        ("nan.run", "line 1.*score is a number"),
        ("wrongdocs.run", "doc_a, doc_d"),
        ("wrongids.run", "called as 'Q1'.*'q1'"),
    ],
)
def test_a_run_that_does_not_fit_is_refused_with_the_reason(shared, name, says):
    with pytest.raises(BadBenchmark, match=says):
        taken(shared, name)


@pytest.mark.parametrize(("name", "says"), [("missing.run", ["1 of 4 claims"]), ("ties.run", ["3 of 4 claims", "q9"])])
def test_a_run_that_lacks_claims_says_so(shared, name, says):
    run, outcomes, _ = taken(shared, name)
    for lacking, words in zip(figures.lacks(run, outcomes, "recall@1"), says, strict=True):
        assert words in lacking


def taken(shared: Path, name: str):
    folder = shared / "inputs" / "judged"
    benchmark = registry.open_benchmark("judged", settings=Settings(), works=Shelf(), data=folder)
    return import_ranking(benchmark, folder / name, ContextSize(1, 0))
