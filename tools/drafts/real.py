"""Quotations of real criticism, placed by mining: drawn by a seed, set on a sheet for readers, and kept without text.

Drawn are closed, not nested quotations of which mining found half or more in one work. They are of two layers by a
plain comparison: those whose words are all in the work in their order, and those that differ. Half of the sources are
for trying out (dev), the others are opened once (test).
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path

from relic_core.domain import Offsets, Work
from relic_core.library.secondary import read_sources
from relic_core.mining.prose import read_prose
from relic_core.mining.quotations import find_quotations
from relic_core.text.words import content_tokens
from relic_core.wiring import App

FOLDER = Path(__file__).resolve().parents[1] / "measured" / "drafts"
SET, ANSWERS = FOLDER / "set.json", FOLDER / "answers.json"
HALVES = ("dev", "test")
LETTERS = {"L": "to the letter", "A": "altered"}
"""What readers answer, of quotations that count; X is from elsewhere than shown, U cannot be told."""
_EACH = {"same": 150, "differs": 50}
"""Drawn for each half, by the plain comparison."""
_WANTED = {"L": 120, "A": 30}
"""Of each letter in a half, those that come first."""
_OF_A_SOURCE, _OF_A_WORK = 12, 24
_LONGEST, _FARTHEST = 80, 3_000
"""Words of a quotation, and characters of the work from its first to its last word, at the most."""
_CONTENT = 4
_COVERED = 0.5
_BEFORE, _BEHIND = 4_000, 1_500
"""Characters of the source that a checker is given around a quotation."""
_SHOWN, _AROUND, _ENDS = 220, 120, 6
_ELLIPSIS = re.compile(r"\.\s?\.|…|\*\s*\*|\[\s*\]|(?:--|—)\s*(?:--|—)")
_OWN = re.compile(r"\[[^\]]*\]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A quotation of the set, by places alone.

    - `source`: sha256 of the decoded text, whose offsets `at` are; `file` is its name.
    - `work`: sha256 of the work's text, whose offsets `place` are.
    - `words`: the first digits of the sha256 of the quotation as its source has it.
    """

    number: int
    half: str
    layer: str
    file: str
    source: str
    at: Offsets
    work: str
    title: str
    place: Offsets
    words: str


def draw(app: App, criticism: Path, seed: int) -> list[Item]:
    """Draw the set out of criticism that was mined against the library."""
    works = {each.id: app.works.load(each.id) for each in app.works.summaries()}
    sources = sorted(read_sources([criticism]), key=lambda each: each[0].sha256)
    chance = random.Random(seed)  # noqa: S311 - the same every time
    chance.shuffle(sources)
    drawn: list[Item] = []
    for half_number, half in enumerate(HALVES):
        found: dict[str, list[Item]] = defaultdict(list)
        for source, text in sources[half_number::2]:
            for at, work, place in _placed(app, source.id, text, works):
                quoted = text[slice(*at)]
                layer = (
                    "differs"
                    if any(counts for _, counts in compare(quoted, work.text[slice(*_sentences(work, place))]))
                    else "same"
                )
                found[layer].append(
                    Item(
                        number=0, half=half, layer=layer, file=source.name, source=source.sha256, at=at,
                        work=work.sha256, title=work.title, place=place, words=_digest(quoted),
                    )
                )  # fmt: skip
        chosen = [each for layer, many in _EACH.items() for each in _some(found[layer], many, chance)]
        chance.shuffle(chosen)
        drawn += chosen
    return [Item(**{**asdict(each), "number": number}) for number, each in enumerate(drawn, start=1)]


def _placed(app: App, source_id: str, text: str, works: Mapping[str, Work]) -> Iterator[tuple[Offsets, Work, Offsets]]:
    """Find the quotations of a source that mining placed in one work."""
    _, windows = app.store.windows.page(source_id=source_id)
    if not windows:
        return
    prose = read_prose(text)
    for quotation in find_quotations(prose):
        words = prose.text[quotation.start : quotation.end]
        if not quotation.closed or quotation.nested or len(content_tokens(words)) < _CONTENT:
            continue
        at = prose.in_source(quotation.start, quotation.end)
        within = [w for w, _ in windows if at[0] - 3 <= w.at[0] and w.at[1] <= at[1] + 3]
        covered = sum(w.at[1] - w.at[0] for w in within)
        if {w.work_id for w in within} != {next((w.work_id for w in within), "")}:
            continue
        lit = [place for w in within for place in w.lit_in_work]
        place = min(a for a, _ in lit), max(b for _, b in lit)
        if (
            covered >= _COVERED * (at[1] - at[0])
            and len(words.split()) <= _LONGEST
            and place[1] - place[0] <= _FARTHEST
        ):
            yield at, works[within[0].work_id], place


def _sentences(work: Work, place: Offsets) -> Offsets:
    span = work.span_between(*place)
    return (work.sentences[span.start].start, work.sentences[span.end - 1].end) if span else place


def _some(items: Sequence[Item], many: int, chance: random.Random) -> list[Item]:
    """Choose so many, few of one source and of one work."""
    order, of = list(items), Counter[str]()
    chance.shuffle(order)
    chosen: list[Item] = []
    for each in order:
        if of[each.source] < _OF_A_SOURCE and of[each.work] < _OF_A_WORK and len(chosen) < many:
            chosen.append(each)
            of.update((each.source, each.work))
    return chosen


def compare(quoted: str, theirs: str) -> list[tuple[str, bool]]:
    """List differences of words, and whether each counts: not behind an ellipsis, nor of words in brackets."""
    ours, other = _words(quoted), _words(theirs)
    matcher = SequenceMatcher(None, [each[0] for each in ours], [each[0] for each in other], autojunk=False)
    steps = matcher.get_opcodes()
    found = []
    for number, (kind, a, b, c, d) in enumerate(steps):
        mine, there = ours[a:b], other[c:d]
        if kind == "equal":
            for one, two in zip(mine, there, strict=True):
                begins = one is ours[0] or _ELLIPSIS.search(quoted, max(0, one[2] - 6), one[2] + 1)
                changed = one[1][0].isupper() != two[1][0].isupper() and one[1].lower() == two[1].lower()
                if changed and not begins and not (len(two[1]) > 1 and two[1].isupper()):
                    found.append((f"{one[1]} for {two[1]}", True))
            continue
        if kind == "insert" and number in {0, len(steps) - 1}:
            continue  # more of the work than is quoted
        if "".join(each[0] for each in mine) == "".join(each[0] for each in there):
            continue
        start = ours[a - 1][3] if a else 0
        end = ours[b][2] if b < len(ours) else len(quoted)
        between = quoted[start:end]
        left_out = " ".join(each[1] for each in there)
        if len(there) > 2 * _ENDS:
            left_out = f"{' '.join(each[1] for each in there[:_ENDS])} … {' '.join(each[1] for each in there[-_ENDS:])}"
        own = " ".join(each[1] for each in mine)
        excused = (not mine and _ELLIPSIS.search(between) is not None) or (
            bool(mine) and all(any(x <= each[2] < y for x, y in _spans(quoted)) for each in mine)
        )
        at_end = number in {0, len(steps) - 1} and bool(mine)
        wording = (
            f"“{own}” for “{left_out}”" if mine and there else f"“{own}” put in" if mine else f"“{left_out}” left out"
        )
        mark = " (ellipsis or brackets there)" if excused else " (at an end: the passage may go on)" if at_end else ""
        found.append((wording + mark, not excused))
    return found


def _spans(quoted: str) -> list[Offsets]:
    return [match.span() for match in _OWN.finditer(quoted)]


def _words(text: str) -> list[tuple[str, str, int, int]]:
    """List words: their letters alone, as they are printed, and where they stand."""
    cleaned = re.sub(r"[_\[\]]", " ", text)
    return [(_plain(match[0]), match[0], *match.span()) for match in _WORD.finditer(cleaned)]


def _plain(word: str) -> str:
    bare = unicodedata.normalize("NFKD", word.replace("æ", "ae").replace("œ", "oe").casefold())
    return "".join(filter(str.isalnum, bare))


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def save_set(items: Sequence[Item]) -> None:
    """Keep the set: places and digests, no word."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    SET.write_text("[\n" + ",\n".join(json.dumps(asdict(each)) for each in items) + "\n]\n", "utf-8")


def read_set() -> list[Item]:
    """Read the set."""
    return [
        Item(**{**row, "at": tuple(row["at"]), "place": tuple(row["place"])})
        for row in json.loads(SET.read_text("utf-8"))
    ]


def texts_of(items: Sequence[Item], criticism: Path) -> dict[str, str]:
    """Read the sources that items are from, by the hash of their text."""
    wanted = {each.source for each in items}
    texts = {source.sha256: text for source, text in read_sources([criticism]) if source.sha256 in wanted}
    for each in items:
        if each.source not in texts or _digest(texts[each.source][slice(*each.at)]) != each.words:
            raise SystemExit(f"{each.file} is not there as it was when the set was drawn: item {each.number}.")
    return texts


def excerpt(text: str, at: Offsets) -> tuple[str, int]:
    """Give the paragraphs around a quotation, as a draft, and where they begin."""
    start = text.rfind("\n\n", 0, max(0, at[0] - _BEFORE)) + 2 if at[0] > _BEFORE else 0
    end = text.find("\n\n", at[1] + _BEHIND)
    return text[start : end if end > 0 else len(text)], start


def sheet(items: Sequence[Item], works: Mapping[str, Work], texts: Mapping[str, str]) -> str:
    """Set items for a reader, without what any checker says of them."""
    entries = []
    for each in items:
        text, work = texts[each.source], works[each.work]
        quoted = text[slice(*each.at)]
        start, end = _sentences(work, each.place)
        differences = compare(quoted, work.text[start:end])
        span = work.span_between(*each.place)
        label = work.place(span).label if span else ""
        shown = work.text[max(0, start - _AROUND) : end + _AROUND]
        entries.append(
            f"## {each.number}\n"
            f"CRITIC BEFORE: … {_flat(text[max(0, each.at[0] - _SHOWN) : each.at[0]])}\n"
            f"QUOTATION: {_flat(quoted)}\n"
            f"CRITIC AFTER: {_flat(text[each.at[1] : each.at[1] + _SHOWN])} …\n"
            f"PASSAGE ({work.title}, {label}): … {_flat(shown)} …\n"
            f"WORDS THAT DIFFER, by a plain comparison: {'; '.join(wording for wording, _ in differences) or 'none'}\n"
        )
    return "\n".join(entries)


def _flat(text: str) -> str:
    return " ".join(text.split())


def keep_answers(folder: Path) -> None:
    """Keep what readers answered: a line is a number and a letter."""
    answers = json.loads(ANSWERS.read_text("utf-8")) if ANSWERS.exists() else {}
    for path in sorted(folder.glob("[A-Z]-*.txt")):
        _, _, half = path.stem.partition("-")
        if half in HALVES:
            lines = (line.split() for line in path.read_text("utf-8").splitlines() if line.strip())
            answers[path.stem] = {number: letter.upper() for number, letter, *_ in lines}
    ANSWERS.write_text(json.dumps(answers, indent=0) + "\n", "utf-8")


def agreed(half: str) -> dict[int, str]:
    """Give the letter of each quotation that all readers call L, or A: in order, and no more than are wanted."""
    kept = json.loads(ANSWERS.read_text("utf-8")) if ANSWERS.exists() else {}
    readers = [letters for name, letters in kept.items() if name.endswith(f"-{half}")]
    if not readers:
        raise SystemExit(f"No reader has answered for {half}: {ANSWERS} has nothing of it.")
    found: dict[int, str] = {}
    for number in sorted(map(int, readers[0])):
        called = {letters.get(str(number), "") for letters in readers}
        letter = called.pop() if len(called) == 1 else ""
        if letter in LETTERS and sum(each == letter for each in found.values()) < _WANTED[letter]:
            found[number] = letter
    return found
