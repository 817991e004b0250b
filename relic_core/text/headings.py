"""Headings of plain texts: what one looks like, its number and its marks."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from relic_core.text.blocks import Block, flatten

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
_ORDINALS = (
    "premier première erstes erster erste primero primera primer primo prima первая первый",
    "deuxième second seconde zweites zweiter zweite segundo segunda secondo seconda вторая второй",
    "troisième drittes dritter dritte tercero tercera tercer terzo terza третья третий",
    "quatrième viertes vierter vierte cuarto cuarta quarto quarta четвертая четвёртая четвертый",
    "cinquième fünftes fünfter fünfte quinto quinta пятая пятый",
    "sixième sechstes sechster sechste sexto sexta sesto sesta шестая шестой",
    "septième siebentes siebtes siebente siebte séptimo séptima settimo settima седьмая седьмой",
    "huitième achtes achter achte octavo octava ottavo ottava восьмая восьмой",
    "neuvième neuntes neunter neunte noveno novena nono nona девятая девятый",
    "dixième zehntes zehnter zehnte décimo décima decimo decima десятая десятый",
    "onzième elftes elfter elfte undécimo undecimo одиннадцатая",
    "douzième zwölftes zwölfter zwölfte duodécimo dodicesimo двенадцатая",
)
"""Of French, German, Spanish, Italian and Russian."""
_WORDS |= {word: value for value, row in enumerate(_ORDINALS, start=1) for word in row.split() if word not in _WORDS}

NUMBER_PATTERN = (
    r"(?:\d{1,3}|[IVXLC]+|(?:"
    + "|".join(sorted((tens for tens, _ in _TENS), key=len, reverse=True))
    + r")[- ](?:"
    + "|".join(sorted(chain.from_iterable(_UNITS[:9]), key=len, reverse=True))
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


Level = Literal["part", "chapter", "section", "named"]

_CHAPTER_WORDS = (
    *("chapter", "chap", "stave", "letter", "lecture", "canto", "scene", "adventure", "fytte"),
    *("chapitre", "kapitel", "capítulo", "capitulo", "capitolo", "глава"),
)
_PART_WORDS = (
    *("volume", "vol", "book", "part", "phase", "act", "epoch", "period", "narrative"),
    *("livre", "tome", "partie", "buch", "teil", "theil", "band", "libro", "parte", "tomo", "часть", "книга", "том"),
)
_WORD = "|".join((*_CHAPTER_WORDS, *_PART_WORDS))
_SEPARATOR = r"(?P<separator>\s*(?:[.:—–;]|-{1,2})[\s.:—–-]*|\s+|$)"
_WORD_FIRST = re.compile(
    rf"(?P<word>{_WORD})\b\.?\s+(?P<number>(?:the\s+)?(?:{NUMBER_PATTERN}|last)\b){_SEPARATOR}(?P<title>.*)",
    re.IGNORECASE,
)
_NUMBER_FIRST = re.compile(
    rf"(?P<number>(?:the\s+)?(?:{NUMBER_PATTERN}|last|initial|final))\s+(?P<word>{_WORD}|epilogue)\b{_SEPARATOR}(?P<title>.*)",
    re.IGNORECASE,
)
_SECTION = re.compile(r"(?:chapter|section)\s+\d{1,3}\.(?:\d{1,3}|[IVXLC]+)\b\.?(?P<title>.*)", re.IGNORECASE)
_BARE = re.compile(r"[^\w\s\"“‘']*\s*(?P<number>[IVXLC]+|\d{1,3})\s*[^\w\s\"“”‘’'?!]*")
_BARE_WORD = re.compile(rf"(?:{NUMBER_PATTERN})[.:]?", re.IGNORECASE)
_TITLED = re.compile(
    r"\s*(?P<number>[IVXLC]+|\d{1,3})(?P<separator>[.:)]\s*(?:--?|—)?\s*|\s*(?:--?|—|–)\s*|\s{2,})(?P<title>\S.*)"
)
_TITLED_ARABIC = re.compile(r"\s*(?P<number>\d{1,3})\s+(?P<title>[A-Z\"“‘].*)")
_TITLED_ROMAN = re.compile(
    r"\s*(?P<number>[VXLC]|[IVXLC]{2,})\s+(?P<title>[A-Z\"“‘].*)"
)  # not "I": that begins sentences
_NAMED_FRONT = re.compile(
    r"(?:the |an )?(?:author['’]?s |translator['’]?s |editor['’]?s |publisher['’]?s |critical )?"
    r"(?:preface|introduction|introductory|foreword|forethought|advertisement|proem|note to the \w+ edition|"
    r"introductory (?:note|chapter|remarks)|prefatory note|(?:author|translator|editor|publisher)['’]?s note|"
    r"(?:a )?note on the (?:text|translation|author|edition)|about the (?:author|text|translator|translation)|"
    r"acknowledge?ments?|(?:a )?biographical (?:note|sketch|introduction)|"
    r"préface|avant-propos|vorwort|einleitung|prólogo|prefacio|introducción|prefazione|предисловие)\b"
    r"(?:,? (?:to|by|from|of|du|de|des|der|del|переводчика) .{1,60})?[.:]?",
    re.IGNORECASE,
)
_NAMED_ANYWHERE = re.compile(
    r"(?:the |an )?(?:prologue|prelude|induction|interlude|intermezzo|epilogue|finale|envoi|l['’]envoi|postscript|"
    r"afterword|afterthought|conclusion|coda|épilogue|epilog|prolog|epílogo|epilogo|эпилог|пролог)\b"
    r"(?:[.:;—-]+.{0,60}| to .{1,60})?",
    re.IGNORECASE,
)
_FIRST_WORD = re.compile(r"\W*(?:(?:the|an?)\s+)?(\w+)", re.IGNORECASE)
_FIRST_WORDS = {*_WORDS, *_CHAPTER_WORDS, *_PART_WORDS} | set(
    """
    about acknowledgement acknowledgements acknowledgment acknowledgments advertisement afterthought afterword author
    authors avant biographical coda conclusion critical editor editors einleitung envoi epilog epilogo epilogue final
    finale foreword forethought induction initial interlude intermezzo introduction introductory l last note postscript
    preface prefacio prefatory prefazione prelude proem prolog prologue publisher publishers section translator
    translators vorwort
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""What the patterns above begin with behind an article, in lower case, where it is ASCII."""
_BY_ANOTHER = re.compile(
    r"\b(?:translator|editor|publisher)['’]?s?\b|^(?:(?:an? |the )?(?:critical|biographical) |about the )"
    r"|^(?:a )?note on the |^acknowledge?ments?\b"
    r"|\b(?:traducteur|éditeur|Übersetzers|Herausgebers|traductor|traduttore)\b|переводчика",
    re.IGNORECASE,
)
"""What heads front matter that is not part of the work."""
_MOST_LINES = 6
_FEW_LINES = 3
"""A title takes no more; what is longer is a paragraph."""
_TITLE_ROOM = 260
_SHORT_LINE = 60
_SMALL_WORD = 3
"""Letters; words so short may be lower case in a title ("of", "the")."""


COUNTED = {"chapter", "chap", "roman", "arabic", "word"}
"""Units whose number alone names them; others are cited as printed ("Stave I", "Letter 2")."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What a block says, taken as a heading.

    - `level`: part of a work, chapter, section inside a chapter, or a piece with a name of its own (a prologue).
    - `word`: the word for the unit in lower case ("chapter", "book"); for bare numbers "roman", "arabic" or "word",
      with "titled" behind it where the title stands on the same line; for named ones "front" or "anywhere".
    - `value`: the number as a number; 0 where it has none ("the Last").
    - `title`: the title as printed in the same block, on one line.
    - `lines`: how many lines of the block it takes; what follows in the block is prose.
    """

    level: Level
    word: str
    number: str
    value: int
    title: str
    label: str
    lines: int

    @property
    def bare(self) -> bool:
        """Whether it is a number without a word for what it counts."""
        return self.word.split()[0] in {"roman", "arabic", "word"}

    @property
    def by_another(self) -> bool:
        """Whether it says that another hand than the author's wrote what follows."""
        return bool(_BY_ANOTHER.search(self.label))


def parse_heading(block: Block) -> Heading | None:
    """Read a block as a heading; None where it cannot be one.

    >>> from relic_core.text.blocks import split_blocks
    >>> def read(text):
    ...     found = parse_heading(next(split_blocks(text, 0, len(text))))
    ...     return found and (found.level, found.word, found.number, found.value, found.title)
    >>> read("CHAPTER XII. The Ferry")
    ('chapter', 'chapter', 'XII', 12, 'The Ferry')
    >>> read("Book the First--Recalled")
    ('part', 'book', 'the First', 1, 'Recalled')
    >>> read("IV"), read("Part I played in it was small.")
    (('chapter', 'roman', 'IV', 4, ''), None)
    """
    first = flatten(block.lines[0]) if len(block.lines[0]) < 2 * _TITLE_ROOM else ""
    if not first or len(first) > _TITLE_ROOM or not _may_head(first):
        return None
    heading = _worded(first) or _bare(first, block) or _named(first, block)
    if heading is None:
        return None
    return _with_following_lines(heading, block)


def _may_head(line: str) -> bool:
    """Whether the first word of a line is one that headings begin with; most lines need no closer look."""
    found = _FIRST_WORD.match(line)
    word = found[1].lower() if found else ""
    return word in _FIRST_WORDS or not word.isascii() or word.isdecimal() or not word.strip("ivxlc")


def clean_title(title: str) -> str:
    """Put a title on one line, without the stop and the dashes around it.

    >>> clean_title("--MISS  BROOKE."), clean_title("The end...")
    ('MISS BROOKE', 'The end...')
    """
    title = flatten(title).strip(" -—–:")
    return title[:-1] if title.endswith(".") and not title.endswith("..") else title


def is_capitals(line: str) -> bool:
    """Whether a line has letters and all of them are capitals.

    >>> is_capitals("WITH THEIR CONSEQUENCES;"), is_capitals("1847."), is_capitals("Mr. SAMUEL WELLER")
    (True, False, True)
    """
    line = re.sub(r"\b(?:Mr|Mrs|Dr|St|Mc|Mac)\b\.?", "", line)
    return line.isupper()


def _worded(first: str) -> Heading | None:
    section = _SECTION.fullmatch(first)
    if section:
        return Heading("section", "section", "", 0, clean_title(section["title"]), first, 1)
    match = _WORD_FIRST.fullmatch(first) or _NUMBER_FIRST.fullmatch(first)
    if match is None:
        return None
    number = " ".join(match["number"].split())
    value = number_value(re.sub(r"^the ", "", number, flags=re.IGNORECASE))
    if value is None and not re.search(r"last|initial|final", number, re.IGNORECASE):
        return None
    title, word = match["title"], match["word"].lower()
    if title and not match["separator"].strip() and not _reads_as_title(title, capital_word=match["word"].isupper()):
        return None
    if word == "epilogue" and not match["word"][0].isupper():
        return None
    level: Level = "chapter" if word in _CHAPTER_WORDS else "part"
    return Heading(level, word, number, value or 0, clean_title(title), first, 1)


def _reads_as_title(title: str, *, capital_word: bool) -> bool:
    """Whether words after a number without a stop between them are a title and not a sentence going on."""
    words = title.split()
    if capital_word:
        return not words[0].islower()
    return all(word[0].isupper() or not word[0].isalpha() for word in words if len(word) > _SMALL_WORD)


def _bare(first: str, block: Block) -> Heading | None:
    if not block.short:
        return None
    whole = _BARE.fullmatch(first)
    value = number_value(whole["number"]) if whole else None
    if whole and value:
        style = "arabic" if whole["number"].isdecimal() else "roman"
        return Heading("chapter", style, whole["number"], value, "", first, 1)
    if _BARE_WORD.fullmatch(first) and first[0].isupper():
        return Heading("chapter", "word", first.rstrip(".:"), number_value(first.rstrip(".:")) or 0, "", first, 1)
    line = re.sub(r"[_*=\ufeff]", "", block.lines[0])
    titled = _TITLED.fullmatch(line) or _TITLED_ARABIC.fullmatch(line) or _TITLED_ROMAN.fullmatch(line)
    value = number_value(titled["number"]) if titled else None
    if titled and value and len(block.lines) <= _FEW_LINES and is_title(flatten(titled["title"])):
        style = "arabic titled" if titled["number"].isdecimal() else "roman titled"
        return Heading("chapter", style, titled["number"], value, clean_title(titled["title"]), first, 1)
    return None


def is_title(line: str) -> bool:
    """Whether a line could be a title: it begins with a capital and does not end like a piece of a sentence."""
    starts = line.lstrip("\"'“‘(—-")[:1]
    if not starts or starts.islower() or line[-1] in ",;":
        return False
    return is_capitals(line) or not re.search(r"[a-z.][.!?][\"'”’]?$|[.!?] [A-Z][a-z]+ [a-z]", line)


def _named(first: str, block: Block) -> Heading | None:
    if len(block.lines) > _FEW_LINES or not (first[0].isupper() or first[0] in "“‘\"'"):
        return None
    for word, pattern in (("front", _NAMED_FRONT), ("anywhere", _NAMED_ANYWHERE)):
        if pattern.fullmatch(first):
            return Heading("named", word, "", 0, clean_title(first), first, 1)
    return None


def _with_following_lines(heading: Heading, block: Block) -> Heading | None:
    """Take further lines of the block into the heading; None where the block is prose that only begins like one."""
    rest = [flatten(line) for line in block.lines[1:]]
    if not rest:
        return heading
    capitals = 0
    while capitals < len(rest) and is_capitals(rest[capitals]):
        capitals += 1
    whole = len(rest) < _MOST_LINES and block.short
    if whole and capitals < len(rest) and not heading.title and not _is_short_title(rest):
        whole = False
    if whole and heading.title and re.search(r"[a-z][.!?]$", rest[-1]) and len(rest) >= _FEW_LINES:
        whole = False
    taken = len(rest) if whole else capitals
    if not whole and heading.title and not capitals:
        return None
    if heading.bare and not whole:
        return None
    more = " ".join(rest[:taken])
    title = clean_title(f"{heading.title} {more}")
    label = (
        f"{heading.label} {more}"
        if heading.title
        else f"{heading.label.rstrip('.:')}: {more}"
        if more
        else heading.label
    )
    if heading.level == "named":
        title = label
    return replace(heading, title=clean_title(title), label=label, lines=1 + taken)


def _is_short_title(lines: list[str]) -> bool:
    whole = is_title(" ".join(lines))
    return len(lines) <= _FEW_LINES and whole and all(is_title(line) or len(line) < _SHORT_LINE for line in lines)


MarkLevel = Literal["part", "chapter", "section", "aside"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A heading that stands.

    - `level`: "aside" begins matter by another hand.
    - `word`: as in `Heading`; "listed" for titles a contents list names, "titled" for parts that have only a title.
    - `title`, `label`: the title, and the whole heading, each with what stands on the next lines.
    - `under`: index of the block below it that holds its title.
    """

    index: int
    level: MarkLevel
    word: str
    number: str
    value: int
    title: str
    label: str
    under: int | None = None


def mark_heading(index: int, heading: Heading, level: MarkLevel) -> Mark:
    """Let a heading stand."""
    return Mark(index, level, heading.word, heading.number, heading.value, heading.title, heading.label)


def mark_title(index: int, block: Block, level: MarkLevel, word: str) -> Mark:
    """Let a title without a number stand."""
    title = clean_title(block.flat)
    return Mark(index, level, word, "", 0, title, title)
