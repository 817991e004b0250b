"""Rankings of the sample work, held against those that were frozen (``tests/golden/rankings/sample.json``).

Whoever changes rankings on purpose writes the file anew: ``python -m tests.unit.test_frozen_rankings``.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from relic_core.domain import ANY_LENGTH
from relic_core.library.sample import TITLE
from relic_core.services.prompts import PROMPTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Asking = Callable[[str, int, tuple[str, ...]], tuple[dict[str, "Column"], dict[str, object]]]

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "rankings" / "sample.json"
TOP = 20

CLAIMS = {
    "prompt": "The brass bolt stands for a false certainty",
    "two sentences": "Mapplebeck presents himself as an honest public servant. He falsifies the tide register by night "
    "so that nobody shall learn how far the level has sunk.",
    "mask": "Any first-person narrator may protest his honesty, and we learn to doubt the protest. What distinguishes "
    "the clerk is the rider: [MASK] Read slowly, this denies the profit and not the deed.",
    "another book": "Elizabeth Bennet learns that her first impression of Mr. Darcy was mere prejudice",
    "one word": "lantern",
}
PAGES = ("dense-relic", "bm25", "fusion")
OTHERS = ("zero-shot", "bm25-reference", "bm25-lemmas", "surroundings", "tf-idf", "random", "late")
RERANKED = ("prompt", "two sentences")
WITH_MODELS = {"dense-relic", "zero-shot", "fusion", "reranked", "late"}


@dataclass
class Column:
    """The first passages of a retriever: where they start, their scores, and the verdict on the first."""

    starts: list[int]
    scores: list[float]
    strength: str | None


@contextmanager
def asking(folder: Path) -> Iterator[Asking]:
    """Prepare the sample in `folder` and give what searches it; all that these tests know of the program's inside.

    Models compute in float32: bfloat16 differs from one processor to the next.
    """
    from relic_core.config import Settings
    from relic_core.domain import SearchRequest
    from relic_core.encoders import precision
    from relic_core.services import answers
    from relic_core.wiring import build

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(precision, "seems_to_have_gpu", lambda: False)
        patch.setattr(precision, "best_precision", lambda: "float32")
        patch.setattr(answers, "card_order", lambda hits, _: hits)  # frozen are rankings, not cards
        precision.best_arithmetic.cache_clear()
        app = build(Settings(data=folder / "data", indexes=folder / "indexes"))
        work = app.ensure_sample()
        app.indexes.build(work.id, ("dense-relic", "zero-shot", "late"), lambda *_: None)

        def ask(claim: str, length: int, retrievers: tuple[str, ...]) -> tuple[dict[str, Column], dict[str, object]]:
            result = app.search.run(
                SearchRequest(work_id=work.id, claim_text=claim, length=length, results=TOP, retrievers=retrievers)
            )
            columns = {}
            for column in result.columns:
                hits = sorted((hit for card in column.cards for hit in (card, *card.others)), key=lambda hit: hit.rank)
                assert [hit.rank for hit in hits[:TOP]] == list(range(1, len(hits[:TOP]) + 1))
                columns[column.retriever] = Column(
                    starts=[hit.span.start for hit in hits[:TOP]],
                    scores=[float(str(np.float32(hit.score))) for hit in hits[:TOP]],
                    strength=column.strength and column.strength.level,
                )
            quoted = [[each.span.start, each.span.length] for each in result.quoted]
            return columns, {"weak": result.weak, "unknown": list(result.unknown), "quoted": quoted}

        yield ask
    precision.best_arithmetic.cache_clear()


def answers(ask: Asking) -> Iterator[tuple[str, int, dict[str, Column], dict[str, object]]]:
    """Answer every claim at every length."""
    for name, claim in CLAIMS.items():
        for length in range(1, 6):
            shown = (*PAGES, "reranked") if length == 1 and name in RERANKED else PAGES
            columns, verdict = ask(claim, length, shown)
            yield name, length, columns | ask(claim, length, OTHERS)[0], verdict


def write() -> None:
    """Freeze what is found now."""
    with tempfile.TemporaryDirectory() as folder, asking(Path(folder)) as ask:
        lines = [
            json.dumps({"claim": name, "length": length, **verdict, "columns": columns}, default=vars)
            for name, length, columns, verdict in answers(ask)
        ]
    GOLDEN.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


FROZEN = (
    {(each["claim"], each["length"]): each for each in json.loads(GOLDEN.read_text("utf-8"))} if GOLDEN.exists() else {}
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    with asking(tmp_path_factory.mktemp("frozen")) as ask:
        yield ask


@pytest.fixture(scope="module")
def found(ask):
    return {(claim, length): rest for claim, length, *rest in answers(ask)}


def test_every_retriever_is_frozen():
    from relic_core.retrieval import registry

    assert {name for each in FROZEN.values() for name in each["columns"]} == {
        card.name for card in registry.cards() if card.on_its_own
    }


@pytest.mark.parametrize(("claim", "length"), FROZEN)
def test_the_first_passages_are_those_that_were_frozen(found, claim, length):
    columns, verdict = found[claim, length]
    frozen = FROZEN[claim, length]
    assert verdict == {name: frozen[name] for name in verdict}
    assert list(columns) == list(frozen["columns"])
    for name, column in columns.items():
        then = Column(**frozen["columns"][name])
        if name not in WITH_MODELS:
            assert column == then, name
            continue
        assert column.strength == then.strength, name
        # Processors add in different orders: 3e-5 of a score was seen, and 3.1e-4 where that turns a code of 8 bits.
        near = 5e-4 if name == "late" else 6e-5
        # Standardised scores come close to 0, where a share of them is less than rounding.
        assert column.scores == pytest.approx(then.scores, rel=near, abs=3e-5), name
        # Two passages may change places only where nothing but rounding parts them.
        now = dict(zip(column.starts, column.scores, strict=True))
        ranked = [now.get(start, 0.0) for start in then.starts]
        assert ranked == pytest.approx(column.scores, rel=near), name


def test_the_program_is_sure_of_the_examples_that_come_with_the_sample(ask):
    unsure = [
        prompt.claim for prompt in PROMPTS if prompt.title == TITLE and ask(prompt.claim, ANY_LENGTH, PAGES)[1]["weak"]
    ]
    assert not unsure


if __name__ == "__main__":
    write()
