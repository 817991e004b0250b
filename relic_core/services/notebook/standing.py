"""Where the work of a note stands now: in the library as it was, in another edition, removed, or not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relic_core.domain import KeptPassage, Note, WorkSummary
    from relic_core.wiring import App


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note, and where its passage can be read now.

    - `work_id`: the work of the library in which its passage stands as it was kept; empty where there is none.
    - `other_id`: another edition of it that the library has; empty where there is none, or `work_id` is there.
    - `notice`: what its reader should know of that; empty where all is as it was.
    """

    note: Note
    work_id: str = ""
    other_id: str = ""
    notice: str = ""


class Editions:
    """Looks once which editions the library has."""

    def __init__(self, app: App) -> None:
        summaries = app.works.summaries()
        self._by_text = {summary.sha256: summary for summary in summaries}
        self._by_name = {_name(summary): summary for summary in reversed(summaries)}
        self._removed = {summary.sha256 for summary in app.works.removed()}

    def view(self, note: Note) -> NoteView:
        """Say where the passage of a note can be read."""
        kept = note.kept
        here = self._by_text.get(kept.sha256)
        if here is not None:
            return NoteView(note, work_id=here.id)
        other = self._by_name.get(_name(kept))
        if other is not None:
            notice = (
                f"Kept from another edition of {kept.title} than the one in your library. The words stand here as they "
                "were kept; in that edition they may read otherwise, or stand elsewhere."
            )
            return NoteView(note, other_id=other.id, notice=notice)
        if kept.sha256 in self._removed:
            notice = f"{kept.title} was removed from your library. It can be put back there; the words stay here."
        else:
            notice = (
                f"{kept.title} is not in your library. The words stand here as they were kept; add that edition to "
                "read them in their place."
            )
        return NoteView(note, notice=notice)


def _name(work: KeptPassage | WorkSummary) -> tuple[str, str]:
    return work.title.casefold().strip(), work.author.casefold().strip()
