"""Who is in a novel: the names its text puts beside what people do, with the forms of one person brought together.

No list of names is used. A name is a person's where a title or a word of kinship stands before it, a verb of speaking,
thinking or looking beside it, or a face, a hand or kin behind it as its own, so that places fall out. A narrator who
says "I" counts only where others name them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from relic_core.domain import Work
from relic_core.text.speech import NAME, SPEAKS, TITLE
from relic_core.text.words import STOPWORDS, WORD, fold

MOST = 12
_FEWEST = 5
"""Times that a person has to be named."""
_SURE, _SHARE = 2, 0.02
"""How many places of a name, and which share of them, have to show a person."""
_FAR = 5
_ACTS = rf"(?:{SPEAKS}|thought|felt|looked|smiled|laughed|nodded|wondered)"
_KIN = "brother|sister|cousin|wife|husband|mother|father|son|daughter|aunt|uncle|nephew|niece"
_OWN = rf"face|hands?|arms?|voice|lips|cheeks?|hair|shoulders?|thoughts?|{_KIN}"
_MENTION = re.compile(
    rf"(?P<before>\b(?:{_ACTS}|{_KIN}|friend|dear|dearest)\s+)?(?<!\w)(?P<name>{NAME})"
    rf"(?:(?P<after>\s+(?:\w+ly\s+)?{_ACTS}\b)|(?P<own>['’]s\s+(?:\w+\s+)?(?:{_OWN})\b))?"
)
_TITLED = re.compile(rf"(?P<title>(?:(?:{TITLE})\s+)*)(?P<rest>.*)", re.DOTALL)
_OF = re.compile(r"\s(?:of|I)\b")
_OF_WOMEN = ("Mrs", "Mme", "Madame", "Miss", "Lady", "Mlle", "Mademoiselle")
_NOBODY = STOPWORDS | set(
    "god lord heaven heavens mr mrs sir madam madame miss mister master mas doctor lady monsieur captain".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a work: the commonest form of the name, all its forms, and the sentences that name them, in order."""

    name: str
    forms: tuple[str, ...]
    sentences: tuple[int, ...]


_Form = tuple[str, tuple[str, ...]]
"""A title, empty for none, and the words of a name."""


def people_of(work: Work, most: int = MOST) -> tuple[Person, ...]:
    """Name those who are named most, the first the most."""
    places: dict[_Form, list[int]] = defaultdict(list)
    shown: Counter[_Form] = Counter()
    for sentence, form, acts in _mentions(work):
        places[form].append(sentence)
        shown[form] += acts
    people = []
    for forms in _together({form: len(found) for form, found in places.items()}):
        sentences = tuple(sorted(chain.from_iterable(places[form] for form in forms)))
        sure = sum(shown[form] for form in forms)
        if len(sentences) >= _FEWEST and sure >= max(_SURE, _SHARE * len(sentences)):
            people.append(Person(_written(forms[0]), tuple(map(_written, forms)), sentences))
    return tuple(sorted(people, key=lambda person: -len(person.sentences))[:most])


def _mentions(work: Work) -> Iterator[tuple[int, _Form, bool]]:
    """Give the names of each sentence, each with whether it is shown to be a person's."""
    words = Counter(WORD.findall(work.text))
    for sentence in work.sentences:
        for found in _MENTION.finditer(" ".join(work.sentence_text(sentence.index).replace("_", "").split())):
            named = _TITLED.match(found["name"].removeprefix("the ").removeprefix("The "))
            title, name = (named["title"].strip(), _OF.split(named["rest"])[0].split()) if named else ("", [])
            while name and not title and (words[name[0].lower()] > words[name[0]] or fold(name[0]) in _NOBODY):
                name = name[1:]
            if name and fold(name[0]) not in _NOBODY and not name[0].isupper():
                own = found["own"] and found["name"][:4].lower() != "the "  # whose name has an article is of a kind
                yield sentence.index, (title, tuple(name)), bool(title or found["before"] or found["after"] or own)


def _together(counts: dict[_Form, int]) -> list[list[_Form]]:
    """Bring the forms of each person together, the commonest first."""
    group = {form: [form] for form in counts}
    for one, other in _same(counts):
        if group[one] is not group[other]:
            group[one] += group[other]
            group.update(dict.fromkeys(group[other], group[one]))
    groups = {id(forms): forms for forms in group.values()}
    return [sorted(forms, key=lambda form: (-counts[form], form)) for forms in groups.values()]


def _same(counts: dict[_Form, int]) -> Iterator[tuple[_Form, _Form]]:
    """Pair forms that name the same person.

    - Kitty Levin is Kitty where that name stands alone far more often; else she goes with the commonest of all forms.
    - Darcy is Mr. Darcy; Havisham is Miss Havisham, where she is hardly ever named without; Miss Darcy is another.
    - Miss Summerson is Esther Summerson where nobody else of that surname is named in full.
    """
    often = sorted(counts, key=lambda form: (-counts[form], form))
    short: dict[str, list[_Form]] = defaultdict(list)
    full: dict[str, list[_Form]] = defaultdict(list)
    for form in often:
        (short if len(form[1]) == 1 else full)[form[1][-1]].append(form)
    firsts: set[str] = set()
    for form in often:
        title, name = form
        if len(name) > 1:
            head = _short(form, counts, short)
            yield form, head if head != form or name[0] in firsts else short.get(name[0], [form])[0]
            firsts.add(name[0])
        elif title.startswith("Miss"):
            alone = [each for each in full[name[0]] if counts[each] > 1]
            head = _short(alone[0], counts, short) if len({each[1][0] for each in alone}) == 1 else form
            yield form, form if head[1] == name else head
        elif not title:
            titled = sorted(short[name[0]], key=lambda each: not each[0] or each[0].startswith(_OF_WOMEN))
            if not titled[0][0].startswith(_OF_WOMEN) or counts[titled[0]] > 2 * counts[form]:
                yield form, titled[0]


def _short(form: _Form, counts: Mapping[_Form, int], short: Mapping[str, list[_Form]]) -> _Form:
    """Give the form that a name of several words goes with: itself where its words are rarer by themselves."""
    first, last = (short[word][0] if short.get(word) else form for word in (form[1][0], form[1][-1]))
    return first if counts[first] >= _FAR * counts[form] else max(form, first, last, key=lambda each: counts[each])


def _written(form: _Form) -> str:
    title, name = form
    return f"{title} {' '.join(name)}".strip()
