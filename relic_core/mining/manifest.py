"""The manifest of the public-domain RELiC: the dev and test windows of the store, as places and hashes.

The capped sets take at most a quarter of a work's windows from one source. No window holds its own answer.

A window keeps its words and where it begins and ends. Between the two lie running heads, page numbers and marks that
reading takes out, so its stretches are looked up in the source as it is read, and found again in another text.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from relic_core.config import provenance
from relic_core.domain import MAX_LENGTH, MinedWindow, Offsets, SecondarySource, Work
from relic_core.domain.grouping import grouped
from relic_core.errors import BadRequest, NotFound, StoreReadOnly
from relic_core.formats.window_manifest import (
    ListedSource,
    ListedWindow,
    ListedWork,
    Manifest,
    Pieces,
    SetFacts,
    WindowText,
    body_of,
    cut,
    sets_of,
    sha256_of,
    write_manifest,
)
from relic_core.library.catalogue import CatalogueEntry
from relic_core.library.secondary import read_sources
from relic_core.mining.prose import Prose, read_prose
from relic_core.mining.splits import SPLIT
from relic_core.mining.volumes import rules
from relic_core.ports import Progress

T = TypeVar("T")

SEED = "relic-workbench public-domain RELiC 1"
"""Decides, with a window's id, which windows of a source are taken first."""
SHARE = 4
"""At most one window in so many of a work's may be of one source."""
_RUN = 8


def largest_total(counts: Iterable[int]) -> int:
    """Say how many windows of a work can be kept so that no source has more than its share of those kept.

    Exact, in whole numbers: `t` can be kept if sources can give `t` where each gives at most ``t // SHARE``. A work
    that fewer sources quote can keep none.

    >>> largest_total([100, 5, 5, 5]), largest_total([3, 1, 1, 1]), largest_total([50, 50, 50]), largest_total([2] * 5)
    (20, 4, 0, 10)
    """
    given = list(counts)
    total = sum(given)
    while sum(min(one, total // SHARE) for one in given) < total:
        total -= 1
    return total


def capped_of(windows: Mapping[str, str]) -> frozenset[str]:
    """Choose windows of one work so that as many as possible stay and no source has more than its share.

    They are taken in the order of a hash of `SEED` and the id: as good as drawn by lot, the same on every machine.
    """
    of_source = grouped(sorted(windows, key=_lot), windows.__getitem__)
    total = largest_total(map(len, of_source.values()))
    taken = chain.from_iterable(names[: total // SHARE] for names in of_source.values())
    return frozenset(sorted(taken, key=_lot)[:total])


def holds_its_answer(window: MinedWindow, gold: str) -> bool:
    """Whether the context holds eight words in a row of the sentences quoted, or all of them where they are fewer."""
    answer = _words(gold)
    claim = f" {' '.join(_words(' '.join((*window.left, *window.right))))} "
    runs = (answer[at : at + _RUN] for at in range(max(1, len(answer) - _RUN + 1)))
    return any(f" {' '.join(run)} " in claim for run in runs)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _lot(name: str) -> str:
    return hashlib.sha256(f"{SEED} {name}".encode()).hexdigest()


REACH = 5_000
"""Characters by which a window is looked for before and behind its place, where the source is not to the letter the
one that was mined: a line added to the front matter moves all that follows."""


class Places(NamedTuple):
    """The stretches of the source that make each sentence before the quotation, the quotation, and those after."""

    left: tuple[Pieces, ...]
    quotation: Pieces
    right: tuple[Pieces, ...]

    def each(self, change: Callable[[Pieces], T]) -> tuple[tuple[T, ...], T, tuple[T, ...]]:
        """Change the stretches of each sentence and of the quotation."""
        return tuple(map(change, self.left)), change(self.quotation), tuple(map(change, self.right))


def places(prose: Prose, window: MinedWindow) -> Places:
    """Find the words of a window in its source. Raises NotFound: it was mined from another text."""
    start, end = _quotation(prose, window)
    left: list[Offsets] = []
    before = start
    for sentence in reversed(window.left):
        before = prose.text.rfind(sentence, 0, before)
        left.insert(0, (before, before + len(sentence)))
    right: list[Offsets] = []
    behind = end
    for sentence in window.right:
        found = prose.text.find(sentence, behind)
        behind = found + len(sentence)
        right.append((found, behind))
    if any(first < 0 for first, _ in (*left, *right)):
        raise _not_there(window)
    return Places(
        tuple(prose.kept(*stretch) for stretch in left),
        prose.kept(start, end),
        tuple(prose.kept(*stretch) for stretch in right),
    )


def find_text(body: str, window: ListedWindow, *, near: int = 0, reach: int = REACH) -> tuple[WindowText, int] | None:
    """Cut the words of a listed window, known by their hash, out of a body in which they may have moved.

    - `near`, `reach`: by how many characters the window before had moved, and how much further this one may have.

    Returns: the words and by how much they have moved; None where they are not there to the letter.
    """
    at = Places(window.left, window.quotation, window.right)
    for far in range(reach + 1):
        for shift in dict.fromkeys((near + far, near - far)):
            text = WindowText(*at.each(partial(cut, body, shift=shift)))
            if sha256_of(text) == window.sha256:
                return text, shift
    return None


def _quotation(prose: Prose, window: MinedWindow) -> Offsets:
    start = prose.text.find(window.quotation)
    while start >= 0:
        end = start + len(window.quotation)
        if prose.in_source(start, end) == window.at:
            return start, end
        start = prose.text.find(window.quotation, start + 1)
    raise _not_there(window)


def _not_there(window: MinedWindow) -> NotFound:
    return NotFound(
        f"Window {window.id} is not where it was mined in {window.source_id}. Mine the source again: its text, or the "
        "rules by which it is read, have changed since."
    )


_LICENCE = "In the public domain in the United States (Project Gutenberg)"
_TOO_LONG = f"the quotation runs over more than {MAX_LENGTH} sentences"
_NO_CONTEXT = "nothing is said before or after the quotation"
_ANSWER = "the context holds eight words in a row of the quotation"
_COPYRIGHT = "the work is in copyright in the United States"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestSummary:
    """What making a manifest came to.

    - `without_capped`: titles of works that have no window in the capped sets: fewer than four sources quote them.
    """

    folder: Path
    sets: Mapping[str, SetFacts]
    left_out: Mapping[str, int] = field(default_factory=dict)
    without_capped: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Quoted:
    """A window of a set, with what the store knows of its work."""

    window: MinedWindow
    split: str
    entry: CatalogueEntry
    work: Work


def make_manifest(
    marked: Iterable[tuple[MinedWindow, str]],
    entries: Mapping[str, CatalogueEntry],
    load_work: Callable[[str], Work],
    sources: Iterable[SecondarySource],
    paths: Sequence[Path],
    folder: Path,
    progress: Progress,
) -> ManifestSummary:
    """Write the manifest of the dev and test windows.

    - `paths`: files, folders and archives where they are; they are known again by their hashes.
    """
    if not paths:
        raise BadRequest("Where are the mined sources? Name their files, folders or archives with --from.")
    left_out: Counter[str] = Counter()
    quoted = list(_quoted(marked, entries, load_work, left_out))
    if not quoted:
        raise NotFound(
            "No window of the store is marked for dev or test. Mine criticism of the works in the catalogue, "
            f"then: {SPLIT}"
        )
    known = {source.id: source for source in sources}
    listed, problems = _listed(quoted, known, paths, progress)
    manifest = _manifest(quoted, known, listed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreReadOnly(f"The folder {folder} cannot be made ({error.strerror}). Name another with --to.") from None
    write_manifest(folder, manifest)
    capped = {window.work for window in manifest.windows if window.capped}
    return ManifestSummary(
        folder=folder,
        sets=sets_of(manifest),
        left_out=dict(left_out.most_common()),
        without_capped=tuple(work.title for work in manifest.works if work.slug not in capped),
        problems=tuple(problems),
    )


def _quoted(
    marked: Iterable[tuple[MinedWindow, str]],
    entries: Mapping[str, CatalogueEntry],
    load_work: Callable[[str], Work],
    left_out: Counter[str],
) -> Iterator[_Quoted]:
    of_work: dict[str, list[tuple[MinedWindow, str]]] = {}
    for window, split in marked:
        if split in {"dev", "test"} and window.work_id in entries:
            of_work.setdefault(window.work_id, []).append((window, split))
    for work_id, windows in sorted(of_work.items()):
        work, entry = load_work(work_id), entries[work_id]
        for window, split in windows:
            why = _COPYRIGHT if entry.free_in_us is not None else _against(window, work)
            if why:
                left_out[why] += 1
            else:
                yield _Quoted(window, split, entry, work)


def _against(window: MinedWindow, work: Work) -> str:
    if window.gold.length > MAX_LENGTH:
        return _TOO_LONG
    if not window.has_context:
        return _NO_CONTEXT
    return _ANSWER if holds_its_answer(window, work.span_text(window.gold)) else ""


def _listed(
    quoted: Sequence[_Quoted], known: Mapping[str, SecondarySource], paths: Sequence[Path], progress: Progress
) -> tuple[dict[str, _Placed], list[str]]:
    wanted: dict[str, list[MinedWindow]] = {}
    for each in quoted:
        wanted.setdefault(known[each.window.source_id].sha256, []).append(each.window)
    found: dict[str, _Placed] = {}
    problems: list[str] = []
    total = len(wanted)
    for source, text in read_sources(paths):
        sha256 = source.sha256
        if sha256 in wanted:
            windows = wanted.pop(sha256)
            placed, wrong = _place(text, windows)
            found[windows[0].source_id] = placed
            problems += wrong
            progress(total - len(wanted), total, known[windows[0].source_id].title)
        if not wanted:
            break
    if wanted:
        titles = sorted(known[windows[0].source_id].title for windows in wanted.values())
        raise NotFound(
            f"{len(titles)} of {total} mined sources are not among the files named: {'; '.join(titles[:5])}"
            f"{' ...' if titles[5:] else ''}. Name the folder or archive they were mined from with --from."
        )
    return found, problems


@dataclass(frozen=True, slots=True)
class _Placed:
    """The hash of a source's body, and where in it each window stands."""

    body: str
    windows: Mapping[str, Places]


def _place(text: str, windows: Sequence[MinedWindow]) -> tuple[_Placed, list[str]]:
    start, end = body_of(text)
    prose = read_prose(text)
    found: dict[str, Places] = {}
    problems = []
    for window in windows:
        try:
            at = places(prose, window)
        except NotFound as error:
            problems.append(str(error))
            continue
        stretches = list(chain(*at.left, at.quotation, *at.right))
        if min(first for first, _ in stretches) < start or max(last for _, last in stretches) > end:
            problems.append(f"Window {window.id} is in the licence of {window.source_id}, outside the book.")
            continue
        if sha256_of(WindowText(*at.each(partial(cut, text)))) != sha256_of(window):
            problems.append(f"Window {window.id} cannot be cut out of {window.source_id} to the letter.")
            continue
        found[window.id] = Places(*at.each(lambda pieces: tuple((one - start, end - start) for one, end in pieces)))
    return _Placed(hashlib.sha256(text[start:end].encode()).hexdigest(), found), problems


def _manifest(
    quoted: Sequence[_Quoted], known: Mapping[str, SecondarySource], listed: Mapping[str, _Placed]
) -> Manifest:
    traced = [each for each in quoted if each.window.id in listed[each.window.source_id].windows]
    sources = sorted({each.window.source_id for each in traced}, key=lambda name: (known[name].number or 0, name))
    works = {each.entry.slug: each for each in traced}
    capped: set[str] = set()
    for slug in works:
        capped |= capped_of({each.window.id: each.window.source_id for each in traced if each.entry.slug == slug})
    windows = [
        _window(each, sources.index(each.window.source_id), listed[each.window.source_id], each.window.id in capped)
        for each in traced
    ]
    return Manifest(
        sources=tuple(_source(known[name], listed[name]) for name in sources),
        works=tuple(
            ListedWork(slug=slug, title=works[slug].entry.title, sha256=works[slug].work.sha256)
            for slug in sorted(works)
        ),
        windows=tuple(sorted(windows, key=lambda one: (one.split, one.work, one.gold, one.source, one.id))),
        about={
            "program": provenance.code(),
            "rules": rules(),
            "seed": SEED,
            "largest share of one source": f"1/{SHARE}",
            "longest quotation": f"{MAX_LENGTH} sentences",
        },
    )


def _window(each: _Quoted, source: int, placed: _Placed, capped: bool) -> ListedWindow:
    left, quotation, right = placed.windows[each.window.id]
    first, last = each.work.sentences[each.window.gold.start], each.work.sentences[each.window.gold.end - 1]
    return ListedWindow(
        id=each.window.id,
        source=source,
        work=each.entry.slug,
        split="dev" if each.split == "dev" else "test",
        capped=capped,
        kind=each.window.kind,
        left=left,
        quotation=quotation,
        right=right,
        gold=(first.start, last.end),
        length=each.window.gold.length,
        sha256=sha256_of(each.window),
    )


def _source(source: SecondarySource, placed: _Placed) -> ListedSource:
    return ListedSource(
        title=source.title,
        author=source.author,
        number=source.number or 0,
        sha256=source.sha256,
        body=placed.body,
        licence=source.licence or (_LICENCE if source.number else ""),
        origin=source.public_origin,
    )
