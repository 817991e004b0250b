"""Make the layer of places that ships, from a library with mined criticism: ``python -m tools.places OUT.json``.

Kept windows alone, on works of the catalogue, from books of Project Gutenberg. No word of a work or a book is written.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path

from relic_core.config import Settings, provenance
from relic_core.domain import SecondarySource
from relic_core.formats.places import CriticsBook, Layer, QuotedPlaces, digest_of, hash_of, read_layer
from relic_core.mining.volumes import rules
from relic_core.wiring import build

# fmt: off
YEARS = {
    738: 1905, 7299: 1885, 7301: 1902, 11251: 1914, 11680: 1884, 11698: 1912, 12563: 1922, 12600: 1919, 13814: 1905,
    14154: 1921, 15350: 1894, 15447: 1898, 16595: 1912, 16787: 1887, 17172: 1884, 17452: 1896, 17797: 1871,
    18384: 1895, 18566: 1879, 18639: 1913, 18906: 1878, 20459: 1892, 21214: 1894, 21332: 1872, 21793: 1896,
    21921: 1897, 22362: 1911, 23490: 1899, 24435: 1919, 25789: 1883, 25851: 1875, 26838: 1917, 27872: 1919,
    29929: 1880, 30435: 1883, 30455: 1890, 30776: 1911, 31394: 1891, 31554: 1889, 32183: 1884, 32576: 1918,
    33005: 1914, 33356: 1906, 33689: 1908, 34370: 1902, 34613: 1910, 35279: 1921, 35813: 1922, 36017: 1912,
    36111: 1918, 36311: 1912, 36641: 1897, 36847: 1883, 37159: 1892, 37284: 1913, 37300: 1916, 37424: 1908,
    37843: 1886, 37844: 1886, 37888: 1877, 38068: 1910, 38251: 1907, 38487: 1922, 38652: 1899, 38873: 1904,
    39200: 1883, 40655: 1911, 42225: 1922, 45353: 1919, 47204: 1917, 47950: 1904, 49435: 1911, 49999: 1886,
    50461: 1921, 50724: 1905, 51426: 1882, 52242: 1911, 54569: 1909, 56613: 1921, 56779: 1919, 56809: 1917,
    58625: 1892, 59430: 1897, 60547: 1923, 61345: 1922, 62129: 1909, 64385: 1919, 64457: 1925, 65992: 1913,
    67581: 1920, 68195: 1908, 68682: 1911, 68683: 1906, 68939: 1918, 70492: 1927, 70731: 1923,
}
# fmt: on
"""Number of a book → the year of the edition that Project Gutenberg has, as its title page or copyright says. Set
down by hand; a book that is not here has no year."""


def make(settings: Settings) -> Layer:
    """Gather the places."""
    app = build(settings)
    sources = {each.source.id: each.source for each in app.sources.all() if each.source.number}
    ids = sorted(sources, key=lambda name: (sources[name].number or 0, name))
    titles = {each.work.id: each.entry.title for each in app.catalogue.shelf() if each.work}
    works = []
    for summary in sorted(app.works.summaries(), key=lambda each: (each.title, each.sha256)):
        golds = [each for each in app.store.windows.golds(summary.id) if each[0] in sources]
        if summary.id not in titles or not golds:
            continue
        work, places = app.works.load(summary.id), []
        for source, first, length in golds:
            start, end = work.sentences[first].start, work.sentences[first + length - 1].end
            places.append((ids.index(source), start, end, hash_of(work.text[start:end])))
        works.append((work, sorted(places, key=lambda place: (place[1:3], place[0]))))
    used = sorted({place[0] for _, places in works for place in places})
    books = [_book(sources[ids[index]]) for index in used]
    listed = [
        QuotedPlaces(
            title=titles[work.id],
            sha256=work.sha256,
            places=tuple((used.index(place[0]), *place[1:]) for place in places),
        )
        for work, places in works
    ]
    about = {
        "program": provenance.code(),
        "rules": rules(),
        "segmenters": ", ".join(sorted({work.segmenter for work, _ in works})),
    }
    return Layer(about=about, digest=digest_of(books, listed), books=tuple(books), works=tuple(listed))


def _book(source: SecondarySource) -> CriticsBook:
    return CriticsBook(
        title=source.title,
        author=source.author,
        year=YEARS.get(source.number or 0, 0),
        number=source.number or 0,
        sha256=source.sha256,
    )


def write(layer: Layer, path: Path) -> None:
    """Write a layer, a book or a work a line."""
    parts = json.loads(layer.model_dump_json())
    lines = ["{"]
    for name, value in parts.items():
        if name in {"books", "works"}:
            rows = ",\n".join(f"  {json.dumps(each, ensure_ascii=False, separators=(',', ':'))}" for each in value)
            lines.append(f' "{name}": [\n{rows}\n ],')
        else:
            lines.append(f' "{name}": {json.dumps(value, ensure_ascii=False)},')
    path.write_text("\n".join(lines).removesuffix(",") + "\n}\n", "utf-8")
    read_layer(path)


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tools.places", description="Make the layer of places that ships.")
    parser.add_argument("out", type=Path, help="the file to write")
    made = make(Settings.from_environment())
    write(made, parser.parse_args().out)
    print(len(made.books), "books,", len(made.works), "works,", sum(len(each.places) for each in made.works), "places")
