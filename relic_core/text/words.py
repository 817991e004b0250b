"""Words as the lexical side sees them: one tokenizer and one list of function words for works and claims alike.

A word is a run of letters or digits, with the apostrophes inside it. Hyphens, dashes and the underscores that
plain-text editions use for italics part words. A token is the word in lower case, without accents (Natásha, natasha),
without the endings 's, 'd, 'll, 've, 're and 'm (Gatsby's, gatsby), its apostrophes straight.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from relic_core.caching import LRUCache
from relic_core.domain import Offsets, Work
from relic_core.text.unbroken import cuts, origins, without

WORDS = "words/1"
"""Version of what counts as a word and as a function word: a new one changes what lexical retrievers score."""

_LETTERS = r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*"  # accents may be characters of their own
WORD = re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})*")
_CLITIC = re.compile(r"(?<=\w)'(?:s|d|ll|ve|re|m)$")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'"})
_LIGATURES = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ð": "d", "þ": "th", "ł": "l"})

STOPWORDS = frozenset(
    """
    a an the
    i me my myself we us our ours ourselves you your yours yourself yourselves thou thee thy thine thyself ye
    he him his himself she her hers herself it its itself they them their theirs themselves one oneself
    this that these those such same other others another each every either neither both all any some no none
    who whom whose which what whoever whomever whichever whatever whatsoever
    somebody someone something anybody anyone anything everybody everyone everything nobody nothing
    and or but nor yet so if than though although because since unless until till while whilst whereas whether lest
    as like when where why how whenever wherever however
    of in on at by to from with without within into onto unto upon about above below beneath under over through
    throughout during before after against among amongst between beyond behind beside besides toward towards across
    along around near off out up down per via except despite for
    am is are was were be been being
    have has had having hath hast hadst do does did doing done doth dost didst
    can could may might must shall should will would ought shalt wilt couldst wouldst shouldst canst mayst cannot
    not never very too also just only even quite rather ever then there here thus hence therefore now else own
    much many more most
    isn't aren't wasn't weren't ain't hasn't haven't hadn't don't doesn't didn't can't couldn't mayn't mightn't mustn't
    shan't shouldn't won't wouldn't oughtn't needn't daren't
    isnt arent wasnt werent hasnt havent hadnt dont doesnt didnt couldnt mustnt shouldnt wouldnt
    tis twas twere twill twould tisn't twasn't o th em
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""English function words as tokens, older and contracted forms included: no evidence, so never matched."""


def fold(word: str) -> str:
    """Give a word in lower case, without accents, its apostrophes straight; unlike a token it keeps its ending.

    >>> fold("Natásha’s")
    "natasha's"
    """
    plain = word.translate(_APOSTROPHES).casefold()
    if plain.isascii():
        return plain
    decomposed = unicodedata.normalize("NFKD", plain.translate(_LIGATURES))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)) or plain


@lru_cache(maxsize=32_768)  # a long novel prints about so many different words
def _token(word: str) -> str:
    plain = fold(word)
    return _CLITIC.sub("", plain) if "'" in plain else plain


Token = tuple[int, int, str]
"""Half-open character offsets of a word, and its token."""


def word_spans(text: str) -> list[Token]:
    """Find the words of a text: half-open character offsets and the token of each.

    >>> word_spans("_Gatsby’s_ drawing-room")
    [(1, 9, 'gatsby'), (11, 18, 'drawing'), (19, 23, 'room')]
    """
    return [(*match.span(), _token(match.group())) for match in WORD.finditer(text)]


def whole_words(
    text: str, start: int = 0, end: int | None = None, gone: Sequence[Offsets] | None = None
) -> Iterator[Token]:
    r"""Find the words of a stretch of a text as printed, those whole that are broken; offsets are those of the text.

    `gone`: the text's cuts, where they are known.

    >>> list(whole_words("The transfor-\nmation"))
    [(0, 3, 'The'), (4, 20, 'transformation')]
    """
    end = len(text) if end is None else end
    gone = cuts(text) if gone is None else gone
    first, last = bisect_right(gone, start, key=itemgetter(1)), bisect_left(gone, end, key=itemgetter(0))
    within = [(max(cut, start) - start, min(after, end) - start) for cut, after in gone[first:last]]
    if not within:
        for match in WORD.finditer(text, start, end):
            yield match.start(), match.end(), match.group()
        return
    stretch = text[start:end]
    at = origins(stretch, within)
    for match in WORD.finditer(without(stretch, 0, len(stretch), within)):
        yield start + int(at[match.start()]), start + int(at[match.end() - 1]) + 1, match.group()


def whole_spans(text: str) -> list[Token]:
    """Find the words of a text as `word_spans` does, those whole that are broken."""
    gone = cuts(text)
    if not gone:
        return word_spans(text)
    return [(start, end, _token(word)) for start, end, word in whole_words(text, gone=gone)]


def words_at(text: str, places: Sequence[int]) -> list[str]:
    """Give the word that each place of a text is in; empty where it is in none.

    >>> words_at("Gatsby’s light", [3, 8, 9, -1])
    ['Gatsby’s', '', 'light', '']
    """
    found = list(WORD.finditer(text))
    at = np.searchsorted([match.start() for match in found], np.asarray(places), side="right") - 1
    return [
        found[word].group() if word >= 0 and place < found[word].end() else ""
        for word, place in zip(at.tolist(), places, strict=True)
    ]


def tokens(text: str) -> list[str]:
    """List the tokens of a text, function words included.

    >>> tokens("Natásha didn’t see—it’s the _Brontës’_ 1,000th!")
    ['natasha', "didn't", 'see', 'it', 'the', 'brontes', '1', '000th']
    """
    return [_token(word) for word in WORD.findall(text)]


def content_tokens(text: str) -> list[str]:
    """List the tokens of a text that are not function words.

    >>> content_tokens("It was the best of times")
    ['best', 'times']
    """
    return [token for token in tokens(text) if token not in STOPWORDS]


def shared_words(wanted: Set[str], text: str) -> list[tuple[int, int]]:
    """Find the words of a text that are among a claim's content tokens; half-open character offsets, in order.

    >>> shared_words(set(content_tokens("Gatsby’s light")), "the green light at the end of the dock")
    [(10, 15)]
    """
    return [(start, end) for start, end, token in word_spans(text) if token in wanted]


TITLES = frozenset(
    """
    mr mrs miss messrs master mistress madam madame monsieur mademoiselle dr doctor sir lady lord dame count countess
    baron baroness duke duchess prince princess captain colonel major general lieutenant sergeant admiral inspector
    professor reverend rev father mother brother sister uncle aunt st saint don squire judge
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""Tokens that part of a name may be: alone they tell nothing of who is meant."""

_TELL_LITTLE = frozenset(
    """
    first second third last next two three several few less least once twice again always ever often still yet already
    see sees saw seen seeing say says said saying show shows showed shown showing make makes made making go goes went
    gone going come comes came coming get gets got take takes took taken give gives gave given put let know knows
    knew known think thinks thought thing things way ways use used become becomes became seem seems seemed
    mr mrs miss messrs dr
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""Tokens that are not lit by themselves: half of all passages share them. Retrievers count them all the same."""

_WITHIN_NAME = re.compile(r"\.?\s+")


def lit_words(wanted: Set[str], text: str) -> list[tuple[int, int]]:
    """Find what to light of a text among a claim's content tokens: `shared_words` that tell something.

    A title and the name behind it are one. Where the claim has titles, but not this one, the name alone is lit.

    >>> lit_words(set(content_tokens("Mr Bennet at first")), "At first Mr. Bennet saw Mr. Collins and Mrs. Bennet")
    [(9, 19), (45, 51)]
    """
    spots = word_spans(text)
    lit: list[tuple[int, int]] = []
    for at, (start, end, token) in enumerate(spots):
        if token not in wanted or token in _TELL_LITTLE or (token in TITLES and _before_name(spots, at, text)):
            continue
        title = spots[at - 1] if at and spots[at - 1][2] in TITLES and _before_name(spots, at - 1, text) else None
        claimed = title is not None and (title[2] in wanted or not wanted & TITLES)
        lit.append((title[0] if title and claimed else start, end))
    return lit


def _before_name(spots: Sequence[tuple[int, int, str]], at: int, text: str) -> bool:
    """Tell whether a word is set as a title right before a capitalised word."""
    if at + 1 == len(spots):
        return False
    (start, end, _), (after, *_) = spots[at], spots[at + 1]
    return text[start].isupper() and text[after].isupper() and _WITHIN_NAME.fullmatch(text, end, after) is not None


def shared_runs(text: str, other: str, words: int = 3) -> list[tuple[int, int]]:
    """Find the runs of at least so many words of a text that occur in another; half-open character offsets, in order.

    >>> shared_runs("He saw the green light, and the light was green.", "That green light, and the dock")
    [(11, 31)]
    """
    held = tokens(other)
    known = {tuple(held[at : at + words]) for at in range(len(held) - words + 1)}
    spots = word_spans(text)
    runs: list[tuple[int, int]] = []
    last = 0  # the word after the last run
    for at in range(len(spots) - words + 1):
        if tuple(token for *_, token in spots[at : at + words]) in known:
            start = runs.pop()[0] if runs and at < last else spots[at][0]
            last = at + words
            runs.append((start, spots[last - 1][1]))
    return runs


@dataclass(frozen=True, eq=False)
class WorkWords:
    """The content tokens of a work, sentence by sentence.

    - `vocabulary`: each token's id, in order of first use.
    - `starts`: sentence ``i`` has the tokens ``ids[starts[i]:starts[i + 1]]``.
    """

    vocabulary: dict[str, int]
    ids: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, work: Work, left_out: Set[str] = STOPWORDS) -> WorkWords:
        """Read the words of a work, but for those that are left out."""
        gone = cuts(work.text)
        return cls.of_texts((without(work.text, each.start, each.end, gone) for each in work.sentences), left_out)

    @classmethod
    def of_texts(cls, texts: Iterable[str], left_out: Set[str] = STOPWORDS) -> WorkWords:
        """Read the words of some texts, each of which stands for a sentence."""
        vocabulary: dict[str, int] = {}
        ids: list[int] = []
        starts = [0]
        id_of: dict[str, int] = {}  # by word as printed; -1 for what is left out
        for text in texts:
            for word in WORD.findall(text):
                number = id_of.get(word)
                if number is None:
                    token = _token(word)
                    number = -1 if token in left_out else vocabulary.setdefault(token, len(vocabulary))
                    id_of[word] = number
                if number >= 0:
                    ids.append(number)
            starts.append(len(ids))
        return cls(vocabulary=vocabulary, ids=np.array(ids, dtype=np.int32), starts=np.array(starts, dtype=np.int64))


_KEPT = 4
_kept: LRUCache[WorkWords] = LRUCache(_KEPT)


def work_words(work: Work) -> WorkWords:
    """Read the words of a work; those of the last few works are kept in memory."""
    return _kept.get(work.fingerprint, lambda: WorkWords.of(work))


def keep_words(fingerprint: str, words: WorkWords) -> None:
    """Keep the words of a work that were read before, as `work_words` would read them."""
    _kept.get(fingerprint, lambda: words)


CRITICS_WORDS = frozenset(
    """
    ancient classical homeric mediaeval medieval arthurian chaucerian renaissance reformation elizabethan jacobean
    shakespearean miltonic restoration augustan neoclassical enlightenment georgian regency romantic byronic victorian
    dickensian edwardian decadent modern postwar antebellum reconstruction age period century revolution industrial
    empire depression war world civil
    gothic bildungsroman kunstlerroman faustian promethean oedipal sisyphean dionysian apollonian arcadian utopian
    marxian freudian jungian lacanian hegelian kantian platonic aristotelian cartesian nietzschean foucauldian
    darwinian bakhtinian benthamite machiavellian epicurean
    freud jung lacan marx engels hegel kant plato aristotle descartes rousseau nietzsche schopenhauer kierkegaard
    heidegger sartre beauvoir foucault derrida deleuze bakhtin barthes lukacs gramsci althusser adorno kristeva irigaray
    spivak fanon bentham darwin
    queer colonial postcolonial imperial
    god christ bible biblical scripture eden edenic providence christian jewish muslim islamic hindu catholic protestant
    anglican puritan methodist quaker evangelical pagan
    english british scottish welsh irish celtic anglo saxon french german austrian italian roman greek spanish
    portuguese dutch swiss russian soviet polish scandinavian norse norwegian swedish danish turkish ottoman persian
    arab egyptian indian chinese japanese asian african caribbean american canadian australian latin european western
    eastern england britain europe america
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december christmas easter
    chapter book part volume act scene mr mrs miss dr
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""Tokens that critics use of any work: periods, schools, thinkers, faiths, peoples, days, parts of a book.

A character so called in another work (Christian) is taken for the critic's word all the same.
"""

_SCHOOL = re.compile(r"(?:is[mt]|esque)s?$")
_NUMERAL = re.compile(r"[IVXLC]+")
_NAMES = r"(?:[^\W\d_a-z][\w.’'-]*\s+){0,3}[^\W\d_a-z][\w’'-]*"
_SAYS = (
    r"(?:say|put|argue|note|write|observe|suggest|claim|call|show|remark|point|remind|describe)(?:e?s|e?d)?"
    r"|said|wrote|shown"
)
_CITED = re.compile(
    rf"\b[Aa]ccording\s+to\s+{_NAMES}|\b[Aa]s\s+{_NAMES}(?=(?:\s+(?:would|might|could|has|had|once|also))*\s+(?:{_SAYS})\b)"
)
_SENTENCE = re.compile(r"[^.!?…]+")
_LEAST_TITLE = 3
"""Content words; fewer in a row may be a name."""
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_OPENS_SENTENCE = re.compile(r"(?:^|[.!?:…]['\"’”)\]]*)[\s'\"‘“(\[_]*$")


def _is_title(sentence: str) -> bool:
    """Tell whether all content words are capitalised, as in a title; what follows a hyphen (Self-deceit) may not be."""
    content = [
        sentence[start]
        for start, _, token in word_spans(sentence)
        if token not in STOPWORDS and sentence[start - 1 : start] != "-"
    ]
    return len(content) >= _LEAST_TITLE and all(letter.isupper() for letter in content)


def _without_names(claim: str) -> list[tuple[int, int]]:
    """Find where capitals tell nothing of the work: sentences set as titles, and the critics that a claim cites."""
    titles = [match.span() for match in _SENTENCE.finditer(claim) if _is_title(match.group())]
    return titles + [match.span() for match in _CITED.finditer(claim)]


def _is_name(text: str, start: int, word: str) -> bool:
    if not word[0].isupper() or _NUMERAL.fullmatch(word) or _SCHOOL.search(word):
        return False
    opens = _OPENS_SENTENCE.search(text, max(0, start - 12), start) is not None
    return not opens or _POSSESSIVE.search(word) is not None


_NAMED_IN = 12
"""Sentences of a work that are looked at to tell whether a word is a name there, and how many have to tell."""
_LEAST_NAMED, _MOSTLY = 3, 0.8
_named: LRUCache[bool | None] = LRUCache(20_000)


def without_names(claim: str, work: Work | None = None) -> str:
    """Leave the names out of a claim: what a work prints with a capital wherever it stands.

    - `work`: where it is not given, or says too little of a word, the claim's own capitals tell.

    >>> without_names("the shame of Pip and Joe")
    'the shame of and'
    """
    nameless = _without_names(claim)
    left = claim
    for start, end, token in reversed(word_spans(claim)):
        if token in STOPWORDS:
            continue
        named = is_named(token, work) if work is not None else None
        if named is None:
            in_title = any(first <= start < last for first, last in nameless)
            named = _is_name(claim, start, claim[start:end]) and not in_title
        if named:
            left = left[:start] + left[end:]
    return " ".join(left.split())


def is_named(token: str, work: Work) -> bool | None:
    """Whether a work prints a word with a capital wherever it stands; None where it says too little of it."""

    def count() -> bool | None:
        capitals = _capitals(token, work_words(work), work)
        return sum(capitals) > _MOSTLY * len(capitals) if len(capitals) >= _LEAST_NAMED else None

    return _named.get((work.fingerprint, token), count)


def _capitals(token: str, words: WorkWords, work: Work) -> list[bool]:
    """Tell for some places of a token in a work, but where it opens a sentence, whether it has a capital."""
    number = words.vocabulary.get(token)
    if number is None:
        return []
    found = np.searchsorted(words.starts, np.flatnonzero(words.ids == number), side="right") - 1
    found = found[np.flatnonzero(np.diff(found, prepend=-1))]  # in order, so that none needs to be sorted out
    capitals: list[bool] = []
    for index in found[:: max(1, len(found) // (4 * _NAMED_IN))].tolist():
        sentence = work.sentence_text(index)
        capitals += [
            sentence[start].isupper()
            for start, _, each in word_spans(sentence)
            if each == token and not _OPENS_SENTENCE.search(sentence, max(0, start - 12), start)
        ]
        if len(capitals) >= _NAMED_IN:
            break
    return capitals


def unknown_words(claim: str, work: Work) -> tuple[str, ...]:
    """List the names in a claim that a work never uses, as first printed.

    A name is a capitalised word that does not open a sentence, or one that does and has the ending 's. Left out is what
    critics use of works that do not: the work's own title and its author's name, periods, schools, peoples and thinkers
    (`CRITICS_WORDS`), and whom they cite (as Leavis argues). A sentence set as a title has no names.
    """
    known = work_words(work).vocabulary.keys() | set(tokens(f"{work.title} {work.author}")) | STOPWORDS | CRITICS_WORDS
    nameless = _without_names(claim)
    unknown: dict[str, str] = {}
    for start, end, token in word_spans(claim):
        word = claim[start:end]
        if token in known or token in unknown or any(first <= start < last for first, last in nameless):
            continue
        if _is_name(claim, start, word):
            unknown[token] = _POSSESSIVE.sub("", word)
    return tuple(unknown.values())
