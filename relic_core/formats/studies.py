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

A study of another kind than the proxy task has "kind" in its "making", a divided one "shared"; one whose items do not
show whether its claims have a gap has "alone"; an item about spans has an "anchor". The file holds no answer. It is
checked whole: by its digest, by the id of the study, which is a digest of its items, and by what an item must be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from relic_core.domain.bounds import Count, Positive
from relic_core.domain.studies import (
    KINDS,
    Item,
    Making,
    Study,
    StudyTerms,
    check_terms,
    study_id,
)
from relic_core.domain.windows import ContextSize
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats.envelope import Envelope
from relic_core.formats.files import Moment, Strict, as_object, as_string, checked

_FILE = Envelope("study", 1, ("study", "terms"), head={})
_TEXTS = ("instructions", "consent", "privacy")
_TOLD = (*_TEXTS, "wanted")


class StudyFile(NamedTuple):
    """What a file holds: a study, and what it tells annotators."""

    study: Study
    terms: StudyTerms


def write_study(study: Study, terms: StudyTerms) -> bytes:
    """Write a study as a file: the same study and terms make the same bytes."""
    return _FILE.write(
        {
            "study": study_content(study) | {"items": [item_content(item) for item in study.items]},
            "terms": {name: getattr(terms, name) for name in _TOLD},
        }
    )


def read_study(data: bytes, source: str) -> StudyFile:
    """Read the file of a study and check it."""
    parts = _FILE.read(data, source)
    facts = as_object(parts["study"], f"{source}, study,")
    try:
        study = study_of(facts, facts.pop("items", None), source)
        terms = checked(StudyTerms, as_object(parts["terms"], f"{source}, terms,", _TOLD) | {"revealed": False}, source)
        making, items, kind = study.making, study.items, study.kind
        check_terms({name: getattr(terms, name) for name in _TOLD}, shared=making.shared)
    except (BadBenchmark, BadRequest) as error:
        raise _FILE.damaged(source, str(error)) from None
    keys = {work.key for work in study.works}
    named = study_id(name=study.name, version=study.version, seed=making.seed, items=items, shared=making.shared)
    if named != study.id:
        raise _FILE.damaged(source, f"its items are not those of the study {study.id:.20}")
    if len({item.id for item in items}) != len(items) or not items:
        raise _FILE.damaged(source, "an item is in it twice, or there is none")
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


def study_of(facts: Mapping[str, Any], items: object, source: str) -> Study:
    """Make a study of plain data, strictly. Raises BadBenchmark, BadRequest: they are none."""
    making = as_object(facts.get("making"), f"{source}, making,")
    shape = ContextSize.parse(as_string(making.get("shape"), f"{source}, shape,"))
    options = [_item(each) for each in checked(list[dict[str, Any]], items, f"{source}, items,")]
    whole = {**facts, "making": {**making, "shape": asdict(shape)}, "items": options}
    study = checked(Study, whole, source)
    return replace(study, created=checked(Moment, facts["created"], f"{source}, created,"))


def making_content(making: Making) -> dict[str, Any]:
    """Give how a study was made as plain data, without what is as in a plain study of the proxy task."""
    content = asdict(making) | {"lengths": list(making.lengths), "shape": str(making.shape)}
    if content["kind"] == KINDS[0].name:
        del content["kind"]
    if not making.shared:
        del content["shared"]
    if making.alone is None:
        del content["alone"]
    return content


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


class _Option(Strict):
    sentences: tuple[Count, Positive]
    at: tuple[Count, Positive]
    address: str
    words: str


def _item(content: dict[str, Any]) -> dict[str, Any]:
    """Name the numbers of an item's options, as the records do."""
    options = checked(list[_Option], content.get("options"), "an item's options")
    if any(each.at[0] >= each.at[1] for each in options):
        raise BadRequest("An option ends before it begins.")
    named = [
        {**each.model_dump(exclude={"sentences"}), "span": dict(zip(("start", "length"), each.sentences, strict=True))}
        for each in options
    ]
    return {**content, "options": named}
