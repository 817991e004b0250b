from __future__ import annotations

import csv
import io
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Span
from relic_core.errors import BadRequest
from relic_core.library.concordance import Finder, Wording
from relic_core.library.lexicon import Lexicon, Reach, word_offsets
from relic_core.library.queries import read_query
from relic_core.reporting.concordance import COLUMNS, Occurrence, to_csv
from relic_core.text.variants import one_spelling
from relic_core.text.words import fold, word_spans
from tests.making import make_work

letters = st.text("abcáN’' -_\u0301*1\n", max_size=60)
words = st.sampled_from(["go", "Go", "went", "the", "honour", "honor", "Natásha", "to", "day"])
sentences = st.lists(words, min_size=1, max_size=8).map(" ".join)
works = st.lists(st.lists(st.lists(sentences, min_size=1, max_size=3), min_size=1, max_size=3), min_size=1, max_size=3)
reaches = st.sampled_from(
    [Reach(), Reach(variants=True), Reach(forms=True), Reach(variants=True, forms=True), Reach(as_written=True)]
)


def worded(chapters):
    work = make_work(*chapters)
    lexicon = Lexicon()
    arrays = (
        np.array([getattr(s, name) for s in work.sentences], np.int32)
        for name in ("start", "end", "chapter", "paragraph")
    )
    return work, Wording.of(work.text, tuple(arrays), np.zeros(len(work.paragraphs), np.bool_), lexicon), lexicon


@given(st.one_of(st.text(max_size=80), letters))
def test_the_fast_tokenizer_finds_the_words_of_the_slow_one(text):
    starts, ends = word_offsets(text)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [span[:2] for span in word_spans(text)]


@given(works, words)
def test_every_place_of_a_word_is_found_and_no_other(chapters, word):
    work, wording, lexicon = worded(chapters)
    places = Finder(read_query(word, Reach()), Reach(), lexicon).find(wording)
    expected = [
        sentence.start + start
        for sentence in work.sentences
        for start, end, _ in word_spans(work.sentence_text(sentence.index))
        if fold(work.sentence_text(sentence.index)[start:end]) == fold(word)
    ]
    assert wording.starts[places.firsts].tolist() == expected


@given(works, sentences, reaches)
def test_a_wider_reach_finds_no_less_and_counts_by_chapter_add_up(chapters, phrase, reach):
    _, wording, lexicon = worded(chapters)
    narrow = Finder(read_query(phrase, Reach()), Reach(), lexicon).find(wording)
    wide = Finder(read_query(phrase, reach), reach, lexicon).find(wording)
    if not reach.as_written:
        assert set(narrow.firsts.tolist()) <= set(wide.firsts.tolist())
    assert len(set(wide.firsts.tolist())) == len(wide.firsts)
    assert sum(wording.words_per_chapter(len(chapters))) == len(wording.ids)


@given(works, sentences, st.integers(0, 40))
def test_context_and_words_together_stand_in_the_text(chapters, phrase, width):
    work, wording, lexicon = worded(chapters)
    places = Finder(read_query(phrase, Reach()), Reach(), lexicon).find(wording)
    flat = " ".join(" ".join(work.sentence_text(n) for n in range(len(work.sentences))).split())
    for first, length in zip(places.firsts.tolist(), places.lengths.tolist(), strict=True):
        left, keyword, right = wording.context(first, length, width=width)
        assert fold(keyword) == fold(" ".join(phrase.split()))
        assert len(left) <= width
        assert len(right) <= width
        assert f"{left}{keyword}{right}".replace(" ¶ ", " ") in flat


@given(st.text(max_size=400), reaches)
def test_any_query_is_read_or_refused_in_words(typed, reach):
    try:
        readings = read_query(typed, reach)
    except BadRequest as error:
        assert str(error)
        return
    assert all(reading.terms and len(reading.gaps) == len(reading.terms) - 1 for reading in readings)
    assert Finder(readings, reach, Lexicon())


@given(st.text(st.characters(categories=["Ll"], max_codepoint=0x2FF), max_size=14))
def test_the_one_spelling_is_stable(word):
    assert one_spelling(one_spelling(fold(word))) == one_spelling(fold(word))


cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=30) | st.sampled_from(
    ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", '"', ",", '=HYPERLINK("x")']
)


@given(cells, cells, cells, cells)
def test_a_table_is_read_back_and_holds_no_formula(left, keyword, right, query):
    work = make_work([["A sentence."]], title=keyword, author=left)
    summary = type("Summary", (), {"title": work.title, "author": work.author, "sha256": work.sha256})
    row = Occurrence(summary, work.place(Span(0, 1)), 1, left, keyword, right)
    table = to_csv([row], query=query, options="", address="concordance?word=x").decode("utf-8-sig")
    heads, read = csv.reader(io.StringIO(table, newline=""))
    assert tuple(heads) == COLUMNS
    values = dict(zip(heads, read, strict=True))
    for name, cell in (("left", left), ("keyword", keyword), ("right", right), ("query", query), ("work", keyword)):
        assert values[name] in (cell, f"'{cell}")
    assert not [cell for cell in read if re.match("[=+\\-@\t\r＝＋－＠]", cell)]
