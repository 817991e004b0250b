"""Training a dual encoder: it learns, can be stopped and resumed, keeps the best, and says in words what goes wrong."""

from __future__ import annotations

import errno
import json
import os
import signal
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from relic_core.domain import Claim
from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import PassageEncoder
from relic_core.errors import BadRequest, BadWeights, StoreFull
from relic_core.training import checkpoints, trainer
from relic_core.training.models import DualEncoder
from relic_core.training.recipes import RECIPES
from tests.making_training import Reports, make_base, make_novel, make_pairs, make_recipe, make_windows, train_on
from tests.tiny_models import roberta

PAIRS = make_pairs(24)
NOVEL = make_novel()
WINDOWS = make_windows(NOVEL, 4)


def run(base, folder, pairs=PAIRS, windows=WINDOWS, *, recipe=None, **given):
    return train_on(recipe or make_recipe(base), pairs, windows, folder, work=lambda _: NOVEL, **given)


def weights(folder):
    return {
        f"{tower} {name}": tensor
        for tower in ("claims", "passages")
        for name, tensor in load_file(folder / tower / "model.safetensors").items()
    }


# ---------------------------------------------------------------- what is made


def test_it_learns_and_what_it_makes_can_be_searched_with_at_once(base, tmp_path):
    reports = Reports()
    recipe = make_recipe(base, epochs=20.0, share=0.0, learning_rate=0.003)
    made = run(base, tmp_path, recipe=recipe, report=reports)
    steps = reports.of("step")
    assert made.finished
    assert made.steps == made.of == len(steps)
    assert np.mean([step["loss"] for step in steps[-5:]]) < 0.7 * np.mean([step["loss"] for step in steps[:5]])
    card = read_card(str(made.folder / "encoder.json"))
    assert (card.mask, card.window, card.spans) == ("[MASK]", 32, "in context")
    encoder = LateChunkingEncoder(card, precision="float32")
    sums, _counts = encoder.encode_sentences(NOVEL, lambda *_: None)
    assert sums.shape == (60, 16)
    pair = PAIRS[0]
    claim = Claim(" ".join(pair.left), " ".join(pair.right), masked=True)
    vector = encoder.encode_claims([claim])
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
    assert not np.allclose(vector, encoder.encode_claims([replace(claim, masked=False)]))


def test_every_step_is_reported(base, tmp_path):
    reports = Reports()
    run(base, tmp_path, report=reports)
    assert reports[0] == {"event": "begins", "step": 0, "of": 12, "pairs": 24, "windows": 4}
    steps = reports.of("step")
    assert [step["step"] for step in steps] == list(range(1, 13))
    for step in steps:
        assert step["loss"] > 0
        assert step["tokens"] > step["examples"] > 0
        assert step["memory_mib"] > 1
        assert step["examples_per_second"] == pytest.approx(step["examples"] / step["step_seconds"])
    assert max(step["learning_rate"] for step in steps) == pytest.approx(0.01)


def test_the_time_of_a_step_is_its_own_and_not_that_of_a_validation_or_a_checkpoint(base, tmp_path, monkeypatch):
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(trainer, "time", clock)
    forward, seal = DualEncoder.forward, checkpoints.seal

    def later(seconds):
        clock.now += seconds

    monkeypatch.setattr(DualEncoder, "forward", lambda self, **given: (later(1.0), forward(self, **given))[1])
    monkeypatch.setattr(checkpoints, "seal", lambda *given: (later(50.0), seal(*given))[1])
    reports = Reports()
    recipe = make_recipe(base, validate_every=2, steps=6)
    validate = lambda _: (later(100.0), {"recall@10": clock.now})[1]  # noqa: E731
    made = run(base, tmp_path, recipe=recipe, report=reports, validate=validate, checkpoint_seconds=0.0)
    assert [step["step_seconds"] for step in reports.of("step")] == [1.0] * made.of
    assert reports.of("validation")[0]["took"] == 100.0
    assert made.seconds >= 100.0 * made.of / 2


def test_the_record_says_what_made_the_model(base, tmp_path):
    recipe = make_recipe(base)
    made = run(base, tmp_path, recipe=recipe)
    record = json.loads((made.folder / "training.json").read_text(encoding="utf-8"))
    assert record["recipe"] == recipe.to_json()
    assert record["recipe_digest"] == recipe.digest
    assert (record["pairs"], record["windows"], record["seed"]) == (24, 4, recipe.seed)
    assert record["versions"]["torch"] == torch.__version__


def test_weights_are_float32_and_frozen_embeddings_are_the_base_s(base, tmp_path):
    made = weights(run(base, tmp_path).folder)
    before = load_file(base / "model.safetensors")
    assert {tensor.dtype for tensor in made.values()} == {torch.float32}
    for tower in ("claims", "passages"):
        for name, tensor in before.items():
            same = torch.equal(made[f"{tower} {name}"], tensor)
            if name.startswith(("embeddings.", "pooler.")):
                assert same, name
            elif "query.weight" in name:
                assert not same, name


def test_the_same_seed_makes_the_same_weights(base, tmp_path):
    one, other = (weights(run(base, tmp_path / name).folder) for name in ("one", "other"))
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_adapters_are_trained_and_added_in(base, tmp_path):
    made = weights(run(base, tmp_path, recipe=make_recipe(base, lora_rank=2)).folder)
    before = load_file(base / "model.safetensors")
    assert {name.split(" ", 1)[1] for name in made} == set(before)
    name = "encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(made[f"claims {name}"], before[name])


def test_one_encoder_for_both_is_written_once(base, tmp_path):
    made = run(base, tmp_path, recipe=make_recipe(base, shared=True))
    card = read_card(str(made.folder / "encoder.json"))
    assert card.query_model == card.passage_model
    assert not (made.folder / "passages").exists()


def test_the_paper_s_recipe_runs_with_a_roberta(tmp_path):
    base = roberta(tmp_path / "roberta", positions=66)
    paper = RECIPES["paper"].with_(
        base=str(base), epochs=1, batch=12, window=60, claim_tokens=60, passage_tokens=60, mask=False
    )
    made = run(base, tmp_path / "run", recipe=paper)
    card = read_card(str(made.folder / "encoder.json"))
    assert (card.pooling, card.similarity, card.spans) == ("first", "dot", "alone")
    assert PassageEncoder(card, precision="float32").encode_passages(["the river was near"]).shape == (1, 16)


# ---------------------------------------------------------------- stopping and going on


@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_a_training_that_was_stopped_ends_with_the_weights_of_one_that_was_not(base, tmp_path, dropout):
    recipe = make_recipe(base, dropout=dropout)
    whole = run(base, tmp_path / "whole", recipe=recipe)
    reports = Reports()
    stopped = run(base, tmp_path / "parts", recipe=recipe, report=reports, stop=lambda: len(reports.of("step")) >= 4)
    assert not stopped.finished
    assert not stopped.folder.exists()
    again = Reports()
    resumed = run(base, tmp_path / "parts", recipe=recipe, report=again)
    assert resumed.finished
    assert again[0]["step"] == stopped.steps
    assert [step["step"] for step in again.of("step")] == list(range(stopped.steps + 1, 13))
    assert resumed.seconds > stopped.seconds
    one, other = weights(whole.folder), weights(resumed.folder)
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_a_signal_to_end_leaves_a_checkpoint(base, tmp_path):
    before = signal.getsignal(signal.SIGTERM)

    def report(event, step, **_):
        if (event, step) == ("step", 3):
            os.kill(os.getpid(), signal.SIGTERM)

    made = run(base, tmp_path, report=report)
    assert not made.finished
    assert made.steps == 4  # the signal came while the third was being reported
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == [f"checkpoint-{made.steps}"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_checkpoints_are_few_and_nothing_half_made_stays(base, tmp_path):
    reports = Reports()
    run(base, tmp_path, report=reports, checkpoint_seconds=0.0)
    assert [said["step"] for said in reports.of("checkpoint")] == list(range(1, 13))
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["checkpoint-11", "checkpoint-12"]
    assert not list(tmp_path.rglob("*.half"))


@pytest.fixture
def stopped(base, tmp_path):
    """Return the folder of a training that was stopped early, with two checkpoints."""
    reports = Reports()
    run(base, tmp_path, report=reports, stop=lambda: len(reports.of("step")) >= 2, checkpoint_seconds=0.0)
    assert len(list((tmp_path / "checkpoints").iterdir())) == 2
    return tmp_path


def test_a_checkpoint_of_other_data_is_refused(base, stopped):
    with pytest.raises(BadRequest, match="other examples"):
        run(base, stopped, PAIRS[1:])


def test_where_the_last_checkpoint_is_damaged_the_one_before_is_taken(base, stopped):
    last = max((stopped / "checkpoints").iterdir(), key=lambda path: path.name)
    flipped = bytearray((last / "trained.safetensors").read_bytes())
    flipped[-1] ^= 1
    (last / "trained.safetensors").write_bytes(flipped)
    reports = Reports()
    assert run(base, stopped, report=reports).finished
    assert f"checkpoint-{reports[0]['step'] + 1}" == last.name


def test_where_all_checkpoints_are_damaged_it_is_said(base, stopped):
    for path in (stopped / "checkpoints").iterdir():
        (path / "optimizer.pt").unlink()
    with pytest.raises(BadWeights, match=r"optimizer\.pt"):
        run(base, stopped)


@pytest.mark.parametrize("recipe", [{}, {"validate_every": 2, "patience": 1}], ids=["to its end", "given up"])
def test_to_resume_what_is_finished_changes_nothing(base, tmp_path, recipe):
    scores = iter([2.0, 1.0])
    recipe = make_recipe(base, **recipe)
    validate = (lambda _: {"recall@10": next(scores)}) if recipe.validate_every else None
    made = run(base, tmp_path, recipe=recipe, validate=validate)
    before = weights(made.folder)
    again = run(base, tmp_path, recipe=recipe, validate=validate)
    assert (again.finished, again.steps, again.figures) == (True, made.steps, made.figures)
    assert made.steps == (4 if recipe.patience == 1 else 12)
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights(again.folder).items())


def test_what_a_killed_process_left_half_written_is_cleared_up(base, stopped):
    kept = stopped / "checkpoints"
    for half in (kept / ".checkpoint-7.half", stopped / ".candidate.half"):
        half.mkdir()
        (half / "trained.safetensors").write_bytes(b"half")
    last = max(path.name for path in kept.glob("checkpoint-*"))
    (kept / last).rename(kept / f".{last}.old")
    reports = Reports()
    assert run(base, stopped, report=reports).finished
    assert f"checkpoint-{reports[0]['step']}" == last
    assert not list(stopped.rglob(".*"))


# ---------------------------------------------------------------- validation


def test_the_best_weights_are_kept_and_training_stops_when_nothing_is_better(base, tmp_path):
    scores = iter([1.0, 3.0, 2.0, 1.0, 9.0])
    seen = []

    def validate(folder):
        seen.append(weights(folder))
        return {"recall@10": next(scores), "median": 7}

    reports = Reports()
    recipe = make_recipe(base, validate_every=2, patience=2)
    made = run(base, tmp_path, recipe=recipe, validate=validate, report=reports)
    assert made.finished
    assert made.steps == 8
    assert made.figures == {"recall@10": 3.0, "median": 7.0, "step": 4}
    assert [said["recall@10"] for said in reports.of("validation")] == [1.0, 3.0, 2.0, 1.0]
    kept = weights(made.folder)
    assert all(torch.equal(tensor, seen[1][name]) for name, tensor in kept.items())
    assert not all(torch.equal(tensor, seen[3][name]) for name, tensor in kept.items())
    record = json.loads((made.folder / "training.json").read_text(encoding="utf-8"))
    assert record["figures"]["recall@10"] == 3.0


def test_what_was_validated_before_a_stop_still_counts_after(base, tmp_path):
    recipe = make_recipe(base, validate_every=2)
    reports = Reports()
    stop = lambda: len(reports.of("step")) >= 3  # noqa: E731
    run(base, tmp_path, recipe=recipe, validate=lambda _: {"recall@10": 5.0}, report=reports, stop=stop)
    best = weights(tmp_path / "model")
    made = run(base, tmp_path, recipe=recipe, validate=lambda _: {"recall@10": 4.0})
    assert made.figures["step"] == 2
    assert all(torch.equal(tensor, best[name]) for name, tensor in weights(made.folder).items())


def test_a_figure_that_is_watched_and_not_given_is_said(base, tmp_path):
    with pytest.raises(BadRequest, match=r"watches recall@10, .* It gives loss"):
        run(base, tmp_path, recipe=make_recipe(base, validate_every=1), validate=lambda _: {"loss": 1.0})


# ---------------------------------------------------------------- what goes wrong


def test_a_base_without_a_mask_token_is_refused_where_the_recipe_wants_one(tmp_path):
    base = make_base(tmp_path / "base", mask=False)
    with pytest.raises(BadWeights, match=r"mask token .* mask to false"):
        run(base, tmp_path / "run")
    assert run(base, tmp_path / "run", recipe=make_recipe(base, mask=False)).finished


def test_a_full_disk_at_a_checkpoint_is_said_and_the_one_before_is_kept(base, tmp_path, monkeypatch):
    save, calls = trainer.save_file, []

    def full(tensors, path):
        calls.append(path)
        if len(calls) == 3:
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        save(tensors, path)

    monkeypatch.setattr(trainer, "save_file", full)
    with pytest.raises(StoreFull, match=r"no room .*checkpoint-3"):
        run(base, tmp_path, checkpoint_seconds=0.0)
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["checkpoint-1", "checkpoint-2"]
    monkeypatch.undo()
    assert run(base, tmp_path).finished


def test_a_disk_that_is_full_while_torch_writes_is_said_too(base, tmp_path, monkeypatch):
    def full(*_):
        raise RuntimeError("[enforce fail at inline_container.cc:664] . unexpected pos 64 vs 0")

    monkeypatch.setattr(trainer.Loop, "_save_optimizer_and_scheduler", full)
    with pytest.raises(StoreFull):
        run(base, tmp_path, checkpoint_seconds=0.0)
    assert not list((tmp_path / "checkpoints").iterdir())


def test_a_checkpoint_of_another_version_is_told_so_whatever_else_it_holds(tmp_path):
    path = tmp_path / "checkpoint-1"
    path.mkdir()
    (path / checkpoints.MANIFEST).write_text('{"version": 2, "of_later": true}', encoding="utf-8")
    origin = checkpoints.Origin(recipe={}, recipe_digest="", data_digest="", base_digest="")
    with pytest.raises(BadRequest, match="another version"):
        checkpoints.last_good(tmp_path, origin)
