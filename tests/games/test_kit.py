"""What the kit holds for who writes a game: seats, cards, the time of a turn, codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from schemas.commands import OF_EVERY_GAME, CreateGame, SeatPlan, StartGame
from schemas.contract import CommandContract
from schemas.events import HandDealt
from schemas.game_options import GameOptions
from schemas.refusals import CommandRefusedError
from schemas.registry import Registry
from services.referee.games import RULESETS, GameState, decide, decide_and_apply, redact_for
from services.referee.games.decide import SEAT_COMMANDS
from services.referee.games.kit import DealUnseen, Pieces, ask, plain_ruleset, shuffle_and_deal, shuffle_deck
from services.referee.games.state import ACTION, EventStream, Seen
from services.referee.games.tricks import PlayCard
from services.text.sentences import command_title, event_sentence
from tests.rules.given import Scene, create_from


def created(seats: int, options: Mapping[str, object] | None = None) -> Scene:
    """A new game of `tricks`, which is for three to five."""
    return create_from(
        CreateGame((SeatPlan("bot", "random"),) * seats, "tricks", seed="kit", options=options)
    )


@pytest.mark.parametrize(
    ("seats", "options"), [(8, {"seats_most": 8}), (2, {"seats_least": 2}), (3, {"seats_least": 6})]
)
def test_GAME_6_an_option_does_not_widen_the_seats_that_a_ruleset_declares(
    seats: int, options: Mapping[str, object]
) -> None:
    with pytest.raises(CommandRefusedError, match="tricks is for 3 to 5") as refused:
        created(seats, options)
    assert refused.value.rule == "GAME-6"


def test_GAME_6_an_option_may_narrow_the_seats() -> None:
    assert len(created(4, {"seats_most": 4}).state.seats) == 4
    with pytest.raises(CommandRefusedError, match="tricks is for 3 to 4"):
        created(5, {"seats_most": 4})


def test_what_a_seat_may_send_in_every_game_is_decided_without_its_rules() -> None:
    assert {*OF_EVERY_GAME} == SEAT_COMMANDS.keys()


def deals_too_much(state: GameState) -> EventStream:
    yield from shuffle_deck(state, ["ace"] * 5)
    yield from shuffle_and_deal(state, ["ace"] * 5, 2)


def test_GAME_6_a_deal_of_more_cards_than_there_are_starts_no_game() -> None:
    scene = created(3)
    scene.state.ruleset = replace(scene.state.ruleset, start=deals_too_much)
    with pytest.raises(CommandRefusedError, match="3 hands of 2 need 6 cards, the deck has 5") as refused:
        decide_and_apply(scene.state, None, StartGame())
    assert (refused.value.rule, scene.state.started, scene.state.own.deck) == ("GAME-6", False, [])


def test_a_hand_that_is_dealt_is_told_to_each_as_far_as_it_is_known() -> None:
    state = created(3).when(None, StartGame()).state
    dealt = HandDealt(1, ("clubs-2", "hearts-3"))
    shown = redact_for(0, dealt)
    assert shown is not None
    assert event_sentence(state, dealt) == "random 2 is dealt 2 cards: clubs-2, hearts-3."
    assert event_sentence(state, shown) == "random 2 is dealt 2 cards."


def test_a_further_step_of_a_turn_does_not_begin_its_time_anew() -> None:
    scene = created(3, {"move_ms": 1000}).when(None, StartGame())
    state = scene.state
    begun_ms = state.at_ms
    state.at_ms += 400
    ask(state, [0, 1], "draw")
    assert (state.seats[0].deadline_ms, state.seats[1].deadline_ms) == (begun_ms + 1000, begun_ms + 1400)
    assert state.pending_choices == {0: "draw", 1: "draw"}


def test_a_card_that_no_event_can_hold_is_refused_with_its_ruleset() -> None:
    reason = "the card 'Yellow-8' of loud: up to 30 small letters, digits and hyphens"
    with pytest.raises(TypeError, match=re.escape(reason)):
        plain_ruleset(
            "loud",
            GameOptions(),
            Pieces(dict, dict, lambda s, v: (), ["Yellow-8"]),
            {},
            lambda s: (),
            lambda s: (),
        )


@pytest.mark.parametrize(
    ("first", "second"), [("loud:3", "loud:3^1"), ("loud:3^2", "loud:3"), ("loud:3", "loud:3")]
)
def test_a_code_that_is_declared_twice_is_refused_whether_or_not_its_event_draws(
    first: str, second: str
) -> None:
    registry: Registry[CommandContract, object] = Registry("event")
    registry.add(type("Played", (CommandContract,), {}), "played", first)
    with pytest.raises(TypeError, match=r"the event Drawn of .* of Played"):
        registry.add(type("Drawn", (CommandContract,), {}), "drawn", second)


def test_a_card_that_a_view_names_more_often_than_the_deck_has_it_is_said() -> None:
    state = created(3).when(None, StartGame()).state
    state.own.taken = ["ace"] * 4
    deal = DealUnseen(["ace"] * 3 + ["king"])
    with pytest.raises(ValueError, match="ace is named 4 times, the deck has 3"):
        deal(state, Seen(None, state, ()), list)


def test_TURN_2_says_what_a_command_is_for() -> None:
    state = created(3).when(None, StartGame()).state
    state.pending_choices = {0: ACTION}
    state.ruleset = replace(state.ruleset, moves={ACTION: (), "later": RULESETS["tricks"].moves[ACTION]})
    with pytest.raises(CommandRefusedError, match="there is nothing to play now") as refused:
        decide(state, 0, PlayCard("clubs-1"))
    assert refused.value.rule == "TURN-2"


def test_a_command_has_the_title_that_its_description_gives_it() -> None:
    scene = created(3).when(None, StartGame())
    assert command_title(scene.state, 0, PlayCard("clubs-1")) == ("play", "clubs-1")
