"""What must hold in every game of every ruleset, whoever plays it and however badly."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.field_types import HIDDEN, Seat
from services.referee.rules import RULESETS, GameState, fold, legal, score
from services.referee.rules import board as boards
from services.referee.rules.seat_state import SeatState
from tests.rules.given import everything
from tests.rules.random_games import BOARDS, Play, a_position, cut, games, seats_of

REPEATABLE = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
EVERY_RULESET = pytest.mark.parametrize("rules", RULESETS)
EVERY_BOARD = [(board, seats) for board in boards.board_names() for seats in seats_of(board)]


# -- what holds ------------------------------------------------------------------------


def cards_of(play: Play) -> Counter[str]:
    """Every card of the game, wherever it lies."""
    table = play.table
    cards = Counter(play.out)
    revealed = table.tunnel.revealed if table.tunnel else ()
    for held in (table.deck, (card for card in table.market if card), revealed):
        cards.update(str(card) for card in held)
    for counts in (table.discards, *(place.hand for place in table.seats)):
        assert all(count >= 0 for count in counts.values())
        cards.update({str(card): n for card, n in counts.items()})
    return +cards


def tickets_of(play: Play) -> Counter[str]:
    """Every ticket of the game, wherever it lies."""
    tickets = Counter(play.lost)
    for deck in play.table.ticket_decks.values():
        tickets.update(str(ticket) for ticket in deck)
    for place in play.table.seats:
        tickets.update(str(ticket) for ticket in (*place.tickets, *place.offer))
    return tickets


def tokens_of(play: Play) -> int:
    """The points of all merchandise, taken or not."""
    lying = sum(sum(stack) for stack in play.table.tokens.values())
    return lying + sum(place.merchandise for place in play.table.seats) + play.spent


def count_pieces(play: Play) -> None:
    """No train car, station or passenger appears or disappears; what lies on the board is where its
    owner thinks it is."""
    table, figures = play.table, play.table.rule_options
    assert table.route_owners == {route: s for s, place in enumerate(table.seats) for route in place.routes}
    assert table.station_owners == {city: s for s, place in enumerate(table.seats) for city in place.stations}
    standing = Counter(table.passenger_owners.values())
    for seat, place in enumerate(table.seats):
        laid = sum(table.board.routes[route].length for route in place.routes)
        assert place.cars >= 0
        assert place.cars + laid == figures.cars
        assert len(place.stations) <= len(figures.station_costs)
        assert place.passengers_left >= 0
        if table.position_starter is None:
            assert place.passengers_left + standing[seat] + play.travelled[seat] == figures.passengers


def play_and_count(play: Play) -> None:
    cards, tickets, tokens = cards_of(play), tickets_of(play), tokens_of(play)
    table = play.table
    if table.position_starter is None:
        assert cards == +Counter(table.rule_options.cards)
        dealt = {*table.rule_options.start_tickets, *table.rule_options.draw_tickets}
        assert tickets == Counter(t.id for t in table.board.tickets.values() if t.deck in dealt)
    for _ in play.steps():
        assert (cards_of(play), tickets_of(play), tokens_of(play)) == (cards, tickets, tokens)
        count_pieces(play)
    assert table.result
    assert table.result.scores == score(table)
    for counted, place in zip(table.result.scores, table.seats, strict=True):
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
        if table.rule_options.points_at_once and table.position_starter is None:
            assert counted.routes == place.points


@EVERY_RULESET
def test_cards_cars_tickets_and_all_else_are_conserved_and_every_game_ends(rules: str) -> None:
    @settings(REPEATABLE, max_examples=25)
    @given(games[rules])
    def holds(play: Play) -> None:
        play_and_count(play)

    holds()


@pytest.mark.parametrize(("board", "seats"), EVERY_BOARD)
def test_every_board_is_played_to_the_end_by_every_number_of_seats(board: str, seats: int) -> None:
    play = Play(Random(f"{board} {seats}"), board, seats)
    play_and_count(play)
    for viewer, view in play.views.items():
        compare(viewer, view, play.table)
    assert everything(fold(play.log)) == everything(play.table)


@EVERY_RULESET
def test_the_log_folds_to_the_referees_own_table(rules: str) -> None:
    @settings(REPEATABLE, max_examples=10)
    @given(games[rules])
    def holds(play: Play) -> None:
        for number in play.steps():
            if number % 60 == 0:
                assert everything(fold(play.log)) == everything(play.table)
        half = fold(play.log[: len(play.log) // 2])
        assert everything(fold(play.log[len(play.log) // 2 :], half)) == everything(play.table)

    holds()


@EVERY_RULESET
def test_a_position_that_is_laid_is_the_one_that_was_given(rules: str) -> None:
    @settings(REPEATABLE, max_examples=6)
    @given(st.randoms(use_true_random=True), st.sampled_from(BOARDS[rules]))
    def holds(dice: Random, board: str) -> None:
        seats = dice.choice(seats_of(board))
        position = a_position(dice, board, seats)
        play = Play(dice, board, seats, wish_for={"position": position})
        assert cut(play.table) == position
        assert set(play.table.pending_choices) == {position.turn}

    holds()


# -- views -----------------------------------------------------------------------------

OPEN_TO_ALL = (
    "at_ms", "pending_choices", "next_play_off", "closes_parallels", "commitment", "created_at_ms", "discards", "in_last_turns", "epoch", "rule_options",
    "fork_origin", "game", "seed_was_named", "position_starter", "seats_with_last_turn", "market", "fork_turn_state", "open_routes", "opened_at_ms", "turn_order", "result", "route_owners", "seats_passed", "passenger_owners", "play_off",
    "ruleset", "started", "station_owners", "setup_digest", "tokens", "tunnel", "turn", "board",
)  # fmt: skip
NOT_AS_IT_IS = {"deck", "shuffle_key", "seats", "refusal_counts", "seed", "ticket_decks"}
OPEN_OF_A_SEAT = (
    "age", "blocked_parallels", "cars", "start_tickets_chosen", "clock_ms", "contribution", "exit_reason", "kind", "min_keep", "merchandise", "name",
    "passengers_left", "points", "policy", "routes", "stations", "is_seated", "deadline_ms",
)  # fmt: skip
OWN = ("hand", "seat_secret", "requested_mix", "offer", "tickets")


def test_everything_on_a_table_is_compared() -> None:
    assert {*OPEN_TO_ALL, *NOT_AS_IT_IS} == set(GameState.__slots__)
    assert {*OPEN_OF_A_SEAT, *OWN} == set(SeatState.__slots__)


def compare(viewer: Seat | None, view: GameState, table: GameState) -> None:
    """The viewer's table has all that the viewer may know, rightly, and nothing else."""
    told, true = everything(view), everything(table)
    assert [told[name] for name in OPEN_TO_ALL] == [true[name] for name in OPEN_TO_ALL]
    assert view.seed == (table.seed if table.result else None)
    assert view.shuffle_key == ""
    assert view.deck == [HIDDEN] * len(table.deck)
    for deck, tickets in table.ticket_decks.items():
        known = view.ticket_decks[deck]
        assert len(known) == len(tickets)
        assert all(ticket in (HIDDEN, real) for ticket, real in zip(known, tickets, strict=True))
    assert view.refusal_counts.get(viewer, 0) == table.refusal_counts.get(viewer, 0)
    for seat, (shown, real) in enumerate(zip(told["seats"], true["seats"], strict=True)):
        names = (*OPEN_OF_A_SEAT, *OWN) if seat == viewer else OPEN_OF_A_SEAT
        assert [shown[name] for name in names] == [real[name] for name in names]
        assert view.seats[seat].cards == table.seats[seat].cards
        if seat != viewer:
            assert shown["seat_secret"] is None
            assert shown["tickets"] == (real["tickets"] if table.result else [HIDDEN] * len(real["tickets"]))
            assert shown["offer"] == [HIDDEN] * len(real["offer"])
            assert shown["requested_mix"] == (None if real["requested_mix"] is None else {})


@EVERY_RULESET
def test_a_viewers_fold_agrees_with_the_table_on_all_that_the_viewer_may_know(rules: str) -> None:
    @settings(REPEATABLE, max_examples=12)
    @given(games[rules])
    def holds(play: Play) -> None:
        for number in play.steps():
            if number < 10 or number % 8 == 0 or play.table.result:
                for viewer, view in play.views.items():
                    compare(viewer, view, play.table)

    holds()


@EVERY_RULESET
def test_what_is_legal_follows_from_the_seats_own_view(rules: str) -> None:
    @settings(REPEATABLE, max_examples=12)
    @given(games[rules])
    def holds(play: Play) -> None:
        for _ in play.steps():
            for seat in range(play.seats):
                assert legal(play.views[seat], seat) == legal(play.table, seat)

    holds()
