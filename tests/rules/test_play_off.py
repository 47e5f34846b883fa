"""TIE-1 in `europe`: a shared first place is played off, best of five new games."""

from __future__ import annotations

import pytest

from schemas.commands import CallTime, CommandEnvelope, CreateGame, Leave, Pass, PlayOff, SeatPlan, StartGame
from schemas.events import GameCreated, GameEnded, PlayOffCalled, SeatTaken, SeedRevealed
from schemas.refusals import CommandRefusedError
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.events import TicketsShown
from schemas.trains.positions import Position, TicketGiven
from services.referee.games import GameState, UnloggedRejectionError, decide_envelope
from services.referee.games.play_off import call_play_off, next_game
from services.referee.games.trains import board
from tests.rules.given import CREATED_AT_MS, SEED, create_from, given
from tests.rules.series import NOTHING, WIN, called_play_offs, ended_game, pass_until_end, start_next_game

# -- when it is called -----------------------------------------------------------------------


def test_TIE_1_a_shared_first_place_calls_a_play_off_before_the_game_ends() -> None:
    scene = ended_game(2)
    assert [type(event) for event in scene.events[-5:]] == [
        TicketsShown,
        TicketsShown,
        PlayOffCalled,
        SeedRevealed,
        GameEnded,
    ]
    assert scene.events_of(PlayOffCalled) == (
        PlayOffCalled("scene-po1", PlayOff("scene", 1, (0, 1), (0, 0)), (0, 1)),
    )


def test_TIE_1_only_the_seats_that_share_it_play_off() -> None:
    assert called_play_offs(ended_game(3, owners={WIN: 0, "brest-dieppe-a": 2})) == [(0, 2)]
    assert called_play_offs(ended_game(5)) == [(0, 1, 2, 3, 4)]


def test_TIE_1_no_play_off_where_one_seat_is_first() -> None:
    assert called_play_offs(ended_game(3, owners={WIN: 1})) == []


def test_TIE_1_no_play_off_where_a_tie_break_decides() -> None:
    """Level at 28, and seat 1 made the ticket."""
    owners = {
        "constantinople-sofia-a": 1, "constantinople-smyrna-a": 1, "berlin-wien-a": 0, "berlin-essen-a": 0,
    }  # fmt: skip
    scene = given(2, rules="europe", hands=[{}, {}], owners=owners,
                  tickets=[[], ["smyrna:sofia", "angora:athina"]], **NOTHING)  # fmt: skip
    pass_until_end(scene)
    end = scene.only(GameEnded)
    assert [(seat.total, seat.place) for seat in end.scores] == [(28, 2), (28, 1)]
    assert called_play_offs(scene) == []


def test_TIE_1_a_seat_that_has_left_does_not_play_off() -> None:
    scene = given(3, rules="europe", hands=[{}] * 3, tickets=[[]] * 3, **NOTHING).when(1, Leave())
    assert called_play_offs(pass_until_end(scene)) == [(0, 2)]
    end = scene.only(GameEnded)
    assert [seat.place for seat in end.scores] == [1, 1, 1]


def test_TIE_1_a_single_seat_that_is_left_does_not_play_against_itself() -> None:
    scene = given(2, rules="europe", hands=[{}] * 2, tickets=[[]] * 2, **NOTHING).when(1, Leave())
    assert called_play_offs(pass_until_end(scene)) == []


@pytest.mark.parametrize(("tickets", "players"), [(1, [(0, 1)]), (3, [(0, 1)]), (4, [])])
def test_TIE_1_a_position_with_too_few_tickets_for_a_deal_stays_shared(
    tickets: int, players: list[tuple[int, ...]]
) -> None:
    """The board has six long tickets; a ticket that only the position has is in no new game."""
    own = ((TicketGiven(("angora", "dieppe"), 0),), (TicketGiven(("athina", "dieppe"), 0),))
    scene = create_from(
        CreateGame(
            (SeatPlan("bot", "random"),) * 2,
            "europe",
            options={"start_tickets": {"long": tickets, "regular": 0}, "start_keep": 1},
            position=Position(turn=0, cars=(0, 0), tickets=own),
        )
    ).when(None, StartGame())
    while not scene.state.result:
        seat = scene.state.turn or 0
        scene.when(seat, scene.legal(seat)[0])
    assert called_play_offs(scene) == players


def test_TIE_1_seats_that_are_out_of_time_play_off_with_new_clocks() -> None:
    scene = given(2, rules="europe", tickets=[[], []])
    for seat in (0, 1):
        scene.after_ms(120_000).when(None, CallTime(seat))
    assert scene.state.result
    assert called_play_offs(scene) == [(0, 1)]
    state, _ = start_next_game(scene.state)
    assert [seat_state.clock_ms for seat_state in state.seats] == [120_000, 120_000]


def test_TIE_1_nor_do_removed_ones() -> None:
    scene = given(3, rules="europe", hands=[{}] * 3, tickets=[[]] * 3, options={"strict": True}, **NOTHING)
    scene.when(1, Pass())
    assert scene.seat_state(1).exit_reason == "removed"
    assert called_play_offs(pass_until_end(scene)) == [(0, 2)]


def test_TIE_1_a_game_that_started_from_a_position_calls_one_too_and_it_is_dealt_as_usual() -> None:
    plans = (SeatPlan("bot", "random"),) * 2
    missed = tuple((TicketGiven(("cadiz", city), 9),) for city in ("riga", "moskva"))  # not of the board
    decks = {"regular": (), "long": ()}
    position = Position(market=(), deck=(), ticket_decks=decks, tickets=missed)
    scene = create_from(CreateGame(plans, "europe", position=position)).when(None, StartGame())
    assert called_play_offs(pass_until_end(scene)) == [(0, 1)]
    following = next_game(scene.state)
    assert following is not None
    assert (following[1].board, following[1].position) == ("europe", None)


def test_TIE_1_other_rules_share_the_place_unless_the_option_says_otherwise() -> None:
    assert called_play_offs(ended_game(2, "usa")) == []
    assert called_play_offs(ended_game(2, "usa", options={"play_off": 3})) == [(0, 1)]
    assert called_play_offs(ended_game(2, options={"play_off": 0})) == []


# -- the game that follows -----------------------------------------------------------------------


def test_TIE_1_no_game_follows_where_none_was_called() -> None:
    assert next_game(given(2, rules="europe").state) is None
    assert next_game(ended_game(3, owners={WIN: 1}).state) is None


def test_TIE_1_it_has_the_same_rules_board_and_options_and_is_linked_to_the_first() -> None:
    first = ended_game(
        3, options={"clock_ms": None, "cars": 30, "longest_bonus": 7}, owners={WIN: 1, "brest-dieppe-a": 2}
    )
    state, events = start_next_game(first.state)
    assert (state.game, state.ruleset, state.own.board) == (
        "scene-po1",
        first.state.ruleset,
        first.state.own.board,
    )
    assert state.rule_options == first.state.rule_options
    assert (state.rule_options.clock_ms, state.rule_options.cars) == (None, 30)
    created = events[0]
    assert isinstance(created, GameCreated)
    assert created.play_off == PlayOff("scene", 1, (1, 2), (0, 0))
    assert created.board_form is None


def test_TIE_1_its_seats_are_those_that_tied_and_nobody_needs_to_join() -> None:
    plans = (
        SeatPlan("bot", "greedy", "Gus", 40),
        SeatPlan("bot", "random", "Ria"),
        SeatPlan("bot", "random", "Rob"),
    )
    first = create_from(CreateGame(plans, "europe")).state
    first.seats[2].policy, first.seats[2].kind = None, "human"
    first.next_play_off = call_play_off(PlayOff("scene", 1, (0, 2), (0, 0)), (0, 2))
    state, events = start_next_game(first)
    taken = [event for event in events if isinstance(event, SeatTaken)]
    assert [(e.seat, e.name, e.policy, e.age, bool(e.luck)) for e in taken] == [
        (0, "Gus", "greedy", 40, True),
        (1, "Rob", None, None, True),
    ]
    assert [seat_state.kind for seat_state in state.seats] == ["bot", "human"]
    decide_envelope(state, CommandEnvelope("start", state.game, None, StartGame()), CREATED_AT_MS, SEED)
    assert state.started


def test_TIE_1_its_seed_is_not_the_first_games() -> None:
    first = ended_game(2).state
    following = next_game(first)
    assert following is not None
    assert following[1].seed is None
    laid = GameState()
    decide_envelope(
        laid, CommandEnvelope("create", following[0], None, following[1]), CREATED_AT_MS, "a7" * 32
    )
    assert laid.seed == "a7" * 32 != first.seed


def test_TIE_1_a_board_of_ones_own_goes_along() -> None:
    form = BOARD_SCHEMA.write(board.load_board("europe").form, exclude_defaults=True)
    form |= {"id": "mine", "title": "Mine"}
    first = ended_game(2, board=form)
    state, events = start_next_game(first.state)
    assert state.own.board is first.state.own.board
    assert BOARD_SCHEMA.read(events[0].board_form) == first.state.own.board.form
    following = next_game(ended_game(2).state)
    assert following is not None
    assert following[1].board == "europe"


def test_TIE_1_a_board_that_only_has_the_name_of_ours_goes_along_too() -> None:
    form = BOARD_SCHEMA.write(board.load_board("europe").form, exclude_defaults=True)
    form["tickets"] = form["tickets"][:-1]
    first = ended_game(2, board=form)
    state, _ = start_next_game(first.state)
    assert state.own.board.digest == first.state.own.board.digest != board.load_board("europe").digest


@pytest.mark.parametrize("length", [36, 37, 40])
def test_TIE_1_its_id_follows_from_the_first_games_and_fits(length: int) -> None:
    series = PlayOff("g" * length, 5, (0, 1), (2, 2))
    game = call_play_off(series, (0, 1)).game
    assert len(game) <= 40
    assert game.endswith("-po5")
    assert call_play_off(series, (0, 1)).game == game
    other = PlayOff("g" * (length - 1) + "h", 5, (0, 1), (2, 2))
    assert call_play_off(other, (0, 1)).game != game


def test_TIE_1_a_play_off_names_every_seat() -> None:
    plans = (SeatPlan("bot", "random", "Ria"),) * 2
    for series in (PlayOff("scene", 1, (0, 1, 2), (0, 0)), PlayOff("scene", 1, (0, 1), (0, 0, 0))):
        with pytest.raises(UnloggedRejectionError, match="GAME-6"):
            create_from(CreateGame(plans, "europe", play_off=series))
    nameless = (SeatPlan("bot", "random", "Ria"), SeatPlan("human"))
    with pytest.raises(CommandRefusedError, match="GAME-6"):
        create_from(CreateGame(nameless, "europe", play_off=PlayOff("scene", 1, (0, 1), (0, 0))))


def test_TIE_1_fewer_seats_may_play_off_than_a_game_begins_with() -> None:
    first = ended_game(3, options={"seats_least": 3}, owners={WIN: 0, "brest-dieppe-a": 2})
    state, _ = start_next_game(first.state)
    assert (len(state.seats), state.rule_options.seats_least) == (2, 2)
