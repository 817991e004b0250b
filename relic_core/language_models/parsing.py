"""What a model's answer says, or that it cannot be read: ValueError, which is counted and never guessed around.

Models wrap JSON into fences and prose, think aloud before it, or leave it out. What has one meaning is read. What has
two, such as two different scores, has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from relic_core.domain import MAX_CLAIMS, VERDICTS, Condition
from relic_core.domain.searches import HOW_JOINED
from relic_core.formats.files import record_of
from relic_core.language_models.prompts import BEST

LONGEST_REASON = 600
MOST_CRITERIA, LONGEST_CRITERION = 8, 400
MOST_PASSAGES = 20
MOST_SENTENCES, LONGEST_SENTENCE = 6, 600

_FIGURE = re.compile(r"-?\d+(?:[.,]\d+)?")
_OF_TEN = re.compile(r"\s*(?:/|\bout of)\s*10\b")
_MARKS = re.compile(r"[\s*_`\"'“”.!]*")
"""What may stand around a number that is the whole answer."""
_PART = re.compile(r"\bT(\d+)\b")


class Reading(NamedTuple):
    """What a model makes of one passage.

    - `score`: 0 to 10; None where it gave none that can be read, or was not asked for one.
    - `reason`, `words`: why, and the words of the passage that it says this rests on; both may be empty.
    - `criteria`: the criteria with the score by each.
    """

    score: float | None = None
    reason: str = ""
    words: str = ""
    criteria: tuple[tuple[str, float], ...] = ()


class Synthesis(NamedTuple):
    """What a model says of an answer as a whole; passages by their numbers from 1.

    - `sentences`: each with the passages that it rests on.
    - `verdicts`: of passages, as a note has them; of those that the model left out there is none.
    """

    sentences: tuple[tuple[str, tuple[int, ...]], ...]
    verdicts: Mapping[int, str]


def read_score(answer: str) -> Reading:
    """Read the one score of an answer, and the reason where there is one.

    >>> [read_score(answer).score for answer in ('Here you are: {"score": 7}', "Score: 8/10", "4")]
    [7.0, 8.0, 4.0]
    """
    text = spoken(answer)
    found = [each for each in _objects(text) if "score" in each]
    if found:
        scores = {_number(each["score"]) for each in found}
        if len(scores) > 1:
            raise ValueError("two scores")
        last = found[-1]
        return Reading(scores.pop(), _line(last.get("reason"))[:LONGEST_REASON], _line(last.get("words")))
    if "{" in text:  # cut off: the number may be the beginning of another
        raise ValueError("no whole JSON object with a score")
    return Reading(_number(text))


def read_criteria(answer: str) -> tuple[str, ...]:
    """Read the criteria that a model wrote."""
    criteria = tuple(dict.fromkeys(_line(each) for each in _listed(answer, "criteria") if _line(each)))
    if not 0 < len(criteria) <= MOST_CRITERIA or max(map(len, criteria)) > LONGEST_CRITERION:
        raise ValueError("no criteria, too many, or too long ones")
    return criteria


def read_split(answer: str) -> tuple[Condition, ...]:
    """Read the claims that one joins, the first of them joined to nothing; empty where it is one alone.

    >>> answer = '{"claims": [{"joined": "and", "claim": "Storms."}, {"joined": "but not", "claim": "At sea."}]}'
    >>> [(row.joined, row.claim_text) for row in read_split(answer)]
    [('and', 'Storms.'), ('not', 'At sea.')]
    """
    rows: list[Condition] = []
    for each in _listed(answer, "claims"):
        joined, text = (each.get("joined"), _line(each.get("claim"))) if isinstance(each, dict) else (None, "")
        how = HOW_JOINED.get(str(joined or ("" if rows else "and")).lower())
        if how is None or not text or (how == "not" and not rows):
            raise ValueError("a claim without words, joined in no known way, or denied where nothing stands before it")
        rows.append(Condition(how, text))
    if len(rows) > MAX_CLAIMS:
        raise ValueError("too many claims")
    return tuple(rows) if len(rows) > 1 else ()


def read_order(answer: str, count: int) -> list[int]:
    """Read an order of parts 1 to `count`, as positions from 0, those that are left out last.

    >>> read_order('{"order": ["T3", "T1", "T9", "T3"]}', 4), read_order("[T2] > [T1]", 2)
    ([2, 0, 1, 3], [1, 0])
    """
    try:
        text = " ".join(str(each) for each in _listed(answer, "order"))
    except ValueError:
        text = spoken(answer)
        if re.search(r"[^\W\d_]", _PART.sub("", text)):  # prose: what is named first need not be best
            raise
    order = [number - 1 for number in _parts(text, count)]
    if not order:
        raise ValueError("no code of a passage")
    return order + [at for at in range(count) if at not in order]


def read_synthesis(answer: str, count: int, *, judged: bool = True) -> Synthesis:
    """Read sentences about parts 1 to `count`; one that rests on none of them makes the answer unreadable.

    - `judged`: whether it has verdicts, too.

    >>> answer = '{"sentences": [{"sentence": "He fails.", "passages": ["T2"]}], "verdicts": []}'
    >>> read_synthesis(answer, 3).sentences
    (('He fails.', (2,)),)
    """
    sentences = []
    for row in _listed(answer, "sentences"):
        text, named = (_line(row.get("sentence")), row.get("passages")) if isinstance(row, dict) else ("", None)
        numbers = _parts(" ".join(map(str, named)) if isinstance(named, list) else "", count)
        if not numbers or not 0 < len(text) <= LONGEST_SENTENCE:
            raise ValueError("a sentence without words, too long, or without a passage")
        sentences.append((text, numbers))
    if not 0 < len(sentences) <= MOST_SENTENCES:
        raise ValueError("no sentences, or too many")
    verdicts = {}
    for row in _listed(answer, "verdicts") if judged else ():
        verdict = str(row.get("verdict")) if isinstance(row, dict) else ""
        if verdict in VERDICTS:
            verdicts.update(dict.fromkeys(_parts(str(row.get("passage")), count), verdict))
    return Synthesis(tuple(sentences), verdicts)


def read_passages(answer: str) -> tuple[str, ...]:
    """Read the passages that a model recalls; none is an answer too."""
    text = (_line(each) for each in _listed(answer, "passages"))
    return tuple(dict.fromkeys(each for each in text if each))[:MOST_PASSAGES]


def read_quotation(answer: str) -> str:
    """Read the quotation that a model recites; empty where it says that it knows none."""
    found = [each for each in _objects(spoken(answer)) if "quotation" in each]
    if len(found) != 1:
        raise ValueError("no quotation, or several")
    return _line(found[0]["quotation"])


def spoken(answer: str) -> str:
    """Leave out what a model thought aloud at first; an answer that breaks off in its thoughts says nothing."""
    text = answer.strip()
    if text.startswith(("{", "[")):  # a passage may be quoted that thinks aloud
        return text
    _, closed, rest = text.rpartition("</think>")
    return "" if not closed and text.startswith("<think>") else rest.strip()


def _objects(text: str) -> list[dict[str, Any]]:
    """Find the whole JSON objects in a text, outermost only."""
    decoder, found, at = json.JSONDecoder(), [], text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found.append(value)
        at = text.find("{", end)
    return found


def _listed(answer: str, key: str) -> list[Any]:
    """Find the one list under a key, or a list that stands by itself."""
    text = spoken(answer)
    found = [each[key] for each in _objects(text) if key in each]
    if not found and text.startswith("["):
        found = [record_of(list[Any], text)]
    if len(found) != 1 or not isinstance(found[0], list):
        raise ValueError(f"no list of {key}, or several")
    return found[0]


def _parts(text: str, count: int) -> tuple[int, ...]:
    """Give the numbers, 1 to `count`, of the parts that a text names, each once."""
    numbers = dict.fromkeys(int(number) for number in _PART.findall(text))
    return tuple(number for number in numbers if 0 < number <= count)


def _number(answer: object) -> float:
    """Read a score from 0 to 10, a figure or words with one figure; ValueError for everything else."""
    if isinstance(answer, str):
        text = _OF_TEN.sub("", answer)
        figures = set(_FIGURE.findall(text))  # with another figure beside it a score has two meanings
        if len(figures) != 1 or not (
            _MARKS.fullmatch(_FIGURE.sub("", text)) or re.search(r"\bscore\b", text, re.IGNORECASE)
        ):
            raise ValueError("no score, or several figures")
        answer = float(figures.pop().replace(",", "."))
    if isinstance(answer, bool) or not isinstance(answer, int | float) or not 0 <= answer <= BEST:
        raise ValueError("no score from 0 to 10")
    return float(answer)


def _line(text: object) -> str:
    return " ".join(text.split()) if isinstance(text, str) else ""
