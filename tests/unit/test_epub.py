"""An EPUB becomes a work: its chapters, paragraphs, verse, italics and notes, and what is not the author's."""

from __future__ import annotations

import re

import pytest

from relic_core.errors import BadText, EmptyText, UnsafeFile
from relic_core.library import archives
from relic_core.library.reading import read_edition, read_file
from relic_core.text.metadata import Metadata
from relic_core.text.reading import read_work
from tests.making_books import XHTML, epub, epub_of, left_out, names, pack, texts

NAV = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
PARAGRAPH = "<p>The tide went out over the flats and left the boats leaning on their sides.</p>"


def read(*pages, **given):
    return read_file(epub(pages, **given), name="book.epub")


def nav(*lines):
    return {"OEBPS/nav.xhtml": XHTML.format(f'<nav epub:type="toc"><ol>{"".join(lines)}</ol></nav>')}


def line(href, label, *below):
    inside = f"<ol>{''.join(below)}</ol>" if below else ""
    return f'<li><a href="{href}">{label}</a>{inside}</li>'


def test_chapters_and_paragraphs_are_those_of_the_pages():
    work = read("<h2>CHAPTER I</h2><p>Rain fell.</p><p>Nobody\n came.</p>", "<h2>CHAPTER II</h2><p>The bell rang.</p>")
    assert work.format == "EPUB"
    assert work.title == "The Ferry"
    assert names(work) == ["Chapter I", "Chapter II"]
    assert work.text == "CHAPTER I\n\nRain fell.\n\nNobody came.\n\nCHAPTER II\n\nThe bell rang.\n"
    assert left_out(work) == [("heading", "CHAPTER I"), ("heading", "CHAPTER II")]
    assert [work.sentence_text(index) for index in range(3)] == ["Rain fell.", "Nobody came.", "The bell rang."]


def test_the_same_file_gives_the_same_text():
    data = epub(["<h2>I</h2>" + PARAGRAPH])
    assert read_file(data, name="a").sha256 == read_file(data, name="b").sha256


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("<h2>CHAPTER IV.<br/>The Ferry</h2>", "Chapter IV: The Ferry"),
        ("<h2>CHAPTER IV.</h2><h3>The Ferry</h3>", "Chapter IV: The Ferry"),
        ("<hgroup><h2>IV</h2><p>The Ferry</p></hgroup>", "Chapter IV: The Ferry"),
        ("<h2><span>Chapter</span> <span>4</span></h2>", "Chapter 4"),
        ("<h3>Stave Two</h3>", "Stave Two"),
        ("<h2>The <i>Bell</i></h2>", "The Bell"),
        ('<h2><img src="a.png" alt="CHAPTER IV."/></h2>', "Chapter IV"),
    ],
)
def test_a_heading_names_its_chapter(heading, name):
    assert names(read(heading + PARAGRAPH)) == [name]


def test_headings_above_others_are_parts():
    work = read(
        "<h2>BOOK ONE: The Coast</h2>",
        f"<h3>1</h3>{PARAGRAPH}",
        f"<h3>2</h3>{PARAGRAPH}",
        f"<h2>BOOK TWO</h2><h3>1</h3>{PARAGRAPH}",
        f"<h2>EPILOGUE</h2>{PARAGRAPH}",
    )
    assert names(work) == [
        "BOOK ONE: The Coast, Chapter 1",
        "BOOK ONE: The Coast, Chapter 2",
        "BOOK TWO, Chapter 1",
        "EPILOGUE",
    ]


def test_parts_and_chapters_at_the_same_level_are_told_apart_by_their_words():
    work = read(
        "<h2>VOLUME I</h2><h2>PART II</h2>",
        f"<h2>CHAPTER I</h2>{PARAGRAPH}",
        f"<h2>VOLUME II</h2><h2>CHAPTER I</h2>{PARAGRAPH}",
    )
    assert names(work) == ["VOLUME I, PART II, Chapter I", "VOLUME II, Chapter I"]


def test_the_contents_list_says_which_headings_are_chapters():
    pages = {
        "a.xhtml": f"<h1>Winter</h1><h2 id='x'>The Ferry</h2>{PARAGRAPH}<h2>A section of it</h2>{PARAGRAPH}",
        "b.xhtml": f"<h2>The Bell</h2>{PARAGRAPH}<h2>II</h2>{PARAGRAPH}",
    }
    lines = line("a.xhtml", "Winter", line("a.xhtml#x", "The Ferry"), line("b.xhtml", "The Bell"))
    work = read_file(epub(pages, more=nav(lines), manifest=NAV), name="x")
    assert names(work) == ["Winter, The Ferry", "Winter, The Bell"]
    assert ("heading", "A section of it") in left_out(work)


def test_a_contents_list_alone_names_chapters_whose_pages_have_no_headings():
    pages = {"a.xhtml": f"<p>ONE MORNING</p>{PARAGRAPH}", "b.xhtml": PARAGRAPH, "c.xhtml": "<p>Published by A. B.</p>"}
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
        + "".join(
            f'<navPoint id="{n}"><navLabel><text>{label}</text></navLabel><content src="{n}.xhtml"/></navPoint>'
            for n, label in (("a", "One morning"), ("b", "The Bell"), ("c", "Copyright"))
        )
        + "</navMap></ncx>"
    )
    manifest = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    work = read_file(epub(pages, more={"OEBPS/toc.ncx": ncx}, manifest=manifest), name="x")
    assert names(work) == ["ONE MORNING", "The Bell"]
    assert left_out(work) == [("heading", "ONE MORNING"), ("front matter", "Published by A. B.")]


def test_semantic_types_tell_front_matter_from_chapters():
    work = read(
        '<section epub:type="titlepage"><h1>The Ferry</h1><p>By Ann Other</p></section>',
        '<section epub:type="imprint"><p>Made by volunteers from other sources.</p></section>',
        '<section epub:type="dedication"><p>To the ferryman.</p></section>',
        '<section epub:type="epigraph"><blockquote><p>All rivers run.</p></blockquote></section>',
        f'<section epub:type="introduction"><h2>Introduction</h2>{PARAGRAPH}</section>',
        '<section epub:type="part"><h2>Part I</h2></section>',
        '<section epub:type="chapter"><header><h3 epub:type="ordinal z3998:roman">I</h3>'
        f'<blockquote epub:type="epigraph"><p>A quotation over a chapter.</p></blockquote></header>{PARAGRAPH}'
        "<section><h4>Later</h4><p>It rained.</p></section></section>",
        '<section epub:type="colophon"><h2>Colophon</h2><p>Set by hand.</p></section>',
        '<section epub:type="copyright-page"><h2>Uncopyright</h2><p>May you do good.</p></section>',
    )
    assert names(work) == ["Introduction", "Part I, Chapter I"]
    assert texts(work)[1:] == ["A quotation over a chapter.", PARAGRAPH[3:-4], "It rained."]
    assert [kind for kind, _ in left_out(work)] == [
        "front matter", "heading", "heading", "heading", "heading", "end matter", "front matter",
    ]  # fmt: skip


def test_project_gutenbergs_wrapping_is_its_licence():
    work = read(
        '<section class="pg-boilerplate pgheader" id="pg-header"><h2>The Project Gutenberg eBook</h2><p>Terms.'
        "</p></section>"
        '<h1>The Ferry</h1><p class="center">by Ann Other</p><h2>Contents</h2>'
        '<table><tr><td><a href="page1.xhtml">CHAPTER I.</a></td></tr></table>',
        f'<div class="chapter"><h2>CHAPTER I.</h2><p><span class="pagenum">[Pg 3]</span>Rain fell.</p>{PARAGRAPH}</div>'
        "<p>THE END</p>",
        '<footer class="pg-boilerplate pgheader" id="pg-footer"><h2>THE FULL LICENSE</h2><p>More terms.</p></footer>',
    )
    assert names(work) == ["Chapter I"]
    assert texts(work)[0] == "Rain fell."
    kinds = [kind for kind, _ in left_out(work)]
    assert kinds == ["licence", "front matter", "contents", "heading", "page number", "end matter", "licence"]


@pytest.mark.parametrize(
    "attributes",
    ["class='newpage'", "class='pb'", "class='pagenum'", "class='contents'", "class='toc'", "epub:type='pagebreak'"],
)
def test_a_chapter_is_kept_whatever_the_class_of_what_holds_it(attributes):
    work = read(
        f"<h2>CHAPTER I</h2>{PARAGRAPH}",
        f"<div {attributes}><h2>CHAPTER II</h2>{PARAGRAPH}<p>The bell rang.</p></div>",
        f"<h2>CHAPTER III</h2><p {attributes}>Nobody came.</p>",
    )
    assert names(work) == ["Chapter I", "Chapter II", "Chapter III"]
    assert texts(work)[2:] == ["The bell rang.", "Nobody came."]


@pytest.mark.parametrize("number", ["12", "[Pg 12]", "{xii}", "p. 12", "Page 12", "|12|", "12a", "– 12 –"])
@pytest.mark.parametrize("mark", ["class='pagenum'", "role='doc-pagebreak'", "epub:type='pagebreak' id='page12'"])
def test_the_number_of_a_page_stands_behind_its_paragraph(mark, number):
    work = read(f"<h2>I</h2><p>Rain fell <span {mark}>{number}</span>on the ri<span {mark}/>ver.</p>{PARAGRAPH}")
    assert texts(work)[0] == "Rain fell on the river."
    assert left_out(work)[1:] == [("page number", number)]


def test_a_page_number_before_a_heading_takes_no_line_of_the_contents_list():
    page = f"<span class='pagenum' id='p12'>12</span><p>{PARAGRAPH[3:]}"
    pages = {"a.xhtml": f"<h2>The Rope</h2>{PARAGRAPH}", "b.xhtml": page}
    lines = line("a.xhtml", "The Rope"), line("b.xhtml", "The Bell")
    work = read_file(epub(pages, more=nav(*lines), manifest=NAV), name="x")
    assert names(work) == ["The Rope", "The Bell"]


def test_what_is_hidden_is_left_out_and_never_lost():
    work = read(
        "<section epub:type='chapter'><h2 hidden=''>The first</h2><h2>CHAPTER I</h2><p>Rain <span hidden=''>never "
        "<b>ever</b></span>fell.</p><div hidden='hidden'><p>One.</p><p>Two.</p></div><p>The bell rang.</p></section>"
        "<aside epub:type='footnote' hidden='' id='n'>A note.</aside>"
    )
    assert names(work) == ["Chapter I"]
    assert texts(work) == ["Rain fell.", "The bell rang.", "A note."]
    assert left_out(work) == [
        ("hidden", "The first"), ("heading", "CHAPTER I"), ("hidden", "never ever"), ("hidden", "One."),
        ("hidden", "Two."),
    ]  # fmt: skip


def test_older_books_of_project_gutenberg_are_told_by_their_words():
    work = read(
        "<pre>The Project Gutenberg EBook of X\n\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***</pre>"
        f"<h2>CHAPTER I</h2>{PARAGRAPH}<pre>End of the Project Gutenberg EBook of X\n\nTerms.</pre>"
    )
    assert [kind for kind, _ in left_out(work)] == ["licence", "heading", "licence"]


@pytest.mark.parametrize(
    "verse",
    [
        '<blockquote epub:type="z3998:poem"><p><span>O rose,</span><br/>thou art sick!</p></blockquote>',
        '<div class="poem"><p><span class="i0">O rose,<br/></span><span>thou art sick!<br/></span></p></div>',
        '<p class="stanza"><span class="i0">O rose,</span> <span class="i2">thou art sick!</span></p>',
        '<div class="poetry"><div class="verse">O rose,</div><div class="verse indent2">thou art sick!</div></div>',
        '<p class="poem">O rose,<br/>\nthou art sick!</p>',
        '<blockquote class="verse"><p>O rose,</p><p>thou art sick!</p></blockquote>',
    ],
)
def test_verse_keeps_its_lines(verse):
    work = read(f"<h2>I</h2><p>He sang:</p>{verse}<p>Then he left.</p>")
    assert texts(work) == ["He sang:", "O rose,\nthou art sick!", "Then he left."]
    assert [each.kind for each in work.paragraphs] == ["prose", "verse", "prose"]


def test_stanzas_are_paragraphs_and_broken_prose_is_not_verse():
    work = read(
        '<h2>I</h2><div class="poem"><p>One line,<br/>two.</p><p>Three,<br/>four.</p></div>'
        "<p>A line that was broken<br/>because the page was narrow.</p><p>Mr. A. B.<br/>The Ferry<br/>Averhythe</p>"
    )
    assert [(each.kind, work.text[each.start : each.end]) for each in work.paragraphs] == [
        ("verse", "One line,\ntwo."),
        ("verse", "Three,\nfour."),
        ("prose", "A line that was broken because the page was narrow."),
        ("verse", "Mr. A. B.\nThe Ferry\nAverhythe"),
    ]


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("He was <em>not</em> amused.", "He was _not_ amused."),
        ("<i>Very <b>well</b>, <em>sir</em>,</i> he said.", "_Very well, sir,_ he said."),
        ("A<i> blank </i>inside.", "A _blank_ inside."),
        ("un<i>think</i>able", "unthinkable"),
        ("<i>a_b</i> and <i>.</i>", "a_b and ."),
        ("<span epub:type='z3998:roman'>IV</span>th", "IVth"),
        ("one&nbsp;two&mdash;three &amp; four&unknown;", "one two—three & four&unknown;"),
        ("soft\u00adhyphen word\u2060joiner", "softhyphen wordjoiner"),
        ("<span class='dropcap'>I</span>t was", "It was"),
        ("<img alt='I' src='i.png'/>t was", "It was"),
        ("“\u200a‘No,’\u200a” said he", "“\u200a‘No,’\u200a” said he"),
    ],
)
def test_inline_markup(written, read_as):
    assert texts(read(f"<h2>I</h2><p>{written}</p>")) == [read_as]


def test_italics_never_cross_paragraphs():
    work = read("<h2>I</h2><i><p>One.</p><p>Two.</p></i>")
    assert texts(work) == ["_One._", "_Two._"]


NOTES = '<li id="n1" epub:type="endnote"><p>A boat. <a href="page0.xhtml#r1" epub:type="backlink">↩</a></p></li>'
FOOTNOTE = """<div class="footnotes"><h3>FOOTNOTES:</h3><div class="footnote"><p><a id="n1"></a>
<a href="page0.xhtml#a1"><span class="label">[1]</span></a> A boat.</p></div></div>"""


@pytest.mark.parametrize(
    ("reference", "note"),
    [
        (
            '<a href="page1.xhtml#n1" epub:type="noteref">1</a>',
            f'<section epub:type="endnotes"><ol>{NOTES}</ol></section>',
        ),
        ('<a href="page1.xhtml#n1"><sup>1</sup></a>', f"<h2>NOTES</h2><ol>{NOTES}</ol>"),
        ('<a name="a1"/><a href="page1.xhtml#n1" class="fnanchor">[1]</a>', FOOTNOTE),
        ('<sup><a href="page1.xhtml#n1">*</a></sup>', '<p class="footnote" id="n1">A boat.</p>'),
        ('<a href="page1.xhtml#n1">[1]</a>', '<p><a id="n1"/>A boat.</p>'),
    ],
)
def test_notes_stand_behind_the_chapter_they_hang_on(reference, note):
    work = read(
        f"<h2>CHAPTER I</h2><p>The lugger{reference} sank.</p><p>So it was.</p>",
        note + "<h2>CHAPTER II</h2><p>Two.</p>",
    )
    assert texts(work, "prose") == ["The lugger sank.", "So it was.", "Two."]
    notes = [each for each in work.paragraphs if each.kind == "note"]
    assert [(each.chapter, each.number, each.note_to) for each in notes] == [(0, 1, 0)]
    assert texts(work, "note") == ["A boat."]
    assert [each.start for each in work.paragraphs] == sorted(each.start for each in work.paragraphs)


def test_notes_by_another_hand_and_notes_on_nothing_are_left_out():
    work = read(
        '<h2>I</h2><p>The lugger<a href="#a" epub:type="noteref">1</a> sank.</p>'
        '<aside id="a" epub:type="footnote"><p>A boat.—Tr.</p></aside>',
        '<section epub:type="endnotes"><ol><li id="b" epub:type="endnote"><p>Nobody asked.</p></li></ol></section>',
    )
    assert texts(work) == ["The lugger sank.", "Nobody asked."]
    assert ("editor's note", "A boat.—Tr.") in left_out(work)


def test_numbers_that_lead_to_chapters_are_no_notes():
    work = read(
        f'<p><a href="#c1">1</a> <a href="#c2">2</a></p><h2 id="c1">1</h2>{PARAGRAPH}<h2 id="c2">2</h2>{PARAGRAPH}'
    )
    assert names(work) == ["Chapter 1", "Chapter 2"]
    assert left_out(work)[0] == ("contents", "1 2")


def test_pages_outside_the_reading_order_come_last():
    more = {"OEBPS/notes.xhtml": XHTML.format('<aside id="n1" epub:type="footnote"><p>A boat.</p></aside>')}
    manifest = '<item id="notes" href="notes.xhtml" media-type="application/xhtml+xml"/>'
    data = epub(
        ['<h2>I</h2><p>A lugger<a href="notes.xhtml#n1" epub:type="noteref">1</a>.</p>', "<h2>II</h2><p>Two.</p>"],
        more=more, manifest=manifest, spine='<itemref idref="notes" linear="no"/>',
    )  # fmt: skip
    work = read_file(data, name="x")
    assert [(each.kind, each.chapter) for each in work.paragraphs] == [("prose", 0), ("note", 0), ("prose", 1)]


def test_tables_lists_asterisks_and_captions():
    work = read(
        "<h2>I</h2><table><tr><td>Oars</td><td><p>two</p></td></tr></table><ul><li>One.</li><li>Two.</li></ul>"
        "<p>* * *</p><figure><img src='a.png' alt='A boat'/><figcaption>A boat</figcaption></figure><p>"
        "[Illustration: A bell]</p>"
        "<p>“—?”</p><div>Loose words.<p>Three.</p>more</div>"
    )
    assert texts(work) == ["Oars", "two", "One.", "Two.", "“—?”", "Loose words.", "Three.", "more"]
    assert left_out(work)[1:] == [
        ("break", "* * *"),
        ("illustration", "A boat"),
        ("illustration", "[Illustration: A bell]"),
    ]


def test_long_prose_before_the_first_heading_is_a_chapter_without_a_name():
    prologue = f"<p>{'The tide went out over the flats. ' * 50}</p>"
    work = read(f"<p>For A.</p>{prologue}", f"<h2>CHAPTER I</h2>{PARAGRAPH}")
    assert names(work) == ["", "Chapter I"]
    assert left_out(work)[0] == ("front matter", "For A.")


def test_a_story_under_its_title_alone_is_one_chapter():
    work = read(f"<h1>The Ferry</h1>{PARAGRAPH}")
    assert len(work.chapters) == 1
    assert texts(work) == [PARAGRAPH[3:-4]]


def test_a_preface_that_speaks_of_the_author_is_front_matter():
    metadata = "<dc:title>The Ferry</dc:title><dc:creator>Ann Other</dc:creator>"
    preface = (
        "<h2>Preface</h2><p>Other was born in 1801. Nobody wrote like Other, and we are glad of it.</p>" + PARAGRAPH * 5
    )
    own = "<h2>Preface</h2><p>I wrote this on a boat.</p>"
    assert names(read(preface, f"<h2>I</h2>{PARAGRAPH}", metadata=metadata)) == ["Chapter I"]
    assert names(read(own, f"<h2>I</h2>{PARAGRAPH}", metadata=metadata)) == ["Preface", "Chapter I"]


def test_metadata_of_the_package():
    work = read(
        f"<h2>I</h2>{PARAGRAPH}",
        metadata='<dc:title id="s">A Tale</dc:title><dc:title id="t">The Ferry</dc:title>'
        '<meta refines="#t" property="title-type">main</meta><dc:creator id="a">Other, Ann, 1801-1850</dc:creator>'
        '<meta refines="#a" property="role">aut</meta><dc:contributor o:role="trl">Third, C. B.</dc:contributor>'
        '<dc:contributor o:role="bkp">A Shop</dc:contributor><dc:date>2014-05-25</dc:date>'
        '<dc:date o:event="original-publication">1843</dc:date>',
    )
    assert (work.title, work.author, work.translator, work.year) == ("The Ferry", "Ann Other", "C. B. Third", 1843)


def test_the_date_of_the_e_book_is_not_the_year_of_the_work_and_what_a_reader_says_wins():
    page = f"<h2>I</h2>{PARAGRAPH}"
    assert read(page, metadata="<dc:title>X</dc:title><dc:date>2014-05-25</dc:date>").year is None
    work = read_edition(epub([page]), name="x", metadata=Metadata("Mine", "Me", "You", 1850)).work
    assert (work.title, work.author, work.translator, work.year) == ("Mine", "Me", "You", 1850)
    assert read_file(epub([page], metadata=""), name="the_ferry.epub").title == "The ferry"


def test_a_title_is_made_harmless_and_short():
    people = "<dc:creator>A\u202eB</dc:creator><dc:contributor role='trl'>C\u2066D</dc:contributor>"
    work = read(PARAGRAPH, metadata=f"<dc:title>The\u202e Ferry {'x' * 120_000}</dc:title>{people}")
    assert work.title.startswith("The Ferry x")
    assert len(work.title) == 300
    assert (work.author, work.translator) == ("A B", "C D")


def test_sloppy_pages_are_read_as_browsers_read_them():
    work = read(f"<!DOCTYPE html><html><body><h2>I</h2><p>One <b>two<p>Three & four<br>five &eacute;{PARAGRAPH}</body>")
    assert texts(work) == ["One two", "Three & four five é", PARAGRAPH[3:-4]]


def test_pages_in_other_encodings():
    page = "<?xml version='1.0' encoding='{}'?><html><body><h2>I</h2><p>Café “noir”</p></body></html>"
    for declared, encoding in (
        ("utf-8", "cp1252"),
        ("iso-8859-1", "utf-8"),
        ("utf-16", "utf-16"),
        ("windows-1252", "cp1252"),
    ):
        data = epub(["x"], more={})
        with_page = pack({**_entries(data), "OEBPS/page0.xhtml": page.format(declared).encode(encoding)})
        assert texts(read_file(with_page, name="x")) == ["Café “noir”"], (declared, encoding)


def _entries(data):
    archive = archives.Archive(data)
    return {name: archive.read(name) for name in sorted(archive.names)}


def test_a_missing_page_is_passed_over_while_others_have_text():
    manifest = '<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>'
    data = epub([f"<h2>I</h2>{PARAGRAPH}"], manifest=manifest, spine='<itemref idref="gone"/>')
    assert len(read_file(data, name="x").paragraphs) == 1
    assert read_edition(data, name="x").missing == ("OEBPS/gone.xhtml",)


@pytest.mark.parametrize("drop", ["OEBPS/page0.xhtml", "OEBPS/content.opf", "META-INF/container.xml"])
def test_a_missing_piece_without_which_nothing_is_left_is_named(drop):
    entries = _entries(epub([f"<h2>I</h2>{PARAGRAPH}"]))
    del entries[drop]
    with pytest.raises(BadText, match=re.escape(drop)):
        read_file(pack(entries), name="x.epub")


def test_an_epub_without_words_says_so():
    with pytest.raises(EmptyText, match="no text of a work"):
        read('<p><img src="a.png" alt="A page"/></p>')


OUTSIDE = [
    "../../../etc/passwd", "/etc/passwd", "..\\..\\etc\\passwd", "%2e%2e/%2e%2e/etc/passwd", "file:///etc/passwd",
    "C:\\x.xhtml", "http://example.org/x.xhtml",
]  # fmt: skip


@pytest.mark.parametrize("href", OUTSIDE)
def test_paths_that_lead_out_of_the_archive_name_nothing(href):
    manifest = f'<item id="out" href="{href}" media-type="application/xhtml+xml"/>'
    data = epub([f"<h2>I</h2>{PARAGRAPH}"], manifest=manifest, spine='<itemref idref="out"/>',
                more={"../../etc/passwd": "<p>root</p>", "/etc/passwd": "<p>root</p>"})  # fmt: skip
    assert texts(read_file(data, name="x")) == [PARAGRAPH[3:-4]]


def test_names_with_blanks_and_other_cases_are_found():
    item = '<item id="a" href="Text/ch%201.xhtml" media-type="application/xhtml+xml"/>'
    data = epub(
        {}, manifest=item, spine='<itemref idref="a"/>', more={"OEBPS/text/Ch 1.xhtml": XHTML.format(PARAGRAPH)}
    )
    assert texts(read_file(data, name="x")) == [PARAGRAPH[3:-4]]


ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData '
    'xmlns="http://www.w3.org/2001/04/xmlenc#"><EncryptionMethod Algorithm="{}"/><CipherData><CipherReference '
    'URI="{}"/>'
    "</CipherData></EncryptedData></encryption>"
)


def test_a_locked_book_is_refused_and_scrambled_fonts_are_not():
    pages = [f"<h2>I</h2>{PARAGRAPH}"]
    locked = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/page0.xhtml")
    with pytest.raises(UnsafeFile, match="locked by the shop"):
        read_file(epub(pages, more={"META-INF/encryption.xml": locked}), name="x")
    font = ENCRYPTION.format("http://www.idpf.org/2008/embedding", "OEBPS/font.otf")
    assert read_file(epub(pages, more={"META-INF/encryption.xml": font}), name="x").chapters


def test_notes_and_headings_survive_a_round_trip():
    plain = read_work(
        b"THE FERRY\n\nby Ann Other\n\n\nBOOK I\n\n\nCHAPTER I\nThe Ferry\n\nRain fell; nobody _came_.\n\n  O "
        b"rose,\n  Thou art sick!\n"
        b"\n\nCHAPTER II\n\nThe bell & the <rope>.\n\n\nBOOK II\n\n\nCHAPTER I\n\nIt rained.\n",
        name="x.txt",
    )
    again = read_file(epub_of(plain), name="x.epub")
    assert names(again) == names(plain)
    assert [text.split() for text in texts(again)] == [text.split() for text in texts(plain)]
    assert (again.title, again.author) == (plain.title, plain.author)
