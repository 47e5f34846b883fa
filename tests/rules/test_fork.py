"""A fork goes on from the state of its source game: as it was, or with unknown cards dealt afresh."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from schemas.commands import ForkGame
from schemas.events import GameForked
from schemas.field_types import Seat
from schemas.stored.codec import unpack_entry
from services.referee.games import fold
from services.referee.games.trains.determinization import determinize
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.setup.fork import ForkSource, fork_command
from tests.long_runs import short_and_long
from tests.rules.forks import (
    CHANCES,
    KINDS,
    SEED,
    SHORT_CHANCES,
    SOURCE_GAME,
    ForkedGame,
    all_cards,
    all_tickets,
    asker_at,
    fork_entries,
    kinds_at,
    start_entry,
    viewer_state,
    viewers,
    visible_state,
    whole_game,
)  # fmt: skip
from tests.rules.test_properties import EVERY_TRAIN_RULESET

SHORT_AND_LONG = pytest.mark.parametrize("chances", short_and_long(SHORT_CHANCES, CHANCES))


@pytest.mark.long
def test_every_kind_of_moment_is_among_these() -> None:
    met: set[str] = set()
    for rules, chance in product(TRAIN_RULESETS, CHANCES):
        play = whole_game(rules, chance)
        for at in fork_entries(play, 2):
            met |= kinds_at(play.log, at)
    assert met >= {*KINDS}


# -- a game that is over: as it was ----------------------------------------------------------


@EVERY_TRAIN_RULESET
@SHORT_AND_LONG
def test_a_fork_of_a_game_that_is_over_goes_on_like_it_given_the_same_chance(
    rules: str, chances: range
) -> None:
    for chance in chances:
        play = whole_game(rules, chance)
        for at in fork_entries(play, 2):
            fork = ForkedGame(play.log, at).with_shuffles_of(fold(play.log[:at]))
            fork.assert_same_results(play.log[at:])
            assert fork.state.result


@EVERY_TRAIN_RULESET
@SHORT_AND_LONG
def test_everybody_sees_the_state_that_it_saw_in_the_source_game(rules: str, chances: range) -> None:
    for chance in chances:
        play = whole_game(rules, chance)
        for at in fork_entries(play, 1):
            fork = ForkedGame(play.log, at)
            for viewer in viewers(play):
                assert visible_state(fork.log, viewer) == visible_state(play.log[:at], viewer)


@EVERY_TRAIN_RULESET
@SHORT_AND_LONG
def test_a_fork_can_be_forked(rules: str, chances: range) -> None:
    for chance in chances[:5]:
        play = whole_game(rules, chance)
        for at in fork_entries(play, 1)[1:]:
            fork = ForkedGame(play.log, at).with_shuffles_of(fold(play.log[:at]))
            fork.assert_same_results(play.log[at:])
            later = Random(at).randrange(fork.begun, len(fork.log))
            source_state = fold(play.log[: at + later - fork.begun])
            again = ForkedGame(fork.log, later).with_shuffles_of(source_state)
            for viewer in viewers(play):
                assert visible_state(again.log, viewer) == visible_state(fork.log[:later], viewer)
            again.assert_same_results(fork.log[later:])


# -- a game that goes on: by what the asker knew -----------------------------------------------


@EVERY_TRAIN_RULESET
@SHORT_AND_LONG
def test_the_asker_sees_the_state_that_it_saw_and_all_counts_stay(rules: str, chances: range) -> None:
    differ = 0
    for chance in chances:
        play = whole_game(rules, chance)
        for at in fork_entries(play, 2):
            source_state, asker = fold(play.log[:at]), asker_at(play, at)
            fork = ForkedGame(play.log[:at], at, asker)
            assert visible_state(fork.log, asker) == visible_state(play.log[:at], asker)
            assert visible_state(fork.log, None) == visible_state(play.log[:at], None)
            assert all_cards(fork.state).total() == all_cards(source_state).total()
            assert all_tickets(fork.state).keys() <= source_state.own.board.tickets.keys()
            assert all_tickets(fork.state).total() == len(all_tickets(fork.state))
            differ += fork.state.own.deck != source_state.own.deck
    assert differ


@EVERY_TRAIN_RULESET
@SHORT_AND_LONG
def test_the_same_cards_are_dealt_where_none_has_left_the_game(rules: str, chances: range) -> None:
    for chance in chances:
        play = whole_game(rules, chance)
        for at in fork_entries(play, 1):
            source_state = fold(play.log[:at])
            if (
                "removed" not in {seat_state.exit_reason for seat_state in source_state.seats}
                and source_state.own.position_starter is None
            ):
                assert all_cards(ForkedGame(play.log[:at], at).state) == all_cards(source_state)


@EVERY_TRAIN_RULESET
@SHORT_AND_LONG
def test_P5_a_fresh_deal_follows_from_the_seed_and_from_what_the_asker_knows(
    rules: str, chances: range
) -> None:
    """With other hidden cards in the source game, the fork would be the same in every card."""
    for chance in chances:
        play = whole_game(rules, chance)
        for at in fork_entries(play, 1):
            source, asker = ForkSource(), asker_at(play, at)
            for data in play.log[:at]:
                source.apply(data)
            known, rng = source.knowledge[asker], Random(at)
            twin = determinize(source.state, known, lambda row: rng.sample(row, len(row)))  # noqa: B023
            fork = fork_command(play.log[:at], ForkGame(SOURCE_GAME, at, asker), SEED)
            source.state = twin
            assert source.build_command(ForkGame(SOURCE_GAME, at, asker), SEED, is_over=False) == fork


def test_P5_whether_it_is_dealt_afresh_depends_on_the_source_game_as_it_is_now() -> None:
    play = whole_game("usa", 1)
    at = len(play.log) - 3
    assert forked_by(play.log[:-1], at, 0) == GameForked(SOURCE_GAME, at, 0, True)
    assert forked_by(play.log, at, 0) == GameForked(SOURCE_GAME, at, None, False)


def forked_by(log: Sequence[bytes], at: int, asker: Seat | None) -> GameForked:
    entry = unpack_entry(ForkedGame(log, at, asker).log[0])
    (forked,) = [event for event in entry.events if isinstance(event, GameForked)]
    return forked


def test_P5_nobody_else_learns_hidden_cards() -> None:
    play = whole_game("usa", 2, strict=False)
    at = start_entry(play.log) + 40
    fork = ForkedGame(play.log, at)
    for viewer in viewers(play):
        state, _ = viewer_state(fork.log, viewer)
        assert set(state.own.deck) == {None}
        for seat, seat_state in enumerate(state.seats):
            assert (None in seat_state.own.tickets) == (seat != viewer and bool(seat_state.own.tickets))
