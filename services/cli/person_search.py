"""Where a person plays or has played: the seats of a name, in all games of the engine and of the archive."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from schemas.codec import unpack_entry
from schemas.errors import CorruptDataError
from schemas.events import GameCreated, GameForked, GameStarted, SeatFreed, SeatTaken
from schemas.field_types import Seat
from schemas.player_names import SaltedName, SaltedNames
from services.ledger import MissingEntryError
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.verification.game_repository import GameRepository

Holder: TypeAlias = tuple[Seat, int]  # of a seat: which, and how often it had been freed before
SeatKey: TypeAlias = tuple[str, Seat, int]  # its game, and its holder
ALL_GAMES: Final = 1 << 40  # more than there are
_SEAT_OF_GAME: Final = re.compile(r"([a-z0-9][a-z0-9-]{2,39}):([0-7])")


class Wanted(NamedTuple):
    """Who is looked for: everybody of a name, or who holds a seat."""

    text: str
    game: str = ""  # empty: everybody of that name
    seat: Seat = 0


class NamedSeat(NamedTuple):
    """A seat that a person planned for or took, and every name of it."""

    game: str
    seat: Seat
    salted: Sequence[SaltedName]  # that lie beside the log, and can be erased
    name_in_log: str = ""  # of a person, in a log of before names were kept apart
    times_freed: int = 0  # how often the host had freed the seat before
    is_freed: bool = False  # the host has freed it since: another person may sit there

    @property
    def names(self) -> set[str]:
        """All that is known of what the seat is called."""
        return {salted.name for salted in self.salted} | ({self.name_in_log} - {""})


class FoundSeats(NamedTuple):
    """The seats of who was looked for, and the games that couldn't be searched, each with why."""

    seats: Sequence[NamedSeat]
    unreadable: Sequence[tuple[str, str]]


def parse_wanted(text: str, *, is_name: bool) -> Wanted:
    """Who a word of the command line means: GAME:SEAT, or else a name."""
    matched = None if is_name else _SEAT_OF_GAME.fullmatch(text)
    return Wanted(text, matched[1], int(matched[2])) if matched else Wanted(text)


def find_seats(
    repository: GameRepository, wanted: Sequence[Wanted], progress: Callable[[Sequence[str]], Iterable[str]]
) -> FoundSeats:
    """The seats of all who are wanted. Who is wanted by a seat is found in the games that went on from that one too, forks
    and play-offs: players take their names along. `progress` iterates over the games that are searched."""
    seats: dict[SeatKey, NamedSeat] = {}
    origins: dict[str, str] = {}  # by game: the one that it went on from
    unreadable = []
    for game in progress(repository.games(ALL_GAMES)):
        try:
            origins[game] = _origin_of(repository.read_entries(game))
            seats |= {(game, found.seat, found.times_freed): found for found in _seats_of(repository, game)}
        except (MissingEntryError, CorruptDataError, *PROGRAMMING_ERRORS) as error:
            unreadable.append((game, str(error)))
    chosen = {key for one in wanted for key in _chosen(one, seats, origins)}
    return FoundSeats([seats[key] for key in seats if key in chosen], unreadable)


def _chosen(wanted: Wanted, seats: dict[SeatKey, NamedSeat], origins: dict[str, str]) -> set[SeatKey]:
    if not wanted.game:
        return {key for key, seat in seats.items() if wanted.text in seat.names}
    holders = [key for key in seats if key[:2] == (wanted.game, wanted.seat) and not seats[key].is_freed]
    if not holders:
        return set()
    start = seats[holders[0]]
    followed = {wanted.game}
    while more := {game for game, origin in origins.items() if origin in followed} - followed:
        followed |= more
    same_name = {key for key, seat in seats.items() if key[0] in followed and seat.names & start.names}
    return {holders[0]} | {key for key in same_name if key[0] != start.game}


def _origin_of(log: Sequence[bytes]) -> str:
    for event in unpack_entry(log[0]).events if log else ():
        if isinstance(event, GameForked):
            return event.of
        if isinstance(event, GameCreated) and event.play_off is not None:
            return event.play_off.of
    return ""


def _seats_of(repository: GameRepository, game: str) -> Iterator[NamedSeat]:
    """The seats of a game that have the name of a person, each once for every holder."""
    log, names = repository.read_entries(game), repository.read_names(game)
    commitments: dict[Holder, set[str]] = {}
    names_in_log: dict[Holder, str] = {}
    for holder, commitment, name in _name_holders(log):
        committed = commitments.setdefault(holder, set())
        if commitment is not None:
            committed.add(commitment)
        if name is not None:
            names_in_log[holder] = name
    for (seat, times), committed in commitments.items():
        salted = [names[commitment] for commitment in sorted(committed & {*names})]
        if salted or (seat, times) in names_in_log:
            is_freed = (seat, times + 1) in commitments
            yield NamedSeat(game, seat, salted, names_in_log.get((seat, times), ""), times, is_freed)


def _name_holders(log: Sequence[bytes]) -> Iterator[tuple[Holder, str | None, str | None]]:
    """Each seat that is named before the game starts, and each that is freed, without a name: the commitment to its
    name, and the name of a person that stands in the log itself."""
    times = Counter[Seat]()
    for data in log:
        for event in unpack_entry(data).events:
            if isinstance(event, GameCreated):
                for seat, plan in enumerate(event.seats):
                    yield (seat, 0), plan.name_commitment, None if plan.policy else plan.name
            elif isinstance(event, SeatTaken):
                holder = event.seat, times[event.seat]
                yield holder, event.name_commitment, None if event.policy else event.name
            elif isinstance(event, SeatFreed):
                times[event.seat] += 1
                yield (event.seat, times[event.seat]), None, None
            elif isinstance(event, GameStarted):
                return


def names_without(names: SaltedNames, erased: Sequence[SaltedName]) -> SaltedNames:
    """The names but for these."""
    gone = {salted.commitment for salted in erased}
    return {commitment: salted for commitment, salted in names.items() if commitment not in gone}
