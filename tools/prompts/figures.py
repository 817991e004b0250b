"""What the report of the prompts comes to: figures for each retriever, and where a retriever answers otherwise now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain.figures import Table
from relic_core.errors import NotFound
from relic_core.evaluation.verdicts import readers_agreement
from relic_core.reporting.tables import as_markdown
from tools.prompts.asking import left_out
from tools.prompts.report import asked_now
from tools.prompts.report_files import shipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.wiring import App
    from tools.prompts.asking import Answered
    from tools.prompts.report import Edition, Report, Reported

MARKS = "prompts"
"""Name of the marks between which the documentation has its table."""

NOT_MADE = "The report has not been made yet."
"""What stands in the place of the table until there is a report."""

_SHOWN = 12
"""Digits of a sha256 that are enough for a reader."""


def figures(report: Report) -> Table:
    """Count, for each retriever, the hits that both readers called evidence, and say how far the readers agree.

    A hit counts as "supports" where both say so, and as "at least partly" where neither says "no".
    """
    verdicts = report.verdicts
    rows = []
    for retriever in report.retrievers:
        hits = [verdicts[id_] for prompt in report.prompts for id_ in prompt.hits.get(retriever.name, ())]
        supports = sum(set(both) == {"supports"} for both in hits)
        partly = sum("no" not in both for both in hits)
        rows.append((retriever.label, len(hits), supports, partly))
    first, second = zip(*verdicts.values(), strict=True)
    agreement = readers_agreement(first, second)
    kappa = "cannot be said" if agreement.kappa is None else f"{agreement.kappa:z.2f}"
    alike = f"{agreement.equal} of {agreement.passages} passages the same verdict"
    return Table(
        caption=f"{len(report.prompts)} prompts of the RELiC paper, the first hits of each retriever, two readers.",
        heads=("retriever", "hits", "both: supports", "both: at least partly"),
        rows=tuple(rows),
        notes=(
            f"The readers gave {alike} ({agreement.equal / agreement.passages:.0%}); Cohen's kappa {kappa}.",
            f"Asked on {report.created:%d %B %Y} with version {report.code}.",
            *(f"Not asked: {each['title']} (Table {each['table']}), {each['why']}." for each in report.left_out),
        ),
    )


def page_table() -> str:
    """Make what docs/prompts.md has between its marks.

    Raises BadBenchmark: the report that comes with the program is damaged.
    """
    try:
        report = shipped()
    except NotFound:
        absent = [f"{each.prompt.title} (Table {each.table}): {why}" for each, why in left_out()]
        return f"{NOT_MADE} It will leave out {'; '.join(absent)}."
    return as_markdown(figures(report))


def differences(report: Report, app: App, answers: Sequence[Answered]) -> tuple[str, ...]:
    """Say where the first hits are not those of a report.

    - `report`: what was found when it was made.
    - `app`: whose retrievers answered now.

    Returns: sentences; none where every hit is the same.
    """
    said = []
    editions = {edition.slug: edition for edition in report.works}
    for each in {each.slug: each for each in answers}.values():
        edition = editions.get(each.slug)
        if edition is not None and edition.sha256 != each.work.sha256:
            said.append(_other_edition(edition, each))
    reported = {(each.table, each.asked, each.length): each for each in report.prompts}
    for answered in answers:
        prompt = answered.prompt
        then = reported.pop((prompt.table, prompt.asked, prompt.length), None)
        if then is None:
            said.append(f"{_named(prompt.prompt.claim, prompt.length)} is not in the report.")
            continue
        edition = editions.get(then.work)
        if edition is not None and edition.sha256 == answered.work.sha256:
            said.extend(_moved(app, then, answered))
    said.extend(
        f"{_named(each.claim, each.length)} is in the report and no longer asked." for each in reported.values()
    )
    return tuple(said)


def changed_makers(report: Report, app: App, answers: Sequence[Answered]) -> tuple[str, ...]:
    """Say which retrievers are made otherwise than when the report was; their hits may be the same all the same."""
    then = {each.name: each for each in report.retrievers}
    said = []
    for now in asked_now(app, answers):
        before = then.get(now.name)
        if before is not None and (before.encoder, before.configuration) != (now.encoder, now.configuration):
            names = sorted(before.configuration.keys() | now.configuration.keys())
            parts = [name for name in names if before.configuration.get(name) != now.configuration.get(name)]
            said.append(f"{now.label} is made otherwise than when the report was: {', '.join(parts) or 'encoder'}.")
    return tuple(said)


def _moved(app: App, then: Reported, now: Answered) -> list[str]:
    said = []
    for name in dict.fromkeys([*then.hits, *now.hits]):
        label = app.indexes.card(name).label
        where = f"{label}, {_named(then.claim, then.length)}"
        if name not in now.hits:
            said.append(f"{where}: in the report, and no longer asked.")
        elif name not in then.hits:
            said.append(f"{where}: asked now, and not in the report.")
        elif tuple(map(now.id_of, now.hits[name])) != then.hits[name]:
            here = ", ".join(str(now.work.address(span.start)) for span in now.hits[name]) or "nothing"
            there = ", ".join(then.passages[id_].address for id_ in then.hits[name]) or "nothing"
            said.append(f"{where}: {here}; in the report {there}.")
    return said


def _other_edition(edition: Edition, now: Answered) -> str:
    return (
        f"{now.work.title} is another edition here ({now.work.sha256[:_SHOWN]}) than in the report "
        f"({edition.sha256[:_SHOWN]}), so its hits cannot be compared."
    )


def _named(claim: str, length: int) -> str:
    return f"“{claim}” ({length} sentence{'s' * (length > 1)})"
