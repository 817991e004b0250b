"""Finding quotations of a work in a source, against Quid, which compares one text with one other.

The source is made for it: pages of one work, into which passages of another are set between marks, some of them to the
letter, some with words left out at an ellipsis, some with a word changed in brackets. So it is known what there is to
find. Quid (Arnold and Jäschke, "Lotte and Annette: A Framework for Finding and Exploring Key Passages in Literary
Works", 2021) is no part of the program: where a command `quid` is on the path, it is run with its defaults.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from relic_core.domain import Span
from relic_core.errors import RelicError
from relic_core.mining.matches import find_matches
from relic_core.mining.prose import read_prose
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.ports import silent
from tools.bench.bench import LONGEST, MIDDLING, named, timed
from tools.bench.figures import Figure, Measured, Target, as_fast, not_measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Offsets, Work
    from tools.bench.bench import Bench

PART = "mining"
BASELINE = "Quid"

_COMMAND = "quid"
_TIMES_AS_FAST = 10
_LEAST_FOUND = 95.0
_SEED = 6
_LEAST_WORDS = 14
"""Of a passage that is quoted: what is left of it when words are left out are still eight."""


class Planted(NamedTuple):
    """A source made of pages of a work with quotations of another, and where these stand."""

    text: str
    at: tuple[Offsets, ...]


def measure(bench: Bench) -> Measured:
    """Look for the planted quotations, ours and theirs, and count what was found."""
    work = bench.work(MIDDLING)
    page = _pages(bench, work)
    if page is None:
        return not_measured(PART, "it takes a second work, whose pages stand for a critic's.", on=named(work))
    source = plant(work, page, count=bench.effort.quotations)
    with tempfile.TemporaryDirectory() as folder:
        bench.say("the index of the work's words")
        building, works = timed(QuotedWorks.build, [work], Path(folder) / "words", silent)
        bench.say("quotations")
        seconds = []
        for _ in range(bench.effort.builds):
            taken, found = timed(lambda: find_matches(read_prose(source.text), works))
            seconds.append(building + taken)
        prose = read_prose(source.text)
        ours = share_found(source, [prose.in_source(match.start, match.end) for match in found])
        command = shutil.which(_COMMAND)
        theirs: tuple[float, float] | None = None
        if command is not None:
            bench.say(f"{BASELINE}, which takes its time")
            theirs = _quid(command, work, source, Path(folder))
    target = Target(of="value", bound="at least", limit=_LEAST_FOUND)
    share = Figure(
        what="planted quotations that are found",
        value=ours,
        unit="%",
        baseline=BASELINE if theirs else "",
        baseline_value=theirs[1] if theirs else None,
        ratio=ours / theirs[1] if theirs and theirs[1] else None,
        target=target,
        repetitions=len(source.at),
    )
    what = "finding the quotations of one work in one source, the index of its words included"
    if theirs:
        speed = Target(of="ratio", bound="at least", limit=_TIMES_AS_FAST)
        time = as_fast(what, seconds, BASELINE, [theirs[0]], unit="s", target=speed)
    else:
        time = Figure(what=what, value=sorted(seconds)[len(seconds) // 2], unit="s", repetitions=len(seconds))
    note = (
        f"Not held against {BASELINE}: there is no command `{_COMMAND}` on the path. Install it into an environment of "
        "its own (pip install Quid==2.6.7) and put the command on the path."
    )
    return Measured(
        part=PART,
        on=f"{named(work)} quoted among pages of {page.title} ({len(source.text):,} characters)",
        figures=(time, share),
        notes=() if theirs else (note,),
        details={"quotations": len(source.at), "characters": len(source.text), "seconds_for_the_index": building},
    )


def plant(work: Work, pages: Work, *, count: int) -> Planted:
    """Set passages of a work into pages of another; the same ones every time.

    - `pages`: whose sentences stand for a critic's.
    - `count`: quotations; fewer where the work has too few sentences that are long enough.
    """
    drawn = random.Random(_SEED)  # noqa: S311 - no secret
    long = [each.index for each in work.sentences if len(work.sentence_text(each.index).split()) >= _LEAST_WORDS]
    chosen = drawn.sample(long, min(count, len(long)))
    page = 8
    most = max(1, len(pages.sentences) - page)
    text, at = "", []
    for number, index in enumerate(chosen):
        start = (number * page) % most
        before = " ".join(pages.span_text(Span(start, min(page, len(pages.sentences) - start))).split())
        quotation = _altered(work.sentence_text(index).split(), number)
        text += f"{before} He writes, “"
        at.append((len(text), len(text) + len(quotation)))
        text += f"{quotation}” and says no more.\n\n"
    return Planted(text, tuple(at))


def share_found(source: Planted, found: Sequence[Offsets]) -> float:
    """Give the share of planted quotations of which some part was found, in per cent."""
    hits = sum(any(start < end and first < stop for first, end in found) for start, stop in source.at)
    return 100 * hits / max(1, len(source.at))


def _altered(words: list[str], number: int) -> str:
    """Quote a sentence as critics do: to the letter, with words left out, with a word explained."""
    middle = len(words) // 2
    if number % 3 == 1:
        return " ".join([*words[:middle], "...", *words[middle + 2 :]])
    if number % 3 == 2:  # noqa: PLR2004
        return " ".join([*words[:middle], "[as he says]", *words[middle:]])
    return " ".join(words)


def _pages(bench: Bench, work: Work) -> Work | None:
    """Choose the work whose pages are the source's."""
    others = [each for each in bench.app.works.summaries() if each.id != work.id]
    titled = [each for each in others if each.title == LONGEST]
    if not others:
        return None
    return bench.app.works.load(max(titled or others, key=lambda each: (each.sentences, each.id)).id)


def _quid(command: str, work: Work, source: Planted, folder: Path) -> tuple[float, float]:
    """Run Quid with its defaults: its seconds, and the share of planted quotations that it finds in per cent.

    Raises RelicError: it failed, or wrote what is no result of the version this was written for.
    """
    quoted, quoting = folder / "work.txt", folder / "source.txt"
    quoted.write_text(work.text, encoding="utf-8", newline="")
    quoting.write_text(source.text, encoding="utf-8", newline="")
    arguments = [command, "compare", str(quoted), str(quoting), "--no-text"]
    seconds, done = timed(subprocess.run, arguments, capture_output=True, text=True, check=False)
    try:
        rows = json.loads(done.stdout.rpartition("Results:")[2])
        found = [(int(row["target_span"]["start"]), int(row["target_span"]["end"])) for row in rows]
    except (ValueError, KeyError, TypeError):
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise RelicError(
            f"{command} did not give the result of Quid 2.6.7 ({' '.join(last) or 'it said nothing'}). Mend it, or "
            "take it off the path: the figures are then ours alone."
        ) from None
    return seconds, share_found(source, found)
