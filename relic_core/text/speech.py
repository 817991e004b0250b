"""Speech: what is spoken, and by whom where a tag beside the words names the speaker.

A tag is "said Mrs. Orme" or "the Captain answered". No speaker is better than a wrong one, so only a name, or "I",
beside a verb of speaking counts. What else its paragraph holds of speech is taken for the same person's, as the custom
of printing is, and so is a speech that goes on in the next.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from relic_core.caching import LRUCache
from relic_core.domain import Work
from relic_core.text.dialogue import counted, find_speech
from relic_core.text.words import STOPWORDS, WORD, fold

SPEECH = "speech/2"
"""Version of these rules and of what counts as spoken: a new one makes what was kept unused."""

NARRATOR = "the narrator"
"""The speaker where a tag says "I"."""

SPEAKS = (
    "said|says|cried|cries|replied|replies|answered|answers|asked|asks|exclaimed|exclaims|returned|returns|observed|"
    "remarked|remarks|added|adds|continued|rejoined|retorted|whispered|murmured|muttered|inquired|enquired|demanded|"
    "called|shouted|screamed|repeated|resumed|interrupted|suggested|declared|protested|responded|began|ejaculated|"
    "sighed|laughed|growled|grumbled|gasped|sobbed|explained|urged|pleaded|begged|insisted|persisted|argued|admitted|"
    "agreed|assented|acknowledged|announced|pursued|proceeded|concluded|commented|remonstrated|snapped|snarled|hissed|"
    "roared|bawled|yelled|shrieked|groaned|moaned|faltered|stammered|breathed|quoth|interposed|drawled|chuckled|"
    "expostulated|hinted|interjected|objected|ventured|stated|affirmed|asserted|echoed|panted|mumbled|piped|wailed|"
    r"whimpered|went\s+on|goes\s+on|put\s+in|broke\s+in|struck\s+in|chimed\s+in|cut\s+in|burst\s+out|broke\s+out|"
    r"called\s+out|cried\s+out"
)
TITLE = (
    r"(?:Messrs|Mrs|Mr|Ms|Mme|Mlle|Dr|Capt|Col|Gen|Lieut|Lt|Maj|Sergt|Rev|Hon|St|Prof)\b\.?|M\."
    "|Miss|Doctor|Sir|Lady|Lord|Captain|Colonel|Major|General|Madame|Mademoiselle|Monsieur|Mister|Master"
)
_CAPITAL = "[A-ZÀ-ÖØ-ÞŁŚŠŽ]"
_PROPER = rf"{_CAPITAL}\w*(?:['’]{_CAPITAL}\w+|-\w+)*"
_PARTICLES = r"(?:(?:de|van|von|of|du|la|le|der)\s+)*"
NAME = rf"(?>(?:the\s+)?(?:(?:{TITLE})\s+)*{_PARTICLES}{_PROPER}(?:\s+{_PARTICLES}{_PROPER})*)"
_NOT_ALONE = rf"['’]s\b|['’](?!\w)|\s+and\s+(?:{_CAPITAL}|(?:his|her|my|the)\b)"
_WHO = rf"(?:(?P<pronoun>[Hh]e|[Ss]he|I|[Tt]hey|[Ww]e)\b|(?P<name>{NAME})(?!{_NOT_ALONE}))"
_EPITHET = r"(?:(?:the\s+)?(?:poor|little|old|young|good|dear|honest|worthy|gallant|kind|[a-z]+-[a-z]+)\s+)?"
_HOW = r"(?:\s+\w+ly|\s+(?:then|thus|only|again|also|had|now|at\s+(?:last|length|once)))?"
_TO_COME = r"(?:,?\s+[^.!?;:]{0,80}?)?\s*(?:,|:|,?\s*(?:--|—))\s*"

_BEHIND = re.compile(rf"[\s_—–-]*(?:{SPEAKS})(?:\s+\w+ly)?\s+{_EPITHET}_?{_WHO}")
_BEHIND_DIRECT = re.compile(rf"[\s_—–-]*{_EPITHET}{_WHO}{_HOW}\s+(?:{SPEAKS})\b(?!\s+(?:nothing|no|not)\b)")
_AHEAD = re.compile(rf"(?:^|[\s,])_?{_WHO}{_HOW}\s+(?:{SPEAKS}){_TO_COME}\Z")
_AHEAD_FIRST = re.compile(
    rf"(?:(?:And|But|Then|So|Now)\s+)?_?{_WHO}(?P<rest>\s.*)(?:,|\band|\bbut|\bthen){_HOW}\s+(?:{SPEAKS}){_TO_COME}\Z",
    re.DOTALL,
)
_ANYBODY = re.compile(
    rf"[\s_—–-]*(?:(?:the|his|her|my|our|their|an?|one|another)\s+(?:[\w'’]+\s+){{1,4}}?)?(?:{SPEAKS})\b"
)
_ANYBODY_AHEAD = re.compile(rf"\b(?:(?:{SPEAKS}|saying){_TO_COME}|with\s*[,:—-]+)\Z")
"""Tags of whatever speaker, beside which nothing is guessed."""
_OTHER = re.compile(
    rf"\b(?:he|she|they|I|we|who)\b|\b(?:and|while|as|that|which|but|when)\s+(?:his|her|the|my|an?)\b"
    rf"|(?<!to)(?<!at)(?<!of)(?<!with)(?<!upon)(?<!on)(?<!by)(?<!from)(?<!towards)\s{_CAPITAL}\w"
)
"""What may be the subject in place of the one that opens a sentence."""
_SENTENCE_END = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\bM)[.!?;]['\"’”)]*\s+")
_MARKS = "“”\"«»‘’'_ \n"
_NO_NAMES = STOPWORDS | {"again", "presently", "suddenly", "immediately", "meanwhile"}
"""What may open a sentence with a capital before a name."""
_GOES_ON = tuple(",!?-—–…:;")
"""What a speech ends with where its sentence is not over."""
_ANNOUNCES = (",", ":", "-", "—")
"""What the words before a speech end with where they belong to it."""


@dataclass(frozen=True, slots=True)
class Speech:
    """Words spoken in one paragraph: half-open offsets in the work, marks included; the speaker, empty if not named."""

    start: int
    end: int
    speaker: str = ""


@dataclass(frozen=True, eq=False)
class WorkSpeech:
    """What is spoken in a work: its speeches in order, each stretch inside marks by itself.

    - `spoken`: which sentences hold words of speech.
    """

    speeches: tuple[Speech, ...]
    spoken: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, work: Work) -> WorkSpeech:
        """Read the speech of a work."""
        _, pieces = find_speech(work)
        spoken = np.array([each.spoken > 0 for each in counted(work, pieces)], dtype=np.bool_)
        return cls(tuple(_speeches(work, pieces)), spoken)

    def holds(self, places: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Tell which characters of the work are spoken, by their offsets."""
        borders = np.array([(each.start, each.end) for each in self.speeches], np.int64).ravel()
        inside: npt.NDArray[np.bool_] = np.searchsorted(borders, places, side="right") % 2 == 1
        return inside

    def speakers(self, start: int, end: int) -> tuple[str, ...]:
        """Name those who speak between two offsets; nobody where narration prevails or a speaker is not named."""
        first = bisect_right(self.speeches, start, key=attrgetter("end"))
        here = self.speeches[first : bisect_left(self.speeches, end, key=attrgetter("start"))]
        spoken = sum(min(each.end, end) - max(each.start, start) for each in here)
        named = dict.fromkeys(each.speaker for each in here)
        return tuple(named) if 2 * spoken > end - start and "" not in named else ()


_KEPT = 24
_kept: LRUCache[WorkSpeech] = LRUCache(_KEPT)


def work_speech(work: Work) -> WorkSpeech:
    """Read the speech of a work; that of the last works is kept in memory."""
    return kept_speech(work.fingerprint, lambda: WorkSpeech.of(work))


def kept_speech(fingerprint: str, make: Callable[[], WorkSpeech]) -> WorkSpeech:
    """Give the speech of a work, made in some other way than reading it where it is not in memory."""
    return _kept.get(fingerprint, make)


def _speeches(work: Work, spoken: Mapping[int, Sequence[tuple[int, int]]]) -> Iterator[Speech]:
    tags = _Tags(work)
    found: list[list[Speech]] = []
    goes_on = -1  # the chapter of a speech that the last paragraph does not close
    ahead = -1  # where the last words before this paragraph begin, if they announce a speech
    for paragraph in work.paragraphs:
        pieces = spoken.get(paragraph.index, ())
        here: list[Speech] = []
        opens = bool(pieces) and pieces[0][0] == paragraph.start
        if paragraph.speaker:
            here = [Speech(*piece, paragraph.speaker) for piece in pieces]
        elif pieces:
            here = tags.of(pieces, ahead if opens and ahead >= 0 else paragraph.start, paragraph.end)
        if goes_on == paragraph.chapter and opens:
            found[-1] += here
        else:
            found.append(here)
        rest = pieces[-1][1] if pieces else paragraph.start
        unclosed = here and not paragraph.speaker and rest == paragraph.end and not _closed(work.text, here[-1])
        goes_on = paragraph.chapter if unclosed else -1
        ahead = rest if rest < paragraph.end and work.text[paragraph.end - 1] in _ANNOUNCES else -1
    for together in found:
        yield from _shared(together, work.text)


_SOMEBODY = "?"
"""The speaker of what has a tag that names nobody."""


def _closed(text: str, piece: Speech) -> bool:
    return text[piece.end - 1] in "”\"»’'"


def _shared(pieces: list[Speech], text: str) -> list[Speech]:
    """Give the only speaker of a paragraph to all that is speech there, and not a phrase set in marks."""
    named = {piece.speaker for piece in pieces if piece.speaker}
    if len(named) > 1 or named <= {_SOMEBODY}:
        return [replace(piece, speaker="") if piece.speaker == _SOMEBODY else piece for piece in pieces]
    (speaker,) = named
    ends = (".", *_GOES_ON)
    return [
        replace(piece, speaker=speaker)
        if text[piece.start : piece.end].rstrip(_MARKS).endswith(ends) or not _closed(text, piece)
        else piece
        for piece in pieces
    ]


class _Tags:
    """Reads the tags of one work, whose words tell which of those with a capital are names."""

    def __init__(self, work: Work) -> None:
        self._text = work.text
        self._words = Counter(WORD.findall(work.text))

    def of(self, pieces: Sequence[tuple[int, int]], start: int, end: int) -> list[Speech]:
        """Find the speakers of what is spoken in the paragraph from `start` to `end`."""
        found: list[Speech] = []
        ahead = start
        for (first, last), behind in zip(pieces, [*(piece[0] for piece in pieces[1:]), end], strict=True):
            before = self._ahead(self._text[ahead:first])
            goes_on = self._text[first:last].rstrip(_MARKS).endswith(_GOES_ON)
            after, ahead = self._behind(last, behind, goes_on=goes_on)
            found.append(Speech(first, last, after or before))
        return found

    def _behind(self, start: int, end: int, *, goes_on: bool) -> tuple[str, int]:
        """Read the tag behind a speech; also say where it ends."""
        if tag := _BEHIND.match(self._text, start, end) or (
            _BEHIND_DIRECT.match(self._text, start, end) if goes_on else None
        ):
            return self._speaker(tag), tag.end()
        tag = _ANYBODY.match(self._text, start, end)
        return (_SOMEBODY, tag.end()) if tag else ("", start)

    def _ahead(self, text: str) -> str:
        text = text.rstrip()
        if not text.endswith(_ANNOUNCES):
            return ""
        ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        sentence = text[ends[-1] if ends else 0 :].lstrip()
        tag = _AHEAD.search(sentence)
        if tag is None and (tag := _AHEAD_FIRST.match(sentence)) and _OTHER.search(tag["rest"]):
            return _SOMEBODY
        if tag:
            return self._speaker(tag)
        return _SOMEBODY if _ANYBODY_AHEAD.search(sentence) else ""

    def _speaker(self, tag: re.Match[str]) -> str:
        if pronoun := tag["pronoun"]:
            return NARRATOR if pronoun == "I" else ""
        words = tag["name"].replace("_", "").split()
        while len(words) > 1 and fold(words[0]) in _NO_NAMES and words[0] != "the":
            words = words[1:]
        first = words[words[0] == "the"]
        common = self._words[first] <= self._words[first.lower()] and words == [first]
        return _SOMEBODY if fold(first) in _NO_NAMES or common else " ".join(words)
