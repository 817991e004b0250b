"""Allusions: learns what makes verses parallel, and counts the pairs that stand before known ones.

``python -m tools.allusions learn PAIRS --texts TEXTS --out FOLDER`` learns a linear head on the vectors of the packaged
encoder from pairs of Old Testament verses (two names in a line with a tab between, perhaps packed by gzip). One verse
in twenty is held out with all its pairs; on these it is chosen what the head's cosine weighs beside the words' score of
Combined. Then the known echoes of bible-references are ranked once, by this and by Combined. FOLDER keeps vectors and
epochs, so that a run that was stopped goes on, and in the end `head.safetensors` and `training.json`.

``python -m tools.allusions books METHOD --texts TEXTS --out FOLDER`` compares each book of the Gospels and Acts as a
whole with the Old Testament, as the page Echoes does, and says how many pairs that nobody named stand before the known
one with which a tenth, a quarter and half of all known ones of the book are found.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy, normalize

from relic_core.config import Settings
from relic_core.echoes import scoring
from relic_core.echoes.measuring import Known, KnownEchoes, ranks, read
from relic_core.echoes.scoring import ALONE, Counted, Passages, Scorer, Two
from relic_core.encoders.cards import read_card
from relic_core.encoders.towers import PassageEncoder
from relic_core.errors import BadBenchmark
from relic_core.formats.files import digest_of, write_whole
from relic_core.wiring import App
from tools import command

Floats = npt.NDArray[np.float32]
Pairs = npt.NDArray[np.int64]

_HELD, _ASKED = 0.05, 500
"""The share of the verses that are held out, and how many of these are ranked for."""
_BATCH, _RATE, _TEMPERATURE = 1024, 1e-3, 0.05
_WEIGHTS = (0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
"""What the head's cosine may weigh beside the words' score."""
_FIRST = 20
_SHARES = (0.1, 0.25, 0.5)


def _verses(known: KnownEchoes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    a, b = (tuple(work.sentence_text(at) for at in range(len(work.sentences))) for work in (known.a, known.b))
    return a, b


def _read_pairs(path: Path, texts: Path) -> Pairs:
    lines = (texts / "authorized_version.jsonl").read_text(encoding="utf-8").splitlines()
    place = {json.loads(line)["id"]: at for at, line in enumerate(lines)}
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    try:
        return np.array([[place[name] for name in line.split("\t")] for line in data.decode().splitlines()])
    except KeyError as error:
        raise BadBenchmark(f"{path} names {error}, and {texts} has no such verse.") from None


def _vectors(texts: Sequence[str], path: Path) -> Floats:
    """Encode texts, each alone; the vectors are kept."""
    if not path.exists():
        made = PassageEncoder(read_card()).encode_passages(texts)
        with path.with_suffix(".half").open("wb") as file:
            np.save(file, made)
        path.with_suffix(".half").replace(path)
    found: Floats = np.load(path)
    return found


def _words(a: Sequence[str], b: Sequence[str]) -> Scorer:
    """Score by words alone, as Combined does."""
    counted = [Counted.of(texts, "character n-grams", stopwords=True) for texts in (a, b)]
    left, right = Two(counted[0], counted[1]).weighted(power=scoring._POWER, pivot=scoring._PIVOT)  # noqa: SLF001 - the words' part of Combined
    across = right.T.tocsr()
    return lambda rows: (left[rows.start : rows.stop] @ across).toarray()


def _fit(vectors: Floats, pairs: Pairs, out: Path, epochs: int, seed: int) -> torch.Tensor:
    """Learn the head by contrast within batches; other parallels of a verse do not count against it."""
    given, rows_and_columns = torch.tensor(vectors), (np.concatenate(pairs.T), np.concatenate(pairs.T[::-1]))
    both = sp.csr_array((np.ones(2 * len(pairs)), rows_and_columns), shape=(len(vectors), len(vectors)))
    head, begun = torch.eye(vectors.shape[1]), 0
    if (kept := out / "epochs.safetensors").exists():
        state = load_file(kept)
        head, begun = state["head"], int(state["epochs"])
    head.requires_grad_()
    for epoch in range(begun, epochs):
        lot = np.random.default_rng([seed, epoch])
        order = lot.permutation(len(pairs))
        steps = [order[at : at + _BATCH] for at in range(0, len(order) - _BATCH + 1, _BATCH)]
        learner = torch.optim.Adam([head], lr=_RATE * (1 - epoch / epochs))
        for step, rows in enumerate(steps):
            batch = lot.permuted(pairs[rows], axis=1)
            left, right = (normalize(given[side] @ head.T, dim=-1) for side in batch.T)
            also = torch.tensor(both[batch[:, 0]][:, batch[:, 1]].toarray() > 0)
            also.fill_diagonal_(False)
            alike = left @ right.T / _TEMPERATURE
            alike = alike.masked_fill(also, -1e4)
            own = torch.arange(len(batch))
            loss = (cross_entropy(alike, own) + cross_entropy(alike.T, own)) / 2
            learner.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # untyped
            learner.step()
            if step % 50 == 0:
                print(f"epoch {epoch + 1}, step {step + 1} of {len(steps)}: loss {loss.item():.3f}", file=sys.stderr)
        save_file({"head": head.detach().contiguous(), "epochs": torch.tensor(epoch + 1)}, kept)
    return head.detach()


def _ranks_of(scores: Floats, golds: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.array([(scores > scores[gold]).sum() + 1 for gold in golds])


def _found(best: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Give success@20 and MRR, times a hundred."""
    return 100 * float((best <= _FIRST).mean()), 100 * float((1 / best).mean())


def _paired(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> str:
    """Set a difference in points with its interval, by bootstrap over references."""
    differences = 100 * (second - first)
    drawn = np.random.default_rng(0).integers(0, len(differences), (10_000, len(differences)))
    low, high = np.percentile(differences[drawn].mean(axis=1), (2.5, 97.5))
    return f"{differences.mean():+.1f} ({low:.1f} to {high:.1f})"


def _learn(options: argparse.Namespace, settings: Settings) -> int:
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    known = read(options.data or settings.benchmarks or options.texts, options.texts)
    new, old = _verses(known)
    pairs = _read_pairs(options.pairs, options.texts)
    held = np.zeros(len(old), bool)
    held[np.random.default_rng(options.seed).choice(len(old), int(_HELD * len(old)), replace=False)] = True
    outside = held[pairs].any(axis=1)
    plain = _vectors(new, out / "new.npy"), _vectors(old, out / "old.npy")
    head = _fit(plain[1], pairs[~outside], out, options.epochs, options.seed)
    learnt = tuple(normalize(torch.tensor(each) @ head.T, dim=-1).numpy() for each in plain)

    golds: dict[int, list[int]] = {}
    for a, b in pairs[outside].tolist():
        for verse, other in ((a, b), (b, a)):
            if held[verse]:
                golds.setdefault(verse, []).append(other)
    asked = np.random.default_rng(options.seed).permutation(sorted(golds))[:_ASKED].tolist()
    by_words, chosen = _words(old, old), {}
    rows = [by_words(range(verse, verse + 1))[0] for verse in asked]
    for name, vectors in (("plain", plain[1]), ("head", learnt[1])):
        for weight in _WEIGHTS:
            best = []
            for verse, words in zip(asked, rows, strict=True):
                scores = words + weight * (vectors @ vectors[verse])
                scores[verse] = -np.inf
                best.append(_ranks_of(scores, golds[verse]).min())
            chosen[name, weight] = _found(np.array(best))
            print(f"held out, {name}, weight {weight}: success@20 {chosen[name, weight][0]:.1f}, "
                  f"MRR {chosen[name, weight][1]:.1f}")  # fmt: skip
    weight = max(_WEIGHTS, key=lambda each: chosen["head", each])

    a, b = (Passages(texts, vectors) for texts, vectors in zip((new, old), plain, strict=True))
    words, meaning = _words(new, old), scoring.dense(*learnt)
    scorers = scoring.make(scoring.DEFAULT, a, b), lambda rows: words(rows) + weight * meaning(rows)
    first, second = (
        np.array([each[0] for each in ranks(scorer, known.echoes, lambda *_: None)], float) for scorer in scorers
    )
    kinds, figures = np.array([each.kind for each in known.echoes]), {}
    for kind in sorted(set(kinds)):
        own = kinds == kind
        figures[kind] = {
            "success@20": _paired((first <= _FIRST)[own].astype(float), (second <= _FIRST)[own].astype(float)),
            "MRR": _paired(1 / first[own], 1 / second[own]),
        }
        print(f"{kind}, the head weighing {weight} beside Combined: {figures[kind]}")
    save_file({"linear.weight": head.contiguous()}, out / "head.safetensors")
    card = {
        "pairs": digest_of(options.pairs), "learnt_from": int((~outside).sum()), "seed": options.seed,
        "epochs": options.epochs, "batch": _BATCH, "rate": _RATE, "temperature": _TEMPERATURE, "weight": weight,
        "encoder": PassageEncoder(read_card()).identity, "sha256": digest_of(out / "head.safetensors"),
        "beside_combined": figures,
    }  # fmt: skip
    write_whole(out / "training.json", json.dumps(card, indent=1))
    return 0


def before_each(scorer: Scorer, rows: range, echoes: Sequence[Known]) -> list[int]:
    """Count for each echo, by its best pair, the pairs of whole books that score higher and that nobody named.

    - `rows`: the units of the book.
    """
    every = np.concatenate([scorer(range(row, row + 1)) for row in rows])
    named = {(a - rows.start, b) for each in echoes for a in each.units for b in each.golds}
    known = np.sort([every[pair] for pair in named])
    best = np.array([max(every[a - rows.start, b] for a in each.units for b in each.golds) for each in echoes])
    others = np.sort(every[every > best.min()])
    counts = [len(some) - np.searchsorted(some, best, side="right") for some in (others, known)]
    return [int(count) for count in counts[0] - counts[1]]


def _whole_books(known: KnownEchoes) -> Iterator[tuple[str, range, list[int]]]:
    books = np.array([known.a.chapters[each.chapter].title.rpartition(" ")[0] for each in known.a.sentences])
    for book in dict.fromkeys(books.tolist()):
        own = np.flatnonzero(books == book)
        yield book, range(own[0], own[-1] + 1), [at for at, each in enumerate(known.echoes) if each.units[0] in own]


def _books(app: App, options: argparse.Namespace) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    known = app.echoes.known(options.data, options.texts)
    kind = scoring.card(options.method)
    new, old = (
        Passages(texts, _vectors(texts, options.out / f"{name}.npy") if kind.vectors == ALONE else None)
        for name, texts in zip(("new", "old"), _verses(known), strict=True)
    )
    full = scoring.fullness(new.texts), scoring.fullness(old.texts)
    plain = scoring.make(options.method, new, old)
    scorer: Scorer = lambda rows: plain(rows) * full[0][rows.start : rows.stop, None] * full[1]  # noqa: E731 - a scorer
    for book, rows, own in _whole_books(known):
        counts = before_each(scorer, rows, [known.echoes[at] for at in own])
        for wanted in sorted({known.echoes[at].kind for at in own}):
            some = sorted(count for at, count in zip(own, counts, strict=True) if known.echoes[at].kind == wanted)
            places = ", ".join(f"{some[max(0, round(share * len(some)) - 1)]:,} ({share:.0%})" for share in _SHARES)
            print(f"{book}, {wanted}: {len(some)} known, before which stand {places}")
    return 0


def _add_options(parser: argparse.ArgumentParser) -> None:
    nouns = parser.add_subparsers(dest="what", required=True)
    learn, books = nouns.add_parser("learn"), nouns.add_parser("books")
    learn.add_argument("pairs", type=Path)
    learn.add_argument("--epochs", type=int, default=3)
    learn.add_argument("--seed", type=int, default=0)
    books.add_argument("method", choices=[each.name for each in scoring.METHODS])
    for each in (learn, books):
        each.add_argument("--texts", type=Path, required=True, help="folder of authorized_version.jsonl")
        each.add_argument("--data", type=Path, help="folder of bible_references.jsonl; else RELIC_BENCHMARKS")
        each.add_argument("--out", type=Path, required=True, help="folder that keeps vectors, and what was learnt")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; give the exit code."""
    return command.run(
        "allusions", (__doc__ or "").partition("\n")[0], _add_options,
        lambda app, options: _books(app, options) if options.what == "books" else _learn(options, app.settings),
        arguments,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
