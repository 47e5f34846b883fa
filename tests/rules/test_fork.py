"""A game goes on from where another one stood: as it was there, or dealt afresh by what somebody knew."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

from schemas.codec import unpack_entry
from schemas.commands import ForkGame
from schemas.events import GameForked
from schemas.field_types import Seat
from services.referee.rules import RULESETS, fold
from services.referee.rules.determinization import determinize
from services.referee.rules.setup.fork import ForkSource, fork_command
from tests.rules.forks import (
    GAMES,
    KINDS,
    OF,
    SEED,
    Forked,
    a_game,
    begun_at,
    cards,
    kinds,
    moments,
    somebody,
    tickets,
    view,
    viewers,
    visible,
)  # fmt: skip
from tests.rules.test_properties import EVERY_RULESET


def test_every_kind_of_moment_is_among_these() -> None:
    met: set[str] = set()
    for rules, chance in product(RULESETS, GAMES):
        play = a_game(rules, chance)
        for at in moments(play, 2):
            met |= kinds(play.log, at)
    assert met >= {*KINDS}


# -- a game that is over: as it was ----------------------------------------------------------


@EVERY_RULESET
def test_a_fork_of_a_game_that_is_over_goes_on_like_it_given_the_same_chance(rules: str) -> None:
    for chance in GAMES:
        play = a_game(rules, chance)
        for at in moments(play, 2):
            fork = Forked(play.log, at).with_the_chance_of(fold(play.log[:at]))
            fork.says_what_came_of(play.log[at:])
            assert fork.table.result


@EVERY_RULESET
def test_everybody_sees_the_table_that_it_saw_there(rules: str) -> None:
    for chance in GAMES:
        play = a_game(rules, chance)
        for at in moments(play, 1):
            fork = Forked(play.log, at)
            for viewer in viewers(play):
                assert visible(fork.log, viewer) == visible(play.log[:at], viewer)


@EVERY_RULESET
def test_a_fork_can_be_forked(rules: str) -> None:
    for chance in GAMES[:5]:
        play = a_game(rules, chance)
        for at in moments(play, 1)[1:]:
            fork = Forked(play.log, at).with_the_chance_of(fold(play.log[:at]))
            fork.says_what_came_of(play.log[at:])
            later = Random(at).randrange(fork.begun, len(fork.log))
            there = fold(play.log[: at + later - fork.begun])
            again = Forked(fork.log, later).with_the_chance_of(there)
            for viewer in viewers(play):
                assert visible(again.log, viewer) == visible(fork.log[:later], viewer)
            again.says_what_came_of(fork.log[later:])


# -- a game that goes on: by what the asker knew -----------------------------------------------


@EVERY_RULESET
def test_the_asker_sees_the_table_that_it_saw_and_all_counts_stay(rules: str) -> None:
    differ = 0
    for chance in GAMES:
        play = a_game(rules, chance)
        for at in moments(play, 2):
            there, asker = fold(play.log[:at]), somebody(play, at)
            fork = Forked(play.log[:at], at, asker)
            assert visible(fork.log, asker) == visible(play.log[:at], asker)
            assert visible(fork.log, None) == visible(play.log[:at], None)
            assert cards(fork.table).total() == cards(there).total()
            assert tickets(fork.table).keys() <= there.board.tickets.keys()
            assert tickets(fork.table).total() == len(tickets(fork.table))
            differ += fork.table.deck != there.deck
    assert differ


@EVERY_RULESET
def test_the_same_cards_are_dealt_where_none_has_left_the_game(rules: str) -> None:
    for chance in GAMES:
        play = a_game(rules, chance)
        for at in moments(play, 1):
            there = fold(play.log[:at])
            if (
                "removed" not in {place.exit_reason for place in there.seats}
                and there.position_starter is None
            ):
                assert cards(Forked(play.log[:at], at).table) == cards(there)


@EVERY_RULESET
def test_P5_what_is_laid_follows_from_the_seed_and_from_what_the_asker_knows(rules: str) -> None:
    """Were the hidden cards others, the fork would be the same to the last of them."""
    for chance in GAMES:
        play = a_game(rules, chance)
        for at in moments(play, 1):
            past, asker = ForkSource(), somebody(play, at)
            for data in play.log[:at]:
                past.apply(data)
            known, dice = past.knowledge[asker], Random(at)
            twin = determinize(past.state, known, lambda row: dice.sample(row, len(row)))  # noqa: B023
            fork = fork_command(play.log[:at], ForkGame(OF, at, asker), SEED)
            past.state = twin
            assert past.build_command(ForkGame(OF, at, asker), SEED, is_over=False) == fork


def test_P5_whether_it_is_dealt_afresh_depends_on_the_other_game_as_it_is_now() -> None:
    play = a_game("usa", 1)
    at = len(play.log) - 3
    assert forked_by(play.log[:-1], at, 0) == GameForked(OF, at, 0, True)
    assert forked_by(play.log, at, 0) == GameForked(OF, at, None, False)


def forked_by(log: Sequence[bytes], at: int, asker: Seat | None) -> GameForked:
    entry = unpack_entry(Forked(log, at, asker).log[0])
    (told,) = [event for event in entry.events if isinstance(event, GameForked)]
    return told


def test_P5_nobody_else_learns_what_lies_face_down() -> None:
    play = a_game("usa", 2, strict=False)
    at = begun_at(play.log) + 40
    fork = Forked(play.log, at)
    for viewer in viewers(play):
        table, _ = view(fork.log, viewer)
        assert set(table.deck) == {None}
        for seat, place in enumerate(table.seats):
            assert (None in place.tickets) == (seat != viewer and bool(place.tickets))
