"""Addresses and ranked lists, whatever they hold."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import EVERYWHERE, VOICES, Condition, SearchRequest, SeedPassage, WorkFilter
from relic_core.domain.searches import ModelFingerprints, SharedSearch
from relic_core.errors import RelicError
from relic_core.evaluation.rank_overlap import overlap_at, rank_biased_overlap
from relic_core.formats import search_address
from relic_core.services.comparing import numbered

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
NAME = st.text("abcdefghijklmnopqrstuvwxyz0123456789-é", min_size=1, max_size=20)
DIGEST = st.text("0123456789abcdef", min_size=8, max_size=8)
NAMES = st.lists(NAME, max_size=4).map(tuple)
YEAR = st.none() | st.integers(-3000, 3000)
LIKE = st.builds(SeedPassage, NAME, st.just("3.5.2"), st.integers(1, 5))
FILTERS = st.builds(WorkFilter, works=NAMES, authors=NAMES, first_year=YEAR, last_year=YEAR)


@st.composite
def requests(draw):
    work_id, like = draw(st.just("") | NAME), draw(st.none() | LIKE)
    claims = draw(st.lists(NAME, unique_by=str.casefold, max_size=4))
    return SearchRequest(
        work_id=work_id,
        claim_text="" if like else "a claim" if claims else draw(TEXT),
        length=draw(st.integers(1, 5)),
        results=draw(st.integers(1, 50)),
        retrievers=draw(st.lists(NAME, min_size=1, max_size=4).map(tuple)),
        chapters=draw(st.lists(st.integers(1, 5000), max_size=6).map(tuple)) if work_id else (),
        work_filter=EVERYWHERE if work_id else draw(FILTERS),
        critics_quote=draw(st.booleans()),
        voice=draw(st.sampled_from(VOICES)),
        like=like,
        conditions=()
        if like
        else tuple(Condition(draw(st.sampled_from(["and", "or", "not"])), each) for each in claims),
        unit="work" if claims and not work_id and not like else "passage",
    )


SEARCHES = st.builds(
    SharedSearch,
    request=requests(),
    title=TEXT,
    author=TEXT,
    fingerprints=st.builds(
        ModelFingerprints,
        edition=st.just("") | DIGEST,
        retrievers=st.dictionaries(NAME, DIGEST, max_size=4),
        version=TEXT,
    ),
)
LISTS = st.lists(st.integers(0, 30), unique=True, max_size=25)


@given(SEARCHES)
def test_any_search_comes_back_from_its_code_and_from_its_file(search):
    assert search_address.read_code(search_address.write_code(search)) == search
    assert search_address.read_file(search_address.write_file(search), "here") == search
    assert search_address.write_code(search) == search_address.write_code(search)


@given(st.text(max_size=200) | st.from_regex(r"1\.[A-Za-z0-9_-]{0,80}\.[a-z2-7]{8}", fullmatch=True))
def test_any_string_is_read_or_refused_in_our_words(code):
    try:
        search_address.read_code(code)
    except RelicError as error:
        assert "address" in str(error)


@given(SEARCHES, st.data())
def test_a_code_changed_in_one_letter_is_refused_or_means_the_same(search, data):
    code = search_address.write_code(search)
    at = data.draw(st.integers(0, len(code) - 1))
    changed = code[:at] + data.draw(st.sampled_from("ABCabc019-_.")) + code[at + 1 :]
    with contextlib.suppress(RelicError):
        assert search_address.read_code(changed) == search


@given(st.binary(max_size=200))
def test_any_bytes_are_no_file_of_a_search(data):
    try:
        search_address.read_file(data, "here")
    except RelicError as error:
        assert str(error).startswith("here")


@given(st.text(max_size=40), st.text(max_size=40), st.lists(NAME, unique=True, max_size=4))
def test_any_digests_are_read_or_refused_in_our_words(edition, makers, retrievers):
    try:
        search_address.read_fingerprints(edition, makers, retrievers)
    except RelicError as error:
        assert "address" in str(error)


@given(DIGEST, st.dictionaries(NAME, DIGEST, min_size=1, max_size=5))
def test_digests_come_back_from_an_address(edition, retrievers):
    made = ModelFingerprints(edition=edition, retrievers=retrievers)
    said = search_address.write_fingerprints(made, list(retrievers))
    assert search_address.read_fingerprints(said["w"], said["m"], list(retrievers)) == made


@given(LISTS, LISTS)
def test_rank_biased_overlap_lies_between_nothing_and_all_and_is_the_same_both_ways(first, second):
    found = rank_biased_overlap(first, second)
    assert 0 <= found <= 1
    assert found == rank_biased_overlap(second, first)
    assert rank_biased_overlap(first, first) == 1
    if not set(first) & set(second) and (first or second):
        assert found == 0
    assert 0 <= overlap_at(first, second, 10) <= 10


@given(LISTS, LISTS)
def test_rank_biased_overlap_is_the_sum_that_the_paper_defines(first, second):
    """Equation 32 of Webber, Moffat and Zobel (2010), written down as it stands there, with sets."""
    shorter, longer = sorted((first, second), key=len)
    s, length, p = len(shorter), len(longer), 0.9
    if s == 0:
        return
    shared = {d: len(set(shorter[:d]) & set(longer[:d])) for d in range(1, length + 1)}
    total = sum(shared[d] / d * p**d for d in range(1, length + 1))
    total += sum(shared[s] * (d - s) / (s * d) * p**d for d in range(s + 1, length + 1))
    expected = (1 - p) / p * total + ((shared[length] - shared[s]) / length + shared[s] / s) * p**length
    assert abs(rank_biased_overlap(first, second) - expected) < 1e-9


HEAD = st.lists(st.integers(0, 12), unique=True, max_size=8)


@given(HEAD, HEAD, st.integers(1, 3))
def test_passages_are_numbered_alike_whichever_head_comes_first(first, second, step):
    one = [("w", at * step, at * step + step) for at in first]
    two = [("w", at * step + 1, at * step + 1 + step) for at in second]
    ids, others = numbered(one, two)
    swapped, back = numbered(two, one)
    assert len(set(ids)) == len(one)
    assert len(set(others)) == len(two)
    pairs = {(ids.index(each), at) for at, each in enumerate(others) if each in ids}
    assert pairs == {(at, swapped.index(each)) for at, each in enumerate(back) if each in swapped}
    for at, other in pairs:
        assert one[at][1] < two[other][2]
        assert two[other][1] < one[at][2]
