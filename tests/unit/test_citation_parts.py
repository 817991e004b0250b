"""What citations are put together from: names, places of passages, titles; and how marks meet."""

import pytest

from relic_core.domain import KeptPassage, Span
from relic_core.errors import BadRequest
from relic_core.library.reading import read_file
from relic_core.reporting.citations.edition import short_title
from relic_core.reporting.citations.exports import FORMATS
from relic_core.reporting.citations.locators import CHICAGO, MLA, in_words, locate, locate_kept, make_locator
from relic_core.reporting.citations.names import read_names, title_capitals
from relic_core.reporting.citations.quoting import quote
from relic_core.reporting.citations.styles import cite, style, works_cited
from relic_core.reporting.citations.text_runs import Line, as_markdown, as_text, inner_quotes
from relic_core.reporting.passages import quotation
from tests.making import make_work
from tests.making_citations import cited

NAMES = {
    "Jane Austen": ["Austen, Jane"],
    "Austen, Jane": ["Austen, Jane"],
    "Le Guin, Ursula K.": ["Le Guin, Ursula K."],
    "Ouida": ["Ouida"],
    "Thomas De Quincey": ["De Quincey, Thomas"],
    "Jean de La Fontaine": ["La Fontaine, Jean de"],
    "Bartolomé de las Casas": ["de las Casas, Bartolomé"],
    "Miguel de Cervantes": ["Cervantes, Miguel de"],
    "Gabriele D'Annunzio": ["D'Annunzio, Gabriele"],
    "Jean le Rond d'Alembert": ["Alembert, Jean le Rond d'"],
    "Alembert, Jean le Rond d'": ["Alembert, Jean le Rond d'"],
    "Eugene O’Neill": ["O’Neill, Eugene"],
    "Vincent van Gogh": ["Gogh, Vincent van"],
    "Sir Walter Scott": ["Scott, Walter"],
    "Martin Luther King, Jr.": ["King, Martin Luther, Jr."],
    "John D. Rockefeller IV": ["Rockefeller, John D., IV"],
    "King, Martin Luther, Jr.": ["King, Martin Luther, Jr."],
    "Elizabeth I": ["Elizabeth I"],
    "The Brontë Society": ["The Brontë Society"],
    "{Simon and Schuster}; Jane Austen": ["Simon and Schuster", "Austen, Jane"],
    "Sophia Lee, Harriet Lee, and Anne Lee": ["Lee, Sophia", "Lee, Harriet", "Lee, Anne"],
    "Sophia Lee & Harriet Lee": ["Lee, Sophia", "Lee, Harriet"],
    "Maupassant, Guy de; Zola, Émile": ["Maupassant, Guy de", "Zola, Émile"],
    "Dickens, Charles, 1812-1870": ["Dickens, Charles"],
    "Le Guin, Ursula K., 1929–": ["Le Guin, Ursula K."],
    "Sidney, Philip, 1554-1586; Pembroke, Mary, 1561-1621": ["Sidney, Philip", "Pembroke, Mary"],
    "Jane Austen (1775-1817) and Ann Radcliffe (1764–1823)": ["Austen, Jane", "Radcliffe, Ann"],
    "Chaucer, Geoffrey, d. 1400": ["Chaucer, Geoffrey"],
    "Virgil, 70 BC-19 BC": ["Virgil"],
    "Wu, Cheng'en, approximately 1500-approximately 1582": ["Wu, Cheng'en"],
    "Jane\x00 Austen \x005\x00": ["5, Jane Austen"],
    "Alfred, Lord Tennyson": ["Tennyson, Alfred, Lord"],
    "Tennyson, Alfred, Lord": ["Tennyson, Alfred, Lord"],
    "Tennyson, Alfred Tennyson, Baron, 1809-1892": ["Tennyson, Alfred"],
    "George Gordon, Lord Byron": ["Byron, George Gordon, Lord"],
    "George Gordon Byron, Baron": ["Byron, George Gordon"],
    "Byron, George Gordon Byron, Baron, 1788-1824": ["Byron, George Gordon"],
    "John Wilmot, Earl of Rochester": ["Rochester, John Wilmot, Earl of"],
    "Rochester, John Wilmot, Earl of, 1647-1680": ["Rochester, John Wilmot, Earl of"],
    "Percy Shelley, Lord Byron, and Mary Shelley": ["Shelley, Percy", "Byron, Lord", "Shelley, Mary"],
    "Alfred, Lord Tennyson; Robert Browning": ["Tennyson, Alfred, Lord", "Browning, Robert"],
    "Lord Byron": ["Byron, Lord"],
    "Murasaki, Lady": ["Murasaki, Lady"],
    "Gardner, Earl Stanley": ["Gardner, Earl Stanley"],
    "Gardner, Earl": ["Gardner, Earl"],
    "Tolstoy, Leo, graf": ["Tolstoy, Leo"],
    "Tolstoy, Leo, graf, 1828-1910; Maude, Louise": ["Tolstoy, Leo", "Maude, Louise"],
    "Orczy, Emmuska Orczy, Baroness, 1865-1947": ["Orczy, Emmuska"],
    "Augustine, Saint, Bishop of Hippo, 354-430": ["Augustine, Saint"],
    "Ward, Humphry, Mrs., 1851-1920": ["Ward, Mrs. Humphry"],
    "Scott, Walter, Sir, 1771-1832": ["Scott, Walter"],
    "Alexandre Dumas père": ["Dumas, Alexandre, père"],
    "Alexandre Dumas, fils": ["Dumas, Alexandre, fils"],
    "Alexandre Dumas (fils)": ["Dumas, Alexandre, fils"],
    "Dumas, Alexandre, père, 1802-1870": ["Dumas, Alexandre, père"],
    "Lewis Carroll (Charles Dodgson)": ["Carroll, Lewis"],
    "Lewis Carroll (Charles Lutwidge Dodgson, 1832-1898) and John Tenniel": ["Carroll, Lewis", "Tenniel, John"],
    "Forster, E. M. (Edward Morgan), 1879-1970": ["Forster, E. M."],
    "{Commission (Lights and Ferries)}": ["Commission (Lights and Ferries)"],
    "Anonymous (attributed to a lady)": [],
    "Anonymous": [],
    "unknown": [],
    "": [],
    " , ; and ": ["and"],
}


@pytest.mark.parametrize("said", NAMES)
def test_names_are_told_apart_and_turned_around(said):
    assert [name.turned for name in read_names(said)] == NAMES[said]


def test_a_name_that_was_turned_around_is_turned_back():
    for direct in (
        "Guy de Maupassant",
        "Jean le Rond d'Alembert",
        "Martin Luther King Jr.",
        "Walter de la Mare",
        "Alfred, Lord Tennyson",
        "John Wilmot, Earl of Rochester",
        "Alexandre Dumas père",
    ):
        (name,) = read_names(direct)
        (again,) = read_names(name.turned)
        assert (name.direct, again.direct) == (direct, direct)


@pytest.mark.parametrize(
    ("said", "direct"),
    [
        ("Tolstoy, Leo, graf", "Leo Tolstoy"),
        ("Tennyson, Alfred Tennyson, Baron", "Alfred Tennyson"),
        ("Rochester, John Wilmot, Earl of", "John Wilmot, Earl of Rochester"),
        ("Byron, George Gordon, Lord", "George Gordon, Lord Byron"),
        ("Ward, Humphry, Mrs.", "Mrs. Humphry Ward"),
        ("Murasaki, Lady", "Lady Murasaki"),
        ("Dumas, Alexandre, père", "Alexandre Dumas père"),
        ("Mark Twain (Samuel Clemens)", "Mark Twain"),
    ],
)
def test_what_a_catalogue_puts_behind_a_name_is_not_said(said, direct):
    assert [name.direct for name in read_names(said)] == [direct]


def test_a_title_goes_into_files_of_references_where_their_readers_set_it():
    lord = [cited("Maud", "Alfred, Lord Tennyson", 1855)]
    assert "  author = {Tennyson, {Alfred, Lord}}," in FORMATS["bibtex"].write(lord)
    assert '"dropping-particle": "Lord"' in FORMATS["csl-json"].write(lord)
    assert "AU  - Tennyson, Alfred, Lord\r\n" in FORMATS["ris"].write(lord)


SHORT_TITLES = {
    "Mrs. Dalloway": "Mrs. Dalloway",
    "The Strange Case of Dr. Jekyll and Mr. Hyde": "Strange Case of Dr. Jekyll and Mr. Hyde",
    "St. Ives: Being the Adventures of a French Prisoner": "St. Ives",
    "The Love Song of J. Alfred Prufrock": "Love Song of J. Alfred Prufrock",
    "The Rime of the Ancient Mariner. In Seven Parts": "Rime of the Ancient Mariner",
    "“Mr. Burns”; or, The Play": "“Mr. Burns”",
    "1984. A Novel": "1984",
    ". . .": ". . .",
}


@pytest.mark.parametrize("title", SHORT_TITLES)
def test_a_stop_that_belongs_to_a_word_begins_no_subtitle(title):
    assert short_title(title) == SHORT_TITLES[title]


CHAPTERS = {
    "Chapter 3": "ch. 3, par. 5",
    "Book One, Chapter IV: The Ferry": "bk. 1, ch. 4, par. 5",
    "VOLUME THE SECOND, Chapter ONE": "vol. 2, ch. 1, par. 5",
    "Stave Three: The Second of the Three Spirits": "stave 3, par. 5",
    "Act II, Scene 1": "act 2, sc. 1, par. 5",
    "Canto IX": "canto 9, par. 5",
    "The Pool of Tears": "“The Pool of Tears,” par. 5",
    "Phase the First: The Maiden, Chapter 2": "ch. 2, par. 5",
    "Book the First": "bk. 1, par. 5",
    "Section 4": "sec. 4, par. 5",
    "The text": "par. 5",
    "Before the first chapter": "before ch. 1, par. 5",
    "The “Second” Part of it": "“The ‘Second’ Part of it,” par. 5",
    "PREFACE": "“Preface,” par. 5",
    "Part of the Story": "“Part of the Story,” par. 5",
    "THE TRAGEDY OF PUDD'NHEAD WILSON": "“The Tragedy of Pudd'nhead Wilson,” par. 5",
    "THE “RAVEN” AND AFTER: A TALE": "“The ‘Raven’ and After,” par. 5",
}

HEADINGS = {
    "PREFACE": "Preface",
    "EPILOGUE": "Epilogue",
    "TO THE READER": "To the Reader",
    "WHAT DREAMS ARE MADE OF": "What Dreams Are Made Of",
    "HENRY VIII": "Henry VIII",
    "XIV. IN WHICH MR. PICKWICK AND I SET OUT": "XIV. In Which Mr. Pickwick and I Set Out",
    "ANNO MDCCCXV": "Anno MDCCCXV",
    "THE CIVIL MIX": "The Civil Mix",
    "STRATFORD-ON-AVON": "Stratford-on-Avon",
    "O’CONNELL’S ‘THE LAST’ O' MEN": "O’Connell’s ‘The Last’ O' Men",
    "THE U.S.A. IN 1815": "The U.S.A. in 1815",
    "HAMLET—A STUDY": "Hamlet—A Study",
    "L'ÉTÉ": "L'Été",
    "THE 2ND MAN": "The 2nd Man",
    "The Pool of TEARS": "The Pool of TEARS",
    "X": "X",
    "1815": "1815",
    "": "",
}


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_heading_in_capitals_is_set_as_a_title(heading):
    assert title_capitals(heading) == HEADINGS[heading]
    assert title_capitals(title_capitals(heading)) == HEADINGS[heading]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_is_printed_over_a_chapter_is_read(chapter):
    assert in_words(make_locator(chapter, "paragraph", 5, 5), MLA) == CHAPTERS[chapter]


def test_ranges_are_written_as_each_style_does():
    lines = make_locator("The text", "line", 115, 117)
    assert (in_words(lines, MLA), in_words(lines, CHICAGO)) == ("lines 115-17", "lines 115–117")
    over = make_locator("The text", "line", 98, 102)
    assert in_words(over, MLA) == "lines 98-102"


def test_a_passage_is_located_by_its_paragraphs():
    work = make_work([["One.", "Two."], "Three."], ["Four."])
    assert in_words(locate(work, Span(0, 2)), MLA) == "ch. 1, par. 1"
    assert in_words(locate(work, Span(1, 2)), MLA) == "ch. 1, pars. 1-2"
    assert in_words(locate(work, Span(1, 3)), MLA) == "ch. 1, par. 1, to ch. 2, par. 1"


PLAY = b"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>The Weir</title></titleStmt>
</fileDesc></teiHeader><text><body><div type="act"><head>ACT I</head><div type="scene"><head>SCENE II</head>
<sp><speaker>ANNE</speaker><l n="14">The water takes what it is owed,</l><l n="15">And what it takes it keeps.</l></sp>
</div></div></body></text></TEI>"""


def test_lines_of_a_play_are_counted_and_a_kept_passage_is_located_as_in_its_work():
    work = read_file(PLAY, name="weir.xml")
    span = Span(0, 1)
    locator = locate(work, span)
    assert as_text(style("mla").in_text(parts(work), locator)) == "(Weir 1.2.14-15)"
    place = work.place(span)
    kept = KeptPassage(
        work_id=work.id, sha256=work.sha256, title=work.title, author="", at=str(place.address), length=1, start=0,
        end=1, place=place.label, chapter=place.chapter, paragraph=place.paragraph, line=place.line,
        quotation=quotation(work, span).plain,
    )  # fmt: skip
    assert locate_kept(kept) == locator


def parts(work):
    from relic_core.reporting.citations.edition import parts_of

    return parts_of(cited(work.title))


def test_no_stop_stands_behind_another():
    line = Line().add("A. N. Other, Jr.").stop().title("Who?", ".").title("“Why?”", ".", quoted=True)
    assert as_text(line.runs) == "A. N. Other, Jr. Who? “‘Why?’”"


def test_quotation_marks_inside_others_are_turned_and_apostrophes_stay():
    assert inner_quotes("“He said ‘no’,” said Emma’s aunt") == "‘He said “no”,’ said Emma’s aunt"
    assert inner_quotes('a "plain" mark') == "a ‘plain’ mark"
    assert inner_quotes("’Twas “so”") == "’Twas ‘so’"


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        ("‘With the miller’s boat, sir?’", "“‘With the miller’s boat, sir?’”"),
        ("‘Row,’ says Mara, ‘if you can, my dear", "“‘Row,’ says Mara, ‘if you can, my dear’”"),
        ("‘’Tis the boys’ boat; an’ they cry “Row!”’", "“‘’Tis the boys’ boat; an’ they cry “Row!”’”"),
        ("‘He said “I heard ‘no’”,’ said Mara,", "“‘He said “I heard ‘no’”,’ said Mara”"),
        ("to the boys’ boat.’ ‘Row!’", "“to the boys’ boat. ‘Row!’”"),
        ("He ran ‘bout the house, and cried “Row!”", "“He ran ‘bout the house, and cried ‘Row!’”"),
        ("‘It’s the old ‘un,’ said he", "“‘It’s the old ‘un,’ said he”"),
        ("’Tis so,’ said he", "“’Tis so,’ said he”"),
        ("“He said ‘no", "“‘He said “no”’”"),
        ("she heard ‘no’ there,” said Mara. “And ‘yes’?”", "“she heard ‘no’ there, said Mara. ‘And “yes”?’”"),
        ("for ‘em,” said Mara; and “Row!”", "“for ‘em, said Mara; and ‘Row!’”"),
    ],
)
def test_the_outermost_marks_of_a_quotation_are_single_whatever_the_edition_has(words, quoted):
    assert quote(words, (), "chicago-notes").text == quoted


def test_a_line_of_markdown_never_becomes_a_list_or_a_heading():
    assert as_markdown(Line().add("1984. A year").runs) == "1984\\. A year"
    assert as_markdown(Line().add("- dashed").runs) == "\\- dashed"
    assert as_markdown(Line().add("# hashed").runs) == "\\# hashed"


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("(a) first", "(a\\) first"),
        ("a) first", "a\\) first"),
        ("i. first", "i\\. first"),
        ("xiv. first", "xiv\\. first"),
        ("IV. The last", "IV\\. The last"),
        ("(IV) last", "(IV\\) last"),
        ("(12) twelfth", "(12\\) twelfth"),
        ("A)", "A\\)"),
        ("A.", "A\\."),
        ("A.  Two spaces", "A\\.  Two spaces"),
        ("  b. indented", "  b\\. indented"),
        (": defined", "\\: defined"),
        ("::: note", "\\::: note"),
        ("A. Nobody", "A. Nobody"),
        ("(as he said)", "(as he said)"),
        ("(a)nother", "(a)nother"),
        ("i.e. so", "i.e. so"),
        ("said. So", "said. So"),
    ],
)
def test_a_line_never_becomes_one_of_pandocs_lists(line, written):
    assert as_markdown(Line().add(line).runs) == written


def test_what_pandoc_and_obsidian_obey_besides_is_escaped():
    assert as_markdown(Line().add("x^2^ of @smith ==lit== %%hid%% a = 50%").runs) == (
        "x\\^2\\^ of \\@smith \\=\\=lit\\=\\= \\%\\%hid\\%\\% a = 50%"
    )


def test_a_list_of_works_names_each_once_in_the_order_of_lists():
    works = [cited("The Zoo"), cited("Emma", "Jane Austen"), cited("Emma", "Jane Austen"), cited("A Bee")]
    assert [each.text for each in works_cited(works, "mla")] == ["Austen, Jane. Emma.", "A Bee.", "The Zoo."]


def test_an_author_of_several_works_is_named_once_in_mla():
    works = [cited("Persuasion", "Jane Austen, Jr."), cited("Emma", "Jane Austen, Jr."), cited("Ruth", "E. Gaskell")]
    assert [each.text for each in works_cited(works, "mla")] == [
        "Austen, Jane, Jr. Emma.",
        "---. Persuasion.",
        "Gaskell, E. Ruth.",
    ]
    assert works_cited(works, "chicago-notes")[1].text.startswith("Austen, Jane, Jr. Persuasion.")


def test_an_unknown_style_is_refused_with_those_there_are():
    with pytest.raises(BadRequest, match="chicago-notes"):
        cite(cited("Emma"), "chicago")
