"""`ledgerline person`: all that is kept of a person, and the person's name erased.

A person is found by a name, or by a seat, in all games of the engine and of the archive."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeAlias

import typer

from schemas.commands import write_command
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import GameCreated, GameForked, GameStarted, SeatFreed, SeatTaken
from schemas.field_types import Seat
from schemas.stored.codec import unpack_entry
from schemas.stored.player_names import SaltedName, pack_names
from services.cli.options import DEFAULT_DATA, DataOption, open_games
from services.cli.output import PlainTextConsole, counted, print_json, print_line
from services.documents import write_bytes
from services.ledger import MissingEntryError, RedisLedger
from services.runtime.visible_text import visible_json
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.text.formatting import pluralize
from services.verification.game_repository import FinishedGameReader, GameRepository

app = typer.Typer(
    no_args_is_help=True,
    help="Export all that is kept of a person, or erase the person's name, from games that are played and from the archive.",
)
Holder: TypeAlias = tuple[Seat, int]  # of a seat: which, and how often it had been freed before
SeatKey: TypeAlias = tuple[str, Seat, int]  # its game, and its holder
ALL_GAMES: Final = 1 << 40  # more than there are
_SEAT_OF_GAME: Final = re.compile(r"([a-z0-9][a-z0-9-]{2,39}):([0-7])")
WHO_HELP: Final = (
    "A player's name, exactly as it is shown: everybody of that name, in every game. Or GAME:SEAT, as 3f9a1c0b77e2:1: "
    "who holds that seat, there and in the forks and play-offs that went on from there."
)
WhoArgument = Annotated[list[str], typer.Argument(metavar="WHO...", help=WHO_HELP)]
NameOption = Annotated[
    bool, typer.Option("--name", help="Each WHO is a name, even if it looks like GAME:SEAT.")
]


@app.command()
def export(
    who: WhoArgument,
    file: Annotated[Path | None, typer.Option(help="Write it to this file, not to the terminal.")] = None,
    is_name: NameOption = False,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Print all that is kept of a person as JSON: seats, names, ages, webhooks, and every command that was sent."""
    with open_games(data) as games:
        found = _find(games.repository, who, is_name)
        seats = [
            {**_exported_seat(games.repository, seat), "notified": _notified_urls(games.ledger, seat)}
            for seat in found.seats
        ]
    document = {"who": who, "seats": seats, "unreadable": [game for game, _ in found.unreadable]}
    if file is None:
        print_json(document)
        return
    write_bytes(file, f"{visible_json(document)}\n".encode(), "--file")
    print_line(f"{file}: {_summary(found.seats)}.")


@app.command()
def erase(
    who: WhoArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    is_name: NameOption = False,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Erase a person's name, and the salt of its commitment, wherever they lie, and the webhooks. It can't be undone.

    Everywhere "a player" is shown instead, and every log, proof, audit and replay stays as it is. Exit code 1: a
    game can't be read."""
    with open_games(data) as games:
        found = _find(games.repository, who, is_name)
        for seat in found.seats:
            print_line(f"{seat.game}:{seat.seat}  {', '.join(sorted(salted.name for salted in seat.salted))}")
        if found.seats and not yes:
            _confirm(f"Erase the name of {_summary(found.seats)}? It can't be undone.")
        for seat in found.seats:
            _erase_seat(games.ledger, games.repository.archive_reader, seat)
        rewritten = not found.seats or games.ledger.rewrite_aof()
    erased = (
        f"Erased: the name of {_summary(found.seats)}." if found.seats else "No name was found to be erased."
    )
    print_line(erased)
    if not rewritten:
        print_line("The engine's AOF has the names until it is rewritten: BGREWRITEAOF.")
    for game, why in found.unreadable:
        print_line(f"{game}  can't be read, so it wasn't searched: {why}")
    if found.unreadable:
        raise typer.Exit(1)


def _find(repository: GameRepository, who: Sequence[str], is_name: bool) -> FoundSeats:
    """The seats of all these; a line on standard error says which of them is nobody."""
    wanted = [parse_wanted(text, is_name=is_name) for text in who]
    found = find_seats(repository, wanted, partial(counted, "reading games"))
    for one in wanted:
        if not any(_is(one, seat) for seat in found.seats):
            message = f"{one.text}: nobody is found, or the name was erased before."
            PlainTextConsole(stderr=True).print(message)
    return found


def _is(wanted: Wanted, seat: NamedSeat) -> bool:
    return wanted.text in (seat.names if not wanted.game else (f"{seat.game}:{seat.seat}",))


def _confirm(question: str) -> None:
    """Raises InvalidInputError where there is nobody to ask, and Exit where the answer is no."""
    if not sys.stdin.isatty():
        raise InvalidInputError("--yes", "is needed where nobody can be asked")
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def _erase_seat(ledger: RedisLedger, archive_reader: FinishedGameReader | None, seat: NamedSeat) -> None:
    """Erase a seat's names and its webhook in the engine, then in the archive.

    In this order, because a job that archives the game meanwhile reads the names again after it has written them."""
    if not seat.is_freed:
        ledger.webhooks().remove(seat.game, seat.seat)
    ledger.erase_names(seat.game, [salted.commitment for salted in seat.salted])
    if archive_reader is None or archive_reader.archive is None:
        return
    archived = archive_reader.read_names(seat.game)
    gone = {salted.commitment for salted in seat.salted}
    left = {commitment: salted for commitment, salted in archived.items() if commitment not in gone}
    if left != archived:
        archive_reader.archive.write_names(seat.game, pack_names(left) if left else None)


def _summary(seats: Sequence[NamedSeat]) -> str:
    return f"{pluralize(len(seats), 'seat')} in {pluralize(len({seat.game for seat in seats}), 'game')}"


def _notified_urls(ledger: RedisLedger, seat: NamedSeat) -> list[str]:
    """The addresses that are notified for the seat, its webhook's and its devices', without secrets."""
    stored = {} if seat.is_freed else ledger.webhooks().find_all(seat.game, seat.seat)
    return [each.webhook.url for each in stored.values()]


def _exported_seat(repository: GameRepository, seat: NamedSeat) -> dict[str, object]:
    """All that is kept of a person as the holder of one seat."""
    taken, times_freed, commands = dict[str, object](), 0, list[object]()
    for number, data in enumerate(repository.read_entries(seat.game), 1):
        entry = unpack_entry(data)
        for event in entry.events:
            times_freed += event == SeatFreed(seat.seat)
            if isinstance(event, SeatTaken) and (event.seat, times_freed) == (seat.seat, seat.times_freed):
                taken = {"number": number, "at": entry.at, "age": event.age}
                taken["contribution"] = event.contribution
        if (entry.seat, times_freed) == (seat.seat, seat.times_freed):
            command = write_command(entry.command)
            commands.append({"number": number, "at": entry.at, "id": entry.id, "command": command})
    return {
        "game": seat.game,
        "seat": seat.seat,
        "names": [{"name": salted.name, "salt": salted.salt.hex()} for salted in seat.salted],
        "taken": taken or None,
        "commands": commands,
    }


class Wanted(NamedTuple):
    """A person to look for: everybody of a name, or the holder of a seat."""

    text: str
    game: str = ""  # empty: everybody of that name
    seat: Seat = 0


class NamedSeat(NamedTuple):
    """A seat that a person planned for or took, and every name of it."""

    game: str
    seat: Seat
    salted: Sequence[SaltedName]  # that lie beside the log, and can be erased
    times_freed: int = 0  # how often the host had freed the seat before
    is_freed: bool = False  # the host has freed it since: another person may sit there

    @property
    def names(self) -> set[str]:
        """All that is known of what the seat is called."""
        return {salted.name for salted in self.salted}


class FoundSeats(NamedTuple):
    """The seats that were looked for, and the games that couldn't be searched, each with why."""

    seats: Sequence[NamedSeat]
    unreadable: Sequence[tuple[str, str]]


def parse_wanted(text: str, *, is_name: bool) -> Wanted:
    """Read a word of the command line: GAME:SEAT, or else a name."""
    matched = None if is_name else _SEAT_OF_GAME.fullmatch(text)
    return Wanted(text, matched[1], int(matched[2])) if matched else Wanted(text)


def find_seats(
    repository: GameRepository, wanted: Sequence[Wanted], progress: Callable[[Sequence[str]], Iterable[str]]
) -> FoundSeats:
    """The seats of all who are wanted. The holder of a seat is found in the forks and play-offs that went on from its game
    too: players take their names along. `progress` iterates over the games that are searched."""
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
    for holder, commitment in _name_holders(log):
        committed = commitments.setdefault(holder, set())
        if commitment is not None:
            committed.add(commitment)
    for (seat, times), committed in commitments.items():
        salted = [names[commitment] for commitment in sorted(committed & {*names})]
        if salted:
            is_freed = (seat, times + 1) in commitments
            yield NamedSeat(game, seat, salted, times, is_freed)


def _name_holders(log: Sequence[bytes]) -> Iterator[tuple[Holder, str | None]]:
    """Each seat that is named before the game starts, and each that is freed, without a name: the commitment to its
    name."""
    times = Counter[Seat]()
    for data in log:
        for event in unpack_entry(data).events:
            if isinstance(event, GameCreated):
                for seat, plan in enumerate(event.seats):
                    yield (seat, 0), plan.name_commitment
            elif isinstance(event, SeatTaken):
                yield (event.seat, times[event.seat]), event.name_commitment
            elif isinstance(event, SeatFreed):
                times[event.seat] += 1
                yield (event.seat, times[event.seat]), None
            elif isinstance(event, GameStarted):
                return
