"""`evaluate sentences`: our sentences against lists of sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from argparse import Namespace

    from relic_core.wiring import App


def run(app: App, options: Namespace) -> int:
    """Score every list and print the shares."""
    from relic_core.services.evaluating import score_lists

    texts = options.texts or app.settings.library
    if texts is None:
        raise BadRequest("Where are the texts of these lists? Give --texts FOLDER or set RELIC_LIBRARY.")
    rows = []
    with console.ProgressLine("Scoring") as progress:
        max_bytes = app.settings.max_text_bytes
        for done, each in enumerate(
            score_lists(Path(options.whom), texts, cutter=options.segmenter or "rules", max_bytes=max_bytes), 1
        ):
            progress(done, 0, each.name)
            rows.append(each)
    if options.format == "json":
        listed = [
            {
                "work": row.name,
                "segmenter": row.segmenter,
                "precision": row.score.precision,
                "recall": row.score.recall,
                "ours": row.score.ours,
                "theirs": row.score.theirs,
                "exact": row.score.exact,
                "apparatus": row.score.apparatus,
            }
            for row in rows
        ]
        print(json.dumps(listed, indent=2))
        return 0
    heads = ("work", "ours exact", "theirs exact", "ours", "theirs")
    print(
        console.table(
            heads,
            [
                (row.name, f"{row.score.precision:.2%}", f"{row.score.recall:.2%}", row.score.ours, row.score.theirs)
                for row in rows
            ],
        )
    )
    return 0
