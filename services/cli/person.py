"""`ledgerline person`: all that is kept of a person, and the person's name erased."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import track

from schemas.codec import unpack_entry
from schemas.commands import write_command
from schemas.errors import InvalidInputError
from schemas.events import SeatFreed, SeatTaken
from schemas.player_names import pack_names
from services.bootstrap.composition import open_archive_reader
from services.cli.options import DEFAULT_DATA, DataOption, load_settings, open_read_ledger, with_own_archive
from services.cli.output import PlainTextConsole, print_json, print_line
from services.cli.person_search import (
    FoundSeats,
    NamedSeat,
    Wanted,
    find_seats,
    names_without,
    parse_wanted,
)
from services.documents.files import write_bytes
from services.ledger import RedisLedger
from services.runtime.visible_text import visible_json
from services.text.formatting import pluralize
from services.verification.game_repository import ArchiveReader, GameRepository

app = typer.Typer(
    no_args_is_help=True,
    help="Export all that is kept of a person, or erase the person's name, from games that are played and from the archive.",
)
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
    with open_read_ledger(data) as ledger:
        repository = GameRepository(ledger, _open_archive(data))
        found = _find(repository, who, is_name)
        seats = [
            {**_exported_seat(repository, seat), "webhook": _webhook_url(ledger, seat)}
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

    Everywhere "a player" is shown instead, and every log, proof, audit and replay stays as it is. Exit code 1: some
    names couldn't be erased, because they stand in logs of before names were kept apart, or a game can't be read."""
    with open_read_ledger(data) as ledger:
        archive_reader = _open_archive(data)
        found = _find(GameRepository(ledger, archive_reader), who, is_name)
        erasable = [seat for seat in found.seats if seat.salted]
        for seat in erasable:
            print_line(f"{seat.game}:{seat.seat}  {', '.join(sorted(salted.name for salted in seat.salted))}")
        if erasable and not yes:
            _confirm(f"Erase the name of {_summary(erasable)}? It can't be undone.")
        for seat in erasable:
            _erase_seat(ledger, archive_reader, seat)
        rewritten = not erasable or ledger.rewrite_aof()
    print_line(
        f"Erased: the name of {_summary(erasable)}." if erasable else "No name was found to be erased."
    )
    if not rewritten:
        print_line("The engine's AOF has the names until it is rewritten: BGREWRITEAOF.")
    if not _print_remaining(found):
        raise typer.Exit(1)


def _open_archive(data: Path) -> ArchiveReader | None:
    return open_archive_reader(with_own_archive(load_settings(), data))


def _find(repository: GameRepository, who: Sequence[str], is_name: bool) -> FoundSeats:
    """The seats of all these. Raises InvalidInputError: one of them is nobody."""
    wanted = [parse_wanted(text, is_name=is_name) for text in who]
    found = find_seats(repository, wanted, _with_progress)
    for one in wanted:
        if not any(_is(one, seat) for seat in found.seats):
            PlainTextConsole(stderr=True).print(
                f"{one.text}: nobody is found, or the name was erased before."
            )
    return found


def _with_progress(games: Sequence[str]) -> Iterable[str]:
    console = PlainTextConsole(stderr=True)
    return track(games, "reading games", console=console, transient=True, disable=not console.is_terminal)


def _is(wanted: Wanted, seat: NamedSeat) -> bool:
    return wanted.text in (seat.names if not wanted.game else (f"{seat.game}:{seat.seat}",))


def _confirm(question: str) -> None:
    """Raises InvalidInputError where there is nobody to ask, and Exit where the answer is no."""
    if not sys.stdin.isatty():
        raise InvalidInputError("--yes", "is needed where nobody can be asked")
    if not typer.confirm(question):
        raise typer.Exit(1)


def _erase_seat(ledger: RedisLedger, archive_reader: ArchiveReader | None, seat: NamedSeat) -> None:
    """First in the engine, with the seat's webhook: a job that archives the game meanwhile reads the names again after it has written them."""
    if not seat.is_freed:
        ledger.webhooks().remove(seat.game, seat.seat)
    ledger.erase_names(seat.game, [salted.commitment for salted in seat.salted])
    if archive_reader is None or archive_reader.archive is None:
        return
    archived = archive_reader.read_names(seat.game)
    left = names_without(archived, seat.salted)
    if left != archived:
        archive_reader.archive.write_names(seat.game, pack_names(left) if left else None)


def _print_remaining(found: FoundSeats) -> bool:
    """What couldn't be erased. Returns whether nothing is left."""
    in_logs = [seat for seat in found.seats if seat.name_in_log]
    for seat in in_logs:
        print_line(f"{seat.game}:{seat.seat}  its name stands in the log itself, which is older: it stays.")
    for game, why in found.unreadable:
        print_line(f"{game}  can't be read, so it wasn't searched: {why}")
    return not in_logs and not found.unreadable


def _summary(seats: Sequence[NamedSeat]) -> str:
    games = len({seat.game for seat in seats})
    return f"{pluralize(len(seats), 'seat')} in {pluralize(games, 'game')}"


def _webhook_url(ledger: RedisLedger, seat: NamedSeat) -> str | None:
    """The address that is notified for the seat, without its secret."""
    stored = None if seat.is_freed else ledger.webhooks().find(seat.game, seat.seat)
    return stored.webhook.url if stored else None


def _exported_seat(repository: GameRepository, seat: NamedSeat) -> dict[str, object]:
    """All that is kept of a person as the holder of one seat."""
    taken, times_freed, commands = None, 0, list[object]()
    for number, data in enumerate(repository.read_entries(seat.game), 1):
        entry = unpack_entry(data)
        for event in entry.events:
            times_freed += event == SeatFreed(seat.seat)
            if isinstance(event, SeatTaken) and (event.seat, times_freed) == (seat.seat, seat.times_freed):
                taken = {
                    "number": number,
                    "at": entry.at,
                    "age": event.age,
                    "contribution": event.contribution,
                }
        if (entry.seat, times_freed) == (seat.seat, seat.times_freed):
            command = write_command(entry.command)
            commands.append({"number": number, "at": entry.at, "id": entry.id, "command": command})
    return {
        "game": seat.game,
        "seat": seat.seat,
        "names": [{"name": salted.name, "salt": salted.salt.hex()} for salted in seat.salted],
        "name_in_log": seat.name_in_log or None,
        "taken": taken,
        "commands": commands,
    }
