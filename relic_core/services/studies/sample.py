"""The sample study, which comes with the program: items of the sample work, so that the task can be tried at once.

It is made by ``python -m relic_core study sample`` from the sample's excerpts, and a test holds the file to what the
command makes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from relic_core.config import ASSETS
from relic_core.formats.files import read_bytes, written_whole
from relic_core.formats.studies import StudyFile, read_study, write_study
from relic_core.ports import silent
from relic_core.services.studies.making import StudyRequest, make

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.wiring import App

FILE = ASSETS / "sample" / "study.json"

REQUEST = StudyRequest(name="High Water at Averhythe", benchmark="sample", most=10, seed=1, wanted=0)
_CODE = "came with the program"
_MADE = datetime(2026, 11, 1, tzinfo=UTC)
"""Fixed, so that the same items make the same file."""


def ensure(app: App) -> None:
    """Put the sample study into the store, unless it is there or was removed by the reader.

    Raises BadBenchmark: the file that came with the program was changed.
    """
    study, terms = read_study(read_bytes(FILE), str(FILE))
    if not app.store.studies.is_known(study.id):
        app.store.studies.add(study, terms)


def make_file(app: App, path: Path = FILE) -> StudyFile:
    """Make the sample study anew and write it.

    Raises RelicError: as `make`; the file cannot be written.
    """
    study = make(app, REQUEST, progress=silent)
    making = replace(study.making, code=_CODE)
    whole = StudyFile(replace(study, making=making, created=_MADE), REQUEST.terms)
    with written_whole(path) as file:
        file.write(write_study(*whole))
    return whole
