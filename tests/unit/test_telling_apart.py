"""Works cited together are told apart as the handbooks ask; what is expected was written by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from relic_core.reporting.citations import chicago
from relic_core.reporting.citations.styles import disambiguate, style, works_cited
from relic_core.reporting.citations.text_runs import as_text
from tests.making_citations import cited, paragraph

THREE = paragraph("Chapter 3")


def works(*said):
    """Make works of (title, author, year), each with an id of its own."""
    return [replace(cited(*each), id=f"work-{number}") for number, each in enumerate(said)]


def in_text(name, *said, **details):
    chosen = style(name)
    made = [replace(each, details=replace(each.details, **details)) for each in works(*said)]
    return [as_text(chosen.in_text(each, THREE)) for each in disambiguate(made, chosen).values()]


EYRE = ("Jane Eyre", "Charlotte Brontë", 1847)
HEIGHTS = ("Wuthering Heights", "Emily Brontë", 1847)
GREY = ("Agnes Grey", "Anne Brontë", 1847)
EMMA = ("Emma", "Jane Austen", 1815)


def test_one_alone_of_a_family_is_named_by_the_family():
    assert in_text("mla", EYRE, EMMA) == ["(Brontë, ch. 3, par. 5)", "(Austen, ch. 3, par. 5)"]


def test_several_of_one_family_are_named_with_initials():
    assert in_text("mla", EYRE, HEIGHTS, GREY, EMMA) == [
        "(C. Brontë, ch. 3, par. 5)",
        "(E. Brontë, ch. 3, par. 5)",
        "(A. Brontë, ch. 3, par. 5)",
        "(Austen, ch. 3, par. 5)",
    ]
    assert in_text("chicago-author-date", EYRE, HEIGHTS) == [
        "(C. Brontë 1847, chap. 3, para. 5)",
        "(E. Brontë 1847, chap. 3, para. 5)",
    ]


def test_later_notes_have_the_initials_too():
    apart = disambiguate(works(EYRE, HEIGHTS), style("chicago-notes"))
    assert [as_text(chicago.short_note(each, THREE)) for each in apart.values()] == [
        "C. Brontë, Jane Eyre, chap. 3, para. 5.",
        "E. Brontë, Wuthering Heights, chap. 3, para. 5.",
    ]


@pytest.mark.parametrize(
    ("authors", "named"),
    [
        (
            ["Samuel Taylor Coleridge", "Sara Coleridge", "Hartley Coleridge"],
            ["Samuel Taylor Coleridge", "Sara Coleridge", "H. Coleridge"],
        ),
        (["T. S. Eliot", "George Eliot"], ["T. S. Eliot", "G. Eliot"]),
        (["Jean-Jacques Rousseau", "Henri Rousseau"], ["J.-J. Rousseau", "H. Rousseau"]),
        (["Guy de Maupassant", "Hervé de Maupassant"], ["G. de Maupassant", "H. de Maupassant"]),
        (["Alfred, Lord Tennyson", "Frederick Tennyson"], ["A. Tennyson", "F. Tennyson"]),
        (["Alexandre Dumas père", "Alexandre Dumas fils"], ["Dumas père", "Dumas fils"]),
        (["Alexandre Dumas", "Alexandre Dumas fils"], ["Dumas", "Dumas fils"]),
        (["Sophia Lee and Harriet Lee", "Sophia Lee"], ["S. Lee and H. Lee", "S. Lee"]),
        (["Mrs. Humphry Ward", "Robert Plumer Ward"], ["Mrs. Humphry Ward", "R. Ward"]),
        (["Elizabeth Gaskell", "{Gaskell}"], ["Gaskell", "Gaskell"]),
    ],
)
def test_persons_are_named_so_that_no_other_is_meant(authors, named):
    said = [(f"Book {number}", author, 1800 + number) for number, author in enumerate(authors)]
    assert in_text("chicago-author-date", *said) == [
        f"({name} {1800 + number}, chap. 3, para. 5)" for number, name in enumerate(named)
    ]


@pytest.mark.parametrize("other", ["J. Austen", "Austen, Jane", "Jane C. Austen", "JANE AUSTEN"])
def test_one_person_who_is_named_in_two_ways_is_not_told_from_herself(other):
    given = in_text("chicago-author-date", EMMA, ("Persuasion", other, 1817))
    assert [each.casefold() for each in given] == [
        "(austen 1815, chap. 3, para. 5)",
        "(austen 1817, chap. 3, para. 5)",
    ]


def test_two_who_wrote_together_need_no_initials():
    assert in_text("mla", ("Canterbury Tales", "Sophia Lee and Harriet Lee", 1797)) == ["(Lee and Lee, ch. 3, par. 5)"]


WILDE = (
    ("The Picture of Dorian Gray", "Oscar Wilde", 1891),
    ("Intentions", "Oscar Wilde", 1891),
    ("Lord Arthur Savile’s Crime", "Oscar Wilde", 1891),
    ("De Profundis", "Oscar Wilde", 1905),
)


def test_works_of_one_author_and_year_have_letters_in_the_order_of_titles():
    assert in_text("chicago-author-date", *WILDE) == [
        "(Wilde 1891c, chap. 3, para. 5)",
        "(Wilde 1891a, chap. 3, para. 5)",
        "(Wilde 1891b, chap. 3, para. 5)",
        "(Wilde 1905, chap. 3, para. 5)",
    ]
    assert [each.text for each in works_cited(works(*WILDE), "chicago-author-date")] == [
        "Wilde, Oscar. 1891a. Intentions.",
        "Wilde, Oscar. 1891b. Lord Arthur Savile’s Crime.",
        "Wilde, Oscar. 1891c. The Picture of Dorian Gray.",
        "Wilde, Oscar. 1905. De Profundis.",
    ]


def test_letters_are_for_author_date_alone():
    assert in_text("mla", *WILDE[:2]) == [
        "(Wilde, Picture of Dorian Gray, ch. 3, par. 5)",
        "(Wilde, Intentions, ch. 3, par. 5)",
    ]
    assert in_text("chicago-notes", *WILDE[:2]) == [
        "Oscar Wilde, The Picture of Dorian Gray (1891), chap. 3, para. 5.",
        "Oscar Wilde, Intentions (1891), chap. 3, para. 5.",
    ]


def test_a_letter_stands_behind_the_year_of_the_edition():
    assert in_text("chicago-author-date", EMMA, ("A Diary", "Jane Austen", 1815), year=2008) == [
        "(Austen [1815] 2008b, chap. 3, para. 5)",
        "(Austen [1815] 2008a, chap. 3, para. 5)",
    ]
    iliad, odyssey = ("The Iliad", "Homer", -700), ("The Odyssey", "Homer", -700)
    assert in_text("chicago-author-date", iliad, odyssey)[1] == "(Homer 700b BCE, chap. 3, para. 5)"
    undated = in_text("chicago-author-date", ("The Ferry", "A. Nobody"), ("The Quay", "A. Nobody"))
    assert undated == ["(Nobody, n.d.-a, chap. 3, para. 5)", "(Nobody, n.d.-b, chap. 3, para. 5)"]


def test_a_work_that_the_library_has_twice_is_one_work():
    assert in_text("chicago-author-date", EMMA, EMMA) == ["(Austen 1815, chap. 3, para. 5)"] * 2
    assert in_text("mla", EMMA, EMMA) == ["(Austen, ch. 3, par. 5)"] * 2


def test_mla_tells_works_of_one_author_apart_by_their_titles():
    said = (EMMA, ("Persuasion", "Austen, J.", 1817), EYRE, HEIGHTS, ("Villette", "Charlotte Brontë", 1853))
    assert in_text("mla", *said) == [
        "(Austen, Emma, ch. 3, par. 5)",
        "(Austen, Persuasion, ch. 3, par. 5)",
        "(C. Brontë, Jane Eyre, ch. 3, par. 5)",
        "(E. Brontë, ch. 3, par. 5)",
        "(C. Brontë, Villette, ch. 3, par. 5)",
    ]


def test_titles_that_differ_in_the_subtitle_alone_are_given_whole():
    parts = ("Henry IV: Part 1", "William Shakespeare", 1598), ("Henry IV: Part 2", "William Shakespeare", 1600)
    assert in_text("mla", *parts) == [
        "(Shakespeare, Henry IV: Part 1, ch. 3, par. 5)",
        "(Shakespeare, Henry IV: Part 2, ch. 3, par. 5)",
    ]
    apart = disambiguate(works(*parts), style("chicago-notes"))
    assert [as_text(chicago.short_note(each, THREE)) for each in apart.values()] == [
        "Shakespeare, Henry IV: Part 1, chap. 3, para. 5.",
        "Shakespeare, Henry IV: Part 2, chap. 3, para. 5.",
    ]
    (alone,) = disambiguate(works(parts[0]), style("chicago-notes")).values()
    assert as_text(chicago.short_note(alone, THREE)) == "Shakespeare, Henry IV, chap. 3, para. 5."


@pytest.mark.parametrize("order", list(permutations(("J. Smith", "Jane Smith", "John Smith"))), ids=" ".join)
def test_whom_an_initial_may_mean_does_not_hang_on_the_order(order):
    said = in_text("mla", *((f"By {name}", name, 1900) for name in order))
    assert dict(zip(order, said, strict=True)) == {
        "J. Smith": "(Smith, ch. 3, par. 5)",
        "Jane Smith": "(Jane Smith, ch. 3, par. 5)",
        "John Smith": "(John Smith, ch. 3, par. 5)",
    }


def test_a_family_called_like_an_article_is_listed_by_its_name():
    both = works(("B", "Ann Brown", 1900), ("A", "Jing An", 1900))
    listed = [as_text(each.runs) for each in works_cited(both, "mla")]
    assert [each.split(",")[0] for each in listed] == ["An", "Brown"]


def test_a_list_is_ordered_by_authors_years_and_titles_without_their_articles():
    said = works(
        ("The Watsons", "Jane Austen", 1871),
        ("Sanditon", "Jane Austen", 1925),
        ("Zadig", "Voltaire", 1747),
        ("Poems", "Paul Éluard"),
        ("Letters", "Jane Austen"),
        ("A Play", "Jane Austen and Ann Other", 1800),
        ("An Essay", "", 1850),
    )
    by_title = ["Letters", "Sanditon", "The Watsons", "A Play", "Poems", "An Essay", "Zadig"]
    by_year = ["The Watsons", "Sanditon", "Letters", "A Play", "Poems", "An Essay", "Zadig"]
    for name, titles in (("mla", by_title), ("chicago-notes", by_title), ("chicago-author-date", by_year)):
        entries = [each.text for each in works_cited(said, name)]
        assert [next(title for title in titles if title in entry) for entry in entries] == titles
