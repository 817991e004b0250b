from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import MASK
from relic_core.text.masking import QuotationFinder, read_claim
from tests.making import make_work

words = st.text("abcdefgh", min_size=1, max_size=6)
sentences = st.lists(words, min_size=8, max_size=14).map(lambda found: " ".join(found).capitalize() + ".")


@given(st.lists(words, min_size=1, max_size=30), st.lists(words, max_size=30))
def test_masking_and_reading_are_inverse(left, right):
    claim = read_claim(f"{' '.join(left)} {MASK} {' '.join(right)}", max_words=100)
    assert (claim.left.split(), claim.right.split(), claim.masked) == (left, right, True)


@given(st.lists(sentences, min_size=1, max_size=6), st.data())
def test_a_whole_sentence_pasted_into_analysis_is_found_and_masking_removes_it(texts, data):
    work = make_work([texts])
    chosen = data.draw(st.integers(0, len(texts) - 1))
    claim = f"Zyx zyx zyx: “{texts[chosen]}” Zyx zyx zyx."
    found = QuotationFinder(work).find(claim)[0]
    assert work.span_text(found.span).count(texts[chosen]) >= 1
    masked = found.mask(claim)
    assert texts[chosen] not in masked
    assert masked == f"Zyx zyx zyx: {MASK} Zyx zyx zyx."
