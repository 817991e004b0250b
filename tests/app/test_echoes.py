"""Echoes: where does this work quote, allude to or sound like others?"""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

from relic_core.errors import BadRequest
from relic_ui.echoes import echoes
from tests.app.reading import html, plain, said, sound
from tests.unit.echoes.test_echoes_service import NOVEL, SCRIPTURE

ECHOES = "pages/echoes.py"


@pytest.fixture
def works(app):
    """A novel and a scripture, by title."""
    added = [app.bench.works.add(text.encode(), name="a.txt", title=name).work for name, text in
             (("ferry", NOVEL), ("<i>jonah</i>", SCRIPTURE))]  # fmt: skip
    return [work.id for work in added]


def test_one_work_alone_cannot_be_compared(app):
    assert said(sound(app.open(ECHOES)))


def test_works_are_compared_in_a_job_and_the_address_opens_them_again(app, works):
    app.run_jobs()
    at = sound(app.open(ECHOES))
    at.selectbox(key="echoes_work").set_value(works[0]).run()
    at.multiselect(key="echoes_others").set_value(works[1:]).run()
    at.selectbox(key="echoes_method").set_value("tesserae").run()
    at = sound(at.button(key="echoes_button").click().run())
    pair = re.search(r'<article class="relic-echo" id="echo-1".*?</article>', html(at), re.DOTALL)[0]
    assert [plain(each) for each in re.findall(r"<mark>(.*?)</mark>", pair)][:2] == ["great", "fish"]
    assert f"read?work={works[1]}&amp;at=1.2.1" in pair
    assert all(f"cite?work={work}&amp;at=1." in pair for work in works)
    assert "<i>" not in pair
    drawn = json.loads(at.get("plotly_chart")[0].proto.spec)
    for words in (drawn["data"][0]["text"][0], drawn["layout"]["yaxis"]["title"]["text"]):
        assert "&lt;i&gt;jonah" in words
    address = {name: "".join(value) for name, value in at.query_params.items()}
    again = sound(app.open(ECHOES, **address))
    assert pair in html(again)
    assert again.selectbox(key="echoes_method").value == "tesserae"


def test_a_job_that_is_under_way_shows_its_progress_and_can_be_stopped(app, works):
    at = sound(app.open(ECHOES, work=works[0], **{"with": works[1], "method": "bow"}))
    assert "relic-echo" not in html(at)
    at = sound(at.button(key="echoes_button").click().run())
    assert at.get("progress")
    assert any(each.key.startswith("stop-") for each in at.button)
    app.held.let_go()


def test_an_error_in_what_is_shown_while_works_are_compared_is_told_when_that_is_drawn_again(monkeypatch):
    def fail(*_):
        raise BadRequest("No works of that name.")

    bench = SimpleNamespace(echoes=SimpleNamespace(found=fail))
    told = []
    monkeypatch.setattr("relic_ui.shell.st.error", lambda said, **_: told.append(said))
    echoes._show_first.__wrapped__(bench, None)
    assert len(told) == 1


def test_what_cannot_be_compared_is_said(app, works):
    at = sound(app.open(ECHOES, work=works[0], **{"with": works[1], "chapter": "77", "method": "tf-idf"}))
    assert "77" in at.error[0].value
    at = sound(app.open(ECHOES, work="gone-00000000", **{"with": works[1]}))
    assert at.warning


def test_a_filter_of_words_is_offered_where_words_are_counted(app, works):
    at = sound(app.open(ECHOES, work=works[0], **{"with": works[1], "method": "tf-idf", "most": "0.1"}))
    assert not at.selectbox(key="echoes_most").disabled
    at = sound(at.selectbox(key="echoes_method").set_value("embeddings").run())
    assert at.selectbox(key="echoes_most").disabled
    at.button(key="echoes_button").click().run()
    assert "most" not in at.query_params
