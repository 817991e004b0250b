"""Example claims to click: three for the sample, and the ones the RELiC paper tried on its works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relic_core.domain import WorkSummary


@dataclass(frozen=True, slots=True)
class Prompt:
    """A claim worth trying on a work.

    Attributes
    ----------
    title, author : str
        The work it is for; an edition counts whose title begins so, whoever edited it.
    claim : str
        What to ask.
    length : int
        Sentences per quotation.
    source : str
        Where the claim comes from, in a word or two.
    """

    title: str
    author: str
    claim: str
    length: int = 1
    source: str = "RELiC, Table 6"


_SAMPLE = "High Water at Averhythe"

PROMPTS: tuple[Prompt, ...] = (
    Prompt(_SAMPLE, "", "The brass bolt stands for a false certainty", length=2, source="sample"),
    Prompt(_SAMPLE, "", "The narrator cannot see the weather from his window", length=2, source="sample"),
    Prompt(_SAMPLE, "", "The sinking of the quay is hidden for the sake of a loan", length=2, source="sample"),
    Prompt("The Great Gatsby", "Fitzgerald", "A symbol of Gatsby's lifestyle"),
    Prompt("Pride and Prejudice", "Austen", "Elizabeth displays frustration towards her mother", length=2),
    Prompt("Frankenstein", "Shelley", "Victor does not consider the consequences of his actions"),
)


def prompts_for(work: WorkSummary) -> tuple[Prompt, ...]:
    """List the example claims for a work; none where we know of none."""
    return tuple(
        prompt
        for prompt in PROMPTS
        if work.title.casefold().startswith(prompt.title.casefold())
        and (not prompt.author or prompt.author.casefold() in work.author.casefold())
    )
