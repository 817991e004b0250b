"""False quotations by a rule, and how often each checker calls them what they are: ``python -m tools.drafts``.

Of each kind as many are made from a seed out of sentences of the library's works: one word changed, a negation dropped,
two sentences joined, a name changed (altered); right words under the wrong title (elsewhere); words of many works put
together at random (not found); and sentences as they stand (to the letter). Beside the checker stand a search for the
very characters and rapidfuzz's best partial ratio over whole works, which know nothing of what is named.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from relic_core.cli.console import table
from relic_core.domain import Work
from relic_core.domain.drafts import CheckOutcome, Draft
from relic_core.text.words import STOPWORDS, content_tokens
from relic_core.wiring import build

KINDS: dict[str, CheckOutcome] = {
    "as it stands": "to the letter",
    "one word changed": "altered",
    "negation dropped": "altered",
    "two sentences joined": "altered",
    "name changed": "altered",
    "wrong work": "elsewhere",
    "invented": "not found",
}
_SHORTEST, _LONGEST = 10, 40
_ALIKE = 85.0
"""Partial ratio from which rapidfuzz is taken to have found a quotation; 100 is to the letter."""
_REPLACED: dict[str, tuple[re.Pattern[str], str]] = {
    "negation dropped": (re.compile(r" (?:not|never|no)\b"), ""),
    "name changed": (re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b"), "Tarkington"),
}
_TRIES = 20_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Make false quotations, check them, and print how often each was called as expected."""
    parser = argparse.ArgumentParser(prog="python -m tools.drafts", description=__doc__)
    parser.add_argument("--each", type=int, default=20, help="Quotations of each kind (default: 20).")
    parser.add_argument("--seed", type=int, default=48)
    parser.add_argument("--fuzzy", action="store_true", help="Also rapidfuzz over whole works: a second a quotation.")
    typed = parser.parse_args(arguments)
    app = build()
    works = [app.works.load(each.id) for each in app.works.summaries() if " " in each.title]
    made = make(works, typed.each, random.Random(typed.seed))  # noqa: S311 - the same every time
    plain = {work.id: " ".join(work.text.split()) for work in works}
    right: Counter[tuple[str, str]] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    for kind, words, title in made:
        began = time.perf_counter()
        checks = app.drafts.check(Draft(f"In {title} the narrator says “{words}” and goes on.")).checks
        seconds["check"] += time.perf_counter() - began
        outcome = checks[0].outcome if len(checks) == 1 else "several"
        right["check", kind] += outcome == KINDS[kind]
        if outcome != KINDS[kind]:
            print(f"{kind}: called {outcome}: {title}, {len(words.split())} words", file=sys.stderr)
        began = time.perf_counter()
        right["substring", kind] += (
            "to the letter" if any(words in text for text in plain.values()) else "not found"
        ) == (KINDS[kind])
        seconds["substring"] += time.perf_counter() - began
        if typed.fuzzy:
            began = time.perf_counter()
            _, score, _ = process.extractOne(words, plain, scorer=fuzz.partial_ratio)
            called = "to the letter" if score == 100.0 else "altered" if score >= _ALIKE else "not found"  # noqa: PLR2004
            right["rapidfuzz", kind] += called == KINDS[kind]
            seconds["rapidfuzz"] += time.perf_counter() - began
    names = [name for name in ("check", "substring", "rapidfuzz") if seconds[name]]
    rows = [[kind, KINDS[kind], *(f"{right[name, kind]} of {typed.each}" for name in names)] for kind in KINDS]
    rows.append(["seconds in all", "", *(f"{seconds[name]:.1f}" for name in names)])
    print(table(["kind", "expected", *names], rows))
    return 0


def make(works: Sequence[Work], each: int, chance: random.Random) -> list[tuple[str, str, str]]:
    """Make so many quotations of each kind: the kind, the words, and the title that is named for them."""
    made = []
    for kind in KINDS:
        for _ in range(each):
            words = ""
            while not words:
                work = chance.choice(works)
                words = _false(kind, work, works, chance)
            others = [other for other in works if other.author != work.author]
            title = chance.choice(others).title if kind == "wrong work" else work.title
            made.append((kind, words, title))
    return made


def _sentence(work: Work, chance: random.Random) -> str:
    """Choose a sentence without marks of quotation, of some length."""
    for _ in range(_TRIES):
        words = " ".join(work.sentence_text(chance.randrange(len(work.sentences))).replace("_", "").split())
        plain = not re.search(r"[“”\"‘«»]|(?<!\w)['’]|['’](?!\w)|[\[(]", words)
        if plain and _SHORTEST <= len(words.split()) <= _LONGEST and len(content_tokens(words)) >= _SHORTEST // 2:
            return words
    return ""


def _false(kind: str, work: Work, works: Sequence[Work], chance: random.Random) -> str:
    """Make words of one kind; empty where the sentence that was drawn does not lend itself to it."""
    words = _sentence(work, chance)
    other = _sentence(chance.choice(works) if kind != "two sentences joined" else work, chance)
    if kind == "one word changed":
        telling = [each for each in re.finditer(r"\b[a-z]{4,}\b", words) if each[0] not in STOPWORDS]
        put = [each for each in re.findall(r"\b[a-z]{4,}\b", other) if each not in words and each not in STOPWORDS]
        if not telling or not put:
            return ""
        start, end = chance.choice(telling).span()
        return f"{words[:start]}{chance.choice(put)}{words[end:]}"
    if kind in _REPLACED:
        pattern, put_in = _REPLACED[kind]
        return pattern.sub(put_in, words, count=1) if pattern.search(words) else ""
    if kind == "two sentences joined":
        return f"{words} {other}"
    if kind == "invented":
        drawn = [word for _ in range(6) for word in _sentence(chance.choice(works), chance).split()]
        return " ".join(chance.sample(drawn, chance.randint(12, 24))).strip(",;:.") if drawn else ""
    return words


if __name__ == "__main__":
    sys.exit(main())
