"""The line above an answer."""

from types import SimpleNamespace

from relic_ui.find.notices import found_in_a_line


def line(chapters, *, speakers=(), quoted=0):
    """Return the line for an answer of a work with a passage in each of some chapters."""
    cards = [
        SimpleNamespace(place=SimpleNamespace(chapter=name), speakers=speakers, work=SimpleNamespace(id="w"), line=at)
        for at, name in enumerate(chapters)
    ]
    result = SimpleNamespace(
        best=[SimpleNamespace(card=card) for card in cards],
        request=SimpleNamespace(results=5, conditions=()),
        work=SimpleNamespace(),
        scenes=(),
    )
    counts = SimpleNamespace(by=lambda at: (int(at < quoted), 0))
    return found_in_a_line(result, lambda _: counts)


def test_it_says_what_stands_out():
    assert line(["I", "I", "II", "III", "IV"]) == "most often from I"
    assert line("ABCDE", speakers=("Tamsin",), quoted=2) == "5 spoken by Tamsin; 2 quoted by critics"


def test_where_nothing_stands_out_it_says_nothing():
    assert line("ABCDE") == ""
    assert line("AA") == ""
