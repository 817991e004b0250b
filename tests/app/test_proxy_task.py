"""The missing quotation: can people, and models, choose it among three passages?"""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
import streamlit as st

from relic_core.config import Settings
from relic_core.domain.studies import StudyRequest, span_choice
from relic_core.errors import StoreBusy
from relic_core.evaluation.diagnosis import CODES
from relic_core.formats.studies import write_study
from relic_core.studies import results
from relic_core.studies.answering import Answering
from relic_core.studies.service import PRIDE
from relic_core.wiring import build
from relic_ui.studies import answering, studies
from tests.app.reading import html, plain, said, sound
from tests.approved import says
from tests.fake_encoder import FakeEncoder
from tests.making_studies import TERMS, make_ferry, make_study
from tests.unit.studies.test_spans import LINES

SAYS = says("proxy_task")
PAGE = "pages/proxy_task.py"
NAMED = "<b>Anna</b> *Karenina*"


class Screen:
    """Stands where the browser would: shows what the page gives it, and presses."""

    def __init__(self):
        self.data = {}
        self._pressed = []
        self._at = None

    def __call__(self, *, key, data, on_did_change):
        self.data = data
        if self._pressed:
            st.session_state[key] = SimpleNamespace(did=self._pressed.pop())
            on_did_change()
            st.rerun()

    def shown_by(self, at):
        self._at = sound(at)
        return self

    def press(self, does, choice="", *, comment=None, item="", seconds=2.5):
        told = {
            "does": does,
            "choice": choice,
            "item": item or self.data["item"],
            "comment": self.data["comment"] if comment is None else comment,
            "seconds": seconds,
            "nonce": f"{does}-{self.data['item']}-{choice}",
        }
        self._pressed.append(told)
        self._at = sound(self._at.run())
        return self._at

    @property
    def words(self):
        return plain(self.data["body"])


@pytest.fixture
def screen(monkeypatch):
    made = Screen()
    others = answering.component
    monkeypatch.setattr(
        answering, "component", lambda name, **parts: made if name == "relic_proxy_item" else others(name, **parts)
    )
    return made


@pytest.fixture
def sample(app):
    """Return the sample study."""
    (line,) = app.bench.studies.all()
    return app.bench.studies.study(line.id)


def take_in(app, data):
    """Import a study by its file."""
    at = sound(app.open(PAGE))
    (uploader,) = at.get("file_uploader")
    at = sound(uploader.upload("study.json", data, "application/json").run())
    return sound(at.button("proxy_import_do").click().run())


def begin(app, study, name="anna"):
    at = sound(app.open(PAGE, study=study.id))
    at.text_input("proxy_name").set_value(name)
    at.checkbox("proxy_agreed").check()
    return sound(at.button("proxy_start").click().run())


def answer_all(app, study, name, choose):
    """Let somebody answer all items, past the page."""
    bench = app.bench
    annotator = bench.answering.join(study.id, name)
    for item in study.items:
        bench.answering.answer(study.id, annotator.id, item.id, choose(item), seconds=4.0, comment=f"of {name}")
    return annotator


def rightly(item):
    return item.right_option


def wrongly(item):
    return item.right_option % 3 + 1


def answers(app, study, name="anna"):
    annotator = app.bench.answering.join(study.id, name)
    return {each.item.id: each.answer for each in app.bench.answering.answered(study.id, annotator.id)}


def test_a_first_visit_says_what_the_task_is_and_offers_the_sample_study(app):
    at = sound(app.open(PAGE))
    (line,) = app.bench.studies.all()
    assert line.name in plain(html(at))
    assert f'href="proxy_task?study={line.id}"' in html(at)


def test_a_study_begins_with_its_texts_and_asks_for_a_name_and_consent(app, sample, screen):
    terms = app.bench.studies.get(sample.id).terms
    at = sound(app.open(PAGE, study=sample.id))
    for text in (terms.instructions, terms.consent, terms.privacy):
        assert text.split("\n\n")[0] in plain(html(at))
    at = sound(at.button("proxy_start").click().run())
    assert len(at.error) == 1
    at.text_input("proxy_name").set_value("anna")
    at = sound(at.button("proxy_start").click().run())
    assert len(at.error) == 1
    assert app.bench.studies.annotators(sample.id) == ()
    at.checkbox("proxy_agreed").check()
    sound(at.button("proxy_start").click().run())
    assert screen.data["heading"] == f"Item 1 of {len(sample.items)}"


def test_a_divided_study_is_made_on_the_page_and_tells_each_reader_how_much_is_theirs(app, screen):
    app.run_jobs()
    at = sound(app.open(PAGE, show="make"))
    at.selectbox("proxy_make_from").set_value("sample")
    at.text_input("proxy_make_name").set_value("Parts")
    at.number_input("proxy_make_most").set_value(11)
    at.number_input("proxy_make_shared").set_value(2)
    sound(at.button("proxy_make").click().run())
    study = app.bench.studies.find("Parts")
    assert "5 of 11 items" in plain(html(app.open(PAGE, study=study.id)))
    screen.shown_by(begin(app, study))
    assert (screen.data["of"], screen.data["heading"].endswith("of 5")) == (5, True)
    seen = []
    for number in range(1, 6):
        assert screen.data["heading"] == f"Item {number} of 5"
        seen.insert(0, (screen.data["item"], 2, float(number)))
        at = screen.press("choose", "2", seconds=float(number))
        kept = [(item, each.choice, each.seconds) for item, each in answers(app, study).items()]
        assert kept == seen, "it is stored before the next, and those before stay"
    assert len({item for item, *_ in seen}) == 5
    assert 'id="proxy-end"' in html(at)
    shares = re.findall(r"<dd><strong>([\d.]+)%</strong></dd>", html(at))
    right = sum(study.item(item).right_option == choice for item, choice, _ in seen)
    assert shares == [f"{20 * right:.1f}", "33.3", "67.5", "93.5"]
    assert f"study={study.id}&amp;show=results" in html(at)
    assert study.division in plain(html(app.open(PAGE, study=study.id, show="results")))


def test_an_item_shows_the_context_with_its_gap_and_three_passages(app, sample, screen):
    begin(app, sample)
    item = sample.item(screen.data["item"])
    assert re.search(rf"{re.escape(item.left)} .+ {re.escape(item.right)}", screen.words)
    for number, option in enumerate(item.options, start=1):
        assert f"Passage {number}" in screen.words
        assert option.words.split("\n\n")[0] in screen.words
    assert screen.data["choice"] == ""
    assert not screen.data["back"]


def test_one_may_be_unable_to_decide_comment_go_back_and_choose_otherwise(app, sample, screen):
    screen.shown_by(begin(app, sample))
    first = screen.data["item"]
    screen.press("choose", "0", comment="<i>none</i> fits")
    assert screen.data["said"]
    assert screen.data["back"]
    second = screen.data["item"]
    screen.press("back")
    assert (screen.data["item"], screen.data["choice"], screen.data["comment"]) == (first, "0", "<i>none</i> fits")
    screen.press("next", comment="better")
    assert screen.data["item"] == second
    assert answers(app, sample)[first].comment == "better"
    screen.press("back")
    screen.press("choose", "3")
    assert screen.data["item"] == second
    assert (answers(app, sample)[first].choice, answers(app, sample)[first].comment) == (3, "better")


def test_a_press_counts_for_the_item_that_it_names_alone(app, sample, screen):
    screen.shown_by(begin(app, sample))
    first = screen.data["item"]
    screen.press("choose", "1")
    second = screen.data["item"]
    screen.press("choose", "2", item=first)
    assert answers(app, sample)[first].choice == 2
    assert second not in answers(app, sample)
    screen.press("choose", "2", item="an item of elsewhere")
    assert screen.data["trouble"]
    assert list(answers(app, sample)) == [first]


def test_what_cannot_be_stored_is_told_and_the_item_stays(app, sample, screen, monkeypatch):
    screen.shown_by(begin(app, sample))
    first = screen.data["item"]
    with monkeypatch.context() as patch:

        def busy(*_, **__):
            raise StoreBusy("in use")

        patch.setattr(Answering, "answer", busy)
        screen.press("choose", "1", comment="kept")
    assert screen.data["trouble"] == "in use"
    assert screen.data["item"] == first
    screen.press("choose", "1")
    assert screen.data["trouble"] == ""
    assert list(answers(app, sample)) == [first]


def test_who_comes_back_under_the_same_name_goes_on_where_they_stopped(app, sample, screen):
    screen.shown_by(begin(app, sample))
    screen.press("choose", "1")
    where = screen.data["item"]
    at = begin(app, sample, name="Anna ")
    at = sound(at.button("proxy_go_on").click().run())
    assert screen.data["item"] == where
    assert screen.data["heading"] == f"Item 2 of {len(sample.items)}"
    assert len(app.bench.studies.annotators(sample.id)) == 1


def test_somebody_else_of_the_same_name_gives_another(app, sample, screen):
    screen.shown_by(begin(app, sample))
    screen.press("choose", "1")
    at = begin(app, sample)
    assert SAYS["name in use"] in html(at)
    assert SAYS["name in use"] not in html(sound(at.run())), "nobody who comes later is asked whether they are anna"
    at.text_input("proxy_name").set_value("anna of Averhythe")
    sound(at.button("proxy_start").click().run())
    assert screen.data["answered"] == 0


def remembering(monkeypatch, **cookies):
    """Stand in for a browser that remembers."""
    monkeypatch.setattr(type(st.context), "cookies", property(lambda _: cookies))


def test_an_address_that_is_passed_on_asks_who_comes(app, sample, screen):
    at = begin(app, sample)
    screen.shown_by(at)
    screen.press("choose", "1")
    (line,) = app.bench.studies.annotators(sample.id)
    assert at.query_params == {"study": sample.id, "show": "answer"}
    for address in ({"show": "answer"}, {"show": "answer", "as": line.annotator.id}, {}):
        at = sound(app.open(PAGE, study=sample.id, **address))
        assert at.text_input("proxy_name").value == ""


def test_a_tab_that_is_loaded_anew_goes_on_by_what_its_browser_remembers(app, sample, screen, monkeypatch):
    screen.shown_by(begin(app, sample))
    screen.press("choose", "1")
    (line,) = app.bench.studies.annotators(sample.id)
    where = screen.data["item"]
    name, _, value = screen.data["who"].partition("=")
    assert value == line.annotator.id
    assert "anna" not in screen.data["who"]
    remembering(monkeypatch, **{name: value})
    sound(app.open(PAGE, study=sample.id, show="answer"))
    assert screen.data["item"] == where
    first = next(iter(answers(app, sample)))
    sound(app.open(PAGE, study=sample.id, show="answer", item=first))
    assert (screen.data["item"], screen.data["choice"]) == (first, "1")
    at = sound(app.open(PAGE, study=sample.id))
    assert at.text_input("proxy_name").value == ""  # who takes part anew at this computer is asked who they are
    app.bench.studies.erase(sample.id, "anna")
    at = sound(app.open(PAGE, study=sample.id, show="answer"))
    assert len(at.warning) == 1


def test_addresses_of_what_is_not_here_are_told(app, sample):
    at = sound(app.open(PAGE, study="<script>"))
    assert "<script>" in said(at)
    at = sound(app.open(PAGE, study=sample.id, show="answer", item="nothing"))
    assert at.text_input("proxy_name").value == ""


def test_nothing_hints_at_what_is_right_until_the_owner_allows_it(app, sample, screen):
    screen.shown_by(begin(app, sample))
    first = screen.data["item"]
    right = str(sample.item(first).right_option)
    screen.press("choose", right)
    screen.press("back")
    assert not screen.data["settled"]
    assert "relic-proxy-right" not in screen.data["body"]
    at = sound(app.open(PAGE, study=sample.id, show="manage"))
    sound(at.toggle(f"proxy_revealed-{sample.id}").set_value(True).run())
    screen.shown_by(begin(app, sample, name="ben"))
    assert "relic-proxy-right" not in screen.data["body"]
    item = sample.item(screen.data["item"])
    screen.press("choose", str(wrongly(item)))
    assert screen.data["item"] == item.id
    assert screen.data["settled"]
    assert "relic-proxy-verdict" in screen.data["body"]
    assert "relic-proxy-right" in screen.data["body"]
    screen.press("choose", str(item.right_option))  # from another device, which did not show yet what is right
    assert screen.data["trouble"]
    assert answers(app, sample, "ben")[item.id].choice == wrongly(item)
    screen.press("next")
    assert screen.data["item"] != item.id


def test_names_with_markup_are_shown_and_not_obeyed(app, sample, screen):
    at = begin(app, sample, name=NAMED)
    assert NAMED in plain(html(at))
    answer_all(app, sample, NAMED, rightly)
    for show in ("results", "manage"):
        at = sound(app.open(PAGE, study=sample.id, show=show))
        assert NAMED in plain(html(at))
        assert "<b>Anna" not in html(at)


@pytest.fixture
def fake_encoder(monkeypatch):
    """Prepare with an encoder that takes no time: which models answer counts, not what they choose."""
    monkeypatch.setattr("relic_core.retrieval.dense.load_late_chunking", lambda _card: FakeEncoder())


def test_results_set_people_beside_models_and_explain_agreement(app, sample, fake_encoder):
    app.run_jobs()
    for name, choose in (("ann", rightly), ("ben", rightly), ("cid", wrongly)):
        answer_all(app, sample, name, choose)
    at = sound(app.open(PAGE, study=sample.id, show="results"))
    words = plain(html(at))
    assert html(at).count("relic-proxy-numbers") == 1
    assert re.search(r"3 people.*100\.0%.*33\.3%", words, re.DOTALL)
    assert len(at.get("plotly_chart")) == 1
    for label in ("Fleiss", "Randolph", "Gwet", "Krippendorff"):
        assert label in words
    at = sound(at.button("proxy_models").click().run())
    words = plain(html(at))
    labels = {model.label for model in app.bench.study_results.of(sample.id).models}
    assert labels
    for label in labels:
        assert label in words
    assert "proxy_models" not in [each.key for each in at.button]
    work = next(iter(app.bench.studies.get(sample.id).stored.values()))
    assert f'href="read?work={work}&amp;at=' in html(at)


def test_why_an_item_is_missed_is_told_as_recall_tells_it_and_the_other_passages_are_judged(app, sample):
    answer_all(app, sample, "ann", wrongly)
    at = sound(app.open(PAGE, study=sample.id, show="results"))
    assert html(at).count("relic-missed") == html(at).count("into the work") == 10
    assert html(at).count('data-does="keep"') == 30
    assert html(at).count("relic-proxy-mask") == 10  # also where nothing is written behind the quotation
    assert "<" not in plain(html(at))
    asked = [each for each in at.button_group if each.key.startswith("judged_")]
    assert len(asked) == 10
    sound(asked[0].set_value([list(CODES)[2], list(CODES)[3]]).run())
    ((item_id, _), codes), *others = app.bench.runs.case_judgements(sample).items()
    assert (codes, others) == (tuple(list(CODES)[2:4]), [])
    found = {each.item.id: each.judged for each in app.bench.study_results.of(sample.id).items}
    assert {key for key, said in found.items() if said} == {item_id}


def test_of_a_study_whose_work_is_gone_words_alone_tell_why(app, sample):
    answer_all(app, sample, "ann", wrongly)
    (work,) = app.bench.works.summaries()
    app.bench.works.remove(work.id)
    at = sound(app.open(PAGE, study=sample.id, show="results"))
    assert html(at).count("relic-missed") == 10
    assert "into the work" not in html(at)


def test_ones_own_score_comes_first_and_chance_is_a_remark(app, sample, screen):
    answer_all(app, sample, "ann", wrongly)
    at = begin(app, sample, "bea")
    answer_all(app, sample, "bea", rightly)
    at.query_params["show"] = "results"
    at = sound(at.run())
    tiles = re.findall(r"<li>(.*?)</li>", re.search(r'"relic-proxy-numbers">(.*?)</ul>', html(at), re.DOTALL)[1])
    assert tiles[0].startswith("You<strong>100.0%</strong>")
    assert f"{len(sample.items)} of {len(sample.items)} items" in tiles[0]
    assert not any("33.3" in tile for tile in tiles)
    assert "33.3%" in plain(html(at))
    at = sound(app.open(PAGE, study=sample.id, show="results"))  # somebody else, who answered nothing
    assert "You<strong>" not in html(at)


def test_answers_given_too_fast_are_marked_with_person_and_item(app, sample):
    answer_all(app, sample, "ann", rightly)  # four seconds for each of these long items
    at = sound(app.open(PAGE, study=sample.id, show="results"))
    assert html(at).count(SAYS["too fast"]) == 1 + len(sample.items)


def _ask_model(app, study, name="random"):
    app.bench.study_models.answer(study.id, [name], progress=lambda *_: None)


@pytest.mark.parametrize(
    ("people", "model", "expected"),
    [
        ((rightly,), False, r"one person .*No model"),
        ((rightly, rightly), False, r"(?<!\. )No model"),
        ((), True, "nobody has"),
        ((rightly, wrongly), True, r"no item .*all people .* 6 items"),
    ],
)
def test_before_people_and_models_have_answered_nobody_is_said_to_have_missed_nothing(
    app, sample, people, model, expected
):
    app.bench.answering.join(sample.id, "who has not begun")
    for number, choose in enumerate(people):
        answer_all(app, sample, f"person {number}", choose)
    if model:
        _ask_model(app, sample)
    words = plain(html(sound(app.open(PAGE, study=sample.id, show="results"))))
    assert re.search(expected.replace("6", str(len(sample.items))), words)


def test_a_model_that_missed_none_of_what_people_got_is_told_apart_from_one_that_has_not_answered(app, sample):
    def as_the_model(item):
        return item.right_option if item.id in got else wrongly(item)

    _ask_model(app, sample)
    (kept,) = app.bench.study_models.kept(sample.id)
    got = {item.id for item in sample.items if kept.choices[item.id] == item.right_option}
    assert got
    for name in ("ann", "ben"):
        answer_all(app, sample, name, as_the_model)
    at = sound(app.open(PAGE, study=sample.id, show="results"))
    assert re.search(rf"No model missed .* {len(got)} items", plain(html(at)))
    at = sound(at.selectbox("proxy_telling_model").set_value("Random").run())
    assert re.search(rf"Random missed .* {len(got)} items", plain(html(at)))
    assert html(at).count('class="relic-missed"') == html(at).count('class="relic-proxy-case"') > 0, (
        "why, beside every item"
    )


def test_models_that_ended_before_their_time_are_told_and_go_on_where_they_stopped(
    app, sample, fake_encoder, monkeypatch
):
    app.run_jobs()
    ask, asked = results.ask, []

    def ends_at_the_third(items, load, retriever, *, progress):
        asked.append(retriever.name)
        progress(0, len(items))
        if len(asked) == 3:
            raise StoreBusy("in use")
        return ask(items, load, retriever, progress=progress)

    monkeypatch.setattr(results, "ask", ends_at_the_third)
    at = sound(app.open(PAGE, study=sample.id, show="results"))
    at = sound(at.button("proxy_models").click().run())
    (warning,) = [each.value for each in at.warning]
    assert "in use" in warning
    at = sound(app.open(PAGE, study=sample.id, show="results"))
    assert len(at.warning) == 1, "whoever comes back later is told, too"
    assert len(app.bench.study_models.kept(sample.id)) == 2
    at = sound(at.button("proxy_models").click().run())
    assert not at.warning
    assert asked[3] == asked[2]  # those that had answered are not asked again
    assert not app.bench.study_models.due(sample.id)


def test_results_before_the_first_answer_are_no_failure(app, sample):
    at = sound(app.open(PAGE, study=sample.id, show="results"))
    assert "relic-proxy-agreement" not in html(at)
    assert "relic-proxy-case" not in html(at)


def test_who_is_still_answering_is_warned_before_the_results(app, sample, screen):
    at = begin(app, sample)
    at.query_params["show"] = "results"
    at = sound(at.run())
    assert len(at.info) == 1
    assert len(at.get("plotly_chart")) == 0
    at = sound(at.button("proxy_spoil").click().run())
    assert len(at.get("plotly_chart")) == 1


def test_a_file_that_is_no_study_is_refused_in_words(app):
    at = sound(app.open(PAGE))
    for data in (b"", b"\x00\xff", b"{}", b"[1, 2]"):
        (uploader,) = at.get("file_uploader")
        at = sound(uploader.upload("study.json", data, "application/json").run())
        at = sound(at.button("proxy_import_do").click().run())
        assert said(at)
    assert len(app.bench.studies.all()) == 1


def test_a_study_that_was_changed_by_hand_is_refused(app, sample):
    held = json.loads(app.bench.study_files.export(sample.id))
    spoilt = json.dumps(held).replace(sample.items[0].left[:20], "Something else", 1).encode()
    assert take_in(app, spoilt).error


def test_a_study_that_is_here_already_is_told(app, sample):
    data = app.bench.study_files.export(sample.id)
    assert f'<em>{sample.label}</em>. <a class="relic-link" href="proxy_task?study={sample.id}"' in html(
        take_in(app, data)
    )


def test_once_there_are_answers_what_was_asked_is_frozen_and_a_new_version_is_not(app, sample):
    at = sound(app.open(PAGE, study=sample.id, show="manage"))
    at.text_area("proxy_instructions").set_value("Choose <b>well</b>.")
    at = sound(at.button("proxy_texts_save").click().run())
    assert app.bench.studies.get(sample.id).terms.instructions == "Choose <b>well</b>."
    answer_all(app, sample, "anna", rightly)
    at = sound(app.open(PAGE, study=sample.id, show="manage"))
    assert at.text_area("proxy_instructions").disabled
    at.text_area("proxy_consent").set_value("I agree.")
    at = sound(at.button("proxy_texts_save").click().run())
    assert app.bench.studies.get(sample.id).terms.consent == "I agree."
    sound(at.button("proxy_version").click().run())
    newest = app.bench.studies.all()[0]
    assert (newest.version, newest.answers) == (2, 0)
    at = sound(app.open(PAGE, study=newest.id, show="manage"))
    assert not at.text_area("proxy_instructions").disabled


def test_an_annotators_answers_are_erased_on_request(app, sample, press_button):
    annotator = answer_all(app, sample, "anna", rightly)
    answer_all(app, sample, "ben", wrongly)
    at = sound(app.open(PAGE, study=sample.id, show="manage"))
    at = press_button(at, "remove-annotator", annotator.id)
    at = sound(at.button("proxy_remove_yes").click().run())
    assert [line.annotator.name for line in app.bench.studies.annotators(sample.id)] == ["ben"]
    assert re.search(rf"{len(sample.items)} .*anna", plain(html(at)))


def test_a_study_is_removed_and_put_back(app, sample):
    at = sound(app.open(PAGE, study=sample.id, show="manage"))
    at = sound(at.button("proxy_remove_study").click().run())
    at = sound(at.button("study_undo").click().run())
    assert sample.id in [line.id for line in app.bench.studies.all()]


def test_a_study_is_made_of_chosen_works(app):
    app.run_jobs()
    at = sound(app.open(PAGE, show="make"))
    at = sound(at.button("proxy_make").click().run())
    assert len(at.error) == 1
    at.text_input("proxy_make_name").set_value("Of *quays*")
    at.number_input("proxy_make_most").set_value(5)
    at = sound(at.button("proxy_make").click().run())
    made = app.bench.studies.all()[0]
    assert (made.name, made.items) == ("Of *quays*", 5)
    assert f"study={made.id}" in html(at)


def test_works_are_offered_with_the_quotations_of_the_length_that_is_chosen(app):
    at, offered = sound(app.open(PAGE, show="make")), []
    at.multiselect[0].set_value(["high_water_at_averhythe"])
    for length in (1, 2, 3, 4, 5, 0):
        at.selectbox("proxy_make_length-proxy").set_value(length)
        (option,) = sound(at.run()).multiselect[0].options
        offered.append(int(re.search(r"\d+", option)[0]))
    *single, every = offered
    assert (every, sum(single), min(single) > 0) == (72, 72, True)
    assert at.multiselect[0].value == ["high_water_at_averhythe"]


def test_the_study_of_pride_and_prejudice_is_one_click(app, monkeypatch):
    app.run_jobs()
    assert "proxy_make_pride" not in [each.key for each in sound(app.open(PAGE, show="make")).button]
    wanted = StudyRequest(name=PRIDE.name, benchmark="sample", most=4)
    monkeypatch.setattr(studies, "paper_study", lambda *_: (wanted, True))
    at = sound(app.open(PAGE, show="make"))
    at = sound(at.button("proxy_make_pride").click().run())
    made = app.bench.studies.all()[0]
    assert (made.name, made.items) == (PRIDE.name, 4)
    assert f"study={made.id}" in html(at)


def test_without_the_critics_words_the_box_says_how_to_get_them(app, monkeypatch):
    wanted = StudyRequest(name=PRIDE.name, benchmark="sample", most=4)
    monkeypatch.setattr(studies, "paper_study", lambda *_: (wanted, False))
    at = sound(app.open(PAGE, show="make"))
    assert at.button(key="get_proxy_claims")
    assert "proxy_make_pride" not in [each.key for each in at.button]


def test_the_study_of_pride_and_prejudice_is_opened_where_it_is_already(app, monkeypatch):
    made = app.bench.study_making.make(StudyRequest(name=PRIDE.name, benchmark="sample", most=4))
    wanted = StudyRequest(name=made.name, benchmark="sample")
    monkeypatch.setattr(studies, "paper_study", lambda *_: (wanted, True))
    at = sound(app.open(PAGE, show="make"))
    assert f'href="proxy_task?study={made.id}"' in html(at)
    assert "proxy_make_pride" not in [each.key for each in at.button]


@pytest.mark.parametrize("show", ["results", "manage"])
def test_results_and_the_owners_side_open_with_the_owners_code_alone(app, sample, show):
    answer_all(app, sample, "Ferdinand", rightly)
    app.bench.studies.give_code(sample.id, "quill")
    at = sound(app.open(PAGE, study=sample.id, show=show))
    for code in (None, "feather"):
        if code:
            at.text_input("proxy_code").set_value(code)
            at = sound(at.button("proxy_code_open").click().run())
            assert len(at.error) == 1
        assert "Ferdinand" not in html(at)
        assert len(at.get("plotly_chart")) == 0
        assert len(at.get("download_button")) == 0
        assert "relic-proxy-right" not in html(at)
    at.text_input("proxy_code").set_value("quill")
    at = sound(at.button("proxy_code_open").click().run())
    assert "Ferdinand" in html(at)
    at.query_params["show"] = "manage"
    assert sound(at.run()).button("proxy_code_drop"), "it is asked for once in a visit"


def test_the_owner_sets_a_code_and_takes_it_away(app, sample):
    at = sound(app.open(PAGE, study=sample.id, show="manage"))
    at = sound(at.button("proxy_code_keep").click().run())
    assert len(at.error) == 1
    at.text_input("proxy_code_new").set_value("quill")
    at = sound(at.button("proxy_code_keep").click().run())
    assert app.bench.studies.opens(sample.id, "quill")
    assert not app.bench.studies.opens(sample.id, "")
    at = sound(at.button("proxy_code_drop").click().run())
    assert not app.bench.studies.guarded(sample.id)


def test_a_study_can_be_made_with_its_owners_code(app):
    app.run_jobs()
    at = sound(app.open(PAGE, show="make"))
    at.text_input("proxy_make_name").set_value("Of quays")
    at.text_input("proxy_make_code").set_value("quill")
    sound(at.button("proxy_make").click().run())
    assert app.bench.studies.opens(app.bench.studies.all()[0].id, "quill")
    assert app.bench.studies.guarded(app.bench.studies.all()[0].id)


def test_annotators_are_led_to_the_results_only_where_no_code_stands_before_them(app, sample, screen):
    app.bench.studies.edit(sample.id, revealed=True)
    answer_all(app, sample, "anna", rightly)
    for code in ("", "quill"):
        app.bench.studies.give_code(sample.id, code)
        at = begin(app, sample)
        at = sound(at.button("proxy_go_on").click().run())
        assert 'id="proxy-end"' in html(at)
        assert ("show=results" in html(at)) is not bool(code)


def test_a_study_whose_work_is_missing_or_of_another_edition_is_held_on_the_page(app):
    study = make_study(work=make_ferry())
    at = take_in(app, write_study(study, TERMS))
    assert f"study={study.id}" in html(at)
    for named in (study.works[0].sha256[:12], make_ferry(40).sha256[:12]):
        for show in ({}, {"show": "results"}, {"show": "manage"}, {"show": "answer"}):
            at = sound(app.open(PAGE, study=study.id, **show))
            assert named in said(at)
            keys = [each.key for each in at.button]
            assert "proxy_start" not in keys
            assert "proxy_models" not in keys
        app.bench.store.works.add(make_ferry(40))
    app.bench.store.works.add(make_ferry())
    assert sound(app.open(PAGE, study=study.id)).button("proxy_start")


def test_a_study_goes_from_one_department_to_another_and_its_answers_come_back(app, tmp_path):
    there = build(Settings(data=tmp_path / "there", indexes=tmp_path / "ix"))
    there.store.works.add(make_ferry())
    app.bench.store.works.add(make_ferry())
    study = make_study(work=make_ferry())
    there.store.studies.add(study, TERMS)
    take_in(app, there.study_files.export(study.id))
    assert app.bench.studies.study(study.id) == study
    anna = there.answering.join(study.id, "Anna")
    for item in study.items:
        there.answering.answer(study.id, anna.id, item.id, item.right_option, seconds=2)
    at = sound(app.open(PAGE, study=study.id, show="manage"))
    for people in (0, 1):
        at.get("file_uploader")[0].upload(
            "answers.json", there.study_files.answers_json(study.id, anonymous=False), "application/json"
        )
        at = sound(at.run())
        at = sound(at.button("proxy_others_do").click().run())
        assert len(app.bench.studies.annotators(study.id)) == people
        at.text_input("proxy_others_of").set_value("Oxford")
    assert [line.annotator.name for line in app.bench.studies.annotators(study.id)] == ["Anna (Oxford)"]


def test_answers_are_saved_with_names_only_on_request(app, sample):
    answer_all(app, sample, "anna", rightly)
    at = sound(app.open(PAGE, study=sample.id, show="results"))
    assert at.checkbox("proxy_anonymous").value
    for anonymous in (True, False):
        assert (b"anna" in app.bench.study_files.answers_csv(sample.id, anonymous=anonymous)) is not anonymous


# ---- other kinds of study -----------------------------------------------------------------------------------------


def test_a_study_of_spans_is_made_from_a_file_answered_and_shown(app, screen):
    at = sound(app.open(PAGE, show="make"))
    at = sound(at.radio("proxy_make_kind").set_value("span").run())
    at = sound(at.button("proxy_make_spans").click().run())
    assert len(at.error) == 1
    (uploader,) = at.get("file_uploader")
    at = sound(uploader.upload("pairs.jsonl", LINES.encode(), "application/jsonl").run())
    at.text_input("proxy_make_name").set_value("Thieves")
    at = sound(at.button("proxy_make_spans").click().run())
    study = app.bench.studies.find("Thieves")
    assert f"study={study.id}" in html(at)
    screen.shown_by(begin(app, study))
    asked = {item.id: item for item in study.items}[screen.data["item"]]
    assert f'data-anchor="{asked.anchor}"' in screen.data["body"]
    screen.press("choose", "2001")
    assert screen.data["trouble"]
    screen.press("choose", str(span_choice(asked.anchor, asked.anchor + 1)))
    screen.press("choose", "0")
    assert sorted(each.choice for each in answers(app, study).values()) == [
        0,
        span_choice(asked.anchor, asked.anchor + 1),
    ]
    for show in ("results", "manage"):
        assert study.label in plain(html(sound(app.open(PAGE, study=study.id, show=show))))
    answer_all(app, study, "ben", lambda item: span_choice(item.anchor, item.anchor + 1))
    answer_all(app, study, "cleo", lambda item: span_choice(item.anchor, item.anchor))
    at = sound(app.open(PAGE, study=study.id, show="results"))
    assert html(at).count("relic-span-share") == sum(len(item.words) for item in study.items)
    assert " ".join(asked.words[asked.anchor - 1 : asked.anchor + 1]) in plain(html(at))


def test_kinds_of_evidence_are_asked_and_become_labels(app, screen):
    study = app.bench.study_making.make(StudyRequest(name="Kinds", kind="evidence", benchmark="sample", most=3))
    screen.shown_by(begin(app, study))
    assert study.item(screen.data["item"]).gold.words.split()[0] in screen.words
    screen.press("choose", "3")
    answer_all(app, study, "ben", lambda _item: 3)
    answer_all(app, study, "cleo", lambda _item: 3)
    at = sound(app.open(PAGE, study=study.id, show="results"))
    sound(at.button("proxy_label").click().run())
    assert set(app.bench.store.windows.evidence().values()) == {"other"}
    assert len(app.bench.store.windows.evidence()) == 3
