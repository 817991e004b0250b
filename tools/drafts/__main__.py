"""How often each checker of drafts calls quotations what they are.

Without an option: quotations made false by a rule, out of the library's works. With --criticism also those of the set
that both readers call the same, each with what its critic writes around it. The test half, of both, is opened with
--final alone. Beside the checker stand a search for the very characters and rapidfuzz's best partial ratio over whole
works, which know nothing of what is named.
"""

from __future__ import annotations

import random
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path

from rapidfuzz import fuzz, process

from relic_core.cli.console import table
from relic_core.domain import Offsets, Work
from relic_core.domain.drafts import Draft
from relic_core.wiring import App
from tools import command
from tools.drafts import made, real

_FALSE = 50
"""Of each half."""
_SEEDS = {"dev": 48, "test": 49}
_ALIKE = 85.0
"""Partial ratio from which rapidfuzz is taken to have found a quotation; 100 is to the letter."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A quotation with the draft it is in, what it is, and where it is in which work, if in one."""

    group: str
    expected: str
    words: str
    text: str
    at: Offsets
    work: str = ""
    place: Offsets = (0, 0)


_Answer = tuple[str, str, Offsets]
"""What a quotation is called, the work (sha256) and the place it is said to be in."""


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--criticism", type=Path, help="The books of criticism that the set was drawn from.")
    parser.add_argument("--draw", action="store_true", help="Draw the set anew from what was mined of --criticism.")
    parser.add_argument("--sheets", type=Path, metavar="FOLDER", help="Write the sheets that readers answer.")
    parser.add_argument("--answers", type=Path, metavar="FOLDER", help="Keep the answers: A-dev.txt to B-test.txt.")
    parser.add_argument("--fuzzy", action="store_true", help="Also rapidfuzz over whole works: a second a quotation.")
    parser.add_argument("--final", action="store_true", help="The test half, once, at the end; else the dev half.")
    parser.add_argument("--verbose", action="store_true", help="Name what was called otherwise, but for the test half.")


def do(app: App, options: Namespace) -> int:
    """Draw, write sheets, keep answers, or measure."""
    if options.draw:
        real.save_set(real.draw(app, options.criticism, _SEEDS["dev"]))
        return 0
    works = {work.sha256: work for work in (app.works.load(each.id) for each in app.works.summaries())}
    if options.sheets:
        items = real.read_set()
        texts = real.texts_of(items, options.criticism)
        for half in real.HALVES:
            of_half = [each for each in items if each.half == half]
            (options.sheets / f"{half}.txt").write_text(real.sheet(of_half, works, texts), "utf-8")
        return 0
    if options.answers:
        real.keep_answers(options.answers)
    _measure(app, options, works, "test" if options.final else "dev")
    return 0


def _measure(app: App, options: Namespace, works: Mapping[str, Work], half: str) -> None:
    plain = {sha256: " ".join(work.text.split()) for sha256, work in works.items()}
    checkers: dict[str, Callable[[_Case], _Answer]] = {
        "check": partial(_checked, app, {work.id: sha256 for sha256, work in works.items()}),
        "substring": partial(_as_substring, plain),
    }
    if options.fuzzy:
        checkers["rapidfuzz"] = partial(_fuzzily, plain)
    asked = [*_false(works, half)]
    if options.criticism:
        asked = [*_real(works, half, options.criticism), *asked]
    right, placed, total, letters = (Counter[tuple[str, str]](), *(Counter[str]() for _ in range(3)))
    seconds: defaultdict[str, float] = defaultdict(float)
    for each in asked:
        total[each.group] += 1
        for name, called in checkers.items():
            began = time.perf_counter()
            outcome, work, place = called(each)
            seconds[name] += time.perf_counter() - began
            right[name, each.group] += outcome == each.expected
            if each.group in made.KINDS:
                letters[name] += outcome == "to the letter"
            elif work == each.work and (name != "check" or (place[0] < each.place[1] and each.place[0] < place[1])):
                placed[name] += 1
            if name == "check" and options.verbose and half == "dev" and outcome != each.expected:
                print(f"{each.group}: {outcome} {work[:6]}: {each.words[:120]!r}", file=sys.stderr)
    groups = [*dict.fromkeys(each.group for each in asked)]
    rows = [[group, *(rate(right[name, group], total[group]) for name in checkers)] for group in groups]
    for label, group_of in (("real ones", set(real.LETTERS.values())), ("false ones", set(made.KINDS))):
        if many := sum(total[group] for group in group_of):
            sums = (sum(right[name, group] for group in group_of) for name in checkers)
            rows.append([f"{label} as expected", *(rate(each, many) for each in sums)])
            if label == "real ones":
                rows.append(["their work and place right", *(rate(placed[name], many) for name in checkers)])
            else:
                rows.append(["called to the letter", *(rate(letters[name], many) for name in checkers)])
    rows.append(["seconds in all", *(f"{seconds[name]:.1f}" for name in checkers)])
    print(table(["quotations", *checkers], rows))


def rate(count: int, of: int) -> str:
    """Write a share with its interval (Wilson, 95%).

    >>> rate(97, 100)
    '97 of 100 (91.5-99.0%)'
    """
    z, share = 1.96, count / of
    middle, half = share + z * z / (2 * of), z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = (max(0.0, 100 * (middle + side * half) / (1 + z * z / of)) for side in (-1, 1))
    return f"{count} of {of} ({low:.1f}-{high:.1f}%)"


def _real(works: Mapping[str, Work], half: str, criticism: Path) -> Iterator[_Case]:
    """Give the quotations of a half that both readers call the same, as many of each letter as are wanted."""
    items = {each.number: each for each in real.read_set() if each.half == half}
    agreed = real.agreed(half)
    texts = real.texts_of(list(items.values()), criticism)
    for number, letter in agreed.items():
        each, text = items[number], texts[items[number].source]
        draft, start = real.excerpt(text, each.at)
        words = " ".join(text[slice(*each.at)].split())
        at = each.at[0] - start, each.at[1] - start
        yield _Case(real.LETTERS[letter], real.LETTERS[letter], words, draft, at, works[each.work].sha256, each.place)


def _false(works: Mapping[str, Work], half: str) -> Iterator[_Case]:
    titled = [work for work in works.values() if " " in work.title]
    chance = random.Random(_SEEDS[half])  # noqa: S311 - the same every time
    for kind, words, title in made.make(titled, _FALSE, chance):
        before = f"In {title} the narrator says “"
        at = len(before), len(before) + len(words)
        yield _Case(kind, made.KINDS[kind], words, f"{before}{words}” and goes on.", at)


def _checked(app: App, ids: Mapping[str, str], case: _Case) -> _Answer:
    checks = app.drafts.check(Draft(case.text)).checks
    over = [(min(each.at[1], case.at[1]) - max(each.at[0], case.at[0]), -number) for number, each in enumerate(checks)]
    shared, number = max(over, default=(0, 0))
    if shared <= 0:
        return "passed over", "", (0, 0)
    check = checks[-number]
    found = check.found
    return check.outcome, ids[found.work_id] if found else "", found.offsets if found else (0, 0)


def _as_substring(plain: Mapping[str, str], case: _Case) -> _Answer:
    held = [sha256 for sha256, text in plain.items() if case.words in text]
    if not held:
        return "not found", "", (0, 0)
    return "to the letter", case.work if case.work in held else held[0], (0, 0)


def _fuzzily(plain: Mapping[str, str], case: _Case) -> _Answer:
    _, score, sha256 = process.extractOne(case.words, plain, scorer=fuzz.partial_ratio)
    called = "to the letter" if score == 100.0 else "altered" if score >= _ALIKE else "not found"  # noqa: PLR2004
    return called, sha256, (0, 0)


def main(arguments: list[str] | None = None) -> int:
    """Measure."""
    return command.run("drafts", __doc__ or "", add_options, do, arguments)


if __name__ == "__main__":
    sys.exit(main())
