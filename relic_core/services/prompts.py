"""Example claims to click: four for the sample, and the prompts that the RELiC paper tried on its works."""

from __future__ import annotations

from dataclasses import dataclass

from relic_core.domain import GAP, WorkSummary


@dataclass(frozen=True, slots=True)
class Prompt:
    """A claim worth trying on a work.

    - `title`, `author`: the work it is for; an edition counts whose title begins so, whoever edited it.
    - `tables`: where the RELiC paper (Thai et al. 2022) prints it: its table, and of how many sentences the quotations
      there are. Empty for a claim of our own.
    """

    title: str
    author: str
    claim: str
    length: int = 1
    tables: tuple[tuple[str, int], ...] = ()
    closing: str = ":"


_SAMPLE = "High Water at Averhythe"

PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        _SAMPLE,
        "",
        f"As a boy Mapplebeck takes the brass mark for the thing that holds the whole town in its place: {GAP} The "
        "irony is that the mark itself has been sinking all the time.",
        2,
    ),
    Prompt(_SAMPLE, "", "The brass bolt stands for a false certainty", length=2),
    Prompt(_SAMPLE, "", "The narrator cannot see the weather from his window", length=2),
    Prompt(_SAMPLE, "", "The sinking of the quay is hidden for the sake of a loan", length=2),
    Prompt("Frankenstein", "Shelley", "Victor does not consider the consequences of his actions", tables=(("6", 1),)),
    Prompt("The Great Gatsby", "Fitzgerald", "A symbol of Gatsby's lifestyle", tables=(("6", 1),)),
    Prompt(
        "Pride and Prejudice", "Austen", "Elizabeth displays frustration towards her mother", 2, (("6", 2), ("A5", 1))
    ),
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
    return tuple(
        prompt
        for prompt in PROMPTS
        if work.title.casefold().startswith(prompt.title.casefold())
        and (not prompt.author or prompt.author.casefold() in work.author.casefold())
    )
