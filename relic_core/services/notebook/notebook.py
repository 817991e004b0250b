"""The notebook: keeping passages, writing about them, arranging them, finding them again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from relic_core.domain import Note, note_id
from relic_core.domain.notes import checked_tags, checked_verdict, checked_words
from relic_core.errors import BadRequest
from relic_core.services.notebook.arranging import Arranging
from relic_core.services.notebook.files import Files
from relic_core.services.notebook.keeping import found_by, keep_passage
from relic_core.services.notebook.standing import Editions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Origin
    from relic_core.services.notebook.standing import NoteView


@dataclass(frozen=True, slots=True)
class Mark:
    """That a passage is kept: in which note, and in which collection, by its name."""

    note_id: str
    collection: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """What pressing Keep did.

    - `outcome`: it stays where it was kept and something was said of it: it is removed in the notebook.
    """

    note: Note
    collection: str
    outcome: Literal["kept", "let go", "stays"]


class Notebook(Arranging):
    """Somebody's notes. Every call takes the person where people sign in; "" is everybody where nobody does."""

    @cached_property
    def files(self) -> Files:
        """What goes out of the notebook and comes in."""
        return Files(self._app)

    # ---- keeping ----------------------------------------------------------------------------------------------------

    def keep(  # noqa: PLR0913 - what is kept of a passage
        self,
        work_id: str,
        at: str,
        length: int = 1,
        *,
        origin: Origin = "read",
        claim_text: str = "",
        search_id: str = "",
        retriever: str = "",
        rank: int = 0,
        made_with: str = "",
        collection_id: str | None = None,
        person: str = "",
    ) -> Note:
        """Keep a passage; one that is kept for the same claim already is given as it is.

        - `at`: address of the first sentence.
        - `claim_text`: the claim it was found for; that of the search where not given.
        - `search_id`: the search it was found by; one that this store does not have is left away.
        - `rank`: at which rank, from 1; 0 where none did.
        - `made_with`: what answered, as in `relic_core.domain.Search`; that of the search where not given.
        - `collection_id`: where to; the collection kept in last where not given, which is made where there is none.

        Raises NotFound: there is no such work, place or collection.
        Raises BadRequest: it is no address, or a length or rank that cannot be.
        """
        with self._app.store.together():
            note = self._make(
                work_id, at, length, origin=origin, claim_text=claim_text, search_id=search_id, retriever=retriever,
                rank=rank, made_with=made_with, collection_id=collection_id, person=person,
            )  # fmt: skip
            stored, _ = self._app.store.notes.keep(note)
        return stored

    def press(self, work_id: str, at: str, length: int = 1, *, person: str = "", **found: Any) -> Pressed:  # noqa: ANN401 - as `keep`
        """Do what pressing Keep does: keep a passage, or let one go that is kept and of which nothing was said.

        - `work_id`, `at`, `length`, `person`, `**found`: as for `keep`.

        Raises NotFound, BadRequest: as for `keep`.
        """
        rows = self._app.store.notes
        with self._app.store.together():
            note, new = rows.keep(self._make(work_id, at, length, person=person, **found))
            if new:
                return Pressed(note, self._app.store.collections.get(note.collection_id, person).name, "kept")
            bare = not (note.words.strip() or note.tags or note.verdict)
            if bare:
                rows.remove(note.id, person)
        return Pressed(note, "", "let go" if bare else "stays")

    def _make(  # noqa: PLR0913 - what is kept of a passage
        self,
        work_id: str,
        at: str,
        length: int,
        *,
        origin: Origin = "read",
        claim_text: str = "",
        search_id: str = "",
        retriever: str = "",
        rank: int = 0,
        made_with: str = "",
        collection_id: str | None = None,
        person: str = "",
    ) -> Note:
        """Make the note of a passage as it is kept now, which is not stored yet."""
        if rank < 0 or (rank and not retriever):
            raise BadRequest(f"A rank is counted from 1 and is a retriever's; {rank} of “{retriever:.40}” is none.")
        kept = keep_passage(self._app.works.load(work_id), at, length, origin=origin)
        kept = found_by(self._app, kept, search_id)
        kept = replace(
            kept,
            claim_text=claim_text.strip() or kept.claim_text,
            retriever=retriever,
            rank=rank,
            made_with=made_with or kept.made_with,
        )
        now = datetime.now(UTC)
        return Note(
            id=note_id(person, kept),
            collection_id=collection_id or self.current(person).id,
            kept=kept,
            created=now,
            updated=now,
            person=person,
        )

    def marks(self, person: str = "") -> dict[tuple[str, str, str, int], Mark]:
        """Say which passages are kept: by claim, work, address and length."""
        with self._app.store.notes.together():
            names = {each.collection.id: each.collection.name for each in self.collections(person)}
            notes = self._app.store.notes.all(person)
        return {
            (note.kept.claim_text, note.kept.work_id, note.kept.at, note.kept.length): Mark(
                note.id, names[note.collection_id]
            )
            for note in notes
        }

    # ---- notes ------------------------------------------------------------------------------------------------------

    def notes(
        self, collection_id: str = "", *, words: str = "", tag: str = "", verdict: str = "", person: str = ""
    ) -> tuple[NoteView, ...]:
        """List notes in their order, each with where its passage can be read now.

        - `collection_id`: of this collection; of all where empty.
        - `words`: only those in which every one of these words stands: in the passage, its place, its claim, or what
          was written about it. Capitals do not matter, and part of a word will do.
        - `tag`, `verdict`: only those with this tag, with this verdict; "none" is none yet on the claim it was kept
          for.
        """
        found = self._app.store.notes.all(person, collection_id)
        wanted = words.casefold().split()
        editions = Editions(self._app)
        return tuple(
            editions.view(note)
            for note in found
            if (not wanted or _holds(note, wanted))
            and (not tag or tag in note.tags)
            and (not verdict or _judged(note) == verdict)
        )

    def note(self, note_id: str, person: str = "") -> NoteView:
        """Give one note. Raises NotFound."""
        return Editions(self._app).view(self._app.store.notes.get(note_id, person))

    def tags(self, person: str = "") -> tuple[str, ...]:
        """List every tag that is in use, by the alphabet."""
        used = {tag for note in self._app.store.notes.all(person) for tag in note.tags}
        return tuple(sorted(used, key=lambda tag: (tag.casefold(), tag)))

    def write(
        self,
        note_id: str,
        *,
        words: str | None = None,
        tags: Sequence[str] | None = None,
        verdict: str | None = None,
        person: str = "",
    ) -> Note:
        """Write about a passage; what is not given stays.

        - `verdict`: one of `VERDICTS`; empty takes it back.

        Raises BadRequest: the words, or the tags, are too long or too many; there is no such verdict.
        Raises NotFound: there is no such note.
        """
        changed: dict[str, object] = {}
        if words is not None:
            changed["words"] = checked_words(words)
        if tags is not None:
            changed["tags"] = checked_tags(tags)
        if verdict is not None:
            changed["verdict"] = checked_verdict(verdict)
        return self._app.store.notes.change(note_id, person, **changed)


def _judged(note: Note) -> str:
    """Give the verdict of a note, "none" where there is none yet; empty where there is no claim to give one on."""
    return note.verdict or ("none" if note.kept.for_claim else "")


def _holds(note: Note, wanted: Sequence[str]) -> bool:
    kept = note.kept
    parts = (note.words, *note.tags, kept.quotation, kept.claim_text, kept.title, kept.author, kept.place)
    text = " ".join("\n".join(parts).casefold().split())
    return all(word in text for word in wanted)
