"""The cross-encoder: what it reads, that batches make no difference, what is said of bad files and claims."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch

from relic_core.domain import Claim, Span
from relic_core.encoders import batching, joint_reader
from relic_core.encoders.cards import RerankerCard, read_reranker
from relic_core.encoders.cross_encoder import CrossEncoder, JointTexts, Passage
from relic_core.encoders.joint_reader import Rows
from relic_core.errors import BadClaim, BadWeights, JobCancelled, RelicError
from relic_core.ports import silent
from tests.making import make_work
from tests.making_rerankers import WAYS, make_card, make_cross_encoder
from tests.making_training import make_novel
from tests.tiny_models import roberta

NOVEL = make_novel()
CLAIM = Claim("he claims the ferry is far , the coin it says :", "and so the ferry was near", masked=True)
SPANS = [Span(start, 1 + start % 3) for start in (7, 3, 30, 12, 41, 3)]


@pytest.fixture(scope="module", params=WAYS)
def folder(request, base, tmp_path_factory):
    return make_cross_encoder(tmp_path_factory.mktemp("made") / "model", base, **WAYS[request.param])


@pytest.fixture
def encoder(folder):
    return CrossEncoder(folder, precision="float32")


@pytest.fixture
def writable(folder, tmp_path):
    """Return a copy of a reranker that may be spoilt."""
    return shutil.copytree(folder, tmp_path / "copy")


def score(encoder, claim=CLAIM, spans=SPANS, work=NOVEL):
    return encoder.rerank(claim, work, spans, silent)


# ---------------------------------------------------------------- scores


def test_every_span_has_a_score_in_the_order_asked(encoder):
    scores = score(encoder)
    assert scores.dtype == np.float32
    assert scores.shape == (6,)
    assert scores[1] == pytest.approx(scores[5], abs=1e-5)
    assert len(np.unique(scores.round(5))) == 5
    np.testing.assert_allclose(score(encoder, spans=SPANS[::-1]), scores[::-1], atol=1e-5)


def test_no_spans_have_no_scores(encoder):
    assert score(encoder, spans=[]).shape == (0,)


def test_what_goes_through_together_makes_no_difference(encoder, monkeypatch):
    whole = score(encoder)
    monkeypatch.setitem(batching.TOKENS, "cpu", 1)
    np.testing.assert_allclose(score(encoder), whole, atol=1e-5)


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_together_is_the_model_as_transformers_runs_it(base, tmp_path, pooling):
    folder = make_cross_encoder(tmp_path / "model", base, reading="together", pooling=pooling)
    encoder = CrossEncoder(folder, precision="float32")
    texts, reader = encoder._texts, encoder._reader
    read = texts.claim(CLAIM)
    for span, found in zip(SPANS, score(encoder), strict=True):
        row = texts.passage(texts.passage_of(NOVEL, span), read)
        kinds = torch.tensor([[0] * len(read) + [1] * len(row.ids)])
        with torch.no_grad():
            states = reader.model(input_ids=torch.tensor([read + row.ids]), token_type_ids=kinds).last_hidden_state[0]
        own = states[len(read) :][row.start : row.end].mean(0) if pooling == "mean" else states[0]
        assert found == pytest.approx(float(reader.head(own).detach()), abs=1e-4)


def test_claim_first_is_the_model_with_the_claim_not_seeing_the_passage(base, tmp_path):
    encoder = CrossEncoder(make_cross_encoder(tmp_path / "model", base), precision="float32")
    texts, reader = encoder._texts, encoder._reader
    read = texts.claim(CLAIM)
    for span, found in zip(SPANS, score(encoder), strict=True):
        row = texts.passage(texts.passage_of(NOVEL, span), read)
        ids = torch.tensor([read + row.ids])
        mask = torch.zeros(1, 1, ids.shape[1], ids.shape[1])
        mask[:, :, : len(read), len(read) :] = torch.finfo(torch.float32).min
        kinds = torch.tensor([[0] * len(read) + [1] * len(row.ids)])
        with torch.no_grad():
            states = reader.model.embeddings(input_ids=ids, token_type_ids=kinds)
            for layer in reader.model.encoder.layer:
                states = layer(states, mask)
        own = states[0, len(read) :][row.start : row.end].mean(0)
        assert found == pytest.approx(float(reader.head(own).detach()), abs=1e-4)


@pytest.mark.parametrize("way", ["likeness", "together, likeness"])
def test_a_likeness_is_what_a_dual_encoder_says_until_gates_open_the_passage_to_the_claim(base, tmp_path, way):
    encoder = CrossEncoder(make_cross_encoder(tmp_path / "model", base, **WAYS[way]), precision="float32")
    texts, reader = encoder._texts, encoder._reader
    with torch.no_grad():
        reader.gates.fill_(-10.0)  # shut for good
    read = texts.claim(CLAIM)
    with torch.no_grad():
        claim = reader.model(input_ids=torch.tensor([read])).last_hidden_state[0].mean(0)
    apart = []
    for span in SPANS:
        row = texts.passage(texts.passage_of(NOVEL, span), read)
        with torch.no_grad():
            states = reader.model(input_ids=torch.tensor([row.ids])).last_hidden_state[0]
        own = states[row.start : row.end].mean(0)
        apart.append(20.0 * float(torch.nn.functional.cosine_similarity(claim, own, dim=0)))
    assert score(encoder) == pytest.approx(apart, abs=1e-3)
    with torch.no_grad():
        reader.gates.fill_(0.1)
    assert np.abs(score(encoder) - apart).max() > 0.01


def test_read_together_no_padding_stands_between_claim_and_passage(base, tmp_path, monkeypatch):
    seen = []
    states = joint_reader.JointReader._states
    monkeypatch.setattr(
        joint_reader.JointReader,
        "_states",
        lambda self, ids, *rest: seen.append(ids) or states(self, ids, *rest),
    )
    reader = CrossEncoder(make_cross_encoder(tmp_path / "model", base, **WAYS["together"]))._reader
    claims, passages = torch.tensor([[7, 8, 9], [7, 0, 0]]), torch.tensor([[5, 6], [5, 0]])
    read = reader.read_claims(claims, torch.tensor([3, 1]))
    reader.scores(read, Rows(passages, torch.tensor([2, 1]), torch.tensor([1, 0]), torch.zeros(2), torch.ones(2)))
    assert [row.tolist()[:length] for row, length in zip(seen[0], (3, 4), strict=True)] == [[7, 5, 6], [7, 8, 9, 5]]


def test_a_claim_that_is_read_first_goes_through_the_model_once(base, tmp_path, monkeypatch):
    seen = []
    states = joint_reader.JointReader._states
    monkeypatch.setattr(
        joint_reader.JointReader,
        "_states",
        lambda self, ids, *rest: seen.append(ids.shape) or states(self, ids, *rest),
    )
    monkeypatch.setitem(batching.TOKENS, "cpu", 60)
    encoder = CrossEncoder(make_cross_encoder(tmp_path / "model", base), precision="float32")
    score(encoder)
    claim, *passages = seen
    assert claim == (1, len(encoder._texts.claim(CLAIM)))
    assert len(passages) > 1
    assert sum(rows for rows, _ in passages) == len(SPANS)


@pytest.mark.parametrize("way", WAYS)
def test_a_roberta_can_be_a_reranker(tmp_path, way):
    base = roberta(tmp_path / "base")
    folder = make_cross_encoder(tmp_path / "model", base, **WAYS[way], mask="")
    encoder = CrossEncoder(folder, precision="float32")
    assert encoder._texts.between == [2, 2]
    whole = score(encoder)
    alone = [score(encoder, spans=[span])[0] for span in SPANS]
    np.testing.assert_allclose(whole, alone, atol=1e-5)


# ---------------------------------------------------------------- what is read


def texts_of(base, **card):
    return JointTexts(make_card(**card), str(base), precision="float32")


def words(texts, ids):
    return [texts.tower.tokenizer.id_to_token(each) for each in ids]


def test_a_long_claim_is_cut_around_its_mask(base):
    texts = texts_of(base)
    read = words(texts, texts.claim(Claim("far " * 30 + "river", "quay" + " near" * 30, masked=True)))
    assert len(read) == 18
    assert read[0] == "[CLS]"
    assert read[-1] == "[SEP]"
    at = read.index("[MASK]")
    assert (read[at - 1], read[at + 1]) == ("river", "quay")
    assert 7 <= at <= 10


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (Claim("", "the river", masked=True), ["[CLS]", "[MASK]", "the", "river", "[SEP]"]),
        (Claim("the river", "", masked=True), ["[CLS]", "the", "river", "[MASK]", "[SEP]"]),
        (Claim("the river"), ["[CLS]", "the", "river", "[SEP]"]),
    ],
    ids=["mask first", "mask last", "no mask"],
)
def test_a_mask_may_stand_at_either_end_or_be_missing(base, encoder, claim, expected):
    texts = texts_of(base)
    assert words(texts, texts.claim(claim)) == expected
    assert np.isfinite(score(encoder, claim)).all()


def test_a_passage_is_cut_at_its_end_to_the_room_that_the_claim_leaves(base):
    texts = texts_of(base)
    claim = texts.claim(Claim("the river is near"))
    row = texts.passage(Passage("coin " + "fox " * 80 + "lamp"), claim)
    assert len(row.ids) - 1 == 40 - 4
    assert words(texts, row.ids)[:2] == ["coin", "fox"]
    assert words(texts, row.ids)[-1] == "[SEP]"
    assert (row.start, row.end) == (0, 36)


def test_a_passage_longer_than_the_window_is_scored(encoder):
    work = make_work([["coin " * 300 + "."], ["the river ."]])
    scores = score(encoder, spans=[Span(0, 1), Span(1, 1), Span(0, 2)], work=work)
    assert np.isfinite(scores).all()
    assert scores[0] == pytest.approx(scores[2], abs=1e-5)


def test_neighbours_are_read_within_the_chapter_and_do_not_count_as_the_passage(base):
    work = make_work([["fox .", "coin .", "lamp ."]], [["quay .", "river ."]])
    texts = texts_of(base, context=1)
    claim = texts.claim(Claim("the river"))
    assert texts.passage_of(work, Span(1, 1)) == Passage("coin .", "fox .", "lamp .")
    assert texts.passage_of(work, Span(2, 1)) == Passage("lamp .", "coin .", "")
    assert texts.passage_of(work, Span(3, 2)) == Passage("quay . river .", "", "")
    row = texts.passage(texts.passage_of(work, Span(1, 1)), claim)
    assert words(texts, row.ids[row.start : row.end]) == ["coin", "."]
    assert words(texts, row.ids) == ["fox", ".", "coin", ".", "lamp", ".", "[SEP]"]
    long = texts.passage(Passage("coin " * 33, "fox " * 9, "lamp " * 9), claim)
    assert long.end - long.start == 33
    assert words(texts, long.ids).count("fox") + words(texts, long.ids).count("lamp") == 5


def test_neighbours_change_a_score(base, tmp_path):
    alone, within = (
        CrossEncoder(make_cross_encoder(tmp_path / str(context), base, context=context), precision="float32")
        for context in (0, 1)
    )
    assert not np.allclose(score(alone), score(within), atol=1e-4)


def test_a_passage_without_a_token_is_scored_by_what_closes_it(encoder):
    work = make_work([["\u00ad", "the river ."]])
    assert np.isfinite(score(encoder, spans=[Span(0, 1), Span(1, 1)], work=work)).all()


@pytest.mark.parametrize("claim", [Claim(""), Claim("  ", " ", masked=True), Claim("—", "…“”", masked=True)])
def test_a_claim_without_words_is_refused(encoder, claim):
    with pytest.raises(BadClaim, match="no words"):
        score(encoder, claim)


# ---------------------------------------------------------------- what is told


def test_progress_is_told_to_the_end_and_can_stop_it(encoder, monkeypatch):
    told = []
    encoder.rerank(CLAIM, NOVEL, SPANS, lambda done, total, note="": told.append((done, total)))
    assert told[0] == (0, 6)
    assert told[-1] == (6, 6)

    def stop(*_):
        raise JobCancelled("asked to stop")

    with pytest.raises(JobCancelled):
        encoder.rerank(CLAIM, NOVEL, SPANS, stop)


def test_the_configuration_names_all_that_decides_a_score(base, tmp_path):
    one = CrossEncoder(make_cross_encoder(tmp_path / "one", base), precision="float32")
    other = CrossEncoder(make_cross_encoder(tmp_path / "other", base, window=41), precision="bfloat16")
    apart = {name for name in one.configuration if one.configuration[name] != other.configuration[name]}
    assert apart == {"window", "precision"}
    assert one.configuration["reranker"] == one.name == "tiny"
    assert all(isinstance(part, str) and part for pair in one.configuration.items() for part in pair)


def test_where_memory_runs_out_smaller_batches_are_taken(encoder, monkeypatch):
    whole = score(encoder)
    scores = joint_reader.JointReader.scores

    def little(self, claims, rows):
        if len(rows.ids) > 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return scores(self, claims, rows)

    monkeypatch.setattr(joint_reader.JointReader, "scores", little)
    np.testing.assert_allclose(score(encoder), whole, atol=1e-5)


def test_where_there_is_no_memory_for_one_it_is_said(encoder, monkeypatch):
    def none(*_):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(joint_reader.JointReader, "scores", none)
    with pytest.raises(RelicError, match=r"Memory .* tiny"):
        score(encoder)


def test_scores_that_are_no_numbers_are_said(encoder):
    with torch.no_grad():
        encoder._reader.head.weight.fill_(float("nan"))
    with pytest.raises(RelicError, match="not numbers"):
        score(encoder)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_file_damaged_by_one_byte_is_refused(writable, name):
    content = bytearray((writable / name).read_bytes())
    content[-2] ^= 1
    (writable / name).write_bytes(content)
    with pytest.raises(BadWeights, match="is damaged"):
        CrossEncoder(writable)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_file_that_is_missing_is_named(writable, name):
    (writable / name).unlink()
    with pytest.raises(BadWeights, match=f"lacks {name}"):
        CrossEncoder(writable)


def test_a_folder_that_is_not_there_and_an_encoder_are_no_rerankers(base, tmp_path):
    with pytest.raises(BadWeights, match="no folder"):
        CrossEncoder(tmp_path / "nowhere")
    with pytest.raises(BadWeights, match=r"no reranker\.json"):
        CrossEncoder(base)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"reading": "twice"}, r'"reading": "twice"'),
        (
            {"reading": "claim first", "pooling": "first"},
            r'"pooling": "first"',
        ),
        ({"context": 2}, r'"context": 2'),
        ({"context": True}, r'"context": true'),
        ({"window": 20}, r'"window": 20'),
        ({"claim_tokens": "many"}, r'"claim_tokens": "many"'),
        ({"mask": 3}, r'"mask": 3'),
        ({"name": ""}, r'"name": ""'),
        ({"layers": 3}, r"'layers'"),
    ],
)
def test_a_card_that_cannot_be_followed_is_refused(writable, said, message):
    path = writable / "reranker.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **said}), encoding="utf-8")
    with pytest.raises(BadWeights, match=message):
        read_reranker(writable)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"window": 3}'])
def test_a_card_that_is_no_card_is_refused(writable, content):
    (writable / "reranker.json").write_text(content, encoding="utf-8")
    with pytest.raises(BadWeights, match=r"reranker\.json"):
        read_reranker(writable)


def test_weights_without_a_head_are_refused(base, writable):
    shutil.copyfile(base / "model.safetensors", writable / "model.safetensors")
    card = json.loads((writable / "reranker.json").read_text(encoding="utf-8"))
    with pytest.raises(BadWeights, match="damaged"):
        CrossEncoder(writable)
    from relic_core.encoders.weights import find_model

    card["digest"] = find_model(str(writable)).digest
    (writable / "reranker.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(BadWeights, match=r"'head\.weight'"):
        score(CrossEncoder(writable))


def test_a_window_larger_than_the_model_s_is_refused_when_it_is_loaded(base, tmp_path):
    with pytest.raises(BadWeights, match="64 tokens"):
        make_cross_encoder(tmp_path / "model", base, window=80)


def test_a_default_card_reads_claims_once():
    assert RerankerCard(name="a").reading == "claim first"
