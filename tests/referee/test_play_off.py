"""TIE-1: a shared first place leads to one new game, whatever crashes and however often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from redis.exceptions import ConnectionError as EngineAway

from schemas.commands import CommandEnvelope, CreateGame, PlayOff, SeatPlan, StartGame, TakeSeat
from schemas.errors import InvalidInputError
from schemas.events import GameCreated, GameStarted, PlayOffCalled, PlayOffEnded, SeatTaken
from schemas.stored.player_names import with_names
from services.ledger import RedisLedger
from services.referee.decision_building import BOT_SILENCE_MS
from services.referee.games import GameState, fold, legal
from services.referee.worker import (
    PLAY_OFF_CREATE_ID,
    PLAY_OFF_POLL_MS,
    PLAY_OFF_START_ID,
    RETRY_DELAY_MS,
    Referee,
)
from tests.conftest import ALL
from tests.referee.running_referee import (
    FRESH,
    GAME,
    NOON,
    Clock,
    dead_letter_reasons,
    entries,
    left_in_streams,
    opening_commands,
    referee_at,
    submit,
    view_problems,
)

NEXT = f"{GAME}-po1"
LEVEL = {"start_tickets": {"long": 0, "regular": 0}, "start_keep": 0, "last_cars": 45}  # over in a few turns
EVER = NOON + 10**12


def equal_seats_commands(*seats: SeatPlan, ruleset: str = "europe", **options: Any) -> list[CommandEnvelope]:
    """A game where all do the same, and so share the first place in the end."""
    plans = seats or (SeatPlan("bot", "random"),) * 2
    create = CreateGame(plans, ruleset, options={**LEVEL, **options})
    return [CommandEnvelope("create", GAME, None, create), CommandEnvelope("start", GAME, None, StartGame())]


def play(ledger: RedisLedger, referee: Referee, game: str = GAME) -> GameState:
    """Play a game to its end, every seat drawing cards."""
    for number in range(100):
        state = fold(ledger.read_entries(game))
        if state.result:
            return state
        seat = next(iter(state.pending_choices))
        ledger.submit(CommandEnvelope(f"move-{number}", game, seat, legal(state, seat)[0]))
        referee.step(0)
    raise AssertionError("it never ended")


def shared(ledger: RedisLedger, referee: Referee) -> GameState:
    """A game that has just ended with a shared first place."""
    submit(ledger, equal_seats_commands())
    referee.step(0)
    state = play(ledger, referee)
    assert state.next_play_off is not None
    return state


def look_after(*referees: Referee) -> None:
    """Each handles what is due, then decides the commands, as its loop does; time passes."""
    for referee in referees:
        referee.process_due_games()
    for referee in referees:
        referee.step(0)
    for clock in {
        id(referee.clocks.game_time_ms): referee.clocks.game_time_ms for referee in referees
    }.values():
        assert isinstance(clock, Clock)
        clock.now += RETRY_DELAY_MS


def require_one_game(ledger: RedisLedger, client: Any) -> None:
    """The play-off's game exists once, created and started, and nothing is left to be done."""
    log = entries(ledger, NEXT)
    assert [entry.id for entry in log] == [PLAY_OFF_CREATE_ID, PLAY_OFF_START_ID]
    assert [type(entry.events[0]) for entry in log] == [GameCreated, GameStarted]
    assert GAME not in dict(ledger.due_deadlines(EVER, ALL))
    assert view_problems(ledger, NEXT, 2) == []
    assert dead_letter_reasons(client) == []


class Failing:
    """A ledger of which one call fails once, before or after it took effect."""

    def __init__(self, ledger: RedisLedger, name: str, after: bool) -> None:
        self._ledger, self._name, self._after = ledger, name, after
        self.failed = False

    def __getattr__(self, name: str) -> Any:
        asked: Callable[..., Any] = getattr(self._ledger, name)
        if name != self._name or self.failed:
            return asked

        def broken(*given: Any) -> Any:
            self.failed = True
            if self._after:
                asked(*given)
            raise EngineAway("gone")

        return broken


def test_TIE_1_the_next_game_is_created_and_started_by_the_server(
    ledger: RedisLedger, referee: Referee, client: Any
) -> None:
    first = shared(ledger, referee)
    for _ in range(3):
        look_after(referee)
    require_one_game(ledger, client)
    state = fold(ledger.read_entries(NEXT))
    assert state.play_off == PlayOff(GAME, 1, (0, 1), (0, 0))
    assert (state.rule_options, state.ruleset, state.own.board) == (
        first.rule_options,
        first.ruleset,
        first.own.board,
    )
    assert [seat_state.name for seat_state in state.seats] == [seat_state.name for seat_state in first.seats]
    assert state.seed == FRESH
    assert dict(ledger.due_deadlines(EVER, ALL)) == {
        NEXT: NOON + 2 * RETRY_DELAY_MS + BOT_SILENCE_MS
    }  # its bots were called again
    bots = [turn.task.seat for turn in ledger.take_tasks("bots", 100, 0) if turn.task.game == NEXT]
    assert sorted(bots) == [0, 0, 1, 1]


def test_TIE_1_players_keep_their_seats_without_joining(ledger: RedisLedger, referee: Referee) -> None:
    create, start = equal_seats_commands(SeatPlan(), SeatPlan())
    submit(ledger, [create])
    submit(ledger, [CommandEnvelope(name, GAME, None, TakeSeat(name)) for name in ("Ada", "Bo")])
    submit(ledger, [start])
    referee.step(0)
    play(ledger, referee)
    for _ in range(3):
        look_after(referee)
    first = with_names(entries(ledger, NEXT)[0], ledger.read_names(NEXT))
    taken = [event for event in first.events if isinstance(event, SeatTaken)]
    assert [(event.seat, event.name, event.policy) for event in taken] == [(0, "Ada", None), (1, "Bo", None)]
    assert fold(ledger.read_entries(NEXT)).started


def test_P7_the_entry_that_ends_the_game_sets_a_deadline(ledger: RedisLedger, referee: Referee) -> None:
    shared(ledger, referee)
    assert dict(ledger.due_deadlines(NOON, ALL)) == {GAME: NOON}
    assert ledger.read_entries(NEXT) == []


def test_P7_another_referee_goes_on_where_the_first_ended(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    shared(ledger, referee_at(ledger))
    clock = Clock()
    for number in range(4):  # each looks once and is gone
        look_after(referee_at(other_ledger, f"referee-{number}", clock))
    require_one_game(ledger, client)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", ["submit", "set_deadline", "read_result", "append"])
def test_P7_a_crash_between_any_two_steps_loses_and_doubles_nothing(
    ledger: RedisLedger, client: Any, call: str, after: bool
) -> None:
    shared(ledger, referee_at(ledger))
    failing: Any = Failing(ledger, call, after)
    referee = referee_at(failing)
    for _ in range(6):
        try:
            look_after(referee)
        except EngineAway:
            referee = referee_at(failing, "reborn")
            referee.reclaim(0)
    assert failing.failed
    require_one_game(ledger, client)
    assert left_in_streams(client).keys() <= {
        name for name in left_in_streams(client) if name.endswith(":bot-tasks")
    }


def test_P2_two_referees_at_once_make_one_game(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    one, two = referee_at(ledger, "one"), referee_at(other_ledger, "two")
    shared(ledger, one)
    for _ in range(4):
        look_after(one, two)
    require_one_game(ledger, client)


def test_P2_the_same_commands_long_after_the_end_change_nothing(
    ledger: RedisLedger, referee: Referee, client: Any
) -> None:
    shared(ledger, referee)
    for _ in range(3):
        look_after(referee)
    play(ledger, referee, NEXT)
    before = ledger.read_entries(NEXT)
    ledger.set_deadline(GAME, NOON)
    for _ in range(3):
        look_after(referee)
    assert ledger.read_entries(NEXT) == before
    assert GAME not in dict(ledger.due_deadlines(EVER, ALL))


def test_TIE_1_it_is_not_started_before_it_is_there(ledger: RedisLedger, referee: Referee) -> None:
    """Two referees share the stream: a start that overtook the creation would be lost. Nor is the
    creation submitted again each time."""
    clock = Clock()
    shared(ledger, referee)
    for _ in range(6):
        referee_at(ledger, "looks", clock).process_due_games()
        clock.now += PLAY_OFF_POLL_MS // 2
    ids = [taken.data for taken in ledger.commands.take("other", ALL, 100, 0)]
    assert len(ids) == 3
    assert all(PLAY_OFF_CREATE_ID.encode() in data and PLAY_OFF_START_ID.encode() not in data for data in ids)


def test_TIE_1_a_whole_play_off_runs_to_its_end_by_itself(
    ledger: RedisLedger, referee: Referee, client: Any
) -> None:
    shared(ledger, referee)
    for number in range(1, 6):
        for _ in range(3):
            look_after(referee)
        state = play(ledger, referee, f"{GAME}-po{number}")
        assert state.play_off == PlayOff(GAME, number, (0, 1), (0, 0))
    for _ in range(3):
        look_after(referee)
    last = entries(ledger, f"{GAME}-po5")[-1].events
    assert PlayOffEnded(GAME, (0, 1)) in last
    assert not any(isinstance(event, PlayOffCalled) for event in last)
    assert ledger.read_entries(f"{GAME}-po6") == []
    assert ledger.due_deadlines(EVER, ALL) == []
    assert dead_letter_reasons(client) == []


def test_TIE_1_without_the_option_nothing_follows_and_nothing_is_due(
    ledger: RedisLedger, referee: Referee
) -> None:
    submit(ledger, equal_seats_commands(play_off=0))
    referee.step(0)
    assert play(ledger, referee).next_play_off is None
    look_after(referee)
    assert ledger.due_deadlines(EVER, ALL) == []
    assert ledger.games() == [GAME]


def test_P8_a_play_off_that_cannot_be_had_is_given_up_and_stops_nobody(ledger: RedisLedger) -> None:
    clock = Clock()
    referee = referee_at(ledger, "one", clock)
    submit(ledger, opening_commands(NEXT, clock_ms=1000))  # somebody's game has the id already
    referee.step(0)
    shared(ledger, referee)
    for _ in range(3):
        look_after(referee)
    assert GAME not in dict(ledger.due_deadlines(EVER, ALL))
    assert [entry.id for entry in entries(ledger, NEXT)][2] == "clock:2:0"


def test_P8_a_command_that_is_too_large_is_given_up(
    ledger: RedisLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared(ledger, referee_at(ledger))

    def too_large(envelope: CommandEnvelope) -> None:
        raise InvalidInputError("envelope", "too many bytes", "SIZE-1")

    monkeypatch.setattr(ledger, "submit", too_large)
    referee_at(ledger).process_due_games()
    assert ledger.due_deadlines(EVER, ALL) == []
