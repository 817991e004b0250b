"""What a department's folder holds besides clean books: mined from end to end, in this process."""

from __future__ import annotations

import io
import zipfile

import pytest

from relic_core.wiring import build
from tests.inline import InProcess

NOVEL = """\
THE LIGHTKEEPER

CHAPTER I

The lamp had burned for eleven winters before the keeper thought to ask who had lit it first. He was a patient man, and
patience had taught him to leave such questions on the stairs with his boots. When the fog came up from the marsh he
would sit beside the great brass wheel and count the turnings until morning found him.

CHAPTER II

His daughter believed that the sea kept accounts, and that every drowned sailor was a line in its enormous ledger. She
wrote the names in chalk upon the northern wall where the damp would carry them away by spring. Nobody in the village
dared to tell her that the names she wrote were those of living men.

CHAPTER III

In the twelfth winter the wheel stopped of its own accord, and the silence was so complete that the gulls fell quiet
too. The keeper went down the hundred and nine steps with a candle in his hand and found the door open to the tide.
"""

QUOTED = "the sea kept accounts, and that every drowned sailor was a line in its enormous ledger"
ALSO = "patience had taught him to leave such questions on the stairs with his boots"
THIRD = "The keeper went down the hundred and nine steps with a candle in his hand"

BEFORE = (
    "The second chapter turns from the father to his child, and with her the whole economy of the book is changed. "
)
AFTER = " No other image in the novel does so much to join the private grief to the public one. The critics missed it."
ESSAY = f"""\
ON THE LIGHTKEEPER

{BEFORE}We are told of her conviction that “{QUOTED}.”{AFTER}

The father is drawn with fewer strokes than she is. It is said of him that “{ALSO},” and the sentence is
the best portrait we have of the man. His habit of silence has been called a weakness by more than one reader.

The last chapter returns to the stair from which the story set out. “{THIRD},” we read there, and the
open door below is waiting for him as it has waited since the beginning. The novel ends without telling us what he saw.
"""

FRENCH_PARAGRAPH = """\
Le gardien du phare est un homme patient, et sa patience est le vrai sujet du livre. Il y est dit quelque part que
« la mer tenait ses comptes, et que chaque marin mort y avait une ligne en craie blanche ». Cette image revient deux
fois dans le roman, et on l'a toujours admirée en France sans la comprendre. Il faut donc la regarder de plus près, et
nous dirons encore quelques mots de ces noms que la mer efface au printemps.
"""
FRENCH = "LE ROMAN ANGLAIS\n\n" + FRENCH_PARAGRAPH * 6


@pytest.fixture
def books(tmp_path):
    """A folder of its own: the store and the index of works stand beside it."""
    (tmp_path / "books").mkdir()
    return tmp_path / "books"


@pytest.fixture
def workbench(settings):
    workbench = build(settings)
    workbench.works.add(NOVEL.encode(), name="lightkeeper.txt", title="The Lightkeeper", author="Ada Merrow", year=1901)
    return workbench


def mine(workbench, *paths):
    return workbench.mining.run(paths, workers=InProcess())


def found(workbench):
    """Return the words quoted of the work by the windows that are kept, each sentence once, and all pairs."""
    windows = [stored.window for batch in workbench.store.windows.iterate("all") for stored in batch]
    pairs = [pair for batch in workbench.store.pairs.iterate() for pair in batch]
    return windows, pairs


def words(text):
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def holds(passages, quoted):
    return any(words(quoted) in words(passage.quotation) for passage in passages)


def test_a_clean_essay_gives_its_three_quotations(workbench, books):
    (books / "essay.txt").write_text(ESSAY, encoding="utf-8")
    summary = mine(workbench, books / "essay.txt")
    windows, pairs = found(workbench)
    assert summary.mined == 1
    assert all(holds(pairs, each) for each in (QUOTED, ALSO, THIRD))
    assert len(windows) == 3


def test_a_french_book_is_listed_with_its_language_and_gives_nothing(workbench, books):
    (books / "essai.txt").write_text(FRENCH, encoding="utf-8")
    mine(workbench, books)
    assert found(workbench) == ([], [])
    (summary,) = workbench.sources.all()
    assert summary.language == "fr"


def test_a_french_book_does_not_take_its_neighbours_with_it(workbench, books):
    (books / "essai.txt").write_text(FRENCH, encoding="utf-8")
    (books / "essay.txt").write_text(ESSAY, encoding="utf-8")
    mine(workbench, books)
    assert len(found(workbench)[0]) == 3


def test_words_broken_at_the_ends_of_lines_are_put_together(workbench, books):
    broken = (
        ESSAY.replace("enormous", "enor-\nmous").replace("questions", "ques-\ntions").replace("candle", "can-\ndle")
    )
    (books / "layer.txt").write_text(broken, encoding="utf-8")
    mine(workbench, books)
    windows, pairs = found(workbench)
    assert all(holds(pairs, each) for each in (QUOTED, ALSO, THIRD))
    assert len(windows) == 3
    assert not any("enor-" in pair.quotation for pair in pairs)


def test_mixed_line_ends_make_no_difference(workbench, books):
    lines = ESSAY.split("\n")
    mixed = "".join(line + ("\r\n", "\n", "\r")[number % 3] for number, line in enumerate(lines))
    (books / "mixed.txt").write_bytes(mixed.encode())
    mine(workbench, books)
    windows, pairs = found(workbench)
    assert all(holds(pairs, each) for each in (QUOTED, ALSO, THIRD))
    assert len(windows) == 3


def zipped(**files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return data.getvalue()


def test_a_zip_inside_a_zip_is_opened(workbench, books):
    (books / "outer.zip").write_bytes(zipped(inner_zip=zipped(essay_txt=ESSAY.encode())))
    summary = mine(workbench, books / "outer.zip")
    assert summary.mined == 1
    assert len(found(workbench)[0]) == 3


def test_one_damaged_book_of_two_hundred_is_named_and_the_others_are_mined(workbench, books):
    count = 200
    for number in range(count - 2):
        (books / f"{number:03d}.txt").write_text(
            f"NOTE {number}\n\nThis is the short note number {number}, and it says that the harbour was quiet.\n"
        )
    (books / "damaged.epub").write_bytes(b"PK\x03\x04" + bytes(range(256)) * 8)
    (books / "essay.txt").write_text(ESSAY, encoding="utf-8")
    summary = mine(workbench, books)
    assert summary.mined == count - 1
    assert [name for names in summary.problems.values() for name in names] == ["damaged.epub"]
    assert len(found(workbench)[0]) == 3
    (problem,) = [each for each in workbench.sources.all() if each.problem]
    assert problem.source.name == "damaged.epub"


def test_the_programs_own_folders_are_no_sources(workbench, books, settings):
    """Somebody names the folder that holds them too: the texts in the index of works are not criticism."""
    (books / "essay.txt").write_text(ESSAY, encoding="utf-8")
    mine(workbench, books)
    assert any(settings.indexes.iterdir())
    (settings.data / "stray.txt").write_text(ESSAY + "\nAnd more.\n", encoding="utf-8")
    assert mine(workbench, books.parent).mined == 0


def test_what_was_mined_is_not_mined_again(workbench, books):
    (books / "essay.txt").write_text(ESSAY, encoding="utf-8")
    (books / "outer.zip").write_bytes(zipped(inner_zip=zipped(essay_txt=ESSAY.encode())))
    mine(workbench, books)
    before = found(workbench)
    summary = mine(workbench, books)
    assert summary.mined == 0
    assert found(workbench) == before
    assert len(before[0]) == 3


def test_a_novel_printed_whole_in_a_life_of_its_author_is_no_criticism_of_it(workbench, books):
    life = (
        "A LIFE OF ADA MERROW\n\nCHAPTER I\n\nShe was born beside the sea, and wrote her only novel in one winter. "
        "The whole of it is given here, since no copy can be had any longer.\n\n" + NOVEL
    )
    (books / "life.txt").write_text(life, encoding="utf-8")
    (books / "essay.txt").write_text(ESSAY, encoding="utf-8")
    mine(workbench, books)
    by_name = {stored.source.name: stored.source.id for stored in workbench.store.sources.all()}
    assert workbench.store.windows.page(source_id=by_name["life.txt"])[1] == ()
    assert workbench.store.windows.page(source_id=by_name["life.txt"], show="set aside")[1] != ()


def test_a_passage_that_an_author_reprints_in_another_of_the_works_is_no_window(workbench, books):
    """Both are works of the library: a life that reprints her story, and the story. Neither is a secondary source."""
    life = "A LIFE\n\nCHAPTER I\n\nShe wrote one novel, and kept it in a drawer. " + NOVEL.split("CHAPTER II\n\n")[1]
    workbench.works.add(life.encode(), name="life.txt", title="A Life of Ada Merrow", author="Ada Merrow", year=1920)
    (books / "essay.txt").write_text(ESSAY, encoding="utf-8")
    mine(workbench, books)
    kept = [stored.window for batch in workbench.store.windows.iterate("kept") for stored in batch]
    places = [window.at for window in kept]
    assert len(places) == len(set(places)), "one quotation must not count for two works"
    there, _ = found(workbench)
    assert {window.at for window in there} >= set(places)
    assert there
