"""Works of every kind that citations have to get right, with a passage of each."""

from __future__ import annotations

from datetime import date

from relic_core.domain import CitedWork, EditionDetails
from relic_core.reporting.citations.locators import Locator, make_locator

READ = date(2026, 11, 5)
GUTENBERG = {"container": "Project Gutenberg", "accessed": READ}


def cited(title: str, author: str = "", first: int | None = None, translator: str = "", **details: object) -> CitedWork:
    return CitedWork(
        id=f"{title[:8].lower()}-00000000",
        title=title,
        author=author,
        translator=translator,
        year=first,
        details=EditionDetails(**details),  # type: ignore[arg-type] - the fields are checked by it
    )


def paragraph(chapter: str, first: int = 5, last: int | None = None) -> Locator:
    return make_locator(chapter, "paragraph", first, last or first)


def line(chapter: str, first: int, last: int | None = None) -> Locator:
    return make_locator(chapter, "line", first, last or first)


OXFORD = {"publisher": "Oxford University Press", "place": "Oxford", "year": 2008}

KINDS: dict[str, tuple[CitedWork, Locator | None]] = {
    "one_author": (cited("Emma", "Jane Austen", 1815, **OXFORD), paragraph("Volume I, Chapter III")),
    "two_authors": (cited("Canterbury Tales", "Sophia Lee and Harriet Lee", 1797), paragraph("Chapter 2")),
    "three_authors": (
        cited("The Whole Family", "William Dean Howells, Henry James, and Mary E. Wilkins Freeman", 1908),
        paragraph("Chapter VII: The Married Son", 5, 6),
    ),
    "seven_authors": (
        cited("A Round Robin", "; ".join(f"Author {letter}one" for letter in "ABCDEFG"), 1901),
        paragraph("Chapter 1"),
    ),
    "no_author": (cited("High Water at Averhythe"), paragraph("Chapter IV: The Ferry")),
    "anonymous": (
        cited("Lazarillo de Tormes", "Anonymous", 1554, "Clements Markham", publisher="Black", year=1908),
        paragraph("Chapter 1"),
    ),
    "no_year": (cited("The Ferry", "A. Nobody"), paragraph("The text")),
    "translator": (
        cited(
            "War and Peace",
            "Leo Tolstoy",
            1869,
            "Louise Maude and Aylmer Maude",
            number="2600",
            year=2001,
            url="https://www.gutenberg.org/ebooks/2600",
            **GUTENBERG,
        ),
        paragraph("Book One: 1805, Chapter I"),
    ),
    "editor": (
        cited("Evelina", "Frances Burney", 1778, editor="Edward A. Bloom", edition="second edition", **OXFORD),
        paragraph("Letter XI", 2),
    ),
    "editor_and_translator": (
        cited("Madame Bovary", "Gustave Flaubert", 1857, "Eleanor Marx-Aveling", editor="Mark Overstall", **OXFORD),
        paragraph("Part II, Chapter 8", 40, 41),
    ),
    "story_in_a_collection": (
        cited("Araby", "James Joyce", 1914, collection="Dubliners", editor="Jeri Johnson", **OXFORD),
        paragraph("The text", 3),
    ),
    "several_volumes": (
        cited("Clarissa", "Samuel Richardson", 1748, volumes=8, publisher="S. Richardson", place="London", year=1751),
        paragraph("Volume III, Letter 2"),
    ),
    "a_volume_of_several": (
        cited(
            "The Decline and Fall of the Roman Empire",
            "Edward Gibbon",
            1776,
            volume="2",
            volumes=6,
            publisher="Methuen",
            place="London",
            year=1906,
        ),
        paragraph("Chapter XV"),
    ),
    "play": (
        cited(
            "Hamlet",
            "William Shakespeare",
            1603,
            number="1524",
            url="https://www.gutenberg.org/ebooks/1524",
            **GUTENBERG,
        ),
        line("ACT I, SCENE II. A Room of State in the Castle", 129, 137),
    ),
    "play_in_prose": (
        cited("The Importance of Being Earnest", "Oscar Wilde", 1895),
        paragraph("FIRST ACT. Morning-room", 12),
    ),
    "verse_in_books": (cited("Paradise Lost", "John Milton", 1667), line("Book I", 254, 255)),
    "verse_without_books": (cited("Goblin Market", "Christina Rossetti", 1862), line("The text", 1, 4)),
    "title_that_asks": (cited("Can You Forgive Her?", "Anthony Trollope", 1865, volumes=2), paragraph("Chapter 3")),
    "subtitle": (
        cited(
            "Frankenstein; or, The Modern Prometheus",
            "Mary Shelley",
            1818,
            number="84",
            year=1993,
            url="https://www.gutenberg.org/ebooks/84",
            **GUTENBERG,
        ),
        paragraph("Letter 4", 1),
    ),
    "title_with_marks": (
        cited("M*A*S*H & <b>“Other” [Stories]</b>", "Richard_Hooker O’Neill", 1968),
        paragraph("“A” *star*", 2),
    ),
    "quotation_marks_in_a_story": (
        cited("A “Moonlight” Sonata", "A. N. Other", 1900, collection="Who’s There?", year=1901, publisher="Ace"),
        None,
    ),
    "particle_de": (cited("Bel-Ami", "Guy de Maupassant", 1885), paragraph("Part I, Chapter 1")),
    "particle_von": (cited("Faust", "Johann Wolfgang von Goethe", 1808, "Bayard Taylor"), line("Act I", 14)),
    "particle_du": (cited("Rebecca", "Daphne du Maurier", 1938), paragraph("Chapter 1", 1)),
    "junior": (cited("Beyond the Gates", "Martin Luther King, Jr.", 1963), paragraph("Before the first chapter", 2)),
    "gutenberg_number_alone": (
        cited("Emma", "Jane Austen", 1815, number="158", container="Project Gutenberg"),
        paragraph("Chapter 3"),
    ),
    "gutenberg": (
        cited("Emma", "Jane Austen", 1815, number="158", url="https://www.gutenberg.org/ebooks/158", **GUTENBERG),
        paragraph("Volume I, Chapter XV"),
    ),
    "own_file": (cited("Notes of a Journey", "A. Nobody", 1891), make_locator("Chapter 2", "note", 3, 3)),
    "before_christ": (
        cited("The Iliad", "Homer", -700, "Samuel Butler", publisher="Longmans, Green, and Co.", year=1898),
        line("Book XXIV", 486, 512),
    ),
    "institution": (
        cited("Report on the Lanterns", "{Commission of Lights and Ferries}", 1850, publisher="HMSO", year=1850),
        None,
    ),
    "over_two_chapters": (
        cited("The Ferry", "A. Nobody", 1891),
        make_locator("Chapter 1", "paragraph", 9, 9, on=make_locator("Chapter 2", "paragraph", 1, 1)),
    ),
}
"""A work and a passage of each kind; the passage is None where the whole work is cited."""
