"""Who speaks, where a tag says so."""

from dataclasses import replace

import pytest

from relic_core.text.speech import NARRATOR, work_speech
from tests.making import make_work


def speakers(*paragraphs: str) -> list[str]:
    """Name the speakers of a chapter of these paragraphs, stretch by stretch."""
    return [speech.speaker for speech in work_speech(make_work([*paragraphs])).speeches]


@pytest.mark.parametrize(
    ("paragraph", "speaker"),
    [
        ("“The river is up,” said Mrs. Orme.", "Mrs. Orme"),
        ("“The river is up!” cried Captain\nVan der Luyt angrily.", "Captain Van der Luyt"),
        ("‘The river is up,’ Tamsin answered slowly. ‘I saw.’", "Tamsin"),
        ("“The river is up,”--said poor Tamsin.", "Tamsin"),
        ("“The river is up,” said the Bishop of Wells.", "the Bishop of Wells"),
        ("Then Tamsin said, with her eyes on the ferry, “The river is up.”", "Tamsin"),
        ("Mr. Orme laid down his pipe, and replied: “The river is up.”", "Mr. Orme"),
        ("“The river is up,” said I.", NARRATOR),
        ("“The river is up,” _said_ Tamsin.", ""),
        ("“The river is up,” said she.", ""),
        ("“The river is up,” said the ferryman.", ""),
        ("“The river is up,” said Tamsin's aunt.", ""),
        ("“The river is up,” said Tamsin and Job together.", ""),
        ("“The river is up.” Tamsin said nothing.", ""),
        ("“The river is up.” Tamsin answered him with a look.", ""),
        ("Tamsin saw that her aunt had risen and said, “The river is up.”", ""),
        ("Suddenly asked, he suddenly said, “The river is up.”", ""),
        ("The river was up.", None),
    ],
)
def test_a_speaker_is_who_a_tag_names(paragraph, speaker):
    found = speakers(paragraph)
    assert set(found) == (set() if speaker is None else {speaker})


def test_a_paragraph_has_one_speaker_unless_its_tags_name_two():
    assert speakers("“Up?” said Tamsin. “It was up at noon. Ask,” she went on, “anybody.”") == ["Tamsin"] * 3
    assert speakers("“Up?” said Tamsin. “Up,” said Job.", "“Well.”") == ["Tamsin", "Job", ""]


def test_nothing_is_guessed_beside_a_tag_that_names_nobody():
    assert speakers("“Up?” said Tamsin. “Up,” said her aunt.") == ["Tamsin", ""]
    assert speakers("“Up?” Tamsin asked, while the old man muttered: “Up.”") == ["Tamsin", ""]


def test_a_phrase_set_in_marks_is_not_given_to_the_speaker_beside_it():
    assert speakers("“Up?” said Tamsin. She called it “the flood” ever after.") == ["Tamsin", ""]


def test_a_speech_that_goes_on_in_the_next_paragraph_keeps_its_speaker():
    assert (
        speakers("“It rose at noon,” said Tamsin. “We ran.", "“We never stopped.", "“And here I am.”") == ["Tamsin"] * 4
    )


def test_the_end_of_a_paragraph_may_announce_the_speech_of_the_next():
    assert speakers("Nobody stirred, and Tamsin said:", "“The river is up.”") == ["Tamsin"]
    assert speakers("Nobody stirred.", "“The river is up.”") == [""]


def test_in_a_play_the_speaker_is_who_is_printed_over_the_speech():
    work = make_work(["Three lanterns.", "Four."])
    work = replace(work, paragraphs=tuple(replace(each, speaker="JOB") for each in work.paragraphs))
    assert {speech.speaker for speech in work_speech(work).speeches} == {"JOB"}


def test_sentences_hold_speech_or_narration_or_both():
    speech = work_speech(make_work([["“It is up.", "Run,” said Tamsin."], ["Nobody ran."]]))
    assert speech.spoken.tolist() == [True, True, False]


def test_a_passage_is_spoken_by_those_who_have_most_of_its_words_if_all_are_named():
    work = make_work(
        ["“The river is up,” said Tamsin.", "“Let it be,” said Job.", "“Well.”", "Nobody ran, as far as I know."]
    )
    speech = work_speech(work)

    def by(first: int, last: int) -> tuple[str, ...]:
        return speech.speakers(work.sentences[first].start, work.sentences[last].end)

    assert by(0, 0) == ("Tamsin",)
    assert by(0, 1) == ("Tamsin", "Job")
    assert by(0, 2) == ()
    assert by(1, 3) == by(3, 3) == ()


def test_a_speech_that_nothing_closes_ends_with_its_chapter():
    work = make_work(["“It rose at noon,” said Tamsin. “We ran."], ["“And here I am.”"])
    assert [speech.speaker for speech in work_speech(work).speeches] == ["Tamsin", "Tamsin", ""]
