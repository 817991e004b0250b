"""Making the manifest of the public-domain RELiC: the dev and test windows of the store, as places and hashes."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from relic_core.config import provenance
from relic_core.domain import MAX_LENGTH
from relic_core.errors import BadRequest, NotFound, StoreReadOnly
from relic_core.formats.window_manifest import (
    ListedSource,
    ListedWindow,
    ListedWork,
    Manifest,
    body_of,
    sets_of,
    sha256_of,
)
from relic_core.formats.window_manifest_files import write_manifest
from relic_core.library.secondary import read_sources
from relic_core.mining import choosing
from relic_core.mining.prose import read_prose
from relic_core.mining.splits import SPLIT
from relic_core.mining.volumes import rules
from relic_core.mining.window_places import Places, places, text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from relic_core.domain import MinedWindow, SecondarySource, Work
    from relic_core.formats.window_manifest import Pieces, SetFacts
    from relic_core.formats.window_texts import WindowText
    from relic_core.library.catalogue import CatalogueEntry
    from relic_core.ports import Progress

_LICENCE = "In the public domain in the United States (Project Gutenberg)"
_TOO_LONG = f"the quotation runs over more than {MAX_LENGTH} sentences"
_NO_CONTEXT = "nothing is said before or after the quotation"
_ANSWER = "the context holds eight words in a row of the quotation"
_COPYRIGHT = "the work is in copyright in the United States"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestSummary:
    """What making a manifest came to.

    - `folder`: where it is.
    - `sets`: Windows and works of each set.
    - `left_out`: reason -> windows of dev and test that are in no set for it.
    - `without_capped`: titles of works that have no window in the capped sets: fewer than four sources quote them.
    - `problems`: windows that could not be traced to their source, each with why.
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

    - `marked`: kept windows, each with its split.
    - `entries`: work id → its entry of the catalogue.
    - `sources`: the mined sources.
    - `paths`: files, folders and archives where they are; they are known again by their hashes.
    - `progress`: told how many sources have been read.

    Raises NotFound: there are no dev and test windows, or a source is not among the files.
    Raises BadBenchmark: a window cannot be cut out of its source to the letter.
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
    """Give the dev and test windows that can be in a set, by work; count the others."""
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
    return _ANSWER if choosing.holds_its_answer(window, work.span_text(window.gold)) else ""


def _listed(
    quoted: Sequence[_Quoted], known: Mapping[str, SecondarySource], paths: Sequence[Path], progress: Progress
) -> tuple[dict[str, _Placed], list[str]]:
    """Trace windows to their sources: by source what it is and the stretches of each of its windows."""
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
            left, quotation, right = places(prose, window)
        except NotFound as error:
            problems.append(str(error))
            continue
        stretches = [piece for pieces in (*left, quotation, *right) for piece in pieces]
        if min(first for first, _ in stretches) < start or max(last for _, last in stretches) > end:
            problems.append(f"Window {window.id} stands in the licence of {window.source_id}, outside the book.")
            continue
        moved = Places(
            tuple(_moved(pieces, start) for pieces in left),
            _moved(quotation, start),
            tuple(_moved(pieces, start) for pieces in right),
        )
        again = text_at(text[start:end], moved)
        if _hash(again) != _hash(window):
            problems.append(f"Window {window.id} cannot be cut out of {window.source_id} to the letter.")
            continue
        found[window.id] = moved
    return _Placed(hashlib.sha256(text[start:end].encode()).hexdigest(), found), problems


def _hash(text: WindowText | MinedWindow) -> str:
    return sha256_of(text.left, text.quotation, text.right)


def _moved(pieces: Pieces, start: int) -> Pieces:
    return tuple((first - start, last - start) for first, last in pieces)


def _manifest(
    quoted: Sequence[_Quoted], known: Mapping[str, SecondarySource], listed: Mapping[str, _Placed]
) -> Manifest:
    """Put sources, works and windows in order, and choose those of the capped sets."""
    traced = [each for each in quoted if each.window.id in listed[each.window.source_id].windows]
    sources = sorted({each.window.source_id for each in traced}, key=lambda name: (known[name].number or 0, name))
    works = {each.entry.slug: each for each in traced}
    capped: set[str] = set()
    for slug in works:
        capped |= choosing.capped({each.window.id: each.window.source_id for each in traced if each.entry.slug == slug})
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
            "seed": choosing.SEED,
            "largest share of one source": f"1/{choosing.SHARE}",
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
        sha256=_hash(each.window),
    )


def _source(source: SecondarySource, placed: _Placed) -> ListedSource:
    return ListedSource(
        title=source.title,
        author=source.author,
        number=source.number or 0,
        sha256=source.sha256,
        body=placed.body,
        licence=source.licence or (_LICENCE if source.number else ""),
        origin=source.told_origin,
    )
