"""Names and titles as styles write them: people, articles, capitals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from relic_core.text.sentences import owns_stop

_SMALL = frozenset(
    """
    a an the and but or nor as at by for from in into of off on onto over to upon with de du la le van von vs
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""Words that have no capital unless they stand first or last."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ROMAN = re.compile(r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})")
_NO_NUMBERS = frozenset({"MIX", "DI", "MI", "LI", "DIV", "DIX", "MD"})
"""Words that are read as numbers by their letters alone."""
_NAMES = re.compile(r"(?:O|D|L|M)['’](?=[^\W\d_]{2})")
"""O'Connell, D'Artagnan, M'Carthy."""
_BEGINS = re.compile(r"(?:^|[:;!?—–(“‘\"]|\.{3}|…|^(?:[IVXLCDM]+|\d+)\.)\W*$")
"""What a title, a part of it, or what stands behind its number begins after."""
_STOPPED = re.compile(r"([^\W\d_]{2,})\.\s+$")
_ABBREVIATED = re.compile(r"(?:[^\W\d_]\.){2,}")


def title_capitals(heading: str) -> str:
    """Set a heading that is all in capitals as a title; any other stays as it is.

    >>> title_capitals("THE TRAGEDY OF PUDD'NHEAD WILSON"), title_capitals("HENRY VIII AND I")
    ("The Tragedy of Pudd'nhead Wilson", 'Henry VIII and I')
    >>> title_capitals("A MOTHER-IN-LAW'S TALE"), title_capitals("The USA")
    ("A Mother-in-Law's Tale", 'The USA')
    >>> title_capitals("PART THE FIRST. OF THE MAN"), title_capitals("MR. M'CHOAKUMCHILD AND MR. DIX")
    ('Part the First. Of the Man', "Mr. M'Choakumchild and Mr. Dix")
    """
    if not heading.isupper():
        return heading
    abbreviated = [found.span() for found in _ABBREVIATED.finditer(heading)]
    words = list(_WORD.finditer(heading))
    written = ""
    at = 0
    for number, found in enumerate(words):
        stays = any(start <= found.start() < end for start, end in abbreviated)
        before = heading[: found.start()]
        outermost = number in {0, len(words) - 1} or _BEGINS.search(before) or _ends_sentence(before)
        written += heading[at : found.start()] + (found[0] if stays else _set(found[0], small=not outermost))
        at = found.end()
    return written + heading[at:]


def _ends_sentence(before: str) -> bool:
    """Whether a full stop stands at the end that is not part of a word, as in "Mr."."""
    found = _STOPPED.search(before)
    return found is not None and not owns_stop(found[1].capitalize())


def _set(word: str, *, small: bool) -> str:
    if _ROMAN.fullmatch(word) and word not in _NO_NUMBERS:
        return word
    if small and word.lower() in _SMALL:
        return word.lower()
    begin = _NAMES.match(word)
    if begin:
        return f"{begin[0]}{word[begin.end() :].capitalize()}"
    return word.capitalize()


_SUFFIX = re.compile(r"(?:Jr|Sr|Esq)\.?|I{1,3}|IV|VI{0,3}|p[eè]re|fils", re.IGNORECASE)
_OF_RULERS = re.compile(r"[IVX]+")
_DROPPED = frozenset(
    """
    de d' d’ del da das do dos di van der den ter ten te von vom zu zum zur und af av y e de' de’ in't 't
    """.split()  # noqa: SIM905 - as above
)
_RETAINED = frozenset("du des la le les las los l' l’ della delle dei degli st. saint".split())  # noqa: SIM905 - as above
_ARTICLES = frozenset({"la", "las", "los"})
_RANKS = re.compile(r"(?:Sir|Dame|Rev\.|Reverend|Dr\.?|Prof\.|Professor)\s+")
_PEERS = r"Duke|Duchess|Marquess|Marquis|Marchioness|Earl|Countess|Viscount|Viscountess|Baron|Baroness|Prince|Princess"
_RANK = re.compile(
    rf"(?:Lord|Lady|Sir|Dame|Saint|St\.|Mrs\.?|Count|Bart\.?|Baronet|{_PEERS}|comte|comtesse|vicomte|vicomtesse|duc|duchesse"
    r"|conte|contessa|marchese|marquise|graf|gräfin|grafinia|kni\W*a\W*z\W*|kni\W*a\W*gini\W*a\W*|freiherr|freifrau"
    r"|freiherrin|ritter|pseud\.?|(?:King|Queen|Pope|Bishop|Archbishop|Abbot)(?= of ))(?: (?:of|de|du|di|von|zu)\b.*)?",
    re.IGNORECASE,
)
"""What catalogues put behind a name, after a comma."""
_STYLED = re.compile(rf"Lord|(?:{_PEERS}) of")
"""Of these the ones that stay: Alfred, Lord Tennyson; John Wilmot, Earl of Rochester."""
_STYLED_FAMILY = re.compile(rf"({_STYLED.pattern}) (\S.*)")
_OTHER_NAME = re.compile(r"\{[^{}]*\}|\s*\(([^(){}]*)\)")
"""A name in braces, or what is in brackets: who a pen name hides, or what initials stand for."""
_NOBODY = re.compile(r"(?:anon(?:ymous)?|unknown|various(?: authors)?|author unknown|n\.\s?a\.)\.?", re.IGNORECASE)
_APOSTROPHE = re.compile(r"(?<![\w])(d['’]|l['’])(?=\w)")
_INITIALS = re.compile(r".*\b\w\.$")
_YEAR = r"(?:(?:b|d|ca?|fl)\.\s*|approximately\s+|active\s+)?\d{2,4}\??(?:\s*B\.?C\.?(?:E\.?)?)?"
_YEARS = re.compile(rf"(?:,\s*|\s*\(){_YEAR}(?:\s*[-–]\s*(?:{_YEAR})?)?[).]*(?=\s*(?:[,;&]|and\b|$))")
"""The years of a life, which catalogues put behind a name."""


@dataclass(frozen=True, slots=True)
class Name:
    """A person's name, or an institution's.

    - `family`: what it is listed under, with the words that belong to it; the whole name where it has one part only.
    - `particle`: "de", "von": before the family's name, and behind the given one where the name is turned around.
    - `suffix`: "Jr.", "IV", "père".
    - `title`: "Lord", "Earl of": before the family's name, and last where the name is turned around.
    - `short`: in a text that cites others of its family: "C. Brontë"; empty where the family is enough.

    >>> Name("Maupassant", "Guy", "de").turned, Name("King", "Martin Luther", suffix="Jr.").direct
    ('Maupassant, Guy de', 'Martin Luther King Jr.')
    """

    family: str
    given: str = ""
    particle: str = ""
    suffix: str = ""
    whole: bool = False
    title: str = ""
    short: str = ""

    @property
    def direct(self) -> str:
        """In the order of speech."""
        given = f"{self.given}," if self.given and self.title else self.given
        return " ".join(filter(None, (given, self.title, self.full_family, self.suffix)))

    @property
    def full_family(self) -> str:
        """The family's name behind its particle: "de Maupassant", "d'Alembert"."""
        glue = "" if self.particle.endswith(("'", "’")) else " "
        return f"{self.particle}{glue}{self.family}" if self.particle else self.family

    @property
    def in_text(self) -> str:
        """As a text names it that cites it: by the family alone where that is enough."""
        return self.short or self.family

    @property
    def turned(self) -> str:
        """As it is printed in a list: the family's name first."""
        if self.whole:
            return self.family
        given = f"{self.given} {self.particle}".strip()
        return ", ".join(part for part in (self.family, given, self.title, self.suffix) if part)


def up_to_two(names: Sequence[str]) -> str:
    """List names up to two, of more the first.

    >>> up_to_two(["Lee", "Smith"]), up_to_two(["Lee", "Smith", "Poe"])
    ('Lee and Smith', 'Lee et al.')
    """
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)  # noqa: PLR2004 - as its name says


def read_names(text: str) -> tuple[Name, ...]:
    """Read the persons that a title page or a catalogue names; nobody where they are unknown.

    >>> [name.turned for name in read_names("Sophia Lee and Harriet Lee")]
    ['Lee, Sophia', 'Lee, Harriet']
    >>> [name.turned for name in read_names("Johann Wolfgang von Goethe; Thomas De Quincey; Walter de la Mare")]
    ['Goethe, Johann Wolfgang von', 'De Quincey, Thomas', 'de la Mare, Walter']
    >>> read_names("Anonymous")
    ()
    """
    text = _YEARS.sub("", _OTHER_NAME.sub(_set_aside, re.sub(r"(?:[^\S\xa0]|\x00)+", " ", text))).strip()
    if not text or _NOBODY.fullmatch(text):
        return ()
    names = [_read_name(part) for part in _persons(text)]
    return tuple(name for name in names if name.family)


def _persons(text: str) -> list[str]:
    held = re.findall(r"\{[^{}]*\}", text)
    for number, braced in enumerate(held):
        text = text.replace(braced, f"\x00{number}\x00", 1)
    if ";" in text:
        parts = [re.sub(r"^\s*and\s+", "", piece) for piece in text.split(";")]
    else:
        pieces = re.split(r",?\s+(?:and|&)\s+", text)
        parts = list(chain.from_iterable(_commas(piece, alone=len(pieces) == 1) for piece in pieces))
    restored = [re.sub("\x00(\\d+)\x00", lambda found: held[int(found[1])], part) for part in parts]
    return [part.strip(" ,") for part in restored if part.strip(" ,")]


def _set_aside(found: re.Match[str]) -> str:
    """Leave out what is in brackets, but for a suffix: Alexandre Dumas (fils)."""
    if found[1] is None:
        return found[0]
    return f", {found[1]}" if _SUFFIX.fullmatch(found[1]) else ""


def _commas(piece: str, *, alone: bool) -> list[str]:
    """Part names at their commas, unless a comma turns a name around or stands before a suffix or a rank."""
    pieces: list[str] = []
    behind: list[str] = []
    for part in (each.strip() for each in piece.split(",")):
        if pieces and (_SUFFIX.fullmatch(part) or _RANK.fullmatch(part)):
            behind[-1] += f", {part}"
        elif part:
            pieces.append(part)
            behind.append("")
    if len(pieces) == 2:  # noqa: PLR2004 - one name turned around, or two
        first, second = pieces
        styled = alone and _STYLED_FAMILY.fullmatch(second)  # else Lord Byron is the second of three
        if styled or " " not in first or " " not in second or _INITIALS.match(second):
            return [f"{first}{behind[0]}, {second}{behind[1]}"]
    return [f"{part}{rest}" for part, rest in zip(pieces, behind, strict=True)]


def _read_name(written: str) -> Name:
    if written.startswith("{"):
        return Name(written.strip("{} "), whole=True)
    parts = [part.strip() for part in written.split(",") if part.strip()]
    suffix, rank = _take_behind(parts)
    if len(parts) > 1:
        return _turned(parts[0], " ".join(parts[1:]), suffix, rank)
    return _in_order(parts[0] if parts else written, suffix, rank if _STYLED.fullmatch(rank) else "")


def _take_behind(parts: list[str]) -> tuple[str, str]:
    suffix = rank = ""
    while len(parts) > 1:
        last, turned = parts[-1], len(parts) > 2  # noqa: PLR2004 - family, given, and this
        if _SUFFIX.fullmatch(last):
            suffix = parts.pop()
        elif _RANK.fullmatch(last) and (turned or (" " in parts[0] and not _STYLED_FAMILY.fullmatch(last))):
            rank = parts.pop()
        else:
            break
    return suffix, rank


def _in_order(written: str, suffix: str, title: str) -> Name:
    words = re.findall(r"(?:\S|\xa0)+", _APOSTROPHE.sub(r"\1 ", _RANKS.sub("", written)))  # no-break spaces join
    if len(words) > 1 and not suffix and _SUFFIX.fullmatch(words[-1]):
        if len(words) == 2 and _OF_RULERS.fullmatch(words[-1]):  # noqa: PLR2004 - Elizabeth I
            return Name(" ".join(words), whole=True)
        suffix = words.pop()
    if words and words[0] == "The":
        return Name(" ".join(words), whole=True)
    at = len(words) - 1
    while at > 1 and (words[at - 1].lower() in _RETAINED or _capital_particle(words[at - 1])):
        at -= 1
    if words[at : at + 1] and words[at] in _ARTICLES and words[at - 1] == "de" and at > 1:
        at -= 1  # Walter de la Mare: English names keep both; the French write La and part there
    first = at
    while first > 1 and words[first - 1] in _DROPPED:
        first -= 1
    family = _close(" ".join(words[at:]))
    if at == 0:
        return Name(family, suffix=suffix, title=title)
    return Name(family, " ".join(words[:first]), _close(" ".join(words[first:at])), suffix, title=title)


def _turned(family: str, given: str, suffix: str, rank: str) -> Name:
    if not rank and (styled := _STYLED_FAMILY.fullmatch(given)):  # it was not turned around: Alfred, Lord Tennyson
        return Name(styled[2], _without(family, styled[2]), suffix=suffix, title=styled[1])
    if rank:
        given = _without(given, family)
    if rank.rstrip(".") == "Mrs":
        given = f"Mrs. {given}"  # Humphry Ward was her husband
    words = given.split()
    at = len(words)
    while at > 1 and words[at - 1] in _DROPPED:
        at -= 1
    title = rank if _STYLED.fullmatch(rank) else ""
    return Name(family, " ".join(words[:at]), " ".join(words[at:]), suffix, title=title)


def _without(given: str, family: str) -> str:
    """Leave the family's name away where it is said twice: Byron, George Gordon Byron, Baron."""
    return given.removesuffix(f" {family}")


def _capital_particle(word: str) -> bool:
    return word[:1].isupper() and word.lower() in _DROPPED | _RETAINED and not word.endswith(".")


def _close(words: str) -> str:
    return re.sub(r"(?<=['’])\s(?=\w)", "", words).replace("\xa0", " ")
