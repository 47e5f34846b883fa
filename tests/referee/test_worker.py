"""P2, P3, P7: one decision a command, whatever the referee has cached and whatever others do."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import fakeredis
import pytest

from schemas.commands import CommandEnvelope, CreateGame, Leave, SeatPlan, StartGame
from schemas.events import Event
from schemas.trains.commands import KeepTickets
from services.ledger import CommandResult, RedisLedger
from services.referee.game_cache import GameCache
from services.referee.games import fold
from services.referee.worker import Referee
from tests.conftest import ALL, PARTITIONS
from tests.referee.running_referee import (
    GAME,
    Clock,
    Players,
    answer_of,
    dead_letter_reasons,
    entries,
    interrupted_referee,
    left_in_streams,
    opening_commands,
    referee_at,
    submit,
    view_problems,
)


def test_P2_a_command_sent_five_times_is_decided_once(
    ledger: RedisLedger, other_ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    keep = CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))
    for sender in (ledger, other_ledger, ledger, other_ledger):
        sender.submit(keep)
    opened.step(0)
    other_ledger.submit(keep)
    referee_at(other_ledger, "two").step(0)
    assert [entry.id for entry in entries(ledger)] == ["create", "start", "keep"]
    assert answer_of(ledger, 0, "keep") == CommandResult(3)
    assert [name for name in left_in_streams(client) if name.endswith("commands")] == []


def test_P2_the_same_id_of_two_seats_is_two_commands(ledger: RedisLedger, opened: Referee) -> None:
    submit(ledger, [CommandEnvelope("keep", GAME, seat, KeepTickets((0, 1))) for seat in (0, 1)])
    opened.step(0)
    assert [answer_of(ledger, seat, "keep") for seat in (0, 1)] == [CommandResult(3), CommandResult(4)]


def test_P3_what_was_decided_on_a_stale_state_is_decided_again(
    ledger: RedisLedger, other_ledger: RedisLedger, opened: Referee
) -> None:
    """The second command of a batch would fit the length that a rival's entry left behind."""

    def rival_acts() -> None:
        referee_at(other_ledger, "rival").processor.process(
            other_ledger.commands.reclaim("rival", ALL, 0)[:1]
        )

    submit(
        ledger,
        [CommandEnvelope("leave", GAME, 1, Leave()), CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))],
    )
    submit(ledger, [CommandEnvelope("late", GAME, 1, KeepTickets((0, 1)))])
    interrupted_referee(ledger, rival_acts).step(0)
    assert [entry.id for entry in entries(ledger)] == ["create", "start", "leave", "keep", "late"]
    assert view_problems(ledger, GAME, 2) == []


def test_P3_a_game_created_by_a_rival_is_started_as_the_rival_dealt_it(
    ledger: RedisLedger, other_ledger: RedisLedger
) -> None:
    """Each referee has a seed of its own for a game that names none; only one of them counts."""
    create = CommandEnvelope("create", GAME, None, CreateGame((SeatPlan("bot", "random"),) * 2))
    start = CommandEnvelope("start", GAME, None, StartGame())
    rival = referee_at(other_ledger, "rival", seed="7a" * 32)
    submit(ledger, [create, start])
    interrupted_referee(
        ledger, lambda: rival.processor.process(other_ledger.commands.reclaim("rival", ALL, 0)[:1])
    ).step(0)
    assert [entry.id for entry in entries(ledger)] == ["create", "start"]
    assert logged_events(ledger, GAME)[1:] == dealt(create, start, "7a" * 32)[1:]


def logged_events(ledger: RedisLedger, game: str) -> list[Event]:
    return [event for entry in entries(ledger, game) for event in entry.events]


def dealt(create: CommandEnvelope, start: CommandEnvelope, seed: str) -> list[Event]:
    """The events of the same commands at a referee alone."""
    quiet = RedisLedger(fakeredis.FakeRedis(), PARTITIONS)
    submit(quiet, [create, start])
    referee_at(quiet, "quiet", seed=seed).step(0)
    return logged_events(quiet, GAME)


def play_game(ledger: RedisLedger, client: Any, forget: Callable[[Referee], object]) -> list[bytes]:
    """The log of a whole game, with a loss of cached games before each step."""
    client.flushdb()
    clock = Clock()
    fresh = RedisLedger(client, ledger.partitions)
    referee, players = referee_at(fresh, "one", clock), Players(fresh, Random(5))
    submit(fresh, opening_commands(cars=8, clock_ms=90_000))
    while left_in_streams(client):
        forget(referee)
        clock.now += 700
        referee.step(0)
        referee.process_due_games()
        players.step()
    assert fold(fresh.read_entries(GAME)).result
    return fresh.read_entries(GAME)


def test_P7_a_cache_that_is_lost_at_any_time_changes_nothing(ledger: RedisLedger, client: Any) -> None:
    kept = play_game(ledger, client, lambda referee: None)
    random = Random(1)

    def forget_all(referee: Referee) -> None:
        referee.processor.game_cache = GameCache(referee.ledger)

    def forget_some(referee: Referee) -> None:
        if random.random() < 0.3:
            referee.processor.game_cache = GameCache(referee.ledger)

    assert play_game(ledger, client, forget_all) == kept
    assert play_game(ledger, client, forget_some) == kept


def test_P7_a_cached_game_that_is_ahead_of_its_log_is_dropped(ledger: RedisLedger, client: Any) -> None:
    """A fail-over may lose the last entries; then a repeated command is decided again."""
    referee = referee_at(ledger)
    envelopes = [*opening_commands(), CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))]
    submit(ledger, envelopes)
    referee.step(0)
    client.flushdb()
    referee.ledger = referee.processor.ledger = RedisLedger(client, ledger.partitions)
    submit(ledger, envelopes)
    referee.step(0)
    assert [entry.id for entry in entries(ledger)] == ["create", "start", "keep"]


def test_P3_what_a_rival_answered_otherwise_is_folded_as_the_rival_wrote_it(
    ledger: RedisLedger, other_ledger: RedisLedger
) -> None:
    create = CommandEnvelope("create", GAME, None, CreateGame((SeatPlan("bot", "random"),) * 2))
    start = CommandEnvelope("start", GAME, None, StartGame())
    rival = referee_at(other_ledger, "rival", seed="7a" * 32)
    submit(ledger, [create])
    referee = interrupted_referee(ledger, lambda: rival.reclaim(0))
    referee.step(0)
    submit(ledger, [start])
    referee.step(0)
    assert logged_events(ledger, GAME)[1:] == dealt(create, start, "7a" * 32)[1:]


def test_P7_what_may_not_have_been_written_is_folded_anew(
    ledger: RedisLedger, other_ledger: RedisLedger, opened: Referee
) -> None:
    """An append that never arrived, and a rival's entry at its place: the length fits again."""

    def engine_is_away() -> None:
        raise ConnectionError

    referee = interrupted_referee(ledger, engine_is_away)
    submit(ledger, [CommandEnvelope("leave", GAME, 1, Leave())])
    with pytest.raises(ConnectionError):
        referee.step(0)
    submit(ledger, [CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))])
    referee_at(other_ledger, "rival").step(0)
    submit(ledger, [CommandEnvelope("late", GAME, 1, KeepTickets((0, 1)))])
    referee.step(0)
    assert [entry.refusal for entry in entries(ledger)] == [None] * 4
    referee.reclaim(0)
    assert [entry.id for entry in entries(ledger)] == ["create", "start", "keep", "late", "leave"]


def test_P8_a_state_that_a_bug_left_behind_is_folded_anew(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    broken: Any = opened.processor.game_cache.get(GAME).state
    broken.pending_choices = {0: "a choice that no rules have"}
    ledger.submit(CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1))))
    opened.step(0)
    assert dead_letter_reasons(client) == []
    assert answer_of(ledger, 0, "keep") == CommandResult(3)


def test_P7_what_another_referee_took_just_now_is_not_reclaimed(
    ledger: RedisLedger, other_ledger: RedisLedger
) -> None:
    submit(ledger, opening_commands())
    ledger.commands.take("busy", ALL, 10, 0)
    assert referee_at(other_ledger, "eager").reclaim() == 0
    assert ledger.read_entries(GAME) == []
