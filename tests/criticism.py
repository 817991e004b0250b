"""A small novel and a book of criticism on it, written for tests: what is quoted where is known."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.domain import WorkSummary
    from relic_core.wiring import App

NOVEL = """\
THE LANTERN COUNT

by Ada Quillfeather


CHAPTER I

The ferryman Orlick Bramwater never counted his passengers, for he held
that a head is the least honest part of a traveller. He counted their
lanterns instead, and wrote the sum upon the gunwale with a burnt stick.

“Three lanterns and a covered cage,” he said one evening in October;
nobody answered, since the cage had begun to sing in a low voice.

CHAPTER II

The river had no opinion of the parish council, and rose all the same
until the reeds stood up to their chins in brown water. Widow Tansley
moved her geraniums to the upper sill and forgave it everything.

In the morning the burnt sums had washed from every boat but one, and
that one nobody would own. Bramwater looked at it as a man looks at a
letter addressed in his own hand.
"""

ESSAYS = """\
The Project Gutenberg EBook of Essays on River Novels, by Basil Thorne

Title: Essays on River Novels

Author: Basil Thorne


ON THE LANTERN COUNT

Miss Quillfeather begins her novel The Lantern Count with a principle and
not with a person. We are told that Bramwater “never counted his
passengers, for he held that a head is the least honest part of a
traveller.” The comedy of the sentence lies in its gravity, and the
gravity is the ferryman's own. Nothing that follows takes it back.

The flood is Quillfeather's finest invention. She says of it that “the
river had no opinion of the parish council, and rose all the same until
the reeds stood up to their chins in brown water.” The indifference of
the water is a judgement on the parish. It is also the only judgement
that the book allows itself to pass.

The close of The Lantern Count is famous. Quillfeather shows us Bramwater
before the boat, and he “looked at it as a man looks at a letter
addressed in his own hand.” Here the reader understands who has been
counting. The novel ends where a lesser one would have begun.
"""

SECOND = """\
OF WIDOWS IN FICTION

The widow of The Lantern Count is drawn in a line. Quillfeather writes
that she “moved her geraniums to the upper sill and forgave it
everything,” and we need no more of Widow Tansley than that. A whole
parish stands behind those geraniums. No other widow of the decade is
forgiving in so few words, and none has so good a window.
"""

FRENCH = (
    """\
DU ROMAN FLUVIAL

Le passeur ne comptait jamais ses voyageurs, parce que les visages lui
semblaient trompeurs. Il comptait leurs lanternes, et il écrivait
le nombre avec un bâton brûlé. « La rivière n'avait aucune opinion du
conseil de la paroisse », dit l'auteur, et nous le croyons volontiers.
Cette indifférence est toute la morale du livre, qui n'en a pas d'autre.
"""
    * 3
)


def add_novel(bench: App, text: str = NOVEL, *, title: str = "The Lantern Count") -> WorkSummary:
    """Add the novel to a library."""
    return bench.works.add(text.encode(), name="novel.txt", title=title, author="Ada Quillfeather").work


def write_books(folder: Path, **texts: str) -> Path:
    """Write texts into a folder, each under its name; the essays where none is given."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (texts or {"essays": ESSAYS}).items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def write_zip(path: Path, entries: dict[str, str | bytes]) -> Path:
    """Write an archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path
