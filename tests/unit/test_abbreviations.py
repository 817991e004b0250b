"""Which words keep their full stop: as spaCy's tokenizer says, but for what is ours on purpose."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from relic_core.library import sample
from relic_core.text.sentences import NUMBERED, TITLES, owns_stop

ENDING = frozenset(
    [
        "a.m",
        "p.m",
        "i",
        "co",
        "inc",
        "ltd",
        "bros",
        "jr",
        "ma",
        "pa",
        "la",
        "mass",
        "miss",
        "wash",
        "ind",
        "ill",
        "del",
        "mo",
        "id",
        "v.s",
        "im",
    ]
)
"""Words that spaCy takes for abbreviations (or, as `'im`, cuts in two), but which end a novel's sentences as words."""

BEFORE_STOP = re.compile(r"[^\W_]+(?:\.[^\W_]+)*(?=\.)")


@pytest.fixture(scope="module")
def keeps_stop():
    """Return what spaCy says of a word."""
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    return lambda word: tokenizer(f"{word}.")[-1].text != "."


def is_ours(word):
    """Whether we decide otherwise than spaCy, or by what follows."""
    lowered = word.lower()
    return lowered in TITLES | NUMBERED | ENDING or re.fullmatch(r"\d*[a-zäöü]|\d+[ap]\.m", lowered) is not None


def differences(words, keeps_stop):
    return {word for word in words if not is_ours(word) and owns_stop(word) != keeps_stop(word)}


def test_we_agree_with_spacy_on_all_its_abbreviations(keeps_stop):
    import spacy

    rules = spacy.blank("en").tokenizer.rules
    words = {rule[:-1] for rule in rules if re.fullmatch(BEFORE_STOP.pattern + r"\.", rule)}
    assert {"Ark", "Ph.D", "Mrs"} <= words
    assert not differences(words, keeps_stop)


def test_we_agree_with_spacy_on_the_words_of_the_sample(keeps_stop):
    words = set(BEFORE_STOP.findall(sample.NOVEL.read_text("utf-8")))
    assert {"S.E", "Mrs", "work"} <= words
    assert not differences(words, keeps_stop)


@pytest.mark.corpus
@pytest.mark.parametrize("slug", ["the_pickwick_papers", "this_side_of_paradise"])
def test_we_agree_with_spacy_on_the_words_of_novels(shared, keeps_stop, slug):
    words = set(BEFORE_STOP.findall((shared / "corpus" / "primary" / f"{slug}.txt").read_text("utf-8")))
    assert len(words) > 1_000
    assert not differences(words, keeps_stop)


@pytest.mark.parametrize("word", [*sorted(ENDING), "Miss", "P.M", "I", "ark", "wife"])
def test_words_that_end_sentences(word):
    assert not owns_stop(word)


def test_cutting_a_text_loads_neither_spacy_nor_torch():
    script = (
        "import sys\n"
        "from relic_core.text.sentences import default_segmenter\n"
        "text = 'Mr. Poole left. Ark. is far.'\n"
        "assert default_segmenter().segment(text, 0, len(text)) == [(0, 15), (16, len(text))]\n"
        "print([name for name in ('spacy', 'thinc', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
