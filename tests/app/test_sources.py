"""Criticism: which lines of a work do critics quote, and who quotes them?"""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest

from relic_core.errors import BadRequest, StoreBusy
from relic_core.formats.places import CriticsBook, Layer, QuotedPlaces, digest_of
from relic_core.services.catalogue import Catalogue
from relic_core.services.sources import Sources
from tests.app.reading import LIBRARY, as_read, bars, html, plain, said, sound
from tests.approved import says
from tests.making_sources import keep, make_source, make_window

SAYS = says("sources")

SOURCES = "pages/sources.py"
LANTERNS = (
    "THE LANTERNS\n\nCHAPTER I\n\nThe river rose all night. Nobody counted the <b>lanterns</b> on the quay. Nobody had "
    "been asked to.\n\nCHAPTER II\n\nIn the morning there was one lantern fewer. The ferryman said that it had gone.\n"
)


@pytest.fixture
def lanterns(app):
    work = app.bench.works.add(LANTERNS.encode(), name="lanterns.txt", title="The Lanterns", author="A. Nobody").work
    return app.bench.works.load(work.id)


@pytest.fixture
def tides(app, lanterns):
    """A source with two windows on the lanterns, one of them weak."""
    source = make_source("Tides & <i>Towns</i>")
    weak = make_window(lanterns, source, 3, score=81.4, left=("He <b>misremembers</b>:",))
    return keep(app.bench, source, [make_window(lanterns, source, 1), weak], works=[lanterns])


def rows(at):
    return re.findall(r'<li id="window-.*?</li>', html(at), re.DOTALL)


def marks(row):
    return [unescape(words) for words in re.findall(r"<mark>(.*?)</mark>", row, re.DOTALL)]


def first_window(at):
    return re.search(r'<li id="window-([0-9a-f]+)"', html(at))[1]


def labelled(at):
    """Turn the labelling on."""
    at.toggle(key="sources_label").set_value(True).run()
    return sound(at)


# ---- the windows --------------------------------------------------------------------------------------------------


def test_a_window_stands_beside_the_sentences_with_the_same_words_lit_on_both_sides(app, lanterns, tides):
    at = sound(app.open(SOURCES, source=tides.id))
    first, second = rows(at)
    words = "Nobody counted the <b>lanterns</b> on the quay."
    assert marks(first) == [words, words]
    assert "The tide is the book’s only clerk." in first
    line, critic = first.index("<blockquote"), first.index("<details")
    assert line < critic, "the novel's line comes first, all of the critic's words on demand"
    assert "data-does" not in first, "nothing is labelled until that is asked for"
    assert SAYS["quoted text"] in first
    assert "The Lanterns" in plain(first)
    assert "Chapter I, paragraph 1" in plain(first)
    assert f'href="read?work={lanterns.id}&amp;at=1.1.2&amp;n=1"' in first
    assert "weak" not in plain(first)
    assert "likeness 81 of 100" in plain(second)
    assert "<b>" not in second, "what a critic wrote is shown, not obeyed"
    assert "<i>Towns" not in html(at)


def test_a_window_that_is_none_is_set_aside_stays_in_sight_and_can_be_taken_back(app, lanterns, tides, press_button):
    at = labelled(app.open(SOURCES, source=tides.id))
    key = first_window(at)
    press_button(at, "wrong", key)
    assert SAYS["set aside"] in plain(rows(at)[0])
    assert len(rows(at)) == 2, "the row stays where it was"
    assert app.bench.sources.quoted(lanterns.id).windows == 1
    assert app.bench.sources.windows(source_id=tides.id, show="set aside").total == 1

    press_button(at, "wrong", key)
    assert "Left out:" not in plain(rows(at)[0])
    assert app.bench.sources.quoted(lanterns.id).windows == 2


def test_a_window_that_a_rule_set_aside_can_be_put_back_and_left_to_the_rule_again(app, lanterns, tides, press_button):
    (first, _) = app.bench.store.windows.page(source_id=tides.id)[1]
    app.bench.store.windows.set_aside({first.window.id: "It is *quoted* too seldom."})
    at = labelled(app.open(SOURCES, source=tides.id, show="aside"))
    assert "Left out: It is *quoted* too seldom." in plain(rows(at)[0])
    press_button(at, "right", first.window.id)
    assert "Left out:" not in plain(rows(at)[0])
    assert app.bench.sources.quoted(lanterns.id).windows == 2
    press_button(at, "wrong", first.window.id)
    assert f"{SAYS['set aside']}." in plain(rows(at)[0])
    press_button(at, "wrong", first.window.id)
    assert "Left out: It is *quoted* too seldom." in plain(rows(at)[0])
    assert app.bench.sources.quoted(lanterns.id).windows == 1


def test_what_was_set_aside_is_listed_apart_with_the_reason(app, tides, press_button):
    at = labelled(app.open(SOURCES, source=tides.id))
    press_button(at, "wrong", first_window(at))
    assert len(rows(sound(app.open(SOURCES, source=tides.id)))) == 1
    at = labelled(app.open(SOURCES, source=tides.id, show="aside"))
    (row,) = rows(at)
    assert SAYS["judged"] in plain(row)
    assert "one quotation left out" in plain(html(at))
    press_button(at, "wrong", first_window(at))
    assert "Left out:" not in plain(rows(at)[0]), "also in a later visit"
    assert len(rows(sound(app.open(SOURCES, source=tides.id, show="all")))) == 2
    assert SAYS["none aside"] in said(sound(app.open(SOURCES, source=tides.id, show="aside")))


def test_the_kind_of_evidence_is_kept_changed_and_taken_back(app, tides, press_button):
    def answer():
        return app.bench.sources.windows(source_id=tides.id).views[0].evidence

    at = labelled(app.open(SOURCES, source=tides.id))
    key = first_window(at)
    for does, kept in (("claim-supporting", "claim-supporting"), ("other", "other"), ("other", "")):
        press_button(at, does, key)
        assert answer() == kept
        chosen = re.findall(r'data-does="([\w-]+)" [^>]*aria-pressed="true"', rows(at)[0])
        assert chosen == ([kept] if kept else [])
    assert "151, 31 and 18" in plain(html(at)), "the paper's own counts"


def test_quotations_are_listed_by_what_they_are_there_for(app, tides, press_button):
    at = labelled(app.open(SOURCES, source=tides.id))
    key = first_window(at)
    press_button(at, "other", key)
    for kind, count in (("other", 1), ("none", 1), ("claim-supporting", 0), ("", 2), ("<b>", 2)):
        assert len(rows(sound(app.open(SOURCES, source=tides.id, kind=kind)))) == count


def test_an_answer_that_cannot_be_kept_is_told_and_the_window_stands_as_it_was(app, tides, press_button, monkeypatch):
    at = labelled(app.open(SOURCES, source=tides.id))

    def refuse(*_given, **_named):
        raise BadRequest("The *disc* is full.")

    monkeypatch.setattr("relic_core.services.sources.Sources.judge", refuse)
    press_button(at, "wrong", first_window(at))
    assert said(at) == "The *disc* is full."
    assert "Left out:" not in plain(rows(at)[0])


def test_a_long_list_is_read_in_pages_of_twenty(app, lanterns):
    source = make_source("Long")
    windows = [make_window(lanterns, source, index % 5, left=(f"Line {index}.",)) for index in range(45)]
    windows = [replace(window, id=f"{index:012x}", at=(index, index + 1)) for index, window in enumerate(windows)]
    keep(app.bench, source, windows, works=[lanterns])
    at = sound(app.open(SOURCES, source=source.id))
    assert len(rows(at)) == 20
    assert "45 quotations: 1 to 20" in plain(html(at))
    at = sound(app.open(SOURCES, source=source.id, page="3"))
    assert [re.search(r"Line \d+", row)[0] for row in rows(at)] == [f"Line {index}" for index in range(40, 45)]
    assert "Page 3 of 3" in plain(html(at))
    assert SAYS["back to beginning"] in said(sound(app.open(SOURCES, source=source.id, page="9")))


def test_the_windows_on_a_work_and_on_one_sentence_name_their_sources(app, lanterns, tides):
    at = sound(app.open(SOURCES, work=lanterns.id))
    assert "Who quotes The Lanterns" in plain(html(at))
    assert "Quoted in 2 places by one source." in plain(html(at))
    assert all("Tides & <i>Towns</i>" in plain(row) for row in rows(at))
    at = sound(app.open(SOURCES, work=lanterns.id, at="1.1.2"))
    assert SAYS["who quotes"] in plain(html(at))
    assert len(rows(at)) == 1
    assert SAYS["quoted by none"] in said(sound(app.open(SOURCES, work=lanterns.id, at="1.1.1")))


def test_the_windows_of_a_source_on_one_of_its_works(app, lanterns, tides):
    (sample,) = [work for work in app.bench.works.summaries() if work.id != lanterns.id]
    sample = app.bench.works.load(sample.id)
    both = make_source("Both")
    keep(app.bench, both, [make_window(lanterns, both, 0), make_window(sample, both, 0)], works=[lanterns, sample])
    assert len(rows(sound(app.open(SOURCES, source=both.id)))) == 2
    at = sound(app.open(SOURCES, source=both.id, work=lanterns.id))
    assert len(rows(at)) == 1
    assert "Only one work is shown" in plain(html(at))


def test_two_works_of_one_title_have_each_its_own_link(app, lanterns):
    other = app.bench.works.add(LANTERNS.replace("gone", "left").encode(), name="b.txt", title="The Lanterns").work
    other = app.bench.works.load(other.id)
    source = make_source("Both")
    windows = [make_window(lanterns, source, 0), make_window(lanterns, source, 1), make_window(other, source, 2)]
    keep(app.bench, source, windows, works=[lanterns, other])
    page = html(sound(app.open(SOURCES, source=source.id)))
    assert f'href="sources?source={source.id}&amp;work={lanterns.id}"' in page
    assert f'href="sources?source={source.id}&amp;work={other.id}"' in page
    page = plain(html(sound(app.open(SOURCES))))
    assert "2 quotations, one source" in page
    assert "one quotation, one source" in page
    assert SAYS["two works"] in plain(html(sound(app.open(LIBRARY))))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"source": "nothing-00000000"}, "nothing-00000000"),
        ({"work": "nothing-00000000"}, SAYS["work unknown"]),
        ({"work": "here", "at": "99.1.1"}, "99"),
        ({"work": "here", "at": "<b>"}, "is not a place in a work"),
    ],
)
def test_an_address_that_leads_nowhere_says_what_is_the_matter(app, lanterns, asked, told):
    asked = {name: lanterns.id if value == "here" else value for name, value in asked.items()}
    at = sound(app.open(SOURCES, **asked))
    assert told in said(at)
    assert 'href="sources"' in html(at)


def test_without_an_address_the_quoted_works_are_offered(app, lanterns, tides):
    at = sound(app.open(SOURCES))
    assert at.title[0].value == "Criticism"
    assert f'href="sources?work={lanterns.id}"' in html(at)
    assert "2 quotations, one source" in plain(html(at))


def test_only_sources_that_quote_a_work_of_the_library_are_counted(app, lanterns, tides):
    keep(app.bench, make_source("Silence"))
    keep(app.bench, make_source("Un livre"), problem="It is in French; only English texts are read.")
    assert SAYS["quoted by one"] in plain(html(sound(app.open(SOURCES))))
    assert "2 sources: 2 quotations" in plain(html(sound(app.open(LIBRARY))))


def test_the_counts_over_a_list_follow_what_is_judged(app, lanterns, tides, press_button):
    at = labelled(app.open(SOURCES, work=lanterns.id))
    assert "Quoted in 2 places by one source." in plain(html(at))
    at = press_button(at, "wrong", first_window(at))
    assert "Quoted in one place by one source." in plain(html(at))


def test_a_newcomer_sees_who_quotes_a_work_by_whom_and_where(app, lanterns, monkeypatch, tmp_path):
    book = CriticsBook(title="Quays & <i>Tides</i>", author="A. Critic", year=1911, number=7, sha256="a" * 64)
    place = (0, lanterns.sentences[1].start, lanterns.sentences[1].end, "0" * 12)
    works = (QuotedPlaces(title=lanterns.title, sha256=lanterns.sha256, places=(place,)),)
    path = tmp_path / "places.json"
    path.write_text(
        Layer(about={}, digest=digest_of([book], works), books=(book,), works=works).model_dump_json(), "utf-8"
    )
    monkeypatch.setattr("relic_core.services.sources.FILE", path)
    assert f"sources?work={lanterns.id}" in html(sound(app.open(SOURCES)))
    for asked in ({}, {"at": "1.1.2"}):
        shown = html(sound(app.open(SOURCES, work=lanterns.id, **asked)))
        assert "Quays & <i>Tides</i> A. Critic, 1911" in plain(shown)
        assert "<i>Tides" not in shown
    assert "A. Critic (1911)" in plain(html(sound(app.open("pages/work.py", work=lanterns.id))))
    assert not said(sound(app.open(SOURCES, work=lanterns.id)))
    assert "known" not in html(sound(app.open(SOURCES, work=lanterns.id, at="1.1.1")))


def test_without_sources_the_page_says_how_to_add_them(app):
    at = sound(app.open(SOURCES))
    assert SAYS["no sources"] in said(at)
    assert 'href="library?part=Criticism"' in html(at)


# ---- what critics say about a claim -------------------------------------------------------------------------------


@pytest.fixture
def debts(app, lanterns):
    """A source with 22 windows, of which the last speaks of debts; and a source on another work that does, too."""
    source = make_source("Debts & <i>Dues</i>")
    windows = [make_window(lanterns, source, index % 5, left=(f"Line {index}.",), right=()) for index in range(21)]
    windows.append(make_window(lanterns, source, 3, left=("The <b>debts</b> of the ferryman are ours.",), right=()))
    windows = [replace(each, id=f"{at:012x}", at=(at, at + 1), passage=(at, at + 1)) for at, each in enumerate(windows)]
    keep(app.bench, source, windows, works=[lanterns])
    (sample,) = [work for work in app.bench.works.summaries() if work.id != lanterns.id]
    sample = app.bench.works.load(sample.id)
    other = make_source("Quays")
    keep(app.bench, other, [make_window(sample, other, 3, left=("A quay in debts.",), right=())], works=[sample])
    return source


def test_a_claim_brings_up_what_critics_say_and_leads_to_both_texts(app, lanterns, debts):
    at = sound(app.open(SOURCES, about="the ferryman's debts"))
    first, second = rows(at)
    assert marks(first) == ["debts", "ferryman"]
    assert "<b>" not in first, "what a critic wrote is shown, not obeyed"
    assert "<i>Dues" not in html(at)
    assert "The Lanterns" in plain(first)
    assert f'href="read?work={lanterns.id}&amp;at=2.1.1&amp;n=1"' in first
    assert f'href="sources?source={debts.id}&amp;page=2"' in first
    assert 'data-then="#window-000000000015"' in first
    assert "Quays" in plain(second)
    assert at.text_input(key="critics_claim").value == "the ferryman's debts"
    (only,) = rows(sound(app.open(SOURCES, about="debts", work=lanterns.id)))
    assert only == first.replace("<mark>ferryman</mark>", "ferryman")
    assert not rows(sound(app.open(SOURCES, about="harpsichords")))
    assert len(rows(sound(app.open(SOURCES, about="debts", work="gone-00000000")))) == 2, "of a work that nobody quotes"


def test_what_is_typed_stands_in_the_address(app, lanterns, debts):
    at = sound(app.open(SOURCES))
    assert not rows(at)
    at.text_input(key="critics_claim").set_value("debts")
    at.selectbox(key="critics_work").set_value(lanterns.id)
    sound(at.button(key="critics_search").click().run())
    assert len(rows(at)) == 1
    assert at.query_params == {"about": "debts", "work": lanterns.id}
    at.text_input(key="critics_claim").set_value(" ")
    sound(at.button(key="critics_search").click().run())
    assert at.query_params == {}
    assert f'href="sources?work={lanterns.id}"' in html(at), "the works that are quoted"


def test_a_passage_that_a_critic_quotes_is_kept_for_the_claim(app, lanterns, debts, press_button):
    at = sound(app.open(SOURCES, about="debts of a ferryman", work=lanterns.id))
    at = press_button(at, "keep", f"{lanterns.id}/2.1.1/1")
    (note,) = app.bench.notebook.notes()
    kept = note.note.kept
    assert (kept.claim_text, kept.origin, kept.at) == ("debts of a ferryman", "sources", "2.1.1")
    assert 'aria-pressed="true"' in rows(at)[0]


# ---- in the library -----------------------------------------------------------------------------------------------


def listed(at):
    return re.findall(r'<li id="source-.*?</li>', html(at), re.DOTALL)


def test_the_library_lists_sources_with_what_was_found_in_them(app, lanterns, tides):
    keep(app.bench, make_source("Un livre"), problem="It is in French; only English texts are read.")
    at = sound(app.open(LIBRARY))
    (row,) = listed(at)
    assert "2 quotations of The Lanterns; 2 quotations in all" in plain(row)
    assert f'href="sources?source={tides.id}"' in row
    assert "<i>Towns" not in row
    assert "It is in French" in plain(html(at))


def test_of_many_sources_twelve_are_shown_and_any_is_found_by_its_words(app, lanterns):
    for number in range(30):
        source = make_source(f"Volume {number}", author=f"Author {number}")
        keep(app.bench, source, [make_window(lanterns, source, 0)] if number == 29 else [], works=[lanterns])
    at = sound(app.open(LIBRARY))
    assert len(listed(at)) == 12
    assert "Volume 29" in plain(listed(at)[0]), "those that quote most come first"
    sound(at.button(key="sources_show_more").click().run())
    assert len(listed(at)) == 30
    at.text_input(key="sources_filter").set_value("author 17")
    assert [plain(re.search(r"<h3.*?</h3>", row)[0]) for row in listed(sound(at.run()))] == ["Volume 17"]
    at.text_input(key="sources_filter").set_value("lanterns")
    assert len(listed(sound(at.run()))) == 1  # by a work that it quotes


def test_a_source_is_removed_and_put_back(app, lanterns, tides, press_button):
    at = sound(app.open(LIBRARY))
    press_button(at, "remove-source", tides.id)
    assert listed(at) == []
    assert SAYS["source removed"] in plain(html(at))
    assert app.bench.sources.quoted(lanterns.id).windows == 0
    sound(at.button(key="sources_undo").click().run())
    assert len(listed(at)) == 1
    press_button(at, "remove-source", tides.id)
    at = sound(app.open(LIBRARY))
    sound(at.button(key=f"restore-source-{tides.id}").click().run())
    assert app.bench.sources.quoted(lanterns.id).windows == 2


def test_a_folder_that_is_not_there_is_told(app, tmp_path):
    app.run_jobs()
    at = sound(app.open(LIBRARY))
    at.text_input(key="sources_path").set_value(str(tmp_path / "nowhere"))
    (button,) = [button for button in at.button if button.label == "Find quotations"]
    sound(button.click().run())
    assert "nowhere" in said(at)


def test_files_are_read_and_what_came_of_them_is_told(app, lanterns):
    app.run_jobs()
    criticism = (
        "TIDES\n\nCHAPTER I\n\nThe town keeps bad books. Of the night of the flood it is said that “in the morning "
        "there was one lantern fewer,” and that is all. Another clerk would have gone to look for it. The ferryman is "
        "the only one who speaks of it at all.\n"
    )
    at = sound(app.open(LIBRARY))
    (uploader,) = [each for each in at.file_uploader if each.key.startswith("sources_files")]
    uploader.set_value([("tides.txt", criticism.encode(), "text/plain")])
    sound(at.run())
    sound(at.button(key="sources_add").click().run())
    assert [summary.source.name for summary in app.bench.sources.all()] == ["tides.txt"]
    assert not at.error
    assert as_read(at.success[0].value)


def upload(at, **files):
    (uploader,) = [each for each in at.file_uploader if each.key.startswith("sources_files")]
    uploader.set_value([(f"{name}.txt", data, "text/plain") for name, data in files.items()])
    sound(at.run())
    return sound(at.button(key="sources_add").click().run())


def test_files_that_could_not_be_read_are_warned_of_one_a_line(app, lanterns):
    app.run_jobs()
    tides = b"The town keeps bad books. Another clerk would have gone to look for it, and nobody would have minded.\n"
    at = upload(sound(app.open(LIBRARY)), tides=tides, torn=b"\x00\x01\x02" * 99, wet=b"\x00\x01\x03" * 98)
    (warning,) = at.warning
    assert [as_read(line)[:9].rstrip() for line in warning.value.splitlines() if line.startswith("- ")] == [
        "- torn.tx",
        "- wet.txt",
    ]
    assert not at.success


def test_mining_that_was_stopped_says_what_is_kept_and_can_go_on(app, lanterns):
    at = upload(sound(app.open(LIBRARY)), tides=b"The town keeps bad books. Nobody minds.\n")
    (job,) = app.bench.jobs.recent()
    app.bench.jobs.cancel(job.id)
    app.held.let_go()
    app.run_jobs()
    sound(at.run())
    assert SAYS["mined kept"] in said(at)
    sound(at.button(key="sources_go_on").click().run())
    assert [summary.source.name for summary in app.bench.sources.all()] == ["tides.txt"]


def test_how_mining_goes_is_shown_before_what_takes_time_whoever_began_it(app, tmp_path, monkeypatch):
    (tmp_path / "tides.txt").write_text("The town keeps bad books.")
    job = app.bench.mining.start([tmp_path])

    def held(_service):
        raise StoreBusy("Another program holds the store. Wait until it has finished.")

    monkeypatch.setattr(Catalogue, "shelf", held)
    monkeypatch.setattr(Sources, "all", held)
    at = sound(app.open(LIBRARY, part="Criticism"))
    assert [bar.split(":")[0] for bar in bars(at)] == [job.title]
    assert [tab.label for tab in at.tabs if tab.get("file_uploader")] == ["Criticism", "From this computer"]


def test_a_store_that_is_busy_is_told(app, tides, monkeypatch):
    def held(sources):
        raise StoreBusy("Another program holds the store. Wait until it has finished.")

    monkeypatch.setattr(Sources, "all", held)
    assert "Another program holds the store." in said(sound(app.open(SOURCES)))


def test_the_quotations_are_counted_when_that_is_asked_for(app, tides):
    at = sound(app.open(SOURCES))
    assert "Your quotations, beside RELiC" not in plain(html(at))
    sound(at.toggle(key="sources_numbers").set_value(True).run())
    shown = plain(html(at))
    assert "Your quotations, beside RELiC" in shown
    assert SAYS["RELiC windows"] in shown
    assert "The Lanterns" in shown
