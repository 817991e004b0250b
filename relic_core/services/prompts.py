"""Example claims to click: three for the sample, and the prompts that the RELiC paper tried on its works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain import MASK

if TYPE_CHECKING:
    from relic_core.domain import WorkSummary


@dataclass(frozen=True, slots=True)
class Prompt:
    """A claim worth trying on a work.

    - `title`, `author`: the work it is for; an edition counts whose title begins so, whoever edited it.
    - `tables`: where the RELiC paper (Thai et al. 2022) prints it: its table, and of how many sentences the quotations
      there are. Empty for a claim of our own.
    - `closing`: what ends it in the paper, where a quotation is to follow.
    """

    title: str
    author: str
    claim: str
    length: int = 1
    tables: tuple[tuple[str, int], ...] = ()
    closing: str = ":"


@dataclass(frozen=True, slots=True)
class PaperPrompt:
    """A prompt as the RELiC paper asked it for one of its tables.

    - `table`: "6" or "A5".
    """

    prompt: Prompt
    table: str
    length: int

    @property
    def asked(self) -> str:
        """What was asked: one sentence, the masked quotation behind it, and nothing on the right (shape 1/0).

        >>> PaperPrompt(Prompt("Emma", "Austen", "Emma mistakes her own heart"), "6", 1).asked
        'Emma mistakes her own heart: [MASK]'
        """
        return f"{self.prompt.claim}{self.prompt.closing} {MASK}"


_SAMPLE = "High Water at Averhythe"

PROMPTS: tuple[Prompt, ...] = (
    Prompt(_SAMPLE, "", "The brass bolt stands for a false certainty", length=2),
    Prompt(_SAMPLE, "", "The narrator cannot see the weather from his window", length=2),
    Prompt(_SAMPLE, "", "The sinking of the quay is hidden for the sake of a loan", length=2),
    Prompt(
        "Frankenstein",
        "Shelley",
        "Victor does not consider the consequences of his actions",
        tables=(("6", 1),),
    ),
    Prompt("The Great Gatsby", "Fitzgerald", "A symbol of Gatsby's lifestyle", tables=(("6", 1),)),
    Prompt(
        "Pride and Prejudice",
        "Austen",
        "Elizabeth displays frustration towards her mother",
        length=2,
        tables=(("6", 2), ("A5", 1)),
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


def paper_prompts() -> tuple[PaperPrompt, ...]:
    """List the prompts of the RELiC paper, once for each table that has them, in the order of the tables.

    >>> [(each.table, each.prompt.title, each.length) for each in paper_prompts()][2:]
    [('6', 'Pride and Prejudice', 2), ('6', 'Brave New World', 1), ('A5', 'Pride and Prejudice', 1)]
    """
    found = [PaperPrompt(prompt, table, length) for prompt in PROMPTS for table, length in prompt.tables]
    return tuple(sorted(found, key=lambda each: each.table))
