"""The language of a text: py3langid where it can be trusted, the small words of English where it cannot.

On a whole book py3langid errs hardly ever. On a few words, on verse and on old spelling it errs often, and mostly
towards Latin, Dutch or Scots relatives of English; so a short text is taken for English by its small words alone, and
only where it has too few of them is py3langid asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+")
_SMALL = frozenset(
    """
    the of and to in that is was he for it with as his on be at by had not are but from or have an they which you were
    her she there would their we him been has when who will more no if out so said what up its about into than them can
    only other some could time these two may then do my your me all our this thy thou thee hath doth upon shall shalt
    art ye one us how o'er nor where yet own must should most such did am i a ever never old man men life too now like
    through before down while those though o oh
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
_ALIEN = (
    frozenset(
        """
    le la les des du une est et que qui dans je vous nous il elle pas pour au aux ce cette der die das und nicht
    ich du mit von den dem eine zu wie auch es et non quod qui quae est cum sed ut ad per hoc sunt in ac atque
    che di il della con si mi el los las por una del como no y lo
    """.split()  # noqa: SIM905 - a list that a person can read and mend
    )
    - _SMALL
)
_SAMPLE = 20_000
"""Characters looked at of each part of a long text: of its beginning, its middle and its end."""
_SURE, _FOREIGN = 0.3, 0.12
"""Shares of small English words from which on a text is English, and below which it needs to prove that it is."""
_SHORT = 20
"""Words; a shorter text is too short to tell, and counts as English unless foreign words speak against it."""


_NAMES = dict(
    pair.split(":")
    for pair in """
    fr:French de:German es:Spanish it:Italian ru:Russian pt:Portuguese nl:Dutch la:Latin el:Greek pl:Polish cs:Czech
    hu:Hungarian sv:Swedish da:Danish no:Norwegian nb:Norwegian fi:Finnish zh:Chinese ja:Japanese ko:Korean ar:Arabic
    he:Hebrew tr:Turkish uk:Ukrainian ro:Romanian ca:Catalan
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
_TELLING = 300
"""Characters; a shorter work is too short to call foreign."""


@lru_cache(maxsize=1)
def _classifier() -> Callable[[str], tuple[str, float]]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # it takes a moment to load

    classify: Callable[[str], tuple[str, float]] = LanguageIdentifier.from_model_file(MODEL_FILE).classify
    return classify


def language(text: str) -> str:
    """Name the language of a text by its code in ISO 639-1.

    Of a long text three parts are looked at. Without a letter it is "". Of fewer than 20 words it is English unless
    the small words of another language outnumber its own: that is too short to tell.

    >>> language("It rained all day, and nobody came to the ferry."), language("Il pleuvait, et personne ne vint.")
    ('en', 'fr')
    >>> language("Hello."), language("")
    ('en', '')
    """
    if not _WORD.search(text):
        return ""
    words = [word.lower() for word in _WORD.findall(text)] if len(text) < _SAMPLE else []
    too_short = 0 < len(words) < _SHORT
    return "en" if too_short and _share(words, _ALIEN) <= _share(words, _SMALL) else _classified(text)


def _classified(text: str) -> str:
    if len(text) > 3 * _SAMPLE:
        middle = len(text) // 2
        text = f"{text[:_SAMPLE]} {text[middle : middle + _SAMPLE]} {text[-_SAMPLE:]}"
    return _classifier()(text)[0]


def is_english(text: str) -> bool:
    """Whether a text, be it short or verse, is English.

    >>> is_english("Full many a gem of purest ray serene"), is_english("Arma virumque cano, Troiae qui primus ab oris")
    (True, False)
    """
    words = [word.lower() for word in _WORD.findall(text[: 3 * _SAMPLE])]
    if not words:
        return False
    small = _share(words, _SMALL)
    if small >= _SURE:
        return True
    if _share(words, _ALIEN) > small:
        return False
    if small >= _FOREIGN:
        return True
    return _classified(text) == "en"


def reads_english(text: str) -> str:
    """Say that the models read English, of a work that is not; empty of one that is, or that is too short to tell.

    >>> reads_english("It rained all day, and nobody came to the ferry. " * 9)
    ''
    >>> reads_english("Il pleuvait, et personne ne vint au bac ce matin. " * 9)[:60]
    'The models that come with the program read English, and this'
    """
    middle = text[len(text) // 3 :][:_SAMPLE]
    if len(text) < _TELLING or is_english(middle) or (code := language(middle)) == "en":
        return ""
    return (
        "The models that come with the program read English, and this work is in "
        f"{_NAMES.get(code, 'another language')}: do not rely on what is found in it by meaning. Searching by words "
        "works as in any other."
    )


def _share(words: Sequence[str], among: Collection[str]) -> float:
    return sum(word in among for word in words) / len(words)
