"""Count the house: size, density, circles, constructors, what passes along, start-up, tests that repeat prose.

``python tools/house.py`` prints each figure with its definition; ``--verbose`` adds what was counted.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import io
import json
import os
import re
import statistics
import string
import subprocess
import sys
import tempfile
import time
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

SERVICES = "relic_core/services"
ASKED = (SERVICES, "relic_core/attribution", "relic_core/echoes", "relic_core/studies")
"""Where services stand: the room, and the wings."""
APPLICATION = ("relic_core", "relic_ui", "pages", "app.py")
LOCATORS = {"App"}
WIRING = "relic_core.wiring"
MOST_ARGUMENTS, MOST_LINES, MOST_PARAMETERS, RUN_WORDS, RUN_LETTERS = 5, 70, 7, 3, 12
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DIALECT = """told telling_apart telling asking usual elsewhere untaught hand_over safe_cell between_marks sitting
    bars Imprint imprint Narrowing narrowing Likeness likeness Makers makers Shape Window Head Judge Foreign Kept
    Asked Lesson said OnePassEncoder AloneEncoder Turns Patience Leaf cells probes"""
BUILD = """import sys
from relic_core.wiring import build
from relic_core.config import Settings
build(Settings.from_environment())
print(sum(name.split(".")[0] == "relic_core" for name in sys.modules))"""
WORDS = re.compile(
    r"\b(?:(?:is|are|was|be|been) told|stand(?:s|ing)? in|hang(?:s|ing)? on|whoever|(?:is|are) learnt)\b", re.IGNORECASE
)
TOKENS = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Figure(NamedTuple):
    """One row of the table; no value where what it counts is not there."""

    key: str
    value: float | None
    definition: str
    counted: Sequence[str] = ()


def listing(key: str, counted: Sequence[str], definition: str) -> Figure:
    """Make the figure that says how many there are."""
    return Figure(key, len(counted), definition, counted)


def files(root: Path, *places: str) -> list[Path]:
    """Find the Python files of folders, or single ones."""
    found = ([root / place] if place.endswith(".py") else (root / place).rglob("*.py") for place in places)
    return sorted(path for paths in found for path in paths if path.is_file())


@cache
def parse(path: Path) -> ast.Module:
    """Parse a file once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes(root: Path, *places: str) -> Iterator[tuple[str, ast.AST]]:
    """Give every node of the syntax trees, with where it stands."""
    for path in files(root, *places):
        for node in ast.walk(parse(path)):
            yield f"{path.relative_to(root).as_posix()}:{getattr(node, 'lineno', 0)} {getattr(node, 'name', '')}", node


def is_prose(node: ast.AST) -> bool:
    """Tell a docstring, of an attribute too."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def code_lines(path: Path) -> int:
    """Count the lines that are neither blank, comment nor docstring."""
    text = path.read_text(encoding="utf-8")
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type not in LAYOUT]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    prose = [node for node in ast.walk(parse(path)) if isinstance(node, ast.Expr) and is_prose(node)]
    lines -= {line for node in prose for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    given = text.splitlines()
    return sum(bool(given[line - 1].strip()) for line in lines)


def sizes(root: Path) -> Iterator[Figure]:
    """Count files and lines."""
    core, services = files(root, "relic_core"), files(root, SERVICES)

    def lines(paths: Iterable[Path]) -> int:
        return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)

    yield Figure("core_files", len(core), "Python files of relic_core")
    yield Figure("core_lines", lines(core), "their lines")
    yield Figure("core_code", sum(map(code_lines, core)), "their lines without blank lines, comments and docstrings")
    yield Figure("services_files", len(services), f"Python files of {SERVICES}")
    yield Figure("services_lines", lines(services), "their lines")
    ours = lines(files(root, *APPLICATION, "tools"))
    yield Figure("all_lines", ours, "lines of relic_core, relic_ui, pages, app.py and tools")
    yield Figure("tests_lines", lines(files(root, "tests")), "lines of the Python files of tests")


def tokens(path: Path) -> int:
    """Count names, operators, numbers and strings; a string is one, with whatever it holds."""
    with path.open("rb") as file:
        return sum(token.type in TOKENS for token in tokenize.tokenize(file.readline))


def nested(path: Path) -> int:
    """Count comprehensions that hold another, or have more than one `for`."""
    found = [node for node in ast.walk(parse(path)) if isinstance(node, Comprehension)]
    holding = sum(any(isinstance(each, Comprehension) for each in list(ast.walk(node))[1:]) for node in found)
    return holding + sum(len(node.generators) > 1 for node in found)


def used_once(path: Path) -> list[str]:
    """Name the private functions of a file that it names once beside their definition."""
    every = list(ast.walk(parse(path)))
    used = Counter(each.id if isinstance(each, ast.Name) else each.attr for each in every
                   if isinstance(each, ast.Name | ast.Attribute))  # fmt: skip
    private = {each.name for each in every if isinstance(each, Function) and re.match(r"_(?!_)", each.name)}
    return [f"{path.name} {name}" for name in sorted(private) if used[name] == 1]


def style(root: Path) -> Iterator[Figure]:
    """Count what says how densely the code is written."""
    for key, place in (("core", "relic_core"), ("ui", "relic_ui")):
        paths = files(root, place)
        texts = [path.read_text(encoding="utf-8") for path in paths]
        functions = [node for path in paths for node in ast.walk(parse(path)) if isinstance(node, Function)]
        once = [name for path in paths for name in used_once(path)]
        yield Figure(f"{key}_tokens", sum(map(tokens, paths)), f"names, operators, numbers and strings of {place}")
        yield Figure(f"{key}_characters", sum(map(len, texts)), "its characters")
        widths = [len(line) for text in texts for line in text.splitlines() if line.strip()]
        yield Figure(
            f"{key}_median_line", statistics.median(widths or [0]), "median length of its lines that are not blank"
        )
        share = round(1000 * sum(map(nested, paths)) / max(sum(map(code_lines, paths)), 1), 1)
        yield Figure(f"{key}_nested", share, "its nested comprehensions in 1,000 lines of code")
        share = round(100 * len(once) / max(len(functions), 1), 1)
        yield Figure(f"{key}_once_percent", share, "share of its functions that are private and named once", once)
    every = [(place, node) for place, node in nodes(root, *APPLICATION) if isinstance(node, Function)]
    lengths = [(place, (node.end_lineno or 0) - node.lineno + 1) for place, node in every]
    long = [f"{length} {place}" for place, length in lengths if length > MOST_LINES]
    yield listing("long_functions", long, f"functions of the application of more than {MOST_LINES} lines")
    outside = [each for each in every if not each[0].startswith("relic_core/cli/")]
    many = [place for place, node in outside if len(parameters(node)) > MOST_PARAMETERS]
    yield listing("many_parameters", many, f"functions outside cli of more than {MOST_PARAMETERS} parameters")
    guarded = [place for place, node in nodes(root, *APPLICATION, "tools")
               if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]  # fmt: skip
    yield listing("type_checking", guarded, "blocks of imports for types alone")


def imported(path: Path, modules: Iterable[str]) -> set[str]:
    """Tell which of the modules a file imports, wherever in it; a module's name out of its package is the module."""
    found: set[str] = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(name if name in modules else node.module for name in names)
    return found.intersection(modules)


def circles(edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Find the groups of modules that all reach each other, the largest first."""
    reach: dict[str, set[str]] = {}
    for start in edges:
        ahead, seen = list(edges[start]), set[str]()
        while ahead:
            if (node := ahead.pop()) not in seen:
                seen.add(node)
                ahead.extend(edges[node])
        reach[start] = seen
    groups = {tuple(sorted(other for other in seen if node in reach[other])) for node, seen in reach.items()}
    return sorted(([*group] for group in groups if len(group) > 1), key=len, reverse=True)


def imports(root: Path) -> Iterator[Figure]:
    """Count import circles, who imports the wiring, and who reaches the store through the app."""
    names = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files(root, "relic_core")
    }
    found = circles({name: imported(path, names.keys()) for name, path in names.items()})
    what = "groups of modules of relic_core that import each other, inside functions and under TYPE_CHECKING too"
    yield listing("circles", [f"{len(each)}: {' '.join(each)}" for each in found], what)
    yield Figure("largest_circle", max(map(len, found), default=0), "modules in the largest of them")
    tied = [path.relative_to(root).as_posix() for path in files(root, *APPLICATION) if imported(path, {WIRING})]
    yield listing("wiring_importers", tied, f"files of the application that import {WIRING}")
    below = [path for path in tied if path.startswith(SERVICES)]
    yield listing("services_importing_wiring", below, f"those of them in {SERVICES}")
    through = [
        f"{place}{ast.unparse(node)}"
        for place, node in nodes(root, "relic_ui", "pages", "app.py", "relic_core/cli")
        if isinstance(node, ast.Attribute) and re.search(r"\b_?app\.store$", ast.unparse(node))
    ]
    yield listing("store_reached", through, "uses of app.store in relic_ui, pages and cli")


def types(annotation: ast.AST | None) -> set[str]:
    """Take an annotation apart into names."""
    return set(re.findall(r"\w+", ast.unparse(annotation))) if annotation else set()


def parameters(function: Function) -> dict[str, set[str]]:
    """Give the parameters with their types, without self."""
    given = function.args
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    return {each.arg: types(each.annotation) for each in every if each and each.arg not in {"self", "cls"}}


def needed(node: ast.ClassDef) -> dict[str, set[str]] | None:
    """Give what a class must be given: the parameters of `__init__`, or a record's fields without default."""
    made = [each for each in node.body if isinstance(each, Function) and each.name == "__init__"]
    if made:
        return parameters(made[0])
    if not any({"dataclass", "NamedTuple"} & types(each) for each in (*node.decorator_list, *node.bases)):
        return None
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign) and each.value is None]
    return {ast.unparse(each.target): types(each.annotation) for each in fields}


def constructors(root: Path) -> Iterator[Figure]:
    """Count what services must be given, and which are given everything at once."""
    classes = [(place, node) for place, node in nodes(root, "relic_core") if isinstance(node, ast.ClassDef)]
    every = [(place, node, needs) for place, node in classes if (needs := needed(node)) is not None]
    methods = {
        place: {each.name for each in node.body if isinstance(each, Function) and not each.decorator_list}
        for place, node in classes
    }
    rooms = (*ASKED, "relic_core/store")
    made = {node.name for place, node, _ in every if place.startswith(rooms) and "__init__" in methods[place]}
    parts = made | LOCATORS | {"Callable"}
    holding = {place: [name for name, each in needs.items() if each & parts] for place, _, needs in every}
    bundles = {node.name: len(needs) for place, node, needs in every if node.name not in made and holding[place][1:]}
    services = {
        place: needs
        for place, _, needs in every
        if place.startswith(ASKED) and ("__init__" in methods[place] or (methods[place] and holding[place]))
    }
    counts = Counter({
        place: sum(max((bundles[name] for name in each & bundles.keys()), default=1) for each in needs.values())
        for place, needs in services.items()
    })  # fmt: skip
    what = (
        "most constructor arguments of a class of services and wings (with __init__, or a record with methods that "
        "holds a service, a row class or a callable: its fields without default); a bundle counts as its members"
    )
    yield Figure("constructor_most", max(counts.values(), default=0), what)
    many = [f"{count} {place}" for place, count in counts.most_common() if count > MOST_ARGUMENTS]
    yield listing("constructors_above_5", many, f"such classes with more than {MOST_ARGUMENTS}")
    for key, names in (("locators", LOCATORS), ("whole_stores", {"Store"})):
        given = [place for place, needs in services.items() if any(each & names for each in needs.values())]
        yield listing(key, given, f"such classes that are given a whole {' or '.join(sorted(names))}")


def passes_along(function: Function) -> bool:
    """Tell whether all it does is to call one other function, with nothing but its own parameters."""
    body = [each for each in function.body if not is_prose(each) and not isinstance(each, ast.Import | ast.ImportFrom)]
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr):
        return False
    call = body[0].value.value if isinstance(body[0].value, ast.Await) else body[0].value
    if not isinstance(call, ast.Call):
        return False
    given = [
        each.value if isinstance(each, ast.Starred | ast.keyword) else each for each in (*call.args, *call.keywords)
    ]
    own = {*parameters(function), "self", "cls"}
    called = ast.unparse(call.func)
    return (
        re.fullmatch(r"[\w.]+", called) is not None
        and not hasattr(builtins, called)
        and all(isinstance(each, ast.Name) and each.id in own for each in given)
    )


def passing_along(root: Path) -> Iterator[Figure]:
    """Count the functions that only pass along."""
    found = [place for place, node in nodes(root, *ASKED) if isinstance(node, Function) and passes_along(node)]
    what = "functions of services and wings that only call one other function, with nothing but their own parameters"
    yield listing("passing_along", found, what)


def runs_of_words(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """Give the runs of words in the string literals below a node; f-strings by their parts, docstrings left out.

    >>> [" ".join(run) for run in runs_of_words(ast.parse("x = 'The work is nowhere stored in a.b.c'"))]
    ['work is nowhere', 'is nowhere stored', 'nowhere stored in']
    """
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and is_prose(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            words: list[str] = []
            for each in node.value.lower().split():
                word = each.strip(string.punctuation + "“”‘’—–…")
                words = [*words[1 - RUN_WORDS :], word] if re.sub("['’-]", "", word).isalpha() else []
                if len(words) == RUN_WORDS and sum(map(len, words)) >= RUN_LETTERS:
                    yield tuple(words)


def tests(root: Path) -> Iterator[Figure]:
    """Count tests, journeys, and tests that repeat the program's prose."""
    prose = {run for path in files(root, *APPLICATION) for run in runs_of_words(parse(path))}
    found = [(place.partition(":")[0], node) for place, node in nodes(root, "tests") if isinstance(node, Function)]
    every = [(path, node) for path, node in found if node.name.startswith("test_")]
    yield Figure("tests", len(every), "test functions: def test_ in tests")
    journeys = sum(path.startswith("tests/browser/") for path, _ in every)
    yield Figure("journeys", journeys, "those of them in tests/browser")
    repeating = Counter(path for path, node in every if any(run in prose for run in runs_of_words(node)))
    what = (
        f"tests with a string literal, in decorators too, of which {RUN_WORDS} words in a row ({RUN_LETTERS} letters "
        "or more) stand in a string literal of the application; words are parted by blanks; docstrings do not count"
    )
    listed = [f"{count:4} {path}" for path, count in repeating.most_common()]
    yield Figure("prose_tests", repeating.total(), what, listed)
    share = round(100 * repeating.total() / max(len(every), 1), 1)
    yield Figure("prose_tests_percent", share, "their share of all test functions")


def dialect(root: Path) -> Iterator[Figure]:
    """Count the words of the private dialect: identifiers, and phrases in prose."""
    given = (getattr(node, field, None) for _, node in nodes(root, *APPLICATION)
             for field in ("id", "attr", "arg", "name", "asname", "module"))  # fmt: skip
    identifiers = Counter(part.strip("_") for name in given if isinstance(name, str) for part in name.split("."))
    words = {word: sum(n for each, n in identifiers.items() if f"_{word}_" in f"_{each}_") for word in DIALECT.split()}
    what = "identifiers of the application that are, or hold between underscores, a word of the private dialect"
    listed = [f"{count:5} {word}" for word, count in sorted(words.items(), key=lambda each: -each[1]) if count]
    yield Figure("dialect", sum(words.values()), what, listed)
    prose = [
        f"{path.relative_to(root).as_posix()}: {match.group()}"
        for path in files(root, *APPLICATION)
        for match in WORDS.finditer(path.read_text(encoding="utf-8"))
    ]
    yield listing("dialect_phrases", prose, "its phrases in what the files of the application say")


def start_up(root: Path) -> Iterator[Figure]:
    """Time ``--help`` and count the modules that starting loads; nothing is written below the root."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RELIC_")}
        environment |= {"PYTHONPATH": str(root.resolve()), "PYTHONPYCACHEPREFIX": folder, "RELIC_DATA": folder}

        def run(*arguments: str) -> tuple[subprocess.CompletedProcess[str], float]:
            command, began = [sys.executable, *arguments], time.perf_counter()
            ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
            return ended, time.perf_counter() - began

        helping = ("-m", "relic_core", "--help")
        loading = run("-X", "importtime", *helping)[0]  # compiles too; the next five are timed
        works = loading.returncode == 0
        seconds = round(statistics.median(run(*helping)[1] for _ in range(5)), 2) if works else None
        yield Figure("help_seconds", seconds, "seconds of python -m relic_core --help, median of five")
        loaded = len(re.findall(r"\| +relic_core[\w.]*$", loading.stderr, re.MULTILINE)) if works else None
        yield Figure("help_modules", loaded, "modules of relic_core that it loads")
        wired = run("-c", BUILD)[0]
        count = int(wired.stdout) if wired.returncode == 0 else None
        yield Figure("wiring_modules", count, "modules of relic_core loaded by making the app from its settings")


COUNTS = (sizes, style, imports, constructors, passing_along, start_up, tests, dialect)


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, print, and compare with the limits."""
    parser = argparse.ArgumentParser(prog="house", description="Count the house.")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the project; this one by default")
    parser.add_argument("--json", action="store_true", help="for machines: the figures by their keys")
    parser.add_argument("--verbose", action="store_true", help="list what was counted")
    parser.add_argument(
        "--max", action="append", default=[], metavar="KEY=VALUE", help="fail where a figure is above it or absent"
    )
    given = parser.parse_args(arguments)
    limits = {key: float(value) for key, _, value in (limit.partition("=") for limit in given.max)}
    figures = {figure.key: figure for count in COUNTS for figure in count(given.root)}
    if unknown := limits.keys() - figures.keys():
        parser.error(f"no such figure: {', '.join(sorted(unknown))}")
    if given.json:
        print(json.dumps({key: figure.value for key, figure in figures.items()}, indent=1))
    for figure in () if given.json else figures.values():
        print(f"{figure.key:26}{'-' if figure.value is None else f'{figure.value:,}':>8}  {figure.definition}")
        for line in figure.counted if given.verbose else ():
            print(f"{'':36}{line}")
    values = {key: figures[key].value for key in limits}
    above = [key for key, value in values.items() if value is None or value > limits[key]]
    for key in above:
        print(f"{key} is {values[key]}, and may be at most {limits[key]:g}", file=sys.stderr)
    return bool(above)


if __name__ == "__main__":
    sys.exit(main())
