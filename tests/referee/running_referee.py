"""Referees on a ledger, with a clock that a test sets, and players of their games."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.field_types import Seat
from schemas.stored.codec import unpack_entry
from schemas.stored.entries import Entry
from schemas.trains.commands import ClaimRoute
from services.ledger import AppendRequest, AppendResult, BotTask, CommandResult, DuplicateCommand, RedisLedger
from services.ledger.engine import keys
from services.referee.decision_building import Clocks
from services.referee.games import GameState, fold_events, legal, redact_for
from services.referee.worker import Referee
from tests.conftest import PARTITIONS

GAME = "game-one"
NOON = 1_800_000_000_000
FRESH = "5e" * 32


IMPOSSIBLE_CLAIM = ClaimRoute("no-such-route", {"red": 1})


class Clock:
    """Milliseconds since 1970, moved on by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now


def partition_of(game: str) -> int:
    return keys.partition_of(game, PARTITIONS)


NEIGHBOUR_GAME = next(f"game-{n}" for n in range(100) if partition_of(f"game-{n}") == partition_of(GAME))
LOG = keys.log(partition_of(GAME), GAME)


def referee_at(
    ledger: RedisLedger,
    name: str = "one",
    clock: Callable[[], int] | None = None,
    seed: str = FRESH,
    partitions: Sequence[int] = range(PARTITIONS),
) -> Referee:
    """A referee of all partitions, or of these, with one clock as game clock and wall clock."""
    time = clock or Clock()
    return Referee(ledger, name, Clocks(time, time), lambda: seed, lambda: partitions)


def opening_commands(game: str = GAME, seats: int = 2, **options: Any) -> list[CommandEnvelope]:
    """The commands that create and start a game of bots."""
    plans = tuple(SeatPlan("bot", "random") for _ in range(seats))
    create = CreateGame(plans, seed=f"seed of {game}", options=options or None)
    return [CommandEnvelope("create", game, None, create), CommandEnvelope("start", game, None, StartGame())]


def submit(ledger: RedisLedger, envelopes: Iterable[CommandEnvelope]) -> None:
    for envelope in envelopes:
        ledger.submit(envelope)


def entries(ledger: RedisLedger, game: str = GAME) -> list[Entry]:
    return [unpack_entry(data) for data in ledger.read_entries(game)]


class InterruptedLedger:
    """A ledger on which `interruption` runs just before the next append."""

    def __init__(self, ledger: RedisLedger, interruption: Callable[[], object]) -> None:
        self._ledger, self._happens = ledger, interruption

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def append(self, decided: Iterable[AppendRequest | DuplicateCommand]) -> list[AppendResult]:
        requests = [*decided]
        happens, self._happens = self._happens, lambda: None
        happens()
        return self._ledger.append(requests)


def interrupted_referee(
    ledger: RedisLedger, interruption: Callable[[], object], clock: Clock | None = None
) -> Referee:
    interrupted: Any = InterruptedLedger(ledger, interruption)
    return referee_at(interrupted, "interrupted", clock)


class Player:
    """A seat's projection of its view, and its choice among the legal moves."""

    def __init__(self, ledger: RedisLedger, game: str, seat: Seat) -> None:
        self.ledger, self.game, self.seat = ledger, game, seat
        self.state, self.sequence = GameState(), 0

    def refresh(self) -> GameState:
        """The state as the seat sees it now."""
        for entry in self.ledger.read_view(self.game, self.seat, self.sequence):
            fold_events(self.state, entry.at, entry.events)
            self.sequence = entry.number
        return self.state

    def choose(self, random: Random) -> Command | None:
        """A random legal move, a claim if there is one; None where the seat has none."""
        moves = legal(self.refresh(), self.seat)
        claims = [move for move in moves if isinstance(move, ClaimRoute)]
        return random.choice(claims or moves) if moves else None


class Players:
    """Plays the seats that the bot tasks name, as a bots' worker does."""

    def __init__(self, ledger: RedisLedger, random: Random) -> None:
        self.ledger, self.random = ledger, random
        self.seats: dict[tuple[str, Seat], Player] = {}
        self.sent: list[CommandEnvelope] = []

    def envelope_for(self, task: BotTask) -> CommandEnvelope | None:
        player = self.seats.setdefault((task.game, task.seat), Player(self.ledger, task.game, task.seat))
        command = player.choose(self.random)
        return CommandEnvelope(f"at-{task.sequence}", task.game, task.seat, command) if command else None

    def step(self) -> int:
        """Handle the waiting bot tasks; returns how many there were."""
        deliveries = self.ledger.take_tasks("bots", 16, 0)
        for delivery in deliveries:
            if envelope := self.envelope_for(delivery.task):
                self.send(envelope)
        self.ledger.acknowledge_tasks(deliveries)
        return len(deliveries)

    def send(self, envelope: CommandEnvelope) -> None:
        self.sent.append(envelope)
        self.ledger.submit(envelope)


def view_problems(ledger: RedisLedger, game: str, seats: int) -> list[str]:
    """What is wrong between a game's log and what its viewers get."""
    log, problems = entries(ledger, game), []
    for viewer in (*range(seats), None):
        for entry, view in zip(log, ledger.read_view(game, viewer), strict=True):
            expected = tuple(
                shown for event in entry.events if (shown := redact_for(viewer, event)) is not None
            )
            own = entry.id if entry.seat == viewer and viewer is not None else None
            if (view.at, view.answers, view.events) != (entry.at, own, expected):
                problems.append(
                    f"{game} entry {view.number} as seat {viewer} sees it: {view}, not {expected}"
                )
    return problems


def left_in_streams(client: Any) -> dict[str, int]:
    """How many commands and bot tasks are still in each stream that isn't empty."""
    streams = [name(p) for p in range(PARTITIONS) for name in (keys.commands, keys.bot_tasks)]
    return {name: count for name in streams if (count := client.xlen(name))}


def dead_letter_reasons(client: Any) -> list[bytes]:
    """The reasons of all dead letters."""
    return [fields[b"reason"] for p in range(PARTITIONS) for _, fields in client.xrange(keys.dead_letters(p))]


def answer_of(ledger: RedisLedger, seat: Seat | None, id_: str) -> CommandResult | None:
    """The result of a command of the game, whatever the command asked for."""
    result = ledger.read_result(GAME, seat, id_)
    return result and result._replace(command_digest="")
