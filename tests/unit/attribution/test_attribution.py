"""Attribution: stretches, their ranking, what a language model says of them, and the answer of the service."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, GPT2Config, GPT2LMHeadModel

from relic_core.attribution import ranking, service
from relic_core.attribution.measuring import AttributionQuery, edited, measure, of_queries, ratio
from relic_core.attribution.ranking import NEARER, Attributor, Stretches, by_server, gains, likelihood, rerank
from relic_core.attribution.service import Attributing
from relic_core.domain import WorkFilter, best_first
from relic_core.domain.attribution import MOST_WORDS, AttributionRequest, Target
from relic_core.encoders.generator import SpanLikelihood
from relic_core.errors import BadBenchmark, BadRequest, ReaderUnavailable
from relic_core.formats.attribution import read_queries
from relic_core.ports import silent
from relic_core.text.words import WorkWords, tokens
from tests.making import make_work
from tests.making_rerankers import bart
from tests.tiny_models import save_roberta_tokenizer

QUOTED = "The ferryman counted seven brass lanterns beside the frozen quay before dawn."
FERRY = make_work(
    [["Nobody had paid the toll.", QUOTED, "He went home to his soup."]], title="The Ferry", author="Ada North"
)
ORCHARD = make_work(
    [["The miser counted apples.", "A fox slept in the orchard."]], title="The Orchard", author="B. Lee"
)
ESSAY = f"A proud page it is, of frost and lamps and rivers. As the novel says, {QUOTED} Nothing is told of the winter."
AT = ESSAY.index(QUOTED), ESSAY.index(QUOTED) + len(QUOTED)


def copying(target, sources, progress):
    """Say of each word of the span that it is likely where the source has it."""
    words = tokens(target.span)
    offsets, at = [], 0
    for word in target.span.split():
        at = target.span.index(word, at)
        offsets.append((at, at + len(word)))
        at += len(word)
    held = [set(tokens(source)) for source in sources]
    return offsets, np.array([[-0.1 if word in some else -5.0 for word in words] for some in held], dtype=np.float32)


@pytest.fixture
def attributor(monkeypatch):
    monkeypatch.setattr(ranking, "CONTENT_WORDS", 8)
    works = [(work.id, f"{work.author} {work.title}", WorkWords.of(work)) for work in (ORCHARD, FERRY)]
    return Attributor(Stretches.of(works))


@pytest.fixture
def bench(bench):
    for work in (FERRY, ORCHARD):
        bench.store.works.add(work)
    return bench


def ask(bench, text=ESSAY, span=AT, **options):
    return bench.attribution.run(AttributionRequest(text=text, span=span, **options))


def test_stretches_hold_every_sentence_once_and_know_author_and_title(attributor):
    stretches = attributor.stretches
    of_ferry = np.flatnonzero(stretches.work == 1)
    assert len(of_ferry) > 1
    assert [at for stretch in of_ferry for at in range(stretches.start[stretch], stretches.end[stretch])] == [0, 1, 2]
    named = attributor.by_words(Target.between("As Ada North has it:", "unheard", ""))
    assert set(np.flatnonzero(named > 0)) == set(of_ferry)


def test_a_masked_span_is_not_read(attributor):
    target = Target(ESSAY, *AT)
    assert attributor.by_words(target, masked=True).max() == 0
    best = int(attributor.rank(target).argmax())
    assert attributor.stretches.span(best).start <= 1 < attributor.stretches.span(best).end
    assert attributor.strength(target) > ranking.STRONG > attributor.strength(target, attributor.stretches.work == 1)


def test_of_the_words_around_a_masked_span_the_nearer_count_more(attributor):
    for far, near, first in (("soup", "fox", ORCHARD), ("fox", "soup", FERRY)):
        left = f"{far} {'it is so ' * NEARER[0]}{near}"
        scores = attributor.by_nearness(Target.between(left, "unheard", ""))
        assert attributor.stretches.keys[int(attributor.stretches.work[scores.argmax()])] == first.id


def test_around_a_masked_span_a_stretch_counts_with_those_beside_it_in_its_work(monkeypatch):
    monkeypatch.setattr(ranking, "CONTENT_WORDS", 3)
    holding = (4, 5, 6, 7, 8, 14, 19)  # 19 is the last of its work, and the work behind it begins with the word
    lines = [f"The {'frost' if at in holding else f'owl{at}'} hen{at} cow{at}." for at in range(20)]
    works = [make_work([lines]), make_work([["The frost hen cow."] * 2])]
    some = Attributor(Stretches.of([(str(at), "", WorkWords.of(work)) for at, work in enumerate(works)]))
    scores = some.by_nearness(Target.between("frost", "unheard", ""))[:20]
    assert int(scores.argmax()) == 6
    assert scores[9] > scores[13] == scores[15] > 0 == scores[11]
    assert scores[18] == pytest.approx(scores[13] * 5 / 4)  # one of the four of its work


def test_meaning_goes_by_the_best_two_sentences_and_an_unread_work_comes_last(attributor):
    scores = {FERRY.id: np.array([0.2, 0.9], dtype=np.float32)}
    meant = Attributor(attributor.stretches, lambda key, _vector: scores.get(key))
    found = meant.by_meaning(np.zeros(1, dtype=np.float32))
    assert meant.stretches.span(int(found.argmax())).start <= 1
    assert found[meant.stretches.work == 0].max() <= found[meant.stretches.work == 1].min()


def test_what_copies_puts_the_true_stretch_first_in_any_order_of_candidates(attributor):
    target = Target(ESSAY, *AT)
    texts = [
        " ".join(w for w, n in attributor.stretches.words.vocabulary.items() if n in row) for row in _rows(attributor)
    ]
    worst = -attributor.rank(target)
    found = rerank(worst, likelihood(copying, target, [texts[at] for at in best_first(worst)]))
    assert int(found.argmax()) == int(worst.argmin())
    order = np.random.default_rng(1).permutation(len(texts))
    shuffled = likelihood(copying, target, [texts[at] for at in order])
    np.testing.assert_array_equal(shuffled, likelihood(copying, target, texts)[order])


def _rows(attributor):
    words = attributor.stretches.words
    return [set(words.ids[a:b].tolist()) for a, b in zip(words.starts, words.starts[1:], strict=False)]


def gpt2(folder):
    folder.mkdir()
    size = save_roberta_tokenizer(folder)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=size, n_embd=16, n_layer=1, n_head=2, n_positions=512, bos_token_id=0, eos_token_id=2,
        initializer_range=0.5,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["seq2seq", "causal"])
def test_the_likelihood_of_a_span_is_minus_n_times_the_model_s_own_loss(tmp_path, kind):
    target, sources = (
        Target.between("he claims", "the ferry is near", "and so on"),
        ["the coin of the miser", "frost", ""],
    )
    folder = bart(tmp_path / "tiny") if kind == "seq2seq" else gpt2(tmp_path / "tiny")
    scorer = SpanLikelihood(str(folder), precision="float32")
    offsets, found = scorer(target, sources, silent)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def ids(text):
        return tokenizer.encode(text, add_special_tokens=False).ids

    for source, row in zip(sources, found, strict=True):
        with torch.no_grad():
            if kind == "seq2seq":
                model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
                read = [
                    0,
                    *ids("he claims"),
                    tokenizer.token_to_id("<mask>"),
                    *ids(" and so on"),
                    2,
                    2,
                    *ids(source),
                    2,
                ]
                said = ids(target.span)
                labels = torch.tensor([[-100, *said, -100]])
                loss = model(
                    input_ids=torch.tensor([read]), decoder_input_ids=torch.tensor([[2, 0, *said]]), labels=labels
                ).loss
            else:
                model = AutoModelForCausalLM.from_pretrained(folder).eval()
                said = ids(f" {target.span}")
                before = [0, *ids(f"{source}\n\n" if source else ""), *ids("he claims")]
                read = torch.tensor([[*before, *said]])
                loss = model(input_ids=read, labels=torch.tensor([[-100] * len(before) + said])).loss
        assert row.sum() == pytest.approx(-len(said) * float(loss), abs=1e-3, rel=1e-4)
    assert "".join(target.span[a:b] for a, b in offsets).replace(" ", "") == target.span.replace(" ", "")
    words = gains(scorer, target, sources[0])
    assert [target.span[a:b] for a, b, _ in words] == target.span.split()
    assert sum(gain for *_, gain in words) == pytest.approx(float(found[0].sum() - found[2].sum()), abs=1e-4)


def test_a_causal_model_without_a_mark_for_the_beginning_reads_a_span_that_stands_there(tmp_path):
    folder = gpt2(tmp_path / "tiny")
    config = json.loads((folder / "config.json").read_text())
    scores = []
    for bos, eos in ((2, None), (None, 2), (None, None)):
        (folder / "config.json").write_text(json.dumps({**config, "bos_token_id": bos, "eos_token_id": eos}))
        scorer = SpanLikelihood(str(folder), precision="float32")
        scores.append(scorer(Target.between("", "the ferry", ""), ["", "the coin"], silent)[1])
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-5)
    assert np.isfinite(scores[2]).all()


@pytest.mark.parametrize(("left", "first"), [("", "I"), ("He said:", " I")])
def test_the_words_of_a_server_s_tokens_are_those_of_the_span_also_of_one_letter(left, first):
    said = [(first, -1.0), (" a", -2.0), (" fox", -3.0)]
    scorer = by_server(lambda prefix, _: said if "source" in prefix else [(token, -4.0) for token, _ in said])
    target = Target.between(left, "I a fox", "")
    assert scorer(target, ["source"], silent)[0] == [(0, 1), (1, 3), (3, 7)]
    found = gains(scorer, target, "source")
    assert found == [(0, 1, 3.0), (2, 3, 2.0), (4, 7, 1.0)]


def test_a_server_s_log_probabilities_make_a_scorer():
    def prompt_logprobs(prefix, text):
        return [(word, -1.0 if word.strip() in prefix else -9.0) for word in ("the ", "ferry")]

    target = Target.between("", "the ferry", "")
    offsets, found = by_server(prompt_logprobs)(target, ["the quay", ""], silent)
    assert (offsets, found.tolist()) == ([(0, 4), (4, 9)], [[-1.0, -9.0], [-9.0, -9.0]])


def test_the_answer_names_the_work_and_shows_the_words_to_the_letter(bench):
    found = ask(bench)
    card = found.cards[0]
    assert [work.id for work in found.found] == [card.work.id] == [FERRY.id]
    assert QUOTED in card.passage.plain
    assert "".join(piece.text for piece in card.passage.pieces if piece.lit).rstrip(".") == QUOTED.rstrip(".")
    assert card.runs == ((AT[0], AT[1] - 1),)
    assert card.place.address == FERRY.place(card.span).address


def test_without_a_span_the_sentence_that_is_quoted_is_found(bench):
    found = ask(bench, span=None)
    assert QUOTED in found.target.span
    assert found.tried > 1


def test_other_sentences_that_have_a_source_are_named(bench):
    other = "A lame postmaster weighed nineteen letters against the drowned bishop's silver bell."
    bench.store.works.add(make_work([["The tide was low.", other]], title="The Bell"))
    found = ask(bench, f"{ESSAY} Elsewhere {other} So it goes with rivers and with lamps.", span=None)
    spans = [found.target.span, *(each.span for each in found.others)]
    assert sorted(next(each for each in (QUOTED, other) if each in span) for span in spans) == sorted([QUOTED, other])
    assert ask(bench, span=None).others == ()


def test_of_one_sentence_worth_trying_the_span_is_that_sentence(bench):
    found = ask(bench, f"{QUOTED} So it ends.", span=None)
    assert (found.target.span, found.tried) == (QUOTED, 1)


def test_of_few_words_no_source_is_sure_and_that_is_known(bench):
    found = ask(bench, "She went home to his soup.", None)
    assert (found.found, found.few) == ((), True)
    assert not ask(bench).few


def test_a_phrase_of_three_telling_words_has_a_source_where_one_work_alone_holds_it(bench):
    one = make_work([["It is a lantern quietly extinguished, they say.", "Nobody paid."]], title="The First Lamp")
    bench.store.works.add(one)
    said = "It is a lantern quietly extinguished"
    assert [work.id for work in ask(bench, said, (0, len(said))).found] == [one.id]
    turned = "A lantern extinguished is it quietly"
    assert not ask(bench, turned, (0, len(turned))).found
    bench.store.works.add(make_work([["For it is a lantern quietly extinguished."]], title="The Second Lamp"))
    assert not ask(bench, said, (0, len(said))).found


def test_by_what_stands_around_it_no_work_is_named_as_sure(bench, monkeypatch):
    start = ESSAY.index(QUOTED)
    assert ask(bench, ESSAY, (start, start + len(QUOTED))).found
    found = ask(bench, ESSAY, (start, start + len(QUOTED)), by="masked")
    assert (found.found, any(card.strong for card in found.cards), found.masked) == ((), False, True)


def test_author_and_title_and_a_few_words_are_no_quotation(bench):
    name = "The Brass Lanterns of the Quay"
    bench.store.works.add(make_work([["Nobody paid.", "A toll was due."]], title=name, author="Ada Mary North"))
    text = f"Ada Mary North’s {name} appeared in 1847."
    assert not ask(bench, text, (0, len(text))).found
    short = QUOTED.index("seven brass lanterns")
    assert ask(bench, QUOTED, (short, short + len("seven brass lanterns"))).cards
    assert not ask(bench, QUOTED, (short, short + len("seven brass lanterns"))).found


def test_a_masked_span_is_not_read_by_the_cosine(bench, monkeypatch):
    read = []

    class Encoder:
        def encode_claims(self, claims):
            read.extend(claim.words for claim in claims)
            return np.ones((len(claims), 2), dtype=np.float32)

        pair = SimpleNamespace(
            passage_ids=str.split,
            passages=SimpleNamespace(vectors=lambda rows, reading: np.ones((len(rows), 2), dtype=np.float32)),
        )

    monkeypatch.setattr("relic_core.attribution.service.load_late_chunking", lambda _card: Encoder())
    ask(bench, by="masked", reranking="cosine")
    assert "frost and lamps" in read[0]
    assert QUOTED not in read[0]


def test_a_masked_span_is_traced_by_words_alone_where_no_work_is_prepared_for_meaning(bench, monkeypatch):
    monkeypatch.setattr(Attributing, "vector", lambda *_: pytest.fail("an encoder is loaded for nothing"))
    text = f"The toll is unpaid and he eats soup. {QUOTED} Nothing is told of the winter."
    start = text.index(QUOTED)
    assert ask(bench, text, (start, start + len(QUOTED)), by="masked").cards[0].work.id == FERRY.id


def test_every_reranker_is_asked_once_for_a_question_and_told_what_is_masked(attributor):
    target, calls = Target(ESSAY, *AT), []
    question = AttributionQuery(id="1", target=target, key=FERRY.id, golds=np.array([1]))

    def reranker(_target, masked, some):
        calls.append(masked)
        return np.zeros(len(some), dtype=np.float32)

    measured = measure(attributor, [question], rerankers={"one": reranker}, progress=silent)
    assert calls == [False, True, False]
    assert ("BM25, one alone", "masked", "work") in measured.outcomes


def test_words_of_no_work_come_from_none(bench):
    text = "The lighthouse keeper polished the ferry's enormous bell, and a fox barked at his dinner."
    found = ask(bench, text, (0, len(text)))
    assert found.cards
    assert not found.found


def test_a_passage_in_three_works_alike_names_all_three(bench):
    for number in range(2):
        bench.store.works.add(make_work([[f"Copy {number} begins here.", QUOTED]], title=f"Copy {number}"))
    assert len(ask(bench).found) == 3


def test_another_language_has_no_card_and_one_work_is_a_library(bench):
    assert not ask(bench, "Паромщик считал фонари у реки", (0, 20)).cards
    assert ask(bench, works=WorkFilter(works=(FERRY.id,))).searched == 1


def test_what_no_work_could_answer_is_refused(bench):
    for by in ("meaning", "masked"):
        with pytest.raises(BadRequest):
            ask(bench, QUOTED, (0, len(QUOTED)), by=by)


def test_an_answer_stays_where_the_server_explains_nothing(bench, monkeypatch):
    def refusing(*_given):
        raise ReaderUnavailable("It gives no log-probabilities.")

    monkeypatch.setattr(Attributing, "scorer", property(lambda _self: refusing))
    found = ask(bench, explain=True)
    assert [work.id for work in found.found] == [FERRY.id]
    assert (found.gains, bool(found.note)) == ((), True)


def test_gains_tell_how_far_they_are_and_stop_where_that_raises(bench, monkeypatch):
    class Stopped(Exception):
        pass

    def stop(_done, _total, note=""):
        if note == "Reading":
            raise Stopped

    monkeypatch.setattr(Attributing, "scorer", property(lambda _self: by_server(lambda _a, _b: [])))
    with pytest.raises(Stopped):
        bench.attribution.run(AttributionRequest(text=ESSAY, span=AT, explain=True), stop)


@pytest.mark.parametrize(
    ("text", "span"),
    [(ESSAY, (5, 5)), (ESSAY, (0, 9_999)), (ESSAY, (9, 3)), ("— …", None), ("word " * (MOST_WORDS + 1), (0, 4))],
    ids=["empty", "outside", "backwards", "no word", "too long"],
)
def test_what_cannot_be_asked_is_refused_in_words(bench, text, span):
    with pytest.raises(BadRequest):
        ask(bench, text, span)


def test_a_model_is_needed_for_gains_and_used_where_it_is_set(bench, monkeypatch):
    with pytest.raises(BadRequest):
        ask(bench, explain=True)
    monkeypatch.setattr(Attributing, "scorer", property(lambda _self: copying))
    found = ask(bench, reranking="likelihood", alone=True, explain=True)
    assert found.cards[0].work.id == FERRY.id
    assert {found.target.text[a:b] for a, b, gain in found.gains if gain > 0} == set(QUOTED.rstrip(".").split())


def test_the_first_card_is_explained_by_its_own_words_where_a_better_one_was_removed_meanwhile(bench, monkeypatch):
    long = [f"The clerk number {number} weighed a parcel of salt and iron." for number in range(80)]
    twin = make_work([[*long, QUOTED]], title="Twin")
    bench.store.works.add(twin)
    first = ask(bench).cards[0].work.id
    asked, load_all = [], bench.works.load_all
    monkeypatch.setattr(bench.works, "load_all", lambda ids: {k: v for k, v in load_all(ids).items() if k != first})
    monkeypatch.setattr(service, "gains", lambda _scorer, _near, source, _progress: asked.append(source) or [])
    monkeypatch.setattr(Attributing, "scorer", property(lambda _self: copying))
    card = ask(bench, explain=True).cards[0]
    assert card.work.id != first
    assert QUOTED.rstrip(".") in asked[0]


def test_edits_are_the_same_for_the_same_seed():
    assert edited(QUOTED, "1") == edited(QUOTED, "1") != QUOTED
    assert len({edited(QUOTED, str(seed)) for seed in range(9)}) > 5


def row(**given):
    sources = [
        {"id": "s1", "author": "Ada North", "title": "The Ferry", "text": QUOTED},
        {"id": "s2", "text": "A fox."},
    ]
    return {"id": "1", "query": ESSAY, "span": list(AT), "source": "s1", "sources": sources, **given}


def test_queries_with_their_sources_are_read_and_measured(tmp_path):
    path = tmp_path / "queries.jsonl"
    lines = (row(query=ESSAY.replace("rivers", "rivers\u2028")[:-1]), row(id="2", sources=[]))
    path.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in lines), encoding="utf-8")
    attributor, asked, texts = of_queries(read_queries(path))
    assert texts.tolist() == [f"Ada North The Ferry. {QUOTED}", ". A fox."]
    measured = measure(attributor, asked, progress=silent)
    assert [each.rank for each in measured.outcomes["BM25", "visible", "stretch"]] == [1, 1]
    same = measured.outcomes["BM25", "visible", "work"]
    assert ratio(same, same) == (1.0, 1.0, 1.0)


def test_the_rerankers_are_measured_on_queries_too(bench, tmp_path, monkeypatch):
    def scorer(target, sources, _progress):
        return [(0, 1)], np.array([[-1.0 if "fox" in text else -2.0] for text in sources])

    class Encoder:
        pair = SimpleNamespace(
            passages=SimpleNamespace(vectors=lambda ids, reading: [np.ones(2, np.float32) for _ in ids]),
            passage_ids=lambda text: text,
        )

        def encode_claims(self, claims):
            return np.ones((len(claims), 2), np.float32)

    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps(row()), encoding="utf-8")
    monkeypatch.setattr(Attributing, "reads", True)
    monkeypatch.setattr(Attributing, "scorer", property(lambda _self: scorer))
    monkeypatch.setattr(service, "load_late_chunking", lambda _: Encoder())
    ranks, _ = bench.attribution.measure(path, sample=5, by_length=False, progress=silent)
    by_system = {made[2]: made[3] for made in ranks.rows if made[:2] == ("visible", "stretch")}
    assert {"BM25, cosine alone", "BM25, likelihood fused"} < by_system.keys()
    assert by_system["BM25"] != by_system["BM25, likelihood alone"]  # which takes the fox for the source
    assert {made[ranks.heads.index("R@100")].value for made in ranks.rows} == {1.0}  # there are but a few sources


def test_sources_of_a_work_keep_their_titles(tmp_path):
    sources = [{"id": f"s{at}", "work": "w", "title": title, "text": "A fox."} for at, title in enumerate("XY")]
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps(row(sources=sources, source="s1")), encoding="utf-8")
    attributor, _, _ = of_queries(read_queries(path))
    assert attributor.stretches.keys == ("w",)
    assert attributor.by_words(Target.between("", "y", "")).argmax() == 1


@pytest.mark.parametrize(
    "given",
    [
        {"sources": [{"id": "s1", "text": "one"}, {"id": "s1", "text": "two"}]},
        {"source": "s9"},
        {"span": [1]},
        {"span": [5, 99_999]},
        {"query": 1},
    ],
    ids=["another text", "source", "span", "out", "type"],
)
def test_a_damaged_file_of_queries_is_refused(tmp_path, given):
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps(row(**given)), encoding="utf-8")
    with pytest.raises(BadBenchmark):
        read_queries(path)


def test_a_passage_is_attributed_and_the_sample_measured_by_command(run, bench, tmp_path):
    bench.ensure_sample()
    essay = tmp_path / "essay.txt"
    essay.write_text(ESSAY, encoding="utf-8")
    assert FERRY.title in run("attribute", essay).out
    ran = run("attribute", ESSAY, "--span", f"{AT[0]}:{AT[1]}", "--format", "json")
    assert json.loads(ran.out)["found"] == [FERRY.id]
    assert FERRY.title in run("attribute", ESSAY, "--library", "all").out
    ranks, found = json.loads(run("evaluate", "sample", "attribution", "--format", "json").out)
    assert {row["by"] for row in ranks["rows"]} == {"stretch", "work"}
    assert len(found["rows"]) == 4
    assert run("attribute", ESSAY, "--span", "all").code == 1
    bell = "A lame postmaster weighed nineteen letters against the drowned bishop's silver bell."
    bench.store.works.add(make_work([["The tide was low.", bell]], title="The Bell"))
    both = f"{ESSAY} Elsewhere {bell} So it goes with rivers and with lamps."
    (other,) = json.loads(run("attribute", both, "--format", "json").out)["others"]
    assert f"{other['start']}:{other['end']}" in run("attribute", both).out
    assert FERRY.title in run("attribute", f"{QUOTED} " * 5).out  # longer than a name of a file
    assert run("attribute", essay.with_name("esay.txt")).code == 1
    assert run("evaluate", essay.with_suffix(".jsonl"), "attribution", "--sample", 1).code == 1  # there is no such file
