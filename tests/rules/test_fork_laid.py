"""The log of a fork, its seats, the time left in it, and which fork commands are refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, ForkGame, Leave, SeatPlan, StartGame, TakeSeat
from schemas.events import Event, GameCreated, GameForked, GameStarted, PlayResumed, SeatTaken, SeedSealed
from schemas.field_types import Seat
from schemas.game_options import Fork
from schemas.refusals import CommandRefusedError
from schemas.stored.codec import pack_entry, unpack_entry
from schemas.stored.entries import Entry
from schemas.trains.commands import DrawBlind
from schemas.trains.events import CardDrawn, DeckKnown, HandLaid, MomentLaid
from services.referee.games import (
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    fold,
    fold_events,
    split_by_visibility,
)
from services.referee.games.trains.setup.fork import fork_command
from tests.rules.forks import (
    CHANCES,
    OPENED_AT_MS,
    SEED,
    SOURCE_GAME,
    ForkedGame,
    fork_entries,
    start_entry,
    whole_game,
)
from tests.rules.next_version import next_version
from tests.rules.test_properties import EVERY_TRAIN_RULESET

# -- the fork's own log ---------------------------------------------------------------------------


@EVERY_TRAIN_RULESET
def test_P4_the_log_of_a_fork_is_decided_again_without_the_source_game(rules: str) -> None:
    for chance in CHANCES[:4]:
        play = whole_game(rules, chance)
        for at in fork_entries(play, 1):
            fork = ForkedGame(play.log, at)
            state = GameState()
            for data in fork.log:
                entry = unpack_entry(data)
                envelope = CommandEnvelope(entry.id, "forked", entry.seat, entry.command)
                assert decide_envelope(state, envelope, OPENED_AT_MS + entry.at, SEED) == entry.events


def test_P4_a_fork_is_played_by_the_ruleset_version_of_the_source_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play = whole_game("usa", 3)
    first, _ = next_version("usa", monkeypatch)
    command = ForkedGame(play.log, start_entry(play.log)).create_command()
    events = creation_events(command)
    assert isinstance(events[0], GameCreated)
    assert events[0].rules == first.version
    state = GameState()
    fold_events(state, 0, events)
    assert state.ruleset is first


def creation_events(command: CreateGame) -> tuple[Event, ...]:
    return decide_envelope(GameState(), CommandEnvelope("c", "forked", None, command), OPENED_AT_MS, SEED)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (((99, 1),), "fork.facts: no event has the code of (99, 1)"),
        (((12, 1),), "fork.facts: turn_started lays nothing"),
        ((("x",),), "fork.facts: no event has the code of ('x',)"),
        (((34,),), "fork.facts: no event can be read from (34,)"),
    ],
)
def test_events_that_set_up_no_state_are_refused_by_name(facts: Any, why: str) -> None:
    play = whole_game("usa", 3)
    command = ForkedGame(play.log, start_entry(play.log)).create_command()
    wrong = Fork(SOURCE_GAME, 5, None, False, 1, facts)
    with pytest.raises(UnloggedRejectionError) as refusal:
        creation_events(replace(command, fork=wrong))
    assert refusal.value.rule == "GAME-6"
    assert refusal.value.reason.startswith(why)


# -- seats and time --------------------------------------------------------------------------------


def game_with_people(*, asker: Seat | None = None, over: bool = True) -> tuple[list[bytes], ForkedGame]:
    """A game of two people and a bot, one of whom has left, and a fork of it."""
    state, log = GameState(), list[bytes]()

    def say(seat: Seat | None, command: Any, at: int = 0) -> None:
        envelope = CommandEnvelope(f"c{len(log)}", SOURCE_GAME, seat, command)
        events = decide_envelope(state, envelope, at, SEED)
        log.append(
            pack_entry(Entry(state.at_ms, envelope.id, seat, command, events), split_by_visibility(events))[0]
        )

    plans = (SeatPlan(), SeatPlan("bot", "greedy", "Bot"), SeatPlan(), SeatPlan())
    say(None, CreateGame(plans, "usa", options={"clock_ms": 60_000, "move_ms": 30_000}))
    for name in ("Ada", "Bo", "Cy"):
        say(None, TakeSeat(name))
    say(None, StartGame(), 1_000)
    say(3, Leave(), 3_500)
    at = len(log)
    if over:
        for seat in range(3):
            say(seat, Leave(), 4_000)
    return log, ForkedGame(log, at, asker)


def seats_taken(fork: ForkedGame) -> list[str | None]:
    """The seats that are taken at creation."""
    events = unpack_entry(fork.log[0]).events
    return [event.name for event in events if isinstance(event, SeatTaken)]


def test_bots_stay_and_who_left_stays_away_and_all_other_seats_are_free() -> None:
    _, fork = game_with_people()
    assert seats_taken(fork) == ["Bot", "Cy"]
    assert fork.state.seats[3].exit_reason == "left"


def test_the_seat_of_the_asker_is_for_nobody_else() -> None:
    assert seats_taken(game_with_people(asker=2, over=False)[1]) == ["Bot", "Bo", "Cy"]
    assert seats_taken(game_with_people(asker=2)[1]) == [
        "Bot",
        "Cy",
    ]  # everything is as it was: nobody's knowledge is shown


def test_no_time_passes_before_a_fork_is_started_and_then_as_much_is_left_as_in_the_source_game() -> None:
    log, fork = game_with_people()
    source_state = fold(log[:6])
    assert [seat_state.clock_ms for seat_state in fork.state.seats] == [
        seat_state.clock_ms for seat_state in source_state.seats
    ]
    assert fork.state.seats[0].clock_ms == 57_500
    assert fork.state.next_deadline() == (27_500, 0)
    fork = game_with_people()[1]
    state = GameState()
    for number, data in enumerate(fork.log):
        entry = unpack_entry(data)
        late = OPENED_AT_MS + (500_000 if number else 0)
        decide_envelope(state, CommandEnvelope(entry.id, "forked", entry.seat, entry.command), late, SEED)
    assert state.next_deadline() == (527_500, 0)
    assert state.seats[0].clock_ms == 57_500


def test_nobody_is_waited_for_before_a_fork_is_started() -> None:
    log, _ = game_with_people()
    state = GameState()
    command = ForkedGame(log, 6).create_command()
    decide_envelope(state, CommandEnvelope("c", "forked", None, command), OPENED_AT_MS, SEED)
    assert (state.pending_choices, state.turn, state.next_deadline()) == ({}, None, None)


def test_a_fork_begins_with_the_source_state_and_goes_on_with_its_pending_choices() -> None:
    play = whole_game("usa", 5)
    fork = ForkedGame(play.log, start_entry(play.log) + 30)
    first = [type(event) for event in unpack_entry(fork.log[0]).events]
    assert [kind for kind in first if kind is not SeatTaken][:3] == [GameCreated, SeedSealed, GameForked]
    assert Counter(first)[HandLaid] == play.seats
    assert Counter(first)[MomentLaid] == 1
    started = unpack_entry(fork.log[fork.begun - 1]).events
    assert started == (GameStarted(fork.state.turn_order), PlayResumed())


def test_a_seat_knows_the_tickets_that_it_put_under_a_deck_in_a_fork_too() -> None:
    knows = 0
    for chance in CHANCES:
        play = whole_game("usa", chance)
        for at in fork_entries(play, 2):
            for event in unpack_entry(ForkedGame(play.log, at).log[0]).events:
                if isinstance(event, DeckKnown):
                    knows += 1
                    assert any(event.order)
    assert knows


def test_the_first_card_drawn_is_the_top_of_the_deck_that_was_set_up() -> None:
    play = whole_game("usa", 1)
    at = next(
        n
        for n in range(start_entry(play.log), len(play.log))
        if "action" in fold(play.log[:n]).pending_choices.values()
    )
    fork = ForkedGame(play.log, at)
    (seat,) = fork.state.pending_choices
    top = fold(play.log[:at]).own.deck[-1]
    assert fork.process(seat, DrawBlind())[0] == CardDrawn(seat, top)


# -- entries that can't be forked ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "asker", "why"),
    [
        (1, None, "at: game random hadn't started at entry 1"),
        (10_000, None, "at: game random has {length} entries"),
        (0, None, "at: game random was over at entry {length}; name one before"),
        (5, 7, "asker: game random has no seat 7"),
    ],
)
def test_a_wrong_fork_command_is_refused_by_its_field(at: int, asker: Seat | None, why: str) -> None:
    log = whole_game("usa", 1).log
    with pytest.raises(CommandRefusedError) as refusal:
        fork_command(log, ForkGame(SOURCE_GAME, at or len(log), asker), SEED)
    assert (refusal.value.rule, refusal.value.reason) == ("GAME-6", why.format(length=len(log)))
