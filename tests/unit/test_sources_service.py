"""Secondary sources for pages: lists, windows lit on both sides, judgements, how often sentences are quoted."""

from __future__ import annotations

import dataclasses

import pytest

from relic_core.config import Settings
from relic_core.domain import Span
from relic_core.errors import BadClaim, BadRequest, NotFound
from relic_core.reporting.window_views import set_sentences
from relic_core.wiring import App, build
from tests.making import make_work
from tests.making_sources import keep, make_source, make_window

WORK = make_work(
    [["The lamp was\nlit at _five_ by the   clock.", "Nobody\nasked why."], ["The tide had no clerk."]],
    title="Tide and Lamp",
)
FIRST, SECOND = make_source("A Study of Lamps"), make_source("Other Tides")


@pytest.fixture
def bench(tmp_path) -> App:
    made = build(Settings(data=tmp_path / "data", indexes=tmp_path / "indexes"))
    made.store.works.add(WORK)
    return made


def lit(window, *pieces: str):
    """Give a window whose lit stretches are these words of its work's text."""
    places = [(WORK.text.index(piece), WORK.text.index(piece) + len(piece)) for piece in pieces]
    return dataclasses.replace(window, lit_in_work=tuple(places))


def test_the_sentences_of_a_window_are_set_with_their_line_wraps_undone():
    text, _ = set_sentences(WORK, make_window(WORK, FIRST, 0, 3))
    assert text == "The lamp was lit at five by the clock. Nobody asked why.\n\nThe tide had no clerk."


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["The lamp was\nlit"], ["The lamp was lit"]),
        (["lit at _five_ by the   clock"], ["lit at five by the clock"]),
        (["clock.", "asked why. "[:-1]], ["clock.", "asked why."]),
        (["by the   clock.", "tide had"], ["by the clock.", "tide had"]),
        (["_five_"], ["five"]),
    ],
)
def test_what_is_lit_is_found_in_the_sentences_as_they_are_set(pieces, shown):
    text, places = set_sentences(WORK, lit(make_window(WORK, FIRST, 0, 3), *pieces))
    assert [text[start:end] for start, end in places] == shown


def test_a_stretch_over_several_sentences_is_lit_in_each_paragraph():
    whole = WORK.text[WORK.text.index("Nobody") : WORK.text.index("clerk") + 5]
    text, places = set_sentences(WORK, lit(make_window(WORK, FIRST, 0, 3), whole))
    assert [text[start:end] for start, end in places] == ["Nobody asked why.", "The tide had no clerk"]


def test_light_beyond_the_sentences_is_left_away():
    window = lit(make_window(WORK, FIRST, 1), "Nobody\nasked why.", "The lamp was\nlit")
    text, places = set_sentences(WORK, window)
    assert [text[start:end] for start, end in places] == ["Nobody asked why."]


def test_sources_are_listed_with_what_was_found_and_which_works_they_quote(bench):
    windows = [make_window(WORK, FIRST, 0), make_window(WORK, FIRST, 2)]
    keep(bench, FIRST, windows, works=[WORK])
    keep(bench, SECOND, works=[WORK], problem="It is damaged.")
    bench.store.windows.set_aside({windows[1].id: "too seldom"})
    study, other = bench.sources.all()
    assert (study.source, study.pairs, study.windows, study.set_aside) == (FIRST, 2, 1, 1)
    assert study.works == ((WORK.id, "Tide and Lamp", 1),)
    assert (other.pairs, other.windows, other.works, other.problem) == (0, 0, (), "It is damaged.")


def test_windows_are_shown_with_work_source_place_and_reason(bench):
    windows = [make_window(WORK, FIRST, 0, 2), make_window(WORK, FIRST, 2)]
    keep(bench, FIRST, windows, works=[WORK])
    bench.store.windows.set_aside({windows[1].id: "too seldom"})
    kept = bench.sources.windows(source_id=FIRST.id)
    (view,) = kept.views
    assert (kept.total, view.window, view.source, view.work.id) == (1, windows[0], FIRST, WORK.id)
    assert (view.place, view.lit, view.set_aside) == (WORK.place(Span(0, 2)), windows[0].lit, "")
    (aside,) = bench.sources.windows(work_id=WORK.id, show="set aside").views
    assert aside.set_aside == "too seldom"
    both = bench.sources.windows(show="all", start=1, limit=1)
    assert (both.total, len(both.views)) == (2, 1)


def test_an_unknown_choice_of_windows_is_refused(bench):
    with pytest.raises(BadRequest, match="Known: all, kept, set aside"):
        bench.sources.windows(show="some")


def test_how_often_each_sentence_is_quoted(bench):
    keep(bench, FIRST, [make_window(WORK, FIRST, 0, 2), make_window(WORK, FIRST, 1)], works=[WORK])
    keep(bench, SECOND, [make_window(WORK, SECOND, 1)], works=[WORK])
    quoted = bench.sources.quoted(WORK.id)
    assert (quoted.counts, quoted.sources, quoted.windows) == ({0: 1, 1: 3}, 2, 3)
    assert {view.source.id for view in bench.sources.quoting(WORK.id, 1)} == {FIRST.id, SECOND.id}
    assert bench.sources.quoting(WORK.id, 2) == ()


def test_counts_are_kept_until_the_store_is_written(bench, monkeypatch):
    window = make_window(WORK, FIRST, 0)
    keep(bench, FIRST, [window], works=[WORK])
    assert bench.sources.quoted(WORK.id).windows == 1
    asked = []
    golds = bench.store.windows.golds
    monkeypatch.setattr(bench.store.windows, "golds", lambda work_id: asked.append(work_id) or golds(work_id))
    assert bench.sources.quoted(WORK.id).windows == 1
    assert asked == []
    bench.sources.judge(window.id, "match", "wrong")
    assert bench.sources.quoted(WORK.id).windows == 0


def test_a_window_judged_wrong_is_set_aside_and_counts_no_more(bench):
    window = make_window(WORK, FIRST, 0)
    keep(bench, FIRST, [window], works=[WORK])
    bench.sources.judge(window.id, "match", "wrong", judge="a")
    (view,) = bench.sources.windows(show="set aside").views
    assert (view.match, bool(view.set_aside)) == ("wrong", True)
    bench.sources.judge(window.id, "match", "", judge="a")
    assert bench.sources.windows().total == 1


def test_who_presses_what_another_has_answered_agrees_and_takes_back_the_own_answer_alone(bench):
    window = make_window(WORK, FIRST, 0)
    keep(bench, FIRST, [window], works=[WORK])
    answers = []
    for judge in ("ada", "ben", "ben", "ada"):
        bench.sources.press(window.id, "match", "right", judge=judge)
        answers.append((judge, bench.store.windows.last_answer(judge, window.id, "match")))
    assert answers == [("ada", "right"), ("ben", "right"), ("ben", ""), ("ada", "")]
    assert bench.sources.windows().views[0].match == ""


def test_a_window_that_a_rule_set_aside_counts_when_a_person_judges_it_right(bench):
    window, other = make_window(WORK, FIRST, 0), make_window(WORK, FIRST, 2)
    keep(bench, FIRST, [window, other], works=[WORK])
    bench.store.windows.set_aside({window.id: "too seldom", other.id: "too seldom"})
    bench.sources.judge(window.id, "match", "right")
    (view,) = bench.sources.windows().views
    assert (view.window, view.match, view.set_aside) == (window, "right", "")
    (summary,) = bench.sources.all()
    assert (summary.windows, summary.set_aside, summary.works) == (1, 1, ((WORK.id, WORK.title, 1),))
    assert bench.sources.quoted(WORK.id).windows == 1
    bench.store.windows.set_aside({window.id: "another edition", other.id: "another edition"})
    assert bench.sources.windows().total == 1, "also when the rules are applied anew"
    bench.sources.judge(window.id, "match", "")
    assert bench.sources.window(window.id).set_aside == "another edition"


def test_evidence_is_labelled_and_the_last_label_counts(bench):
    window = make_window(WORK, FIRST, 0)
    keep(bench, FIRST, [window], works=[WORK])
    bench.sources.judge(window.id, "evidence", "claim-supporting")
    bench.sources.judge(window.id, "evidence", "other", judge="another")
    assert bench.sources.windows().views[0].evidence == "other"
    last = [bench.store.windows.last_answer(judge, window.id, "evidence") for judge in ("", "another")]
    assert last == ["claim-supporting", "other"]


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [("truth", "right", "no question called"), ("match", "other", "no answer called"), ("evidence", "wrong", "answer")],
)
def test_unknown_questions_and_answers_are_refused(bench, question, answer, said):
    window = make_window(WORK, FIRST, 0)
    keep(bench, FIRST, [window], works=[WORK])
    with pytest.raises(BadRequest, match=said):
        bench.sources.judge(window.id, question, answer)


def test_a_window_that_is_not_there_is_refused(bench):
    with pytest.raises(NotFound, match="no window"):
        bench.sources.judge("nothing", "match", "right")


def test_a_removed_source_is_gone_from_everywhere_until_it_is_restored(bench):
    keep(bench, FIRST, [make_window(WORK, FIRST, 0)], works=[WORK])
    bench.sources.remove(FIRST.id)
    assert (bench.sources.all(), bench.sources.windows().total, bench.sources.quoted(WORK.id).windows) == ((), 0, 0)
    assert bench.sources.removed() == (FIRST,)
    assert bench.sources.get(FIRST.id) == FIRST
    bench.sources.restore(FIRST.id)
    assert bench.sources.quoted(WORK.id).windows == 1


def test_the_windows_of_a_removed_work_are_not_shown(bench):
    keep(bench, FIRST, [make_window(WORK, FIRST, 0)], works=[WORK])
    bench.works.remove(WORK.id)
    assert bench.sources.windows(source_id=FIRST.id).total == 0
    assert bench.sources.all()[0].works == ()


def test_a_draw_is_the_same_for_one_seed_and_takes_kept_windows_alone(bench):
    windows = [make_window(WORK, source, at, 1) for source in (FIRST, SECOND) for at in range(3)]
    for source in (FIRST, SECOND):
        keep(bench, source, [each for each in windows if each.source_id == source.id], works=[WORK])
    bench.sources.judge(windows[0].id, "match", "wrong")
    drawn = [view.window.id for view in bench.sources.draw(3, seed=7)]
    assert drawn == [view.window.id for view in bench.sources.draw(3, seed=7)]
    assert len(set(drawn)) == 3
    assert {view.window.id for view in bench.sources.draw(100, seed=8)} == {each.id for each in windows[1:]}
    with pytest.raises(BadRequest, match="draw 1 or more"):
        bench.sources.draw(0, seed=7)


# ---- what critics say about a claim ---------------------------------------------------------------------------------


def test_a_claim_brings_up_windows_by_the_words_of_their_critics(bench):
    tide = make_window(WORK, FIRST, 0, left=("A clerk of debts is meant here.",), right=("It is accounts again.",))
    lamp = make_window(WORK, SECOND, 1, left=("Debts of light are never repaid.",), right=())
    keep(bench, FIRST, [tide], works=[WORK])
    keep(bench, SECOND, [lamp], works=[WORK])
    first, second = bench.sources.about("the accounts of a clerk in debts")
    assert [each.view.window.id for each in (first, second)] == [tide.id, lamp.id]
    left, right = " ".join(tide.left), " ".join(tide.right)
    assert [left[start:end] for start, end in first.lit_left] == ["clerk", "debts"]
    assert [right[start:end] for start, end in first.lit_right] == ["accounts"]
    assert bench.sources.about("lamp and clock") == (), "the quoted words are the work's, not the critic's"
    assert bench.sources.about("of the and") == ()
    (only,) = bench.sources.about("debts", source_id=SECOND.id)
    assert only.view.window.id == lamp.id
    assert bench.sources.about("debts", work_id="another-00000000") == ()


def test_what_is_set_aside_removed_or_added_is_known_to_the_next_search(bench):
    window = make_window(WORK, FIRST, 0, left=("A matter of debts.",))
    keep(bench, FIRST, [window], works=[WORK])
    assert len(bench.sources.about("debts")) == 1
    bench.sources.judge(window.id, "match", "wrong")
    assert bench.sources.about("debts") == ()
    keep(bench, SECOND, [make_window(WORK, SECOND, 1, left=("Old debts.",))], works=[WORK])
    assert [each.view.source for each in bench.sources.about("debts")] == [SECOND]
    bench.sources.remove(SECOND.id)
    assert bench.sources.about("debts") == ()


def test_a_passage_of_a_critic_that_quotes_several_times_stands_once_with_its_best_quotation(bench):
    common = {"left": ("Debts of the town.",), "right": ()}
    near = dataclasses.replace(make_window(WORK, FIRST, 0, **common), at=(10, 20), passage=(0, 90))
    best = make_window(WORK, FIRST, 1, left=("Debts of the town, and its clerk.",), right=())
    best = dataclasses.replace(best, at=(40, 50), passage=(0, 90))
    far = dataclasses.replace(make_window(WORK, FIRST, 2, **common), at=(500, 510), passage=(480, 560))
    keep(bench, FIRST, [near, best, far], works=[WORK])
    found = bench.sources.about("a clerk in debts")
    assert [(each.view.window.id, each.number) for each in found] == [(best.id, 2), (far.id, 3)]
    listed = bench.sources.windows(source_id=FIRST.id).views
    assert [listed[each.number - 1].window.id for each in found] == [best.id, far.id]
    assert len(bench.sources.about("debts", limit=1)) == 1


@pytest.mark.parametrize("claim", ["", "…", "[MASK] and [MASK]"])
def test_what_is_no_claim_is_refused(bench, claim):
    with pytest.raises(BadClaim):
        bench.sources.about(claim)
