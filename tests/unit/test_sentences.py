"""Sentences are cut as RELiC's lists are cut; the hard pages show it, the rest are the edges of the rules."""

from __future__ import annotations

import difflib
import time
from pathlib import Path

import pytest

from relic_core.errors import BadRequest, TextTooLarge
from relic_core.text.reading import segmenter
from relic_core.text.sentences import default_segmenter

PAGES = sorted((Path(__file__).parent.parent / "golden" / "sentences").glob("*.txt"))


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in default_segmenter().segment(text, 0, len(text))]


def test_there_are_hard_pages():
    assert len(PAGES) >= 5


@pytest.mark.parametrize("joint", [" ", "\n", "  "], ids=["space", "line end", "two spaces"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_hard_page(page, joint):
    for paragraph in page.read_text("utf-8").strip().split("\n\n"):
        expected = paragraph.split("\n")
        found = cut(joint.join(expected))
        difference = "\n".join(difflib.unified_diff(expected, found, f"{page.name}", "found", lineterm="", n=1))
        assert not difference, f"\n{difference}"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("* * *", ["* * *"]),
        ("“—”", ["“—”"]),
        ("no mark at all", ["no mark at all"]),
        ("... and so on", ["... and so on"]),
        ("He thought...Then he spoke.", ["He thought...", "Then he spoke."]),
        ("He asked “…old friend?” and left.", ["He asked “…old friend?” and left."]),
        ("At last! … “Go on.”", ["At last! …", "“Go on.”"]),
        ("He said:--wait; go.", ["He said:--wait;", "go."]),
        ("The rose\nIs red;\nThe sea\nIs wide.", ["The rose\nIs red;", "The sea\nIs wide."]),
        ("Am 3. Mai kam er. Es war Mai.", ["Am 3. Mai kam er.", "Es war Mai."]),
        ("Am 3. Februar kam er.", ["Am 3. Februar kam er."]),
        ("He died in 1848. January came with snow.", ["He died in 1848.", "January came with snow."]),
        ("They had 12. January came with snow.", ["They had 12.", "January came with snow."]),
        ("It was 1918. Mai went home.", ["It was 1918.", "Mai went home."]),
        ("He had 3. May came.", ["He had 3.", "May came."]),
        ("雨が降った。「行くな！」と彼は言った。", ["雨が降った。", "「行くな！」", "と彼は言った。"]),
        ("他走了？他留下；好。", ["他走了？", "他留下；", "好。"]),
        ("Она ушла. Он остался!", ["Она ушла.", "Он остался!"]),
        ("He sang “Oh!” and they all rose.", ["He sang “Oh!”", "and they all rose."]),
        ("He sang “Oh!” and sat.", ["He sang “Oh!” and sat."]),
        ("“Wait!”, he said. “Why?”, she asked.", ["“Wait!”, he said.", "“Why?”, she asked."]),
        ('"Wait!", Anna said. "Why?"', ['"Wait!", Anna said.', '"Why?"']),
        ("“Wait!,” he said. ‘Why?,’ they ask.", ["“Wait!,” he said.", "‘Why?,’ they ask."]),
        ("“Wait!” – he said. “Why?” -- she asked.", ["“Wait!” – he said.", "“Why?” -- she asked."]),
        ("“Wait!” he said. “Why?”", ["“Wait!”", "he said.", "“Why?”"]),
        ("“Rain, then.” --Hamlet", ["“Rain, then.”", "--Hamlet"]),
        ("The wind was S.E. I went out.", ["The wind was S.E.", "I went out."]),
        ("It bore the letter A. “But why?”", ["It bore the letter A.", "“But why?”"]),
        ("It bore an M. She wept. Mr. M. A. Bell sat.", ["It bore an M.", "She wept.", "Mr. M. A. Bell sat."]),
        ("With Mr. C., I should go; J. Bell stays.", ["With Mr. C., I should go;", "J. Bell stays."]),
        ("Yours, A. P.S. He is well.", ["Yours, A. P.S. He is well."]),
        ("HERE LIES GEO. BELL, COOK.", ["HERE LIES GEO. BELL, COOK."]),
        (
            "R. Bell, Esq., of Hull; R. Bell, Esq. £20. He paid.",
            ["R. Bell, Esq., of Hull;", "R. Bell, Esq. £20.", "He paid."],
        ),
        (
            "»Wann?«, fragte er. »Bald!« rief Anna. »Komm!« Er ging.",
            [
                "»Wann?«, fragte er.",
                "»Bald!« rief Anna.",
                "»Komm!«",
                "Er ging.",
            ],
        ),
        ("„Wann?“ fragte Anna.", ["„Wann?“ fragte Anna."]),
        ("« Quand ? » demanda-t-il. « Demain. »", ["« Quand ? » demanda-t-il.", "« Demain. »"]),
        ("It was 6 P.M. Mr. Bell ate.", ["It was 6 P.M.", "Mr. Bell ate."]),
    ],
)
def test_edges(text, sentences):
    assert cut(text) == sentences


def test_only_the_paragraph_is_cut():
    text = "Before. Here it is. It ends. After."
    assert [text[a:b] for a, b in default_segmenter().segment(text, 8, 28)] == ["Here it is.", "It ends."]


@pytest.mark.parametrize(
    "text",
    ["The word of the day. " * 240_000, "word " * 1_000_000, ". " * 2_500_000, "-" * 5_000_000, "?\u201d " * 1_600_000],
    ids=["sentences", "no marks", "stops alone", "dashes", "closing marks"],
)
def test_five_megabytes_in_one_line(text):
    begun = time.perf_counter()
    assert default_segmenter().segment(text, 0, len(text))
    assert time.perf_counter() - begun < 20  # under half a second on an idle core; quadratic time would be hours


def test_the_rules_are_the_default():
    assert segmenter("rules").identity == default_segmenter().identity == "relic-rules/1"


def test_an_unknown_segmenter_is_refused():
    with pytest.raises(BadRequest, match=r"no segmenter called 'parse'.*parser"):
        segmenter("parse")


def test_a_missing_parser_says_how_to_get_it(monkeypatch):
    def missing(*_, **__):
        raise OSError("[E050] Can't find model")

    monkeypatch.setattr("spacy.load", missing)
    with pytest.raises(BadRequest, match="python -m spacy download en_core_web_sm"):
        segmenter("parser")


@pytest.fixture
def parser(monkeypatch):
    """Return the parser's segmenter over a pipeline that cuts after full stops as the real one might."""
    import spacy

    def load(*_, **__):
        pipeline = spacy.blank("en")
        pipeline.add_pipe("sentencizer", config={"punct_chars": ["."]})
        return pipeline

    monkeypatch.setattr("spacy.load", load)
    return segmenter("parser")


def test_the_parser_cuts_at_the_extra_marks_and_keeps_quotation_marks_with_their_sentence(parser):
    text = "Left out. “I go; you stay.” “Do I … no.” He said: “Yes”"
    cut_by_parser = [text[a:b] for a, b in parser.segment(text, 10, len(text))]
    assert cut_by_parser == ["“I go;", "you stay.”", "“Do I …", "no.”", "He said:", "“Yes”"]


def test_the_parsers_identity_names_its_model(parser):
    assert parser.identity.startswith("relic-parser/1 en_core_web_sm/")


def test_a_paragraph_too_long_for_the_parser_is_refused(parser):
    text = "a" * 1_000_001
    with pytest.raises(TextTooLarge, match=r"1,000,001 characters.*'rules'"):
        parser.segment(text, 0, len(text))
