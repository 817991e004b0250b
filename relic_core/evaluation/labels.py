"""Labels that readers gave quotations, joined with the examples of benchmarks and runs.

A label of an example goes by its id and a digest of the quotation: of the work's text, and of where in it the quotation
stands. So it never comes to stand beside another quotation of that id. Windows mined here go by their id alone, which
is such a digest, and so do labels from before there were digests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from relic_core.domain import Offsets, QuotationContext, Work


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of some quotations by id; how many there are, and for how many the id is labelled for another one."""

    by_id: Mapping[str, str]
    quotations: int
    gone: int

    @property
    def summary(self) -> str:
        """What was joined, in sentences; empty where nobody has labelled any."""
        if not (self.by_id or self.gone):
            return ""
        words = f"{len(self.by_id):,} of {self.quotations:,} quotations have a reader's label"
        words += "." if len(self.by_id) == self.quotations else "; for the others the column label is empty."
        if self.gone:
            words += (
                f" {self.gone:,} ids are labelled for a quotation that is gone: under them another one stands "
                "here, or another edition. Have these labelled anew."
            )
        return words


def label_key(example_id: str, work_sha256: str, at: Offsets) -> str:
    """Name the quotation of an example, by its id and digest."""
    return f"{example_id} {hashlib.sha256(f'{work_sha256} {at[0]} {at[1]}'.encode()).hexdigest()[:12]}"


def join(labels: Mapping[str, str], quotations: Iterable[tuple[str, str, Offsets]]) -> Labels:
    """Find the labels of quotations.

    - `quotations`: of each the id of its example, the digest of its work, and where in it it stands.
    """
    known = {key.rpartition(" ")[0] for key, label in labels.items() if label}
    found, count, gone = {}, 0, 0
    for example_id, sha256, at in quotations:
        count += 1
        label = labels.get(label_key(example_id, sha256, at), "") if example_id in known else ""
        if label := label or labels.get(example_id, ""):
            found[example_id] = label
        else:
            gone += example_id in known
    return Labels(found, count, gone)


def join_windows(labels: Mapping[str, str], windows: Sequence[QuotationContext], work: Callable[[str], Work]) -> Labels:
    """Find the labels of the windows of a benchmark; works, given by their pools, are opened where there are labels."""

    def quotation(window: QuotationContext) -> tuple[str, str, Offsets]:
        if not labels:
            return window.id, "", (0, 0)
        opened = work(window.pool)
        return window.id, opened.sha256, opened.span_offsets(window.gold)

    return join(labels, map(quotation, windows))
