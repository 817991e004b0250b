"""XML and HTML read with care: encodings told apart, entities resolved here and nowhere else, depth bounded.

The parser never sees a document type: it is cut off first, and with it every entity that a file declares. Named
characters of HTML become characters. An entity that the file itself makes of other entities or of another file is
refused where it is used; so nothing can grow and nothing is fetched.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5

from lxml import etree
from lxml import html as lxml_html
from lxml.etree import _Element as Element

from relic_core.errors import BadText, NotText, UnsafeFile
from relic_core.text.decoding import decode

MOST_DEPTH = 100
"""Elements inside each other; books need about twenty."""
MOST_ELEMENTS = 500_000
"""Of one file; a long novel has about 20,000, a play with every word marked 100,000."""
_MOST_ATTRIBUTES = 100
_DECLARATION = re.compile(r"\s*<\?xml\b[^>]*\?>")
_ENCODING = re.compile(rb"<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_META = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?([A-Za-z0-9._-]{1,40})", re.IGNORECASE)
_META_ROOM = 2_000
"""Bytes at the beginning of a page in which it may declare its encoding; browsers look as far as 1,024."""
_KNOWN_ENCODINGS = re.compile(
    r"(?:us-)?ascii|utf-?8|iso-?8859-?\d+|latin-?\d|(?:windows|cp)-?\d{3,4}|koi8-[ru]|mac-?\w+|shift_?jis|euc-\w+|gb\w+|big5",
    re.IGNORECASE,
)
_PROLOGUE = re.compile(r"\s*(?:(?:<\?.*?\?>|<!--.*?-->)\s*)*", re.DOTALL)
_DOCTYPE_MARK = re.compile(r"<!--|<\?|[\[\]<>\"']")
_ENTITY = re.compile(
    r"<!ENTITY\s+(?P<name>[\w.:-]+)\s+(?:(?P<outside>SYSTEM|PUBLIC)\b|(?P<quote>[\"'])(?P<value>.*?)(?P=quote))",
    re.DOTALL,
)
_REFERENCE = re.compile(r"&([A-Za-z][\w.:-]{0,60});")
_CHARACTER_REFERENCE = re.compile(r"&#(?:x[0-9A-Fa-f]{1,6}|\d{1,7});")
_XML_NAMES = {"amp", "lt", "gt", "quot", "apos"}
_LONGEST_ENTITY = 40
"""Characters. A file may abbreviate a word or a name; what is longer is not an abbreviation."""
_INVISIBLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


def decode_markup(data: bytes, *, what: str, max_bytes: int) -> str:
    r"""Decode the bytes of an XML or HTML file by its marks, what it declares, and what its bytes can be.

    Bytes that are UTF-8 are read as UTF-8 whatever is declared, and a declared encoding that does not fit its bytes is
    ignored, as a text file's would be.

    >>> decode_markup("<?xml version='1.0' encoding='koi8-r'?><p>да</p>".encode("koi8-r"), what="", max_bytes=99)
    "<?xml version='1.0' encoding='koi8-r'?><p>да</p>"
    """
    for start, encoding in ((b"<\x00", "utf-16-le"), (b"\x00<", "utf-16-be")):
        if data.startswith(start) and len(data) <= max_bytes:
            try:
                return _new_lines(data.decode(encoding))
            except UnicodeDecodeError as error:
                raise NotText(
                    f"{what} is in {encoding.upper()} but damaged at byte {error.start:,}. Fetch it again, or save it "
                    "in UTF-8."
                ) from None
    declared = _ENCODING.match(data.lstrip()[:200]) or _META.search(data[:_META_ROOM])
    name = declared[1].decode() if declared else ""
    if len(data) <= max_bytes and _KNOWN_ENCODINGS.fullmatch(name) and not _is_utf8(data):
        try:
            return _new_lines(data.decode(name))
        except (UnicodeDecodeError, LookupError):
            pass  # it is not what it says; its bytes decide
    return decode(data, max_bytes=max_bytes)


def parse_xml(text: str, *, what: str) -> Element:
    r"""Parse XML.

    Raises BadText: it is not well-formed, or nested deeper than `MOST_DEPTH`.
    Raises UnsafeFile: an entity made of others or from outside; more than `MOST_ELEMENTS` elements.

    >>> parse_xml("<!DOCTYPE p><p>one&nbsp;two</p>", what="The file").text
    'one\xa0two'
    """
    refuse_many(count_elements(text), what=what)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, collect_ids=False
    )
    try:
        root = etree.fromstring(_without_doctype(text, what=what), parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise BadText(
            f"{what} is not whole: its XML breaks off or goes wrong at line {line}, column {column} "
            f"({(error.msg or '').partition(', line')[0]}). Fetch it again, or have an XML editor check it."
        ) from None
    _check_shape(root, what=what)
    return root


def parse_html(text: str, *, what: str) -> Element:
    """Parse XHTML strictly, and what is not well-formed as browsers do; raises as `parse_xml`."""
    try:
        return parse_xml(text, what=what)
    except UnsafeFile:
        raise
    except BadText:
        pass  # sloppy HTML is common in books made by hand
    parser = lxml_html.HTMLParser(recover=True, no_network=True, huge_tree=False, remove_pis=True)
    try:
        root = lxml_html.document_fromstring(_INVISIBLE.sub("", _without_doctype(text, what=what)), parser)
    except etree.LxmlError:
        raise BadText(f"{what} holds no page that can be read. Fetch the book again.") from None
    _check_shape(root, what=what)
    return root


def count_elements(text: str) -> int:
    """Count the elements of a file before it is parsed; comments and instructions count as elements."""
    return text.count("<") - text.count("</")


def refuse_many(elements: int, *, what: str) -> None:
    """Refuse a file with more than `MOST_ELEMENTS` elements before they take up memory, as an UnsafeFile."""
    if elements > MOST_ELEMENTS:
        raise UnsafeFile(
            f"{what} has more than {MOST_ELEMENTS:,} elements, many times those of a long novel, and is not opened. If "
            "it is a collection, add its works one by one; or add the work as plain text."
        )


def local_name(element: Element) -> str:
    """Return an element's name without its namespace, in small letters; empty for comments and instructions."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """Return the value of an attribute of any namespace ("type" is also "epub:type"); empty where it has none."""
    value = element.get(name)
    if value is None and not element.keys():  # most elements, in most books
        return ""
    if value is None:
        value = next((given for key, given in element.attrib.items() if re.split(r"[}:]", str(key))[-1] == name), "")
    return str(value)


def descendants(element: Element, *names: str) -> Iterator[Element]:
    """Yield the elements of some local names, an element itself and what is inside it."""
    return (each for each in element.iter() if local_name(each) in names)


def text_of(element: Element) -> str:
    """Return all text inside an element, to the letter."""
    return "".join(map(str, element.itertext()))


def words_of(element: Element) -> str:
    """Return all text inside an element on one line."""
    return " ".join(text_of(element).split())


def root_name(head: str) -> str:
    """Return the name of the first element of a file, without prefix, from the file's beginning; empty where none is.

    >>> root_name('<?xml version="1.0"?><!-- a > b --><!DOCTYPE x [<!ENTITY a "<b>">]><t:TEI xmlns:t="">')
    'TEI'
    """
    position = _prologue_end(head)
    if re.match(r"<!DOCTYPE\b", head[position : position + 9], re.IGNORECASE):
        position = _prologue_end(head, _doctype_end(head, position) or len(head))
    found = re.match(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]", head[position : position + 200])
    return found[1] if found else ""


def is_web_page(head: str) -> bool:
    """Whether a file begins as HTML does.

    >>> is_web_page("<!-- saved --><!DOCTYPE html><title>A page</title>"), is_web_page("<i>The Ferry</i>")
    (True, False)
    """
    position = _prologue_end(head)
    declared = re.match(r"<!DOCTYPE\s+html\b", head[position : position + 40], re.IGNORECASE)
    return bool(declared) or root_name(head).lower() in {"html", "head", "body"}


_YEARS_OF_LIFE = re.compile(
    r",?\s*(?:b\.|d\.|ca?\.|fl\.|active|approximately|born|died)?\s*\d{3,4}\??(?:\s*[-–]\s*(?:\d{3,4}\??)?)?\.?\s*$"
)
_SUFFIX = re.compile(r"(?:jr|sr)\.?|I{2,3}|fils|p[eè]re", re.IGNORECASE)
_DROPPED_TITLE = re.compile(r"(?:Sir|Dame|Dr\.?)|[a-zß-ÿ].*")
"""Behind a name: "condesa de"; what begins with a capital ("Baron", "Earl of") is a matter of style."""


def person_name(written: str, filed: str = "") -> str:
    r"""Turn a catalogue's name around; no-break spaces join the words of a surname.

    - `filed`: the name as it is sorted, which says where a surname begins.

    >>> person_name("Disraeli, Benjamin (1804-1881)"), person_name("Ouida [Maria Louise Ramé]")
    ('Benjamin Disraeli', 'Ouida')
    >>> person_name("Austen, Jane, 1775-1817."), person_name("George Eliot")
    ('Jane Austen', 'George Eliot')
    >>> person_name("Camilo Castelo Branco", "Castelo Branco, Camilo"), person_name("Doyle, Arthur Conan, Sir")
    ('Camilo Castelo\xa0Branco', 'Arthur Conan Doyle')
    """
    name, sorted_name = _plain_name(written), _plain_name(filed)
    if "," not in name and sorted(re.findall(r"\w+", name)) == sorted(re.findall(r"\w+", sorted_name)):
        name = sorted_name
    family, *others = [part.strip() for part in name.split(",")]
    behind = others[1:] if len(others) > 1 else []
    known = all(_SUFFIX.fullmatch(part) or _DROPPED_TITLE.fullmatch(part) for part in behind)
    if not others or _SUFFIX.fullmatch(others[0]) or not known:
        return name
    suffix = "".join(f", {part}" for part in behind if _SUFFIX.fullmatch(part))
    return f"{others[0]} {family.replace(' ', chr(0xA0))}{suffix}"


def _plain_name(written: str) -> str:
    name = re.sub(r"\([^)]*\)|\[[^\]]*\]", " ", written)
    name = " ".join(_YEARS_OF_LIFE.sub("", name).split()).strip(" ,;")
    return name if re.search(r"\b(?:\w|[JS]r)\.$", name) else name.rstrip(".")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _new_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")


def _without_doctype(text: str, *, what: str) -> str:
    """Cut off the declaration and the document type; resolve named characters and short abbreviations."""
    declaration = _DECLARATION.match(text)
    text = text[declaration.end() :] if declaration else text
    position = _prologue_end(text)
    declared: dict[str, str | None] = {}
    if text[position : position + 9].upper() == "<!DOCTYPE":
        end = _doctype_end(text, position)
        if not end:
            raise BadText(f"{what} breaks off inside its document type. Fetch it again; it did not arrive whole.")
        declared = _entities(text[position:end])
        text = text[:position] + text[end:]

    def replacement(reference: re.Match[str]) -> str:
        name = reference[1]
        if name in _XML_NAMES:
            return reference[0]
        if name in declared:
            value = declared[name]
            if value is None:
                raise UnsafeFile(
                    f"{what} uses the entity '&{name[:40]};', which it makes of other entities, of markup or of a file "
                    "outside itself. Files with such entities are not opened, for they can be made to grow without end "
                    "or to read other files. Save it with its entities resolved (xmllint --noent, for a file that you "
                    "trust) and add that."
                )
            return html.escape(value)
        return html.escape(html5[f"{name};"]) if f"{name};" in html5 else f"&amp;{name};"

    return _REFERENCE.sub(replacement, text) if "&" in text else text


def _prologue_end(text: str, start: int = 0) -> int:
    found = _PROLOGUE.match(text.replace("\ufeff", " ", 1) if text[:1] == "\ufeff" else text, start)
    return found.end() if found else start


def _doctype_end(text: str, start: int) -> int:
    """Offset past the document type that begins at `start`; 0 where it is not closed."""
    depth, position = 0, start
    while mark := _DOCTYPE_MARK.search(text, position):
        closing = {"<!--": "-->", "<?": "?>", '"': '"', "'": "'"}.get(mark[0])
        if closing is not None:
            end = text.find(closing, mark.end())  # once for each kind that is not closed: a second is never looked for
            if end < 0:
                return 0
            position = end + len(closing)
            continue
        depth += 1 if mark[0] in "<[" else -1
        position = mark.end()
        if depth == 0:
            return position
    return 0


def _entities(doctype: str) -> dict[str, str | None]:
    """Entities that a document type declares; None for what is not resolved."""
    found: dict[str, str | None] = {}
    for entity in _ENTITY.finditer(doctype):
        value = entity["value"]
        known = value is not None and len(value) <= _LONGEST_ENTITY and "<" not in value and "%" not in value
        plain = _CHARACTER_REFERENCE.sub(lambda match: html.unescape(match[0]), value) if known else ""
        found.setdefault(entity["name"], plain if known and not re.search(r"[&<]", plain) else None)
    return found


def _check_shape(root: Element, *, what: str) -> None:
    depth = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if event == "start" and len(element.attrib) > _MOST_ATTRIBUTES:  # looking one up takes longer with each
            raise BadText(
                f"{what} has an element with more than {_MOST_ATTRIBUTES} attributes, which no book needs. It is "
                "damaged or made to harm; fetch it again, or add the work as plain text."
            )
        if depth > MOST_DEPTH:
            raise BadText(
                f"{what} nests more than {MOST_DEPTH} elements inside each other, which no book needs. It is damaged "
                "or made to harm; fetch it again, or add the work as plain text."
            )
