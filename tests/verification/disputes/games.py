"""Games of two human players whose commands a test submits one at a time."""

from __future__ import annotations

from schemas.commands import Command, CommandEnvelope, CreateGame, Leave, SeatPlan, StartGame, TakeSeat
from schemas.field_types import Seat
from schemas.trains.commands import ClaimRoute, DrawBlind, KeepTickets
from tests.auditor.conftest import Server
from tests.referee.running_referee import GAME, submit

NOWHERE = ClaimRoute("nowhere-b", {"red": 1})
PLAYED: tuple[tuple[Seat, Command], ...] = (
    (0, KeepTickets((0, 1, 2))),
    (1, KeepTickets((0, 1))),
    (0, DrawBlind()),
    (1, DrawBlind()),  # it isn't its turn
    (0, DrawBlind()),
    (1, NOWHERE),
    (1, DrawBlind()),
    (1, DrawBlind()),
    (0, NOWHERE),
    (0, DrawBlind()),
)


def begin(server: Server, game: str = GAME) -> None:
    plans = (SeatPlan(), SeatPlan())
    opening: tuple[Command, ...] = (
        CreateGame(plans, seed=f"seed of {game}"), TakeSeat("Ada", 0), TakeSeat("Bo", 1), StartGame()
    )  # fmt: skip
    submit(
        server.ledger,
        [CommandEnvelope(f"opening-{n}", game, None, command) for n, command in enumerate(opening)],
    )
    process_all(server)


def play(server: Server, game: str = GAME) -> int:
    """Play a game that isn't over. Returns the number of its last entry."""
    begin(server, game)
    for n, (seat, command) in enumerate(PLAYED):
        send(server, seat, command, f"sent-{n}", game)
    return len(server.ledger.read_entries(game))


def send(server: Server, seat: Seat, command: Command, id_: str, game: str = GAME) -> None:
    submit(server.ledger, [CommandEnvelope(id_, game, seat, command)])
    process_all(server)


def end(server: Server, game: str = GAME) -> None:
    for seat in (0, 1):
        send(server, seat, Leave(), f"leave-{seat}", game)


def process_all(server: Server) -> None:
    while server.referee.step(0):
        pass
