"""Games of two people for whom a test speaks, one command at a time."""

from __future__ import annotations

from schemas.commands import (
    ClaimRoute,
    Command,
    CommandEnvelope,
    CreateGame,
    DrawBlind,
    KeepTickets,
    Leave,
    SeatPlan,
    StartGame,
    TakeSeat,
)
from schemas.field_types import Seat
from tests.auditor.conftest import At
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


def begin(at: At, game: str = GAME) -> None:
    plans = (SeatPlan(), SeatPlan())
    house: tuple[Command, ...] = (
        CreateGame(plans, seed=f"seed of {game}"), TakeSeat("Ada", 0), TakeSeat("Bo", 1), StartGame()
    )  # fmt: skip
    submit(at.ledger, [CommandEnvelope(f"house-{n}", game, None, command) for n, command in enumerate(house)])
    answered(at)


def play(at: At, game: str = GAME) -> int:
    """A game that goes on; the number of its last entry."""
    begin(at, game)
    for n, (seat, command) in enumerate(PLAYED):
        say(at, seat, command, f"said-{n}", game)
    return len(at.ledger.read_entries(game))


def say(at: At, seat: Seat, command: Command, id_: str, game: str = GAME) -> None:
    submit(at.ledger, [CommandEnvelope(id_, game, seat, command)])
    answered(at)


def end(at: At, game: str = GAME) -> None:
    for seat in (0, 1):
        say(at, seat, Leave(), f"leave-{seat}", game)


def answered(at: At) -> None:
    while at.referee.step(0):
        pass
