"""Find where a work echoes others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relic_core.cli import console
from relic_core.cli.commands import command, path_option
from relic_core.cli.console import note
from relic_core.domain.figures import many
from relic_core.echoes import files
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from relic_core.wiring import App


@command(
    "echoes moby-dick the-holy-bible --chapter 9",
    "echoes frankenstein paradise-lost --method tesserae --most 0.02 --save pairs.csv",
    more="Files end in .csv, .json or .xml (TEI links between passages named by work and address).",
)
@click.argument("work", help="Its id, the beginning of its id, or its title.")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...", help="The works it may echo.")
@click.option("--chapter", type=click.IntRange(1), metavar="N", help="Of the first work; else all of it.")
@click.option("--at", default="", metavar="ADDRESS", help="A passage of the first work: chapter.paragraph.sentence.")
@click.option("--length", type=click.IntRange(1, 20), default=1, show_default=True, help="With --at: its sentences.")
@click.option("--method", help="How passages are compared; without it, by the best combination.")
@click.option("--top", type=click.IntRange(1), help="How many pairs.")
@click.option("--most", type=float, help="Leave out words in more than this share of the passages.")
@click.option("--least", type=click.IntRange(1), help="Leave out words that occur less often than this.")
@click.option("--stopwords/--no-stopwords", default=None, help="Whether function words count.")
@click.option("--tokens", is_flag=True, help="Compare words as they stand, not their lemmas.")
@click.option(
    "--vectors", metavar="PATH", help="Vectors of words in text format, or WordNet: of wmd, soft-cosine and hybrid."
)
@path_option("--save", "FILE", "Write the pairs to a file instead of printing them.")
def echoes(app: App, work: str, others: Sequence[str], save: Path | None, **asked: Any) -> None:
    """Find where a work echoes others, or itself: pairs of passages, the best first."""
    from relic_core.echoes.service import EchoRequest

    form = {".csv": "csv", ".json": "json", ".xml": "tei"}.get(save.suffix.lower()) if save else ""
    if form is None:
        raise BadRequest(f"Pairs are written as .csv, .json or .xml (TEI), and '{save}' ends otherwise.")
    given = {name: value for name, value in asked.items() if value is not None}
    ids = tuple(app.works.resolve(each).id for each in others)
    request = EchoRequest(work_id=app.works.resolve(work).id, others=ids, **given)
    with console.ProgressLine("Echoes") as progress:
        answer = app.echoes.find(request, progress)
    if answer.notice:
        note(answer.notice)
    if save:
        files.save(answer.echoes, form or "", save)
        print(f"{len(answer.echoes)} pairs are in {save}.")
        return
    for each in answer.echoes:
        print(f"{each.number}. {each.score:.3f}")
        for side in (each.a, each.b):
            print(f"   {side.work.title}, {side.place.label}\n      {side.text}")
    print(f"{many(len(answer.echoes), 'pair')} of {answer.units[0]:,} and {answer.units[1]:,} passages.")
