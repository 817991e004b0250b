"""All 73 novels, read once: each is known to the shelf, and none is told to be anything but a novel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relic_core.library.previews import set_aside
from relic_core.wiring import build


@pytest.mark.corpus
def test_every_file_of_the_corpus_is_known_by_its_title_and_by_its_name(shared, settings, uncut_novels):
    folder = shared / "corpus" / "primary"
    shelf = build(replace(settings, library=folder)).catalogue
    assert len(uncut_novels) == 73
    by_title, by_name, anonymous = {}, {}, set()
    for stem, read in uncut_novels.items():
        work = replace(read, source="elsewhere")
        if work.author:
            by_title[stem] = getattr(shelf.entry_of(work), "slug", None)
        else:
            anonymous.add(stem)
            assert shelf.entry_of(work) is None
        path = folder / f"{stem}.txt"
        stranger = replace(work, title="Something Else", author="Somebody Else", source=str(path))
        by_name[stem] = getattr(shelf.entry_of(stranger), "slug", None)
    own = {stem: stem for stem in uncut_novels}
    assert by_title == {slug: slug for slug in own if slug not in anonymous}
    assert len(anonymous) < 20
    assert by_name == own


@pytest.mark.corpus
def test_none_of_the_novels_of_the_corpus_gives_a_notice(uncut_novels):
    notices = {name: set_aside(work) for name, work in uncut_novels.items()}  # it depends on no sentence
    assert len(notices) > 70
    assert {name: notice for name, notice in notices.items() if notice} == {}
