"""Forms of words: lemmas and spellings, as the concordance and searches by words fold them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.metadata import version

import numpy as np

from relic_core.caching import LRUCache
from relic_core.domain import Work
from relic_core.text.words import STOPWORDS, WORDS, WorkWords, content_tokens, work_words

_RULE = "lemmas/2"

_CHOSEN = {"eldest": "old", "bade": "bid"}
"""Where the first of several by the alphabet would be a word that nobody uses (eld, bede)."""


@cache
def lemmas_version() -> str:
    """Name all that decides lemmas: the words, the rule, and the release of the dictionary.

    >>> lemmas_version().startswith("words/1, lemmas/2, simplemma ")
    True
    """
    return f"{WORDS}, {_RULE}, simplemma {version('simplemma')}"


@lru_cache(maxsize=1 << 17)
def lemma(token: str) -> str:
    """Give the one dictionary word that a content token counts as.

    >>> [lemma(token) for token in ("lamps", "went", "thought", "thoughts", "think", "likes")]
    ['lamp', 'go', 'think', 'think', 'think', 'likes']
    """
    path = [token]
    while True:
        found = _CHOSEN.get(path[-1]) or min(lemmas(path[-1]) - STOPWORDS - {path[-1]}, default=path[-1])
        if found in path:  # it is its own lemma, or words are each other's: all of those come out as one of them
            return min(path[path.index(found) :])
        path.append(found)


@lru_cache(maxsize=1 << 12)
def text_lemmas(text: str) -> frozenset[str]:
    """List the different lemmas of a text, function words left out."""
    return frozenset(map(lemma, content_tokens(text)))


_KEPT = 4
_kept: LRUCache[WorkWords] = LRUCache(_KEPT)


def work_lemmas(work: Work) -> WorkWords:
    """Read the lemmas of a work, one look-up for each different token; those of the last few works are kept."""
    return _kept.get(work.fingerprint, lambda: _lemmatized(work_words(work)))


def _lemmatized(words: WorkWords) -> WorkWords:
    vocabulary: dict[str, int] = {}
    number = [vocabulary.setdefault(lemma(token), len(vocabulary)) for token in words.vocabulary]
    return WorkWords(vocabulary=vocabulary, ids=np.array(number, dtype=np.int32)[words.ids], starts=words.starts)


_VERBS = """
    abide abode; arise arose arisen; awake awoke awoken; be am is are was were wert art been being; bear bore borne
    born; beat beaten; become became; befall befell befallen; begin began begun beginning; behold beheld; bend
    bent; bid bade bidden; bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken breaking;
    breed bred; bring brought; build built; buy bought; catch caught; choose chose chosen; cling clung; come came
    coming; creep crept; deal dealt; dig dug; do does did done doing doth dost didst doest doeth; draw drew drawn;
    drink drank drunk; drive drove driven; dwell dwelt; eat ate eaten; fall fell fallen; feed fed; feel felt
    feeling; fight fought; find found; flee fled; fling flung; fly flew flown; forbear forbore; forbid forbade
    forbidden; forget forgot forgotten; forgive forgave forgiven; forsake forsook forsaken; freeze froze frozen;
    get got gotten; give gave given; go goes went gone going goeth goest; grind ground; grow grew grown; hang hung
    hanged; have has had having hath hast hadst; hear heard; hide hid hidden; hold held; keep kept; kneel knelt;
    know knew known knowing; lay laid; lead led; leave left leaving; lend lent; lie lay lain lying; light lit; lose
    lost; make made; mean meant meaning; meet met meeting; overcome overcame; pay paid; ride rode ridden; ring rang
    rung; rise rose risen; run ran running; say said saith saying; see saw seen seeing; seek sought; sell sold;
    send sent; shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink
    sank sunk; sit sat; slay slew slain; sleep slept; slide slid; smite smote smitten; speak spoke spoken spake;
    spend spent; spin spun; spring sprang sprung; stand stood; steal stole stolen; stick stuck; sting stung; strike
    struck stricken; strive strove striven; swear swore sworn; sweep swept; swell swollen; swim swam swum; swing
    swung; take took taken taking; teach taught; tear tore torn; tell told; think thought thinking; throw threw
    thrown; tread trod trodden; understand understood; wake woke woken; wear wore worn; weave wove woven; weep
    wept; win won; wind wound; withdraw withdrew withdrawn; wring wrung; write wrote written writing; good better
    best; well better best; bad worse worst; ill worse worst; far farther farthest further furthest; little less
    least; much more most; many more most; old elder eldest; brother brethren; penny pence; die dying
"""
_OWN: dict[str, set[str]] = {}
for _line in _VERBS.split(";"):
    _lemma, *_forms = _line.split()
    for _form in _forms:
        _OWN.setdefault(_form, set()).add(_lemma)

_INSTEAD = frozenset({"gone", "thinking", "best", "better", "worse", "dying", "was", "is", "been"})
"""Forms for which the list above replaces the dictionary, whose lemma is of no use here."""

_OLD_ENDING = re.compile(r"(\w{2,})e(?:th|st)")
_NO_OLD_ENDING = frozenset({"honest", "earnest", "ernest", "tempest", "divest", "lambeth", "elizabeth", "beth"})
_BASES = frozenset().union(*_OWN.values())
_POSSESSIVE = re.compile(r"'s?$")


@lru_cache(maxsize=1 << 17)
def lemmas(word: str) -> frozenset[str]:
    """List the dictionary words that a word, as `fold` gives it, may be a form of, itself in some cases included.

    >>> [sorted(lemmas(word)) for word in ("went", "gone", "thought", "lamps", "cometh")]
    [['go'], ['go'], ['think', 'thought'], ['lamp'], ['come']]
    """
    from simplemma import lemmatize  # its dictionary takes a moment to load, and is not always wanted

    word = _POSSESSIVE.sub("", word) or word
    own = _OWN.get(word, set())
    if word in _INSTEAD:
        return frozenset(own)
    found = str(lemmatize(word, lang="en")).casefold()
    old = _OLD_ENDING.fullmatch(word) if found == word and word not in _NO_OLD_ENDING else None
    if old is not None:  # cometh, knowest: a form only where the rest is a verb that the dictionary knows
        for base in (old[1], f"{old[1]}e"):
            if base in _BASES or str(lemmatize(f"{old[1]}ing", lang="en")) == base:
                return frozenset({base} | own)
    return frozenset({found} | own)
