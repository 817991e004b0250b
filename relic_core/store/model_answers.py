"""What language models have answered, and what was decided for the claims they read beside; appended, never updated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relic_core.store.rows import Rows, utc_now


class ModelAnswerRows(Rows):
    """Answers by the digest of what was asked of which model."""

    def get(self, digests: Sequence[str]) -> dict[str, str]:
        """Give the answers that there are; of one that was given twice the first."""
        asked = "SELECT digest, answer FROM model_answers WHERE digest IN (SELECT unnest(?)) ORDER BY created DESC"
        return dict(self._all(asked, [list(digests)]))

    def add(self, model: str, answers: Mapping[str, tuple[str, int]]) -> None:
        """Keep answers: by digest the answer and its tokens."""
        now = utc_now()
        with self._writing() as cursor:
            cursor.executemany(
                "INSERT INTO model_answers VALUES (?, ?, ?, ?, ?)",
                [[digest, model, answer, tokens, now] for digest, (answer, tokens) in answers.items()],
            )


class ReadingTextRows(Rows):
    """Objectives and criteria of claims, each kind by itself; claims stand by a digest."""

    def get(self, kind: str, claim: str) -> str | None:
        """Give the last text of a kind for a claim; None where there is none."""
        row = self._one(
            "SELECT text FROM reading_texts WHERE kind = ? AND claim = ? ORDER BY created DESC LIMIT 1", [kind, claim]
        )
        return None if row is None else str(row[0])

    def add(self, kind: str, claim: str, text: str) -> None:
        """Keep a text; it counts from now on."""
        with self._writing() as cursor:
            cursor.execute("INSERT INTO reading_texts VALUES (?, ?, ?, ?)", [kind, claim, text, utc_now()])
