"""Splits: which pairs and windows are for development, for testing, for training, and which are left out, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from relic_core.store.rows import Rows, add_many, utc_now

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["pair", "window"]

_CHANGES = """
WITH made AS (SELECT min(created) AS at FROM splits), done AS (
    SELECT 1 AS number, 'sources were mined' AS what, max(mined) AS at FROM mined
    UNION ALL
    SELECT 2, 'windows were judged', max(created) FROM judgements WHERE question = 'match'
    UNION ALL
    SELECT 3, 'works were added', max(added) FROM works
    UNION ALL
    SELECT 4, 'works or sources were removed', max(removed) FROM tombstones WHERE kind IN ('work', 'source')
)
SELECT what FROM done, made WHERE done.at > made.at ORDER BY number
"""


class SplitRows(Rows):
    """Stored splits."""

    def replace(self, kind: Kind, rows: Sequence[tuple[str, str, str]]) -> None:
        """Write down a split in the place of the one before, in one transaction.

        Parameters
        ----------
        kind : {"pair", "window"}
            What is split.
        rows : sequence of (str, str, str)
            Id, split ("dev", "test", "training", "left out"), and why it is in it; the reason may be empty.
        """
        now = utc_now()
        with self._writing() as cursor:
            cursor.execute("DELETE FROM splits WHERE kind = ?", [kind])
            add_many(
                cursor,
                "splits",
                {
                    "kind": [kind for _ in rows],
                    "id": [row_id for row_id, _, _ in rows],
                    "split": [split for _, split, _ in rows],
                    "reason": [reason for _, _, reason in rows],
                    "created": [now for _ in rows],
                },
            )

    def of(self, kind: Kind) -> dict[str, tuple[str, str]]:
        """Give the split of each pair or window, and why it is in it."""
        with self._reading() as cursor:
            rows = cursor.execute("SELECT id, split, reason FROM splits WHERE kind = ? ORDER BY id", [kind]).fetchall()
        return {row_id: (split, reason) for row_id, split, reason in rows}

    def changed_since(self) -> tuple[str, ...]:
        """Say what was done since the splits were made that may part pairs and windows otherwise; nothing, if nothing.

        Returns
        -------
        tuple of str
            In words: "sources were mined", "windows were judged", "works were added" and the like; empty too where
            there are no splits.
        """
        with self._reading() as cursor:
            rows = cursor.execute(_CHANGES).fetchall()
        return tuple(what for (what,) in rows)

    def counts(self, kind: Kind) -> dict[str, int]:
        """Count how many are in each split."""
        with self._reading() as cursor:
            rows = cursor.execute(
                "SELECT split, count(*) FROM splits WHERE kind = ? GROUP BY split ORDER BY split", [kind]
            ).fetchall()
        return dict(rows)
