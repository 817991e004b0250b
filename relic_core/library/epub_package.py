"""The package of an EPUB: which pages in which order, what the contents list names, what is said about the work."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.errors import BadText, NotFound, UnsafeFile
from relic_core.library.archives import MOST_UNPACKED, resolve
from relic_core.library.edition_details import edition_of
from relic_core.library.markup import attribute, decode_markup, local_name, parse_html, parse_xml, person_name
from relic_core.text.metadata import Metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.etree import _Element as Element

    from relic_core.domain import EditionDetails
    from relic_core.library.archives import Archive

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Ways of scrambling fonts, which lock no text."""
_PAGES = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
_PAGE_NAME = re.compile(r"\.x?html?$|\.xml$", re.IGNORECASE)
_WEB = re.compile(r"https?://\S+")
_OLDEST_EBOOK = 1971
"""Year. A date before it cannot be the e-book's own, so it is the work's."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents list.

    - `path`, `fragment`: where it leads.
    - `depth`: 0 for the outermost lines.
    """

    path: str
    fragment: str
    label: str
    depth: int
    holds: bool


@dataclass(frozen=True, slots=True)
class Package:
    """What `read_package` found.

    - `pages`: names of the entries with the text, in reading order.
    - `asides`: those of them that stand outside the reading order, such as notes.
    - `missing`: pages that the manifest names and the archive does not hold.
    - `navigation`: name of the page that is the contents list; empty where none is.
    """

    pages: tuple[str, ...]
    asides: frozenset[str]
    missing: tuple[str, ...]
    contents: tuple[Entry, ...]
    navigation: str
    metadata: Metadata
    details: EditionDetails


def read_package(archive: Archive) -> Package:
    """Read the package of an EPUB.

    Raises BadText: the archive is no EPUB, or its package is damaged or names no page.
    Raises UnsafeFile: it is locked by a reading shop (DRM).
    """
    if not archive.find(_CONTAINER):
        raise BadText(
            "The file is a zip archive without META-INF/container.xml, so it is no EPUB, or one that did not arrive "
            "whole. Fetch it again. If it is a folder of texts packed together, unpack it and add the files."
        )
    path = _package_path(archive)
    root = _xml(archive, path, "The package file of the EPUB")
    manifest, types, navigation, ncx = _manifest(root, path)
    spine = [element for element in root.iter() if local_name(element) == "itemref"]
    wanted = [(manifest.get(attribute(each, "idref"), ""), attribute(each, "linear") == "no") for each in spine]
    pages = [(each, aside) for each, aside in wanted if types.get(each, "") in _PAGES or _PAGE_NAME.search(each)]
    unnamed = [attribute(each, "idref") for each, (page, _) in zip(spine, wanted, strict=True) if not page]
    held = list(dict.fromkeys(archive.find(each) for each, _ in pages if archive.find(each)))
    missing = [each for each, _ in pages if not archive.find(each)] + [each for each in unnamed if each]
    _refuse_locked(archive, held)
    if not held:
        raise BadText(
            "The EPUB names no page that it holds"
            + (f"; '{missing[0][:200]}' is missing from it" if missing else "")
            + ". Fetch the book again; it did not arrive whole, or was packed without its text."
        )
    toc = ncx or manifest.get(
        next((attribute(each, "toc") for each in root.iter() if local_name(each) == "spine"), ""), ""
    )
    return Package(
        pages=tuple(held),
        asides=frozenset(archive.find(each) for each, aside in pages if aside),
        missing=tuple(dict.fromkeys(missing)),
        contents=tuple(_contents(archive, navigation, toc)),
        navigation=archive.find(navigation),
        metadata=_metadata(root),
        details=_details(root),
    )


def _package_path(archive: Archive) -> str:
    container = _xml(archive, _CONTAINER, "META-INF/container.xml of the EPUB")
    paths = [attribute(each, "full-path") for each in container.iter() if local_name(each) == "rootfile"]
    resolved = [resolve("", path)[0] for path in paths]
    found = next((path for path in resolved if path and archive.find(path)), "")
    if not found:
        raise BadText(
            f"The EPUB names '{(paths or ['nothing'])[0][:200]}' as its package file and does not hold it. Fetch the "
            "book again; it did not arrive whole."
        )
    return archive.find(found)


def _manifest(root: Element, path: str) -> tuple[dict[str, str], dict[str, str], str, str]:
    manifest: dict[str, str] = {}
    types: dict[str, str] = {}
    navigation = ncx = ""
    for item in root.iter():
        if local_name(item) != "item":
            continue
        place = resolve(path, attribute(item, "href"))[0] or attribute(item, "href")
        kind = attribute(item, "media-type").strip().lower()
        manifest.setdefault(attribute(item, "id"), place)
        types[place] = kind
        if "nav" in attribute(item, "properties").split():
            navigation = place
        if kind == "application/x-dtbncx+xml":
            ncx = place
    return manifest, types, navigation, ncx


def _refuse_locked(archive: Archive, pages: Iterable[str]) -> None:
    if not archive.find(_ENCRYPTION):
        return
    locked = set()
    for data in _xml(archive, _ENCRYPTION, "META-INF/encryption.xml of the EPUB").iter():
        if local_name(data) != "encrypteddata":
            continue
        method = next(
            (
                attribute(each, "algorithm") or attribute(each, "Algorithm")
                for each in data.iter()
                if local_name(each) == "encryptionmethod"
            ),
            "",
        )
        places = [attribute(each, "URI") for each in data.iter() if local_name(each) == "cipherreference"]
        if method not in _FONTS:
            locked |= {archive.find(resolve("", place)[0]) for place in places}
    if locked & set(pages):
        raise UnsafeFile(
            "The EPUB is locked by the shop that sold it (DRM): its pages are encrypted and cannot be read here. Add "
            "an edition without a lock: Project Gutenberg and Standard Ebooks have most works of authors long dead."
        )


def _contents(archive: Archive, navigation: str, ncx: str) -> list[Entry]:
    """Read the contents list of an EPUB 3, else that of an EPUB 2; a damaged one is passed over."""
    found: list[Entry] = []
    try:
        if archive.find(navigation):
            root = _html(archive, navigation)
            lists = [
                each for each in root.iter() if local_name(each) == "nav" and "toc" in attribute(each, "type").split()
            ]
            lists = lists or [each for each in root.iter() if local_name(each) == "nav"]
            found = [entry for each in lists[:1] for entry in _navigation(each, navigation, 0)]
        if not found and archive.find(ncx):
            points = [each for each in _html(archive, ncx, xml=True).iter() if local_name(each) == "navmap"]
            found = [entry for each in points[:1] for entry in _points(each, ncx, 0)]
    except (BadText, NotFound) as error:
        if isinstance(error, UnsafeFile):
            raise
        return []  # the headings on the pages say enough
    return found


def _navigation(element: Element, base: str, depth: int) -> Iterator[Entry]:
    for child in element:
        name = local_name(child)
        if name in {"ol", "ul"}:
            yield from _navigation(child, base, depth)
        elif name == "li":
            link = next((each for each in child if local_name(each) in {"a", "span"}), None)
            inside = any(local_name(each) in {"ol", "ul"} for each in child)
            if link is not None:
                path, fragment = resolve(base, attribute(link, "href")) if attribute(link, "href") else ("", "")
                yield Entry(path, fragment, _text(link), depth, inside)
            yield from _navigation(child, base, depth + 1)


def _points(element: Element, base: str, depth: int) -> Iterator[Entry]:
    for point in element:
        if local_name(point) == "navpoint":
            label = next((_text(each) for each in point if local_name(each) == "navlabel"), "")
            source = next((attribute(each, "src") for each in point if local_name(each) == "content"), "")
            path, fragment = resolve(base, source) if source else ("", "")
            yield Entry(path, fragment, label, depth, any(local_name(each) == "navpoint" for each in point))
            yield from _points(point, base, depth + 1)


def _metadata(root: Element) -> Metadata:
    refined: dict[str, dict[str, str]] = {}
    for meta in root.iter():
        if local_name(meta) == "meta" and attribute(meta, "refines"):
            kinds = refined.setdefault(attribute(meta, "refines").lstrip("#"), {})
            kinds[attribute(meta, "property")] = _text(meta).lower()

    def said(element: Element, name: str, attribute_name: str) -> str:
        return refined.get(attribute(element, "id"), {}).get(name) or attribute(element, attribute_name).lower()

    titles = [each for each in root.iter() if local_name(each) == "title" and _text(each)]
    main = [each for each in titles if said(each, "title-type", "type") == "main"]
    people = [each for each in root.iter() if local_name(each) in {"creator", "contributor"} and _text(each)]
    roles = [(each, said(each, "role", "role") or ("aut" if local_name(each) == "creator" else "")) for each in people]
    return Metadata(
        title=_text((main or titles)[0]) if titles else "",
        author=" and ".join(dict.fromkeys(person_name(_text(each)) for each, role in roles if role == "aut")),
        translator=" and ".join(dict.fromkeys(person_name(_text(each)) for each, role in roles if role == "trl")),
        year=_year(root),
    )


def _details(root: Element) -> EditionDetails:
    """Read what is said of the edition: who edited and published it, its language, its address at its publisher's."""
    said = {
        name: [_text(each) for each in root.iter() if local_name(each) == name and _text(each)]
        for name in ("publisher", "language", "identifier", "source")
    }
    roles = {
        attribute(each, "refines").lstrip("#"): _text(each).lower()
        for each in root.iter()
        if local_name(each) == "meta" and attribute(each, "property") == "role"
    }
    editors = [
        person_name(_text(each))
        for each in root.iter()
        if local_name(each) in {"creator", "contributor"}
        and (roles.get(attribute(each, "id")) or attribute(each, "role").lower()) == "edt"
    ]
    address = next((each for each in (*said["identifier"], *said["source"]) if _WEB.fullmatch(each)), "")
    return edition_of(
        editor="; ".join(filter(None, dict.fromkeys(editors))),
        publisher=next(iter(said["publisher"]), ""),
        language=next(iter(said["language"]), ""),
        url=address,
    )


def _year(root: Element) -> int | None:
    for date in root.iter():
        if local_name(date) != "date":
            continue
        year = re.match(r"\s*(\d{4})\b", _text(date))
        original = "original" in attribute(date, "event").lower()
        if year and (original or 1000 < int(year[1]) < _OLDEST_EBOOK):  # noqa: PLR2004 - no printed work is older
            return int(year[1])
    return None


def _xml(archive: Archive, path: str, what: str) -> Element:
    return parse_xml(decode_markup(archive.read(path), what=what, max_bytes=MOST_UNPACKED), what=what)


def _html(archive: Archive, path: str, *, xml: bool = False) -> Element:
    what = f"The page '{path[:200]}' of the EPUB"
    text = decode_markup(archive.read(path), what=what, max_bytes=MOST_UNPACKED)
    return parse_xml(text, what=what) if xml else parse_html(text, what=what)


def _text(element: Element) -> str:
    return " ".join("".join(str(piece) for piece in element.itertext()).split())
