"""The North America game: routes, tickets and the longest trail."""

from __future__ import annotations

from typing import Final

from schemas.parameters import Parameters
from schemas.words import COLORS, LOCOMOTIVE
from services.referee.rules.moves.cards import DRAW_BLIND, DRAW_MARKET
from services.referee.rules.moves.market import fill_market
from services.referee.rules.moves.routes import CLAIM_ROUTE, one_colour_payable, one_colour_pays
from services.referee.rules.moves.setup import deal_hands, offer_starting_tickets
from services.referee.rules.moves.tickets import DRAW_TICKETS, KEEP_TICKETS
from services.referee.rules.moves.turns import PASS
from services.referee.rules.ruleset import Facts, Ruleset
from services.referee.rules.scoring import holds_longest, most_tickets_made
from services.referee.rules.table import ACTION, SECOND_CARD, TICKETS, Table
from services.referee.rules.trails import longest_trail

FIGURES: Final = Parameters(
    seats_least=2,
    seats_most=5,
    cars=45,
    cards={**dict.fromkeys(COLORS, 12), LOCOMOTIVE: 14},
    hand=4,
    market=5,
    flush={LOCOMOTIVE: 3},
    flush_most=5,
    start_tickets={"regular": 3},
    start_keep=2,
    draw_tickets={"regular": 3},
    draw_keep=1,
    route_points=(1, 2, 4, 7, 10, 15),
    parallel_seats=4,
    last_cars=2,
    longest_bonus=10,
    clock_ms=None,
    strict=False,
    refusals_kept=20,
)


def setup(table: Table) -> Facts:
    """Hands, then the market, then tickets to choose from (SETUP-1, SETUP-2)."""
    yield from deal_hands(table)
    yield from fill_market(table)
    yield from offer_starting_tickets(table)


USA: Final = Ruleset(
    name="usa",
    version=1,
    board="usa",
    figures=FIGURES,
    moves={
        ACTION: (DRAW_BLIND, DRAW_MARKET, DRAW_TICKETS, CLAIM_ROUTE, PASS),
        SECOND_CARD: (DRAW_BLIND, DRAW_MARKET),
        TICKETS: (KEEP_TICKETS,),
    },
    setup=setup,
    payable=one_colour_payable,
    pays=one_colour_pays,
    longest=longest_trail,
    tie_breaks=(most_tickets_made, holds_longest),
)
