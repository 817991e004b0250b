"""The RELiC paper's prompts: who is asked what, sheets that tell readers nothing, and the report of it."""

from __future__ import annotations

import dataclasses
import json

import pytest

from relic_core.config import Settings
from relic_core.domain import Claim, Span, rank_scores
from relic_core.errors import BadBenchmark, BadRequest, BadText, NoIndex, NotFound
from relic_core.reporting.passages import quotation
from relic_core.retrieval.reranked import Reranked
from relic_core.services.prompts import PROMPTS, prompts_for
from tests.making import make_work
from tests.making_prompts import FRANKENSTEIN, GATSBY, PRIDE, WORKS, bench_with, fill_in, rows_of, save
from tests.making_rerankers import CountingReranker
from tools.prompts import asking, reports
from tools.prompts.reports import make_report

RETRIEVERS = ["dense-relic", "bm25", "reranked", "fusion", "zero-shot"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A workbench that no test leaves otherwise than it was."""
    folder = tmp_path_factory.mktemp("prompting")
    return bench_with(Settings(data=folder / "data", indexes=folder / "indexes"))


@pytest.fixture(scope="module")
def answers(bench):
    return asking.ask(bench)


@pytest.fixture(scope="module")
def wanted(answers):
    return [id_ for each in answers for id_ in each.passages]


@pytest.fixture
def sheet(answers, tmp_path):
    path = tmp_path / "sheet.csv"
    reports.write_sheet(path, answers, seed=1)
    return path


def first_reader(row):
    return "supports" if "mother" in row["passage"] or "actions" in row["passage"] else "no"


def second_reader(row):
    return "partly" if "mother" in row["passage"] or "Gatsby" in row["passage"] else "no"


@pytest.fixture(scope="module")
def report(bench, answers, wanted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheets")
    paths = []
    for name, judge, seed in (("first.csv", first_reader, 1), ("second.csv", second_reader, 2)):
        reports.write_sheet(folder / name, answers, seed=seed)
        paths.append(fill_in(folder / name, judge))
    return make_report(bench, answers, reports.read_sheets(paths, wanted))


# What is asked


def test_the_prompts_of_the_paper_stand_once_in_the_list_of_examples_with_their_tables_and_lengths():
    claims = [prompt.claim for prompt in PROMPTS]
    assert len(set(claims)) == len(claims)
    assert [(each.table, each.prompt.title, each.length) for each in asking.paper_prompts()] == [
        ("6", "Frankenstein", 1), ("6", "The Great Gatsby", 1), ("6", "Pride and Prejudice", 2),
        ("6", "Brave New World", 1), ("A5", "Pride and Prejudice", 1),
    ]  # fmt: skip


def test_pages_offer_a_prompt_once_however_many_tables_print_it(bench):
    (summary,) = [each for each in bench.works.summaries() if each.title == "Pride and Prejudice"]
    assert len(prompts_for(summary)) == 1


def test_a_work_in_copyright_is_not_asked_about_and_the_reason_is_told():
    assert "Brave New World" not in {each.prompt.title for each in asking.asked_here()}
    ((prompt, why),) = asking.left_out()
    assert prompt.prompt.title == "Brave New World"
    assert why.endswith("until 31 December 2027")


def test_every_retriever_of_the_pages_is_asked_every_prompt_at_hand(answers, bench):
    assert [(each.slug, each.prompt.length) for each in answers] == [
        ("frankenstein", 1), ("the_great_gatsby", 1), ("pride_and_prejudice", 2), ("pride_and_prejudice", 1)
    ]  # fmt: skip
    assert [card.name for card in bench.retrievers.cards() if card.library] == RETRIEVERS
    assert [list(each.hits) for each in answers] == [RETRIEVERS] * 4


def test_a_prompt_is_asked_with_a_sentence_before_the_mask_and_nothing_after_it(bench, monkeypatch):
    retriever = bench.retrievers.get("dense-relic")
    score, asked = retriever.score, []

    def spy(claim, work, length):
        asked.append((claim, work.title, length))
        return score(claim, work, length)

    monkeypatch.setattr(retriever, "score", spy)
    asking.ask(bench, ["dense-relic"])
    assert asked[1] == (
        Claim(left="A symbol of Gatsby's lifestyle:", right="", masked=True), "The Great Gatsby", 1
    )  # fmt: skip
    assert [(claim.right, claim.masked) for claim, _, _ in asked] == [("", True)] * 4
    assert [length for _, _, length in asked] == [1, 1, 2, 1]


def test_hits_are_the_first_three_of_the_ranking_overlapping_ones_too(answers, bench):
    for each in answers:
        claim = Claim(left=each.prompt.asked.removesuffix(" [MASK]"), masked=True)
        for name in ("dense-relic", "reranked", "fusion", "zero-shot"):
            scores = bench.retrievers.get(name).score(claim, each.work, each.prompt.length)
            ranking = rank_scores(name, each.work.id, each.prompt.length, scores)
            assert each.hits[name] == tuple(hit.span for hit in ranking.hits(3))
    two = answers[2].hits
    assert any(a.overlaps(b) for spans in two.values() for a in spans for b in spans if a != b)


def test_a_passage_that_shares_no_word_with_the_prompt_is_no_hit_of_a_retriever_by_words(answers):
    gatsby = answers[1]
    assert {GATSBY.span_text(span) for span in gatsby.hits["bm25"]} == {
        "A symbol hung over the bridge: two painted spectacles.", "Gatsby's boats went out at noon."
    }  # fmt: skip


def test_only_the_retrievers_named_are_asked_and_need_be_prepared(settings):
    bench = bench_with(settings, prepared=())
    assert [list(each.hits) for each in asking.ask(bench, ["bm25"])] == [["bm25"]] * 4


def test_works_that_are_not_in_the_library_are_named_with_what_adds_them(settings):
    bench = bench_with(settings, [PRIDE])
    with pytest.raises(NotFound, match=r"2 works are needed .* catalogue --add frankenstein the_great_gatsby"):
        asking.ask(bench)


def test_works_that_are_not_prepared_are_named_with_what_prepares_them(settings):
    bench = bench_with(settings, prepared=["dense-relic"])
    with pytest.raises(NoIndex) as refused:
        asking.ask(bench)
    said = str(refused.value).splitlines()
    assert said[0].startswith("Not prepared yet: Frankenstein (Dense, zero-shot), The Great Gatsby (Dense, zero-shot)")
    assert said[1:] == [f"  python -m relic_core index {work.id} --retriever zero-shot" for work in WORKS]


def test_what_a_retriever_is_made_of_must_be_prepared_too(settings):
    bench = bench_with(settings, prepared=())
    with pytest.raises(NoIndex, match=r"Frankenstein \(dense-RELiC\)"):
        asking.ask(bench, ["reranked"])


def test_a_passage_has_one_name_for_one_prompt_and_text_whoever_finds_it():
    prompt, other = asking.paper_prompts()[0], asking.paper_prompts()[1]
    name = asking.passage_id(prompt, FRANKENSTEIN, Span(1, 1))
    assert name == asking.passage_id(prompt, FRANKENSTEIN, Span(1, 1))
    others = {
        asking.passage_id(prompt, FRANKENSTEIN, Span(1, 2)),
        asking.passage_id(prompt, FRANKENSTEIN, Span(2, 1)),
        asking.passage_id(other, FRANKENSTEIN, Span(1, 1)),
        asking.passage_id(prompt, dataclasses.replace(FRANKENSTEIN, sha256="0" * 64), Span(1, 1)),
    }
    assert len(others | {name}) == 5


# Sheets


def test_a_sheet_has_every_passage_once_with_its_prompt_and_words(sheet, answers, wanted):
    rows = rows_of(sheet)
    assert sorted(row["id"] for row in rows) == sorted(wanted)
    assert tuple(rows[0]) == reports.COLUMNS
    places = {id_: (each, span) for each in answers for id_, span in each.passages.items()}
    for row in rows:
        each, span = places[row["id"]]
        assert (row["work"], row["prompt"]) == (each.prompt.prompt.title, each.prompt.prompt.claim)
        assert row["passage"] == quotation(each.work, span).plain
        assert (row["verdict"], row["note"], row["seed"]) == ("", "", "1")


def test_a_sheet_is_the_same_whoever_found_a_passage_at_whatever_rank(sheet, answers, tmp_path):
    turned = []
    for each in answers:
        found = [tuple(reversed(spans)) for spans in each.hits.values()]
        turned.append(dataclasses.replace(each, hits=dict(zip(each.hits, reversed(found), strict=True))))
    reports.write_sheet(tmp_path / "turned.csv", turned, seed=1)
    assert (tmp_path / "turned.csv").read_bytes() == sheet.read_bytes()


def test_another_seed_gives_the_same_rows_in_another_order(sheet, answers, wanted, tmp_path):
    reports.write_sheet(tmp_path / "other.csv", answers, seed=2)
    one, other = ([row["id"] for row in rows_of(path)] for path in (sheet, tmp_path / "other.csv"))
    assert one != other
    assert sorted(one) == sorted(other)
    assert wanted not in (one, other)


@pytest.mark.parametrize(
    ("span", "before", "after"),
    [
        (Span(0, 1), (), ((1,), (2,))),
        (Span(3, 1), ((1,), (2,)), ()),
        (Span(4, 2), (), ((6, 7),)),
        (Span(5, 2), ((4,),), ((7,),)),
    ],
    ids=["at the beginning", "at the end of a chapter", "two sentences", "over a paragraph's end"],
)
def test_a_passage_is_shown_with_two_sentences_of_its_chapter_on_either_side(span, before, after):
    def words(paragraphs):
        return "\n\n".join(" ".join(map(FRANKENSTEIN.sentence_text, paragraph)) for paragraph in paragraphs)

    passage = quotation(FRANKENSTEIN, span).plain
    assert reports.in_context(FRANKENSTEIN, span) == (words(before), passage, words(after))


def test_a_passage_that_a_spreadsheet_would_take_for_a_formula_is_marked(answers, tmp_path):
    work = make_work(["=1+1 said the clerk."], title="Frankenstein", author="Mary Shelley")
    only = dataclasses.replace(answers[0], work=work, hits={"bm25": (Span(0, 1),)})
    assert reports.write_sheet(tmp_path / "one.csv", [only], seed=0) == 1
    assert rows_of(tmp_path / "one.csv")[0]["passage"] == "'=1+1 said the clerk."


def test_a_sheet_that_is_there_is_not_written_over(sheet, answers):
    fill_in(sheet, first_reader)
    before = sheet.read_bytes()
    with pytest.raises(BadRequest, match="verdicts may stand in it"):
        reports.write_sheet(sheet, answers, seed=1)
    assert sheet.read_bytes() == before


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_is_read_however_a_spreadsheet_saved_it(sheet, wanted, tmp_path, delimiter):
    rows = [{**row, "verdict": f" {first_reader(row).capitalize()} ", "mine": "x"} for row in rows_of(sheet)]
    blank = dict.fromkeys(rows[0], "")
    backwards = [dict(reversed(row.items())) for row in [*reversed(rows), blank]]
    read = reports.read_sheet(save(tmp_path / "saved.csv", backwards, delimiter), wanted)
    assert read.seed == 1
    assert read.verdicts == {row["id"]: first_reader(row) for row in rows}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda rows: rows[1:], "1 passage is missing"),
        (lambda rows: [*rows, {**rows[0], "id": "p000000000000"}], r"1 passage is not asked about now \(p0{12}\)"),
        (lambda rows: [*rows, rows[0]], "there twice"),
        (lambda rows: [{**row, "verdict": ""} for row in rows], "no verdict"),
        (lambda rows: [{**rows[0], "verdict": "maybe"}, *rows[1:]], "unknown verdict .*: “maybe”"),
        (lambda rows: [{**rows[0], "seed": "7"}, *rows[1:]], "the column seed"),
        (lambda rows: [{**row, "seed": "one"} for row in rows], "the column seed"),
        (lambda rows: [{"id": row["id"], "verdict": row["verdict"]} for row in rows], "must name the columns id, seed"),
    ],
    ids=["missing", "unknown", "twice", "empty", "not allowed", "two seeds", "no number", "no seed"],
)
def test_a_sheet_that_is_not_whole_is_refused_with_the_reason(sheet, wanted, tmp_path, spoil, said):
    rows = rows_of(fill_in(sheet, first_reader))
    with pytest.raises(BadBenchmark, match=said):
        reports.read_sheet(save(tmp_path / "spoilt.csv", spoil(rows)), wanted)


def test_a_row_that_was_cut_short_has_no_verdict(sheet, wanted):
    text = sheet.read_text(encoding="utf-8-sig")
    sheet.write_text(f"{text.splitlines()[0]}\n{wanted[0]},1\n", encoding="utf-8")
    with pytest.raises(BadBenchmark, match=f"has no verdict .{wanted[0]}"):
        reports.read_sheet(sheet, wanted)


@pytest.mark.parametrize(("text", "error"), [("", BadText), ("\n", BadText), ("id,verdict\n", BadBenchmark)])
def test_another_file_is_no_sheet(tmp_path, wanted, text, error):
    (tmp_path / "other.csv").write_text(text)
    with pytest.raises(error):
        reports.read_sheet(tmp_path / "other.csv", wanted)


def test_one_sheet_or_the_same_one_twice_is_refused(sheet, wanted):
    filled = fill_in(sheet, first_reader)
    for paths in ([filled], [filled, filled.parent / "." / filled.name], [filled] * 3):
        with pytest.raises(BadRequest, match="2 readers"):
            reports.read_sheets(paths, wanted)


# The report


def test_the_report_says_where_the_hits_stand_and_what_both_readers_said(report, answers):
    assert [(each.table, each.work, each.length) for each in report.prompts] == [
        ("6", "frankenstein", 1), ("6", "the_great_gatsby", 1), ("6", "pride_and_prejudice", 2),
        ("A5", "pride_and_prejudice", 1),
    ]  # fmt: skip
    for each, answered in zip(report.prompts, answers, strict=True):
        for name, ids in each.hits.items():
            assert [each.passages[id_].start for id_ in ids] == [span.start for span in answered.hits[name]]
        for judged in each.passages.values():
            words = answered.work.text[slice(*judged.characters)]
            assert words == answered.work.span_text(Span(judged.start, each.length))
            assert judged.address == str(answered.work.address(judged.start))
            assert judged.verdicts == (first_reader({"passage": words}), second_reader({"passage": words}))


def test_the_report_says_what_made_it(report, bench):
    assert report.seeds == (1, 2)
    assert [each.slug for each in report.works] == ["frankenstein", "the_great_gatsby", "pride_and_prejudice"]
    assert [each.sha256 for each in report.works] == [work.sha256 for work in WORKS]
    assert [each.name for each in report.retrievers] == RETRIEVERS
    assert (report.retrievers[0].encoder, report.retrievers[-1].encoder) == ("fake/1", "contrary/1")
    for each in report.retrievers:
        assert each.configuration == dict(bench.retrievers.get(each.name).configuration)
    assert (report.shape, [each["title"] for each in report.left_out]) == ("1/0", ["Brave New World"])
    assert report.code.startswith("0.")


def test_a_report_is_read_as_it_was_written(report, tmp_path):
    path = tmp_path / "report.json"
    reports.write_report(path, report)
    assert reports.read_report(path) == report


def test_no_word_of_a_novel_or_of_a_readers_note_is_in_the_file(report, tmp_path):
    path = tmp_path / "report.json"
    reports.write_report(path, report)
    text = path.read_text(encoding="utf-8")
    for work in WORKS:
        for sentence in work.sentences:
            words = work.text[sentence.start : sentence.end]
            assert words not in text
            assert " ".join(words.split()[:3]) not in text
    assert "Note" not in text


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda said: said | {"format": "relic prompts/9"}, "relic prompts/9"),
        (lambda said: said | {"seeds": [1, 3]}, "what its sha256 says"),
        (lambda said: {**said, "prompts": []}, "what its sha256 says"),
    ],
    ids=["other version", "changed", "cut"],
)
def test_a_report_that_was_changed_is_refused(report, tmp_path, spoil, said):
    path = tmp_path / "report.json"
    reports.write_report(path, report)
    path.write_text(json.dumps(spoil(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
    with pytest.raises(BadBenchmark, match=said):
        reports.read_report(path)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda prompt: prompt["hits"].update(bm25=["p0"]), "the hits p0 have no place"),
        (lambda prompt: next(iter(prompt["passages"].values())).update(verdicts=["supports"]), "verdicts"),
        (lambda prompt: next(iter(prompt["passages"].values())).update(verdicts=["maybe", "no"]), "verdicts"),
        (lambda prompt: prompt.update(words="The glacier creaked."), "words"),
    ],
    ids=["hit without place", "one verdict", "unknown verdict", "unknown key"],
)
def test_a_report_that_cannot_be_is_refused_though_its_digest_is_right(report, tmp_path, spoil, said):
    path = tmp_path / "report.json"
    reports.write_report(path, report)
    content = json.loads(path.read_text(encoding="utf-8"))
    spoil(content["prompts"][0])
    content.pop("format"), content.pop("sha256")
    whole = {"format": reports.FILE.format, "sha256": reports.FILE.digest(content), **content}
    path.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(BadBenchmark, match=said):
        reports.read_report(path)


# Figures


def test_a_hit_counts_where_both_readers_say_so(report):
    """Worked out anew from the words that each retriever found."""
    table = reports.figures(report)
    works = {"frankenstein": FRANKENSTEIN, "the_great_gatsby": GATSBY, "pride_and_prejudice": PRIDE}
    for retriever, (label, hits, supports, partly) in zip(report.retrievers, table.rows, strict=True):
        words = [
            works[each.work].text[slice(*each.passages[id_].characters)]
            for each in report.prompts
            for id_ in each.hits[retriever.name]
        ]
        assert (label, hits, supports) == (retriever.label, len(words), 0)  # the second reader says it of none
        assert partly == sum("mother" in each for each in words)
    assert len({row[3] for row in table.rows}) > 1
    assert table.rows[0][1] == 12


def test_a_hit_supports_where_both_say_so_and_counts_for_each_retriever_that_found_it(report):
    agreed = []
    for each in report.prompts:
        judged = {id_: said.model_copy(update={"verdicts": ("supports",) * 2}) for id_, said in each.passages.items()}
        agreed.append(each.model_copy(update={"passages": judged}))
    table = reports.figures(report.model_copy(update={"prompts": tuple(agreed)}))
    assert all(hits == supports == partly for _, hits, supports, partly in table.rows)
    assert "100%" in table.notes[0]
    assert "kappa cannot" in table.notes[0]


def test_the_readers_agreement_is_counted_over_passages_and_not_over_hits(report):
    passages = sum(len(each.passages) for each in report.prompts)
    hits = sum(len(ids) for each in report.prompts for ids in each.hits.values())
    assert passages < hits
    assert f" of {passages} passages" in reports.figures(report).notes[0]


def test_nothing_differs_where_the_same_is_found(report, bench, answers):
    assert reports.differences(report, bench, answers) == ()
    assert reports.changed_makers(report, bench, answers) == ()


def test_where_a_retriever_finds_others_it_is_said_with_both_places(report, bench, monkeypatch):
    other = Reranked(bench.retrievers.get("fusion"), CountingReranker("w"))
    monkeypatch.setitem(bench.retrievers._made, "reranked", other)
    now = asking.ask(bench)
    said = reports.differences(report, bench, now)
    assert said
    assert all(each.startswith("Reranked, “") for each in said)
    then = report.prompts[0]
    there = ", ".join(then.passages[id_].address for id_ in then.hits["reranked"])
    assert said[0].endswith(f"; in the report {there}.")


def test_a_retriever_made_otherwise_is_told_though_it_finds_the_same(report, bench, answers, monkeypatch):
    monkeypatch.setattr(bench.retrievers.get("reranked"), "_top_k", 99)
    assert reports.differences(report, bench, asking.ask(bench)) == ()
    assert reports.changed_makers(report, bench, answers) == (
        "Reranked is made otherwise than when the report was: head.",
    )


def test_another_edition_is_told_and_its_hits_are_not_compared(report, bench, answers):
    other = dataclasses.replace(GATSBY, sha256="f" * 64)
    now = [dataclasses.replace(each, work=other) if each.slug == "the_great_gatsby" else each for each in answers]
    (said,) = reports.differences(report, bench, now)
    assert said.startswith("The Great Gatsby is another")


def test_prompts_and_retrievers_that_came_or_went_are_told(report, bench, answers):
    fewer = [dataclasses.replace(each, hits={"bm25": each.hits["bm25"]}) for each in answers[:-1]]
    said = reports.differences(report, bench, fewer)
    assert "BM25" not in " ".join(said)
    assert sum("in the report, and no longer asked" in each for each in said) == 3 * 4
    assert said[-1].endswith("(1 sentence) is in the report and no longer asked.")
    less = report.model_copy(update={"prompts": report.prompts[1:]})
    (said,) = reports.differences(less, bench, answers)
    assert said.endswith("is not in the report.")
