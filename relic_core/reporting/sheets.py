"""A sheet of what a language model was measured at: what it took, and its figures beside published ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from relic_core.domain import Run
from relic_core.domain.figures import Cell, Table
from relic_core.formats.escaping import escape_markdown
from relic_core.reporting import tables

_MODEL = ("reranker reranker", "reranker weights")
_PROMPT, _TAKEN, _NONE = "reranker prompt ", "model ", "–"


def write(runs: Sequence[Run], figures: Table, command: str, left: int) -> str:
    """Write a sheet in Markdown.

    - `figures`: of the runs, beside published ones.
    - `command`: what was typed; `left`: how many runs it has still to make.
    """
    facts = [run.configuration for run in runs if _MODEL[0] in run.configuration]
    models = _each(" ".join(each[name] for name in _MODEL if name in each) for each in facts)
    code = _each(f"{run.code}, Python {run.machine.get('python', _NONE)}" for run in runs)
    going = f"\nRuns still to be made: {left}. The same command goes on from there.\n" if left else ""
    return f"""# Read by a language model

- Model, as `RELIC_READER_MODEL` names it, with its digest where the server says one: {models}
- Measured with RELiC Workbench {code}
- To measure it again, with the server and this model in `RELIC_READER` and `RELIC_READER_MODEL`
  (FILE, DATA and SHEET are your own):

```
{command}
```
{going}
{tables.write((_taken(runs), figures), "markdown")}
"""


def _each(text: Iterable[str]) -> str:
    return escape_markdown("; ".join(dict.fromkeys(text)))


def _taken(runs: Sequence[Run]) -> Table:
    taken = list(dict.fromkeys(name for run in runs for name in run.machine if name.startswith(_TAKEN)))
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        prompts = [f"{_short(name)} {text}" for name, text in run.configuration.items() if name.startswith(_PROMPT)]
        own = [int(text) if (text := run.machine.get(name, _NONE)).isdecimal() else text for name in taken]
        row = (run.id, run.benchmark, run.label, ", ".join(prompts) or _NONE, *own, f"{run.seconds:,.1f}")
        rows.append((*row, f"{run.created:%Y-%m-%d}"))
    return Table(
        caption="What was measured, and what it took",
        heads=("run", "benchmark", "system", "prompts", *map(_short, taken), "seconds", "measured"),
        rows=tuple(rows),
        notes=("Prompts are named by their digests. What was answered before is not asked again, and not counted.",),
    )


def _short(name: str) -> str:
    return name.removeprefix(_PROMPT).removeprefix(_TAKEN)
