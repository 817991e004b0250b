"""For any words: what is said to be shared is shared, offsets lead to the words, and a planted passage is found."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from relic_core.mining.matches import LEAST_WORDS, Aligner, matches_of
from relic_core.mining.quoted_works import QuotedWorks, spelt
from relic_core.mining.standardising import standardise
from relic_core.ports import silent
from tests.making import make_work

STEMS = ("tide", "bell", "quay", "ledger", "lantern", "glacier", "harbour", "bonnet", "parish", "widow", "rope", "mud")
WORDS = [f"{stem}{ending}" for stem in STEMS for ending in ("", "s", "less", "like", "wards", "ish", "ing", "ed")]


@pytest.fixture(scope="module")
def works(tmp_path_factory):
    """Return the index of a work whose every word stands in it twice, in different company."""
    there = [" ".join(WORDS[at : at + 8]) + "." for at in range(0, len(WORDS), 8)]
    back = [" ".join(WORDS[at::12]) + "!" for at in range(12)]
    return QuotedWorks.build(
        [make_work([there], [back], title="Tides")], tmp_path_factory.mktemp("works") / "words", silent
    )


words = st.lists(st.sampled_from([*WORDS, "the", "of", "zeppelin", "…", "[sic]", "”", "“"]), max_size=40)


@given(before=words, start=st.integers(0, len(WORDS) - 20), length=st.integers(LEAST_WORDS, 20), after=words)
@settings(max_examples=60)
def test_a_passage_set_among_any_words_is_found_where_it_stands(works, before, start, length, after):
    passage = " ".join(WORDS[start : start + length])
    text = " ".join([*before, passage, *after])
    first = len(" ".join([*before, ""]))
    found = matches_of(Aligner(text, works.read(text), works))
    assert any(match.start < first + len(passage) and match.end > first for match in found)


@given(text=words.map(" ".join))
@settings(max_examples=60)
def test_blocks_hold_the_same_words_in_order_on_both_sides(works, text):
    aligner = Aligner(text, works.read(text), works)
    for match in matches_of(aligner):
        here = there = -1
        for block in match.blocks:
            assert here <= block.here < block.here_end
            assert there <= block.there < block.there_end
            here, there = block.here_end, block.there_end
            if block.here_end - block.here == block.there_end - block.there:
                mine = aligner.words.spellings[block.here : block.here_end]
                theirs = [works.spellings[number] for number in works.words[block.there : block.there_end]]
                assert sum(one == other for one, other in zip(mine, theirs, strict=True)) * 2 >= len(mine)
        for standard in standardise(match, aligner, lambda word: range(word, word)):
            assert standard.gold.length >= 1
            assert 80 <= standard.score <= 100


@given(text=st.text(max_size=300))
@settings(max_examples=80)
def test_offsets_of_words_lead_to_them_in_any_text(works, text):
    found = works.read(text)
    for start, end, spelling in zip(found.starts, found.ends, found.spellings, strict=True):
        assert spelt(text[start:end]) == spelling
