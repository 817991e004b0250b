"""Measuring: how close our sentences come to RELiC's own lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.errors import NotFound
from relic_core.evaluation.sentences import read_list, score_sentences
from relic_core.library import folder
from relic_core.text.reading import read_work
from relic_core.text.sentences import segmenter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from relic_core.evaluation.sentences import SentenceScore


@dataclass(frozen=True, slots=True)
class WorkScore:
    """How the sentences of one work compare with a list.

    - `name`: the list's name, which is also the text's.
    """

    name: str
    segmenter: str
    score: SentenceScore


def score_lists(lists: Path, texts: Path, *, cutter: str = "rules", max_bytes: int) -> Iterator[WorkScore]:
    """Compare every list of sentences in a folder with our sentences of the text of the same name.

    - `lists`: a folder of ``NAME.json``, each an array of sentences.
    - `texts`: a folder with ``NAME.txt`` for each.

    Raises NotFound: no lists, or a text that is missing.
    Raises BadRequest: a list that cannot be read or is of another text.
    """
    cut = segmenter(cutter)
    paths = sorted(lists.glob("*.json"))
    if not paths:
        raise NotFound(f"There are no sentence lists (NAME.json) in {lists}.")
    for path in paths:
        data = folder.read_bytes(texts / f"{path.stem}.txt", max_bytes=max_bytes)
        work = read_work(data, name=f"{path.stem}.txt", segmenter=cut, max_bytes=max_bytes)
        yield WorkScore(path.stem, work.segmenter, score_sentences(work, read_list(path)))
