"""Fork commands at the referee: expanded from another game's log, and logged as the game they create, once."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from schemas.commands import CommandEnvelope, CreateGame, ForkGame, StartGame
from schemas.events import GameForked, PlayResumed
from services.archive import ArchiveUnavailableError
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.referee.decision_building import Clocks
from services.referee.fork_expansion import ForkExpander
from services.referee.games import fold
from services.referee.worker import Referee
from tests.conftest import PARTITIONS
from tests.referee.running_referee import (  # fmt: skip
    FRESH,
    GAME,
    Clock,
    Players,
    entries,
    interrupted_referee,
    left_in_streams,
    opening_commands,
    partition_of,
    referee_at,
    submit,
    view_problems,
)

FORK = "game-forked"
AT = 12


def fork_envelope(id_: str = "fork", of: str = GAME, at: int = AT, game: str = FORK) -> CommandEnvelope:
    return CommandEnvelope(id_, game, None, ForkGame(of, at))


def play_entries(ledger: RedisLedger, referee: Referee, max_entries: int) -> Players:
    """Play so many entries of a game of two bots."""
    players = Players(ledger, Random(1))
    submit(ledger, opening_commands())
    while referee.step(0) + players.step():
        if len(ledger.read_entries(GAME)) >= max_entries:
            break
    return players


def test_the_log_of_a_fork_has_the_state_and_no_fork_command(ledger: RedisLedger) -> None:
    referee = referee_at(ledger)
    play_entries(ledger, referee, AT + 3)
    submit(ledger, [fork_envelope(), CommandEnvelope("start", FORK, None, StartGame())])
    referee.step(0)
    first, second = entries(ledger, FORK)
    assert isinstance(first.command, CreateGame)
    assert first.command.fork is not None
    assert GameForked(GAME, AT, None, True) in first.events
    assert second.events[-1] == PlayResumed()
    source_state, fork_state = fold(ledger.read_entries(GAME)[:AT]), fold(ledger.read_entries(FORK))
    assert (fork_state.pending_choices, fork_state.own.market, fork_state.own.route_owners) == (
        source_state.pending_choices,
        source_state.own.market,
        source_state.own.route_owners,
    )


def test_bots_get_tasks_in_a_fork_that_has_started_and_play_it_to_its_end(
    ledger: RedisLedger, connection: Any
) -> None:
    referee = referee_at(ledger)
    players = play_entries(ledger, referee, AT + 3)
    submit(ledger, [fork_envelope()])
    while referee.step(0) + players.step():
        pass
    assert fold(ledger.read_entries(GAME)).result
    assert len(ledger.read_entries(FORK)) == 1  # it hasn't started
    submit(ledger, [CommandEnvelope("start", FORK, None, StartGame())])
    while referee.step(0) + players.step():
        pass
    assert fold(ledger.read_entries(FORK)).result
    assert view_problems(ledger, FORK, 2) == []
    assert not left_in_streams(connection())


def test_P2_a_fork_command_that_is_sent_again_makes_one_game(ledger: RedisLedger) -> None:
    referee = referee_at(ledger)
    play_entries(ledger, referee, AT + 3)
    submit(ledger, [fork_envelope(), fork_envelope()])
    referee.step(0)
    submit(ledger, [fork_envelope()])
    referee.step(0)
    assert len(ledger.read_entries(FORK)) == 1


def test_P3_of_two_referees_that_decide_a_fork_one_creates_the_game(ledger: RedisLedger) -> None:
    play_entries(ledger, referee_at(ledger), AT + 3)

    def rival() -> None:
        other = referee_at(ledger, "rival", seed="ab" * 32)
        other.processor.process_system_command(fork_envelope("rival"))

    submit(ledger, [fork_envelope()])
    interrupted_referee(ledger, rival).step(0)
    (first,) = entries(ledger, FORK)
    assert first.id == "rival"
    answer = ledger.read_result(FORK, None, "fork")
    assert answer is not None
    assert (answer.sequence, answer.rule) == (0, "GAME-6")


def test_a_fork_that_is_rejected_makes_no_log(ledger: RedisLedger) -> None:
    referee = referee_at(ledger)
    play_entries(ledger, referee, AT + 3)
    wrong = [
        fork_envelope("late", at=500),
        fork_envelope("early", at=1),
        fork_envelope("nowhere", of="nowhere"),
    ]
    submit(ledger, wrong)
    referee.step(0)
    assert not ledger.read_entries(FORK)
    answers = [ledger.read_result(FORK, None, envelope.id) for envelope in wrong]
    assert [(answer.sequence, answer.rule) for answer in answers if answer] == [
        (0, "GAME-6"), (0, "GAME-6"), (0, "GAME-1"),
    ]  # fmt: skip


def test_P8_a_fork_of_a_damaged_game_stops_no_other(ledger: RedisLedger, connection: Any) -> None:
    referee, client = referee_at(ledger), connection()
    play_entries(ledger, referee, AT + 3)
    client.xdel(keys.log(partition_of(GAME), GAME), "5-0")
    submit(ledger, [fork_envelope(), *opening_commands("game-other")])
    referee.step(0)
    assert len(ledger.read_entries("game-other")) == 2
    assert not ledger.read_entries(FORK)
    answer = ledger.read_result(FORK, None, "fork")
    assert answer is not None
    assert answer.rule == "POISON-1"


# -- games that have left the engine --------------------------------------------------------------


def referee_reading(ledger: RedisLedger, read_source_log: Any) -> Referee:
    clock = Clock()
    everywhere = range(PARTITIONS)
    return Referee(
        ledger,
        "one",
        Clocks(clock, clock),
        lambda: FRESH,
        lambda: everywhere,
        forks=ForkExpander(read_source_log),
    )


def test_a_game_that_was_evicted_is_read_from_the_archive(ledger: RedisLedger) -> None:
    referee = referee_at(ledger)
    players = play_entries(ledger, referee, 10_000)
    log = ledger.read_entries(GAME)
    assert fold(log).result
    assert ledger.evict(GAME, 2, len(log))
    archive: dict[str, Sequence[bytes]] = {GAME: log}
    other = referee_reading(ledger, lambda game: archive.get(game) or ledger.read_entries(game))
    submit(ledger, [fork_envelope(), CommandEnvelope("start", FORK, None, StartGame())])
    while other.step(0) + players.step():
        pass
    assert GameForked(GAME, AT, None, False) in entries(ledger, FORK)[0].events
    assert fold(ledger.read_entries(FORK)).result


def test_an_archive_that_does_not_answer_rejects_the_fork_and_stops_no_other_game(
    ledger: RedisLedger,
) -> None:
    def away(game: str) -> Sequence[bytes]:
        raise ArchiveUnavailableError(f"no answer for {game}")

    referee = referee_reading(ledger, away)
    submit(ledger, [fork_envelope(), *opening_commands("game-other")])
    referee.step(0)
    answer = ledger.read_result(FORK, None, "fork")
    assert answer is not None
    assert (answer.sequence, answer.rule) == (0, "WAIT-1")
    assert len(ledger.read_entries("game-other")) == 2
