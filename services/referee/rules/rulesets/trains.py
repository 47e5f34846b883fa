"""The referee/player game "Trains": connections by colour, destinations, strict conduct."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from services.referee.rules.moves.requests import REQUEST_CARDS
from services.referee.rules.moves.routes import CLAIM_ROUTE
from services.referee.rules.moves.tickets import KEEP_TICKETS, give_back
from services.referee.rules.moves.turns import PASS
from services.referee.rules.rulesets.usa import FIGURES as USA_FIGURES
from services.referee.rules.rulesets.usa import USA
from services.referee.rules.search.longest_path import longest_path
from services.referee.rules.setup.deal import offer_to_first, when_the_seat_has_chosen
from services.referee.rules.setup.validation import enough_in_turn
from services.referee.rules.table import ACTION, TICKETS

FIGURES: Final = replace(
    USA_FIGURES,
    seats_most=8,
    order="age",
    cards={"red": 63, "blue": 63, "green": 62, "white": 62},
    market=0,
    flush={},
    start_tickets={"regular": 5},
    start_keep=2,
    start_keep_most=2,
    start_return="shuffled",
    draw_tickets={},
    draw_keep=0,
    pair_tickets=10,
    route_points=tuple(range(1, 21)),
    points_at_once=False,
    parallel_owned=True,
    last_turns="others",
    longest_bonus=20,
    strict=True,
)

TRAINS: Final = replace(
    USA,
    name="trains",
    board="iberia",
    figures=FIGURES,
    policies=USA.policies | {"hold-10", "buy-now"},
    moves={ACTION: (REQUEST_CARDS, CLAIM_ROUTE, PASS), TICKETS: (KEEP_TICKETS,)},
    setup=offer_to_first,
    unchosen=give_back,
    chosen=when_the_seat_has_chosen,
    tickets_suffice=enough_in_turn,
    longest=longest_path,
    tie_breaks=(),
)
