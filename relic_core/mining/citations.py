"""In-line citations: brackets that say where something stands and nothing else."""

from __future__ import annotations

import re

_NUMBER = r"(?:\d+[a-z]?(?:\s?[-–—]{1,2}\s?\d+)?|[ivxlcdm]+|[IVXLCDM]+)"
_UNIT = (
    r"(?:p|pp|pg|page|pages|vol|vols|volume|volumes|ch|chs|chap|chaps|chapter|chapters|bk|bks|book|books|act|sc|scene"
    r"|canto|cantos|stanza|stanzas|st|l|ll|line|lines|ver|verse|verses|letter|letters|sect|section|sections|part|pt|no"
    r"|nos|note|notes|fol|sonnet|ode|epistle|satire|leaf)"
)
_PLACE = re.compile(
    rf"(?:§+\s*|\b{_UNIT}\b\.?,?\s*){_NUMBER}\b\.?(?:\s?ff?\b\.?|\s?sqq?\b\.?|\s?et\sseqq?\b\.?)?", re.IGNORECASE
)
_BARE_PLACE = re.compile(
    r"\b(?:[ivxlc]+|[IVXLC]+)[.,:;]\s*(?:(?:[ivxlc]+|sc)(?:[.,:;]\s*|\s+))*\d+(?:\s?[-–—]{1,2}\s?\d+)?"  # iv. 3. 12
    r"|\b\d{1,3}[.:,]\s?\d+(?:[.:,]\s?\d+)*(?:[-–—]\d+)?"  # 4. 3. 12
    r"|\b[IVX]+[.,]\s*[ivx]+\b\.?"  # IV. iii
)
_NUMBERS = re.compile(rf"\b{_NUMBER}\b")
_LOWER = re.compile(r"\b[a-zà-ÿ]{2,}")
_ALLOWED = frozenset(
    """
    see cf compare also ibid ib id op cit loc and of the in on to from note notes ante supra infra above below
    edition ed edit vol vols chap foot seq seqq et sqq ff passim first second third fourth fifth sixth seventh
    eighth ninth tenth last series stanza stanzas line lines page pages works
    life letters poems
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)  # fmt: skip


def is_citation(said: str) -> bool:
    """Whether the words in a bracket only say where something stands.

    >>> [is_citation(said) for said in ("p. 149", "vol. i. pp. 3-4", "_Emma_, chap. xii.", "iv. 9", "see above, p. 3")]
    [True, True, True, True, True]
    >>> [is_citation(said) for said in ("1816", "as he says on p. 4 of his book", "the first", "I. Walton", "A line")]
    [False, False, False, False, False]
    """
    said = said.replace("_", "").replace("=", "")
    rest, places = _PLACE.subn(" ", said)
    if not places:
        rest, places = _BARE_PLACE.subn(" ", said)
    if not places:
        return False
    rest = _NUMBERS.sub(" ", rest)
    return all(word in _ALLOWED for word in _LOWER.findall(rest))
