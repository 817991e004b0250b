"""People who sign in: finding one by the address that an operator knows, and making what another keeps theirs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from relic_core.domain.people import NOBODY, Holding, address_digest
from relic_core.errors import BadRequest, NotFound
from relic_core.store.people import PeopleRows

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Known:
    """Somebody who keeps something, or has signed in; called `NOBODY`, by a listed address, or by their id."""

    name: str
    holding: Holding


class People:
    """Whose things there are; the store has ids and digests alone. `allowed`: the addresses of the operator's list."""

    def __init__(self, rows: PeopleRows, allowed: Collection[str]) -> None:
        self._rows, self._allowed = rows, allowed

    def signed_in(self, person: str, address: str) -> None:
        """Remember that somebody signed in, so that they are found by their address; a digest of it is stored."""
        self._rows.seen(person, address_digest(address))

    def known(self) -> tuple[Known, ...]:
        """List everybody who keeps something or has signed in; an address is named that the operator's list has."""
        listed = {address_digest(each): each for each in self._allowed if "@" in each}
        return tuple(
            Known(listed.get(each.address, each.person) if each.person else NOBODY, each)
            for each in self._rows.holdings()
        )

    def find(self, name: str) -> str:
        """Find out whom an operator means by an e-mail address, an id, or `NOBODY`, whose id is empty."""
        wanted = name.strip()
        if wanted.lower() == NOBODY:
            return ""
        if "@" not in wanted:
            if wanted in {each.holding.person for each in self.known() if each.holding.person}:
                return wanted
            raise NotFound(f"There is nobody called '{wanted:.{_SHOWN}}'. {self._there_is()}")
        found = self._rows.with_address(address_digest(wanted))
        if not found:
            raise NotFound(
                f"Nobody has signed in as {wanted:.{_SHOWN}} yet. Let them sign in once, and try again: a person is "
                f"known from then on. {self._there_is()}"
            )
        if len(found) > 1:
            raise BadRequest(
                f"{len(found)} people have signed in as {wanted:.{_SHOWN}}: {', '.join(found)}. "
                "Name the one you mean by that number."
            )
        return found[0]

    def transfer_ownership(self, to: str, source: str = NOBODY) -> Holding:
        """Make all notes, collections and searches of one person another's, removed ones too; give what moved.

        What both have is brought together: see `relic_core.store.people`.
        """
        target, giver = self.find(to), self.find(source)
        if "@" in to and address_digest(to.strip()) not in {
            each.address for each in self._rows.holdings() if each.person == target
        }:
            raise BadRequest(
                f"Who once signed in as {to.strip():.{_SHOWN}} has another address by now, and somebody else may have "
                f"this one. To hand things over to them all the same, name them by their number: {target}."
            )
        if target == giver:
            raise BadRequest(f"{to.strip():.{_SHOWN}} has these things already. Name two different people.")
        return self._rows.transfer_ownership(giver, target)

    def _there_is(self) -> str:
        names = [each.name for each in self.known()]
        return f"There is: {', '.join(names)}." if names else "Nobody has kept anything here yet."
