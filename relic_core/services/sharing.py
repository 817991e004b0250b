"""Searches written for elsewhere, and what of one that comes from elsewhere can be asked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from relic_core.domain import DEFAULT_RETRIEVERS, SearchRequest, SeedPassage, WorkSummary
from relic_core.domain.searches import ModelFingerprints, SharedSearch
from relic_core.errors import NotFound
from relic_core.formats import search_address
from relic_core.formats.files import read_bytes, write_whole
from relic_core.installed import COMMAND
from relic_core.retrieval import registry
from relic_core.services.reading import ReadingPage
from relic_core.services.snapshots import Fingerprints
from relic_core.services.works import Works

LONG = 2_000
"""Characters of an address above which a letter or a messenger may cut it: a file is safer."""

FILE_NAME = "search.relic.json"

CODE = "search"
"""What an address carries that holds a whole search."""

_SHOWN = 80
_NAMED = 4
_SINCE = "this address was made"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What can be given away of a search: a `short` address of this store; or all of it, for any with the work."""

    short: dict[str, str]
    code: str
    file: bytes

    @property
    def long(self) -> bool:
        """Whether an address with the code is longer than every program takes."""
        return len(self.code) > LONG


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A search that came from elsewhere, as it can be asked here, and what differs, a sentence or two each."""

    request: SearchRequest
    notices: tuple[str, ...]
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedPassage:
    """A passage that an address names, as it can be read here; `notices` as of `Opened`."""

    page: ReadingPage
    notices: tuple[str, ...]


class Sharing:
    """Gives searches away and takes them in.

    `made` is `Snapshots.made`, `page` is `Reading.page`, `systems` is `Runs.systems`.
    """

    def __init__(
        self,
        works: Works,
        fingerprints: Fingerprints,
        made: Callable[[str, SearchRequest], ModelFingerprints],
        page: Callable[..., ReadingPage],
        systems: Callable[[str], tuple[str, ...]],
    ) -> None:
        self._works, self._fingerprints = works, fingerprints
        self._made, self._page, self._systems = made, page, systems

    def short(self, search_id: str, request: SearchRequest) -> dict[str, str]:
        """Give what an address of this store carries of a search."""
        return {"q": search_id, **search_address.write_fingerprints(self._fingerprints.of(request), request.retrievers)}

    def share(self, search_id: str, request: SearchRequest) -> Shared:
        """Write a search for this store, for any other, and as a file."""
        named = request.work_id or (request.like.work_id if request.like else "")
        work = next((each for each in self._works.summaries() if each.id == named), None)
        shared = SharedSearch(
            request=request,
            title=work.title if work else "",
            author=work.author if work else "",
            fingerprints=self._made(search_id, request),
        )
        return Shared(
            short=self.short(search_id, request),
            code=search_address.write_code(shared),
            file=search_address.write_file(shared),
        )

    def save(self, search_id: str, request: SearchRequest, path: Path) -> None:
        """Write a search to a file. Raises StoreError: the file cannot be written."""
        shared = self.share(search_id, request)
        write_whole(path, shared.file)

    def open_named(self, given: str) -> Opened:
        """Open the search of an address, with or without its beginning, or of the file that somebody names."""
        code = parse_qs(urlsplit(given).query).get("search", [""])[-1]
        if code or search_address.is_code(given):
            return self.open_code(code or given)
        return self.open_file(read_bytes(Path(given)), given)

    def open_code(self, code: str) -> Opened:
        """Open the search that an address carries; NotFound: what it was asked of is not in this library."""
        return self._fit(search_address.read_code(code))

    def open_file(self, data: bytes, name: str) -> Opened:
        """Open the search that a file holds; raises as `open_code`, and BadBenchmark: it was damaged or changed."""
        return self._fit(search_address.read_file(data, name))

    def open_passage(self, work_id: str, *, at: str, length: int, edition: str = "") -> OpenedPassage:
        """Open a passage that an address names; of a work that is here in one other edition alone, in that one."""
        try:
            page, notices = self._page(work_id, at=at, length=length), []
        except NotFound:
            others = same_work(work_id, self._works.summaries())
            if len(others) != 1 or work_id in {work.id for work in self._works.removed()}:
                raise
            page, notices = self._page(others[0].id, at=at, length=length), [_other_edition(others[0])]
        else:
            if edition and not search_address.is_edition(edition):
                notices.append(
                    "The part of this address that says with which edition it was made cannot be read: it was cut "
                    "short or changed. Make sure that this is the passage meant."
                )
            elif edition and edition != self._fingerprints.edition(work_id):
                notices.append(
                    f"The sentences of {page.work.title} have been cut anew since this address was made: the passage "
                    "may begin or end elsewhere."
                )
        return OpenedPassage(page=page, notices=(*notices, *filter(None, [page.notice])))

    def changes(self, request: SearchRequest, given: Mapping[str, str]) -> tuple[str, ...]:
        """Say what differs from when an address was made, by the ``w`` and ``m`` that it carries."""
        edition, made = given.get("w", ""), given.get("m", "")
        if not edition and not made:
            return ()
        then = search_address.read_fingerprints(edition, made, request.retrievers)
        return self._fingerprints.changes(request, then, since=_SINCE)

    def columns(self, request: SearchRequest) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Give the ways of searching of a request that there are here, and say in sentences which are left out."""
        texts = [work.sha256 for work in self._works.summaries() if work.id == request.work_id]
        known = {card.name for card in registry.cards()}.union(*map(self._systems, texts))
        lacking = tuple(dict.fromkeys(name for name in request.retrievers if name not in known))
        systems = [name.removeprefix(registry.IMPORTED) for name in lacking if name.startswith(registry.IMPORTED)]
        notices = []
        if unknown := [name for name in lacking if not name.startswith(registry.IMPORTED)]:
            notices.append(
                f"This version of the program has no way of searching called {_names(unknown)}; it is left out."
            )
        if systems:
            notices.append(
                f"What another system ranked is left out: no run of {_names(systems)} on this text is here. Take in "
                f"its file ({COMMAND} runs import), or put the run back."
            )
        return tuple(name for name in dict.fromkeys(request.retrievers) if name in known), tuple(notices)

    def _fit(self, shared: SharedSearch) -> Opened:
        """Find what a search from elsewhere can be asked of here, and say what differs.

        Where its edition is not here but one other of the same title and author is, that one is asked.
        """
        summaries = self._works.summaries()
        notices: list[str] = []
        asked, then = shared.request, shared.fingerprints
        work_id, like, chapters, work_filter = asked.work_id, asked.like, asked.chapters, asked.work_filter
        if work_id:
            found = _edition_here(work_id, shared, summaries)
            if found.id != work_id:
                notices.append(_other_edition(found))
                then = replace(then, edition="")
            work_id = found.id
        if like:
            found = _edition_here(like.work_id, shared, summaries)
            if found.id != like.work_id:
                notices.append(_other_edition(found))
            like = SeedPassage(found.id, like.at, like.length)
        if work_id != asked.work_id and chapters:
            held = next(work.chapters for work in summaries if work.id == work_id)
            chapters = tuple(each for each in chapters if each <= held)
        here = {work.id for work in summaries}
        if gone := [each for each in work_filter.works if each not in here]:
            kept = tuple(each for each in work_filter.works if each not in gone)
            if not kept:
                raise NotFound(
                    f"None of the works that this search was narrowed to is in your library: {_names(gone)}. Add them "
                    "in the Library, in the same editions, and open it again."
                )
            notices.append(
                f"Not all works that this search was narrowed to are in your library. Missing: {_names(gone)}."
            )
            work_filter = replace(work_filter, works=kept)
            then = replace(then, edition="")
        names, left_out = self.columns(replace(asked, work_id=work_id))
        notices += left_out
        request = replace(
            asked,
            work_id=work_id,
            retrievers=names or DEFAULT_RETRIEVERS,
            chapters=chapters,
            work_filter=work_filter,
            like=like,
        )
        notices += self._fingerprints.changes(request, then, since=_SINCE)
        return Opened(request=request, notices=tuple(dict.fromkeys(notices)), code=search_address.write_code(shared))


def _other_edition(work: WorkSummary) -> str:
    name = f"{work.title}, {work.author}" if work.author else work.title
    return (
        f"This address was made with another edition of {name} than the one in your library. It is opened in yours: "
        "the passage may be elsewhere, and ranks may differ."
    )


def same_work(
    work_id: str, summaries: Sequence[WorkSummary], *, title: str = "", author: str = ""
) -> list[WorkSummary]:
    """List the other editions of a work there are here: by title and author, or where these are not given by its id.

    An id is a slug of the title and eight digits of the text's hash, so the slug names the work.

    >>> from types import SimpleNamespace
    >>> emma = SimpleNamespace(id="emma-0a1b2c3d", title="Emma", author="Jane Austen")
    >>> [work.title for work in same_work("emma-99999999", [emma])], same_work("emma", [emma])
    (['Emma'], [])
    """
    if title:
        wanted = (title.casefold(), author.casefold())
        return [work for work in summaries if (work.title.casefold(), work.author.casefold()) == wanted]
    slug, dash, _ = work_id.rpartition("-")
    return [work for work in summaries if dash and work.id.rpartition("-")[0] == slug]


def _edition_here(work_id: str, shared: SharedSearch, summaries: Sequence[WorkSummary]) -> WorkSummary:
    for work in summaries:
        if work.id == work_id:
            return work
    mine = work_id == (shared.request.work_id or (shared.request.like.work_id if shared.request.like else ""))
    title, author = (shared.title, shared.author) if mine else ("", "")
    found = same_work(work_id, summaries, title=title, author=author)
    if len(found) == 1:
        return found[0]
    name = (f"{title}, {author}" if author else title) or f"'{work_id}'"
    if found:
        raise NotFound(
            f"This search was made in an edition of {name:.{_SHOWN}} that is not in your library, which has "
            f"{len(found)} others. Choose one of them, and type the claim again."
        )
    raise NotFound(
        f"This search was made in a work that is not in your library: {name:.{_SHOWN}} (edition {work_id:.{_SHOWN}}). "
        "Add it in the Library and open the address again."
    )


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name:.{_SHOWN}}'" for name in names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED} more" if len(names) > _NAMED else shown
