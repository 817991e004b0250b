"""Agreement between raters: how far people who answered the same items chose the same, beyond what chance gives.

All is computed from one table, with a row for each item and a column for each category: how many raters chose it. What
counts as a category, how unequal numbers of answers count, and what the intervals speak of: docs/proxy_task.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial

import numpy as np
import numpy.typing as npt

from relic_core.domain.studies import Measure
from relic_core.errors import BadRequest
from relic_core.evaluation.intervals import Interval, draws, ends, over_of, units
from relic_core.evaluation.metrics import Values

Counts = npt.NDArray[np.int64]
"""Shape (n_items, n_categories): how many raters chose each category."""

LEAST = 2
"""Answers that an item needs for anything to be said of agreement."""

BITES = 0.1
"""How far kappa lies below AC1 where the paradox of kappa is worth a word."""

KEYS = ("fleiss", "randolph", "ac1", "alpha", "all agree", "none agree")
"""What is measured: Fleiss (1971), Randolph (2005), Gwet (2008, equation 5), Krippendorff (2011, part D), shares."""

_ENOUGH = 0.95
"""Share of the samples in which a measure has to exist: one in which one category alone was chosen has no kappa."""

_NOTHING = 1e-12
_TOO_FEW = "No item has two answers yet."
_ONE_NUMBER = "It cannot be computed: one option number alone was ever chosen, so that chance agreement is perfect too."
_MEASURES = {
    "fleiss": (
        "Fleiss' kappa",
        """How much more often two people chose the same than they would if each chose by chance, in the
        proportions in which the option numbers were chosen on the whole: 1 is perfect agreement, 0 no more than chance.
        This is the figure of the RELiC paper.""",
    ),
    "randolph": (
        "Randolph's free-marginal kappa",
        """The same against blind choice among three equal options: since the options are shuffled, nobody can
        know beforehand how often each number will be right, and this is the chance that fits.""",
    ),
    "ac1": (
        "Gwet's AC1",
        """The same with a chance that counts only where choosing was hard: it stays near the plain agreement where
        kappa drops although nearly everybody agrees.""",
    ),
    "alpha": (
        "Krippendorff's alpha",
        """The same counted by disagreements, made for data in which not everybody answered everything; some
        journals ask for 0.80, or for 0.67 where conclusions are tentative.""",
    ),
}
_OF_LABELS = {
    "fleiss": """How much more often two people gave the same label than they would by chance, in the proportions in
        which labels were given on the whole: 1 is perfect agreement, 0 no more than chance.""",
    "randolph": "The same against blind choice among three labels.",
}
_SHARES = {
    "all agree": "The share of items to which everybody who decided gave the same answer, right or wrong.",
    "none agree": "The share of items to which no two people gave the same answer.",
}


def agreement(counts: Counts, weights: Values | None = None) -> dict[str, Values]:
    """Measure the agreement of one table, or of samples of its items.

    - `weights`: shape (samples, n_items with two answers): how often each was drawn; once each where not given.

    Returns: by `KEYS`, "observed" (Fleiss 1971, equation 2) and "shares" (of the categories, shape (samples,
    n_categories)); else shape (samples,), NaN where a measure does not exist: one category alone was chosen.

    Raises BadRequest: no item has two answers.

    >>> measured = agreement(np.array([[3, 0, 0], [0, 2, 1], [1, 1, 1]]))
    >>> [round(float(measured[key][0]), 3) for key in KEYS[:4]]
    [0.135, 0.167, 0.182, 0.231]
    """
    used = counts[_rated(counts)]
    if not len(used):
        raise BadRequest("No item has two answers, so nothing can be said of agreement. Ask a second annotator.")
    raters = used.sum(axis=1).astype(np.float64)
    squares = (used**2).sum(axis=1)
    drawn = np.array([len(used)]) if weights is None else weights.sum(axis=1)

    def total(each: Values) -> Values:
        sums: Values = each.sum(axis=0)[np.newaxis] if weights is None else weights @ each
        return sums

    observed = total((squares - raters) / (raters * (raters - 1))) / drawn
    shares = total(used / raters[:, np.newaxis]) / drawn[:, np.newaxis]
    totals = total(used.astype(np.float64))
    answers = totals.sum(axis=1)
    # The off-diagonal cells of the matrix of coincidences, and of what chance would put there.
    apart = total((raters**2 - squares) / (raters - 1))
    expected = (answers**2 - (totals**2).sum(axis=1)) / (answers - 1)
    categories = used.shape[1]
    return {
        "observed": observed,
        "shares": shares,
        "fleiss": beyond(observed, (shares**2).sum(axis=1)),
        "randolph": beyond(observed, np.full(len(observed), 1 / categories)),
        "ac1": beyond(observed, (shares * (1 - shares)).sum(axis=1) / (categories - 1)),
        "alpha": 1 - np.divide(apart, expected, out=np.full(len(apart), np.nan), where=expected > _NOTHING),
        "all agree": total((used.max(axis=1) == raters).astype(np.float64)) / drawn,
        "none agree": total((used.max(axis=1) == 1).astype(np.float64)) / drawn,
    }


def beyond(agreed: Values, chance: Values) -> Values:
    """Say how far agreement goes beyond chance, of all that it could; NaN where chance agreement is perfect."""
    left = 1 - chance
    found: Values = np.divide(agreed - chance, left, out=np.full(len(agreed), np.nan), where=left > _NOTHING)
    return found


def _rated(counts: Counts) -> npt.NDArray[np.bool_]:
    rated: npt.NDArray[np.bool_] = counts.sum(axis=1) >= LEAST
    return rated


def intervals(counts: Counts, works: Sequence[str], *, seed: int = 0, samples: int = 2000) -> dict[str, Interval]:
    """Compute the intervals of all measures; the order of the items is part of what the seed decides.

    - `works`: the work of each item. Works are drawn where there are two or more, else items.

    Returns: by `KEYS`; without those that cannot be had: fewer than two items with two answers, or a measure that more
    than one sample of twenty does not have.
    """
    rated = _rated(counts)
    of = [work for work, usable in zip(works, rated, strict=True) if usable]
    if len(of) < LEAST:
        return {}
    members = units(of, over=over_of(of))
    drawn = [agreement(counts, times[:, members]) for times in draws(members, samples=samples, seed=seed)]
    here = agreement(counts)
    found = {}
    for key in KEYS:
        values = np.concatenate([each[key] for each in drawn])
        known = values[np.isfinite(values)]
        value = float(here[key][0])
        if np.isfinite(value) and len(known) >= _ENOUGH * len(values):
            low, high = ends(known)
            found[key] = Interval(value=value, low=low, high=high)
    return found


def chance_shares(raters: int, categories: int) -> tuple[float, float]:
    """Give the shares of items on which all raters, and on which no two raters, agree by blind choice.

    >>> [round(100 * share, 1) for share in chance_shares(3, 3)]
    [11.1, 22.2]
    >>> chance_shares(4, 3)[1]
    0.0
    """
    every = categories**raters
    return categories / every, comb(categories, raters) * factorial(raters) / every


def majority(chosen: Sequence[int], answered: int) -> int:
    """Give the category that more than half of those who answered chose, from 1; 0 for none, or a single answer.

    - `answered`: how many answered, those who could not decide among them.

    >>> majority([0, 2, 1], 3), majority([1, 1, 1], 3), majority([2, 0, 0], 4), majority([1, 0, 0], 1)
    (2, 0, 0, 0)
    """
    most = max(chosen)
    return 1 + list(chosen).index(most) if answered >= LEAST and 2 * most > answered else 0


def measures(counts: Counts, *, labels: bool = False) -> tuple[Measure, ...]:
    """Compute every measure, in the order of `KEYS`; the shares beside chance for as many as answered each item.

    - `labels`: whether categories are labels, not numbers of options that were shuffled.
    """
    raters = counts[_rated(counts)].sum(axis=1)
    some = len(raters) > 0
    values = agreement(counts) if some else {}
    chances = np.array([chance_shares(int(number), counts.shape[1]) for number in raters])
    found = []
    for key in KEYS:
        value = float(values[key][0]) if some and np.isfinite(values[key][0]) else None
        if key in _SHARES:
            chance = float(chances[:, list(_SHARES).index(key)].mean()) if some else None
            found.append(Measure(key=key, label=key, value=value, meaning=_SHARES[key], chance=chance))
            continue
        label, meaning = _MEASURES[key]
        meaning = _OF_LABELS.get(key, meaning) if labels else meaning
        why = "" if value is not None else f" {_ONE_NUMBER if some else _TOO_FEW}"
        found.append(Measure(key=key, label=label, value=value, meaning=f"{' '.join(meaning.split())}{why}"))
    return tuple(found)


def paradox(counts: Counts, labels: Sequence[str] = ()) -> str:
    """Explain the paradox of kappa where it bites (Feinstein and Cicchetti 1990); else empty."""
    if not _rated(counts).any():
        return ""
    measured = agreement(counts)
    kappa, ac1, observed = (float(measured[key][0]) for key in ("fleiss", "ac1", "observed"))
    if np.isnan(ac1) or ac1 - kappa < BITES:
        return ""
    shares = measured["shares"][0]
    most = int(shares.argmax())
    chosen = f"“{labels[most]}”" if labels else f"option {most + 1}"
    why = "how common one label is" if labels else "how the right options happen to be numbered"
    end = "" if labels else "; in a large study the numbers even out"
    size = "cannot be computed" if np.isnan(kappa) else f"is only {kappa:.2f}"
    return (
        f"Two people agreed in {100 * observed:.0f}% of cases, and yet Fleiss' kappa {size}. That is the "
        f"paradox of kappa: {chosen} was chosen in {100 * shares[most]:.0f}% of answers, so kappa takes much "
        f"of the agreement for chance. It tells {why} here, not how good people "
        f"are. Go by Randolph's kappa and Gwet's AC1, whose chance depends less on it{end}."
    )
