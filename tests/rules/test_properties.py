"""Properties of every game of every ruleset, under any legal and illegal commands."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.field_types import HIDDEN, Seat
from services.referee.games import RULESETS, GameState, fold, legal
from services.referee.games.state import SEAT_FIELDS, STATE_FIELDS, SeatState
from services.referee.games.trains import board as boards
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.scoring import score, train_scores
from services.referee.games.trains.train_state import (
    TRAIN_FIELDS,
    TRAIN_SEAT_FIELDS,
    TrainGame,
    TrainSeat,
    TrainState,
)
from tests.long_runs import long_after
from tests.rules.given import full_state, vars_of
from tests.rules.random_games import (
    BOARDS_BY_RULESET,
    RANDOM_GAMES,
    RandomGame,
    position_of,
    random_position,
    seat_counts,
)

REPEATABLE = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
EVERY_RULESET = pytest.mark.parametrize("rules", RULESETS)
EVERY_TRAIN_RULESET = pytest.mark.parametrize("rules", TRAIN_RULESETS)
EVERY_BOARD = [(board, seats) for board in boards.board_names() for seats in seat_counts(board)]


# -- what holds ------------------------------------------------------------------------


def cards_of(play: RandomGame) -> Counter[str]:
    """Every card of the game, wherever it is."""
    state = play.state
    cards = Counter(play.removed_cards)
    revealed = state.own.tunnel.revealed if state.own.tunnel else ()
    for held in (state.own.deck, (card for card in state.own.market if card), revealed):
        cards.update(str(card) for card in held)
    for counts in (state.own.discards, *(seat_state.own.hand for seat_state in state.seats)):
        assert all(count >= 0 for count in counts.values())
        cards.update({str(card): n for card, n in counts.items()})
    return +cards


def tickets_of(play: RandomGame) -> Counter[str]:
    """Every ticket of the game, wherever it is."""
    tickets = Counter(play.removed_tickets)
    for deck in play.state.own.ticket_decks.values():
        tickets.update(str(ticket) for ticket in deck)
    for seat_state in play.state.seats:
        tickets.update(str(ticket) for ticket in (*seat_state.own.tickets, *seat_state.own.offer))
    return tickets


def tokens_of(play: RandomGame) -> int:
    """The points of all merchandise, taken or not."""
    lying: int = sum(sum(stack) for stack in play.state.own.tokens.values())
    taken: int = sum(seat_state.own.merchandise for seat_state in play.state.seats)
    return lying + taken + play.removed_token_points


def count_pieces(play: RandomGame) -> None:
    """No train car, station or passenger appears or disappears; what lies on the board is where its
    owner thinks it is."""
    state, rule_options = play.state, play.state.rule_options
    assert state.own.route_owners == {
        route: s for s, seat_state in enumerate(state.seats) for route in seat_state.own.routes
    }
    assert state.own.station_owners == {
        city: s for s, seat_state in enumerate(state.seats) for city in seat_state.own.stations
    }
    standing = Counter(state.own.passenger_owners.values())
    for seat, seat_state in enumerate(state.seats):
        laid = sum(state.own.board.routes[route].length for route in seat_state.own.routes)
        assert seat_state.own.cars >= 0
        assert seat_state.own.cars + laid == rule_options.cars
        assert len(seat_state.own.stations) <= len(rule_options.station_costs)
        assert seat_state.own.passengers_left >= 0
        if state.own.position_starter is None:
            assert (
                seat_state.own.passengers_left + standing[seat] + play.journeys_made[seat]
                == rule_options.passengers
            )


def play_and_count(play: RandomGame) -> None:
    cards, tickets, tokens = cards_of(play), tickets_of(play), tokens_of(play)
    state = play.state
    if state.own.position_starter is None:
        assert cards == +Counter(state.rule_options.cards)
        dealt = {*state.rule_options.start_tickets, *state.rule_options.draw_tickets}
        assert tickets == Counter(t.id for t in state.own.board.tickets.values() if t.deck in dealt)
    for _ in play.steps():
        assert (cards_of(play), tickets_of(play), tokens_of(play)) == (cards, tickets, tokens)
        count_pieces(play)
    assert state.result
    assert state.result.scores == score(state)
    for counted, seat_state in zip(train_scores(state.result), state.seats, strict=True):
        assert counted.total == sum(
            (
                counted.routes,
                counted.tickets,
                counted.bonus,
                counted.most,
                counted.stations,
                counted.merchandise,
            )
        )
        if state.rule_options.points_at_once and state.own.position_starter is None:
            assert counted.routes == seat_state.own.points


@pytest.mark.parametrize("examples", long_after(1, (3, 10)))
@EVERY_TRAIN_RULESET
def test_cards_cars_tickets_and_all_else_are_conserved_and_every_game_ends(rules: str, examples: int) -> None:
    @settings(REPEATABLE, max_examples=examples)
    @given(RANDOM_GAMES[rules])
    def holds(play: RandomGame) -> None:
        play_and_count(play)

    holds()


@pytest.mark.parametrize("examples", long_after(1, (3, 10)))
@pytest.mark.parametrize("rules", [rules for rules in RULESETS if rules not in TRAIN_RULESETS])
def test_every_game_without_a_board_ends_and_is_scored_as_it_stands(rules: str, examples: int) -> None:
    """test_pile_tracker.py counts its cards: each leaves the pile in which the shuffle laid it, once."""

    @settings(REPEATABLE, max_examples=examples)
    @given(RANDOM_GAMES[rules])
    def holds(play: RandomGame) -> None:
        for _ in play.steps():
            pass
        assert play.state.result
        assert play.state.result.scores == play.state.ruleset.score(play.state)

    holds()


@pytest.mark.parametrize(
    ("board", "seats"),
    [
        pytest.param(board, seats, marks=pytest.mark.long if seats < max(seat_counts(board)) else ())
        for board, seats in EVERY_BOARD
    ],
)
def test_every_board_is_played_to_the_end_by_every_number_of_seats(board: str, seats: int) -> None:
    play = RandomGame(Random(f"{board} {seats}"), board, seats)
    play_and_count(play)
    for viewer, view in play.views.items():
        assert_view_matches(viewer, view, play.state)
    assert full_state(fold(play.log)) == full_state(play.state)


@pytest.mark.parametrize("examples", long_after(1, (2, 6)))
@EVERY_RULESET
def test_the_log_folds_to_the_referees_own_state(rules: str, examples: int) -> None:
    @settings(REPEATABLE, max_examples=examples)
    @given(RANDOM_GAMES[rules])
    def holds(play: RandomGame) -> None:
        for number in play.steps():
            if number % 60 == 0:
                assert full_state(fold(play.log)) == full_state(play.state)
        half = fold(play.log[: len(play.log) // 2])
        assert full_state(fold(play.log[len(play.log) // 2 :], half)) == full_state(play.state)

    holds()


@pytest.mark.parametrize("examples", long_after(1, (3, 6)))
@EVERY_TRAIN_RULESET
def test_a_position_that_was_set_up_is_the_one_that_was_given(rules: str, examples: int) -> None:
    @settings(REPEATABLE, max_examples=examples)
    @given(st.randoms(use_true_random=True), st.sampled_from(BOARDS_BY_RULESET[rules]))
    def holds(rng: Random, board: str) -> None:
        seats = rng.choice(seat_counts(board))
        position = random_position(rng, board, seats)
        play = RandomGame(rng, board, seats, create_fields={"position": position})
        assert position_of(play.state) == position
        assert set(play.state.pending_choices) == {position.turn}

    holds()


# -- views -----------------------------------------------------------------------------

PUBLIC_FIELDS = (
    "access", "at_ms", "undone_count", "pending_choices", "next_play_off", "closes_parallels", "commitment", "created_at_ms", "discards", "in_last_turns", "epoch", "rule_options",
    "fork_origin", "game", "seed_was_named", "position_starter", "seats_with_last_turn", "market", "fork_turn_state", "open_routes", "opened_at_ms", "turn_order", "result", "route_owners", "seats_passed", "passenger_owners", "play_off",
    "ruleset", "started", "station_owners", "setup_digest", "tokens", "tunnel", "turn", "board",
)  # fmt: skip
PARTLY_HIDDEN_FIELDS = {
    "deck",
    "names",
    "shuffle_key",
    "seats",
    "refusal_counts",
    "seed",
    "ticket_decks",
    "undo",
    "untaken",
}
PUBLIC_SEAT_FIELDS = (
    "age", "blocked_parallels", "cars", "start_tickets_chosen", "clock_ms", "contribution", "exit_reason", "kind", "min_keep", "merchandise", "name", "name_commitment",
    "passengers_left", "points", "policy", "routes", "stations", "is_seated", "deadline_ms", "freed_at_ms", "times_freed",
)  # fmt: skip
PRIVATE_SEAT_FIELDS = ("hand", "seat_secret", "requested_mix", "offer", "tickets")


def test_every_field_of_the_state_is_compared() -> None:
    assert {*PUBLIC_FIELDS, *PARTLY_HIDDEN_FIELDS} == {*STATE_FIELDS, *TRAIN_FIELDS} - {"own"}
    assert {*PUBLIC_SEAT_FIELDS, *PRIVATE_SEAT_FIELDS} == {*SEAT_FIELDS, *TRAIN_SEAT_FIELDS} - {"own"}


def assert_view_matches(viewer: Seat | None, view: GameState, state: GameState) -> None:
    """The viewer's state has everything that the viewer may know, correctly, and nothing else."""
    assert view.seed == (state.seed if state.result else None)
    assert view.shuffle_key == ""
    assert view.refusal_counts.get(viewer, 0) == state.refusal_counts.get(viewer, 0)
    if isinstance(state.own, TrainState):
        assert_trains_match(viewer, view, state)
    else:
        assert_own_parts_match(viewer, view, state)


def assert_own_parts_match(viewer: Seat | None, view: GameState, state: GameState) -> None:
    """The parts of any game are those of the state, some values hidden, and none where they are the viewer's own."""
    for name in (name for name in PUBLIC_FIELDS if name in STATE_FIELDS):
        assert getattr(view, name) == getattr(state, name)
    assert agrees(vars_of(view.own), vars_of(state.own))
    for seat, (shown, real) in enumerate(zip(view.seats, state.seats, strict=True)):
        names = PUBLIC_SEAT_FIELDS + (("seat_secret",) if seat == viewer else ())
        for name in (name for name in names if name in SEAT_FIELDS):
            assert getattr(shown, name) == getattr(real, name)
        assert seat == viewer or shown.seat_secret is None
        assert shown.own == real.own if seat == viewer else agrees(vars_of(shown.own), vars_of(real.own))


def agrees(shown: object, real: object) -> bool:
    """Whether what is shown is what is there, except for what is hidden; a row with hidden values has them anywhere."""
    if isinstance(shown, dict) and isinstance(real, dict):
        return shown.keys() == real.keys() and all(agrees(shown[key], real[key]) for key in real)
    if isinstance(shown, list | tuple) and isinstance(real, list | tuple) and HIDDEN in shown:
        known = [each for each in shown if each is not HIDDEN]
        return len(shown) == len(real) and all(known.count(each) <= real.count(each) for each in known)
    return shown is HIDDEN or shown == real


def assert_trains_match(viewer: Seat | None, view: TrainGame, state: TrainGame) -> None:
    """A viewer's state of a train game agrees with the referee's, field by field."""
    seen_fields, true_fields = full_state(view), full_state(state)
    assert [seen_fields[name] for name in PUBLIC_FIELDS] == [true_fields[name] for name in PUBLIC_FIELDS]
    assert view.own.deck == [HIDDEN] * len(state.own.deck)
    for deck, tickets in state.own.ticket_decks.items():
        known = view.own.ticket_decks[deck]
        assert len(known) == len(tickets)
        assert all(ticket in (HIDDEN, real) for ticket, real in zip(known, tickets, strict=True))
    assert bool(view.own.untaken) == bool(state.own.untaken)
    if view.own.untaken and state.own.untaken:
        seat, cards = state.own.untaken
        assert view.own.untaken == (seat, cards if seat == viewer else (HIDDEN,) * len(cards))
    for seat, (shown, real) in enumerate(zip(seen_fields["seats"], true_fields["seats"], strict=True)):
        names = (*PUBLIC_SEAT_FIELDS, *PRIVATE_SEAT_FIELDS) if seat == viewer else PUBLIC_SEAT_FIELDS
        assert [shown[name] for name in names] == [real[name] for name in names]
        assert view.seats[seat].own.cards == state.seats[seat].own.cards
        if seat != viewer:
            assert shown["seat_secret"] is None
            assert shown["tickets"] == (real["tickets"] if state.result else [HIDDEN] * len(real["tickets"]))
            assert shown["offer"] == [HIDDEN] * len(real["offer"])
            assert shown["requested_mix"] == (None if real["requested_mix"] is None else {})


@pytest.mark.parametrize("examples", long_after(1, (2, 6)))
@EVERY_RULESET
def test_a_viewers_fold_agrees_with_the_state_on_all_that_the_viewer_may_know(
    rules: str, examples: int
) -> None:
    @settings(REPEATABLE, max_examples=examples)
    @given(RANDOM_GAMES[rules])
    def holds(play: RandomGame) -> None:
        for number in play.steps():
            if number < 10 or number % 8 == 0 or play.state.result:
                for viewer, view in play.views.items():
                    assert_view_matches(viewer, view, play.state)

    holds()


@pytest.mark.parametrize("examples", long_after(1, (2, 6)))
@EVERY_RULESET
def test_what_is_legal_follows_from_the_seats_own_view(rules: str, examples: int) -> None:
    @settings(REPEATABLE, max_examples=examples)
    @given(RANDOM_GAMES[rules])
    def holds(play: RandomGame) -> None:
        for _ in play.steps():
            for seat in range(play.seats):
                assert legal(play.views[seat], seat) == legal(play.state, seat)

    holds()


@pytest.mark.pure_python  # compiled fields take no values of other types
def test_P4_a_copy_of_a_seat_has_every_field() -> None:
    # given a seat whose every field tells its name
    seat: Any = SeatState()
    seat.own = TrainSeat()
    own_names = [name for name in SEAT_FIELDS if name != "own"]
    for part, names in ((seat, own_names), (seat.own, TRAIN_SEAT_FIELDS)):
        for name in names:
            setattr(part, name, [name])
    # when it is copied
    copy = seat.copy()
    # then each of them is there
    for part, names in ((copy, own_names), (copy.own, TRAIN_SEAT_FIELDS)):
        assert [getattr(part, name, None) for name in names] == [[name] for name in names]
