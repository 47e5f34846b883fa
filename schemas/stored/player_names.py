"""The names of players: in the log, which nothing is ever taken from, stands only a salted commitment to each.

The name and its salt lie beside the log, where both can be erased. Then nobody can tell from the commitment what
the name was, and everything that follows from the log (chain, proofs, verdicts) is as it was. Whoever has both can check
that they belong to the log (docs/reference/proof.md). Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias, TypeVar

import msgpack

from schemas.commands import Command, CreateGame, SeatPlan, TakeSeat
from schemas.contract import Schema
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import Event, GameCreated, SeatTaken
from schemas.field_types import MAX_SEATS, Name
from schemas.stored.entries import Entry, ViewEntry

SALT_BYTES: Final = 32
ERASED_NAME: Final = "a player"  # what is shown where a name was erased
MAX_NAMES: Final = 2 * MAX_SEATS  # of a game: one that its creator planned for a seat, and its player's own
MAX_NAMES_BYTES: Final = 16_384  # of a game's, packed

_NAME: Final[Schema[str]] = Schema(Name, "name")


class SaltedName(NamedTuple):
    """A name, and the random bytes (32) that keep its commitment from being guessed."""

    salt: bytes
    name: str

    @property
    def commitment(self) -> str:
        """The commitment that the log has in the name's place, in hex."""
        return sha256(b"ledgerline/name/1" + self.salt + self.name.encode()).hexdigest()


SaltedNames: TypeAlias = Mapping[str, SaltedName]  # of a game, by commitment
EntryT = TypeVar("EntryT", Entry, ViewEntry)
HolderT = TypeVar("HolderT", Command, Event)


def by_commitment(names: Sequence[SaltedName]) -> SaltedNames:
    """The names, each under its commitment."""
    return {salted.commitment: salted for salted in names}


def shown_names(names: SaltedNames) -> dict[str, str]:
    """The bare names by commitment."""
    return {commitment: salted.name for commitment, salted in names.items()}


# -- in the log ------------------------------------------------------------------------------


def committed_names(events: Sequence[Event]) -> set[str]:
    """The commitments to names that these events hold."""
    return {holder.name_commitment for holder in _name_holders(events) if holder.name_commitment is not None}


def names_in(entries: Sequence[ViewEntry]) -> Mapping[str, str]:
    """The names that entries of a view are shown with, by commitment."""
    holders = (holder for entry in entries for holder in _name_holders(entry.events))
    return {
        holder.name_commitment: holder.name or ERASED_NAME
        for holder in holders
        if holder.name_commitment is not None
    }


def holds_name_and_commitment(events: Sequence[Event]) -> bool:
    """Whether a name stands in an event together with the commitment that is to stand in its place."""
    return any(
        holder.name is not None and holder.name_commitment is not None for holder in _name_holders(events)
    )


def _name_holders(events: Sequence[Event]) -> Iterator[SeatTaken | SeatPlan]:
    """Iterate over all that can be named: seats that are taken, and plans of seats."""
    for event in events:
        if isinstance(event, SeatTaken):
            yield event
        elif isinstance(event, GameCreated):
            yield from event.seats


def has_same_names(command: Command, answer: ViewEntry) -> bool:
    """Whether the entry that answers a command is shown with the names that the command brings, as far as they
    weren't erased."""
    shown = {(type(holder), place): holder for place, holder in enumerate(_name_holders(answer.events))}
    if isinstance(command, TakeSeat):
        return _shows(shown.get((SeatTaken, 0)), command.name)
    if isinstance(command, CreateGame):
        return all(_shows(shown.get((SeatPlan, seat)), plan.name) for seat, plan in enumerate(command.seats))
    return True


def _shows(holder: SeatTaken | SeatPlan | None, name: str | None) -> bool:
    is_known = holder is not None and holder.name_commitment is not None and holder.name != ERASED_NAME
    return holder is None or not is_known or holder.name == name


def commitment_field(command: Command) -> str:
    """The field of a command that holds a commitment to a name, as only a log does; empty if none does."""
    if isinstance(command, TakeSeat):
        return "" if command.name_commitment is None else "name_commitment"
    plans = command.seats if isinstance(command, CreateGame) else ()
    places = (f"seats.{seat}.name_commitment" for seat, plan in enumerate(plans) if plan.name_commitment)
    return next(places, "")


def with_names(entry: EntryT, names: SaltedNames) -> EntryT:
    """The entry as people are shown it: with the names that its commitments stand for, or ERASED_NAME."""
    if not committed_names(entry.events):
        return entry
    return replace(entry, events=tuple(_with_names(event, names) for event in entry.events))


def log_entry_with_names(entry: Entry, names: SaltedNames) -> Entry:
    """The log's entry, its command included, with the names that its commitments stand for, or ERASED_NAME."""
    if commitment_field(entry.command):
        entry = replace(entry, command=_with_names(entry.command, names))
    return with_names(entry, names)


def _with_names(holder: HolderT, names: SaltedNames) -> HolderT:
    """The command or event with the names that its commitments stand for."""
    if isinstance(holder, TakeSeat | SeatTaken) and holder.name_commitment is not None:
        return replace(holder, name=_name_of(holder.name_commitment, names))
    if isinstance(holder, CreateGame | GameCreated):
        return replace(holder, seats=_named_plans(holder.seats, names))
    return holder


def _named_plans(plans: Sequence[SeatPlan], names: SaltedNames) -> tuple[SeatPlan, ...]:
    return tuple(
        plan if plan.name_commitment is None else replace(plan, name=_name_of(plan.name_commitment, names))
        for plan in plans
    )


def _name_of(commitment: str, names: SaltedNames) -> str:
    salted = names.get(commitment)
    return ERASED_NAME if salted is None else salted.name


# -- beside the log ---------------------------------------------------------------------------


def pack_names(names: SaltedNames) -> bytes:
    """The names as bytes: msgpack, a list of [salt, name], in the order of their commitments."""
    packed: bytes = msgpack.packb([list(names[commitment]) for commitment in sorted(names)])
    return packed


def unpack_names(data: bytes) -> SaltedNames:
    """The names in bytes that anybody may have written. Raises CorruptDataError."""
    if len(data) > MAX_NAMES_BYTES:
        raise CorruptDataError(f"the names of a game take at most {MAX_NAMES_BYTES} bytes")
    try:
        value = msgpack.unpackb(data)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        raise CorruptDataError(f"no names in {data[:60]!r}: {error}") from None
    return read_names(value)


def read_names(value: object) -> SaltedNames:
    """The names in a list of [salt, name] that anybody may have written. Raises CorruptDataError."""
    if not isinstance(value, list) or len(value) > MAX_NAMES:
        raise CorruptDataError(f"the names of a game are a list of at most {MAX_NAMES}")
    return by_commitment([_read_name(pair) for pair in value])


def _read_name(pair: object) -> SaltedName:
    match pair:
        case [bytes(salt), str(name)] if len(salt) == SALT_BYTES:
            try:
                return SaltedName(salt, _NAME.read(name))
            except InvalidInputError as error:
                raise CorruptDataError(f"a name beside the log {error.reason}") from None
    raise CorruptDataError(f"a name beside the log isn't {SALT_BYTES} bytes and a text")
