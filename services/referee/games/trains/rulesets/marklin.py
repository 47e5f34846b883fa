"""The Germany game: passengers, merchandise, "+4" locomotives, short and long tickets."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from services.referee.games.state import ACTION
from services.referee.games.trains.moves.cards import DRAW_BLIND, DRAW_MARKET
from services.referee.games.trains.moves.passengers import MOVE_PASSENGER
from services.referee.games.trains.moves.payment import (
    one_colour_with_plus_four_payable,
    require_long_route_for_plus_four,
    require_one_colour_with_plus_four,
)
from services.referee.games.trains.moves.routes import CLAIM_ROUTE_WITH_PASSENGER
from services.referee.games.trains.moves.tickets import DRAW_MIX, NAME_TICKETS
from services.referee.games.trains.moves.turns import PASS
from services.referee.games.trains.pending_choices import MIX
from services.referee.games.trains.rulesets.usa import RULE_OPTIONS as USA_RULE_OPTIONS
from services.referee.games.trains.rulesets.usa import USA
from services.referee.games.trains.scoring import merchandise_total, most_tickets_made
from services.referee.games.trains.setup.deal import ask_for_mixes, continue_after_all_mixes
from services.referee.games.trains.setup.validation import require_tickets_for_mixes

RULE_OPTIONS: Final = replace(
    USA_RULE_OPTIONS,
    cards={**dict.fromkeys(COLORS, 11), LOCOMOTIVE: 14, PLUS_FOUR: 6, PASSENGER: 10},
    flush={LOCOMOTIVE: 3, PASSENGER: 3},
    start_tickets={"short": 4, "long": 4},
    start_named=4,
    start_return="shuffled",
    draw_tickets={"short": 4, "long": 4},
    draw_named=4,
    route_points=(1, 2, 4, 7, 10, 15, 18),
    longest_bonus=0,
    most_tickets_bonus=10,
    passengers=3,
    merchandise={"black": (7, 6, 5, 4), "red": (4, 3, 2), "yellow": (3, 2, 1), "white": (2,)},
    plus_four_least=4,
)

MARKLIN: Final = replace(
    USA,
    name="marklin",
    rule_options=RULE_OPTIONS,
    moves={
        **USA.moves,
        MIX: (NAME_TICKETS,),
        ACTION: (DRAW_BLIND, DRAW_MARKET, DRAW_MIX, CLAIM_ROUTE_WITH_PASSENGER, MOVE_PASSENGER, PASS),
    },
    default_board="germany",
    parts=replace(
        USA.parts,
        deal=ask_for_mixes,
        after_start_choice=continue_after_all_mixes,
        require_enough_tickets=require_tickets_for_mixes,
        find_payable_routes=one_colour_with_plus_four_payable,
        payment_checks=(require_long_route_for_plus_four, require_one_colour_with_plus_four),
        tie_breaks=(most_tickets_made, merchandise_total),
    ),
)
