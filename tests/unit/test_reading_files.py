"""Any file that is offered: what it is is told by what is in it, and what cannot be a work is refused with a reason."""

from __future__ import annotations

import io
import re
import struct
import zipfile

import pytest

from relic_core.errors import BadText, EmptyText, NotText, OtherFormat, TextTooLarge, UnsafeFile
from relic_core.library import archives, markup
from relic_core.library.reading import read_file
from relic_core.library.secondary import text_of
from relic_core.text import blocks as text_blocks
from tests.making_books import CONTAINER, XHTML, epub, pack, package, sections_of, tei

PAGE = "<h2>CHAPTER I</h2><p>Rain fell. Nobody came.</p>"
TEI = tei("<div><head>CHAPTER I</head><p>Rain fell. Nobody came.</p></div>")
TEXT = b"CHAPTER I\n\nRain fell. Nobody came.\n"


@pytest.mark.parametrize(
    ("data", "found"),
    [(TEXT, "plain text"), (epub([PAGE]), "EPUB"), (TEI, "TEI"), (b"\xef\xbb\xbf \n" + TEI, "TEI")],
)
@pytest.mark.parametrize(
    "name", ["a.txt", "a.epub", "a.xml", "a.pdf", "", "../../etc/passwd", "\u202egnp.txt", "x" * 300]
)
def test_the_format_is_told_by_what_is_in_the_file_and_not_by_its_name(data, found, name):
    work = read_file(data, name=name)
    assert work.format == found
    assert [chapter.name for chapter in work.chapters] == ["Chapter I"]
    assert [work.sentence_text(index) for index in range(2)] == ["Rain fell.", "Nobody came."]


def test_text_that_begins_with_a_tag_is_text():
    assert read_file(b"<i>The Ferry</i>\n\nRain fell.", name="x").format == "plain text"
    assert read_file(b"<The Ferry> and a <b> in it.", name="x").format == "plain text"
    assert read_file(b"[Illustration]\n\n{sic} Rain fell. [1]", name="x").format == "plain text"
    assert read_file(b"[" * 100_000 + b" Rain", name="x").format == "plain text"


def docx():
    return pack({"[Content_Types].xml": "<Types/>", "word/document.xml": "<w/>"})


def odt():
    return pack({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<o/>"})


PAGE_OF_THE_WEB = "<html><head><title>The Ferry</title></head><body><p>Rain fell.</p></body></html>"


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3 ...", OtherFormat, "PDF.*export the text"),
        (b"\n\n%PDF-1.4 text", OtherFormat, "PDF"),
        (PAGE_OF_THE_WEB.encode(), OtherFormat, "web page.*plain text.*EPUB"),
        (b"<!-- saved --><!DOCTYPE html>\n<meta charset=utf-8><p>Rain", OtherFormat, "web page"),
        (("\ufeff<?xml version='1.0'?>" + PAGE_OF_THE_WEB).encode("utf-16"), OtherFormat, "web page"),
        (b"Menu\n" + b"<div><a href='x'>Home</a></div>\n" * 30, OtherFormat, "web page"),
        (b"<?xml version='1.0'?><FictionBook xmlns='x'><body/></FictionBook>", OtherFormat, "<FictionBook>.*TEI"),
        (docx(), OtherFormat, "Word.*plain text"),
        (odt(), OtherFormat, "OpenDocument.*plain text"),
        (pack({"a.txt": "Rain fell."}), BadText, "container.xml.*unpack"),
        (b"{\\rtf1 Rain fell}", OtherFormat, "RTF"),
        (b"<p>Please sign in</p>", OtherFormat, "web page"),
        (b"<h1>Sign in</h1>\n<P>Please</P >\n", OtherFormat, "web page"),
        ("<div class='x'>" + "Rain fell. " * 20_000 + "</div>\n", OtherFormat, "web page"),
        ("\ufeff<p>Please sign in</p>\n".encode("utf-16"), OtherFormat, "web page"),
        (b"<book><chapter><title>I</title><para>Rain fell.</para></chapter></book>", OtherFormat, "<book>, and TEI"),
        (b"%!PS-Adobe-3.0\n(Rain fell) show\n", OtherFormat, "PostScript"),
        (b'{"text": "Rain fell."}\n', OtherFormat, "JSON"),
        (b' [\n{"text": "Rain fell."}]', OtherFormat, "JSON"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 99, OtherFormat, "word processor"),
        (b"\x1f\x8b\x08\x00", OtherFormat, "gzip"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", NotText, "plain text"),
        (b"", EmptyText, "empty"),
        (b"PK\x03\x04 and no more", BadText, "damaged"),
        (epub([PAGE])[:-200], BadText, "damaged"),
        (epub([PAGE])[:100], BadText, "damaged"),
        (TEI[:-100], BadText, "not whole.*line 1"),
        (b"<?xml version='1.0'?><!DOCTYPE TEI [ <!-- " + b"a" * 99, BadText, "XML.*breaks off"),
        (TEI.replace(b"<p>", b"<p>\x01"), BadText, "control character"),
        (TEI + b" " * 1000, TextTooLarge, "1,000 are allowed"),
    ],
)
def test_what_cannot_be_a_work_is_refused_with_a_reason(data, error, message):
    limit = 1000 if error is TextTooLarge else 1_000_000
    data = data.encode() if isinstance(data, str) else data
    with pytest.raises(BadText) as refused:
        read_file(data, name="the_ferry.txt", max_bytes=limit)
    assert isinstance(refused.value, error)
    assert re.search(message, str(refused.value), re.DOTALL), str(refused.value)


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
LAUGHS = f'<!DOCTYPE x [<!ENTITY l0 "ha ha ha ha ha ha ha ha ha ha ha ha ha ha">{LAUGHS}]>'


@pytest.mark.parametrize(
    "doctype",
    [
        LAUGHS,
        '<!DOCTYPE x [<!ENTITY l11 SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY l11 PUBLIC "-//X//" "http://192.0.2.1/x">]>',
        '<!DOCTYPE x [<!ENTITY l11 "<b>markup</b>">]>',
        '<!DOCTYPE x [<!ENTITY l11 "&#38;l1;">]>',
    ],
)
def test_entities_that_grow_or_reach_outside_are_refused(doctype):
    bad_tei = TEI.decode().replace("?>", "?>" + doctype, 1).replace("Rain", "&l11; Rain").encode()
    with pytest.raises(UnsafeFile, match="entity '&l11;"):
        read_file(bad_tei, name="x.xml")
    page = XHTML.format("<p>&l11; Rain</p>").replace("<!DOCTYPE html>", doctype)
    with pytest.raises(UnsafeFile, match="entity '&l11;"):
        read_file(epub([page]), name="x.epub")
    listing = package(["page0.xhtml"], metadata="<dc:title>&l11;</dc:title>").replace("?>", "?>" + doctype, 1)
    with pytest.raises(UnsafeFile, match="entity '&l11;"):
        read_file(pack({"META-INF/container.xml": CONTAINER, "OEBPS/content.opf": listing}), name="x.epub")


def test_a_document_type_whose_entities_nobody_uses_does_no_harm():
    quiet = TEI.decode().replace("?>", "?>" + LAUGHS + "<!-- > -->", 1).encode()
    assert len(read_file(quiet, name="x").sentences) == 2
    parameter = '<!DOCTYPE TEI [<!ENTITY % x SYSTEM "http://192.0.2.1/x.dtd"> %x; ]>'
    assert len(read_file(TEI.decode().replace("?>", "?>" + parameter, 1).encode(), name="x").sentences) == 2


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("UTF-8", "utf-8"), ("UTF-8", "cp1252"), ("ISO-8859-1", "utf-8"), ("ISO-8859-1", "latin-1"),
        ("utf-16", "utf-16"), ("utf-16", "utf-8"), ("UTF-16", "utf-16-le"), ("UTF-16", "utf-16-be"),
        ("no-such-thing", "utf-8"),
        ("unicode_escape", "utf-8"), ("macintosh", "utf-8"),
    ],
)  # fmt: skip
def test_xml_is_decoded_by_its_bytes_where_its_declaration_is_wrong(declared, encoding):
    text = TEI.decode().replace('encoding="UTF-8"', f'encoding="{declared}"').replace("Rain", "Café é")
    assert read_file(text.encode(encoding), name="x").sentence_text(0) == "Café é fell."


def test_a_russian_tei_in_its_declared_encoding():
    text = TEI.decode().replace('encoding="UTF-8"', 'encoding="windows-1251"').replace("Rain fell.", "Шёл дождь.")
    assert read_file(text.encode("cp1251"), name="x").sentence_text(0) == "Шёл дождь."


def test_damaged_utf_16_is_told():
    with pytest.raises(NotText, match=r"damaged"):
        read_file(TEI.decode().encode("utf-16-le") + b"\x00\xd8", name="x")


def test_deep_nesting_is_refused_and_never_overflows():
    deep = tei("<div>" * 90 + "<p>Rain.</p>" + "</div>" * 90)
    assert read_file(deep, name="x").sentence_text(0) == "Rain."
    for levels in (120, 300, 50_000):
        with pytest.raises(BadText, match=r"nests more than|not whole"):
            read_file(tei("<div>" * levels + "<p>Rain.</p>" + "</div>" * levels), name="x")
        with pytest.raises(BadText, match=r"nests more than|no text of a work"):
            read_file(epub(["<div>" * levels + "<p>Rain.</p>" + "</div>" * levels]), name="x")


def test_an_element_with_attributes_without_end_is_refused():
    attributes = " ".join(f'a{number}="1"' for number in range(200))
    with pytest.raises(BadText, match="more than 100 attributes"):
        read_file(tei(f"<p {attributes}>Rain.</p>"), name="x")


def test_the_pages_of_a_book_are_counted_together():
    pages = [f"<p>{'Rain fell. ' * 50}</p>"] * 4
    assert len(read_file(epub(pages), name="x", max_bytes=4_000).paragraphs) == 4
    with pytest.raises(TextTooLarge, match=r" 2,\d{3} bytes; at most 2,500"):
        read_file(epub(pages), name="x", max_bytes=2_500)


def test_a_book_of_more_elements_than_any_text_needs_is_refused_before_it_is_parsed(monkeypatch):
    monkeypatch.setattr(markup, "MOST_ELEMENTS", 30)
    many = "<p>Rain.</p>" * 15
    assert len(read_file(tei(many), name="x").paragraphs) == 15
    for data in (tei(many * 3), epub([many * 3]), epub([many, many, many]), epub([(many * 3).replace("</p>", "")])):
        with pytest.raises(UnsafeFile, match="more than 30 elements"):
            read_file(data, name="x")


def test_a_book_of_more_paragraphs_than_any_work_has_is_refused(monkeypatch):
    monkeypatch.setattr(text_blocks, "MOST_PARAGRAPHS", 20)
    many = "<p>Rain.</p>" * 15
    assert len(read_file(epub([many]), name="x").paragraphs) == 15
    lines = "Rain.\n\n" * 30
    for data in (tei(many * 2), epub([many, many]), epub([f"<pre>{lines}</pre>"]), lines.encode()):
        with pytest.raises(UnsafeFile, match="more than 20 paragraphs"):
            read_file(data, name="x")


def test_a_book_of_more_sentences_than_any_work_has_is_refused(monkeypatch):
    monkeypatch.setattr(text_blocks, "MOST_SENTENCES", 20)
    few, many = "Rain fell. " * 20, "Rain fell. " * 21
    for make in (str.encode, lambda text: tei(f"<p>{text}</p>"), lambda text: epub([f"<p>{text}</p>"])):
        assert len(read_file(make(few), name="x").sentences) == 20
        with pytest.raises(UnsafeFile, match="more than 20 sentences"):
            read_file(make(many), name="x")


def test_a_bomb_that_says_how_large_it_is():
    big = pack({"META-INF/container.xml": CONTAINER, **{f"OEBPS/{n}": b"\x00" * 10_000_000 for n in range(11)}})
    with pytest.raises(UnsafeFile, match=r"more than 100 MB"):
        read_file(big, name="bomb.epub")


def test_a_page_packed_tighter_than_any_text():
    data = epub({"a.xhtml": "<?xml version='1.0'?><html><body><p>" + "a" * 20_000_000 + "</p></body></html>"})
    assert len(data) < 100_000
    with pytest.raises(UnsafeFile, match="200 times"):
        read_file(data, name="bomb.epub")


def test_a_bomb_that_lies_about_its_size():
    data = bytearray(
        epub({"a.xhtml": "<?xml version='1.0'?><html><body><p>" + "a " * 9_000_000 + "</p></body></html>"})
    )
    size = struct.pack("<I", len("<?xml version='1.0'?><html><body><p>" + "a " * 9_000_000 + "</p></body></html>"))
    assert data.count(size) == 2
    lying = bytes(data).replace(size, struct.pack("<I", 500))
    with pytest.raises(BadText, match=r"damaged|200 times"):
        read_file(lying, name="bomb.epub")


def test_sizes_are_counted_over_all_that_is_read():
    archive = archives.Archive(pack({name: bytes(range(250)) for name in "abc"}))
    archive._budget = 600
    assert len(archive.read("a")) == len(archive.read("b")) == len(archive.read("a")) == 250
    with pytest.raises(UnsafeFile, match=r"unpacks to"):
        archive.read("c")


def test_too_many_entries(monkeypatch):
    monkeypatch.setattr(archives, "MOST_ENTRIES", 20)
    with pytest.raises(UnsafeFile, match=r" 2[0-9] entries; at most 20"):
        read_file(epub([PAGE], more={f"OEBPS/{n}": "x" for n in range(20)}), name="x")


def test_passwords_and_strange_packing():
    data = bytearray(epub([PAGE]))
    for entry in re.finditer(rb"PK\x01\x02", bytes(data)):
        data[entry.start() + 8] |= 1
    with pytest.raises(UnsafeFile, match="password"):
        read_file(bytes(data), name="x.epub")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
    with pytest.raises(BadText, match="EPUB does not"):
        read_file(packed.getvalue(), name="x.epub")


def test_damage_inside_an_entry_is_told():
    data = bytearray(epub([PAGE * 50]))
    place = bytes(data).index(b"OEBPS/page0.xhtml") + 60
    data[place : place + 8] = b"\xff" * 8
    with pytest.raises(BadText, match=r"damaged"):
        read_file(bytes(data), name="x.epub")


@pytest.mark.parametrize("read", [read_file, text_of], ids=["a work", "a secondary source"])
def test_an_epub_whose_beginning_is_damaged_is_no_text_of_an_unknown_encoding(read):
    data = bytes(64) + epub([PAGE * 50])[64:]
    with pytest.raises(BadText, match="EPUB") as told:
        read(data, name="Emma.EPUB")
    assert "encoding" not in str(told.value)
    with pytest.raises(NotText):
        read(data, name="emma.txt")


def test_nothing_is_written_to_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read_file(epub([PAGE], more={"../out.txt": "x", "/out.txt": "x"}), name="x")
    assert list(tmp_path.iterdir()) == []


def words(text):
    return text.replace("_", "").split()


def compare(plain, again):
    assert [chapter.name for chapter in again.chapters] == [chapter.name for chapter in plain.chapters]
    pairs = ((plain.paragraphs, again.paragraphs), (plain.sentences, again.sentences))
    for ours, theirs in pairs:
        assert [words(again.text[each.start : each.end]) for each in theirs] == [
            words(plain.text[each.start : each.end]) for each in ours
        ]


@pytest.mark.corpus
@pytest.mark.parametrize("novel", ["pride_and_prejudice", "a_tale_of_two_cities", "middlemarch"])
@pytest.mark.parametrize("form", ["EPUB", "TEI"])
def test_novels_survive_a_round_trip(shared, novel, form):
    from tests.making_books import epub_of, tei_of

    plain = read_file((shared / "corpus" / "primary" / f"{novel}.txt").read_bytes(), name=novel)
    assert len(sections_of(plain)) > 40
    again = read_file((epub_of if form == "EPUB" else tei_of)(plain), name=novel)
    assert again.format == form
    compare(plain, again)
