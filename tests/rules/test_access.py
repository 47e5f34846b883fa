"""Who may watch a game is settled when it is created: it stands in the log, and what follows from the game has it too."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest

from schemas.commands import CreateGame, ForkGame, PlayOff, SeatPlan, read_command
from schemas.errors import InvalidInputError
from schemas.events import AccessSet, PlayOffCalled
from schemas.game_options import MAX_SPECTATOR_DELAY, PUBLIC_ACCESS, VISIBILITIES, Access
from schemas.refusals import CommandRefusedError
from services.referee.games.create_game import access_of
from services.referee.games.play_off import next_game
from services.referee.games.proof.public_verifier import EventOrder
from services.referee.games.trains.setup.fork import fork_command
from tests.rules.forks import SEED, SOURCE_GAME, start_entry
from tests.rules.given import create_from
from tests.rules.random_games import RandomGame

BOT = SeatPlan("bot", "random")
PRIVATE = Access("players", 5, by_invitation=True)


@cache
def whole_log(access: Access) -> list[bytes]:
    """The log of a whole game with this access."""
    fields = dict(access.fields())
    play = RandomGame(Random(3), "usa", 2, options={"cars": 10}, create_fields=fields)
    for _ in play.steps():
        pass
    return play.log


def test_SETUP_1_a_creation_settles_who_may_watch_and_take_a_seat() -> None:
    scene = create_from(CreateGame((BOT, BOT), visibility="players", spectator_delay=5, by_invitation=True))
    assert scene.events_of(AccessSet) == (AccessSet("players", 5, True, True, "never"),)
    assert scene.state.access == PRIVATE


@pytest.mark.parametrize(
    "fields",
    [{}, {"visibility": "public", "spectator_delay": 0, "by_invitation": False, "suggestions": True}],
)
def test_P4_a_log_that_says_nothing_of_it_is_of_a_public_game(fields: dict[str, Any]) -> None:
    scene = create_from(CreateGame((BOT, BOT), **fields))
    assert not scene.events_of(AccessSet)
    assert scene.state.access == PUBLIC_ACCESS


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("visibility", "secret"),
        ("visibility", 1),
        ("spectator_delay", -1),
        ("spectator_delay", MAX_SPECTATOR_DELAY + 1),
        ("spectator_delay", True),
        ("by_invitation", 1),
        ("suggestions", 0),
        ("undo", "always"),
    ],
)
def test_SHAPE_1_no_other_access_is_taken(field: str, value: object) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read_command({"type": "create_game", "seats": [{}], field: value})
    assert refused.value.field == field


@pytest.mark.parametrize("visibility", VISIBILITIES)
def test_P4_an_access_is_what_its_fields_create(visibility: Any) -> None:
    for access in (
        Access(visibility),
        Access(visibility, 3),
        Access(visibility, 0, by_invitation=True),
        Access(visibility, suggestions=False),
        Access(visibility, undo="consent"),
    ):
        assert create_from(CreateGame((BOT, BOT), **access.fields())).state.access == access


def test_P6_the_access_is_never_set_again() -> None:
    scene = create_from(CreateGame((BOT, BOT), visibility="unlisted"))
    order = EventOrder()
    assert order.check(1, scene.events) == ""
    assert "only a game's first entry has" in order.check(2, scene.events_of(AccessSet))


def test_TIE_1_a_play_off_has_the_access_of_the_game_before_it() -> None:
    state = create_from(CreateGame((BOT, BOT), **PRIVATE.fields())).state
    state.next_play_off = PlayOffCalled("next", PlayOff("scene", 1, (0, 1), (0, 0)), (0, 1))
    follow_up = next_game(state)
    assert follow_up is not None
    assert create_from(replace(follow_up[1], play_off=None)).state.access == PRIVATE


# -- forks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of_source", "of_fork"),
    [
        (Access("public", 3), Access("public", 3)),
        (Access("unlisted"), Access("unlisted")),
        (Access("unlisted", 0, by_invitation=True), Access("unlisted", 0, by_invitation=True)),
        (Access("players"), Access("players", 0, by_invitation=True)),
        (Access("public", suggestions=False), Access("public", suggestions=False)),
    ],
)
def test_P5_a_fork_follows_its_source(of_source: Access, of_fork: Access) -> None:
    log = whole_log(of_source)
    command = fork_command(log, ForkGame(SOURCE_GAME, start_entry(log)), SEED)
    assert access_of(command) == of_fork


@pytest.mark.parametrize("asker", [None, 0])
def test_P5_a_fork_begins_no_later_than_what_everybody_is_shown(asker: int | None) -> None:
    log = whole_log(PRIVATE)
    running = log[: start_entry(log) + 12]
    shown = len(running) - PRIVATE.spectator_delay
    assert fork_command(running, ForkGame(SOURCE_GAME, shown, asker), SEED).fork is not None
    with pytest.raises(CommandRefusedError) as refused:
        fork_command(running, ForkGame(SOURCE_GAME, shown + 1, asker), SEED)
    assert (refused.value.rule, refused.value.reason) == (
        "GAME-6",
        f"at: game {SOURCE_GAME} shows everybody {shown} entries",
    )


def test_P5_once_the_game_is_over_a_fork_begins_anywhere() -> None:
    log = whole_log(PRIVATE)
    assert fork_command(log, ForkGame(SOURCE_GAME, len(log) - 1), SEED).fork is not None
