"""About a work: which edition is this, what was made of its text, and what has been asked of it?"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from relic_core.domain import SearchRequest, SeedPassage
from tests.app.reading import bars, html, plain, said, sound
from tests.approved import says
from tests.making_sources import keep, make_source, make_window

SAYS = says("work")

WORK = "pages/work.py"
TEXT = (
    "LANTERNS\n\nCHAPTER I\n\n“The river is up,” said the ferryman.\n\n“Nobody asked it.”\n\n"
    "CHAPTER II\n\nIn the café there was one lantern fewer.\n"
)


@pytest.fixture
def lanterns(app):
    return app.bench.works.add(TEXT.encode(), name="lanterns.txt", author="A. <b>Nobody</b>", year=1891).work


def facts(at):
    """Map the rows of the edition to what is said in them."""
    return {plain(name): plain(said) for name, said in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html(at))}


def numbers(at):
    return {name: number for number, name in re.findall(r"<li><strong>([^<]*)</strong> ([^<]*)</li>", html(at))}


def test_the_edition_is_described(app, lanterns):
    at = sound(app.open(WORK, work=lanterns.id))
    assert at.title[0].value == "Lanterns"
    assert "A. <b>Nobody</b>, 1891" in plain(html(at)).replace("&lt;", "<")
    assert "<b>" not in html(at), "what is said of a work is shown, not obeyed"
    described = facts(at)
    assert described["Source"] == "lanterns.txt"
    assert described["Format"] == "Plain text"
    assert lanterns.sha256 in described["Fingerprint"]
    assert described[SAYS["segmenter"]] == app.bench.works.load(lanterns.id).segmenter
    for page in ("read", "find", "concordance"):
        assert f'href="{page}?work={lanterns.id}"' in html(at)


def test_the_numbers_are_those_of_the_text(app, lanterns):
    at = sound(app.open(WORK, work=lanterns.id))
    assert numbers(at) == {
        "chapters": "2",
        "paragraphs": "3",
        "sentences": "3",
        "words": "18",
        "different words": "16",
        SAYS["words per sentence"]: "6.0",
        "dialogue": "39%",
    }
    rows = re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", html(at))
    assert [plain(row) for row in rows] == ["Chapter I21070%", "Chapter II180%"]
    assert 'href="read?work=' in rows[0]
    assert "at=1.1.1" in rows[0]
    assert SAYS["double marks"] in html(at)


def test_what_was_set_aside_is_shown(app, lanterns):
    at = sound(app.open(WORK, work=lanterns.id))
    assert "Headings: 2 times" in plain(html(at))


def test_a_piece_that_was_left_out_is_put_back_by_one_press(app):
    note = "He that would cross must pay, says the song, and he that would not must wait. " * 5
    text = TEXT.replace("CHAPTER I\n", f"TRANSLATOR’S NOTE\n\n{note}\n\n\n\nCHAPTER I\n", 1)
    work = app.bench.works.add(text.encode(), name="lanterns.txt").work
    at = sound(app.open(WORK, work=work.id))
    assert numbers(at)["chapters"] == "2"
    (press,) = [button for button in at.button if button.key.startswith("work_back_")]
    assert "must pay" in plain(html(at))
    sound(press.click().run())
    assert numbers(at)["chapters"] == "3"
    assert not [button for button in at.button if button.key.startswith("work_back_")]
    app.held.let_go()


def test_a_work_is_prepared_on_request(app, lanterns):
    at = sound(app.open(WORK, work=lanterns.id))
    assert SAYS["unprepared"] in html(at)
    sound(at.button(key="work_prepare").click().run())
    assert bars(at) == ["Preparing Lanterns: starting"]
    app.held.let_go()
    app.run_jobs()
    at = sound(app.open(WORK, work=lanterns.id))  # what was killed goes on by itself
    assert SAYS["all answer"] in html(at)
    encoder = app.bench.retrievers.get("dense-relic").encoder_identity
    assert encoder in plain(html(at))


def test_searches_made_in_it_can_be_asked_again(app, lanterns):
    assert "None yet." in html(sound(app.open(WORK, work=lanterns.id)))
    request = SearchRequest(
        work_id=lanterns.id, claim_text="Water <i>rises</i>", length=2, results=5, retrievers=("bm25",)
    )
    kept = app.bench.history.keep(request)
    (sample,) = [work for work in app.bench.works.summaries() if work.id != lanterns.id]
    app.bench.history.keep(replace(request, work_id=sample.id, claim_text="Another work"))
    at = sound(app.open(WORK, work=lanterns.id))
    assert f'href="find?q={kept.id}"' in html(at)
    assert "Water &lt;i&gt;rises&lt;/i&gt;" in html(at)
    assert "Another work" not in html(at)


def test_where_people_sign_in_the_claims_of_others_are_not_shown(app, lanterns, monkeypatch):
    request = SearchRequest(work_id=lanterns.id, claim_text="A claim of Ada's", retrievers=("bm25",))
    app.bench.history.keep(request, person="ada")
    monkeypatch.setattr("relic_ui.person.current", lambda: "ben")
    assert "None yet." in html(sound(app.open(WORK, work=lanterns.id)))
    monkeypatch.setattr("relic_ui.person.current", lambda: "ada")
    assert "A claim of Ada&#x27;s" in html(sound(app.open(WORK, work=lanterns.id)))


def test_searches_for_passages_like_one_and_in_some_chapters_are_named(app, lanterns):
    like = SeedPassage(lanterns.id, "1.2.1", 1)
    kept = app.bench.history.keep(SearchRequest(work_id=lanterns.id, like=like, chapters=(2,), retrievers=("bm25",)))
    (listed,) = re.findall(r'<ul class="relic-work-searches">(.*?)</ul>', html(app.open(WORK, work=lanterns.id)))
    assert f'href="find?q={kept.id}"' in listed
    assert "Passages like Lanterns, Chapter I, paragraph 2" in plain(listed)
    assert "one sentence, in 1 of 2 chapters" in plain(listed)


def test_the_most_quoted_passages_are_named_with_how_often_and_by_how_many(app, lanterns):
    assert SAYS["quoted by none"] in plain(html(sound(app.open(WORK, work=lanterns.id))))
    work = app.bench.works.load(lanterns.id)
    for title, places in (("Tides", (0, 2)), ("Slack Water", (2,))):
        assert SAYS["most quoted"] not in html(sound(app.open(WORK, work=lanterns.id)))
        source = make_source(title)
        keep(app.bench, source, [make_window(work, source, place) for place in places], works=[work])
    shown = html(sound(app.open(WORK, work=lanterns.id)))
    assert "Quoted in 3 places by 2 sources; 2 sentences of 3 (66.7%) at least once." in plain(shown)
    assert SAYS["most quoted"] in shown
    assert re.findall(r"<q>(.*?)</q>", shown) == ["In the café there was one lantern fewer."], "those quoted twice"
    assert f'href="sources?work={lanterns.id}&amp;at=2.1.1"' in shown


def test_where_nothing_is_quoted_twice_the_quoted_passages_are_listed_as_such(app, lanterns):
    work, source = app.bench.works.load(lanterns.id), make_source("Tides")
    keep(app.bench, source, [make_window(work, source, place) for place in (0, 2)], works=[work])
    shown = html(sound(app.open(WORK, work=lanterns.id)))
    assert "Quoted passages" in shown
    assert SAYS["quoted once"] in shown
    assert len(re.findall(r"<q>", shown)) == 2


def test_an_entry_of_the_catalogue_is_named(app):
    work = app.bench.works.add(b"Emma was handsome. It rained.", name="x.txt", title="Emma", author="Jane Austen").work
    at = sound(app.open(WORK, work=work.id))
    assert facts(at)["In RELiC"].startswith(("training split", "validation split", "test split"))


def test_what_is_said_of_it_can_be_corrected(app, lanterns):
    at = sound(app.open(WORK, work=lanterns.id))
    sound(at.button(key="work_correct").click().run())
    at.text_input(key=f"correct-{lanterns.id}-title").set_value("The *Lanterns*")
    sound(at.button(key=f"correct-save-{lanterns.id}").click().run())
    assert at.title[0].value == r"The \*Lanterns\*"
    assert app.bench.works.load(lanterns.id).title == "The *Lanterns*"


def test_what_is_begun_on_one_work_is_not_carried_to_another(app, lanterns):
    other = app.bench.works.add(b"It rained. Nobody minded.", name="rain.txt").work
    at = sound(app.open(WORK, work=lanterns.id))
    sound(at.button(key="work_prepare").click().run())
    sound(at.button(key="work_correct").click().run())
    at.query_params["work"] = other.id
    sound(at.run())
    assert bars(at) == []
    assert at.button(key="work_prepare").label == "Prepare it"
    assert at.button(key="work_correct").label == "Correct details"
    at.query_params["work"] = lanterns.id
    sound(at.run())
    assert bars(at) == ["Preparing Lanterns: starting"]
    assert at.text_input(key=f"correct-{lanterns.id}-title").value == "Lanterns"


@pytest.mark.parametrize("work", ["", "nothing-00000000", "<b>x</b>"])
def test_without_a_work_the_page_offers_those_there_are(app, lanterns, work):
    at = sound(app.open(WORK, **({"work": work} if work else {})))
    assert bool(said(at)) == bool(work)
    assert f'href="work?work={lanterns.id}"' in html(at)


def test_a_removed_work_is_told(app, lanterns):
    app.bench.works.remove(lanterns.id)
    at = sound(app.open(WORK, work=lanterns.id))
    assert "Lanterns was removed." in said(at)


def test_a_long_list_of_chapters_stands_behind_a_disclosure(app):
    text = "\n\n".join(f"CHAPTER {number}\n\nIt rained {number} times." for number in range(1, 50))
    work = app.bench.works.add(text.encode(), name="rain.txt").work
    assert "<summary>All 49 chapters" in html(sound(app.open(WORK, work=work.id)))


# ---- the novel at a look ------------------------------------------------------------------------------------------

NOVEL = "\n\n".join(
    f"CHAPTER {number}\n\n“It rained,” said Dorcas. {more}"
    for number, more in enumerate(
        (
            "Mr. Pask looked at Dorcas.",
            "Mr. Pask smiled.",
            "“Yes,” said Pask.",
            "Pask thought.",
            "Pask laughed.",
            "It fell.",
        ),
        start=1,
    )
)


def test_the_page_opens_with_chapters_and_people_drawn(app):
    work = app.bench.works.add(NOVEL.encode(), name="rain.txt").work
    at = sound(app.open(WORK, work=work.id))
    (chart,) = at.get("plotly_chart")
    spec = json.loads(chart.proto.spec)
    assert [len(trace["y"]) for trace in spec["data"][:2]] == [6, 6]
    assert spec["layout"]["yaxis2"]["ticktext"] == ["Dorcas", "Pask"]
    assert spec["data"][0]["customdata"][2] == "3.1.1"
    assert at.header[0].value == SAYS["the novel"]


def test_two_names_lead_to_where_they_meet(app):
    work = app.bench.works.add(NOVEL.encode(), name="rain.txt").work
    at = app.open(WORK, work=work.id)
    names = at.get("button_group")[0]
    at = sound(names.set_value(["Dorcas", "Pask"]).run())
    met = re.search(r'<ul class="relic-work-met">(.*?)</ul>', html(at), re.DOTALL)[1]
    assert [plain(each) for each in re.findall("<li>(.*?)</li>", met)] == [f"Chapter {n}: 1" for n in range(1, 6)]
    assert f'href="read?work={work.id}&amp;at=2.1.1"' in met


def test_notes_and_criticism_are_rows_of_the_chart(app):
    work = app.bench.works.add(NOVEL.encode(), name="rain.txt").work
    app.bench.notebook.keep(work.id, "2.1.1")
    source = make_source("A Study")
    stored = app.bench.works.load(work.id)
    keep(app.bench, source, [make_window(stored, source, 0)], works=[stored])
    spec = json.loads(app.open(WORK, work=work.id).get("plotly_chart")[0].proto.spec)
    assert spec["layout"]["yaxis2"]["ticktext"] == [SAYS["critics"], SAYS["notes"], "Dorcas", "Pask"]
