"""Whatever print has broken, models and words agree on it; a work in which nothing is broken is named as ever."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from relic_core.encoders.towers import flat
from relic_core.retrieval.index_files import Recipe, digest_of_facts
from relic_core.text.reading import read_work
from relic_core.text.words import WorkWords, tokens
from tests.making import make_work

PIECES = (
    "The slow", "transfor-\nmation", "no{3}body", "the gar\u00adden", "[Pg 2]", "a non¬\ncommissioned man",
    "well-\nknown", "THE WEIR   15\n", "\n\n15   THE WEIR\n\n", "bell.", "He went;", "\n\n", "\n",
    "lan\u200btern", "“Stay,” he said.",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=30))
def test_a_model_reads_the_words_that_are_searched(pieces):
    work = read_work(f"It rained. {' '.join(pieces)}".encode(), name="weir.txt")
    words = WorkWords.of(work, left_out=frozenset())
    names = list(words.vocabulary)
    for sentence, (first, last) in zip(work.sentences, pairwise(words.starts), strict=True):
        searched = [names[at] for at in words.ids[first:last]]
        assert tokens(flat(work, sentence)) == (searched or tokens(work.sentence_text(sentence.index)))
        assert flat(work, sentence)


@given(st.lists(st.text(st.characters(categories=["L", "P", "Zs"]), min_size=1), min_size=1))
def test_a_work_without_cuts_is_named_and_read_as_before_there_were_any(sentences):
    work = make_work(sentences)
    recipe = Recipe.of(work.version, retriever="demo", encoder="m/1", code="1")
    facts = {"retriever": "demo", "work_id": work.id, "work": work.fingerprint, "encoder": "m/1", "code": "1"}
    assert recipe.digest == digest_of_facts({**facts, "segmenter": work.segmenter})
    assert [flat(work, each) for each in work.sentences] == [" ".join(sentence.split()) for sentence in sentences]
