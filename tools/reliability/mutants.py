"""What readers are given wrong: values of other types, numbers without end, halves of characters, nesting, doubles.

A document of JSON is changed in one place, behind its digest too, which is made anew; of any other file some bytes are.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from relic_core.errors import RelicError

Signs = Callable[[Any], list[tuple[str, str]]]
"""Makes the digests of a document anew, in place; gives what each was and is."""

_UNSIGNED = (ValueError, RecursionError, TypeError, KeyError, AttributeError, OverflowError, RelicError)
"""What comes where no digest can be made, as nobody could."""
_DEEP = 100_000
_HOLE = "\ue000hole\ue000"
ODD = (
    *("null", "true", "0", "-1", "1.5", "1e400", "-1e400", "NaN", str(2**31), str(2**63), str(2**64), "9" * 5_000),
    *('""', '" "', '"\\ud83d"', '"\\u0000"', '"../../.."', '"/etc/passwd"', '"1e400"', json.dumps("x" * 100_000)),
    *('"0001-01-01T00:00:00+14:00"', '"9999-12-31T23:59:59-12:00"', '"2026-02-30"', '"4/4"', '"9/9"'),
    *("[]", "{}", "[null]", '[[1, 2], "a"]', '{"a": 1}', '{"a": 1, "a": 2}', '{"\\udc00": 1}'),
    *("[" * 900 + "]" * 900, "[" * _DEEP + "]" * _DEEP, '{"a":' * 300 + "1" + "}" * 300),
)
"""What stands in the place of a value, as it is written."""


def mutant(chance: random.Random, data: bytes, sign: Signs | None, *, of_json: bool) -> bytes:
    """Change a file in one place."""
    if of_json and chance.random() < 0.9:  # noqa: PLR2004 - else its bytes
        if b"\n{" in data.strip():  # lines
            lines = data.strip().split(b"\n")
            at = chance.randrange(len(lines))
            lines[at] = _in_json(chance, lines[at], None)
            return b"\n".join(lines) + b"\n"
        return _in_json(chance, data, sign)
    return _in_bytes(chance, data)


def _in_json(chance: random.Random, data: bytes, sign: Signs | None) -> bytes:
    whole = json.loads(data)
    odd, kind = chance.choice(ODD), chance.randrange(8)
    if kind == 4:  # noqa: PLR2004 - one of eight
        return odd.encode()
    holder, key = chance.choice(list(_places(whole)))
    if kind == 0:
        del holder[key]
        return json.dumps(_signed(whole, sign)).encode()
    if kind == 1 and isinstance(holder, dict):
        holder["unknown"] = _HOLE
    else:
        holder[key] = _HOLE
    text = json.dumps(whole).replace(json.dumps(_HOLE), odd)
    if sign:
        with suppress(*_UNSIGNED):
            for before, after in sign(json.loads(text)):
                text = text.replace(before, after)
    if kind == 2:  # noqa: PLR2004 - one of eight
        text = text[: chance.randrange(len(text))]
    if kind == 3:  # noqa: PLR2004 - another
        text = text.replace('{"', '{"twice": 1, "twice": 2, "', 1)
    return text.encode("utf-8", "surrogatepass")


def _signed(whole: Any, sign: Signs | None) -> Any:  # noqa: ANN401 - as read from JSON
    with suppress(*_UNSIGNED):
        if sign:
            sign(whole)
    return whole


def _places(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - as read from JSON
    """List every place of a document: what holds it, and its key there."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(inner):
        yield value, key
        yield from _places(each)


def _in_bytes(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    match chance.randrange(5):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        case 2:
            return data[:at] + chance.randbytes(16) + data[at + 16 :]
        case 3:
            return data[:at] + b"\0" * 16 + data[at:]
        case _:
            return data[:at] + chance.choice(ODD).encode() + data[at:]


def grown(data: bytes, size: int, sign: Signs | None, *, of_json: bool) -> Iterator[tuple[str, bytes]]:
    """Make a file large: a long text in it, many small values, and all of it over and over."""
    if not of_json:
        yield "over and over", data * (size // len(data) + 1)
        yield "one letter", data[: len(data) // 2] + b"x" * size + data[len(data) // 2 :]
        return
    lines = b"\n{" in data.strip()
    first = data.strip().split(b"\n")[0] if lines else data
    for name, large in (("a long text", "x" * size), ("many values", [0] * (size // 3))):
        whole = json.loads(first)
        holder, key = next((place for place in _places(whole) if isinstance(place[0], dict)), (None, None))
        if holder is None:
            continue
        holder[list(holder)[-1] if name == "many values" else key] = large
        yield name, json.dumps(_signed(whole, sign)).encode()
    if lines:
        yield "many lines", data * (size // len(data) + 1)
    whole = json.loads(first)
    longest = max((each for each in _lists(whole) if each), key=lambda each: len(json.dumps(each)), default=None)
    if longest is not None:
        longest *= size // len(json.dumps(longest)) + 1
        yield "its longest list over and over", json.dumps(_signed(whole, sign)).encode()


_ALIKE = {
    "straight marks": '"',
    "curly marks": "“",
    "line ends": "\n",
    "blanks": " ",
    "brackets": "[",
    "tags": "<p>",
    "small records": '{"a": 1}\n',
    "small sentences": "A b. ",
    "small lines": "a,b\n",
}


def alike(size: int) -> Iterator[tuple[str, bytes]]:
    """Make large files of one thing alone, which a reader may look for the other half of, or count by the million."""
    for name, part in _ALIKE.items():
        written = part.encode()
        yield name, written * (size // len(written))


def _lists(value: Any) -> Iterator[list[Any]]:  # noqa: ANN401 - as read from JSON
    for holder, key in _places(value):
        if isinstance(holder[key], list):
            yield holder[key]
