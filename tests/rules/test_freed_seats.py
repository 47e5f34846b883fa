"""GAME-9: before the start the host frees a seat where nobody comes; who takes it next has another secret."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.commands import CreateGame, FreeSeat, PlayOff, SeatBot, SeatPlan, StartGame, TakeSeat
from schemas.events import SeatFreed, SeatTaken
from schemas.field_types import Seat
from schemas.trains.commands import DrawBlind
from schemas.trains.positions import Position
from services.referee.games.decide import UnloggedRejectionError
from services.referee.games.seat_changes import FREED_SEAT_RESTS_MS, MAX_TIMES_FREED
from tests.rules.given import Scene, create_from, given

PEOPLE = CreateGame((SeatPlan(), SeatPlan()))
BOT = SeatPlan("bot", "greedy")
ADA, BO = TakeSeat("Ada", 0), TakeSeat("Bo", 1, 44, "b0" * 32)


def seated() -> Scene:
    return create_from(PEOPLE).when(None, ADA, BO)


def freed(seat: Seat = 1) -> Scene:
    return seated().when(None, FreeSeat(seat)).then(SeatFreed(seat))


def test_GAME_9_nothing_of_who_sat_there_stays() -> None:
    scene = freed()
    before, after = scene.state_before.seats[1], scene.state.seats[1]
    assert (before.is_seated, before.name, before.age, before.contribution) == (True, "Bo", 44, "b0" * 32)
    assert (after.is_seated, after.name, after.age, after.contribution) == (False, "", None, None)
    assert before.seat_secret
    assert after.seat_secret is None
    scene.when(None, StartGame()).refused("GAME-5")


def test_GAME_9_the_next_holder_has_a_secret_of_its_own_and_so_has_everyone_after() -> None:
    scene, secrets = seated(), []
    for take in (TakeSeat("Bo", 1), TakeSeat("Cy", 1), SeatBot(1, "random"), SeatBot(1, "random")):
        scene.when(None, FreeSeat(1)).after_ms(FREED_SEAT_RESTS_MS).when(None, take)
        secrets.append(scene.seat_state(1).seat_secret)
    others = {state.seat_secret for state in create_from(CreateGame((BOT, BOT))).state.seats}
    assert len({*secrets, *others, *(state.seat_secret for state in seated().state.seats)}) == 8


def test_GAME_9_a_bot_takes_a_freed_seat_and_one_that_nobody_took() -> None:
    scene = freed().after_ms(FREED_SEAT_RESTS_MS).when(None, SeatBot(1, "greedy"))
    taken = scene.only(SeatTaken)
    assert (taken.seat, taken.name, taken.policy, taken.by) == (1, "greedy 2", "greedy", "server")
    assert scene.seat_state(1).kind == "bot"
    assert scene.when(None, StartGame()).state.started
    scene = create_from(PEOPLE).when(None, ADA, SeatBot(1, "random"))
    assert scene.when(None, StartGame()).state.started


def test_GAME_4_a_freed_seat_rests_until_no_gateway_believes_its_former_token() -> None:
    for take in (TakeSeat("Cy"), TakeSeat("Cy", 1), SeatBot(1, "greedy")):
        scene = freed().after_ms(FREED_SEAT_RESTS_MS - 1).when(None, take).refused("GAME-4")
        scene.after_ms(1).when(None, take).then_types(SeatTaken)


def test_GAME_4_who_names_no_seat_gets_one_that_has_rested() -> None:
    scene = create_from(CreateGame((SeatPlan(),) * 3)).when(None, ADA, FreeSeat(0), TakeSeat("Bo"))
    assert scene.events_of(SeatTaken)[0].seat == 1


@pytest.mark.parametrize("take", [SeatBot(0, "greedy"), SeatBot(2, "greedy"), SeatBot(1, "buy-now")])
def test_GAME_4_a_bot_takes_no_seat_that_is_taken_or_not_there_or_that_it_cannot_play(take: SeatBot) -> None:
    create_from(replace(PEOPLE, ruleset="usa")).when(None, ADA, take).refused("GAME-4")


def test_GAME_9_who_sat_there_sends_nothing_any_more_and_may_come_back() -> None:
    scene = seated().when(1, DrawBlind()).refused("GAME-2").when(None, FreeSeat(1))
    assert 1 not in scene.state.refusal_counts
    with pytest.raises(UnloggedRejectionError, match="TOKEN-1"):
        scene.when(1, DrawBlind())
    scene.after_ms(FREED_SEAT_RESTS_MS).when(None, BO).then_types(SeatTaken)


def test_GAME_9_a_seat_is_freed_before_the_start_only_and_where_somebody_sits() -> None:
    given(2).when(None, FreeSeat(1)).refused("GAME-9")
    given(2).when(None, SeatBot(1, "greedy")).refused("GAME-4")
    create_from(PEOPLE).when(None, FreeSeat(1)).refused("GAME-9")
    seated().when(None, FreeSeat(2)).refused("GAME-9")
    freed().when(None, FreeSeat(1)).refused("GAME-9")


def test_GAME_9_a_seat_that_has_seen_its_hand_is_not_freed_nor_one_of_a_named_seed_or_a_play_off() -> None:
    position = replace(PEOPLE, position=Position(turn=0, hands=({"red": 1}, {})))
    create_from(position).when(None, ADA, BO, FreeSeat(1)).refused("GAME-9")
    create_from(position).when(None, SeatBot(1, "greedy")).refused("GAME-4")
    create_from(CreateGame((BOT, BOT), seed="friday")).when(None, FreeSeat(1)).refused("GAME-9")
    named = (replace(BOT, name="a"), replace(BOT, name="b"))
    play_off = CreateGame(named, play_off=PlayOff("first", 1, (0, 1), (0, 0)))
    create_from(play_off).when(None, FreeSeat(1)).refused("GAME-9")


def test_GAME_9_a_seat_is_freed_so_often_and_no_oftener() -> None:
    scene = seated()
    for _ in range(MAX_TIMES_FREED):
        scene.when(None, FreeSeat(1)).after_ms(FREED_SEAT_RESTS_MS).when(None, BO)
    scene.when(None, FreeSeat(1)).refused("GAME-9")


def test_GAME_9_a_seat_does_not_free_another() -> None:
    seated().when(0, FreeSeat(1)).refused("TOKEN-1")
