"""Whatever the text: nothing is added, everything kept is traceable."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from relic_core.mining.pairs import make_pairs
from relic_core.mining.prose import Prose, read_prose
from relic_core.mining.quotations import find_quotations

WORDS = st.sampled_from(
    ["rain", "Boat", "worth-", "less", "worthless", "“the", "quay”", "'tis", "‘so’", '"it', 'is"', "[3]", "(p. 12)",
     "{19}", "[Footnote 1:", "]", "[Illustration: x]", "_it_", "* * *", "CHAPTER II", "INDEX", "19", "he says:", "end.",
     "\u00a0", "é", "boys’", "«ja»", "\u00ad", "=x=", "y^{r.}", "§", "II.", "—", "12 Jane Rivers", "ab[A]", "x.*"]
)  # fmt: skip
GAPS = st.sampled_from([" ", "\n", "\n\n", "\n\n\n\n", "\n    ", "  ", "\t", "\r\n", "", "\f", "\n\n      "])
TEXTS = st.lists(st.tuples(WORDS, GAPS), max_size=60).map(lambda parts: "".join(map("".join, parts)))
ANY = st.one_of(TEXTS, st.text(max_size=200))


def joined(text: str, prose: Prose, start: int, end: int) -> str:
    return " ".join("".join(text[a:b] for a, b in prose.kept(start, end)).split())


@settings(max_examples=150, deadline=None)
@given(ANY, st.data())
def test_what_is_read_is_made_of_stretches_of_the_source_in_order(text: str, data: st.DataObject) -> None:
    prose = read_prose(text)
    assert prose.text == joined(text, prose, 0, len(prose.text))
    if prose.text:
        start = data.draw(st.integers(0, len(prose.text) - 1))
        end = data.draw(st.integers(start + 1, len(prose.text)))
        assert joined(text, prose, start, end) == " ".join(prose.text[start:end].split())
        kept = prose.kept(start, end)
        assert all(before[1] <= after[0] for before, after in pairwise(kept))
        outer = prose.in_source(start, end)
        assert outer == (kept[0][0], kept[-1][1])
        first, last = text[outer[0]], text[outer[1] - 1]
        assert (first, last) == (prose.text[start], prose.text[end - 1]) or " " in prose.text[start] + prose.text[
            end - 1
        ]


@settings(max_examples=100, deadline=None)
@given(ANY)
def test_stretches_sentences_and_quotations_lie_within_each_other(text: str) -> None:
    prose = read_prose(text)
    bounds = [0, *(place for one in prose.stretches for place in (one.start, one.end)), len(prose.text)]
    assert bounds == sorted(bounds)
    for start, end in prose.sentences:
        stretch = prose.stretches[prose.stretch_at(start)]
        assert stretch.start <= start < end <= stretch.end
    quotations = find_quotations(prose)
    assert [one.start for one in quotations] == sorted(one.start for one in quotations)
    for one in quotations:
        assert 0 <= one.start <= one.end <= len(prose.text)
    found = make_pairs(prose, quotations, "x")
    assert len(found.pairs) + sum(found.dropped.values()) == len(quotations)
