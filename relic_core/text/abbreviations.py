"""Whether a full stop belongs to the word before it: a list of English abbreviations, with what novels add to it.

The list agrees with spaCy's English tokenizer, which RELiC's parser read through; a test holds the two together. It is
a list, and no call, because spaCy brings torch along: seconds and hundreds of megabytes for a few dozen words.

Source: spaCy, `Adding special case tokenization rules <https://spacy.io/usage/linguistic-features#special-cases>`_.
"""

from __future__ import annotations

import re

TITLES = frozenset(
    """
    mr mrs messrs ms mm mme mmes mlle mlles mons mgr dr prof rev revd hon st ste fr wm geo
    capt col gen lieut lt maj sergt sgt corp adm insp det supt gov sen rep mt v vs viz cf i.e e.g p.s n.b
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""Words that are followed by what they introduce, mostly a name: their stop never ends a sentence."""

NUMBERED = frozenset(
    """
    no nos vol vols ch chap fig p pp art sec jan feb mar apr jun jul aug sep sept oct nov dec esq
    """.split()  # noqa: SIM905
)
"""Words whose stop ends a sentence unless a number follows."""

PLACES = frozenset(
    """
    Ak Ala Ariz Ark Calif Colo Conn Fla Ga Ia Kan Kans Ky Md Mich Minn Mont Neb Nebr Nev Okla Ore Tenn Va Wis
    """.split()  # noqa: SIM905
)
"""Words whose stop is theirs only as written here: "Ark." is in America, and "ark." ends a sentence."""

_UNIT = re.compile(r"\d*[a-z]")
"""Single letters, as in "3s. 6d." or "c. 1850"."""

_NO_INITIALS = frozenset({"i", "a.m", "p.m"})


def owns_stop(word: str, *, before_number: bool = False, before_name: bool = True) -> bool:
    """Whether the full stop after `word` is part of it and ends no sentence.

    - `word`: what stands before the stop, its inner stops included ("p.m", "Mrs").
    - `before_name`: whether a name may follow. Initials own their stop only before one.

    >>> [word for word in ("Mrs", "St", "J", "Y.M.C", "I", "wife", "Ark", "ark", "Miss") if owns_stop(word)]
    ['Mrs', 'St', 'J', 'Y.M.C', 'Ark']
    >>> owns_stop("no"), owns_stop("No", before_number=True)
    (False, True)
    >>> owns_stop("S.E", before_name=False)
    False
    """
    lowered = word.lower()
    if lowered in TITLES or word in PLACES:
        return True
    if word[-1].isupper() and word[-2:-1] in {"", "."}:  # "J.", "U.S.", "Ph.D."
        return before_name and lowered not in _NO_INITIALS
    return before_number and (lowered in NUMBERED or _UNIT.fullmatch(lowered) is not None)
