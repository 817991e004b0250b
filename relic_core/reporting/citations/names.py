"""Names of persons: apart from one another, and into the parts that are turned around in a list of works cited.

A name written "Family, Given" says itself where it parts. Of others the last word is the family's, with the words
before it that belong to it: a capitalised or French *du*, *des*, *la* (La Fontaine, De Quincey, du Maurier), not a
*de*, *von* or *van* (Maupassant, Guy de). Where this is wrong for a person, write the name turned around. A name in
braces, of an institution for example, is left whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SUFFIX = re.compile(r"(?:Jr|Sr|Esq)\.?|I{1,3}|IV|VI{0,3}", re.IGNORECASE)
_DROPPED = frozenset(
    {
        "de",
        "d'",
        "d’",
        "del",
        "da",
        "das",
        "do",
        "dos",
        "di",
        "van",
        "der",
        "den",
        "ter",
        "ten",
        "te",
        "von",
        "vom",
        "zu",
        "zum",
        "zur",
        "und",
        "af",
        "av",
        "y",
        "e",
        "de'",
        "de’",
        "in't",
        "'t",
    }
)
_KEPT = frozenset(
    {"du", "des", "la", "le", "les", "las", "los", "l'", "l’", "della", "delle", "dei", "degli", "st.", "saint"}
)
_ARTICLES = frozenset({"la", "las", "los"})
_RANKS = re.compile(r"(?:Sir|Dame|Rev\.|Reverend|Dr\.?|Prof\.|Professor)\s+")
_NOBODY = re.compile(r"(?:anon(?:ymous)?|unknown|various(?: authors)?|author unknown|n\.\s?a\.)\.?", re.IGNORECASE)
_APOSTROPHE = re.compile(r"(?<![\w])(d['’]|l['’])(?=\w)")
_INITIALS = re.compile(r".*\b\w\.$")
_YEAR = r"(?:(?:b|d|ca?|fl)\.\s*|approximately\s+|active\s+)?\d{2,4}\??(?:\s*B\.?C\.?(?:E\.?)?)?"
_YEARS = re.compile(rf"(?:,\s*|\s*\(){_YEAR}(?:\s*[-–]\s*(?:{_YEAR})?)?[).]*(?=\s*(?:[,;&]|and\b|$))")
"""The years of a life, which catalogues put behind a name."""


@dataclass(frozen=True, slots=True)
class Name:
    """A person's name, or an institution's.

    Attributes
    ----------
    family : str
        What it is listed under, with the words that belong to it; the whole name where it has one part only.
    given : str
        The rest.
    particle : str
        "de", "von": stands before the family's name, and behind the given one where the name is turned around.
    suffix : str
        "Jr.", "IV".
    whole : bool
        Not to be turned around.

    Examples
    --------
    >>> Name("Maupassant", "Guy", "de").turned, Name("King", "Martin Luther", suffix="Jr.").direct
    ('Maupassant, Guy de', 'Martin Luther King Jr.')
    """

    family: str
    given: str = ""
    particle: str = ""
    suffix: str = ""
    whole: bool = False

    @property
    def direct(self) -> str:
        """In the order of speech."""
        glue = "" if self.particle.endswith(("'", "’")) else " "
        family = f"{self.particle}{glue}{self.family}" if self.particle else self.family
        return " ".join(filter(None, (self.given, family, self.suffix)))

    @property
    def turned(self) -> str:
        """As it stands in a list: the family's name first."""
        if self.whole:
            return self.family
        given = f"{self.given} {self.particle}".strip()
        return ", ".join(part for part in (self.family, given, self.suffix) if part)


def read_names(said: str) -> tuple[Name, ...]:
    """Read the persons that a title page or a catalogue names; nobody where they are unknown.

    Examples
    --------
    >>> [name.turned for name in read_names("Sophia Lee and Harriet Lee")]
    ['Lee, Sophia', 'Lee, Harriet']
    >>> [name.turned for name in read_names("Johann Wolfgang von Goethe; Thomas De Quincey; Walter de la Mare")]
    ['Goethe, Johann Wolfgang von', 'De Quincey, Thomas', 'de la Mare, Walter']
    >>> read_names("Anonymous")
    ()
    """
    said = _YEARS.sub("", " ".join(said.replace("\x00", " ").split()))
    if not said or _NOBODY.fullmatch(said):
        return ()
    names = [_read_name(part) for part in _persons(said)]
    return tuple(name for name in names if name.family)


def _persons(said: str) -> list[str]:
    held = re.findall(r"\{[^{}]*\}", said)
    for number, braced in enumerate(held):
        said = said.replace(braced, f"\x00{number}\x00", 1)
    if ";" in said:
        parts = [part for piece in said.split(";") for part in re.split(r"^\s*and\s+", piece)]
    else:
        parts = [part for piece in re.split(r",?\s+(?:and|&)\s+", said) for part in _commas(piece)]
    restored = [re.sub("\x00(\\d+)\x00", lambda found: held[int(found[1])], part) for part in parts]
    return [part.strip(" ,") for part in restored if part.strip(" ,")]


def _commas(piece: str) -> list[str]:
    """Part names at their commas, unless a comma turns a name around or stands before a suffix."""
    pieces: list[str] = []
    for part in (each.strip() for each in piece.split(",")):
        if pieces and _SUFFIX.fullmatch(part):
            pieces[-1] += f", {part}"
        elif part:
            pieces.append(part)
    if len(pieces) == 2:  # noqa: PLR2004 - one name turned around, or two
        first, second = pieces
        if " " not in first or " " not in second or _INITIALS.match(second):
            return [f"{first}, {second}"]
    return pieces


def _read_name(written: str) -> Name:
    if written.startswith("{"):
        return Name(written.strip("{} "), whole=True)
    parts = [part.strip() for part in written.split(",") if part.strip()]
    suffix = ""
    if len(parts) > 1 and _SUFFIX.fullmatch(parts[-1]):
        suffix = parts.pop()
    if len(parts) > 1:
        return _turned(parts[0], " ".join(parts[1:]), suffix)
    words = _APOSTROPHE.sub(r"\1 ", _RANKS.sub("", written if not suffix else parts[0])).split()
    if len(words) > 1 and not suffix and _SUFFIX.fullmatch(words[-1]):
        if len(words) == 2:  # noqa: PLR2004 - a ruler: Elizabeth I
            return Name(" ".join(words), whole=True)
        suffix = words.pop()
    if words and words[0] == "The":
        return Name(" ".join(words), whole=True)
    at = len(words) - 1
    while at > 1 and (words[at - 1].lower() in _KEPT or _capital_particle(words[at - 1])):
        at -= 1
    if words[at : at + 1] and words[at] in _ARTICLES and words[at - 1] == "de" and at > 1:
        at -= 1  # Walter de la Mare: English names keep both; the French write La and part there
    first = at
    while first > 1 and words[first - 1] in _DROPPED:
        first -= 1
    family = _close(" ".join(words[at:]))
    if at == 0:
        return Name(family, suffix=suffix)
    return Name(family, " ".join(words[:first]), _close(" ".join(words[first:at])), suffix)


def _turned(family: str, given: str, suffix: str) -> Name:
    words = given.split()
    at = len(words)
    while at > 1 and words[at - 1] in _DROPPED:
        at -= 1
    return Name(family, " ".join(words[:at]), " ".join(words[at:]), suffix)


def _capital_particle(word: str) -> bool:
    return word[:1].isupper() and word.lower() in _DROPPED | _KEPT and not word.endswith(".")


def _close(words: str) -> str:
    return re.sub(r"(?<=['’]) (?=\w)", "", words)
