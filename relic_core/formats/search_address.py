"""What the address of a search holds: all of it as a code; and the file that an address would be too long for.

The file, of which the code is the ``search`` alone::

    {
     "format": "relic search/1",
     "sha256": "…",                              over "search"
     "search": {"work": "emma-1a2b3c4d", "title": "Emma", "author": "Jane Austen", "claim": "…", "length": 2,
                "results": 5, "retrievers": ["dense-relic", "bm25"], "chapters": [], "narrowing": {…},
                "like": {"work": "…", "at": "3.5.2", "length": 1}, "critics_quote": true,
                "voice": "speech", "conditions": [{"joined": "not", "claim": "…"}], "unit": "chapter",
                "edition": "9f8e7d6c", "makers": {"dense-relic": "1f2e3d4c"}, "version": "0.1.0"}
    }

A code is ``1.PAYLOAD.CHECK``: the version, the JSON deflated and written in the letters that an address may hold, and
the beginning of its sha256, so that an address that was cut short or changed on the way is recognised.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from relic_core.domain.searches import (
    EVERYWHERE,
    Condition,
    Joined,
    ModelFingerprints,
    SearchRequest,
    SeedPassage,
    SharedSearch,
    Unit,
    Voice,
    WorkFilter,
)
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats.envelope import Envelope
from relic_core.formats.files import Name, Strict, checked, parse

_FILE = Envelope("search", 1, ("search",), {}, sorted=False)
_VERSION = "1"
_CODE = re.compile(r"([0-9]{1,4})\.([A-Za-z0-9_-]+)\.([a-z2-7]+)")
_CHECK = 8
_LONGEST_CODE = 400_000
_LARGEST = 2_000_000
"""Bytes that a code may become when it is inflated."""
_MOST = 1_000_000
_Number = Annotated[int, Field(ge=1, le=_MOST)]
_MOST_LISTED = 10_000
_List = Field(max_length=_MOST_LISTED)
_DICTIONARY = (
    b'"},"narrowing":{"works":["authors":["first_year":"last_year":"like":{"work":"at":"chapters":["makers":{"version":'
    b'"0.1.0"zero-shot":"fusion":"reranked":"bm25":"dense-relic":"edition":"["zero-shot","fusion","dense-relic","bm25",'
    b'"reranked"],"results":5,"length":1,"retrievers":["author":"title":"claim":"{"work":"'
)
"""What codes of version 1 are deflated against: never to be changed, or addresses that were sent open no more."""

_EDITION = re.compile(r"[0-9a-f]{8}")
_FINGERPRINTS = re.compile(r"(?:[0-9a-f]{8}|-)(?:\.(?:[0-9a-f]{8}|-)){0,19}")
_NO_MODEL = "-"
"""Stands for a retriever whose model could not be loaded."""
_SHOWN = 60
KEYS = ("work", "claim", "length", "results", "retrievers")


class _Like(Strict):
    work: Name
    at: Name
    length: _Number


class _Condition(Strict):
    joined: Joined
    claim: str


def _few(named: WorkFilter) -> WorkFilter:
    if max(len(named.works), len(named.authors)) > _MOST_LISTED:
        raise ValueError(f"no more than {_MOST_LISTED:,} works or authors may be named")
    return named


class _RequestFields(Strict):
    work: str
    claim: str
    length: Annotated[int, Field(ge=0)]
    results: _Number
    retrievers: Annotated[tuple[str, ...], _List]
    chapters: Annotated[tuple[_Number, ...], _List] = ()
    work_filter: Annotated[WorkFilter, AfterValidator(_few)] = Field(EVERYWHERE, alias="narrowing")
    like: _Like | None = None
    critics_quote: bool = False
    voice: Voice = "any"
    conditions: Annotated[tuple[_Condition, ...], _List] = ()
    unit: Unit = "passage"

    def request(self) -> SearchRequest:
        """Give what is asked; BadRequest where a number is out of range, or parts do not go together."""
        return SearchRequest(
            work_id=self.work,
            claim_text=self.claim,
            length=self.length,
            results=self.results,
            retrievers=self.retrievers,
            chapters=self.chapters,
            work_filter=self.work_filter,
            like=SeedPassage(self.like.work, self.like.at, self.like.length) if self.like else None,
            critics_quote=self.critics_quote,
            voice=self.voice,
            conditions=tuple(Condition(each.joined, each.claim) for each in self.conditions),
            unit=self.unit,
        )


class _SearchFields(_RequestFields):
    title: str = ""
    author: str = ""
    edition: str = ""
    fingerprints: dict[Name, str] = Field({}, alias="makers")
    version: str = ""


def write_code(search: SharedSearch) -> str:
    """Write a search for an address.

    >>> search = SharedSearch(request=SearchRequest(work_id="emma-1", claim_text="A claim", retrievers=("bm25",)))
    >>> code = write_code(search)
    >>> code.startswith("1."), read_code(code) == search
    (True, True)
    """
    content = json.dumps(_content(search), ensure_ascii=False, separators=(",", ":"))
    deflating = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=_DICTIONARY)
    payload = deflating.compress(content.encode()) + deflating.flush()
    return f"{_VERSION}.{base64.urlsafe_b64encode(payload).decode().rstrip('=')}.{_check(payload)}"


def is_code(written: str) -> bool:
    """Whether something is written as a code is, whole or not."""
    return _CODE.fullmatch(written.strip()) is not None


def read_code(code: str) -> SharedSearch:
    """Read a search from an address and check it. Raises BadRequest: it was cut short, changed, or made otherwise."""
    what = "The search in this address"
    if len(code) > _LONGEST_CODE:
        raise BadRequest(f"{what} is longer than any that this program writes. {_AGAIN}")
    found = _CODE.fullmatch(code.strip())
    if found is None:
        raise BadRequest(f"{what} cannot be read: it was cut short or changed on the way. {_AGAIN}")
    if found[1] != _VERSION:
        raise BadRequest(
            f"{what} was written by another version of the program (its form is {found[1]}, this version reads form "
            f"{_VERSION}). Use the version that it was made with, or have it made anew."
        )
    try:
        payload = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4))
        if _check(payload) != found[3]:
            raise BadRequest(f"{what} is not whole: it was cut short or changed on the way. {_AGAIN}")
        inflating = zlib.decompressobj(-15, zdict=_DICTIONARY)
        data = inflating.decompress(payload, _LARGEST)
        text = data.decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        raise BadRequest(f"{what} is not whole: it was cut short or changed on the way. {_AGAIN}") from None
    try:
        return _search_of(parse(text, what), what)
    except BadBenchmark as error:
        raise BadRequest(f"{error} {_AGAIN}") from None


def write_file(search: SharedSearch) -> bytes:
    """Write a search as a file: the same search makes the same bytes."""
    return _FILE.write({"search": _content(search)})


def read_file(data: bytes, source: str) -> SharedSearch:
    """Read the file of a search and check it. Raises BadBenchmark: it is not a search, or was damaged or changed."""
    here = f"{source:.{_SHOWN}}"
    if len(data) > _LARGEST:
        raise BadBenchmark(f"{here} has {len(data):,} bytes; the file of a search has at most {_LARGEST:,}.")
    return _search_of(_FILE.read(data, here)["search"], here)


def write_fingerprints(fingerprints: ModelFingerprints, retrievers: Sequence[str]) -> dict[str, str]:
    """Write what made an answer for an address: ``w``, the edition, and ``m``, each retriever in the search's order.

    >>> made = ModelFingerprints(edition="0a1b2c3d", retrievers={"bm25": "00009f8e"})
    >>> write_fingerprints(made, ["bm25", "dense-relic"])
    {'w': '0a1b2c3d', 'm': '00009f8e.-'}
    """
    values = {
        "w": fingerprints.edition,
        "m": ".".join(fingerprints.retrievers.get(name) or _NO_MODEL for name in retrievers),
    }
    return {name: value for name, value in values.items() if value}


def read_fingerprints(edition: str, fingerprints: str, retrievers: Sequence[str]) -> ModelFingerprints:
    """Read what `write_fingerprints` wrote; either may be empty. Raises BadRequest: they are of another search."""
    parts = fingerprints.split(".") if fingerprints else []
    whole = (not edition or _EDITION.fullmatch(edition)) and (not fingerprints or _FINGERPRINTS.fullmatch(fingerprints))
    if not whole or (parts and len(parts) != len(retrievers)):
        raise BadRequest(
            "The part of this address that says what it was made with cannot be read: it was cut short or changed. The "
            "search itself is the one that it names; whether the answer is the same cannot be said."
        )
    by_name = {name: part for name, part in zip(retrievers, parts, strict=bool(parts)) if part != _NO_MODEL}
    return ModelFingerprints(edition=edition, retrievers=by_name)


def is_edition(written: str) -> bool:
    """Whether something may be what an address says of an edition."""
    return _EDITION.fullmatch(written) is not None


_AGAIN = "Copy the whole address again, or ask for the file of the search."


def to_json(request: SearchRequest) -> dict[str, Any]:
    """Give what is asked as plain data; what may be left away is, where it is empty.

    The one place that writes a field of a request, for addresses, files and the store; `from_json` reads it.
    """
    like, work_filter = request.like, asdict(request.work_filter)
    content = {
        "work": request.work_id,
        "claim": request.claim_text,
        "length": request.length,
        "results": request.results,
        "retrievers": list(request.retrievers),
        "chapters": list(request.chapters),
        "narrowing": {name: value for name, value in work_filter.items() if value not in ((), None)},
        "like": {"work": like.work_id, "at": like.at, "length": like.length} if like else {},
        "critics_quote": request.critics_quote,
        "voice": request.voice if request.voice != "any" else "",
        "conditions": [{"joined": each.joined, "claim": each.claim_text} for each in request.conditions],
        "unit": request.unit if request.unit != "passage" else "",
    }
    return {name: value for name, value in content.items() if name in KEYS or value}


def from_json(given: Mapping[str, object], here: str) -> SearchRequest:
    """Read what `to_json` wrote; `here` says where it stands, for messages. Raises BadBenchmark, BadRequest."""
    return checked(_RequestFields, given, here).request()


def _content(search: SharedSearch) -> dict[str, Any]:
    """Give a search as plain data, its keys in the order in which they have always stood."""
    asked = to_json(search.request)
    made = {
        "edition": search.fingerprints.edition,
        "makers": dict(sorted(search.fingerprints.retrievers.items())),
        "version": search.fingerprints.version,
    }
    named = {"work": asked.pop("work"), "title": search.title, "author": search.author}
    return {name: value for name, value in (named | asked | made).items() if name in KEYS or value}


def _search_of(value: object, here: str) -> SharedSearch:
    sent = checked(_SearchFields, value, here)
    made = ModelFingerprints(edition=sent.edition, retrievers=sent.fingerprints, version=sent.version)
    return SharedSearch(request=sent.request(), title=sent.title, author=sent.author, fingerprints=made)


def _check(payload: bytes) -> str:
    return base64.b32encode(hashlib.sha256(payload).digest()).decode().lower()[:_CHECK]
