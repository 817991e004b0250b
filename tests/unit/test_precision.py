"""Where an encoder computes and in what number format; what happens when memory runs out."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from relic_core.domain import Claim
from relic_core.encoders import batching, precision
from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.precision import Arithmetic, best_arithmetic, gpu_arithmetic, seems_to_have_gpu
from relic_core.encoders.towers import PassageEncoder, TowerPair
from relic_core.errors import RelicError
from relic_core.ports import silent
from tests import tiny_models
from tests.making import make_work


def cuda(*, available=True, bf16=True):
    return SimpleNamespace(
        is_available=lambda: available, is_bf16_supported=lambda including_emulation=True: bf16 or including_emulation
    )


@pytest.fixture
def fresh():
    best_arithmetic.cache_clear()
    yield
    best_arithmetic.cache_clear()


# ---------------------------------------------------------------- which


def test_a_gpu_computes_in_bfloat16_where_its_hardware_has_it_and_else_in_float16():
    assert gpu_arithmetic(cuda()) == Arithmetic("bfloat16", "cuda")
    assert gpu_arithmetic(cuda(bf16=False)) == Arithmetic("float16", "cuda")


def test_a_gpu_that_torch_cannot_use_is_none():
    assert gpu_arithmetic(cuda(available=False)) is None


@pytest.mark.parametrize(
    ("driver", "tool", "torch", "seems"),
    [
        (True, None, "2.13.0+cu130", True),
        (False, "/usr/bin/nvidia-smi", "2.13.0", True),
        (False, None, "2.13.0+cu130", False),
        (True, "/usr/bin/nvidia-smi", "2.13.0+cpu", False),
    ],
)
def test_a_gpu_is_looked_for_where_there_is_a_driver_and_torch_is_built_for_one(
    tmp_path, monkeypatch, driver, tool, torch, seems
):
    monkeypatch.setattr(precision.shutil, "which", lambda name: tool)
    monkeypatch.setattr(precision.metadata, "version", lambda name: torch)
    path = tmp_path / "nvidiactl"
    if driver:
        path.touch()
    assert seems_to_have_gpu((path,)) is seems


def test_the_gpu_goes_before_the_processor(monkeypatch, fresh):
    import torch

    monkeypatch.setattr(precision, "seems_to_have_gpu", lambda: True)
    monkeypatch.setattr(torch, "cuda", cuda(bf16=False))
    assert best_arithmetic() == Arithmetic("float16", "cuda")
    monkeypatch.setattr(torch, "cuda", cuda(available=False))
    best_arithmetic.cache_clear()
    assert best_arithmetic().device == "cpu"


def test_where_nothing_looks_like_a_gpu_torch_is_not_imported():
    code = (
        "import sys; from relic_core.encoders import precision; precision.seems_to_have_gpu = lambda: False; "
        "print(precision.best_arithmetic().device, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cpu", "False"]


def test_the_choice_is_part_of_the_identity_and_of_the_facts(monkeypatch):
    def encoder(arithmetic):
        monkeypatch.setattr("relic_core.encoders.towers.best_arithmetic", lambda: arithmetic)
        return LateChunkingEncoder()

    made = [encoder(Arithmetic(*each)) for each in (("bfloat16",), ("bfloat16", "cuda"), ("float16", "cuda"))]
    assert [each.identity.split("/")[2] for each in made] == ["bfloat16", "bfloat16 on cuda", "float16 on cuda"]
    assert [each.facts["device"] for each in made] == ["cpu", "cuda", "cuda"]
    assert LateChunkingEncoder(precision="float32").facts["precision"] == "float32"


def test_the_identity_of_the_packaged_encoder_is_what_it_was():
    assert LateChunkingEncoder(precision="bfloat16").identity == (
        f"all-MiniLM-L6-v2/{LateChunkingEncoder().facts['weights'][:12]}/bfloat16/"
        "one-pass mean, 254 tokens with 32 of context"
    )


# ---------------------------------------------------------------- memory


@pytest.fixture
def bert(tmp_path):
    return read_card(str(tiny_models.bert(tmp_path / "bert")))


WORK = make_work([[f"The ferry number {number} is near the quay." for number in range(60)]], title="The Ferry")


TOO_LITTLE = RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def short_of(monkeypatch, encoder, rows, error=TOO_LITTLE):
    """Let the encoder's model fail where more than some rows are given; return how many rows each pass had."""
    tower = encoder.pair.passages
    model, passes = tower._model, []

    def forward(**given):
        passes.append(len(given["input_ids"]))
        if len(given["input_ids"]) > rows:
            raise error
        return model(**given)

    forward.config = model.config
    monkeypatch.setitem(tower.__dict__, "_model", forward)
    return passes


@pytest.mark.parametrize("error", [RuntimeError("CUDA out of memory."), MemoryError()])
def test_where_memory_runs_out_batches_are_halved_and_the_vectors_are_the_same(bert, monkeypatch, error):
    encoder = LateChunkingEncoder(bert, precision="float32", stretch=40, context=8)
    whole = encoder.encode_sentences(WORK, silent)
    passes = short_of(monkeypatch, encoder, 3, error)
    halved = encoder.encode_sentences(WORK, silent)
    np.testing.assert_allclose(halved[0], whole[0], atol=1e-4)
    np.testing.assert_array_equal(halved[1], whole[1])
    failed = [rows for rows in passes if rows > 3]
    assert len(failed) >= 2
    assert passes[: len(failed)] == failed  # once a size has worked, none larger is tried


def test_where_one_row_does_not_fit_the_reader_is_told_what_was_read_and_what_to_do(bert, monkeypatch):
    encoder = LateChunkingEncoder(bert, precision="float32")
    short_of(monkeypatch, encoder, 0)
    with pytest.raises(RelicError, match=r"Memory ran out .* reading 'The Ferry'.*RELIC_MODEL"):
        encoder.encode_sentences(WORK, silent)
    alone = PassageEncoder(bert, precision="float32")
    short_of(monkeypatch, alone, 0, MemoryError())
    with pytest.raises(RelicError, match="reading passages"):
        alone.encode_passages(["a coin"])
    with pytest.raises(RelicError, match="reading a claim"):
        alone.encode_claims([Claim("a coin")])


def test_a_model_too_large_for_memory_is_not_called_damaged(bert, monkeypatch):
    def load(path):
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr("safetensors.torch.load_file", load)
    with pytest.raises(RelicError, match="being loaded"):
        LateChunkingEncoder(bert, precision="float32").encode_claims([Claim("a coin")])


def test_another_fault_of_the_model_is_not_taken_for_a_lack_of_memory(bert, monkeypatch):
    encoder = LateChunkingEncoder(bert, precision="float32")
    short_of(monkeypatch, encoder, 0, RuntimeError("The size of tensor a must match"))
    with pytest.raises(RuntimeError, match="must match"):
        encoder.encode_sentences(WORK, silent)


def test_batches_hold_so_many_tokens_padding_counted_and_every_row_once(monkeypatch):
    lengths = [5, 900, 30, 30, 256, 4, 256]
    monkeypatch.setitem(batching.TOKENS, "cpu", 512)
    run = batching.in_batches(lengths, lambda _: None, device="cpu", too_little=pytest.fail)
    batches = [members for members, _ in run]
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert batches[0] == [1]  # longer than all that is allowed together: by itself
    assert all(len(batch) * lengths[batch[0]] <= 512 for batch in batches[1:])


# ---------------------------------------------------------------- stretches, plans and facts


def test_stretches_and_contexts_can_be_chosen_and_claims_stay_as_they_are(bert):
    claim = Claim("coin " * 300)
    usual = LateChunkingEncoder(bert, precision="float32")
    for stretch, context in ((40, 0), (64, 16), (254, 64)):
        other = LateChunkingEncoder(bert, precision="float32", stretch=stretch, context=context)
        np.testing.assert_array_equal(other.encode_claims([claim]), usual.encode_claims([claim]))
        assert other.identity != usual.identity
        assert (other.facts["stretch_tokens"], other.facts["context_tokens"]) == (stretch, context)
        assert other.facts["overlap_tokens"] == 2 * context
    assert LateChunkingEncoder(bert, precision="float32", stretch=254, context=32).identity == usual.identity


@pytest.mark.parametrize(("stretch", "context"), [(8, 0), (64, 32), (64, -1)])
def test_stretches_that_their_context_fills_are_refused(bert, stretch, context):
    with pytest.raises(RelicError, match="cannot be"):
        LateChunkingEncoder(bert, stretch=stretch, context=context)


def test_facts_say_what_made_the_vectors_and_name_both_towers(tmp_path, bert):
    facts = LateChunkingEncoder(bert, precision="float32").facts
    assert facts["weights"] == TowerPair(bert).passages.files.digest
    assert (facts["pooling"], facts["spans"], facts["precision"]) == ("mean", "in context", "float32")
    assert "claim_weights" not in facts
    folder = tiny_models.dpr(tmp_path / "dpr")
    path = tiny_models.write_card(
        Path(tmp_path / "dpr" / "card.json"),
        query_model=str(folder / "question"),
        passage_model=str(folder / "context"),
    )
    facts = PassageEncoder(read_card(path), precision="float32").facts
    assert facts["claim_weights"] != facts["weights"]
    assert (facts["pooling"], facts["spans"], facts["context_tokens"]) == ("first", "alone", 0)


# ---------------------------------------------------------------- odd works


@pytest.mark.parametrize("sentence", ["coin " * 5000, "coin" * 1250])
def test_a_sentence_of_five_thousand_tokens_is_read_whole(bert, sentence):
    encoder = LateChunkingEncoder(bert, precision="float32")
    sums, counts = encoder.encode_sentences(make_work([["The ferry.", sentence, "The quay."]]), silent)
    assert np.isfinite(sums).all()
    assert (counts > 0).all()
    assert PassageEncoder(bert, precision="float32").encode_passages([sentence]).shape == (1, 16)


def test_an_empty_chapter_changes_nothing(bert):
    encoder = LateChunkingEncoder(bert, precision="float32")
    with_it = make_work(["The ferry is near."], [], ["The quay is far."])
    without = make_work(["The ferry is near."], ["The quay is far."])
    for found, expected in zip(
        encoder.encode_sentences(with_it, silent), encoder.encode_sentences(without, silent), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_a_work_of_one_sentence_and_one_of_none(bert):
    encoder = LateChunkingEncoder(bert, precision="float32")
    sums, counts = encoder.encode_sentences(make_work(["Ferry."]), silent)
    assert sums.shape == (1, 16)
    assert counts.tolist() == [2]
    assert encoder.encode_sentences(make_work(), silent)[0].shape == (0, 16)
