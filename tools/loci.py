"""Freeze a set of well-known passages: ``python -m tools.loci CLAIMS.jsonl FOLDER OUT.json``.

A line of CLAIMS is {"work": slug, "claim": words, "places": [{"first": opening words, "last": closing words}]}; the
passage runs from the one to the other in FOLDER/slug.txt. Written are offsets and hashes, and no word of a novel; what
is printed goes into `relic_core/evaluation/benchmarks/loci.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
from argparse import ArgumentParser
from pathlib import Path

from relic_core.config import Settings
from relic_core.evaluation.benchmarks.loci import Loci, Locus, WellKnown
from relic_core.text.decoding import decode

LONGEST = 1_500
"""Characters between the beginning of a place and that of its last words."""


def _words(words: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, words.split())))


def _place(text: str, first: str, last: str) -> Locus:
    for begins in _words(first).finditer(text):
        ends = _words(last).search(text, begins.start(), begins.end() + LONGEST)
        if ends:
            found = text[begins.start() : ends.end()]
            return Locus(start=begins.start(), end=ends.end(), sha256=hashlib.sha256(found.encode()).hexdigest())
    raise SystemExit(f"Not found: {first} ... {last}")


def main(claims: str, folder: str, out: str) -> None:
    """Write the set, and print its digest."""
    rows = [json.loads(line) for line in Path(claims).read_text("utf-8").splitlines() if line.strip()]
    texts = {}
    for slug in {row["work"] for row in rows}:
        content = (Path(folder) / f"{slug}.txt").read_bytes()
        texts[slug] = decode(content, max_bytes=Settings().max_text_bytes)
    made = Loci(
        claims=tuple(
            WellKnown(
                work=row["work"],
                claim=row["claim"],
                places=tuple(_place(texts[row["work"]], each["first"], each["last"]) for each in row["places"]),
            )
            for row in rows
        )
    )
    Path(out).write_text(made.model_dump_json(indent=1) + "\n", "utf-8")
    print(len(made.claims), "claims", hashlib.sha256(Path(out).read_bytes()).hexdigest())


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tools.loci", description="Freeze a set of well-known passages.")
    parser.add_argument("claims", help='lines of JSON: {"work", "claim", "places": [{"first", "last"}]}')
    parser.add_argument("folder", help="where the works are, as WORK.txt")
    parser.add_argument("out", help="the file to write")
    main(**vars(parser.parse_args()))
