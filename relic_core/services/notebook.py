"""The notebook: keeping passages, writing about them, arranging them, finding them again."""

from __future__ import annotations

import secrets
from base64 import b32encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Literal, TypedDict, Unpack

from relic_core import __version__
from relic_core.domain import ORIGINS, Collection, KeptPassage, Note, Origin, Search, Work, WorkSummary, note_id
from relic_core.domain.notes import brought_together, checked_name, checked_tags, checked_verdict, checked_words
from relic_core.errors import BadRequest, NotFound, unknown_name
from relic_core.reporting.passages import quotation
from relic_core.store.notes import CollectionRows, NoteRows

FIRST_COLLECTION = "My notes"
"""What the collection is called that keeping makes where there is none."""

LONGEST = 200
"""Sentences of a kept passage: some eight pages of prose."""

_MOST_WANTED = 200
"""Words that the notebook is searched for at a time."""

_RANDOM_BYTES = 5
"""Eight letters and digits."""


def keep_passage(work: Work, at: str, length: int, *, origin: Origin) -> KeptPassage:
    """Take a passage out of a work, without what brought it up; sentences beyond the chapter are left away."""
    if origin not in ORIGINS:
        raise unknown_name("page to keep from", origin, ORIGINS)
    if not 1 <= length <= LONGEST:
        raise BadRequest(f"A passage of {length:,} sentences cannot be kept: 1 to {LONGEST} can. Mark fewer of them.")
    span = work.span_at(at, length, within_chapter=True)
    place, (start, end) = work.place(span), work.span_offsets(span)
    return KeptPassage(
        work_id=work.id,
        sha256=work.sha256,
        title=work.title,
        author=work.author,
        at=str(place.address),
        length=span.length,
        start=start,
        end=end,
        place=place.label,
        chapter=place.chapter,
        paragraph=place.paragraph,
        line=place.line,
        quotation=quotation(work, span).plain,
        origin=origin,
        made_with=f"work {work.sha256[:12]}, {work.segmenter}, version {__version__}",
    )


def new_id() -> str:
    """Draw an id for a collection: eight letters and digits."""
    return b32encode(secrets.token_bytes(_RANDOM_BYTES)).decode().lower()


class FoundBy(TypedDict, total=False):
    """What brought a passage up, and where it is kept.

    - `origin`: the page that it is kept from; "read" where not given.
    - `search_id`: one that this store does not have is left away; what of it is not given is as in the search.
    - `collection_id`: the collection kept in last where not given, which is made where there is none.
    """

    origin: Origin
    claim_text: str
    search_id: str
    retriever: str
    rank: int
    made_with: str
    collection_id: str | None


class Said(TypedDict, total=False):
    """What is said of a passage, and where its note is put; an empty verdict takes it back."""

    words: str
    tags: Sequence[str]
    verdict: str
    collection_id: str


@dataclass(frozen=True, slots=True)
class Mark:
    """That a passage is kept: in which note, in which collection, by its name, and with which verdict."""

    note_id: str
    collection: str
    verdict: str | None = None


@dataclass(frozen=True, slots=True)
class Pressed:
    """What pressing Keep did; "stays": something was said of it, so that it is removed in the notebook alone."""

    note: Note
    collection: str
    outcome: Literal["kept", "let go", "stays"]


class Notebook:
    """Somebody's notes. Every call takes the person where people sign in; "" is everybody where nobody does."""

    def __init__(
        self,
        notes: NoteRows,
        collections: CollectionRows,
        load_work: Callable[[str], Work],
        get_search: Callable[[str], Search],
        editions: Callable[[], NoteEditions],
    ) -> None:
        self._notes, self._collections = notes, collections
        self._load_work, self._get_search, self._editions = load_work, get_search, editions
        self.remove, self.undo, self.removed = notes.remove, notes.restore, notes.removed
        self.versions, self.rewritten = notes.versions, notes.rewritten
        self.collections, self.removed_collections = collections.all, collections.removed
        self.remove_collection, self.undo_collection = collections.remove, collections.restore

    # ---- keeping ----------------------------------------------------------------------------------------------------

    def keep(self, work_id: str, at: str, length: int = 1, *, person: str = "", **found: Unpack[FoundBy]) -> Note:
        """Keep a passage; one that is kept for the same claim already is given as it is."""
        with self._notes.together(write=True):
            return self._notes.keep(self._make(work_id, at, length, person, found))[0]

    def press(
        self, work_id: str, at: str, length: int = 1, *, keep: bool, person: str = "", **found: Unpack[FoundBy]
    ) -> Pressed:
        """Keep a passage, or let one go of which nothing was written; a press that comes twice changes nothing."""
        rows = self._notes
        with self._notes.together(write=True):
            note = self._make(work_id, at, length, person, found)
            if keep:
                note, _ = rows.keep(note)
                return Pressed(note, self._collections.get(note.collection_id, person).name, "kept")
            with suppress(NotFound):  # it was let go before
                note = rows.get(note.id, person)
                if note.words.strip() or note.tags or note.verdict:
                    return Pressed(note, "", "stays")
                rows.remove(note.id, person)
        return Pressed(note, "", "let go")

    def _make(self, work_id: str, at: str, length: int, person: str, found: FoundBy) -> Note:
        rank, retriever = found.get("rank", 0), found.get("retriever", "")
        if rank < 0 or (rank and not retriever):
            raise BadRequest(f"A rank is counted from 1 and is a retriever's; {rank} of “{retriever:.40}” is none.")
        kept = keep_passage(self._load_work(work_id), at, length, origin=found.get("origin", "read"))
        if found.get("search_id"):
            with suppress(NotFound):  # an address from another machine: the passage is worth keeping without it
                search = self._get_search(found["search_id"])
                claim, made_with = search.request.sentence.strip(), search.made_with or kept.made_with
                kept = replace(kept, search_id=search.id, claim_text=claim, made_with=made_with)
        kept = replace(
            kept,
            claim_text=found.get("claim_text", "").strip() or kept.claim_text,
            retriever=retriever,
            rank=rank,
            made_with=found.get("made_with") or kept.made_with,
        )
        now = datetime.now(UTC)
        return Note(
            id=note_id(person, kept),
            collection_id=found.get("collection_id") or self.current(person).id,
            kept=kept,
            created=now,
            updated=now,
            person=person,
        )

    def lengthen(self, kept_note_id: str, sentences: int, person: str = "") -> Note:
        """Make a passage longer by so many sentences at its end, below 0 shorter, as far as its chapter goes.

        What was written about it goes with it, to the note on the new passage; where there is one already, the two are
        brought together. The note on the passage as it was is among the removed ones. Raises NotFound.
        """
        rows = self._notes
        with rows.together(write=True):
            note = rows.get(kept_note_id, person)
            old, work = note.kept, self._load_work(self._editions().view(note).work_id)
            span = work.span_between(old.start, old.end)  # its address is another where a chapter was put back
            assert span is not None  # noqa: S101 - the words of a note are in its edition
            length = max(1, span.length + sentences)
            new = keep_passage(work, str(work.address(span.start)), length, origin=old.origin)
            if (new.start, new.end) == (old.start, old.end):
                return note
            found = {name: getattr(old, name) for name in ("claim_text", "search_id", "retriever", "rank", "made_with")}
            kept = replace(new, **found)
            longer = replace(note, id=note_id(person, kept), kept=kept, updated=datetime.now(UTC))
            with suppress(NotFound):
                longer = brought_together(rows.get(longer.id, person), longer)
            rows.take_in((), [longer])
            rows.remove(note.id, person)
            return longer

    def marks(self, person: str = "") -> dict[tuple[str, str, str, int], Mark]:
        """Say which passages are kept: by claim, work, address and length."""
        with self._notes.together():
            names = {each.collection.id: each.collection.name for each in self._collections.all(person)}
            notes = self._notes.all(person)
        return {
            (note.kept.claim_text, note.kept.work_id, note.kept.at, note.kept.length): Mark(
                note.id, names[note.collection_id], note.verdict
            )
            for note in notes
        }

    # ---- notes ------------------------------------------------------------------------------------------------------

    def notes(
        self, collection_id: str = "", *, words: str = "", tag: str = "", verdict: str = "", person: str = ""
    ) -> tuple[NoteView, ...]:
        """List notes in their order, each with where its passage can be read now.

        - `words`: only those in which every one of these words stands: in the passage, its place, its claim, or what
          was written about it. Capitals do not matter, and part of a word will do.
        - `verdict`: "none" is none yet on the claim it was kept for.
        """
        wanted = tuple(dict.fromkeys(words.casefold().split()))
        if len(wanted) > _MOST_WANTED:
            raise BadRequest(
                f"The notebook is searched for {_MOST_WANTED} words at a time; these are {len(wanted):,}. Give fewer."
            )
        found = self._notes.all(person, collection_id)
        editions = self._editions()
        return tuple(
            editions.view(note)
            for note in found
            if (not wanted or _holds(note, wanted))
            and (not tag or tag in note.tags)
            and (not verdict or _judged(note) == verdict)
        )

    def note(self, note_id: str, person: str = "") -> NoteView:
        """Give one note. Raises NotFound."""
        return self._editions().view(self._notes.get(note_id, person))

    def tags(self, person: str = "") -> tuple[str, ...]:
        """List every tag that is in use, by the alphabet."""
        used = set(chain.from_iterable(note.tags for note in self._notes.all(person)))
        return tuple(sorted(used, key=lambda tag: (tag.casefold(), tag)))

    def write(self, note_id: str, *, person: str = "", **changes: Unpack[Said]) -> Note:
        """Write about a passage, or put its note at the end of another collection; what is not given stays."""
        return self._notes.change(note_id, person, **_checked(changes))[1]

    def write_over(self, seen: Note, *, person: str = "", **changes: Unpack[Said]) -> tuple[Note, Note | None]:
        """Write about a passage as `write` does, where its note may have been changed elsewhere since it was `seen`.

        Returns: the note as it is now, with tags that were added or removed elsewhere; and the version before, where
        words or verdict that are written now were changed elsewhere to something else.
        """
        before, now = self._notes.change(seen.id, person, seen, **_checked(changes))
        fields = set(changes) - {"tags"}
        lost = any(getattr(before, field) not in {getattr(seen, field), getattr(now, field)} for field in fields)
        return now, before if lost else None

    # ---- collections and order -------------------------------------------------------------------------------------

    def add_collection(self, name: str, person: str = "") -> Collection:
        """Make a collection. Raises BadRequest: the name is empty, too long, or taken."""
        collection = Collection(
            id=new_id(), name=self._free_name(name, person), created=datetime.now(UTC), person=person
        )
        self._collections.add(collection)
        return collection

    def rename_collection(self, collection_id: str, name: str, person: str = "") -> Collection:
        """Give a collection another name; errors as for `add_collection`, and NotFound."""
        free = self._free_name(name, person, but=collection_id)
        return self._collections.rename(collection_id, free, person)

    def move(self, note_id: str, steps: int, person: str = "") -> Note:
        """Move a note up (below 0) or down in its collection, as far as it goes. Raises NotFound."""
        rows = self._notes
        order = [note.id for note in rows.all(person, rows.get(note_id, person).collection_id)]
        return rows.place(note_id, max(0, order.index(note_id) + steps), person)

    def current(self, person: str) -> Collection:
        """Give the collection that was kept in last, or made last; make one where there is none."""
        there = [each.collection for each in self._collections.all(person)]
        if not there:
            return self.add_collection(FIRST_COLLECTION, person)
        last = self._notes.last_kept(person)
        newest = there[-1]
        if last is None or newest.created > last.created:
            return newest
        # The collection may have been removed between the two looks: then it is the newest of the others.
        return next((each for each in there if each.id == last.collection_id), newest)

    def _free_name(self, name: str, person: str, *, but: str = "") -> str:
        checked = checked_name(name)
        for each in self._collections.all(person):
            if each.collection.id != but and each.collection.name.casefold() == checked.casefold():
                raise BadRequest(
                    f"You have a collection called “{each.collection.name}” already. Choose another name, or keep your "
                    "notes in that one."
                )
        return checked


def _checked(changes: Said) -> dict[str, Any]:
    checks: dict[str, Callable[[Any], object]]
    checks = {"words": checked_words, "tags": checked_tags, "verdict": checked_verdict}
    return {name: checks.get(name, str)(value) for name, value in changes.items()}


def _judged(note: Note) -> str:
    """Give the verdict of a note, "none" where there is none yet; empty where there is no claim to give one on."""
    return note.verdict or ("none" if note.kept.for_claim else "")


def _holds(note: Note, wanted: Sequence[str]) -> bool:
    kept = note.kept
    parts = (note.words, *note.tags, kept.quotation, kept.claim_text, kept.title, kept.author, kept.place)
    text = " ".join("\n".join(parts).casefold().split())
    return all(word in text for word in wanted)


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note, and where its passage can be read now.

    - `work_id`: the work of the library in which its passage stands as it was kept; empty where there is none.
    - `other_id`: another edition of it that the library has; empty where there is none, or `work_id` is there.
    """

    note: Note
    work_id: str = ""
    other_id: str = ""
    notice: str = ""


class NoteEditions:
    """Says of notes where their passages can be read now."""

    def __init__(self, summaries: Sequence[WorkSummary], removed: Iterable[WorkSummary]) -> None:
        self._by_text = {summary.sha256: summary for summary in summaries}
        self._by_name = {_name(summary): summary for summary in reversed(summaries)}
        self._removed = {summary.sha256 for summary in removed}

    def view(self, note: Note) -> NoteView:
        """Say where the passage of a note can be read."""
        kept = note.kept
        here = self._by_text.get(kept.sha256)
        if here is not None:
            return NoteView(note, work_id=here.id)
        other = self._by_name.get(_name(kept))
        if other is not None:
            notice = (
                f"Kept from another edition of {kept.title} than the one in your library. These are the words as you "
                "kept them; in your edition they may differ, or be elsewhere."
            )
            return NoteView(note, other_id=other.id, notice=notice)
        if kept.sha256 in self._removed:
            notice = f"{kept.title} was removed from your library. It can be put back there; the words stay here."
        else:
            notice = (
                f"{kept.title} is not in your library. These are the words as you kept them; add that edition to "
                "read them in their place."
            )
        return NoteView(note, notice=notice)


def _name(work: KeptPassage | WorkSummary) -> tuple[str, str]:
    return work.title.casefold().strip(), work.author.casefold().strip()
