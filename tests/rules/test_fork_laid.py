"""What a fork's log tells, who sits there, what time is left, and which wishes for one are refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from schemas.codec import pack_entry, unpack_entry
from schemas.commands import (
    CommandEnvelope,
    CreateGame,
    DrawBlind,
    ForkGame,
    Leave,
    SeatPlan,
    StartGame,
    TakeSeat,
)
from schemas.entries import Entry
from schemas.events import (
    CardDrawn,
    DeckKnown,
    Event,
    GameCreated,
    GameForked,
    GameStarted,
    HandLaid,
    MomentLaid,
    PlayResumed,
    SeatTaken,
    SeedSealed,
)  # fmt: skip
from schemas.field_types import Seat
from schemas.forks import Fork
from schemas.refusals import CommandRefusedError
from services.referee.rules import (
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    fold,
    fold_events,
    split_by_visibility,
)
from services.referee.rules.rulesets import RULESET_VERSIONS
from services.referee.rules.rulesets.former import FORMER_VERSIONS
from services.referee.rules.setup.fork import fork_command
from tests.rules.forks import GAMES, OF, OPENED, SEED, Forked, a_game, begun_at, moments
from tests.rules.test_properties import EVERY_RULESET

# -- a log of its own ---------------------------------------------------------------------------


@EVERY_RULESET
def test_P4_the_log_of_a_fork_is_decided_again_without_the_other_game(rules: str) -> None:
    for chance in GAMES[:4]:
        play = a_game(rules, chance)
        for at in moments(play, 1):
            fork = Forked(play.log, at)
            table = GameState()
            for data in fork.log:
                entry = unpack_entry(data)
                letter = CommandEnvelope(entry.id, "forked", entry.seat, entry.command)
                assert decide_envelope(table, letter, OPENED + entry.at, SEED) == entry.events


def test_P4_a_fork_is_played_by_the_edition_of_the_other_game() -> None:
    play = a_game("usa", 3)
    command = Forked(play.log, begun_at(play.log)).creation()
    first = next(edition for edition in FORMER_VERSIONS if (edition.name, edition.version) == ("usa", 1))
    old = Fork(OF, 5, None, False, first.version, command.fork.facts if command.fork else ())
    told = created(replace(command, fork=old))
    assert isinstance(told[0], GameCreated)
    assert told[0].rules == first.version
    table = GameState()
    fold_events(table, 0, told)
    assert table.ruleset is RULESET_VERSIONS["usa", first.version]


def created(command: CreateGame) -> tuple[Event, ...]:
    return decide_envelope(GameState(), CommandEnvelope("c", "forked", None, command), OPENED, SEED)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (((99, 1),), "fork.facts: no event has the code of (99, 1)"),
        (((12, 1),), "fork.facts: turn_started lays nothing"),
        ((("x",),), "fork.facts: no event has the code of ('x',)"),
        (((34,),), "fork.facts: no event can be read from (34,)"),
    ],
)
def test_facts_that_lay_no_table_are_refused_by_name(facts: Any, why: str) -> None:
    play = a_game("usa", 3)
    command = Forked(play.log, begun_at(play.log)).creation()
    wrong = Fork(OF, 5, None, False, 2, facts)
    with pytest.raises(UnloggedRejectionError) as no:
        created(replace(command, fork=wrong))
    assert no.value.rule == "GAME-6"
    assert no.value.reason.startswith(why)


# -- seats and time --------------------------------------------------------------------------------


def people(*, asker: Seat | None = None, over: bool = True) -> tuple[list[bytes], Forked]:
    """A game of two people and a bot, one of whom has left, and a fork of it."""
    table, log = GameState(), list[bytes]()

    def say(seat: Seat | None, command: Any, at: int = 0) -> None:
        letter = CommandEnvelope(f"c{len(log)}", OF, seat, command)
        events = decide_envelope(table, letter, at, SEED)
        log.append(
            pack_entry(Entry(table.at_ms, letter.id, seat, command, events), split_by_visibility(events))
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
    return log, Forked(log, at, asker)


def taken(fork: Forked) -> list[str]:
    """Who sits there from the first."""
    events = unpack_entry(fork.log[0]).events
    return [event.name for event in events if isinstance(event, SeatTaken)]


def test_bots_stay_and_who_left_stays_away_and_all_other_seats_are_free() -> None:
    _, fork = people()
    assert taken(fork) == ["Bot", "Cy"]
    assert fork.table.seats[3].exit_reason == "left"


def test_the_seat_whose_knowledge_a_fork_shows_is_for_no_one_else() -> None:
    assert taken(people(asker=2, over=False)[1]) == ["Bot", "Bo", "Cy"]
    assert taken(people(asker=2)[1]) == ["Bot", "Cy"]  # all lies as it lay: it shows nobody's in particular


def test_no_time_passes_before_a_fork_is_started_and_then_as_much_is_left_as_there_was() -> None:
    log, fork = people()
    there = fold(log[:6])
    assert [place.clock_ms for place in fork.table.seats] == [place.clock_ms for place in there.seats]
    assert fork.table.seats[0].clock_ms == 57_500
    assert fork.table.next_deadline() == (27_500, 0)
    fork = people()[1]
    table = GameState()
    for number, data in enumerate(fork.log):
        entry = unpack_entry(data)
        late = OPENED + (500_000 if number else 0)
        decide_envelope(table, CommandEnvelope(entry.id, "forked", entry.seat, entry.command), late, SEED)
    assert table.next_deadline() == (527_500, 0)
    assert table.seats[0].clock_ms == 57_500


def test_nobody_is_waited_for_before_a_fork_is_started() -> None:
    log, _ = people()
    table = GameState()
    command = Forked(log, 6).creation()
    decide_envelope(table, CommandEnvelope("c", "forked", None, command), OPENED, SEED)
    assert (table.pending_choices, table.turn, table.next_deadline()) == ({}, None, None)


def test_a_fork_begins_with_what_was_laid_and_goes_on_with_what_was_open() -> None:
    play = a_game("usa", 5)
    fork = Forked(play.log, begun_at(play.log) + 30)
    first = [type(event) for event in unpack_entry(fork.log[0]).events]
    assert [kind for kind in first if kind is not SeatTaken][:3] == [GameCreated, SeedSealed, GameForked]
    assert Counter(first)[HandLaid] == play.seats
    assert Counter(first)[MomentLaid] == 1
    started = unpack_entry(fork.log[fork.begun - 1]).events
    assert started == (GameStarted(fork.table.turn_order), PlayResumed())


def test_what_a_seat_put_under_a_deck_it_knows_there_in_a_fork_too() -> None:
    knows = 0
    for chance in GAMES:
        play = a_game("usa", chance)
        for at in moments(play, 2):
            for event in unpack_entry(Forked(play.log, at).log[0]).events:
                if isinstance(event, DeckKnown):
                    knows += 1
                    assert any(event.order)
    assert knows


def test_the_first_card_that_is_drawn_is_the_top_of_what_was_laid() -> None:
    play = a_game("usa", 1)
    at = next(
        n
        for n in range(begun_at(play.log), len(play.log))
        if "action" in fold(play.log[:n]).pending_choices.values()
    )
    fork = Forked(play.log, at)
    (seat,) = fork.table.pending_choices
    top = fold(play.log[:at]).deck[-1]
    assert fork.say(seat, DrawBlind())[0] == CardDrawn(seat, top)


# -- where nothing can go on from ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "asker", "why"),
    [
        (1, None, "at: game random hadn't started at entry 1"),
        (10_000, None, "at: game random has {length} entries"),
        (0, None, "at: game random was over at entry {length}; name one before"),
        (5, 7, "asker: game random has no seat 7"),
    ],
)
def test_what_is_wrong_with_a_wish_is_said_by_its_name(at: int, asker: Seat | None, why: str) -> None:
    log = a_game("usa", 1).log
    with pytest.raises(CommandRefusedError) as no:
        fork_command(log, ForkGame(OF, at or len(log), asker), SEED)
    assert (no.value.rule, no.value.reason) == ("GAME-6", why.format(length=len(log)))


def test_there_is_no_fork_of_a_game_that_there_is_not() -> None:
    with pytest.raises(CommandRefusedError) as no:
        fork_command([], ForkGame("nowhere", 3), SEED)
    assert no.value.rule == "GAME-1"
