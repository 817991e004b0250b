"""Training a cross-encoder: lists of passages, what is learnt, stopping and going on, what goes wrong."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from relic_core.domain import Claim, Span
from relic_core.encoders.cross_encoder import CrossEncoder, JointTexts
from relic_core.encoders.joint_reader import Rows
from relic_core.errors import BadRequest, BadWeights, StoreFull
from relic_core.ports import silent
from relic_core.training import trainer
from relic_core.training.batching import Planned
from relic_core.training.collating import HardNegatives, Material, RerankerCollator
from relic_core.training.models import RerankerInTraining
from relic_core.training.recipes import RerankerRecipe
from tests.making import make_work
from tests.making_rerankers import WAYS, make_reranker_recipe
from tests.making_training import Reports, make_base, make_novel, make_pairs, make_windows, train_on
from tests.tiny_models import roberta

PAIRS = make_pairs(24)
NOVEL = make_novel()
WINDOWS = make_windows(NOVEL, 4)


def run(base, folder, pairs=PAIRS, windows=WINDOWS, *, recipe=None, **given):
    return train_on(recipe or make_reranker_recipe(base), pairs, windows, folder, work=lambda _: NOVEL, **given)


def weights(folder):
    return load_file(folder / "model.safetensors")


def same(one, other):
    return all(torch.equal(tensor, other[name]) for name, tensor in one.items())


# ---------------------------------------------------------------- lists


def lists_of(base, recipe, hard=None, pairs=PAIRS, windows=WINDOWS):
    texts = JointTexts(recipe.card("[MASK]"), str(base), precision="float32")
    return texts, RerankerCollator(recipe, texts, Material(pairs, windows, lambda _: NOVEL, hard or HardNegatives()))


def passages(texts, batch, claim):
    rows = batch["owners"] == claim
    return [
        texts.tower.tokenizer.decode(row[start:end].tolist())
        for row, start, end in zip(batch["passages"][rows], batch["starts"][rows], batch["ends"][rows], strict=True)
    ]


def test_a_pair_has_its_quotation_then_hard_ones_then_others_of_its_source(base):
    hard = HardNegatives({PAIRS[0].id: ["the soup is near", "a dinner far"]})
    recipe = make_reranker_recipe(base, negatives=4)
    texts, lists = lists_of(base, recipe, hard)
    batch = lists([Planned("pairs", (0, 1), 0)])
    found = passages(texts, batch, 0)
    assert len(found) == 5
    assert found[0] == PAIRS[0].quotation
    assert set(found[1:3]) == {"the soup is near", "a dinner far"}
    of_source = {pair.quotation for pair in PAIRS if pair.source_id == PAIRS[0].source_id}
    assert set(found[3:]) <= of_source - {PAIRS[0].quotation}
    assert passages(texts, batch, 1)[0] == PAIRS[1].quotation


def test_a_window_has_its_span_and_others_of_its_length_that_do_not_overlap_it(base):
    window = WINDOWS[1]
    hard = HardNegatives(windows={window.id: [Span(40, 2), Span(window.gold.start + 1, 2)]})
    texts, lists = lists_of(base, make_reranker_recipe(base, negatives=6), hard)
    spans = lists._spans(window, len(NOVEL.sentences), random.Random(0))
    assert spans[0] == window.gold
    assert spans[1] == Span(40, 2)
    assert len(set(spans)) == 7
    assert all(span.length == 2 and not span.overlaps(window.gold) for span in spans[1:])
    batch = lists([Planned("windows", (1,), 0)])
    assert passages(texts, batch, 0)[0] == " ".join(
        NOVEL.sentence_text(at) for at in range(window.gold.start, window.gold.end)
    )


def test_a_batch_is_the_same_each_time_and_another_in_the_next_round(base):
    _, lists = lists_of(base, make_reranker_recipe(base))
    one, again, later = (lists([Planned("pairs", (0, 1, 2), at)]) for at in (0, 0, 1))
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert any(one[name].shape != later[name].shape or not torch.equal(one[name], later[name]) for name in one)


def test_lists_of_unlike_length_are_told_by_what_is_allowed(base):
    pairs = [*make_pairs(6, sources=1), *make_pairs(25, sources=1)[24:]]
    pairs[-1] = replace(pairs[-1], source_id="alone")
    _, lists = lists_of(base, make_reranker_recipe(base), pairs=pairs)
    batch = lists([Planned("pairs", (0, 6), 0)])
    assert batch["allowed"].tolist() == [[True, True, True, True], [True, False, False, False]]
    assert batch["owners"].tolist() == [0, 0, 0, 0, 1]


# ---------------------------------------------------------------- the loss


@pytest.mark.parametrize("way", WAYS)
def test_the_loss_is_the_cross_entropy_of_each_claim_s_own_list(base, tmp_path, way):
    recipe = make_reranker_recipe(base, **WAYS[way], chunk_tokens=64)
    texts, lists = lists_of(base, recipe)
    torch.manual_seed(0)
    model = RerankerInTraining(recipe, texts._card, texts.tower).eval()
    batch = lists([Planned("pairs", (0, 1, 2), 0)])
    found = model(**batch)["loss"]
    losses = []
    for claim in range(3):
        rows = (batch["owners"] == claim).nonzero().squeeze(1)
        scores = []
        for row in rows:
            length, own = batch["claim_lengths"][claim], batch["passage_lengths"][row]
            read = model.reader.read_claims(batch["claims"][claim : claim + 1, :length], length[None])
            one = torch.tensor([0])
            parts = (batch["passages"][row : row + 1, :own], own[None], one)
            rest = (batch["starts"][row : row + 1], batch["ends"][row : row + 1])
            scores.append(model.reader.scores(read, Rows(*parts, *rest)))
        losses.append(torch.nn.functional.cross_entropy(torch.cat(scores)[None], torch.tensor([0])))
    assert float(found.detach()) == pytest.approx(float(torch.stack(losses).mean().detach()), abs=1e-4)


@pytest.mark.parametrize("way", WAYS)
def test_states_that_are_made_twice_give_the_same_gradient(base, way):
    gradients = []
    for cached in (False, True):
        recipe = make_reranker_recipe(base, **WAYS[way], cached=cached, chunk_tokens=64)
        texts, lists = lists_of(base, recipe)
        torch.manual_seed(0)
        model = RerankerInTraining(recipe, texts._card, texts.tower).train()
        model(**lists([Planned("pairs", (0, 1, 2), 0)]))["loss"].backward()
        gradients.append({name: each.grad for name, each in model.named_parameters() if each.grad is not None})
    assert set(gradients[0]) == set(gradients[1])
    assert any("key.weight" in name for name in gradients[0])
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, atol=1e-5, rtol=1e-4)


# ---------------------------------------------------------------- what is made


@pytest.mark.parametrize("way", WAYS)
def test_it_learns_and_what_it_makes_reranks_at_once(base, tmp_path, way):
    """The others begin otherwise than the quotations: a choice that a tiny model learns in some steps."""
    others = ["the soup is near", "the river was far", "he says the coin is near"]
    hard = HardNegatives({pair.id: others for pair in PAIRS})
    reports = Reports()
    recipe = make_reranker_recipe(base, **WAYS[way], epochs=3.0, share=0.0)
    made = run(base, tmp_path, recipe=recipe, report=reports, hard=hard)
    steps = reports.of("step")
    assert made.finished
    assert made.steps == made.of == len(steps)
    assert np.mean([step["loss"] for step in steps[-3:]]) < 0.5 * np.mean([step["loss"] for step in steps[:3]])
    encoder = CrossEncoder(made.folder, precision="float32")
    assert (encoder.card.reading, encoder.card.mask, encoder.card.window) == (WAYS[way]["reading"], "[MASK]", 48)
    for pair in PAIRS[:6]:
        work = make_work([[pair.quotation, *others]])
        claim = Claim(" ".join(pair.left), " ".join(pair.right), masked=True)
        assert encoder.rerank(claim, work, [Span(at, 1) for at in range(4)], silent).argmax() == 0


def test_every_step_is_reported(base, tmp_path):
    reports = Reports()
    run(base, tmp_path, report=reports)
    assert reports[0] == {"event": "begins", "step": 0, "of": 12, "pairs": 24, "windows": 4}
    for step in reports.of("step"):
        assert step["loss"] > 0
        assert step["tokens"] > step["spans"] * step["examples"] > step["examples"]
        assert 0 <= step["first"] <= 1


def test_the_folder_says_what_made_it(base, tmp_path):
    recipe = make_reranker_recipe(base)
    made = run(base, tmp_path, recipe=recipe)
    assert sorted(path.name for path in made.folder.iterdir()) == [
        "config.json", "model.safetensors", "reranker.json", "tokenizer.json", "training.json",
    ]  # fmt: skip
    record = json.loads((made.folder / "training.json").read_text(encoding="utf-8"))
    assert record["recipe"] == recipe.to_json()
    assert record["recipe_digest"] == recipe.digest
    assert (record["pairs"], record["windows"], record["seed"]) == (24, 4, recipe.seed)


def test_words_stay_those_of_the_base_and_what_tells_passage_from_claim_is_learnt(base, tmp_path):
    made, before = weights(run(base, tmp_path).folder), load_file(base / "model.safetensors")
    assert {tensor.dtype for tensor in made.values()} == {torch.float32}
    assert set(made) == {*before, "head.weight"}
    changed = {name for name, tensor in before.items() if not torch.equal(made[name], tensor)}
    assert {name for name in changed if name.startswith(("embeddings.", "pooler."))} == {
        "embeddings.token_type_embeddings.weight"
    }
    assert "encoder.layer.0.attention.self.query.weight" in changed


def test_of_a_likeness_the_gates_and_the_scale_are_learnt_and_written(base, tmp_path):
    made = weights(run(base, tmp_path, recipe=make_reranker_recipe(base, **WAYS["likeness"])).folder)
    assert set(made) == {*load_file(base / "model.safetensors"), "head.weight", "gates"}
    assert made["gates"].abs().max() > 0
    assert made["head.weight"].shape == (1, 1)
    assert float(made["head.weight"]) != 20.0


def test_of_a_likeness_nothing_tells_passage_from_claim_and_all_embeddings_stay_those_of_the_base(base, tmp_path):
    made = weights(run(base, tmp_path, recipe=make_reranker_recipe(base, **WAYS["likeness"])).folder)
    before = load_file(base / "model.safetensors")
    assert all(torch.equal(made[name], before[name]) for name in before if name.startswith("embeddings."))
    assert any(not torch.equal(made[name], before[name]) for name in before)


def test_adapters_are_trained_and_added_in(base, tmp_path):
    made = run(base, tmp_path, recipe=make_reranker_recipe(base, lora_rank=2)).folder
    before = load_file(base / "model.safetensors")
    assert set(weights(made)) == {*before, "head.weight"}
    name = "encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(weights(made)[name], before[name])


def test_a_roberta_can_be_trained_with_the_first_token_and_neighbours(tmp_path):
    base = roberta(tmp_path / "base", positions=66)
    recipe = make_reranker_recipe(base, reading="together", pooling="first", context=1, mask=False, epochs=1)
    made = run(base, tmp_path / "run", recipe=recipe)
    assert np.isfinite(
        CrossEncoder(made.folder, precision="float32").rerank(Claim("the river"), NOVEL, [Span(3, 2)], silent)
    ).all()


def test_it_can_be_trained_in_bfloat16(base, tmp_path):
    made = run(base, tmp_path, recipe=make_reranker_recipe(base, precision="bfloat16", epochs=1))
    assert made.finished, "no model is there before it ends: was the process told to?"
    assert {tensor.dtype for tensor in weights(made.folder).values()} == {torch.float32}


# ---------------------------------------------------------------- stopping, going on, validating


def test_a_training_that_was_stopped_ends_with_the_weights_of_one_that_was_not(base, tmp_path):
    recipe = make_reranker_recipe(base, dropout=0.2)
    whole = run(base, tmp_path / "whole", recipe=recipe)
    reports = Reports()
    stopped = run(base, tmp_path / "parts", recipe=recipe, report=reports, stop=lambda: len(reports.of("step")) >= 4)
    assert not stopped.finished
    assert not stopped.folder.exists()
    resumed = run(base, tmp_path / "parts", recipe=recipe)
    assert resumed.finished
    assert same(weights(whole.folder), weights(resumed.folder))


def test_a_signal_to_end_leaves_a_checkpoint_of_this_training_alone(base, tmp_path):
    def report(event, step, **_):
        if (event, step) == ("step", 3):
            os.kill(os.getpid(), signal.SIGTERM)

    made = run(base, tmp_path, report=report)
    assert (made.finished, made.steps) == (False, 4)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["checkpoint-4"]
    with pytest.raises(BadRequest, match=r"another configuration \(negatives: 3 then, 2 now\)"):
        run(base, tmp_path, recipe=make_reranker_recipe(base, negatives=2))
    hard = HardNegatives({PAIRS[0].id: ["the soup is near"]})
    with pytest.raises(BadRequest, match="other examples"):
        run(base, tmp_path, hard=hard)


def test_the_best_weights_are_kept(base, tmp_path):
    scores = iter([1.0, 3.0, 2.0, 1.0])
    seen = []

    def validate(folder):
        assert CrossEncoder(folder).card.digest
        seen.append(weights(folder))
        return {"recall@10": next(scores)}

    recipe = make_reranker_recipe(base, validate_every=2, patience=2)
    made = run(base, tmp_path, recipe=recipe, validate=validate)
    assert (made.steps, made.figures) == (8, {"recall@10": 3.0, "step": 4})
    assert same(weights(made.folder), seen[1])
    assert CrossEncoder(made.folder).card.digest


# ---------------------------------------------------------------- what goes wrong


def test_a_full_disk_is_said_and_the_checkpoint_before_is_kept(base, tmp_path, monkeypatch):
    save, calls = trainer.save_file, []

    def full(tensors, path):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(tensors, path)

    monkeypatch.setattr(trainer, "save_file", full)
    with pytest.raises(StoreFull, match=r"no room for .*checkpoint-3"):
        run(base, tmp_path, checkpoint_seconds=0.0)
    monkeypatch.undo()
    assert run(base, tmp_path).finished


def test_a_base_without_a_mask_token_is_refused_where_the_recipe_wants_one(tmp_path):
    base = make_base(tmp_path / "base", mask=False)
    with pytest.raises(BadWeights, match="has no mask token"):
        run(base, tmp_path / "run")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"negatives": 0}, "negatives is 0"),
        ({"negatives": True}, "negatives is true"),
        ({"batch": 1}, "batch is 1"),
        ({"reading": "twice"}, 'reading is "twice"'),
        ({"pooling": "first"}, 'makes no reranker. .*"mean" or "likeness" where reading'),
        ({"window": 201}, "makes no reranker. .*at least 16 more than claim_tokens"),
        ({"hard_negatives": 3}, "no setting of a reranker's recipe called 'hard_negatives'"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused(given, message):
    with pytest.raises(BadRequest, match=message):
        RerankerRecipe.from_json(given)


def test_a_recipe_is_the_same_after_being_written():
    recipe = RerankerRecipe(negatives=3, epochs=2, shapes=(("4/4", 1),))
    again = RerankerRecipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert again == recipe
    assert again.digest == recipe.digest
    assert RerankerRecipe(name="other", negatives=3, epochs=2.0, shapes=(("4/4", 1.0),)).digest == recipe.digest
