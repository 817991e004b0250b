"""Searches written for elsewhere, and what of one that comes from elsewhere can be asked here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from relic_core.domain import EVERYWHERE, SeedPassage
from relic_core.domain.sharing import ModelFingerprints, SharedSearch
from relic_core.errors import NotFound
from relic_core.formats.searches import write_code
from relic_core.services.answers import USUAL, SearchRequest
from relic_core.services.sharing import differences
from relic_core.services.sharing.digests import edition_of, makers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import WorkSummary
    from relic_core.services.reading import ReadingPage
    from relic_core.wiring import App

_SHOWN = 80
_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A search that came from elsewhere, as it can be asked here.

    - `notices`: what differs from where it was made, a sentence or two each; empty where nothing does.
    - `code`: what an address carries that opens it again.
    """

    request: SearchRequest
    notices: tuple[str, ...]
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedPassage:
    """A passage that an address names, as it can be read here.

    - `notices`: what differs from where the address was made, or cannot be opened; empty where nothing does.
    """

    page: ReadingPage
    notices: tuple[str, ...]


def shared_of(app: App, request: SearchRequest) -> SharedSearch:
    """Write down a request with what would answer it here and now."""
    named = request.work_id or (request.like.work_id if request.like else "")
    work = next((each for each in app.works.summaries() if each.id == named), None)
    return SharedSearch(
        work_id=request.work_id,
        title=work.title if work else "",
        author=work.author if work else "",
        claim_text=request.claim_text,
        length=request.length,
        results=request.results,
        retrievers=request.retrievers,
        chapters=request.chapters,
        narrowing=request.narrowing,
        like=request.like,
        makers=makers_of(app, request),
    )


def fit(app: App, shared: SharedSearch) -> Opened:
    """Find what a search from elsewhere can be asked of here, and say what differs.

    Where its edition is not here but one other of the same title and author is, that one is asked.

    Raises NotFound: its work, or all the works that it was narrowed to, or the passage it asks with, are not in this
    library.
    Raises BadRequest: a number in it is out of range, or parts of it do not go together.
    """
    summaries = app.works.summaries()
    notices: list[str] = []
    work_id, like, makers = shared.work_id, shared.like, shared.makers
    if work_id:
        found = _edition_here(work_id, shared, summaries)
        if found.id != work_id:
            notices.append(other_edition(found))
            makers = replace(makers, edition="")
        work_id = found.id
    if like:
        found = _edition_here(like.work_id, shared, summaries)
        if found.id != like.work_id:
            notices.append(other_edition(found))
        like = SeedPassage(found.id, like.at, like.length)
    chapters, narrowing = shared.chapters, EVERYWHERE if work_id else shared.narrowing
    if work_id != shared.work_id and chapters:
        held = next(work.chapters for work in summaries if work.id == work_id)
        chapters = tuple(each for each in chapters if each <= held)
    if gone := [each for each in narrowing.works if each not in {work.id for work in summaries}]:
        kept = tuple(each for each in narrowing.works if each not in gone)
        if not kept:
            raise NotFound(
                f"None of the works that this search was narrowed to is in your library: {_names(gone)}. Add them in "
                "the Library, in the same editions, and open it again."
            )
        notices.append(f"Not all works that this search was narrowed to are in your library. Missing: {_names(gone)}.")
        narrowing = replace(narrowing, works=kept)
        makers = replace(makers, edition="")
    names, unknown = differences.known(shared.retrievers)
    if unknown:
        notices.append(f"This version of the program has no way of searching called {_names(unknown)}; it is left out.")
    request = SearchRequest(
        work_id=work_id,
        claim_text="" if like else shared.claim_text,
        length=shared.length,
        results=shared.results,
        retrievers=names or USUAL,
        chapters=chapters if work_id else (),
        narrowing=narrowing,
        like=like,
    )
    notices += told(app, request, makers, since="this address was made")
    return Opened(request=request, notices=tuple(dict.fromkeys(notices)), code=write_code(shared))


def open_passage(app: App, work_id: str, *, at: str, length: int, edition: str) -> OpenedPassage:
    """Open a passage that an address names; of a work that is here in one other edition alone, in that one.

    - `app`: where it is read.
    - `work_id`, `at`: as `relic_core.services.reading.Reading.page`.
    - `edition`: what the address says of its edition: see `ModelFingerprints`; empty where it says nothing.

    Raises NotFound: neither the work nor one other edition of it is here.
    """
    try:
        page, notices = app.reading.page(work_id, at=at, length=length), []
    except NotFound:
        others = same_work(work_id, app.works.summaries())
        if len(others) != 1 or work_id in {work.id for work in app.works.removed()}:
            raise
        page, notices = app.reading.page(others[0].id, at=at, length=length), [other_edition(others[0])]
    else:
        if edition and not differences.is_edition(edition):
            notices.append(
                "The part of this address that says with which edition it was made cannot be read: it was cut short or "
                "changed. Make sure that this is the passage meant."
            )
        elif edition and edition != edition_of(app, work_id, EVERYWHERE):
            notices.append(
                f"The sentences of {page.work.title} have been cut anew since this address was made: the passage may "
                "begin or end elsewhere."
            )
    return OpenedPassage(page=page, notices=(*notices, *filter(None, [page.notice])))


def told(app: App, request: SearchRequest, then: ModelFingerprints, *, since: str) -> tuple[str, ...]:
    """Say what would answer a request now that did not then: see `differences.differences`."""
    title = ""
    if request.work_id:
        title = next((work.title for work in app.works.summaries() if work.id == request.work_id), "the work")
    return differences.differences(then, makers_of(app, request), title=title, since=since)


def other_edition(work: WorkSummary) -> str:
    """Say that an address was made with another edition than the one there is."""
    name = f"{work.title}, {work.author}" if work.author else work.title
    return (
        f"This address was made with another edition of {name} than the one in your library. It is opened in yours: "
        "the passage may stand elsewhere, and ranks may differ."
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
    mine = work_id == (shared.work_id or (shared.like.work_id if shared.like else ""))
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
    """Write a few names, each cut where it is long."""
    shown = ", ".join(f"'{name:.{_SHOWN}}'" for name in names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED} more" if len(names) > _NAMED else shown
