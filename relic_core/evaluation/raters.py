"""Agreement between raters: how far people who answered the same items chose the same, beyond what chance gives.

All is computed from one table, with a row for each item and a column for each category: how many raters chose it. In
the proxy task the category is the number of the option, as the RELiC paper has it (note 17: the options of each item
are others, and are shuffled before they are shown). "Cannot decide" is no category: it counts as a missing answer.

Items may have unequal numbers of answers. One with fewer than two says nothing of agreement and is left out of every
figure here. Among the others each item counts the same, however many answered it: its observed agreement is the share
of its pairs of raters who agree (Fleiss 1971), and the share of a category is the mean over items of its share in each
(as in Gwet 2014). With equal numbers these are Fleiss's own formulas. Krippendorff's alpha weighs items by their
answers, which is how it treats missing ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

Counts = npt.NDArray[np.int64]
"""Shape (n_items, n_categories): how many raters chose each category."""

LEAST = 2
"""Answers that an item needs for anything to be said of agreement."""

BITES = 0.1
"""How far kappa lies below AC1 where the paradox of kappa is worth a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure of agreement.

    - `key`: "fleiss", "randolph", "ac1", "alpha".
    - `value`: 1 for perfect agreement, 0 for as much as by chance; None where it cannot be computed.
    - `meaning`: what it says, in a sentence for a reader who is no statistician, or why it cannot be computed.
    """

    key: str
    label: str
    value: float | None
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of the items beside what it would be if everybody chose by chance.

    - `value`, `chance`: between 0 and 1; None where no item has two answers.
    """

    label: str
    value: float | None
    chance: float | None
    meaning: str


_TOO_FEW = "No item has two answers yet."
_ONE_NUMBER = "It cannot be computed: one option number alone was ever chosen, so that chance agreement is perfect too."
_LABELS = {
    "fleiss": "Fleiss' kappa",
    "randolph": "Randolph's free-marginal kappa",
    "ac1": "Gwet's AC1",
    "alpha": "Krippendorff's alpha",
}
_MEANINGS = {
    "fleiss": """How much more often two people chose the same than they would if each chose by chance, in the
        proportions in which the option numbers were chosen on the whole: 1 is perfect agreement, 0 no more than chance.
        This is the figure of the RELiC paper.""",
    "randolph": """The same against blind choice among three equal options: since the options are shuffled, nobody can
        know beforehand how often each number will be right, and this is the chance that fits.""",
    "ac1": """The same with a chance that counts only where choosing was hard: it stays near the plain agreement where
        kappa drops although nearly everybody agrees.""",
    "alpha": """The same counted by disagreements, made for data in which not everybody answered everything; some
        journals ask for 0.80, or for 0.67 where conclusions are tentative.""",
}


def count_choices(choices: Sequence[Sequence[int]], categories: int) -> Counts:
    """Count who chose what.

    - `choices`: for each item the categories that raters chose, from 1, in any order; anything else is a missing
      answer.
    - `categories`: how many there are: columns of the table.

    >>> count_choices([[1, 1, 3], [2, 0]], 3)
    array([[2, 0, 1],
           [0, 1, 0]])
    """
    counts = np.zeros((len(choices), categories), dtype=np.int64)
    for row, chosen in enumerate(choices):
        for choice in chosen:
            if 1 <= choice <= categories:
                counts[row, choice - 1] += 1
    return counts


def observed(counts: Counts) -> float:
    """Give the mean over items of the share of pairs of raters who agree (Fleiss 1971, equation 2).

    Raises BadRequest: no item has two answers.
    """
    used = _usable(counts)
    raters = used.sum(axis=1)
    agreeing = (used * (used - 1)).sum(axis=1) / (raters * (raters - 1))
    return float(agreeing.mean())


def shares(counts: Counts) -> npt.NDArray[np.float64]:
    """Give the mean over items of each category's share; shape (n_categories,). Raises as `observed`."""
    used = _usable(counts)
    means: npt.NDArray[np.float64] = (used / used.sum(axis=1, keepdims=True)).mean(axis=0)
    return means


def fleiss_kappa(counts: Counts) -> float | None:
    """Compute Fleiss' kappa (Fleiss 1971): chance agreement from how often each category was chosen.

    Returns: none where everybody always chose one and the same category: chance agreement is then perfect too.

    Raises BadRequest: as `observed`.

    >>> round(fleiss_kappa(np.array([[3, 0, 0], [0, 2, 1], [1, 1, 1]])), 3)
    0.135
    """
    return _beyond(observed(counts), float((shares(counts) ** 2).sum()))


def randolph_kappa(counts: Counts) -> float | None:
    """Compute the free-marginal kappa (Randolph 2005): by chance every category is chosen as often. As `fleiss_kappa`.

    >>> round(randolph_kappa(np.array([[3, 0, 0], [0, 2, 1], [1, 1, 1]])), 3)
    0.167
    """
    return _beyond(observed(counts), 1 / counts.shape[1])


def gwet_ac1(counts: Counts) -> float | None:
    """Compute AC1 (Gwet 2008, equation 5 for many categories). As `fleiss_kappa`.

    >>> round(gwet_ac1(np.array([[3, 0, 0], [0, 2, 1], [1, 1, 1]])), 3)
    0.182
    """
    each = shares(counts)
    return _beyond(observed(counts), float((each * (1 - each)).sum() / (len(each) - 1)))


def krippendorff_alpha(counts: Counts) -> float | None:
    """Compute Krippendorff's alpha, nominal, with missing answers (Krippendorff 2011, part D). As `fleiss_kappa`.

    >>> round(krippendorff_alpha(np.array([[3, 0, 0], [0, 2, 1], [1, 1, 1]])), 3)
    0.231
    """
    used = _usable(counts).astype(np.float64)
    raters = used.sum(axis=1)
    totals = used.sum(axis=0)
    answers = totals.sum()
    # The off-diagonal cells of the matrix of coincidences, and of what chance would put there.
    apart = ((raters**2 - (used**2).sum(axis=1)) / (raters - 1)).sum()
    expected = (answers**2 - (totals**2).sum()) / (answers - 1)
    return None if expected == 0 else float(1 - apart / expected)


def agreement_shares(counts: Counts) -> tuple[float, float]:
    """Give the shares of items on which all raters agree, and on which no two do. Raises as `observed`."""
    used = _usable(counts)
    all_agree = (used.max(axis=1) == used.sum(axis=1)).mean()
    none_agree = (used.max(axis=1) == 1).mean()
    return float(all_agree), float(none_agree)


def chance_shares(raters: int, categories: int) -> tuple[float, float]:
    """Give the shares of items on which all raters, and on which no two raters, agree by blind choice.

    - `raters`, `categories`: how many there are.

    >>> [round(100 * share, 1) for share in chance_shares(3, 3)]
    [11.1, 22.2]
    >>> chance_shares(4, 3)[1]
    0.0
    """
    every = categories**raters
    return categories / every, comb(categories, raters) * factorial(raters) / every


def majority(chosen: Sequence[int], answered: int) -> int:
    """Give the category that more than half of those who answered chose: two of three, three of four.

    - `chosen`: how many chose each category.
    - `answered`: how many answered, those who could not decide among them.

    Returns: the category, from 1; 0 where none has a majority.

    >>> majority([0, 2, 1], 3), majority([1, 1, 1], 3), majority([2, 0, 0], 4), majority([1, 0, 0], 1)
    (2, 0, 0, 0)
    """
    most = max(chosen)
    return 1 + list(chosen).index(most) if answered >= LEAST and 2 * most > answered else 0


def measures(counts: Counts) -> tuple[Measure, ...]:
    """Compute every measure."""
    computed = {"fleiss": fleiss_kappa, "randolph": randolph_kappa, "ac1": gwet_ac1, "alpha": krippendorff_alpha}
    some = bool(_rated(counts).any())
    found = []
    for key, compute in computed.items():
        value = compute(counts) if some else None
        meaning = " ".join(_MEANINGS[key].split())
        if value is None:
            meaning += f" {_ONE_NUMBER if some else _TOO_FEW}"
        found.append(Measure(key=key, label=_LABELS[key], value=value, meaning=meaning))
    return tuple(found)


def all_and_none(counts: Counts) -> tuple[Share, Share]:
    """Give the shares of items on which all, and no two, raters agree, beside chance for as many as answered each."""
    categories = counts.shape[1]
    raters = counts[_rated(counts)].sum(axis=1)
    values: tuple[float | None, float | None] = (None, None)
    chances: tuple[float | None, float | None] = (None, None)
    if len(raters):
        values = agreement_shares(counts)
        by_item = np.array([chance_shares(int(number), categories) for number in raters])
        chances = (float(by_item[:, 0].mean()), float(by_item[:, 1].mean()))
    return (
        Share(
            label="all agree",
            value=values[0],
            chance=chances[0],
            meaning="The share of items to which everybody who decided gave the same answer, right or wrong.",
        ),
        Share(
            label="none agree",
            value=values[1],
            chance=chances[1],
            meaning="The share of items to which no two people gave the same answer.",
        ),
    )


def paradox(counts: Counts) -> str:
    """Explain the paradox of kappa where it bites (Feinstein and Cicchetti 1990); else empty."""
    if not _rated(counts).any():
        return ""
    kappa, ac1 = fleiss_kappa(counts), gwet_ac1(counts)
    if ac1 is None or (kappa is not None and ac1 - kappa < BITES):
        return ""
    each = shares(counts)
    most = int(each.argmax())
    said = "cannot be computed" if kappa is None else f"is only {kappa:.2f}"
    return (
        f"Two people agreed in {100 * observed(counts):.0f}% of cases, and yet Fleiss' kappa {said}. That is the "
        f"paradox of kappa: option {most + 1} was chosen in {100 * each[most]:.0f}% of answers, so kappa takes much of "
        "the agreement for chance. It tells how the right options happen to be numbered here, not how good people are. "
        "Go by Randolph's kappa and Gwet's AC1, whose chance depends less on it; in a large study the numbers even out."
    )


def _beyond(agreed: float, chance: float) -> float | None:
    return None if chance >= 1 else (agreed - chance) / (1 - chance)


def _rated(counts: Counts) -> npt.NDArray[np.bool_]:
    rated: npt.NDArray[np.bool_] = counts.sum(axis=1) >= LEAST
    return rated


def _usable(counts: Counts) -> Counts:
    used = counts[_rated(counts)]
    if not len(used):
        raise BadRequest("No item has two answers, so nothing can be said of agreement. Ask a second annotator.")
    return used
