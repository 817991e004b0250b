"""Help: how does this work?"""

from __future__ import annotations

import re

import pytest

from relic_ui import manual, shell
from tests.app.reading import html, plain, said, sound

HELP = "pages/help.py"


def anchors(name):
    return set(re.findall(r'<h\d id="([^"]+)"', manual._html(name)))


@pytest.mark.parametrize("name", manual.names())
def test_every_link_between_pages_of_help_leads_to_a_place_that_is_there(name):
    page = manual._html(name)
    to = re.findall(r'href="help\?page=([\w-]+)"(?: data-then="\[id=\'([^\']+)\'\]")?', page)
    assert [(other, place) for other, place in to if place and place not in anchors(other)] == []
    assert {other for other, _ in to} <= set(manual.names())
    assert [place for place in re.findall(r'href="#([^"]*)"', page) if place not in anchors(name)] == []
    assert not re.search(r'href="(?!help\?|#|http)', page)


def test_how_a_page_works_is_said_at_a_place_of_help_that_is_there():
    for to in shell._EXPLAINED.values():
        name, _, place = to.partition("#")
        assert name in manual.names()
        assert not place or place in anchors(name), to


def test_help_opens_with_the_guide_its_pictures_and_a_list_of_all(app):
    at = sound(app.open(HELP))
    assert manual.title_of("guide") in plain(html(at))
    assert 'src="data:image/png;base64,' in html(at)
    assert all(f'href="help?page={name}"' in html(at) for name in manual.names())


def test_a_search_lists_headings_first_and_a_place_found_opens(app):
    at = sound(sound(app.open(HELP, page="citing")).text_input[0].set_value("known limits").run())
    assert "page" not in at.query_params
    headed = [place for place in manual.search("training") if "training" in place[1].casefold() == place[2].casefold()]
    assert manual.search("training")[: len(headed)] == headed
    at.query_params["page"] = "echoes"
    at = sound(at.run())
    assert manual.title_of("echoes") in plain(html(at))
    assert at.text_input[0].value == ""


def test_what_help_does_not_have_is_told(app):
    at = sound(app.open(HELP, page="*nothing*"))
    assert "*nothing*" in said(at)
    at = sound(at.text_input[0].set_value("<b>zyzzyva</b>").run())
    assert "<b>zyzzyva</b>" in plain(html(at))
    assert "<b>zyzzyva" not in html(at)


def test_every_other_page_leads_to_how_it_works_once(app):
    at = sound(app.open())
    assert html(at).count("How this works") == 1
