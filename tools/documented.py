"""Documented commands: runs those that the documentation prints, in a clean clone, and says which fail.

    python -m tools.documented               all that can be run without a network, a model to fetch, or people
    python -m tools.documented commands citing  those of some pages

The clone's library holds the sample alone. It stands for the works that pages name, and a slow command is run in its
small form; what cannot stand in is left out with the reason. Ends with 1 where a command failed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from relic_core.domain.figures import Table
from relic_core.reporting.tables import as_markdown

PROJECT = Path(__file__).parents[1]
FIRST = (
    "README",
    "commands",
    "sharing",
    "notebook",
    "citing",
    "drafts",
    "attribution",
    "echoes",
    "evaluation",
    "proxy_task",
)
"""Pages whose commands make what later ones name."""
_BLOCK = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^((?:[A-Z_]+=\S+ )*)(?:\.venv/bin/)?python -m ((?:relic_core|tools)\b.*?)(?:  +#.*)?$")
_MINUTES = 20

NEEDS = {
    "the network": r"catalogue .*--add|dependencies|gutenberg:|--engine dask|--app http",
    "a server or an hour": r"relic_core (app|mcp)\b|tools\.(reliability|bench)\b|figures --(measure|write)",
    "works, verses or criticism that do not come along": r"[A-Z]{5,}(?!\])|birco|public-relic|loci-|criticism\.zip|"
    r"tools\.(composed|prompts|windows)|king_james|Iola|Screw|frankenstein|moby-dick|pairs\.json|Jonah|Gospels|"
    r"--data (train|test)|catalogue --split",
    "a model to fetch or to train": r"e5-base|dpr\.json|mpnet|packaged-large|BART|relic_core train (?!--list)|"
    r"RELIC_(TRAINED|LATE)|tools\.tune",
    "people, or files of theirs": r"department|hour\.zip|owner-code|answers|annotator|theirs\.run|ada@|verdicts|"
    r'notebook measure|"Light and water"|'
    r'"Test works"|make (Hard|Mine|Kinds)|(results|label) Kinds',
    "mined criticism": r"dataset (split|leakage|statistics)|export dataset|sources",
}
"""What a command needs that a clean clone lacks, and which those are."""

STANDS_FOR = (
    (r"~/novels/emma\.txt ~/editions/hamlet\.xml", "emma.txt"),
    (r"Emma --benchmark public-relic-test --work emma --most 100", "Emma --benchmark sample --most 10"),
    (r"\bemma persuasion\b", "averhythe averhythe"),
    (r"\bemma(?=[ .]|$)(?!\.(txt|ris|zip))", "averhythe"),
    (r"8\.3\.2", "1.1.2"),
    (r"--chapters 1-16,50", "--chapters 1-2"),
    (r"--author austen --to 1813", ""),
    (r"/mnt/backups/relic(-21)?\.zip|~/relic-backup\.zip", "relic.zip"),
    (r"restore relic\.zip$", "restore relic.zip --force"),
    (r"sample all --shape 1/1", "sample bm25,random --shape 1/1"),
    (r"birco-novels bm25,dense-relic,reranked --shape all", "sample bm25,random --shape all"),
    (r"birco-novels dense-relic,tf-idf --proxy", "sample tf-idf --proxy"),
    (r"\b(3f9a|8f5a)\b", "{run}"),
    (r"77c2 b01e", "{other}"),
    (r"import bm25\.json", "import relic_core/assets/results/birco-novels-bm25-4-4.json"),
    (r"backup relic\.zip", "backup --force relic.zip"),
    (r"essay\.docx", "essay.txt"),
    (r"essay-checked\.docx", "essay-checked.html"),
    (r"txcto7w", "{search}"),
)
"""What is printed, and what stands in for it where only the sample is in the library."""

_QUERY = {
    "id": "1", "query": "She calls it the brass bolt of the gate.", "span": [13, 27], "source": "s1",
    "sources": [{"id": "s1", "text": "He drew the brass bolt."}, {"id": "s2", "text": "It rained."}],
}  # fmt: skip
FILES = {
    "queries.jsonl": json.dumps(_QUERY),
    "emma.txt": "Emma Woodhouse was handsome. She was clever, and she was rich.\n\nShe had lived there for years.\n",
    "essay.txt": "He writes that “the brass bolt” was drawn at night. Nothing else is said of it.\n",
}


@dataclass(frozen=True, slots=True)
class Printed:
    """A command that a page prints: with what it needs that a clone lacks, or what is run in its place."""

    page: str
    command: str
    run: str
    needs: str


def printed(pages: Sequence[str] = ()) -> list[Printed]:
    """List the commands of the documentation, each once, in the order in which they can be run."""
    every = {path.stem: path for path in [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]}
    order = [*FIRST, *(name for name in every if name not in FIRST)]
    found: dict[str, Printed] = {}
    for name in pages or order:
        for block in _BLOCK.findall(every[name].read_text(encoding="utf-8").replace("\\\n", " ")):
            for line in block.splitlines():
                if match := _COMMAND.match(line.strip()):
                    command = f"{match[1]}python -m {' '.join(match[2].split())}"
                    found.setdefault(command, _of(name, command))
    return list(found.values())


def _of(page: str, command: str) -> Printed:
    run = command
    for pattern, other in STANDS_FOR:
        run = re.sub(pattern, other, run)
    needs = next((what for what, pattern in NEEDS.items() if re.search(pattern, run)), "")
    return Printed(page, command, " ".join(run.split()), needs)


class Clone:
    """A clean clone of the project as it is committed, with a library of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "clone"
        subprocess.run(["git", "clone", "--quiet", str(PROJECT), str(self._folder)], check=True)  # noqa: S603, S607 - its own folder
        for name, text in FILES.items():
            (self._folder / name).write_text(text, encoding="utf-8")
        self.run("python -m relic_core setup")

    def run(self, command: str) -> tuple[int, str]:
        """Run a command; gives its exit code and what it wrote."""
        words = shlex.split(command)
        given = dict(word.split("=", 1) for word in words[: words.index("python")])
        target = None
        if ">" in words:
            target = self._folder / words[words.index(">") + 1]
            words = words[: words.index(">")]
        own = {name: value for name, value in os.environ.items() if not name.startswith("RELIC_")}
        done = subprocess.run(  # noqa: S603 - the documentation's own commands
            [sys.executable, *words[words.index("python") + 1 :]],
            cwd=self._folder, env={**own, **given}, capture_output=True, text=True, timeout=60 * _MINUTES, check=False,
        )  # fmt: skip
        if target is not None:
            target.write_text(done.stdout, encoding="utf-8")
        return done.returncode, f"{done.stdout}{done.stderr}"

    def filled(self, text: str) -> str:
        """Put the ids of what was made here into a command."""
        if "{run}" in text or "{other}" in text:
            rows = json.loads(self.run("python -m relic_core runs list --format json")[1])[0]["rows"]
            ids = [row["id"] for row in rows if row["benchmark"] == "sample"]
            text = text.replace("{run}", ids[0]).replace("{other}", ids[1])
        if "{search}" in text:
            removed = " --removed" if "history restore" in text else ""
            listed = self.run(f"python -m relic_core history list{removed}")[1]
            text = text.replace("{search}", next(iter(re.findall(r"^\W*([a-z0-9]{7})\b", listed, re.MULTILINE)), ""))
        return text


def run_all(commands: Sequence[Printed], folder: Path) -> Iterator[tuple[Printed, str, int, float, str]]:
    """Run commands one after the other; gives each with what was run, its exit code, seconds and what it wrote."""
    clone = Clone(folder)
    for each in commands:
        began = time.perf_counter()
        command = clone.filled(each.run)
        code, wrote = clone.run(command)
        yield each, command, code, time.perf_counter() - began, wrote


def main(options: Namespace) -> int:
    """Run the commands and print a table of them."""
    commands = printed(options.page)
    able = [each for each in commands if not each.needs]
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for each, command, code, seconds, wrote in run_all(able, Path(folder)):
            failed += code != 0
            rows.append((each.page, each.command, "" if command == each.command else command, f"{seconds:.1f}", code))
            print(f"{code} {seconds:6.1f} s  {command}", file=sys.stderr)
            if code:
                print(wrote.rstrip()[-2000:], file=sys.stderr)
    heads = ("page", "printed", "run in its place", "seconds", "ends with")
    print(as_markdown(Table(caption="Commands of the documentation.", heads=heads, rows=tuple(rows))))
    left = {what: sum(each.needs == what for each in commands) for what in NEEDS}
    print(f"\n{len(rows)} of {len(commands)} commands were run, {failed} failed. Left out, for they need:")
    print("\n".join(f"- {what}: {count}" for what, count in left.items() if count))
    return 1 if failed else 0


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tools.documented", description=__doc__.partition("\n")[0])
    parser.add_argument("page", nargs="*", help="the name of a page, as commands; all where none is given")
    sys.exit(main(parser.parse_args()))
