"""What pages, commands and documents say, one file a page or subject: a sentence changes here and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parent
COMMON = "common"


class Sentences(dict[str, str]):
    """Sentences by what they mean."""

    def __init__(self, page: str) -> None:
        super().__init__(json.loads((FOLDER / f"{page}.json").read_text(encoding="utf-8")))
        self.page = page

    def __missing__(self, key: str) -> str:
        raise LookupError(f"tests/approved/{self.page}.json and {COMMON}.json have no {key!r}")


def says(page: str) -> Sentences:
    """Give the sentences of a page, with those that several pages show."""
    sentences = Sentences(page)
    for key, sentence in Sentences(COMMON).items():
        if sentences.setdefault(key, sentence) != sentence:
            raise LookupError(f"{key!r} stands in {page}.json and in {COMMON}.json")
    return sentences
