"""Studies: make, list and show them, take them in and give them away, have models answer, use what people said."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from relic_core.cli import console
from relic_core.cli.commands import Actions, add_remove_and_restore, format_option, path_option, show
from relic_core.cli.console import note
from relic_core.domain.runs import ECHOES
from relic_core.reporting import tables

if TYPE_CHECKING:
    from relic_core.wiring import App

_WORKS_NAMED = 3

study = Actions(
    "study",
    default="list",
    help="Studies: people and models choose the missing quotation out of three; people mark how much of a passage is "
    "an allusion, or say what quotations are there for.",
    epilog=show(
        "study",
        "study make Averhythe --benchmark sample --most 10",
        "study make Emma --benchmark public-relic-test --work emma --most 100 --seed 4",
        "study make Hard --benchmark sample --chooser zero-shot --beyond 100",
        "study make Echoes --kind span --pairs pairs.json",
        "study make Kinds --kind evidence --benchmark sample --wanted 2",
        "study package department.zip",
        "study models Averhythe",
        "study results Averhythe",
        "study answers Averhythe answers.csv",
        "study report Averhythe report.html",
        "study information Averhythe information.html",
        "study retrieval Echoes --method tesserae",
        "study label Kinds",
        "study export Averhythe study.json",
        "study import study.json",
        "study answers Averhythe ours.json",
        "study import-answers Averhythe theirs.json --of Oxford",
        "study owner-code Averhythe 'a code of yours'",
        "study remove-annotator Averhythe Anna",
        more="Answers and reports give numbers in place of names, and no comments, unless --named is given. People "
        "answer on the page Proxy task of the app. docs/proxy_task.md says what the figures mean.",
    ),
)
_study_argument = click.argument("study_name", metavar="STUDY", help="A name, or the beginning of an id.")
_file_argument = click.argument("file", type=click.Path())
_format_option = format_option(*tables.FORMATS)
_named_option = click.option("--named", is_flag=True, help="With names, hours and comments.")


@study.command("list")
@_format_option
def list_studies(app: App, form: tables.Format) -> None:
    """List the studies."""
    rows = tuple(
        (
            each.id,
            each.name,
            each.version,
            each.items,
            ", ".join(each.works[:_WORKS_NAMED])
            + (f" and {len(each.works) - _WORKS_NAMED} more" if len(each.works) > _WORKS_NAMED else ""),
            each.annotators,
            each.answers,
            f"{each.created:%Y-%m-%d}",
        )
        for each in app.studies.all()
    )
    heads = ("id", "name", "version", "items", "works", "annotators", "answers", "made")
    print(tables.write((tables.Table(caption="", heads=heads, rows=rows),), form))


@study.command("make")
@click.argument("name")
@click.option("--kind", default="proxy", show_default=True, help="proxy, span or evidence.")
@click.option("--benchmark", default="", help="Whose windows (default: those mined here).")
@click.option("--work", "works", multiple=True, help="Only of this work; may be given several times.")
@click.option("--length", "lengths", type=int, multiple=True, help="Sentences of a quotation (default: 1); 0 for any.")
@click.option("--shape", default="4/4", show_default=True, help="Sentences before and after the gap.")
@click.option("--chooser", default="bm25", show_default=True, help="Who chooses the other options.")
@click.option("--beyond", type=int, default=0, help="Only quotations that it ranks behind this place (paper: 1000).")
@click.option("--most", type=int, default=0, help="So many items at most (default: all).")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides draw and orders.")
@click.option("--wanted", type=int, default=3, help="Annotators for each item (default: 3; evidence 2); 0 for all.")
@click.option("--shared", type=int, default=0, help="Divide the study: so many items for all, each other for one.")
@path_option("--data", "PATH", "Your own file of the benchmark's data.")
@path_option("--pairs", "FILE", "Of spans: JSON lines with passage and anchor, or pairs that Echoes saved as JSON.")
@path_option("--texts", "FOLDER", f"Of {ECHOES}: where the verses are, if elsewhere.")
def make(
    app: App, data: Path | None, pairs: Path | None, texts: Path | None, lengths: tuple[int, ...], **asked: Any
) -> None:
    """Draw windows, and have a retriever choose the other options; or ask for spans or kinds of evidence."""
    from relic_core.domain.studies import StudyRequest, study_kind

    if click.get_current_context().get_parameter_source("wanted") is ParameterSource.DEFAULT:
        asked["wanted"] = None  # as many as its kind wants
    one = not lengths and asked["kind"] != "evidence"
    request = StudyRequest(lengths=(1,) if one else () if 0 in lengths else lengths, **asked)
    if study_kind(request.kind).marks_spans:
        if request.benchmark != ("" if pairs else ECHOES):
            raise click.UsageError(f"A study of spans wants --pairs FILE, or --benchmark {ECHOES}.")
        known = partial(app.echoes.known, data, texts)
        made = app.study_making.make_spans(request, known, file=pairs)
        print(f"{made.label} ({made.id}) has {len(made.items):,} items of {made.making.windows:,} pairs.")
        return
    if pairs or texts:
        raise click.UsageError("--pairs and --texts are for studies of spans: add --kind span.")
    with console.ProgressLine("Making items") as progress:
        made = app.study_making.make(request, data=data, progress=progress)
    print(f"{made.label} ({made.id}) has {len(made.items):,} items of {made.making.windows:,} windows.")
    note(*filter(None, [made.division]))


@study.command("show")
@_study_argument
def show_study(app: App, study_name: str) -> None:
    """Show what a study is made of, and who has answered."""
    from relic_core.studies.report import made_of

    found = app.studies.find(study_name)
    view = app.studies.get(found.id)
    facts = [
        ("study", f"{found.label} ({found.id})"),
        ("kind", found.kind.name),
        ("works", "; ".join(work.title for work in found.works)),
        *made_of(found),
        ("annotators wanted", str(view.terms.wanted or "everybody")),
        ("right and wrong", "shown" if view.terms.revealed else "not shown"),
        ("answers", f"{view.answers:,}{', so it is frozen' if view.frozen else ''}"),
        ("program", found.making.code),
    ]
    print(console.table(("", ""), facts).lstrip("\n"))
    if counts := app.studies.annotators(found.id):
        rows = [(each.annotator.name, each.annotator.id, each.answered) for each in counts]
        print(f"\n{console.table(('annotator', 'id', 'answered'), rows)}")
    for sentence in view.held:
        print(f"\nIt is held back: {sentence}")


@study.command("results")
@_study_argument
@_format_option
def results(app: App, study_name: str, form: tables.Format) -> None:
    """Print how often people and models are right."""
    from relic_core.studies.report import tables as tables_of

    print(tables.write(tables_of(app.study_results.of(app.studies.find(study_name).id)), form))


@study.command("models")
@_study_argument
@click.option("--retriever", default="", help="Some, with commas between (default: all).")
@click.option("--again", is_flag=True, help="Ask although they have answered.")
@_format_option
def models(app: App, study_name: str, retriever: str, again: bool, form: tables.Format) -> None:
    """Have models answer."""
    from relic_core.services.evaluation import named_retrievers
    from relic_core.studies.report import accuracies

    found = app.studies.find(study_name)
    names = named_retrievers(retriever) if retriever else ()
    with console.ProgressLine("Models answer") as progress:
        _, silent = app.study_models.answer(found.id, names, again=again, progress=progress)
    note(*silent)
    print(tables.write((accuracies(app.study_results.of(found.id)),), form))


@study.command("answers")
@_study_argument
@_file_argument
@_named_option
@click.option("--comments", is_flag=True, help="With comments, though without names.")
def answers(app: App, study_name: str, file: str, named: bool, comments: bool) -> None:
    """Write the answers into FILE.csv or FILE.json."""
    found, files = app.studies.find(study_name), app.study_files
    write = {".csv": files.answers_csv, ".json": files.answers_json}.get(Path(file).suffix.lower())
    if write is None:
        raise click.UsageError("study answers writes FILE.csv or FILE.json.")
    _write(found.label, file, write(found.id, anonymous=not named, comments=comments or named))
    note(*filter(None, [found.division, _nobody(app, found.id)]))


@study.command("report")
@_study_argument
@_file_argument
@_named_option
def report(app: App, study_name: str, file: str, named: bool) -> None:
    """Write the report into a file (HTML)."""
    found = app.studies.find(study_name)
    _write(found.label, file, app.study_files.report(found.id, anonymous=not named))
    note(*filter(None, [_nobody(app, found.id)]))


@study.command("information")
@_study_argument
@_file_argument
def information(app: App, study_name: str, file: str) -> None:
    """Write the information sheet for participants (HTML).

    Who runs the study, what is asked, how long it takes, what is stored, who sees it, how to withdraw: from the study's
    own settings, which its page has under Manage.
    """
    found = app.studies.find(study_name)
    _write(found.label, file, app.study_files.information(found.id))


@study.command("package")
@_file_argument
@click.argument("study_name", metavar="[STUDY]", default="")
@click.option("--minutes", type=click.IntRange(1), metavar="N", help="So many items as one reader reads in N minutes.")
@click.option("--shared", type=click.IntRange(0), default=20, show_default=True, help="Items for all; 0: all for all.")
@click.option("--readers", type=click.IntRange(2), default=3, show_default=True, help="Who share the others.")
def package(app: App, file: str, study_name: str, minutes: int | None, shared: int, readers: int) -> None:
    """Pack a study for a department: FILE.zip with its items, the information sheet and a guide.

    Without a study it is that of all single sentences that critics quote of the test works, which is made if it is not
    here, divided among its readers so that each has about an hour to read. Their texts do not come with the program:
    what is missing is said.
    """
    from relic_core.studies.report import load_of

    context = click.get_current_context()
    divided = any(context.get_parameter_source(name) is not ParameterSource.DEFAULT for name in ("shared", "readers"))
    if (study_name and (minutes or divided)) or (minutes and divided):
        raise click.UsageError(
            "--minutes draws items of the test works that all read, --shared and --readers divide all of them: give "
            "one or the other, and no study, which has the items that it has."
        )
    if not shared and context.get_parameter_source("readers") is not ParameterSource.DEFAULT:
        raise click.UsageError("With --shared 0 all read all items: --readers divides none. Leave one of them away.")
    if study_name:
        found = app.studies.find(study_name)
    else:
        with console.ProgressLine("Making items") as progress:
            asked = 0 if minutes else shared
            found = app.study_making.of_test_works(minutes, progress, shared=asked, readers=readers)
    _write(f"{found.label}, {len(found.items):,} items", file, app.study_files.package(found.id))
    note(f"Shown to a reader: {load_of(app.studies.get(found.id))}", *filter(None, [found.division]))


@study.command("retrieval")
@_study_argument
@click.option("--method", default="tf-idf", show_default=True, help="A method of echoes that goes by words.")
@path_option("--data", "PATH", f"Of {ECHOES}: the folder of its data.")
@path_option("--texts", "FOLDER", f"Of {ECHOES}: where the verses are, if elsewhere.")
@_format_option
def retrieval(
    app: App, study_name: str, method: str, data: Path | None, texts: Path | None, form: tables.Format
) -> None:
    """Compare the spans that readers marked with windows of 3 and 10 words and the sentence, as queries."""
    from relic_core.studies.results import span_retrieval

    results = app.study_results.of(app.studies.find(study_name).id)
    made = span_retrieval(results, partial(app.echoes.known, data, texts), method)
    print(tables.write((made,), form))


@study.command("label")
@_study_argument
def label(app: App, study_name: str) -> None:
    """Give quotations the label on which most readers agree: for tables --by kind, Criticism and exports."""
    found = app.studies.find(study_name)
    print(f"{found.label}: {app.label_windows(found.id)}")


@study.command("signal")
@_study_argument
@_file_argument
def signal(app: App, study_name: str, file: str) -> None:
    """Write what people chose, to train models on (JSON Lines)."""
    found = app.studies.find(study_name)
    content = app.study_files.judged(found.id)
    _write(found.label, file, content)
    if content.count(b"\n") == 1:
        note("No item has two answers yet, so the file has a head and no rows.")


@study.command("export")
@_study_argument
@_file_argument
def export(app: App, study_name: str, file: str) -> None:
    """Write a study into a file that others can take in."""
    found = app.studies.find(study_name)
    _write(found.label, file, app.study_files.export(found.id))
    note(*filter(None, [found.division]))


@study.command("import")
@click.argument("file", type=Path)
def import_study(app: App, file: Path) -> None:
    """Take in the study of a file."""
    taken, new = app.study_files.take_in(file)
    print(f"{taken.label} ({taken.id}) {'was taken in' if new else 'is here already'}.")
    note(*filter(None, [taken.division]))
    note(*(f"It is held back: {sentence}" for sentence in app.studies.get(taken.id).held))


@study.command("import-answers")
@_study_argument
@_file_argument
@click.option("--of", "whose", default="", metavar="WHERE", help="Where they come from; put behind the names.")
def import_answers(app: App, study_name: str, file: str, whose: str) -> None:
    """Take in answers that were given elsewhere (FILE.json)."""
    found = app.studies.find(study_name)
    people, new = app.study_files.take_in_answers(found.id, Path(file), of=whose)
    print(f"{found.label}: {new:,} new answers of {people:,} annotators were taken in.")
    note(*filter(None, [found.division]))


@study.command("owner-code")
@_study_argument
@click.argument("code")
def set_owner_code(app: App, study_name: str, code: str) -> None:
    """Show what tells right from wrong only to those with a code.

    The code "" opens it to everybody.
    """
    found = app.studies.find(study_name)
    app.studies.give_code(found.id, code)
    what = "opens with the new code" if code.strip() else "opens to everybody"
    print(f"{found.label}: on the page, what tells right from wrong {what}.")


@study.command("remove-annotator")
@_study_argument
@click.argument("annotator")
def remove_annotator(app: App, study_name: str, annotator: str) -> None:
    """Remove a person's answers for good, with the name."""
    count = app.studies.erase(app.studies.find(study_name).id, annotator)
    print(f"{count:,} answers were removed for good, with the name. Files that were given away still have them.")


add_remove_and_restore(study, "study", _study_argument, lambda app: app.studies, lambda study: study.label)


@study.command("sample")
def sample(app: App) -> None:
    """Make the study that comes with the program."""
    from relic_core.studies.service import SAMPLE

    made = app.study_making.make_sample().study
    print(f"{made.label} ({made.id}) has {len(made.items):,} items, and is in {SAMPLE}.")


def _nobody(app: App, study_id: str) -> str:
    return "" if app.studies.get(study_id).answers else "Nobody has answered this study yet."


def _write(label: str, file: str, content: bytes) -> None:
    from relic_core.studies.files import write_whole

    write_whole(Path(file), content)
    print(f"{label}: {file} is written.")
