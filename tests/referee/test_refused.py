"""CONDUCT-1, P9: refusals are logged, for their seat alone, and a flood of them is not."""

from __future__ import annotations

from typing import Any

from schemas.commands import CommandEnvelope, Leave
from schemas.events import CommandRefused
from schemas.trains.commands import DrawBlind, KeepTickets
from services.ledger import CommandResult, RedisLedger
from services.ledger.engine import keys
from services.referee.games import fold
from services.referee.worker import Referee
from tests.referee.running_referee import (
    GAME,
    IMPOSSIBLE_CLAIM,
    answer_of,
    entries,
    left_in_streams,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)


def test_CONDUCT_1_a_refusal_is_an_entry_for_its_seat_alone(ledger: RedisLedger, opened: Referee) -> None:
    ledger.submit(CommandEnvelope("grab", GAME, 1, IMPOSSIBLE_CLAIM))
    opened.step(0)
    [refused] = entries(ledger)[2].events
    assert isinstance(refused, CommandRefused)
    assert (refused.seat, refused.rule) == (1, "TURN-3")
    assert [entry.events for entry in ledger.read_view(GAME, 1, after=2)] == [(refused,)]
    for viewer in (0, None):
        assert [(e.number, e.answers, e.events) for e in ledger.read_view(GAME, viewer, after=2)] == [
            (3, None, ())
        ]


def test_P9_a_flood_of_refusals_is_rejected_without_entries_past_the_limit(
    ledger: RedisLedger, client: Any
) -> None:
    referee = referee_at(ledger)
    submit(ledger, opening_commands(refusals_kept=5))
    submit(ledger, [CommandEnvelope(f"grab-{n}", GAME, 0, IMPOSSIBLE_CLAIM) for n in range(40)])
    while referee.step(0):
        pass
    assert len(ledger.read_entries(GAME)) == 2 + 5
    answers = [answer_of(ledger, 0, f"grab-{n}") for n in range(40)]
    assert [answer.sequence for answer in answers if answer] == [3, 4, 5, 6, 7] + [0] * 35
    assert {answer.rule for answer in answers[5:] if answer} == {"RATE-1"}
    assert [name for name in left_in_streams(client) if name.endswith("commands")] == []
    ledger.submit(CommandEnvelope("grab-1", GAME, 1, IMPOSSIBLE_CLAIM))
    referee.step(0)
    assert answer_of(ledger, 1, "grab-1") == CommandResult(8)  # the other seat's count is its own


def test_GAME_1_a_command_for_no_game_leaves_nothing_behind(
    ledger: RedisLedger, referee: Referee, client: Any
) -> None:
    ledger.submit(CommandEnvelope("keep", GAME, 0, DrawBlind()))
    referee.step(0)
    answer = ledger.read_result(GAME, 0, "keep")
    assert answer is not None
    assert (answer.sequence, answer.rule) == (0, "GAME-1")
    told_of = keys.rejection(partition_of(GAME), GAME, 0, "keep")
    assert list(client.scan_iter(f"*:g:{GAME}:*")) == [told_of.encode()]
    assert ledger.games() == []


def test_GAME_1_a_referee_that_knew_of_no_game_learns_of_it(
    ledger: RedisLedger, other_ledger: RedisLedger, referee: Referee
) -> None:
    ledger.submit(CommandEnvelope("early", GAME, 0, KeepTickets((0, 1))))
    referee.step(0)
    submit(ledger, opening_commands())
    referee_at(other_ledger, "rival").step(0)
    ledger.submit(CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1))))
    referee.step(0)
    assert answer_of(ledger, 0, "keep") == CommandResult(3)


def test_GAME_3_a_command_for_a_finished_game_is_rejected_without_an_entry(
    ledger: RedisLedger, opened: Referee
) -> None:
    submit(ledger, [CommandEnvelope("leave", GAME, seat, Leave()) for seat in (0, 1)])
    opened.step(0)
    length = len(ledger.read_entries(GAME))
    assert fold(ledger.read_entries(GAME)).result
    ledger.submit(CommandEnvelope("late", GAME, 0, DrawBlind()))
    opened.step(0)
    answer = ledger.read_result(GAME, 0, "late")
    assert answer is not None
    assert (answer.sequence, answer.rule) == (0, "GAME-3")
    assert len(ledger.read_entries(GAME)) == length


def test_P2_a_command_repeated_after_the_end_still_has_its_result(
    ledger: RedisLedger, opened: Referee
) -> None:
    envelopes = [CommandEnvelope("leave", GAME, seat, Leave()) for seat in (0, 1)]
    submit(ledger, envelopes * 2)
    opened.step(0)
    length = len(ledger.read_entries(GAME))
    submit(ledger, envelopes)
    opened.step(0)
    assert [answer_of(ledger, seat, "leave") for seat in (0, 1)] == [
        CommandResult(3),
        CommandResult(4),
    ]
    assert len(ledger.read_entries(GAME)) == length
