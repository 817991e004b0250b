"""Why a quotation was missed: what can be said of one case from the claim, the quotation and what was put first.

A case is one outcome of a run. Overlap is by lemmas: the share of a passage's different lemmas, function words left
out, that the claim has too. The human codes are those that the RELiC paper (sections 4 and 5, tables 5 and A4) finds in
errors; people give them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal, get_args

import numpy as np

from relic_core.caching import LRUCache
from relic_core.domain import Claim, Outcome, Span, Work
from relic_core.domain.figures import Cell, Figure, Table
from relic_core.domain.studies import Item
from relic_core.evaluation.metrics import metric, values
from relic_core.text.dialogue import Spoken, spoken_by_sentence
from relic_core.text.forms import text_lemmas
from relic_core.text.words import content_tokens

Trait = Literal["overlap", "dialogue", "place"]
"""What parts the cases of a chart: quarters by overlap of claim and quotation; how much of the quotation is spoken; in
which quarter of the work it stands."""
TRAITS: tuple[Trait, ...] = get_args(Trait)

FINDINGS = {
    "no ranking": "The claim gave the retriever nothing to go by.",
    "overlap": "Shared words do not lead to it: it shares none with the claim, or fewer of its own than a wrong "
    "passage does.",
    "neighbour": "What was put first shares a sentence with it.",
    "pronominal": "All its words are spoken, or are pronouns and other function words.",
    "short": "It has fewer than ten words.",
}
"""What can be found of the quotation in a case."""

CODES = {
    "string overlap": "What was put first shares words with the claim, and no more.",
    "world knowledge": "One has to know something that neither text says.",
    "figurative sense": "A word is meant in another than its plain sense.",
    "alternative as good": "What was put first would do as well as the quotation.",
    "claim violated": "What was put first goes against the claim.",
}
"""What people say of a case."""

_NO_CONTENT = {"mine", "art", "wert", "wast"}
"""Pronoun and forms of *be* that retrieval counts as words, since each is a noun or a name too."""
_SHORT = 10
"""Words: RELiC looked for sentences of ten tokens and more in criticism (section 2.1)."""
_QUARTERS = 4
_MOSTLY = 0.9
_KEPT_WORKS = 32

_spoken: LRUCache[tuple[Spoken, ...]] = LRUCache(_KEPT_WORKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What can be said of one case.

    - `overlap`, `first_overlap`: of the claim with the quotation, and with what was put first (in a study with the
      other passage that shares most); None where a text is not here.
    - `words`: of the quotation. `spoken`: the share of them that is speech.
    - `pronominal`: all its words are spoken, or are pronouns and other function words.
    - `neighbour`: what was put first shares a sentence with it.
    - `overlapping`: candidates that share a sentence with it, itself left out.
    - `place`: where in the work it begins, from 0 to 1; None in a given pool.
    - `quoted`: how often criticism that is here quotes any of its sentences.
    """

    example_id: str
    rank: int | None
    overlap: float | None
    first_overlap: float | None
    words: int
    spoken: float
    pronominal: bool
    neighbour: bool
    overlapping: int
    place: float | None
    quoted: int

    @property
    def findings(self) -> tuple[str, ...]:
        """Which `FINDINGS` hold."""
        led_away = self.overlap is not None and (not self.overlap or self.overlap < (self.first_overlap or 0.0))
        held = {
            "no ranking": self.rank is None,
            "overlap": self.rank not in {None, 1} and led_away,
            "neighbour": self.neighbour and self.rank != 1,
            "pronominal": self.pronominal,
            "short": self.words < _SHORT,
        }
        return tuple(name for name in FINDINGS if held[name])


def diagnose(
    outcome: Outcome, claim: Claim | None, work: Work, quoted: Sequence[Span] = (), *, pool: bool = False
) -> Diagnosis | None:
    """Say what can be said of a case; None where the quotation is not in the work.

    - `claim`: None where it is not here.
    - `quoted`: what criticism quotes of the work, each as often as it does.
    - `pool`: the work is a pool that was given, whose order means nothing.
    """
    gold = work.span_between(*outcome.gold)
    first = work.span_between(*outcome.first[0]) if outcome.first else None
    if gold is None:
        return None
    speech = _speech(work, gold)
    last = work.candidates(gold.length) - 1
    beside = min(last, gold.end - 1) - max(0, gold.start - gold.length + 1)
    return Diagnosis(
        example_id=outcome.example_id,
        rank=outcome.rank,
        overlap=trait_of("overlap", outcome, claim, work),
        first_overlap=None if claim is None or first is None else lemma_overlap(claim.words, work.span_text(first)),
        words=speech.words,
        spoken=speech.share,
        pronominal=_only_pronouns_and_speech(work, gold),
        neighbour=first is not None and first.overlaps(gold),
        overlapping=0 if pool else beside,
        place=trait_of("place", outcome, claim, work, pool=pool),
        quoted=sum(each.overlaps(gold) for each in quoted),
    )


def diagnose_item(item: Item, work: Work, quoted: Sequence[Span] = ()) -> Diagnosis | None:
    """Tell why what chose the options of an item of the proxy task did not put its quotation first; as `diagnose`.

    Nothing need have been put first: the quotation is held against the other option that shares most with the claim.
    """
    others = [option for option in item.options if option != item.gold]
    first = max(others, key=lambda option: lemma_overlap(item.claim.words, option.words))
    length, rank = item.gold.span.length, item.gold_rank or None
    outcome = Outcome(
        example_id=item.id, book=item.book, length=length, kind=item.kind, candidates=work.candidates(length),
        rank=rank, overlap_rank=rank, gold=item.gold.at, first=(first.at,),
    )  # fmt: skip
    return diagnose(outcome, item.claim, work, quoted)


def trait_of(trait: Trait, outcome: Outcome, claim: Claim | None, work: Work, *, pool: bool = False) -> float | None:
    """Tell one trait of a case, from 0 to 1, as `Diagnosis` has it; None where it is not known."""
    gold = work.span_between(*outcome.gold)
    if gold is None:
        return None
    if trait == "dialogue":
        return _speech(work, gold).share
    if trait == "overlap":
        return None if claim is None else lemma_overlap(claim.words, work.span_text(gold))
    return None if pool else gold.start / max(1, len(work.sentences) - 1)


def _speeches(work: Work) -> tuple[Spoken, ...]:
    return _spoken.get(work.fingerprint, lambda: spoken_by_sentence(work))


def _speech(work: Work, span: Span) -> Spoken:
    parts = _speeches(work)[span.start : span.end]
    return Spoken(sum(part.words for part in parts), sum(part.spoken for part in parts))


def lemma_overlap(claim: str, passage: str) -> float:
    """Give the share of a passage's different lemmas that a claim has too; 0 where it has none but function words.

    >>> lemma_overlap("The lamps went out.", "He goes with a lamp in his hand.")
    0.6666666666666666
    """
    own = text_lemmas(passage)
    return len(own & text_lemmas(claim)) / len(own) if own else 0.0


def _only_pronouns_and_speech(work: Work, span: Span) -> bool:
    """Whether nothing but function words is left of a passage when its speech is taken out; see docs/evaluation.md."""
    if not any(map(str.isalpha, work.span_text(span))):
        return False
    for at in range(span.start, span.end):
        start, end = work.sentences[at].start, work.sentences[at].end
        for first, last in _speeches(work)[at].ranges:
            if _has_content(work.text[start:first]):
                return False
            start = max(start, last)
        if _has_content(work.text[start:end]):
            return False
    return True


def _has_content(text: str) -> bool:
    return not _NO_CONTENT.issuperset(content_tokens(text))


def part_by(trait: Trait, cases: Mapping[str, Mapping[str, float]]) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Part the cases of some runs by a trait.

    - `cases`: by run, the trait of each example. Quarters by overlap are those of all of them together; equal values
      are never parted, so that a quarter may be missing.

    Returns: of each run the group of each example; and the label of each group, in order.
    """
    every = list(chain.from_iterable(own.values() for own in cases.values()))
    edges = np.quantile(every or [0.0], np.arange(1, _QUARTERS) / _QUARTERS)

    def key(value: float) -> str:
        if trait == "dialogue":
            return "speech" if value >= _MOSTLY else "narration" if value <= 1 - _MOSTLY else "both"
        if trait == "overlap":
            return str(1 + int(np.searchsorted(edges, value)))
        return str(1 + min(_QUARTERS - 1, int(value * _QUARTERS)))

    found = {run: {example_id: key(value) for example_id, value in own.items()} for run, own in cases.items()}
    ends = [f"{100 * edge:.0f}" for edge in edges]
    lowest = f"up to {ends[0]}%" if edges[0] else "none"
    middle = [f"{low}–{high}%" for low, high in pairwise(ends)]
    labels = {
        "dialogue": {"narration": "narration", "both": "both", "speech": "speech"},
        "place": {"1": "first quarter", "2": "second", "3": "third", "4": "last quarter"},
        "overlap": {"1": lowest, "2": middle[0], "3": middle[1], "4": f"over {ends[-1]}%"},
    }[trait]
    there = set(chain.from_iterable(own.values() for own in found.values()))
    return found, {name: label for name, label in labels.items() if name in there}


def finding_table(outcomes: Sequence[Outcome], found: Sequence[Diagnosis], name: str) -> Table:
    """Count what is found in the cases that a metric counts as misses, and in the others; one case may have several."""
    missed = {each.example_id for each, value in zip(outcomes, values(name, outcomes), strict=True) if value == 0}
    cases = [each.findings for each in found if each.example_id in missed]
    others = [each.findings for each in found if each.example_id not in missed]

    def row(finding: str, meaning: str) -> tuple[Cell, ...]:
        count, beside = (sum(finding in own if meaning else not own for own in some) for some in (cases, others))
        return finding, meaning, count, _percent(count, len(cases)), _percent(beside, len(others))

    return Table(
        caption=f"{metric(name).label}: what is found in {len(cases):,} of {len(missed):,} missed cases",
        heads=("finding", "what it means", "cases", "share", f"share of {len(others):,} others"),
        rows=(*(row(*each) for each in FINDINGS.items()), row("none of these", "")),
    )


def _percent(count: int, of: int) -> str:
    return f"{count / of:.1%}" if of else ""


def case_table(
    outcomes: Sequence[Outcome],
    found: Sequence[Diagnosis],
    judged: Mapping[tuple[str, str], Sequence[str]],
    name: str,
) -> Table:
    """Set every case as a row; the texts are left out, places and ids are not."""
    diagnoses = {each.example_id: each for each in found}
    by_example: dict[str, list[str]] = {}
    for (example_id, _), codes in judged.items():
        by_example.setdefault(example_id, []).append(", ".join(codes) or "none of the codes")
    heads = (
        "example", "book", "found", "rank", "candidates", "sentences", "gold start", "gold end", "first start",
        "first end", "words", "overlap", "first overlap", "spoken", "pronouns and speech only", "overlapping", "place",
        "quoted", "findings", "judged",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for outcome, value in zip(outcomes, values(name, outcomes).tolist(), strict=True):
        first = outcome.first[0] if outcome.first else ("", "")
        measures: tuple[Cell, ...] = ("",) * 8
        if each := diagnoses.get(outcome.example_id):
            measures = (
                each.words, _share(each.overlap), _share(each.first_overlap), _share(each.spoken),
                "yes" if each.pronominal else "no", each.overlapping, _share(each.place), each.quoted,
            )  # fmt: skip
        facts = (outcome.rank or "", outcome.candidates, outcome.length, *outcome.gold, *first)
        findings = ", ".join(each.findings) if each else ""
        judgements = "; ".join(by_example.get(outcome.example_id, ()))
        rows.append(
            (outcome.example_id, outcome.book, "yes" if value > 0 else "no", *facts, *measures, findings, judgements)
        )
    return Table(caption="", heads=heads, rows=tuple(rows))


def _share(value: float | None) -> Cell:
    return "" if value is None else Figure(text=f"{value:.3f}", value=round(value, 4))
