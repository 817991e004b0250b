"""Studies of the proxy task: make, list and show them, take them in and give them away, have models answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.reporting import tables

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.domain.studies import Study
    from relic_core.wiring import App

_WANTED = {
    "list": "no further words",
    "make": "the name of the study",
    "show": "a study",
    "results": "a study",
    "models": "a study",
    "answers": "a study and a file",
    "report": "a study and a file",
    "signal": "a study and a file",
    "export": "a study and a file",
    "import": "a file",
    "import-answers": "a study and a file",
    "owner-code": "a study and a code",
    "remove-annotator": "a study and an annotator",
    "remove": "a study",
    "restore": "a whole id",
    "sample": "no further words",
}
_WORDS = {name: 0 if said.startswith("no ") else 2 if " and " in said else 1 for name, said in _WANTED.items()}
_USUAL: dict[str, object] = {
    "benchmark": "", "work": [], "length": None, "shape": "4/4", "chooser": "bm25", "beyond": 0, "most": 0, "seed": 0,
    "wanted": 3, "data": None, "of": "", "retriever": "", "again": False, "named": False, "format": "table",
    "comments": False,
}  # fmt: skip
_USED: dict[str, tuple[str, ...]] = {
    "list": ("format",),
    "make": ("benchmark", "work", "length", "shape", "chooser", "beyond", "most", "seed", "wanted", "data"),
    "results": ("format",),
    "models": ("retriever", "again", "format"),
    "answers": ("named", "comments"),
    "report": ("named",),
    "import-answers": ("of",),
}
"""Options that an action takes; none where it is not named."""


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "study",
        summary="Studies of the proxy task: people and models choose the missing quotation out of three.",
        examples=(
            "  python -m relic_core study\n"
            "  python -m relic_core study make Averhythe --benchmark sample --most 10\n"
            "  python -m relic_core study make Emma --benchmark public-relic-test --work emma --most 100 --seed 4\n"
            "  python -m relic_core study make Hard --benchmark sample --chooser zero-shot --beyond 100\n"
            "  python -m relic_core study models Averhythe\n"
            "  python -m relic_core study results Averhythe\n"
            "  python -m relic_core study answers Averhythe answers.csv\n"
            "  python -m relic_core study report Averhythe report.html\n"
            "  python -m relic_core study export Averhythe study.json\n"
            "  python -m relic_core study import study.json\n"
            "  python -m relic_core study answers Averhythe ours.json\n"
            "  python -m relic_core study import-answers Averhythe theirs.json --of Oxford\n"
            "  python -m relic_core study owner-code Averhythe 'a code of yours'\n"
            "  python -m relic_core study remove-annotator Averhythe Anna\n"
            "\n"
            "Answers and reports give numbers in place of names, and no comments, unless --named is given. People\n"
            "answer on the page Proxy task of the app. docs/proxy_task.md says what the figures mean."
        ),
    )
    parser.add_argument(
        "action", nargs="?", choices=tuple(_WANTED), default="list", metavar="ACTION", help=", ".join(_WANTED)
    )
    parser.add_argument("said", nargs="*", metavar="STUDY", help="a name, or the beginning of an id; and a file")
    parser.add_argument("--benchmark", default="", help="make: whose windows (default: those mined here)")
    parser.add_argument(
        "--work", action="append", default=[], help="make: only of this work; may be given several times"
    )
    parser.add_argument(
        "--length", type=int, action="append", help="make: sentences of a quotation (default: 1); 0 for any"
    )
    parser.add_argument("--shape", default="4/4", help="make: sentences before and after the gap (default: 4/4)")
    parser.add_argument("--chooser", default="bm25", help="make: who chooses the other options (default: bm25)")
    parser.add_argument(
        "--beyond", type=int, default=0, help="make: only quotations that it ranks behind this place (paper: 1000)"
    )
    parser.add_argument("--most", type=int, default=0, help="make: so many items at most (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="make: decides draw and orders (default: 0)")
    parser.add_argument(
        "--wanted", type=int, default=3, help="make: annotators for each item (default: 3); 0 for everybody"
    )
    parser.add_argument("--data", type=Path, metavar="PATH", help="make: your own file of the benchmark's data")
    parser.add_argument("--retriever", default="", help="models: some, with commas between (default: all)")
    parser.add_argument("--again", action="store_true", help="models: ask although they have answered")
    parser.add_argument("--named", action="store_true", help="answers, report: with names, hours and comments")
    parser.add_argument("--comments", action="store_true", help="answers: with comments, though without names")
    parser.add_argument(
        "--of", default="", metavar="WHERE", help="import-answers: where they come from; put behind the names"
    )
    parser.add_argument("--format", choices=tables.FORMATS, default="table", help="(default: %(default)s)")
    return parser


def run(app: App, options: Namespace) -> int:
    """Do it."""
    action, said = options.action, options.said
    if len(said) != _WORDS[action]:
        options.refuse(f"study {action} wants {_WANTED[action]}")
    console.refuse_unused(options, f"study {action}", _USUAL, _USED.get(action, ()))
    if action in _ALONE:
        return _ALONE[action](app, options)
    study = app.studies.find(said[0])
    if action in _TABLES:
        return _TABLES[action](app, options, study)
    if action == "remove-annotator":
        count = app.studies.erase(study.id, said[1])
        print(f"{count:,} answers were removed for good, with the name. Files that were given away still have them.")
    elif action == "import-answers":
        data = app.studies.files.read(Path(said[1]))
        people, new = app.studies.files.take_in_answers(study.id, data, of=options.of, name=said[1])
        print(f"{study.label}: {new:,} new answers of {people:,} annotators were taken in.")
    elif action == "owner-code":
        app.studies.owners.give(study.id, said[1])
        what = "opens with the new code" if said[1].strip() else "opens to everybody"
        print(f"{study.label}: on the page, what tells right from wrong {what}.")
    elif action == "remove":
        app.studies.remove(study.id)
        print(f"{study.label} is removed. Bring it back: python -m relic_core study restore {study.id}")
    else:
        app.studies.files.write(Path(said[1]), _content(app, options, study))
        print(f"{study.label}: {said[1]} is written.")
    return 0


def _list(app: App, options: Namespace) -> int:
    listed = app.studies.all()
    table = tables.Table(
        caption="",
        heads=("id", "name", "version", "items", "works", "annotators", "answers", "made"),
        rows=tuple(
            (
                each.id,
                each.name,
                each.version,
                each.items,
                ", ".join(each.works[:3]) + (f" and {len(each.works) - 3} more" if len(each.works) > 3 else ""),  # noqa: PLR2004
                each.annotators,
                each.answers,
                f"{each.created:%Y-%m-%d}",
            )
            for each in listed
        ),
    )
    print(tables.write((table,), options.format))
    return 0


def _make(app: App, options: Namespace) -> int:
    from relic_core.services.studies.making import StudyRequest

    lengths = tuple(options.length or (1,))
    request = StudyRequest(
        name=options.said[0],
        benchmark=options.benchmark,
        works=tuple(options.work),
        lengths=() if 0 in lengths else lengths,
        shape=options.shape,
        chooser=options.chooser,
        beyond=options.beyond,
        most=options.most,
        seed=options.seed,
        wanted=options.wanted,
    )
    with console.ProgressLine("Making items") as progress:
        study = app.studies.make(request, data=options.data, progress=progress)
    print(f"{study.label} ({study.id}) has {len(study.items):,} items of {study.making.windows:,} windows.")
    return 0


def _import(app: App, options: Namespace) -> int:
    study, new = app.studies.files.take_in_file(Path(options.said[0]))
    print(f"{study.label} ({study.id}) {'was taken in' if new else 'is here already'}.")
    for sentence in app.studies.get(study.id).held:
        print(f"It is held back: {sentence}", file=sys.stderr)
    return 0


def _restore(app: App, options: Namespace) -> int:
    print(f"{app.studies.restore(options.said[0]).label} is back.")
    return 0


def _sample(app: App, _options: Namespace) -> int:
    from relic_core.services.studies import sample

    study = sample.make_file(app).study
    print(f"{study.label} ({study.id}) has {len(study.items):,} items, and is in {sample.FILE}.")
    return 0


def _show(app: App, _: Namespace, study: Study) -> int:
    view = app.studies.get(study.id)
    making = study.making
    facts = [
        ("study", f"{study.label} ({study.id})"),
        ("works", "; ".join(work.title for work in study.works)),
        ("items", f"{len(study.items):,} of {making.windows:,} windows"),
        ("windows of", making.benchmark or "the sources mined here"),
        ("other options", f"the best two of {making.chooser}"),
        ("beyond place", f"{making.beyond:,}" if making.beyond else ""),
        ("context", str(making.shape)),
        ("seed", str(making.seed)),
        ("annotators wanted", str(view.terms.wanted or "everybody")),
        ("right and wrong", "shown" if view.terms.revealed else "not shown"),
        ("answers", f"{view.answers:,}{', so it is frozen' if view.frozen else ''}"),
        ("program", making.code),
    ]
    print(console.table(("", ""), facts).lstrip("\n"))
    counts = app.studies.annotators(study.id)
    if counts:
        rows = [(each.annotator.name, each.annotator.id, each.answered) for each in counts]
        print(f"\n{console.table(('annotator', 'id', 'answered'), rows)}")
    for sentence in view.held:
        print(f"\nIt is held back: {sentence}")
    return 0


def _results(app: App, options: Namespace, study: Study) -> int:
    from relic_core.services.studies.tables import tables as tables_of

    print(tables.write(tables_of(app.studies.results.of(study.id)), options.format))
    return 0


def _models(app: App, options: Namespace, study: Study) -> int:
    from relic_core.services.studies.tables import accuracies

    names = app.measuring.split(options.retriever) if options.retriever else ()
    with console.ProgressLine("Models answer") as progress:
        _, silent = app.studies.models.answer(study.id, names, again=options.again, progress=progress)
    for sentence in silent:
        print(sentence, file=sys.stderr)
    print(tables.write((accuracies(app.studies.results.of(study.id)),), options.format))
    return 0


def _content(app: App, options: Namespace, study: Study) -> bytes:
    files, anonymous = app.studies.files, not options.named
    if options.action == "export":
        return files.export(study.id)
    if options.action == "signal":
        return files.signal(study.id)
    if options.action == "report":
        return files.report(study.id, anonymous=anonymous)
    end = Path(options.said[1]).suffix.lower()
    if end not in {".csv", ".json"}:
        options.refuse("study answers writes FILE.csv or FILE.json")
    write = files.answers_csv if end == ".csv" else files.answers_json
    return write(study.id, anonymous=anonymous, comments=options.comments or not anonymous)


_ALONE = {"list": _list, "make": _make, "import": _import, "restore": _restore, "sample": _sample}
_TABLES = {"show": _show, "results": _results, "models": _models}
