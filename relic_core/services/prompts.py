"""Example claims to click: our own for the sample, the RELiC paper's, and some of the well-known passages."""

from __future__ import annotations

from typing import NamedTuple

from relic_core.domain import GAP, WorkSummary
from relic_core.evaluation.benchmarks.loci import DEV
from relic_core.library.catalogue import entry_of, same_work


class Prompt(NamedTuple):
    """A claim worth trying on a work.

    - `title`, `author`: the work it is for.
    - `tables`: where the RELiC paper (Thai et al. 2022) prints it: its table, and of how many sentences the quotations
      there are. Empty for a claim of our own.
    """

    title: str
    author: str
    claim: str
    tables: tuple[tuple[str, int], ...] = ()
    closing: str = ":"


_SAMPLE = "High Water at Averhythe"

PROMPTS = (
    Prompt(
        _SAMPLE,
        "",
        f"As a boy Mapplebeck takes the brass mark for the thing that holds the whole town in its place: {GAP} The "
        "irony is that the mark itself has been sinking all the time.",
    ),
    Prompt(_SAMPLE, "", "The brass bolt stands for a false certainty"),
    Prompt(_SAMPLE, "", "The narrator cannot see the weather from his window"),
    Prompt(_SAMPLE, "", "The sinking of the quay is hidden for the sake of a loan"),
    Prompt("Frankenstein", "Shelley", "Victor does not consider the consequences of his actions", tables=(("6", 1),)),
    Prompt("The Great Gatsby", "Fitzgerald", "A symbol of Gatsby's lifestyle", tables=(("6", 1),)),
    Prompt("Pride and Prejudice", "Austen", "Elizabeth displays frustration towards her mother", (("6", 2), ("A5", 1))),
    Prompt(
        "Brave New World",
        "Huxley",
        "Children are indoctrinated while sleeping and taught hypnopædic phrases, such as",
        tables=(("6", 1),),
        closing="",
    ),
)


def prompts_for(work: WorkSummary) -> tuple[Prompt, ...]:
    """List the example claims for a work; none where we know of none."""
    ours = [each for each in PROMPTS if same_work(each[:2], (work.title, work.author))]
    entry = entry_of(work, None)
    # Never those of the other set, which figures are tested on.
    claims = [each.claim for each in DEV.claims() if each.work == entry.slug] if entry else []
    return (*ours, *(Prompt("", "", claim) for claim in claims[:3]))
