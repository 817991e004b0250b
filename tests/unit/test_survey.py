"""The survey of a folder names what a person should look at, and nothing of files that are read as they should be."""

from __future__ import annotations

from dataclasses import replace

from relic_core.domain import Paragraph
from relic_core.text.reading import read_work
from tools.survey import headings_in, main

PROSE = "The ferry did not run, and nobody on the far bank rang the bell for it that night. " * 40


def book(title, author="Ada Marlow"):
    chapters = "".join(f"CHAPTER {number}\n\n{PROSE}\n\n" for number in ("I", "II", "III"))
    return f"{title.upper()}\n\nby {author}\n\n{chapters}"


def test_what_is_unusual_is_named_and_what_cannot_be_read_too(tmp_path, capsys):
    for name in ("Lanterns", "Weir", "Mill"):
        (tmp_path / f"{name}.txt").write_text(book(name))
    (tmp_path / "odd.txt").write_text(book("Odd") + "\ufffd" * 9 + " and the end.")
    (tmp_path / "broken.txt").write_text(book("Broken") + "The transfor-\nmation of the gar-\nden was complete.")
    (tmp_path / "nameless.txt").write_text(f"by Ada Marlow\n\n{PROSE}\n\nby the weir\n\n{PROSE}")
    assert main([str(tmp_path)]) == 0
    questions, rest = capsys.readouterr().out.split("\n\n", 1)
    assert [line.partition(":")[0] for line in questions.splitlines()] == ["odd.txt"]
    assert "6 files read" in rest
    (tmp_path / "empty.txt").write_text("")
    assert main([str(tmp_path)]) == 1
    assert "empty.txt: not read" in capsys.readouterr().out


def test_every_file_has_a_line_where_that_is_asked(tmp_path, capsys):
    (tmp_path / "weir.txt").write_text(book("Weir"))
    assert main([str(tmp_path), "--all"]) == 0
    assert "3 chapters" in capsys.readouterr().out
    (tmp_path / "broken.txt").write_text(book("Broken") + "The transfor-\nmation of the gar-\nden was complete.")
    main([str(tmp_path), "--all"])
    assert "2 broken words" in capsys.readouterr().out


def test_a_chapter_that_holds_headings_of_chapters_is_told_from_one_long_chapter():
    work = read_work(book("Weir").encode(), name="weir.txt")
    headings = [part for part in work.left_out if part.kind == "heading"]
    held = [Paragraph(at, part.start, part.end, 0, at) for at, part in enumerate(headings)]
    assert headings_in(replace(work, paragraphs=tuple(held)), 0) == 3
    assert headings_in(work, 0) == 0
