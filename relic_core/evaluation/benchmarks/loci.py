"""Well-known passages: short claims as students type them, each with the places that every teacher would accept.

Written from knowledge of the novels by readers who saw no ranking, and frozen before anything was tuned. What ships is
the claims, which are the project's own words, and where their places stand, with a hash of each; no word of a novel.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from relic_core.config import ASSETS, Settings
from relic_core.domain import BenchmarkCard, QuotationContext, Span, Work
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.evaluation.benchmarks.opened import Opened, book_of
from relic_core.formats.files import Strict, read_bytes
from relic_core.ports import WorkSource

FOLDER = ASSETS / "loci"
_LENGTHS = (1, 2)
"""Sentences of the candidates that each claim is asked for."""


class Locus(Strict):
    """Where a passage stands: character offsets in the text of its work, and the sha256 of what stands there."""

    start: int
    end: int
    sha256: str


class WellKnown(Strict):
    """A claim about a work, named by its slug, and its one to four places."""

    work: str
    claim: str
    places: tuple[Locus, ...]


class Loci(Strict):
    """The file of a set."""

    claims: tuple[WellKnown, ...]


class WellKnownPassages(NamedTuple):
    """The benchmark of one split: so many claims about so many works, in a file with that sha256."""

    split: str
    many: int
    books: int
    digest: str

    @property
    def CARD(self) -> BenchmarkCard:  # noqa: N802 - what the registry asks every benchmark for
        """What it is."""
        return BenchmarkCard(
            name=f"loci-{self.split}",
            label=f"Well-known passages, {self.split}",
            description="Short claims as students type them, each with the one to four places that every teacher would "
            f"accept; each is asked for {' and for '.join(map(str, _LENGTHS))} sentences. A rank is that of the first "
            "card that shows one of the places, cards counted as a page shows them: passages that overlap are one.",
            split=self.split,
            pool="whole work",
            quotes=False,
            main_metric="recall@5",
            examples=self.many * len(_LENGTHS),
            books=self.books,
            source="Written for this project from knowledge of the novels, before anything was tuned",
            licence="MIT, as the program",
            citation="RELiC Workbench, the well-known passages",
            checksum=self.digest,
            needs="It needs the novels in the library, in the editions of the catalogue.",
        )

    def create(self, settings: Settings, works: WorkSource, data: Path | None) -> Opened:  # noqa: ARG002 - the registry's signature
        """Read the claims, and find the sentences of their places in the works.

        Raises BadRequest: a file was given.
        Raises NotFound: works that are not in the library.
        Raises BadBenchmark: the file is not the frozen one, or a work is another edition.
        """
        if data:
            raise BadRequest(f"{self.CARD.label} comes with the program and takes no file of your own. Leave it out.")
        return self.over(works.find(list(dict.fromkeys(each.work for each in self.claims()))))

    def claims(self) -> tuple[WellKnown, ...]:
        """Read the claims. Raises BadBenchmark: the file is not the frozen one."""
        content = read_bytes(FOLDER / f"{self.split}.json")
        if hashlib.sha256(content).hexdigest() != self.digest:
            raise BadBenchmark(f"{self.CARD.label} is not the set that was frozen: its file was changed.")
        return Loci.model_validate_json(content).claims

    def over(self, found: Mapping[str, Work]) -> Opened:
        """Open the claims about some works, by slug. Raises BadBenchmark: as `create`."""
        starts = {slug: [sentence.start for sentence in work.sentences] for slug, work in found.items()}
        contexts = []
        for number, each in enumerate(self.claims(), start=1):
            if each.work not in found:
                continue
            places = tuple(_span(each, place, found[each.work], starts[each.work]) for place in each.places)
            contexts += [
                QuotationContext(
                    id=f"{self.split}-{number:03}-{length}",
                    book=each.work,
                    pool=each.work,
                    left=(each.claim,),
                    right=(),
                    gold=Span(min(places[0].start, len(starts[each.work]) - length), length),
                    masked=False,
                    accepted=places,
                )
                for length in _LENGTHS
            ]
        return Opened(self.CARD, contexts, books=[book_of(slug, work) for slug, work in found.items()], works=found)


def _span(claim: WellKnown, place: Locus, work: Work, starts: list[int]) -> Span:
    if hashlib.sha256(work.text[place.start : place.end].encode()).hexdigest() != place.sha256:
        raise BadBenchmark(
            f"The place of “{claim.claim}” is not in {work.title} as your library has it: it is another "
            "edition. Remove it, and add that of the catalogue."
        )
    first = max(0, bisect_right(starts, place.start) - 1)
    last = max(first, bisect_right(starts, place.end - 1) - 1)
    return Span(first, last - first + 1)


DEV = WellKnownPassages("dev", 84, 21, "d065b4e602dd99a5951a49d3b70e2d6a57d8361b3bc6373c9b6da90955ee35fc")
TEST = WellKnownPassages("test", 44, 12, "bd9a6da5548a3891124dcc260bc471f8c32c324155312488f16e6bc0708266eb")
