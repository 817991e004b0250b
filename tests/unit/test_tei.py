"""A TEI file becomes a work: volumes and chapters, acts and scenes, verse with its lines, speeches, notes."""

from __future__ import annotations

import pytest

from relic_core.domain import Span
from relic_core.errors import BadText, EmptyText
from relic_core.library import tei
from relic_core.library.markup import local_name
from relic_core.library.reading import read_file
from relic_core.text.reading import read_work
from tests.making_books import left_out, names, tei_of, texts
from tests.making_books import tei as make_tei

PROSE = "<p>The tide went out over the flats and left the boats leaning on their sides.</p>"


def read(body, **given):
    return read_file(make_tei(body, **given), name="book.xml")


def labels(work):
    return [work.place(Span(index, 1)).label for index in range(len(work.sentences))]


NOVEL = f"""
<div type="volume"><head>VOL. I.</head>
  <div type="book"><head>[Book I.]</head>
    <div type="chapter"><head>CHAPTER I.</head><head>The <hi>Ferry</hi></head><p>Rain
      fell. <pb n="2"/>Nobody came.</p><p><hi rend="italic">Very</hi> well.</p></div>
    <div type="chapter" n="2">{PROSE}</div>
  </div>
</div>
<div type="volume"><head>VOL. II.</head><div type="chapter"><head>I</head>{PROSE}<trailer>THE END.</trailer></div></div>
"""
FRONT = "<titlePage><titlePart>The Ferry</titlePart></titlePage><div type='dedication'><p>To A.</p></div>"


def test_a_novel_with_volumes_and_books():
    work = read(NOVEL, front=FRONT, back='<div type="advert"><p>New books.</p></div>')
    assert work.format == "TEI"
    assert names(work) == ["VOL. I, Book I, Chapter I: The Ferry", "VOL. I, Book I, Chapter 2", "VOL. II, Chapter I"]
    assert texts(work)[:2] == ["Rain fell. Nobody came.", "_Very_ well."]
    assert [kind for kind, _ in left_out(work)] == [
        "front matter", "heading", "heading", "heading", "heading", "heading", "end matter",
    ]  # fmt: skip
    assert left_out(work)[-1] == ("end matter", "THE END. New books.")


PLAY = """
<div type="act" n="1"><head>ACT I</head><stage>A wharf before dawn.</stage>
  <div type="scene" n="1"><head>Scene 1</head><castList><castItem>MARA, a ferrywoman</castItem></castList>
    <stage type="entrance">Enter Mara with a lantern.</stage>
    <sp who="#mara"><speaker>MARA.</speaker><l>The river keeps no ledger of its dead,</l>
      <l>nor asks who carries whom; it only runs.</l>
      <stage>She sets the lantern down.</stage><l part="I">Who waits?</l></sp>
    <sp><speaker>TOLL</speaker><l part="F">A man who paid for yesterday.</l>
      <p>I have <emph>two</emph> coins left. <stage>(aside)</stage> One is false.</p></sp>
  </div>
  <div type="scene" n="2"><head>Scene 2</head>
    <sp><speaker>MARA</speaker><l n="12">Then keep the false one. I am used to it.</l>
      <l>The true one buys the bread.</l></sp>
  </div>
</div>
<div type="act"><head>ACT II</head><sp><speaker>ALL</speaker><p>Row!</p></sp></div>
"""


def test_a_play_shows_acts_scenes_speakers_and_lines():
    work = read(PLAY)
    assert names(work) == ["ACT I, Scene 1", "ACT I, Scene 2", "ACT II"]
    assert [(each.kind, each.speaker, each.line) for each in work.paragraphs] == [
        ("stage", "", None), ("stage", "", None), ("verse", "MARA", 1), ("stage", "", None), ("verse", "MARA", 3),
        ("verse", "TOLL", 3), ("prose", "TOLL", None), ("verse", "MARA", 12), ("prose", "ALL", None),
    ]  # fmt: skip
    assert texts(work, "verse")[0] == "The river keeps no ledger of its dead,\nnor asks who carries whom; it only runs."
    assert texts(work, "prose")[0] == "I have _two_ coins left. _(aside)_ One is false."
    assert ("speaker", "MARA.") in left_out(work)
    assert ("front matter", "MARA, a ferrywoman") in left_out(work)
    said = dict(zip((work.sentence_text(index) for index in range(len(work.sentences))), labels(work), strict=True))
    assert said["it only runs."] == "ACT I, Scene 1 · line 2 (MARA)"
    assert said["A man who paid for yesterday."] == "ACT I, Scene 1 · line 3 (TOLL)"
    assert said["I have _two_ coins left. _(aside)_ One is false."] == "ACT I, Scene 1 · paragraph 7 (TOLL)"
    assert said["The true one buys the bread."] == "ACT I, Scene 2 · line 13 (MARA)"
    assert said["A wharf before dawn."] == "ACT I, Scene 1 · paragraph 1"


def test_words_encoded_one_by_one_are_joined_as_the_encoding_says():
    work = read(
        """<div type="scene"><head><w>Scene</w>
        <c> </c>
        <w>1</w></head><sp><speaker><w>MARA</w></speaker><l n="1.1.7">
          <w>Row</w>
          <pc>,</pc>
          <c> </c>
          <w>then</w>
          <pc>.</pc></l></sp></div>"""
    )
    assert names(work) == ["Scene 1"]
    assert texts(work) == ["Row, then."]
    assert work.paragraphs[0].line == 7


def test_lines_of_a_poem_count_and_those_quoted_in_a_novel_do_not():
    stanza = "<lg><l>O rose,</l><l>thou art sick!</l></lg>"
    poem = read(f'<div type="poem"><head>The Rose</head><lg type="poem">{stanza}{stanza}</lg></div>')
    assert [each.line for each in poem.paragraphs] == [1, 3]
    novel = read(
        f'<div type="chapter"><head>I</head>{PROSE * 3}<p>He sang: <quote>{stanza}</quote> and left.</p></div>'
    )
    assert [(each.kind, each.line) for each in novel.paragraphs][3:] == [
        ("prose", None),
        ("verse", None),
        ("prose", None),
    ]
    assert texts(novel)[3:] == ["He sang:", "O rose,\nthou art sick!", "and left."]


def located(body):
    """Say of each sentence of a poem which line it is said to stand in."""
    work = read(f'<div type="poem"><head>The Rose</head>{body}</div>')
    places = (work.place(Span(index, 1)) for index in range(len(work.sentences)))
    return {work.sentence_text(place.sentence - 1): place.line for place in places}


@pytest.mark.parametrize(
    ("stanza", "lines"),
    [
        ("<l n='1'>A rose.</l><l>A bell.</l><l n='10'>A rope.</l><l>A boat.</l>", [1, 2, 10, 11]),
        ("<l n='1' part='I'>A rose.</l><l part='F'>A bell.</l><l>A rope.</l>", [1, 1, 2]),
        ("<l>A rose.</l><l/><l>A bell.</l>", [1, 3]),
        ("<l part='F'>A rose.</l><l>A bell.</l>", [1, 2]),
        ("<l n='7'>A rose.</l><l n='6'>A bell.</l><l n='7'>A rope.</l>", [7, 6, 7]),
        ("<l>A rose<ref target='#n'/>.</l><lb/>A bell.<l>A rope.</l>", [1, None, 2]),
    ],
)
def test_a_line_is_cited_by_its_own_number_wherever_the_count_jumps(stanza, lines):
    assert list(located(f"<lg>{stanza}</lg>").values()) == lines


def test_verse_quoted_in_a_note_counts_no_lines_of_the_poem():
    note = "<note>See: <q><l n='90'>A rope.</l><l>A boat.</l></q></note>"
    assert located(f"<lg><l n='1'>A rose.{note}</l><l>A bell.</l></lg><lg><l>An oar.</l></lg>") == {
        "A rose.": 1, "A bell.": 2, "An oar.": 3, "See:": None, "A rope.": None, "A boat.": None,
    }  # fmt: skip
    quoted = read(f'<div type="chapter"><head>I</head>{PROSE * 3}<lg><l>A rose.{note}</l></lg></div>')
    assert [each.line for each in quoted.paragraphs] == [None] * len(quoted.paragraphs)


def test_headings_without_end_are_read_once_each(monkeypatch):
    looked_up = []
    for module in (tei,):
        monkeypatch.setattr(module, "local_name", lambda element: looked_up.append(element) or local_name(element))
    work = read(f"<div>{'<head/>' * 400}<head>The Bell</head>{PROSE}<head>Late</head></div>")
    assert names(work) == ["The Bell"]
    assert left_out(work)[-1] == ("heading", "Late")
    assert len(looked_up) < 40 * 400


def test_notes_of_the_author_stand_behind_the_chapter_and_those_of_editors_are_left_out():
    work = read(
        '<div type="chapter"><head>I</head><p>A lugger<note place="foot">A kind of <hi>boat</hi>.</note> sank'
        '<note resp="#editor">In 1801.</note>; so<ref target="#N1">*</ref> it was.</p><p>Gone<note '
        'type="editorial">Sic.</note>.</p></div>'
        '<div type="chapter"><head>II</head><p>Two.</p></div>',
        back='<div type="notes"><head>Notes</head><note xml:id="N1"><p>Or not.</p></note><note xml:id="N9">On '
        "nothing.</note></div>",
    )
    assert (
        texts(work)
        == ["A lugger sank; so it was.", "Gone.", "A kind of _boat_.", "Or not.", "Two.", "On nothing."][:5]
        + texts(work)[5:]
    )
    notes = [(each.chapter, each.number, each.note_to) for each in work.paragraphs if each.kind == "note"]
    assert notes[:2] == [(0, 1, 0), (0, 2, 0)]
    assert ("editor's note", "In 1801. Sic.") in left_out(work) or ("editor's note", "In 1801.") in left_out(work)
    assert labels(work)[-1].startswith("Chapter II")


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("one <choice><sic>tow</sic><corr>two</corr></choice> three", "one tow three"),
        ("<choice><reg>ship</reg><orig>shippe</orig></choice>", "shippe"),
        ("<choice><expan>Mister</expan><abbr>Mr.</abbr></choice> A.", "Mr. A."),
        ("<app><lem>sea</lem><rdg>see</rdg></app>", "sea"),
        ("the <del>old</del><add>new</add> boat", "the new boat"),
        ("a word bro<lb break='no'/>ken and one\n<lb/>whole", "a word broken and one whole"),
        ("zu-<lb/>sammen", "zu-sammen"),
        ("lost <gap reason='torn'/> words", "lost [—] words"),
        ("<q>“Well,”</q> said <said>he</said>", "“Well,” said he"),
        ("<emph>no</emph> <hi rend='bold'>bold</hi> <hi rendition='#i'>it</hi> <foreign rend='italics'>alors</foreign>",
         "_no_ bold _it_ _alors_"),
        ("&nbsp;one&mdash;two &amp; three", "one—two & three"),
        ("<unclear>dim</unclear> <supplied>given</supplied><!-- a comment --><?pi x?>!", "dim given!"),
        ("<persName>Mara</persName>, <date when='1801'>that year</date>", "Mara, that year"),
    ],
)  # fmt: skip
def test_inline_encoding(written, read_as):
    assert texts(read(f"<div><head>I</head><p>{written}</p></div>")) == [read_as]


def test_pages_and_pictures_are_left_out_of_the_paragraph_they_stand_in():
    work = read(
        "<div><head>I</head><p>One <fw type='header'>THE FERRY</fw><pb/>two <figure><head>A boat</head><figDesc>drawn"
        "</figDesc></figure>three.</p></div>"
    )
    assert texts(work) == ["One two three."]
    assert left_out(work)[1:] == [("page number", "THE FERRY"), ("illustration", "A boat")]


def test_lists_tables_letters_and_mixed_text():
    work = read(
        "<div><head>I</head><p>He wrote:<floatingText><body><opener><dateline>Averhythe</dateline><salute>Sir,"
        "</salute></opener>"
        "<p>Come.</p><closer><signed>M.</signed></closer></body></floatingText>and <list><item>one</item><item>"
        "<p>two</p></item></list></p>"
        "<table><row><cell>Oars</cell><cell>2</cell></row></table><q>Alone.</q><quote><p>Quoted.</p></quote></div>"
    )
    assert texts(work) == [
        "He wrote:",
        "Averhythe Sir,",
        "Come.",
        "M.",
        "and",
        "one",
        "two",
        "Oars 2",
        "Alone.",
        "Quoted.",
    ]


def test_sections_of_a_chapter_divide_nothing_and_a_part_may_have_text_of_its_own():
    work = read(
        f'<div type="part"><head>Part One</head>{PROSE * 9}<div type="chapter"><head>The Bell</head>{PROSE}<div>'
        f"<head>Later</head>"
        f'{PROSE}</div></div></div><div type="chapter"><head>3</head>{PROSE}<div>{PROSE}</div></div>'
    )
    assert names(work) == ["Part One", "Part One, The Bell", "Chapter 3"]
    assert ("heading", "Later") in left_out(work)
    assert len(work.paragraphs) == 13


def test_pieces_outside_the_body_are_the_authors_unless_another_hand_is_named():
    header = "<titleStmt><title>The Ferry</title><author>Ann Other</author></titleStmt>"
    front = (
        '<div type="preface"><head>Preface</head><p>I wrote this.</p></div>'
        '<div type="introduction"><head>Introduction by the Editor</head><p>She wrote this.</p></div>'
        '<div type="preface"><head>Preface</head><p>Other was born; Other lived on the river for all of the years that '
        "were given to her, and after them the river went on without her and without any of the boats she had "
        "known so well, "
        "and nobody has written about it since in the same way.</p></div>"
    )
    work = read(
        f"<div><head>I</head>{PROSE}</div>",
        front=front,
        header=header,
        back='<div type="epilogue"><p>So it ended.</p></div>',
    )
    assert names(work) == ["Preface", "Chapter I", "Epilogue"]


def test_collections_of_texts_and_corpora():
    one = f"<text><body><head>The Bell</head><div><head>I</head>{PROSE}</div></body></text>"
    grouped = read_file(
        f"<TEI xmlns='http://www.tei-c.org/ns/1.0'><teiHeader/><text><group>{one}{one.replace('Bell', 'Rope')}"
        f"</group></text></TEI>".encode(),
        name="two_tales.xml",
    )
    assert names(grouped) == ["The Bell, Chapter I", "The Rope, Chapter I"]
    assert grouped.title == "Two tales"
    tale = "<TEI><teiHeader><fileDesc><titleStmt><title>{}</title></titleStmt></fileDesc></teiHeader>" + one + "</TEI>"
    corpus = (
        "<teiCorpus><teiHeader><fileDesc><titleStmt><title>All</title></titleStmt></fileDesc></teiHeader>"
        f"{tale.format('A')}{tale.format('B')}</teiCorpus>"
    )
    assert names(read_file(corpus.encode(), name="x")) == ["A, The Bell, Chapter I", "B, The Bell, Chapter I"]


def test_older_tei_without_a_namespace_with_a_prefix_and_with_numbered_divisions():
    chapter = f"<div2 type='chapter' n='1'>{PROSE}</div2>"
    body = f"<body><div1 type='book' n='1'><head>Book the First</head>{chapter}</div1></body>"
    older = (
        '<?xml version="1.0"?><!DOCTYPE TEI.2 PUBLIC "-//TEI P4//DTD" "tei2.dtd" [<!ENTITY % TEI.prose "INCLUDE">'
        '<!ENTITY fig1 SYSTEM "fig1.gif" NDATA gif> <!ENTITY AO "Ann Other">]><TEI.2><teiHeader><fileDesc>'
        "<titleStmt><title>X, a machine readable "
        f"version</title><author>&AO;</author></titleStmt></fileDesc></teiHeader><text>{body}</text></TEI.2>"
    )
    work = read_file(older.encode(), name="x")
    assert (work.title, work.author, names(work)) == ("X", "Ann Other", ["Book the First, Chapter 1"])
    prefixed = make_tei(f"<div><head>I</head>{PROSE}</div>").decode().replace("<", "<t:").replace("<t:/", "</t:")
    prefixed = prefixed.replace("<t:?xml", "<?xml").replace("xmlns=", "xmlns:t=")
    assert names(read_file(prefixed.encode(), name="x")) == ["Chapter I"]


ELTEC = """<titleStmt><title>The Ferry: ELTeC edition</title><author>Other, Ann (1801-1850)</author>
<respStmt><resp>Translated by</resp><name>C. B. Third</name></respStmt></titleStmt>
<publicationStmt><date when="2019-11-09"/></publicationStmt>
<sourceDesc><bibl type="digitalSource"><date>2000</date></bibl>
<bibl type="printSource"><date>1844</date></bibl><bibl type="firstEdition"><date>1843</date></bibl></sourceDesc>"""
FULL = """<titleStmt><title type="main">The Ferry</title><title type="sub">A Tale</title><author><persName>Ann Other
</persName></author><editor role="translator">Third, C. B.</editor></titleStmt><sourceDesc><biblFull><publicationStmt>
<date type="publication">London, 1844</date></publicationStmt></biblFull></sourceDesc>"""
BARE = """<titleStmt><title>The Ferry [Electronic resource]</title></titleStmt>
<publicationStmt><date>2001</date></publicationStmt>"""


@pytest.mark.parametrize(
    ("header", "known"),
    [
        (ELTEC, ("The Ferry", "Ann Other", "C. B. Third", 1843)),
        (FULL, ("The Ferry", "Ann Other", "C. B. Third", 1844)),
        (BARE, ("The Ferry", "", "", None)),
    ],
)
def test_metadata_of_the_header(header, known):
    work = read(f"<div><head>I</head>{PROSE}</div>", header=header)
    assert (work.title, work.author, work.translator, work.year) == known


def test_the_year_of_creation_comes_before_that_of_a_print():
    header = (
        "<titleStmt><title>X</title></titleStmt><sourceDesc><bibl><date>1901</date></bibl></sourceDesc></fileDesc>"
        "<profileDesc><creation><date notBefore='1774' notAfter='1775'/></creation></profileDesc><fileDesc>"
    )
    assert read(f"<div><head>I</head>{PROSE}</div>", header=header).year == 1774


def test_a_file_without_a_body_is_refused_and_so_is_one_without_words():
    with pytest.raises(BadText, match="no <body>"):
        read_file(
            b"<TEI xmlns='http://www.tei-c.org/ns/1.0'><teiHeader/><facsimile><graphic/></facsimile></TEI>",
            name="x.xml",
        )
    with pytest.raises(EmptyText, match="no text of a work"):
        read("<div><head>CHAPTER I</head><figure/></div>")


def test_a_body_without_divisions_is_one_chapter():
    work = read(f"{PROSE}{PROSE}")
    assert len(work.chapters) == 1
    assert len(work.paragraphs) == 2


def test_a_round_trip():
    plain = read_work(
        b"THE FERRY\n\nby Ann Other\n\n\nBOOK I\n\n\nCHAPTER I\nThe Ferry\n\nRain fell; nobody _came_.\n\n  O "
        b"rose,\n  Thou art sick!\n"
        b"\n\nCHAPTER II\n\nThe bell & the <rope>.\n\n\nBOOK II\n\n\nCHAPTER I\n\nIt rained.\n",
        name="x.txt",
    )
    again = read_file(tei_of(plain), name="x.xml")
    assert names(again) == names(plain)
    assert [text.split() for text in texts(again)] == [text.split() for text in texts(plain)]
    assert (again.title, again.author) == (plain.title, plain.author)
