"""Rows of pairs and mined windows, and heads of their files, taken back as records: everything is checked."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_args

from relic_core.domain import ANSWERS, MAX_CONTEXT, MIN_LENGTH, MinedWindow, Pair, QuotationKind, SecondarySource, Span
from relic_core.errors import BadBenchmark
from relic_core.formats.files import as_object, as_string, as_strings, kind_of
from relic_core.formats.pair_rows import COLUMNS, PAIRS, SPLITS, WINDOWS, Head, PairRow, QuotedEdition, WindowRow
from relic_core.formats.run_facts import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.domain import Offsets, Question

MOST_SCORE = 100.0


def head_of(facts: Mapping[str, object], here: str) -> Head:
    """Make a head of what `Head.facts` said.

    Raises BadBenchmark: a fact is missing, unknown, or not of its kind.
    """
    return Head(
        made=words(facts["made"], f"{here}: 'made'"),
        sources=tuple(
            SecondarySource(**_facts(each, SecondarySource, f"{here}: source {number:,}"))
            for number, each in enumerate(_list(facts["sources"], f"{here}: 'sources'"), start=1)
        ),
        works=tuple(
            QuotedEdition(**_facts(each, QuotedEdition, f"{here}: work {number:,}"))
            for number, each in enumerate(_list(facts["works"], f"{here}: 'works'"), start=1)
        ),
    )


def pair_of_row(raw: object, here: str, head: Head) -> PairRow:
    """Take a row as a pair.

    - `here`: where it comes from, for messages.
    - `head`: of the file: the row's source must be one of its sources.

    Raises BadBenchmark: a column is missing, unknown or not of its kind; an offset, a split, a context cannot be.
    """
    row = as_object(raw, here, tuple(COLUMNS[PAIRS]))
    return PairRow(pair=Pair(**_passage(row, here, head)), split=_split(row, here))


def window_of_row(raw: object, here: str, head: Head) -> WindowRow:
    """Take a row as a window; parameters and errors as those of `pair_of_row`."""
    row = as_object(raw, here, tuple(COLUMNS[WINDOWS]))
    work = _one_of(row, "work", [each.id for each in head.works], here)
    gold = Span(_number(row, "gold_start", here), _number(row, "gold_length", here, least=MIN_LENGTH))
    sentences = as_strings(row["sentences"], f"{here}: 'sentences'")
    if len(sentences) != gold.length:
        raise BadBenchmark(
            f"{here} has {len(sentences)} sentences of the work, and its gold is {gold.length} long. The row was "
            "changed by hand; export it anew."
        )
    window = MinedWindow(
        **_passage(row, here, head),
        work_id=work,
        gold=gold,
        lit=_places(row, "lit", here),
        lit_in_work=_places(row, "lit_in_work", here),
        score=_score(row["score"], here),
    )
    return WindowRow(
        window=window,
        sentences=sentences,
        in_work=_place(row, "work", here),
        split=_split(row, here),
        match=_answer(row, "match", here),
        evidence=_answer(row, "evidence", here),
    )


def _passage(row: Mapping[str, object], here: str, head: Head) -> dict[str, Any]:
    """Check what pairs and windows have in common; gives the arguments of either."""
    at, passage = _place(row, "quotation", here), _place(row, "passage", here)
    if not passage[0] <= at[0] <= at[1] <= passage[1]:
        raise BadBenchmark(
            f"{here}: the quotation stands at {at[0]:,}-{at[1]:,}, which is not within its passage, "
            f"{passage[0]:,}-{passage[1]:,}."
        )
    left, right = (as_strings(row[side], f"{here}: '{side}'") for side in ("left", "right"))
    if max(len(left), len(right)) > MAX_CONTEXT:
        raise BadBenchmark(f"{here} has more than {MAX_CONTEXT} sentences on one side.")
    return {
        "id": as_string(row["id"], f"{here}: 'id'"),
        "source_id": _one_of(row, "source", [each.id for each in head.sources], here),
        "kind": _one_of(row, "kind", get_args(QuotationKind), here),
        "left": left,
        "quotation": as_string(row["quotation"], f"{here}: 'quotation'"),
        "right": right,
        "at": at,
        "passage": passage,
    }


def _one_of(row: Mapping[str, object], name: str, known: list[str] | tuple[str, ...], here: str) -> str:
    given = as_string(row[name], f"{here}: '{name}'", empty=True)
    if given not in known:
        some = ", ".join(each or "empty" for each in known[:4])
        raise BadBenchmark(f"{here}: there is no {name} '{given:.60}' in this file. It names: {some}.")
    return given


def _split(row: Mapping[str, object], here: str) -> str:
    return _one_of(row, "split", (*SPLITS, ""), here)


def _answer(row: Mapping[str, object], question: Question, here: str) -> str:
    return _one_of(row, question, (*ANSWERS[question], ""), here)


def _number(row: Mapping[str, object], name: str, here: str, *, least: int = 0) -> int:
    return _whole(row[name], f"{here}: '{name}'", least=least)


def _whole(value: object, here: str, *, least: int = 0) -> int:
    if type(value) is not int:
        raise BadBenchmark(f"{here} must be a whole number, and is {kind_of(value)}.")
    if value < least:
        raise BadBenchmark(f"{here} is {value:,}; it cannot be less than {least}.")
    return value


def _score(value: object, here: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= MOST_SCORE:  # type: ignore[operator]  # told just before
        raise BadBenchmark(f"{here}: 'score' must be a number from 0 to {MOST_SCORE:.0f}.")
    return float(value)  # type: ignore[arg-type]


def _place(row: Mapping[str, object], name: str, here: str) -> Offsets:
    return _ordered(_number(row, f"{name}_start", here), _number(row, f"{name}_end", here), here)


def _places(row: Mapping[str, object], name: str, here: str) -> tuple[Offsets, ...]:
    there = f"{here}: '{name}'"
    found = [as_object(each, there, ("start", "end")) for each in _list(row[name], there)]
    return tuple(_ordered(_whole(each["start"], there), _whole(each["end"], there), there) for each in found)


def _ordered(start: int, end: int, here: str) -> Offsets:
    if end < start:
        raise BadBenchmark(f"{here}: a place ends at {end:,}, before it starts at {start:,}.")
    return start, end


def _list(value: object, here: str) -> list[object]:
    if not isinstance(value, list):
        raise BadBenchmark(f"{here} must be a list, and is {kind_of(value)}.")
    return value


def _facts(value: object, of: type, here: str) -> dict[str, Any]:
    """Check the facts of a source or an edition: numbers where its field is a number, strings elsewhere."""
    given = as_object(value, here, tuple(field.name for field in fields(of)))
    checked: dict[str, Any] = {}
    for field in fields(of):
        there, known = f"{here}: '{field.name}'", given[field.name]
        if "int" not in str(field.type):
            checked[field.name] = as_string(known, there, empty=True)
        elif known is None and "None" in str(field.type):
            checked[field.name] = None
        else:
            checked[field.name] = _whole(known, there, least=-9999 if field.name == "year" else 0)
    return checked
