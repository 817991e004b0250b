"""Drafts: what each quotation's check comes to, how drafts are read and given back, and that none is kept unasked."""

from __future__ import annotations

import csv
import io
import json
import os
import textwrap
import time
import zipfile

import docx
import docx.oxml
import duckdb
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part

from relic_core.domain import SecondarySource
from relic_core.domain.drafts import Draft
from relic_core.drafts import service
from relic_core.drafts.critics import Critics
from relic_core.drafts.report import citation, outcome_in_words
from relic_core.drafts.service import read_draft
from relic_core.errors import BadRequest, BadText, NotFound
from relic_core.formats.files import records_in_lines
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.ports import silent
from tests.criticism import NOVEL, write_books
from tests.making import work_of
from tests.making_drafts import BAD, locked, pdf

FERRY = (
    "The Ferry\n\nby Ada North\n\nCHAPTER I\n\nThe ferryman counted seven brass lanterns beside the frozen quay "
    "before dawn. Nobody had ever paid the honest toll without a long quarrel. “I shall not forgive the river,” said "
    "his wife, “nor the winter that sent it here.”\n\nCHAPTER II\n\nA grey heron stood upon the broken weir and "
    "waited for the slow tide. He had not forgotten the drowned horses, or the bell that rang beneath the water at "
    "midnight.\n"
)
ORCHARD = (
    "The Orchard\n\nby Basil Lee\n\nCHAPTER I\n\nThe miser counted rotten apples under a yellow moon while the village "
    "slept. A lean fox crossed the wet mead-\now and vanished behind the cider press.\n"
)
LANTERNS = "The ferryman counted seven brass lanterns beside the frozen quay before dawn"


@pytest.fixture
def checked(bench, kept_open):
    bench.works.add(FERRY.encode(), name="the_ferry.txt", title="The Ferry", author="Ada North")
    bench.works.add(ORCHARD.encode(), name="the_orchard.txt", title="The Orchard", author="Basil Lee")

    def checked(text):
        return bench.drafts.check(Draft(text)).checks

    checked.app = bench
    return checked


def read(checked, words):
    return checked.app.drafts.check(read_draft(words.encode(), "a.md")).checks


def only(checks):
    (check,) = checks
    return check


def test_a_quotation_to_the_letter_is_found_with_its_place(checked):
    text = f'In The Ferry we read: "{LANTERNS.replace("before dawn", "before  dawn")}" (North 12).'
    check = only(checked(text))
    assert (check.outcome, check.found.title, check.differences) == ("to the letter", "The Ferry", ())
    assert text[slice(*check.at)].startswith("The ferryman")
    assert check.named == ("The Ferry",)
    assert "North" in check.found.citation["mla"]
    work = checked.app.works.load(check.found.work_id)
    assert work.text[slice(*check.found.offsets)] == LANTERNS
    assert work.span_text(work.span_at(check.found.at, check.found.length)).startswith("The ferryman")


@pytest.mark.parametrize(
    "quotation",
    [
        LANTERNS[0].lower() + LANTERNS[1:],
        "The ferryman counted ... brass lanterns beside the frozen quay before dawn",
        "The ferryman [he] counted seven brass lanterns beside the frozen quay before dawn",
        "[t]he ferryman count[s] seven brass lanterns beside the frozen quay before dawn",
        "The ferryman counted ſeven braſs lanterns / beside the frozen quay—before dawn",
        "He had not forgotten the drowned horses … the bell that rang beneath the water",
        "The ferryman counted seven brass lanterns … He had not forgotten the drowned horses",
        "counted seven brass lanterns beside the … broken weir and waited for the slow tide",
        "counted seven brass lanterns beside … the broken weir and waited for the slow tide",
    ],
)
def test_typography_ellipses_and_brackets_are_set_aside(checked, quotation):
    assert only(checked(f"As North says, “{quotation}” of old.")).outcome == "to the letter"


@pytest.mark.parametrize(
    ("quotation", "ours", "theirs", "excuse"),
    [
        ("The ferryman counted seven brass candles beside the frozen quay before dawn", "candles", "lanterns", ""),
        ("The ferryman counted brass lanterns beside the frozen quay before dawn", "", "seven", "ellipsis"),
        ("He had forgotten the drowned horses, or the bell that rang beneath the water", "", "not", ""),
        ("nor had she forgotten the drowned horses, or the bell that rang", "nor had she", "He had not", ""),
        ("She had not forgotten the drowned horses, or the bell that rang beneath", "She", "He", "pronoun"),
        ("A gray heron stood upon the broken weir and waited for the slow tide", "gray", "grey", "edition"),
        ("A grey heron stood upon the broken Weir and waited for the slow tide", "Weir", "weir", "capital"),
        ("A grey heron stood upon the broken weir and waited for the slow dawn", "dawn", "tide", ""),
    ],
)
def test_an_altered_quotation_is_shown_word_by_word_with_its_excuse(checked, quotation, ours, theirs, excuse):
    check = only(checked(f"“{quotation},” she says."))
    assert check.outcome == "altered"
    assert ours in [each.ours for each in check.differences] or theirs.split()[0] in check.differences[0].theirs
    assert excuse == check.differences[0].excuse


def test_a_difference_shows_a_word_of_the_work_that_is_parted_at_a_line_end_whole(checked):
    check = only(checked("“A lean fox crossed the wet orchard and vanished behind the cider press,” she says."))
    assert [(each.ours, each.theirs) for each in check.differences] == [("orchard", "meadow")]


@pytest.mark.parametrize(
    "cited",
    ["(North 12)", "(12)", "(*The Ferry* 12)", "(North 1990, 12).", "(North xii)", "(North 12; emphasis in original)"],
)
def test_a_citation_that_ends_a_quotation_set_off_is_none_of_its_words(checked, cited):
    check = only(read(checked, f"Here the novel begins:\n\n> {LANTERNS}. {cited}\n"))
    assert (check.outcome, check.differences) == ("to the letter", ())


def test_a_bracket_of_the_work_itself_is_compared(checked):
    checked.app.works.add(
        b"The Mill\n\nCHAPTER I\n\nThe admiral inspected the drowsy northern harbour (it then had 30 ships).\n",
        name="mill.txt",
        title="The Mill",
    )
    check = only(
        read(checked, "It begins:\n\n> The admiral inspected the drowsy northern harbour (it then had 90 ships).\n")
    )
    assert [(each.ours, each.theirs) for each in check.differences] == [("90", "30")]


def test_such_a_citation_says_which_work_is_meant(checked):
    check = only(read(checked, f"Here the novel begins:\n\n> {LANTERNS}. (Lee 12)\n"))
    assert (check.outcome, check.named) == ("elsewhere", ("The Orchard",))


def test_a_paragraph_behind_a_colon_that_cites_is_the_writers_own(checked):
    lines = (
        "These are the reasons, and there are two of them:",
        f"First, North says that “{LANTERNS}” (12), and goes on.",
    )
    check = only(read(checked, "\n\n".join(lines)))
    assert (check.outcome, check.words) == ("to the letter", LANTERNS)


def test_a_name_is_the_same_with_accents_and_without(checked):
    checked.app.works.add(
        "The Mill\n\nCHAPTER I\n\nNothing turned there but the miller’s idle daughter and the weathercock.\n".encode(),
        name="mill.txt",
        title="The Mill",
        author="Zoë Brule",
    )
    for author in ("Brule", "Brulé"):
        check = only(checked(f"We read “{LANTERNS}” ({author} 12)."))
        assert (check.outcome, check.named) == ("elsewhere", ("The Mill",))


def test_a_long_row_of_words_that_tell_little_is_found_in_the_one_work_that_has_it(checked):
    row = "it was all that he had ever been to her"
    checked.app.works.add(
        f"The Mill\n\nCHAPTER I\n\nThe miller said that {row}, and he went on.\n".encode(),
        name="mill.txt",
        title="The Mill",
    )
    assert only(checked(f"Of love we read that “{row}” at last.")).found.title == "The Mill"
    assert (
        only(checked("Of love we read that “it was all that he had ever been to him” at last.")).outcome == "too short"
    )


@pytest.mark.parametrize(
    ("draft", "cut"),
    [
        ("He had “forgotten the drowned horses, or the bell that rang beneath the water” at last.", "not"),
        ("He had not “forgotten the drowned horses, or the bell that rang beneath the water” at last.", ""),
        ("He says “the drowned horses, or the bell that rang beneath the water at midnight” at last.", ""),
    ],
)
def test_a_negation_cut_off_before_a_quotation_is_pointed_out(checked, draft, cut):
    check = only(checked(draft))
    assert (check.outcome, check.cut) == ("to the letter", cut)


def test_two_sentences_joined_without_an_ellipsis_are_altered(checked):
    check = only(checked(f"“{LANTERNS}. He had not forgotten the drowned horses, or the bell that rang.”"))
    assert check.outcome == "altered"
    assert check.differences[-1].excuse == "ellipsis"


@pytest.mark.parametrize(
    ("before", "behind", "outcome"),
    [
        ("Lee writes in The Orchard: ", "", "elsewhere"),
        ("He writes: ", " (Lee 12)", "elsewhere"),
        ("He writes: ", " (Orchard 12)", "elsewhere"),
        ("In The Ferry (ch. 2) he writes: ", "", "elsewhere"),
        ("In The Ferry (ch. 1) he writes: ", "", "to the letter"),
        ("He writes: ", " (North 12)", "to the letter"),
        ("He writes: ", " (Wolfson 12)", "to the letter"),
        ("He writes: ", " (Nörth 12)", "to the letter"),
    ],
)
def test_the_work_and_the_chapter_that_are_named_count(checked, before, behind, outcome):
    check = only(checked(f"{before}“{LANTERNS}”{behind}."))
    assert check.outcome == outcome
    assert check.found.title == "The Ferry"
    assert check.missing == ("Wolfson" if "Wolfson" in behind else "")


def test_altered_words_of_another_work_count_as_both(checked):
    report = checked.app.drafts.check(Draft(f"Lee has “{LANTERNS.replace('brass', 'iron')}” (Lee 12)."))
    assert only(report.checks).outcomes == ("elsewhere", "altered")
    assert "1 altered" in report.summary
    assert "1 from elsewhere" in report.summary
    assert "twice" in report.summary
    (_, row) = csv.reader(checked.app.drafts.written(report, ".csv").splitlines())
    assert row[0] == "elsewhere and altered"


def test_a_page_alone_goes_by_the_work_that_was_named_last(checked):
    first, second = checked(
        f"Take “a lean fox crossed the wet meadow and vanished” (Lee 3). It is autumn.\n\nLater: “{LANTERNS}” (12)."
    )
    assert first.outcome == "to the letter"
    assert (second.outcome, second.naming, second.named) == ("to the letter", "running", ("The Orchard",))


def test_a_page_alone_goes_by_a_title_that_was_read_since_the_quotation_before(checked):
    fox = "Take “a lean fox crossed the wet meadow and vanished” (Lee 3)."
    _, check = checked(f"{fox}\n\nThe Ferry is otherwise. It counts. “{LANTERNS}” (ch. 2).")
    assert (check.outcome, check.named) == ("elsewhere", ("The Ferry",))


def test_every_paragraph_is_read_however_short_those_before(checked):
    first = 'North has "a grey heron stood upon the golden weir" here (ch. 2).'
    later = (
        f'Much later, and in a longer sentence than before, "{LANTERNS}, nobody had ever paid the honest toll" (12).'
    )
    assert next(check.outcome for check in checked(f"{first}\n\n{later}")) == "altered"


def test_the_citation_of_one_quotation_is_not_that_of_the_next(checked):
    text = f'She has "{LANTERNS}" (The Ferry, ch. 1), and then "the miser counted rotten apples under a yellow moon".'
    assert [check.outcome for check in checked(text)] == ["to the letter", "to the letter"]


def test_a_chapter_of_a_volume_is_not_counted_through(checked):
    check = only(checked('"A grey heron stood upon the broken weir and waited" (The Ferry, vol. 2, ch. 1).'))
    assert check.outcome == "to the letter"


def test_a_phrase_is_found_in_the_work_that_is_named(checked):
    said = '"I shall not forgive the river"'
    assert only(checked(f"In *The Ferry* she says {said}.")).outcome == "to the letter"
    assert only(checked(f"Somebody says {said}.")).outcome == "too short"
    spoken_of = "The Ferry is about a toll. Nobody pays it."
    assert only(checked(f"{spoken_of} His wife says {said}.")).outcome == "to the letter"
    assert only(checked(f"{spoken_of} His wife says {said} (ch. 1).")).outcome == "to the letter"
    assert checked(f"In “The Ferry” the toll is high. His wife says {said}.")[-1].outcome == "to the letter"
    assert only(checked(f"{spoken_of}\n\nSomebody says {said}.")).outcome == "too short"
    assert only(checked(f"{spoken_of} Wolfson says {said} (Wolfson 5).")).outcome == "too short"


def test_a_phrase_that_its_work_does_not_have_is_shown_beside_what_it_has(checked):
    check = only(checked('In *The Ferry* she says "I shall forgive the river".'))
    assert check.outcome == "too short"
    assert "not forgive the river" in check.found.words
    assert "The Ferry" in outcome_in_words(check)
    assert citation(check) == ""


def test_the_sentence_before_does_not_name_the_work_of_the_next(checked):
    _, second = checked(
        f"In The Orchard “a lean fox crossed the wet meadow and vanished.” Then again “{LANTERNS}” is darker."
    )
    assert second.outcome == "to the letter"
    assert second.named == ()


def test_a_title_in_the_sentence_tells_which_work_of_an_author_who_is_cited(checked):
    weir = FERRY.replace("The Ferry", "The Weir").replace("seven brass lanterns", "nine tin kettles")
    checked.app.works.add(weir.encode(), name="weir.txt", title="The Weir", author="Ada North")
    outcomes = [
        only(checked(f'North writes in *{title}*, "{LANTERNS}" (North, ch. 1).')).outcome
        for title in ("The Ferry", "The Weir", "The Orchard")
    ]
    assert outcomes == ["to the letter", "elsewhere", "to the letter"]  # what is by another is only spoken of
    for title in ("the narrator of *The Weir*", "North's The Weir"):
        assert only(checked(f'"{LANTERNS}," says {title} (North, ch. 1).')).outcome == "elsewhere"
    for lead in ("The author of *The Weir* has", "After the success of *The Weir* North wrote:"):
        assert only(checked(f'{lead} "{LANTERNS}" (North 12).')).outcome == "to the letter"
    compared = only(checked(f'Unlike the one in *The Weir*, North\'s ferryman waits: "{LANTERNS}" (North 12).'))
    assert compared.outcome == "to the letter"


def test_other_points_than_the_works_are_pointed_out(checked):
    said = "I shall not forgive the river{} said his wife{} nor the winter that sent it here"
    points = only(checked(f'In The Ferry: "{said.format(";", ",")}."')).points
    assert [(each.ours, each.theirs) for each in points] == [("river; said", "river,” said")]
    for same in (
        "I shall not forgive the river ... nor the winter that sent it here",
        said.format(",", ","),
        said.format("[;]", ","),
    ):
        check = only(checked(f'In The Ferry: "{same}."'))
        assert (check.outcome, check.points) == ("to the letter", ())


def test_a_heading_between_two_words_of_the_work_is_no_punctuation(checked):
    weir = FERRY.replace("CHAPTER II\n", "CHAPTER II\n\nTHE WEIR; OR, A TALE\n").replace("The Ferry", "The Weir")
    checked.app.works.add(weir.encode(), name="weir.txt", title="The Weir", author="Ada North")
    check = only(checked('In *The Weir*: "the winter that sent it here. A grey heron stood upon the broken weir."'))
    assert (check.outcome, check.points) == ("to the letter", ())


def test_words_without_blanks_between_them_are_counted_by_letters(checked):
    report = checked.app.drafts.check(Draft("书中说：“他没有忘记河边的钟声，也没有忘记冬天。”"))
    assert any("without blanks" in notice for notice in report.notices)
    assert checked.app.drafts.check(Draft(f'The sign 河 is a river. In The Ferry: "{LANTERNS}."')).notices == ()
    with pytest.raises(BadText, match="60,000"):
        checked.app.drafts.check(Draft("河" * 60_001))


def test_what_stands_nowhere_is_not_found_and_what_comes_nearest_is_shown(checked):
    check = only(checked("In The Ferry she cries that “no lantern was ever honest enough for a heron of the marshes.”"))
    assert check.outcome == "not found"
    assert check.named == ("The Ferry",)
    assert check.found is not None
    led_in = only(
        checked("The Ferry ends. Late at night she cries: “No lantern was ever honest for a heron of marshes.”")
    )
    assert led_in.claim.startswith("Late at night she cries: [MASK]")
    german = only(
        checked("The Ferry endet. Hier sagt Anna leise: »No lantern was ever honest for a heron of marshes.«")
    )
    assert german.claim.startswith("Hier sagt Anna leise: [MASK]")
    unknown = only(checked("“The sonnet is a machine for turning quiet sorrow into furniture” (Wolfson 4)."))
    assert (unknown.outcome, unknown.missing) == ("not found", "Wolfson")


def test_a_citation_may_name_the_author_of_a_work_that_is_kept_without_one(checked):
    text = f'"{LANTERNS}" (Heaney 12).'
    assert only(checked(text)).missing == "Heaney"
    (ferry,) = [work for work in checked.app.works.summaries() if work.title == "The Ferry"]
    checked.app.works.remove(ferry.id)
    checked.app.works.add(FERRY.replace("by Ada North\n\n", "").encode(), name="x.txt", title="The Ferry")
    assert only(checked(text)).missing == ""
    apples = "counted rotten apples under a yellow moon while the village slept"
    elsewhere = only(checked(f"In *The Ferry* somebody “{apples}” (Heaney 12)."))
    assert (elsewhere.outcome, elsewhere.named, elsewhere.missing) == ("elsewhere", ("The Ferry",), "")


def test_a_lead_in_denies_nothing_of_the_quotation(checked):
    check = only(checked("He is not alone: “forgotten the drowned horses, or the bell that rang beneath the water”."))
    assert check.cut == "not"


def test_few_content_words_are_too_short_to_tell_and_titles_are_passed_over(checked):
    assert only(checked("The “frozen quay” is everywhere in this novel of his.")).outcome == "too short"
    assert checked("See “The Long Winter Toll And Other Northern Essays” for more.") == ()


def test_words_quoted_without_marks_are_found(checked):
    check = only(checked(f"The opening is famous. {LANTERNS}, and so the day begins for him again, as it always does."))
    assert (check.outcome, check.marked) == ("to the letter", False)


def test_a_paragraph_that_claims_and_does_not_quote_is_named(checked):
    claim = "In The Ferry nobody is ever quite alone with the river, and that is the whole of its moral argument. " * 3
    text = f"North begins so: “{LANTERNS}.”\n\n{claim}\n\nThis paragraph is short."
    (at,) = checked.app.drafts.check(Draft(text)).unquoted
    assert text[slice(*at)].strip() == claim.strip()


def test_a_draft_that_is_mostly_set_off_is_read_as_quoting(checked):
    paragraphs = FERRY.partition("CHAPTER I\n\n")[2].replace("CHAPTER II\n\n", "").split("\n\n")
    set_off = (textwrap.indent(textwrap.fill(each, 60), "    ") for each in paragraphs)
    checks = checked("\n\n".join(["In this book nobody hurries, and nobody counts.", *set_off]))
    assert {check.outcome for check in checks} == {"to the letter"}
    assert all(check.marked for check in checks)


def test_a_draft_that_is_a_work_or_too_long_is_refused_in_a_sentence(checked):
    with pytest.raises(BadText, match="seems to be a work"):
        checked(FERRY.partition("CHAPTER I")[2] * 2)
    with pytest.raises(BadText, match="60,000"):
        checked("word " * 60_001)


def test_a_draft_that_is_too_long_is_refused_before_the_works_are_looked_at(bench):
    assert not bench.works.summaries()
    with pytest.raises(BadText, match="60,000"):
        bench.drafts.check(Draft("word " * 60_001))


def test_an_empty_library_is_said(bench):
    with pytest.raises(BadRequest, match="Library"):
        bench.drafts.check(Draft(f"“{LANTERNS}”"))


def word(*paragraphs):
    document = docx.Document()
    for style, *pieces in paragraphs:
        paragraph = document.add_paragraph(style=style)
        for piece in pieces:
            paragraph.add_run(piece).italic = piece.isupper()
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def open_document(body):
    written = io.BytesIO()
    space = "urn:oasis:names:tc:opendocument:xmlns"
    with zipfile.ZipFile(written, "w") as archive:
        content = f'<office:document-content xmlns:office="{space}:office:1.0" xmlns:text="{space}:text:1.0">{body}'
        archive.writestr("content.xml", f"{content}</office:document-content>")
    return written.getvalue()


QUOTE = f"{LANTERNS}."
FILES = {
    "a.txt": f"North says:\n\n    {QUOTE}\n\nSo it is, and so it will be.".encode(),
    "a.md": f"# An *essay*\n\nNorth says:\n\n> {QUOTE}\n\nSo it is.".encode(),
    "a.html": f"<p>North says:</p><blockquote><p>{QUOTE}</p></blockquote><p>So <em>it</em> is.</p>".encode(),
    "a.docx": word(("Normal", "North says:"), ("Quote", QUOTE), ("Normal", "So it is.")),
    "a.odt": open_document(
        f'<text:p>North says:</text:p><text:p text:style-name="Quotations">{QUOTE}</text:p><text:p>So it is.</text:p>'
    ),
    "a.tex": (
        f"\\documentclass{{article}}\\begin{{document}}North says:\\begin{{quote}}{QUOTE}\\end{{quote}}"
        "So it is.\\end{document}"
    ).encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_a_quotation_that_is_set_off_is_found_in_every_kind_of_file(checked, name):
    draft = read_draft(FILES[name], name)
    check = only(checked(draft.text))
    assert check.outcome == "to the letter"
    assert draft.text[slice(*check.at)].startswith("The ferryman")


def word_with_note_and_table(words):
    document = docx.Document(io.BytesIO(word(("Normal", "North says so."))))
    document.add_table(1, 2).cell(0, 1).text = f"“{words}”"
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    note = f"<w:p><w:r><w:t>See “{words}” there.</w:t></w:r></w:p>"
    notes = f'<w:footnotes {space}><w:footnote w:id="2">{note}</w:footnote><w:footnote w:id="9">{note}</w:footnote>'
    part = Part(
        PackURI("/word/footnotes.xml"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
        f"{notes}</w:footnotes>".encode(),
        document.part.package,
    )
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    reference = docx.oxml.parse_xml(f'<w:r {space}><w:footnoteReference w:id="2"/></w:r>')
    document.paragraphs[0]._p.append(reference)
    document.save(data := io.BytesIO())
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "draft"),
    [
        ("a.md", f"In *The Orchard* we read that “{LANTERNS}” and no more."),
        ("a.html", f"<p>In <em>The Orchard</em> we read that “{LANTERNS}” and no more.</p>"),
    ],
)
def test_a_title_in_italics_names_its_work(checked, name, draft):
    check = only(checked(read_draft(draft.encode(), name).text))
    assert (check.outcome, check.named) == ("elsewhere", ("The Orchard",))


def zipped(*entries):
    with zipfile.ZipFile(data := io.BytesIO(), "w") as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return data.getvalue()


def test_a_pdf_that_is_locked_against_changes_alone_is_read():
    assert "North says so." in read_draft(locked(pdf("North says so."), ""), "a.pdf").text


def test_no_character_of_a_draft_ends_it():
    text = "North says\ue001 so.\ue000 Nobody counted."
    draft = read_draft(text.encode(), "a.txt")
    assert (draft.text, draft.notice) == (text, "")


def test_pages_of_a_pdf_that_are_pictures_are_told_in_every_form(checked):
    draft = read_draft(pdf(None, f'North says: "{LANTERNS}" and no more.', None), "a.pdf")
    report = checked.app.drafts.check(draft)
    assert only(report.checks).outcome == "to the letter"
    (notice,) = report.notices
    assert "2 of its 3 pages" in notice
    for ending in (".html", ".json"):
        assert notice in checked.app.drafts.written(report, ending)
    draft_id = checked.app.drafts.start(draft)
    assert checked.app.drafts.get(draft_id).report.notices == (notice,)


def test_what_stands_above_and_below_the_pages_of_a_pdf_is_no_part_of_a_quotation(checked):
    first, last = LANTERNS.split(" beside ")
    one, two = f'Hale 1\nNorth says: "{first}\nEssay\n- 1 -', f'Hale 2\nbeside {last}"\nEssay\n- 2 -'
    draft = read_draft(pdf(one, two, "He ends so.", None), "a.pdf")
    assert "Hale" not in draft.text
    cited = read_draft(pdf("North writes well (North\n12).", "He counts (North\n34).", "So they say."), "a.pdf")
    assert "12)." in cited.text
    assert "34)." in cited.text
    assert "He ends so." in draft.text
    assert only(checked.app.drafts.check(draft).checks).outcome == "to the letter"


@pytest.mark.parametrize("sign", ["> ", ">", "> > "])
def test_lines_quoted_as_in_markdown_or_a_mail_are_a_quotation_without_their_signs(checked, sign):
    first, last = LANTERNS.split(" beside ")
    check = only(checked(f"North begins with the ferry:\n\n{sign}{first} beside\n{sign}{last}.\n\nIt is cold there."))
    assert (check.outcome, check.words) == ("to the letter", f"{LANTERNS}.")


FRENCH = "le batelier comptait ses lanternes près du quai gelé, et personne ne payait"
GERMAN = "er stand früh auf und zählte langsam alles, was er am gefrorenen Ufer fand"


@pytest.mark.parametrize(
    "draft",
    [
        f"Dans ce livre on lit que « {FRENCH} » et puis : « {LANTERNS} » ; c'est tout ce que nous pouvons en dire.",
        f"In diesem Buch steht: »{GERMAN}« und dann auch: »{LANTERNS}«; das ist alles, was wir davon sagen können.",
        f"In diesem Buch steht: „{GERMAN}“ und dann auch: „{LANTERNS}“; das ist alles, was wir davon sagen können.",
    ],
)
def test_a_draft_in_another_language_is_checked_and_it_is_said_what_cannot_be_found(checked, draft):
    report = checked.app.drafts.check(Draft(draft))
    assert [check.outcome for check in report.checks] == ["not found", "to the letter"]
    (notice,) = report.notices
    assert "translation" in notice
    assert checked.app.drafts.check(Draft(f"North says “{LANTERNS}” and “a curate of no parish at all”.")).notices == ()


@pytest.mark.parametrize(
    ("quotation", "outcomes"),
    [
        ("Wasser, Feuer, Laternen und Möwen am Ufer", ["not found"]),
        ("Laternen und Möwen und Kähne bringen dem Fährmann Kupfer", ["not found"]),
        ("Laternen und Möwen am Ufer", []),
    ],
    ids=["a list", "more words than a title has", "a title"],
)
def test_nouns_of_a_german_draft_are_no_title_for_their_capitals(checked, quotation, outcomes):
    lead = "In diesem Buch wird oft gesagt, was niemand hören will, und der Fährmann spricht es aus:"
    assert [check.outcome for check in checked(f"{lead} „{quotation}“; mehr sagt er uns dazu nicht.")] == outcomes


def test_a_story_that_the_library_does_not_have_is_refused_in_a_sentence(checked):
    speech = "“The {0} umbrella of curate {0} would not be folded by any bishop {0},” said he.\n\n"
    told = [speech.format(f"{chr(97 + each % 26)}{chr(97 + each // 26)}ish") for each in range(200)]
    with pytest.raises(BadText, match="story"):
        checked("".join(told))
    assert len(checked("".join(told[:100]))) == 100


def test_a_draft_that_is_too_long_is_refused_before_anything_is_kept(checked, settings):
    with pytest.raises(BadText, match="200,000 words"):
        checked.app.drafts.start(Draft("word " * 200_000))
    assert not list((settings.data / "drafts").glob("*"))


NOTED = {
    "a.docx": word_with_note_and_table(QUOTE),
    "a.odt": open_document(
        f"<text:p>So it is.<text:note><text:note-body><text:p>See “{QUOTE}” there.</text:p></text:note-body>"
        f"</text:note></text:p><table><text:p>“{QUOTE}”</text:p></table>"
    ),
    "a.html": (
        f"<p>So it is.</p><table><tr><td>“{QUOTE}”</td></tr></table><aside><p>See “{QUOTE}” there.</p></aside>"
    ).encode(),
    "a.md": f'So it is.[^1]\n\n| a |\n|---|\n| “{QUOTE}” |\n\n[^1]: See "{QUOTE}"\n'.encode(),
}


@pytest.mark.parametrize("name", NOTED)
def test_notes_and_tables_are_read(checked, name):
    draft = read_draft(NOTED[name], name)
    checks = checked(draft.text)
    assert [check.outcome for check in checks] == ["to the letter"] * 2
    assert all(draft.text[slice(*check.at)].startswith("The ferryman") for check in checks)


def test_a_comment_on_a_footnote_stands_where_the_text_refers_to_it(checked):
    original = NOTED["a.docx"]
    report = checked.app.drafts.check(read_draft(original, "a.docx"))
    document = docx.Document(io.BytesIO(checked.app.drafts.written(report, ".docx", original)))
    assert len(list(document.comments)) == 2
    marks = [child.tag.rpartition("}")[2] for child in document.paragraphs[0]._p]
    assert marks[-4:-1] == ["commentRangeStart", "r", "commentRangeEnd"]


@pytest.mark.parametrize(
    ("data", "name", "match"),
    [
        (b"\xd0\xcf\x11\xe0 old", "a.doc", "password"),
        (b"\xd0\xcf\x11\xe0 locked", "a.docx", "password"),
        (b"words", "a.rtf", "paste"),
        (b"PK\x03\x04 broken", "a.docx", "damaged"),
        (b"%PDF-1.4 broken", "a.pdf", "damaged"),
        (word(("Normal", "North says so."))[:2000], "a.docx", "damaged"),
        (b"PK\x03\x04 broken", "a.odt", "damaged"),
        (zipped(("mimetype", "odt")), "a.odt", "damaged"),
        (zipped(("content.xml", "\x11"), ("META-INF/manifest.xml", "<m:encryption-data/>")), "a.odt", "password"),
        (pdf("North says so.")[:300], "a.pdf", "damaged"),
        (pdf(None, None), "a.pdf", "pictures"),
        (locked(pdf("North says so."), "secret"), "a.pdf", "password"),
        *((b"", f"a{ending}", "empty") for ending in (".docx", ".odt", ".pdf", ".txt")),
        (word(("Normal", "")), "a.docx", "no words"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_a_sentence(data, name, match):
    with pytest.raises(BadText, match=match):
        read_draft(data, name)


NOVEL_AS_DRAFT = {"novel.txt": (FERRY.partition("CHAPTER I")[2].encode() * 2, "seems to be a work")}
ALL_BAD = {**BAD, **NOVEL_AS_DRAFT}


@pytest.mark.parametrize("name", ALL_BAD)
def test_the_command_refuses_what_is_no_draft_in_a_sentence_and_leaves_it_as_it_is(checked, run, tmp_path, name):
    data, says = ALL_BAD[name]
    (tmp_path / name).write_bytes(data)
    refused = run("check", tmp_path / name)
    assert refused.code == 1
    assert says in refused.err
    assert (tmp_path / name).read_bytes() == data


def test_a_draft_with_open_changes_is_refused_since_its_words_are_not_settled():
    document = docx.Document(io.BytesIO(word(("Normal", "It is a truth"))))
    paragraph = document.paragraphs[0]._p
    inserted = docx.oxml.OxmlElement("w:ins")
    inserted.append(paragraph.r_lst[0])
    paragraph.append(inserted)
    document.save(data := io.BytesIO())
    with pytest.raises(BadText, match="tracked changes"):
        read_draft(data.getvalue(), "a.docx")


def test_comments_in_the_copy_for_word_stand_at_the_quotations_alone(checked):
    quotation = LANTERNS.replace("lanterns", "candles")
    original = word(("Normal", "North says: “The ferryman ", quotation.removeprefix("The ferryman "), "” and no more."))
    report = checked.app.drafts.check(read_draft(original, "a.docx"))
    written = checked.app.drafts.written(report, ".docx", original)
    document = docx.Document(io.BytesIO(written))
    (comment,) = document.comments
    assert "candles" in comment.text
    assert "lanterns" in comment.text
    (paragraph,) = document.paragraphs
    assert paragraph.text == docx.Document(io.BytesIO(original)).paragraphs[0].text
    marks = [child.tag.rpartition("}")[2] for child in paragraph._p]
    within = paragraph._p[marks.index("commentRangeStart") + 1 : marks.index("commentRangeEnd")]
    assert "".join(run.text for run in within) == quotation


def test_the_table_and_json_give_every_quotation_with_its_offsets(checked):
    text = f"“{LANTERNS}” and “=frozen quay”."
    report = checked.app.drafts.check(Draft(text))
    given = json.loads(checked.app.drafts.written(report, ".json"))
    assert [text[slice(*check["at"])] for check in given["checks"]] == [LANTERNS, "=frozen quay"]
    nowhere = checked.app.drafts.check(
        Draft("In The Ferry “no lantern was ever honest enough for a heron of the weir”.")
    )
    (row,) = csv.DictReader(checked.app.drafts.written(nowhere, ".csv").splitlines())
    assert (row["work"], row["nearest_work"]) == ("", "The Ferry")
    (check,) = nowhere.checks
    (comment,) = docx.Document(io.BytesIO(checked.app.drafts.written(nowhere, ".docx"))).comments
    assert check.found.words in comment.text
    table = checked.app.drafts.written(report, ".csv")
    assert table.count("\n") == 3
    assert ",=frozen" not in table
    page = checked.app.drafts.written(report, ".html")
    assert "North" in page


def test_a_passage_chosen_for_a_paragraph_is_in_every_file_and_can_be_taken_away(checked):
    drafts = checked.app.drafts
    claim = "In The Ferry nobody is ever quite alone with the river, and that is the whole of its moral argument. " * 3
    draft_id = drafts.start(Draft(f"Here is an opening.\n\n{claim}"), "ada")
    (at,) = drafts.get(draft_id, "ada").report.unquoted
    work = next(each for each in checked.app.works.summaries() if each.title == "The Ferry")
    drafts.choose(draft_id, at[0], work.id, "2.1.1", 1, "ada")
    report = drafts.get(draft_id, "ada").report
    assert report.chosen_at(at[0])[0].words.startswith("A grey heron")
    assert "A grey heron" in drafts.written(report, ".html")
    assert "A grey heron" in drafts.written(report, ".json")
    (comment,) = docx.Document(io.BytesIO(drafts.written(report, ".docx"))).comments
    assert "A grey heron" in comment.text
    with pytest.raises(NotFound):
        drafts.choose(draft_id, at[0], work.id, "2.1.1", 1, "bob")
    drafts.choose(draft_id, at[0], work.id, "2.1.1", 1, "ada", there=False)
    assert drafts.get(draft_id, "ada").report.chosen == ()


def test_a_form_feed_moves_no_comment(checked):
    report = checked.app.drafts.check(Draft(f"One page.\f Next: “{LANTERNS}” it says."))
    (paragraph,) = docx.Document(io.BytesIO(checked.app.drafts.written(report, ".docx"))).paragraphs
    marks = [child.tag.rpartition("}")[2] for child in paragraph._p]
    within = paragraph._p[marks.index("commentRangeStart") + 1 : marks.index("commentRangeEnd")]
    assert "".join(run.text for run in within) == LANTERNS


def test_a_job_checks_a_draft_and_its_writer_alone_finds_it(checked):
    drafts = checked.app.drafts
    draft_id = drafts.start(Draft(f"“{LANTERNS}”"), "ada", b"bytes")
    found = drafts.get(draft_id, "ada")
    assert (found.done, found.kept, found.original.read_bytes()) == (True, False, b"bytes")
    assert [check.outcome for check in found.report.checks] == ["to the letter"]
    for owner, asked in (("bob", draft_id), ("ada", "0" * 32), ("ada", "../" + draft_id)):
        with pytest.raises(NotFound):
            drafts.get(asked, owner)
    drafts.delete(draft_id, "ada")
    with pytest.raises(NotFound):
        drafts.get(draft_id, "ada")


def test_only_what_is_kept_stays(checked, settings):
    drafts = checked.app.drafts
    kept, gone = (drafts.start(Draft(f"“{LANTERNS}”", name), "ada") for name in ("kept.txt", "gone.txt"))
    drafts.keep(kept, "ada")
    for folder in (settings.data / "drafts").iterdir():
        os.utime(folder, (time.time() - 90_000,) * 2)
    assert [each.id for each in drafts.kept("ada")] == [kept]
    assert drafts.kept("bob") == ()
    assert not (settings.data / "drafts" / gone).exists()


def test_what_was_checked_before_a_job_was_cut_off_can_be_seen(checked, settings):
    drafts = checked.app.drafts
    draft_id = drafts.start(Draft(f"“{LANTERNS}”"))
    folder = settings.data / "drafts" / draft_id
    (folder / service._REPORT).unlink()
    with (folder / service._CHECKS).open("a") as lines:
        lines.write('{"at": [1, ')
    found = drafts.get(draft_id)
    assert (found.done, len(found.report.checks)) == (False, 1)


def test_the_command_prints_saves_and_never_writes_over_the_draft(run, tmp_path, settings):
    for name, text in (("ferry.txt", FERRY), ("essay.txt", f"“{LANTERNS}” (Lee 3)")):
        (tmp_path / name).write_text(text)
    assert run("add", tmp_path / "ferry.txt").code == 0
    essay = tmp_path / "essay.txt"
    assert "To the letter" in run("check", essay).out
    assert len(json.loads(run("check", essay, "--format", "json").out)["checks"]) == 1
    for ending in ("docx", "csv", "json", "html"):
        assert run("check", essay, "--save", tmp_path / f"checked.{ending}").code == 0
        assert (tmp_path / f"checked.{ending}").stat().st_size > 100
    assert run("check", essay, "--save", tmp_path / "checked.pdf").code == 1
    (tmp_path / "page.html").write_text("<p>words</p>")
    assert run("check", tmp_path / "page.html", "--save", tmp_path / "page.html").code == 1
    assert (tmp_path / "page.html").read_text() == "<p>words</p>"
    assert run("check", tmp_path / "none.txt").code == 1
    assert list((settings.data / "drafts").glob("*")) == []


COMEDY = "The indifference of the water is a judgement on the parish"


@pytest.fixture
def with_criticism(checked, tmp_path):
    books = write_books(tmp_path)
    checked.app.mining.run([books], workers=checked.app.mining.workers(1))
    return checked


@pytest.mark.parametrize(
    ("quotation", "outcomes"),
    [
        (COMEDY, ("critic",)),
        ("[T]he indifference of the water is … a judgement on the parish", ("critic",)),
        (COMEDY.replace("judgement", "verdict"), ("critic", "altered")),
        ("The indifference of all wild weather was no concern of anybody’s uncle", ("not found",)),
    ],
)
def test_words_of_a_critic_are_found_in_the_criticism_with_their_place(with_criticism, quotation, outcomes):
    report = with_criticism.app.drafts.check(Draft(f"As Thorne says, “{quotation}” (Thorne 12)."))
    check = only(report.checks)
    assert check.outcomes == outcomes
    assert check.critic.author == "Basil Thorne"
    assert check.missing == ""
    if outcomes[0] == "critic":
        assert check.critic.words.startswith(COMEDY)
        assert 0 < check.critic.share < 1
        (row,) = csv.DictReader(with_criticism.app.drafts.written(report, ".csv").splitlines())
        assert "Basil Thorne" in row["work"]
        assert "%" in row["place"]
        for ending in (".html", ".json"):
            assert "Basil Thorne" in with_criticism.app.drafts.written(report, ending)


@pytest.fixture
def searched_for(tmp_path, monkeypatch):
    """Give a function that tells which passages are searched for a quotation."""
    index = QuotedWorks.build([work_of()], tmp_path / "index", silent)
    source = SecondarySource(id="a", title="A", author="B", name="a.txt", sha256="", characters=9)

    def search(quotation, passages):
        def holding(pattern, _):
            asked.append(pattern)
            return ()

        asked = []
        assert list(Critics(lambda: [source], holding).find([quotation], index)) == [None]
        with duckdb.connect() as base:
            fits = "SELECT regexp_matches(?, ?)"
            return [each for each in passages if asked and base.execute(fits, [each, asked[0]]).fetchone()[0]]

    return search


@pytest.mark.parametrize("quotation", ["1850 1851 1852 1853 1854", "Ах да", "12", "…", "he is"])
def test_a_quotation_without_a_row_of_words_is_searched_for_nowhere(searched_for, quotation):
    assert searched_for(quotation, ["Any passage.", "1850 1851 1852 1853 1854", "he is"]) == []


@pytest.mark.parametrize(
    "quotation", ["Все счастливые семьи похожи", "Überall höchst öde Gärten", "été passé là-bas, à côté"]
)
def test_a_quotation_in_any_alphabet_is_searched_for_by_its_words(searched_for, quotation):
    passage = f"She says: “{quotation.upper().replace(' ', chr(10), 1)}”."
    assert searched_for(quotation, [passage, "Any other passage.", f"x{quotation}x"]) == [passage]


def test_words_that_a_work_has_are_the_works_whoever_quotes_them(with_criticism):
    with_criticism.app.works.add(NOVEL.encode(), name="lantern.txt")
    quotation = "the river had no opinion of the parish council, and rose all the same"
    check = only(with_criticism(f"“{quotation}” (Thorne 12)."))
    assert (check.outcome, check.critic, check.missing) == ("to the letter", None, "")


def test_a_removed_source_is_looked_in_no_more(with_criticism):
    sources = with_criticism.app.sources
    for each in sources.all():
        sources.remove(each.source.id)
    assert only(with_criticism(f"“{COMEDY}” (Thorne 12).")).outcomes == ("not found",)


def test_markdown_that_would_take_long_to_read_is_refused_as_a_draft(tmp_path):
    large = b"a,b\n" * 600_000
    with pytest.raises(BadText, match="chapter by chapter"):
        read_draft(large, "a.md")
    assert read_draft(large, "a.txt").text


def test_a_journal_that_is_none_ends_after_a_thousand_lines(tmp_path):
    path = tmp_path / "journal.jsonl"
    assert list(records_in_lines(path, json.loads)) == []
    path.write_bytes(b'{"a": 1}\n\nno\n{"a": 2}\n{"a": 3')
    assert list(records_in_lines(path, json.loads)) == [{"a": 1}, None, {"a": 2}]
    path.write_bytes(b"no\n" * 5_000)
    assert list(records_in_lines(path, json.loads)) == [None] * 1_000
