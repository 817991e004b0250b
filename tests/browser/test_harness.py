"""The harness itself: it must see what it is there to see."""

from __future__ import annotations


def test_axe_sees_a_breach_and_passes_a_sound_page(page, axe):
    """Of two pages the one without a fault passes, and the fault of the other is named."""
    page.set_content("<html lang='en'><title>Sound</title><main><h1>Heading</h1><p>Text</p></main></html>")
    assert axe(page) == []

    page.set_content("<html lang='en'><title>Bad</title><main><h1>Heading</h1><input type='text'></main></html>")
    assert [finding.split(":")[0] for finding in axe(page)] == ["label"]
