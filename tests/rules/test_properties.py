"""What must hold in every game, whoever plays it and however badly."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, settings

from schemas.commands import ClaimRoute, Command, DrawMarket, DrawTickets, KeepTickets
from schemas.refusals import Refused
from schemas.words import HIDDEN, Seat
from services.referee.rules import Table, decide, fold, legal, score
from tests.rules.given import everything
from tests.rules.random_games import SMALL_DECK, Play, games, pool

REPEATABLE = settings(
    derandomize=True, deadline=None, max_examples=80, suppress_health_check=list(HealthCheck)
)


# -- what holds ------------------------------------------------------------------------


def count_everything(play: Play) -> None:
    """No card, ticket or train car appears or disappears."""
    table = play.table
    cards = Counter(play.out)
    for held in (table.deck, (card for card in table.market if card)):
        cards.update(str(card) for card in held)
    for counts in (table.discards, *(place.hand for place in table.places)):
        assert all(count >= 0 for count in counts.values())
        cards.update({str(card): n for card, n in counts.items()})
    assert +cards == Counter(table.figures.cards)
    assert cards.total() == (110 if "cards" not in play.options else sum(SMALL_DECK.values()))
    tickets = [ticket for deck in table.ticket_decks.values() for ticket in deck]
    for place in table.places:
        tickets += [*place.tickets, *place.offer]
        laid = sum(table.board.routes[route].length for route in place.routes)
        assert place.cars >= 0
        assert place.cars + laid == table.figures.cars
    assert len(tickets) == len(set(tickets)) <= 30
    if not any(place.gone == "removed" for place in table.places):
        assert len(tickets) == 30


@REPEATABLE
@given(games)
def test_cards_cars_and_tickets_are_conserved_and_every_game_ends(play: Play) -> None:
    for _ in play.steps():
        count_everything(play)
    for counted, place in zip(score(play.table), play.table.places, strict=True):
        assert counted.routes == place.points
    assert play.table.over
    assert play.table.over.scores == score(play.table)


@REPEATABLE
@given(games)
def test_the_log_folds_to_the_referees_own_table(play: Play) -> None:
    for number in play.steps():
        if number % 40 == 0:
            assert everything(fold(play.log)) == everything(play.table)
    half = fold(play.log[: len(play.log) // 2])
    assert everything(fold(play.log[len(play.log) // 2 :], half)) == everything(play.table)


# -- views -----------------------------------------------------------------------------

OPEN_TO_ALL = (
    "at", "awaits", "closing", "commitment", "created", "discards", "ending", "epoch", "figures",
    "game", "last", "market", "open", "over", "owners", "passed", "started", "turn",
)  # fmt: skip
OPEN_OF_A_SEAT = (
    "barred", "cars", "clock_ms", "gone", "kind", "least", "name", "points", "policy", "routes", "taken",
)  # fmt: skip
OWN = ("hand", "luck", "offer", "tickets")


def compare(viewer: Seat | None, view: Table, table: Table) -> None:
    """The viewer's table has all that the viewer may know, rightly, and nothing else."""
    told, true = everything(view), everything(table)
    assert [told[name] for name in OPEN_TO_ALL] == [true[name] for name in OPEN_TO_ALL]
    assert view.board is table.board
    assert view.seed is None
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
        assert len(shown["tickets"]) == len(real["tickets"])
        assert len(shown["offer"]) == len(real["offer"])
        if seat != viewer:
            assert shown["luck"] is None
            assert shown["tickets"] == (real["tickets"] if table.over else [HIDDEN] * len(real["tickets"]))
            assert shown["offer"] == [HIDDEN] * len(real["offer"])


@REPEATABLE
@given(games)
def test_a_viewers_fold_agrees_with_the_table_on_all_that_the_viewer_may_know(play: Play) -> None:
    for number in play.steps():
        if number % 5 == 0 or play.table.over:
            for viewer, view in play.views.items():
                compare(viewer, view, play.table)


@REPEATABLE
@given(games)
def test_what_is_legal_follows_from_the_seats_own_view(play: Play) -> None:
    for _ in play.steps():
        for seat in range(play.seats):
            assert legal(play.views[seat], seat) == legal(play.table, seat)


# -- legal = what decide accepts -------------------------------------------------------


def meaning(table: Table, command: Command) -> object:
    """What a command comes down to, whichever way it is put."""
    if isinstance(command, DrawMarket):
        lies = command.color in table.market if command.slot is None else command.slot < len(table.market)
        slot = table.market.index(command.color) if command.slot is None and lies else command.slot
        return ("market", slot if lies else None)
    if isinstance(command, KeepTickets):
        return ("keep", tuple(sorted(command.keep)))
    if isinstance(command, ClaimRoute):
        return ("claim", command.route, frozenset(command.cards.items()))
    return command.type if command != DrawTickets({"regular": 3}) else "no such draw"


def accepts(table: Table, seat: Seat, command: Command) -> bool:
    try:
        return bool(decide(table, seat, command))
    except Refused:
        return False


def check_legal(play: Play) -> None:
    table = play.table
    for seat in range(play.seats):
        listed = legal(table, seat)
        meanings = {meaning(table, command) for command in listed}
        assert len(meanings) == len(listed)
        for command in play.dice.sample(listed, min(len(listed), 60)):
            assert accepts(table, seat, command), command
        for command in pool(play.dice, table):
            assert accepts(table, seat, command) == (meaning(table, command) in meanings), command


@settings(REPEATABLE, max_examples=50)
@given(games)
def test_what_is_legal_is_what_decide_accepts(play: Play) -> None:
    table, when = play.table, {0, 1, *(play.dice.randrange(200) for _ in range(4))}
    for number in play.steps():
        if number in when:
            before = everything(table)
            check_legal(play)
            assert everything(table) == before
