"""A training packed here, learnt by a Python with PyTorch and transformers alone, and unpacked to be searched with."""

import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from packaging.requirements import Requirement
from safetensors.torch import load, load_file, save_file

from relic_core.config import Settings
from relic_core.domain import Claim, Span
from relic_core.encoders.cards import read_card
from relic_core.encoders.cross_encoder import CrossEncoder
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.errors import BadRequest, BadWeights
from relic_core.ports import silent
from tests.making_training import make_base, make_novel
from tests.small_training import asked_of, asked_of_reranker, furnished
from tools.gpu import learning, packing
from tools.gpu.batches import Batches, together
from tools.gpu.parts import cut, joined, read_manifest, write_manifest

NOVEL = make_novel()


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """The site-packages of a machine with PyTorch and transformers, and what these need."""
    folder, left, seen = tmp_path_factory.mktemp("site"), ["torch", "transformers"], {"typer"}  # for commands alone
    while left:
        name = left.pop().lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        for top in {Path(str(file)).parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            link = folder / top
            if not link.exists():
                link.symlink_to(Path(str(found.locate_file(top))).resolve())
        wanted = map(Requirement, found.requires or ())
        left += [each.name for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]
    lacking = {"relic_core", "pydantic", "peft", "accelerate", "duckdb", "spacy", "faiss"}
    assert not lacking & {each.name for each in folder.iterdir()}
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A base whose weights bfloat16 holds exactly."""
    folder = make_base(tmp_path_factory.mktemp("base") / "base")
    file = folder / "model.safetensors"
    save_file({name: each.bfloat16().float() for name, each in load_file(file).items()}, file, {"format": "pt"})
    return folder


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    """A tiny encoder in the place of dense-RELiC."""
    return make_base(tmp_path_factory.mktemp("dense") / "dense", positions=256)


@pytest.fixture
def bench(tmp_path, dense):
    return furnished(Settings(data=tmp_path / "data", indexes=tmp_path / "indexes", trained=str(dense)))


def run(folder, there, minutes=5.0, **options):
    given = [f"--minutes={minutes}", *(f"--{key.replace('_', '-')}={value}" for key, value in options.items())]
    environment = {"PYTHONPATH": str(there), "PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-S", "-s", str(folder / "run.py"), *given],
        capture_output=True, text=True, env=environment, cwd="/", check=False,
    )  # fmt: skip


def told(done, event):
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [said for said in lines if said["event"] == event]


def pack(bench, request, folder, **given):
    return packing.pack(bench, request, folder, given.pop("size", 0.01), silent, **given)


def learnt_here(bench, request):
    training = bench.trainings.start(request)
    assert bench.trainings.get(training.id).state == "finished"
    return bench.settings.data / "trainings" / training.id / "model"


# ---------------------------------------------------------------- from beginning to end


def test_an_encoder_learnt_there_is_the_one_that_train_makes_and_searches(bench, base, there, tmp_path):
    request = asked_of(base, steps=6, validate_every=3, cached=True)
    made = pack(bench, request, tmp_path / "packed")
    done = run(tmp_path / "packed", there, back=tmp_path / "back", back_size=0.01)
    validations = told(done, "validation")
    assert [each["step"] for each in validations] == [3, 6]
    for folder in (tmp_path / "packed", tmp_path / "back"):
        parts = read_manifest(folder)["weights"]["parts"]
        assert len(parts) > 1
        assert all(part["bytes"] <= 10_000 for part in parts)
    packing.unpack(tmp_path / "back", tmp_path / "model")
    here = learnt_here(bench, request)
    for tower in ("claims", "passages"):
        ours, theirs = (load_file(folder / tower / "model.safetensors") for folder in (here, tmp_path / "model"))
        assert ours.keys() == theirs.keys()
        for name, tensor in ours.items():
            torch.testing.assert_close(theirs[name], tensor, atol=2e-3, rtol=2e-3)
    record, before = (json.loads((folder / "training.json").read_text()) for folder in (tmp_path / "model", here))
    assert record["data_digest"] == before["data_digest"] == made["record"]["data_digest"]
    assert record["figures"]["recall@10"] == pytest.approx(before["figures"]["recall@10"])
    encoder = LateChunkingEncoder(read_card(str(tmp_path / "model" / "encoder.json")), precision="float32")
    sums, counts = encoder.encode_sentences(NOVEL, silent)
    (claim,) = encoder.encode_claims([Claim("he claims the ferry is far", "", masked=True)])
    assert np.isfinite(sums / counts[:, None] @ claim).all()


def test_a_reranker_learnt_there_is_the_one_that_train_makes_and_reranks(bench, base, there, tmp_path):
    request = asked_of_reranker(base, steps=4, validate_every=2, reading="together", hard="base", start="")
    pack(bench, request, tmp_path / "packed")
    done = run(tmp_path / "packed", there, back=tmp_path / "back")
    record = packing.unpack(tmp_path / "back", tmp_path / "model")
    here = learnt_here(bench, request)
    before = json.loads((here / "training.json").read_text())
    assert told(done, "validation")[-1]["windows"] == 6.0
    assert record["figures"]["recall@10"] == pytest.approx(before["figures"]["recall@10"])
    claim, spans = Claim("he claims the ferry is far", "", masked=True), [Span(0, 1), Span(9, 1)]
    ours, theirs = (
        CrossEncoder(folder, precision="float32").rerank(claim, NOVEL, spans, silent)
        for folder in (here, tmp_path / "model")
    )
    assert theirs == pytest.approx(ours, abs=0.01)


def test_a_run_stops_in_time_and_the_next_one_goes_on_as_if_there_had_been_one(bench, base, tmp_path, monkeypatch):
    folder, whole = tmp_path / "packed", tmp_path / "whole"
    pack(bench, asked_of(base, steps=8, epochs=5.0, validation=0), folder)
    shutil.copytree(folder, whole)
    monkeypatch.setattr(learning, "time", SimpleNamespace(monotonic=iter(range(10_000)).__next__))

    def learnt(folder, back, minutes):
        run = learning.Learning(folder, minutes, began=learning.time.monotonic())
        finished = run.run()
        run.bring_back(back, 1_000_000)
        return finished, load(joined(back, read_manifest(back)["weights"]))

    finished, _ = learnt(folder, tmp_path / "first", 0.5)
    assert not finished
    assert 0 < read_manifest(tmp_path / "first")["steps"] < 8
    finished, weights = learnt(folder, tmp_path / "second", 100)
    assert finished
    for name, tensor in learnt(whole, tmp_path / "once", 100)[1].items():
        assert torch.equal(weights[name], tensor), name


# ---------------------------------------------------------------- what is refused


def test_what_was_damaged_on_the_way_is_refused(tmp_path):
    said = cut(bytes(range(250)), tmp_path, "weights", 100)
    assert [part["bytes"] for part in said["parts"]] == [100, 100, 50]
    assert joined(tmp_path, said) == bytes(range(250))
    (tmp_path / "weights.001").write_bytes(b"?")
    with pytest.raises(BadWeights, match=r"weights\.001"):
        joined(tmp_path, said)


def test_another_base_than_the_one_packed_is_refused(bench, base, tmp_path):
    back = tmp_path / "back"
    back.mkdir()
    made = pack(bench, asked_of(base, steps=1, validation=0), tmp_path / "packed")
    made["record"]["base_digest"] = "0" * 64
    write_manifest(back, made)
    with pytest.raises(BadWeights, match="base"):
        packing.unpack(back, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_what_is_not_learnt_there_is_refused_and_leaves_no_folder(bench, base, tmp_path):
    with pytest.raises(BadRequest, match="tiny"):
        pack(bench, asked_of(base, steps=1, scoring="late", name="late", start=""), tmp_path / "packed")
    assert not (tmp_path / "packed").exists()


# ---------------------------------------------------------------- batches


def test_batches_come_out_as_they_went_in():
    given = [
        {
            "claims": torch.tensor([[5, 6, 0], [7, 8, 9]]), "claim_lengths": torch.tensor([2, 3]),
            "passages": torch.tensor([[40_000, 2]]), "passage_lengths": torch.tensor([2]),
            "segments": torch.tensor([[-1, 0]]), "gold": torch.tensor([0, 1]),
            "allowed": torch.tensor([[True, False, True], [False, True, True]]), "first": torch.tensor([0.5, -0.25]),
        },
        {
            "claims": torch.tensor([[1]]), "claim_lengths": torch.tensor([1]),
            "passages": torch.tensor([[3, 0], [4, 5]]),
            "passage_lengths": torch.tensor([1, 2]), "segments": torch.tensor([[2, -1], [-1, 1]]),
            "gold": torch.tensor([0]), "allowed": torch.tensor([[True]]), "first": torch.tensor([1.0]),
        },
    ]  # fmt: skip
    arrays = together(given)
    batches = Batches(arrays)
    assert (arrays["claims"].dtype, arrays["passages"].dtype) == (np.int16, np.uint16)
    assert len(batches) == 2
    for number, before in enumerate(given):
        after = batches[number]
        assert after.keys() == before.keys()
        for key, tensor in before.items():
            assert torch.equal(after[key], tensor), key


def test_a_work_gives_no_more_windows_than_were_asked_for(bench, base):
    store = bench.store
    data = packing.Fewer(store.pairs, store.windows, store.trainings, store.works)
    data.most = 2
    assert len(data.gather(asked_of(base), silent).windows) == 2
