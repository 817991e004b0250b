"""How much of a work is spoken."""

from dataclasses import replace

import pytest

from relic_core.domain import Span, Work
from relic_core.text.dialogue import dialogue_of, only_addresses
from relic_core.text.reading import read_work
from tests.making import make_work


def spoken(*paragraphs: str) -> tuple[str, int, int]:
    """Measure a chapter of these paragraphs: the style, the spoken words, all words."""
    found = dialogue_of(make_work([[paragraph] for paragraph in paragraphs]))
    return found.style, found.whole.spoken, found.whole.words


@pytest.mark.parametrize(
    ("paragraph", "style", "words"),
    [
        ("“The river is up,” said the ferryman. “Nobody asked it.”", "double", 7),
        ('"The river is up," said the ferryman. "Nobody asked it."', "double", 7),
        ("‘The river is up,’ said the ferryman. ‘Nobody asked it.’", "single", 7),
        ("'The river is up,' said the ferryman. 'Nobody asked it.'", "single", 7),
        ("«The river is up», said the ferryman.", "double", 4),
        ("« The river is up », said the ferryman. « Nobody asked it. »", "double", 14),
        ("»The river is up«, said the ferryman. »Nobody asked it.«", "double", 7),
        ("„The river is up“, said the ferryman. „Nobody asked it.“", "double", 7),
        ("「The river is up」 said the ferryman.", "double", 4),
        ("_“The river is up,”_ said the ferryman.", "double", 4),
        ('The ferryman said--"It is up"--and went.', "double", 2),
        ("The ferryman said nothing.", "none", 0),
    ],
)
def test_the_words_inside_the_marks_are_spoken(paragraph, style, words):
    assert spoken(paragraph)[:2] == (style, words)


@pytest.mark.parametrize("mark", ["‘’", "''"])
@pytest.mark.parametrize(
    ("paragraph", "words"),
    [
        ("<The boys' boat don't float,> he said. The boys' boat sank.", 5),
        ("<I was with th' boys' boat, an' she wasn't,> he said.", 9),
        ("<'Tis gone,> he said. 'Tis true that it was.", 2),
        ("He called it <home> and it was the boys' home.", 1),
        ("The dogs' bowls were out. It wasn't theirs.", 0),
    ],
)
def test_apostrophes_are_no_marks(paragraph, words, mark):
    curly = mark == "‘’"
    text = paragraph.replace("'", "’") if curly else paragraph
    text = text.replace("<", mark[0]).replace(">", mark[1])
    # what stands around it makes the style plain
    _, said, _ = spoken(text, f"{mark[0]}Yes,{mark[1]} she said.")
    assert said == words + 1


def test_the_marks_inside_a_speech_are_left_alone():
    inside = "“He told me: ‘The river is up,’ and ‘nobody’ asked it,” she said."
    assert spoken(inside)[:2] == ("double", 11)
    swapped = "‘He told me: “The river is up,” and “nobody” asked it,’ she said."
    assert spoken(swapped)[:2] == ("single", 11)


def test_a_tale_told_in_quotation_marks_is_spoken_however_many_speeches_stand_in_it():
    tale = [f"“Then he said, ‘It is day {day},’ and I said, ‘It is,’ and went." for day in range(4)]
    style, said, words = spoken(*tale, "“And that was all.”")
    assert (style, said) == ("double", words)


def test_a_speech_that_runs_over_paragraphs_is_spoken_to_its_end():
    assert spoken("She said: “One two three.", "“Four five.", "“Six,” said she. No.")[1] == 6


def test_a_speech_whose_last_paragraph_only_closes_is_spoken_to_its_end():
    assert spoken("“One two three.", "Four five,” said she. No.")[1] == 5


def test_a_speech_that_nothing_closes_ends_with_its_sentence():
    work = make_work([["“One two, said she.", "Three four five."], ["Six."]])
    assert dialogue_of(work).whole.spoken == 4


def test_a_speech_does_not_run_into_the_next_chapter():
    work = make_work([["“One two.", "Three."]], [["“Four,” said she."]])
    assert [chapter.spoken for chapter in dialogue_of(work).chapters] == [2, 1]


def test_dashes_set_speech_off_beside_guillemets_as_in_french():
    dashes = ["— Où vas-tu ?"] * 3
    assert spoken(*["« Bonjour ! » dit Marc."] * 3, *dashes, "Elle sortit.") == ("double", 4 * 3 + 4 * 3, 32)


def test_dashes_are_no_speech_where_guillemets_are_not_the_house_marks_or_dashes_are_few():
    dashes = ["— The river was up."] * 3
    assert spoken(*["“Nobody asked,” she said."] * 20, "On the sign stood «Ferry».", *dashes)[:2] == (
        "double",
        2 * 20 + 1,
    )
    assert spoken(*['"Nobody asked," she said.'] * 20, "On the sign stood «Ferry».", *dashes)[:2] == (
        "double",
        2 * 20 + 1,
    )
    assert spoken("« Bonjour ! » dit Marc.", *dashes[:2], "Elle sortit.")[:2] == ("double", 4)


def test_dashes_set_speech_off_where_a_work_has_no_marks():
    style, said, words = spoken("—Yes, said he.", "--No, said she.", "— It is up.", "The river was—up.")
    assert (style, said, words) == ("dashes", 10, 13)
    assert spoken("—Emerson.", "The river rose.")[0] == "none", "one dash is not a style"


def play() -> Work:
    work = make_work(["The river is up.", "Nobody asked it.", "He goes.", "A note."])
    kinds = [{"speaker": "A"}, {"speaker": "B", "kind": "verse"}, {"speaker": "B", "kind": "stage"}, {"kind": "note"}]
    return replace(
        work,
        paragraphs=tuple(replace(paragraph, **kind) for paragraph, kind in zip(work.paragraphs, kinds, strict=True)),
    )


def test_the_speeches_of_a_play_are_spoken_and_its_directions_are_not():
    found = dialogue_of(play())
    assert (found.whole.spoken, found.whole.words) == (7, 11)
    work = replace(play(), paragraphs=tuple(replace(each, speaker="A") for each in play().paragraphs))
    assert dialogue_of(work).style == "speakers"


def test_a_work_without_words_has_no_share():
    found = dialogue_of(make_work())
    assert (found.style, found.whole.share, found.chapters) == ("none", 0.0, ())


# Bounds around what was measured and read: far enough for an apostrophe more or less, near enough that a style taken
# wrongly, or a speech that runs away, is seen. Heart of Darkness is a tale told in quotation marks almost from its
# first page.
NOVELS = {
    "pride_and_prejudice": ("double", 0.44, 0.51),
    "emma": ("double", 0.45, 0.53),
    "alices_adventures_in_wonderland": ("single", 0.34, 0.43),
    "the_pickwick_papers": ("single", 0.38, 0.47),
    "wuthering_heights": ("single", 0.42, 0.51),
    "crime_and_punishment": ("double", 0.50, 0.60),
    "mrs_dalloway": ("double", 0.02, 0.06),
    "the_souls_of_black_folk": ("double", 0.02, 0.08),
    "heart_of_darkness": ("double", 0.90, 0.98),
    "a_portrait_of_the_artist_as_a_young_man": ("dashes", 0.25, 0.35),
}


@pytest.mark.corpus
@pytest.mark.parametrize("slug", NOVELS)
def test_novels_have_the_dialogue_that_readers_find_in_them(shared, slug):
    work = read_work((shared / "corpus" / "primary" / f"{slug}.txt").read_bytes(), name=slug)
    found = dialogue_of(work)
    style, least, most = NOVELS[slug]
    assert found.style == style
    assert least < found.whole.share < most


@pytest.mark.parametrize(
    ("said", "alone"),
    [
        ("“Gatsby.", True),
        ("“What, Gatsby?”", True),
        ("“My dear Charlotte!”", True),
        ("“I am Heathcliff!”", False),
        ("“I love you.”", False),
        ("Reader, I married him.", False),
        ("Call me Ishmael.", False),
        ("He sat.", False),
        ("“Never shall I forget it.”", False),
    ],
)
def test_speech_that_only_names_somebody_is_told_from_other_short_sentences(said, alone):
    assert only_addresses(make_work([["A first sentence.", said]]), Span(1, 1)) is alone


def test_what_only_names_somebody_within_a_longer_speech_is_told_by_the_mark_before_it():
    work = make_work([["“I went there.", "Listen, Nick;", "there was a light.”"]])
    assert [only_addresses(work, Span(at, 1)) for at in range(3)] == [False, True, False]
