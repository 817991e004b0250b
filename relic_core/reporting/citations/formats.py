"""Files for other programs, and what each is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.errors import unknown_name
from relic_core.reporting.citations import bibtex, csl_json, ris

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from relic_core.domain import CitedWork


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of files of references.

    - `write`: writes works, in the order given.
    """

    name: str
    label: str
    suffix: str
    mime: str
    purpose: str
    write: Callable[[Iterable[CitedWork]], str]


FORMATS: Mapping[str, FileFormat] = {
    each.name: each
    for each in (
        FileFormat(
            "ris",
            "RIS",
            ".ris",
            "application/x-research-info-systems",
            "for Zotero, EndNote or Mendeley: open it, or choose Import there",
            ris.write,
        ),
        FileFormat(
            "bibtex", "BibTeX", ".bib", "application/x-bibtex", "for LaTeX, and for JabRef and Zotero", bibtex.write
        ),
        FileFormat(
            "csl-json",
            "CSL-JSON",
            ".json",
            "application/vnd.citationstyles.csl+json",
            "for Pandoc, and for Zotero: it keeps the most",
            csl_json.write,
        ),
    )
}


def file_format(name: str) -> FileFormat:
    """Give a format by its name.

    Raises BadRequest: there is none of that name.

    >>> file_format("ris").suffix
    '.ris'
    """
    try:
        return FORMATS[name]
    except KeyError:
        raise unknown_name("format of references", name, FORMATS) from None
