"""What must hold in every game of every ruleset, whoever plays it and however badly."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.field_types import HIDDEN, Seat
from services.referee.rules import RULESETS, Table, fold, legal, score
from services.referee.rules import board as boards
from services.referee.rules.table import Place
from tests.rules.given import everything
from tests.rules.random_games import BOARDS, Play, a_position, cut, games, seats_of

REPEATABLE = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
EVERY_RULESET = pytest.mark.parametrize("rules", RULESETS)
EVERY_BOARD = [(board, seats) for board in boards.names() for seats in seats_of(board)]


# -- what holds ------------------------------------------------------------------------


def cards_of(play: Play) -> Counter[str]:
    """Every card of the game, wherever it lies."""
    table = play.table
    cards = Counter(play.out)
    revealed = table.tunnel.revealed if table.tunnel else ()
    for held in (table.deck, (card for card in table.market if card), revealed):
        cards.update(str(card) for card in held)
    for counts in (table.discards, *(place.hand for place in table.places)):
        assert all(count >= 0 for count in counts.values())
        cards.update({str(card): n for card, n in counts.items()})
    return +cards


def tickets_of(play: Play) -> Counter[str]:
    """Every ticket of the game, wherever it lies."""
    tickets = Counter(play.lost)
    for deck in play.table.ticket_decks.values():
        tickets.update(str(ticket) for ticket in deck)
    for place in play.table.places:
        tickets.update(str(ticket) for ticket in (*place.tickets, *place.offer))
    return tickets


def tokens_of(play: Play) -> int:
    """The points of all merchandise, taken or not."""
    lying = sum(sum(stack) for stack in play.table.tokens.values())
    return lying + sum(place.merchandise for place in play.table.places) + play.spent


def count_pieces(play: Play) -> None:
    """No train car, station or passenger appears or disappears; what lies on the board is where its
    owner thinks it is."""
    table, figures = play.table, play.table.figures
    assert table.owners == {route: s for s, place in enumerate(table.places) for route in place.routes}
    assert table.stations == {city: s for s, place in enumerate(table.places) for city in place.stations}
    standing = Counter(table.passengers.values())
    for seat, place in enumerate(table.places):
        laid = sum(table.board.routes[route].length for route in place.routes)
        assert place.cars >= 0
        assert place.cars + laid == figures.cars
        assert len(place.stations) <= len(figures.station_costs)
        assert place.passengers >= 0
        if table.laid is None:
            assert place.passengers + standing[seat] + play.travelled[seat] == figures.passengers


def play_and_count(play: Play) -> None:
    cards, tickets, tokens = cards_of(play), tickets_of(play), tokens_of(play)
    table = play.table
    if table.laid is None:
        assert cards == +Counter(table.figures.cards)
        dealt = {*table.figures.start_tickets, *table.figures.draw_tickets}
        assert tickets == Counter(t.id for t in table.board.tickets.values() if t.deck in dealt)
    for _ in play.steps():
        assert (cards_of(play), tickets_of(play), tokens_of(play)) == (cards, tickets, tokens)
        count_pieces(play)
    assert table.over
    assert table.over.scores == score(table)
    for counted, place in zip(table.over.scores, table.places, strict=True):
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
        if table.figures.points_at_once and table.laid is None:
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
        assert set(play.table.awaits) == {position.turn}

    holds()


# -- views -----------------------------------------------------------------------------

OPEN_TO_ALL = (
    "at", "awaits", "called", "closing", "commitment", "created", "discards", "ending", "epoch", "figures",
    "forked", "game", "given", "laid", "last", "market", "moment", "open", "opened", "order", "over", "owners", "passed", "passengers", "play_off",
    "rules", "started", "stations", "terms", "tokens", "tunnel", "turn", "board",
)  # fmt: skip
NOT_AS_IT_IS = {"deck", "key", "places", "refusals", "seed", "ticket_decks"}
OPEN_OF_A_SEAT = (
    "age", "barred", "cars", "chosen", "clock_ms", "contribution", "gone", "kind", "least", "merchandise", "name",
    "passengers", "points", "policy", "routes", "stations", "taken", "until",
)  # fmt: skip
OWN = ("hand", "luck", "mix", "offer", "tickets")


def test_everything_on_a_table_is_compared() -> None:
    assert {*OPEN_TO_ALL, *NOT_AS_IT_IS} == set(Table.__slots__)
    assert {*OPEN_OF_A_SEAT, *OWN} == set(Place.__slots__)


def compare(viewer: Seat | None, view: Table, table: Table) -> None:
    """The viewer's table has all that the viewer may know, rightly, and nothing else."""
    told, true = everything(view), everything(table)
    assert [told[name] for name in OPEN_TO_ALL] == [true[name] for name in OPEN_TO_ALL]
    assert view.seed == (table.seed if table.over else None)
    assert view.key == ""
    assert view.deck == [HIDDEN] * len(table.deck)
    for deck, tickets in table.ticket_decks.items():
        known = view.ticket_decks[deck]
        assert len(known) == len(tickets)
        assert all(ticket in (HIDDEN, real) for ticket, real in zip(known, tickets, strict=True))
    assert view.refusals.get(viewer, 0) == table.refusals.get(viewer, 0)
    for seat, (shown, real) in enumerate(zip(told["places"], true["places"], strict=True)):
        names = (*OPEN_OF_A_SEAT, *OWN) if seat == viewer else OPEN_OF_A_SEAT
        assert [shown[name] for name in names] == [real[name] for name in names]
        assert view.places[seat].cards == table.places[seat].cards
        if seat != viewer:
            assert shown["luck"] is None
            assert shown["tickets"] == (real["tickets"] if table.over else [HIDDEN] * len(real["tickets"]))
            assert shown["offer"] == [HIDDEN] * len(real["offer"])
            assert shown["mix"] == (None if real["mix"] is None else {})


@EVERY_RULESET
def test_a_viewers_fold_agrees_with_the_table_on_all_that_the_viewer_may_know(rules: str) -> None:
    @settings(REPEATABLE, max_examples=12)
    @given(games[rules])
    def holds(play: Play) -> None:
        for number in play.steps():
            if number < 10 or number % 8 == 0 or play.table.over:
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
