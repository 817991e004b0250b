"""How well speakers are told: ``python -m tools.speakers FOLDER [NOVEL...]``, beside people who read the novels.

FOLDER is `data` of the Project Dialogism Novel Corpus (github.com/Priya22/project-dialogism-novel-corpus), which names
the speaker of every quotation of 28 novels; it stays where it is. A name is right if it is one of the speaker's there,
or the one in the tag that its readers marked; "I", if it is the person most often meant by it.
"""

from __future__ import annotations

import ast
import csv
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import numpy as np

from relic_core.evaluation.intervals import interval_of
from relic_core.library.reading import read_file
from relic_core.text.speech import NARRATOR, WorkSpeech
from relic_core.text.words import tokens

_BESIDE = 2
"""Words that a tag may have beside the name."""
_TITLES = frozenset(
    "mr mrs ms miss dr doctor sir lady lord captain colonel madame mademoiselle monsieur master the".split()  # noqa: SIM905
)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _names(folder: Path) -> dict[str, list[tuple[str, ...]]]:
    rows = _rows(folder / "character_info.csv")
    return {
        row["Main Name"]: [tuple(tokens(name)) for name in (row["Main Name"], *ast.literal_eval(row["Aliases"]))]
        for row in rows
    }


def _right(name: str, row: dict[str, str], names: dict[str, list[tuple[str, ...]]]) -> bool:
    words, tag = tuple(tokens(name)), tokens(row["referringExpression"])
    within = any(tuple(tag[at : at + len(words)]) == words for at in range(_BESIDE + 1))
    own = names.get(row["speaker"], [tuple(tokens(row["speaker"]))])
    if (within and len(tag) <= len(words) + _BESIDE) or words in own:
        return True
    if any(words in others for others in names.values()):
        return False
    bare = set(words) - _TITLES
    return bool(bare) and any(bare <= set(one) or (set(one) <= set(words) and not set(one) <= _TITLES) for one in own)


def _measured(folder: Path) -> Iterator[bool | None]:
    """Tell of each stretch of a novel's quotations whether its speaker is right; None where none is named."""
    work = read_file((folder / "novel_text.txt").read_bytes(), name=folder.name)
    names, speeches = _names(folder), WorkSpeech.of(work).speeches
    narrators: Counter[str] = Counter()
    for row in _rows(folder / "quotation_info.csv"):
        for start, end in ast.literal_eval(row["quoteByteSpans"]):
            at = bisect_right(speeches, start + 1, key=attrgetter("start")) - 1
            speaker = speeches[at].speaker if at >= 0 and speeches[at].end > start and end else ""
            if speaker == NARRATOR:
                narrators[row["speaker"]] += 1
            else:
                yield _right(speaker, row, names) if speaker else None
    for rank, (_, count) in enumerate(narrators.most_common()):
        yield from [rank == 0] * count


def main(folder: str, *chosen: str) -> None:
    """Print a row for each novel, and the whole with intervals over novels."""
    found, novels = [], []
    for novel in sorted(Path(folder).iterdir()):
        if chosen and novel.name not in chosen:
            continue
        here = list(_measured(novel))
        named = [each for each in here if each is not None]
        print(f"| {novel.name} | {len(here):,} | {len(named) / len(here):.1%} | {np.mean(named):.1%} |")
        found += here
        novels += [novel.name] * len(here)
    for title, kept in (("named", [True] * len(found)), ("right", [each is not None for each in found])):
        values = np.array([each is not None if title == "named" else bool(each) for each in found], np.float64)
        all_of = interval_of(
            values[kept], [name for name, keep in zip(novels, kept, strict=True) if keep], over="works"
        )
        print(f"{title}: {all_of.value:.1%} ({all_of.low:.1%} to {all_of.high:.1%}), {sum(kept):,} stretches")


if __name__ == "__main__":
    main(*sys.argv[1:])
