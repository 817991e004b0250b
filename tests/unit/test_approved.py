"""The approved sentences: every one is used, and none is there twice."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

import pytest

from tests.approved import COMMON, FOLDER, Sentences, says

PAGES = sorted(path.stem for path in FOLDER.glob("*.json"))


@cache
def used():
    """Return the keys that the files of tests ask each page for, and common sentences of any."""
    keys = defaultdict(set)
    for path in FOLDER.parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name, page in re.findall(r'(\w+) = says\("(\w+)"\)', text):
            found = {key for _, key in re.findall(rf"""\b{name}\[(["'])(.+?)\1\]""", text)}
            keys[page] |= found
            keys[COMMON] |= found
    return keys


@pytest.mark.parametrize("page", PAGES)
def test_every_sentence_is_used(page):
    assert set(Sentences(page)) - used()[page] == set()


def test_a_sentence_stands_once():
    common = Sentences(COMMON)
    for page in set(PAGES) - {COMMON}:
        own = Sentences(page)
        assert not own.keys() & common.keys(), page
        sentences = [*own.values(), *common.values()]
        assert len(sentences) == len(set(sentences)), page


def test_what_is_not_there_names_the_file():
    with pytest.raises(LookupError, match=rf"{PAGES[0]}\.json.*'no such thing'"):
        says(PAGES[0])["no such thing"]
