"""Numbers as chapter headings write them: roman, arabic and in words."""

from __future__ import annotations

import re

_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_ROMAN = re.compile(r"C{0,3}(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})")
_UNITS = (
    ("one", "first"), ("two", "second"), ("three", "third"), ("four", "fourth"), ("five", "fifth"), ("six", "sixth"),
    ("seven", "seventh"), ("eight", "eighth"), ("nine", "ninth"), ("ten", "tenth"), ("eleven", "eleventh"),
    ("twelve", "twelfth"), ("thirteen", "thirteenth"), ("fourteen", "fourteenth"), ("fifteen", "fifteenth"),
    ("sixteen", "sixteenth"), ("seventeen", "seventeenth"), ("eighteen", "eighteenth"), ("nineteen", "nineteenth"),
)  # fmt: skip
_TENS = (
    ("twenty", "twentieth"), ("thirty", "thirtieth"), ("forty", "fortieth"), ("fifty", "fiftieth"),
    ("sixty", "sixtieth"), ("seventy", "seventieth"), ("eighty", "eightieth"), ("ninety", "ninetieth"),
)  # fmt: skip
_WORDS = {word: value for value, pair in enumerate(_UNITS, start=1) for word in pair}
_WORDS |= {word: 10 * value for value, pair in enumerate(_TENS, start=2) for word in pair}

NUMBER_PATTERN = (
    r"(?:\d{1,3}|[IVXLC]+|(?:"
    + "|".join(sorted((tens for tens, _ in _TENS), key=len, reverse=True))
    + r")[- ](?:"
    + "|".join(sorted((word for pair in _UNITS[:9] for word in pair), key=len, reverse=True))
    + r")|"
    + "|".join(sorted(_WORDS, key=len, reverse=True))
    + ")"
)
"""A regular expression for what `number_value` may understand; to be used ignoring case."""


def number_value(written: str) -> int | None:
    """Read a number of a heading.

    >>> [number_value(word) for word in ("XLIV", "12", "Twenty-first", "first", "IC", "dear")]
    [44, 12, 21, 1, None, None]
    """
    if written.isdecimal():
        return int(written)
    upper = written.upper()
    if upper and _ROMAN.fullmatch(upper):
        values = [_ROMAN_VALUES[letter] for letter in upper]
        following = [*values[1:], 0]
        return sum(-value if value < after else value for value, after in zip(values, following, strict=True))
    parts = re.split(r"[- ]", written.lower())
    if not parts or any(part not in _WORDS for part in parts):
        return None
    return sum(_WORDS[part] for part in parts)
