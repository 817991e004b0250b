"""Studies as JSON: what the store keeps of them, and the file that two departments exchange.

::

    {
     "format": "relic study/1",
     "sha256": "…",                               over "study" and "terms"
     "study": {"id": "…", "name": "…", "version": 1, …,
       "works": [{"key": "…", …}, …],
       "making": {"benchmark": "…", "shape": "4/4", …},
       "items": [{"id": "…", "book": "…", "left": "…", "right": "…", "right_option": 2,
                  "options": [{"sentences": [812, 1], "at": [81230, 81370], "address": "3.5.2", "words": "…"}, …]}, …]},
     "terms": {"instructions": "…", "wanted": 3, "consent": "…", "privacy": "…"}
    }

A study of another kind than the proxy task has "kind" in its "making", a divided one "shared"; an item about spans has
an "anchor". The file holds no answer. It is checked whole: by its digest, by the id of the study, which is a digest of
its items, and by what an item must be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from relic_core.domain.spans import Span
from relic_core.domain.studies import (
    KINDS,
    Item,
    Making,
    Option,
    Study,
    StudyTerms,
    StudyWork,
    check_terms,
    study_id,
)
from relic_core.domain.windows import ContextSize
from relic_core.errors import BadRequest
from relic_core.formats.envelope import Envelope
from relic_core.formats.files import as_object, as_string

_FILE = Envelope("study", 1, ("study", "terms"), head={})
_TEXTS = ("instructions", "consent", "privacy")


class StudyFile(NamedTuple):
    """What a file holds: a study, and what it tells annotators."""

    study: Study
    terms: StudyTerms


def write_study(study: Study, terms: StudyTerms) -> bytes:
    """Write a study as a file: the same study and terms make the same bytes."""
    return _FILE.write(
        {
            "study": study_content(study) | {"items": [item_content(item) for item in study.items]},
            "terms": {name: getattr(terms, name) for name in (*_TEXTS, "wanted")},
        }
    )


def read_study(data: bytes, source: str) -> StudyFile:
    """Read the file of a study and check it."""
    parts = _FILE.read(data, source)
    try:
        facts: Any = as_object(parts["study"], f"{source}, study,")
        items = tuple(item_of(each) for each in facts.pop("items"))
        study = study_of(facts, items)
        terms = _terms_of(as_object(parts["terms"], f"{source}, terms,", (*_TEXTS, "wanted")), source)
        making = study.making
        check_terms({name: getattr(terms, name) for name in (*_TEXTS, "wanted")}, shared=making.shared)
        named = study_id(name=study.name, version=study.version, seed=making.seed, items=items, shared=making.shared)
        keys, kind = {work.key for work in study.works}, study.kind
    except (TypeError, ValueError, KeyError, AttributeError, BadRequest) as error:
        raise _FILE.damaged(source, f"{type(error).__name__}: {error}") from None
    if named != study.id:
        raise _FILE.damaged(source, f"its items are not those of the study {study.id:.20}")
    if len({item.id for item in items}) != len(items) or not items:
        raise _FILE.damaged(source, "an item stands in it twice, or there is none")
    if any(len(item.options) != kind.passages or kind.marks_spans != bool(item.anchor) for item in items):
        raise _FILE.damaged(source, f"its items are not those of a study of the kind {kind.name}")
    if making.shared and making.shared not in (range(2, len(items)) if kind.is_proxy else ()):
        raise _FILE.damaged(
            source, f"{making.shared:,} of {len(items):,} items of the kind {kind.name} cannot be shared"
        )
    if lacking := {item.book for item in items} - keys:
        raise _FILE.damaged(source, f"the works {', '.join(sorted(lacking))} of its items are not described")
    return StudyFile(study, terms)


def study_content(study: Study) -> dict[str, Any]:
    """Give a study as plain data, without its items."""
    return {
        "id": study.id,
        "name": study.name,
        "version": study.version,
        "earlier": study.earlier,
        "created": study.created.isoformat(),
        "works": [asdict(work) for work in study.works],
        "making": making_content(study.making),
    }


def study_of(content: Mapping[str, Any], items: tuple[Item, ...]) -> Study:
    """Make a study of plain data; TypeError, ValueError, KeyError or BadRequest where they are none."""
    said = dict(content)
    if not str(said["name"]).strip() or type(said["version"]) is not int or said["version"] < 1:
        raise ValueError("a study has a name and a version from 1")
    return Study(
        **said
        | {
            "works": tuple(StudyWork(**work) for work in said["works"]),
            "making": making_of(said["making"]),
            "created": datetime.fromisoformat(said["created"]),
            "items": items,
        }
    )


def making_content(making: Making) -> dict[str, Any]:
    """Give how a study was made as plain data, without the kind of the proxy task, and without shared items if none."""
    content = asdict(making) | {"lengths": list(making.lengths), "shape": str(making.shape)}
    if content["kind"] == KINDS[0].name:
        del content["kind"]
    if not making.shared:
        del content["shared"]
    return content


def making_of(content: Mapping[str, Any]) -> Making:
    """Read how a study was made; raises as `study_of`."""
    said = dict(content)
    if type(said["seed"]) is not int or type(said.get("shared", 0)) is not int:
        raise ValueError("a seed and the number of shared items are whole numbers")
    return Making(**said | {"lengths": tuple(said["lengths"]), "shape": ContextSize.parse(said["shape"])})


def item_content(item: Item) -> dict[str, Any]:
    """Give an item as plain data."""
    options = [
        {
            "sentences": [option.span.start, option.span.length],
            "at": list(option.at),
            "address": option.address,
            "words": option.words,
        }
        for option in item.options
    ]
    return item.content | {"options": options}


def item_of(content: Mapping[str, Any]) -> Item:
    """Make an item of plain data; raises as `study_of`."""
    said = dict(content)
    for name in ("id", "book", "left", "right", "chooser"):
        as_string(said[name], f"an item's {name}", empty=name in {"left", "right", "chooser"})
    return Item(**said | {"options": tuple(_option(each) for each in said["options"])})


def _option(said: Mapping[str, Any]) -> Option:
    (start, length), (first, last) = said["sentences"], said["at"]
    if not all(type(number) is int for number in (start, length, first, last)) or not 0 <= first < last:
        raise ValueError("an option stands at whole numbers")
    words = as_string(said["words"], "the words of an option")
    return Option(span=Span(start, length), at=(first, last), address=said["address"], words=words)


def _terms_of(said: Mapping[str, Any], source: str) -> StudyTerms:
    instructions, consent, privacy = (as_string(said[name], f"{source}, {name},", empty=True) for name in _TEXTS)
    wanted = said["wanted"]
    if type(wanted) is not int:
        raise ValueError("annotators wanted is a whole number")
    return StudyTerms(instructions=instructions, wanted=wanted, consent=consent, privacy=privacy, revealed=False)
