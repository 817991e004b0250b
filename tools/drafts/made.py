"""False quotations by a seeded rule, out of sentences of the library's works.

One word changed, a negation dropped, two sentences joined, a name changed (altered); right words under the wrong title
(elsewhere); words of many works put together at random (not found).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from relic_core.domain import Work
from relic_core.domain.drafts import CheckOutcome
from relic_core.text.words import STOPWORDS, content_tokens

KINDS: dict[str, CheckOutcome] = {
    "one word changed": "altered",
    "negation dropped": "altered",
    "two sentences joined": "altered",
    "name changed": "altered",
    "wrong work": "elsewhere",
    "invented": "not found",
}
_SHORTEST, _LONGEST = 10, 40
_REPLACED: dict[str, tuple[re.Pattern[str], str]] = {
    "negation dropped": (re.compile(r" (?:not|never|no)\b"), ""),
    "name changed": (re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b"), "Tarkington"),
}
_TRIES = 20_000


def make(works: Sequence[Work], many: int, chance: random.Random) -> list[tuple[str, str, str]]:
    """Make so many quotations, of each kind in turn: the kind, the words, and the title that is named for them."""
    kinds = (list(KINDS) * many)[:many]
    made = []
    for kind in KINDS:
        for _ in range(kinds.count(kind)):
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
        replaceable = [each for each in re.finditer(r"\b[a-z]{4,}\b", words) if each[0] not in STOPWORDS]
        put = [each for each in re.findall(r"\b[a-z]{4,}\b", other) if each not in words and each not in STOPWORDS]
        if not replaceable or not put:
            return ""
        start, end = chance.choice(replaceable).span()
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
