"""The order of cards: what only calls somebody comes last, a passage over a paragraph break after one that is not."""

from relic_core.domain import Hit, Span
from relic_core.retrieval.search import PARAGRAPH, card_order
from tests.making import make_work

WORK = make_work([["“Gatsby!”", "He came in.", "The light was green."], ["He believed in it.", "So did I."]])


def hits(length, *scored):
    return tuple(Hit("work", Span(at, length), score, rank) for rank, (at, score) in enumerate(scored, start=1))


def test_speech_that_only_names_somebody_comes_last_however_well_it_scores():
    ordered = card_order(hits(1, (0, 9.0), (1, 2.0), (3, 1.0)), WORK)
    assert [hit.span.start for hit in ordered] == [1, 3, 0]


def test_a_passage_over_a_paragraph_break_gives_way_unless_it_is_better_by_the_margin():
    # Scores 0 and 2 spread by 1, so that the margin is `PARAGRAPH` itself.
    near = hits(2, (2, 2.0), (1, 2.0 - PARAGRAPH / 2), (3, 0.0))
    assert [hit.span.start for hit in card_order(near, WORK)] == [1, 2, 3]
    far = hits(2, (2, 2.0), (1, 0.0))
    assert [hit.span.start for hit in card_order(far, WORK)] == [2, 1]


def test_all_else_stays_as_ranked_and_nothing_is_nothing():
    as_ranked = hits(1, (3, 1.0), (1, 1.0), (2, 1.0))
    assert card_order(as_ranked, WORK) == as_ranked
    assert card_order((), WORK) == ()
