"""Help: how does this work?"""

from __future__ import annotations

import re

import pytest

from relic_ui import manual
from tests.app.conftest import APP
from tests.app.reading import html, plain, said, sound

HELP = "pages/help.py"
PAGES = APP.parent / "pages"


def anchors(name):
    return set(re.findall(r'<h\d id="([^"]+)"', manual.html(name)))


@pytest.mark.parametrize("name", manual.names())
def test_every_link_between_pages_of_help_leads_to_a_place_that_is_there(name):
    page = manual.html(name)
    to = re.findall(r'href="help\?page=([\w-]+)"(?: data-then="\[id=\'([^\']+)\'\]")?', page)
    assert [(other, place) for other, place in to if place and place not in anchors(other)] == []
    assert {other for other, _ in to} <= set(manual.names())
    assert [place for place in re.findall(r'href="#([^"]*)"', page) if place not in anchors(name)] == []
    assert not re.search(r'href="(?!help\?|#|http)', page)


@pytest.mark.parametrize("page", [path.stem for path in PAGES.glob("*.py") if path.stem != "help"])
def test_every_page_leads_once_to_a_place_of_the_guide_that_is_there(app, page):
    (to,) = re.findall(r'data-then="\[id=(?:\'|&#x27;)([\w-]+)[^>]*>How this works', html(app.open(f"pages/{page}.py")))
    assert to in anchors("guide")


def test_help_opens_with_the_guide_its_pictures_and_a_list_of_all(app):
    at = sound(app.open(HELP))
    assert manual.title_of("guide") in plain(html(at))
    assert 'src="data:image/png;base64,' in html(at)
    assert all(f'href="help?page={name}"' in html(at) for name in manual.names())


def test_a_search_lists_headings_first_and_a_place_found_opens(app):
    at = sound(sound(app.open(HELP, page="citing")).text_input[0].set_value("known limits").run())
    assert "page" not in at.query_params
    assert at.query_params["words"] == "known limits", "the browser's Back finds what was sought"
    found = manual.search("training")
    headed = ["training" in section.split("\n")[0].casefold() for _, section in found]
    assert len(set(headed)) == 2
    assert headed == sorted(headed, reverse=True)
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
