"""The referee/player game "Trains": connections by colour, destinations, strict conduct."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from services.referee.games.state import ACTION
from services.referee.games.trains.moves.requests import REQUEST_CARDS
from services.referee.games.trains.moves.routes import CLAIM_ROUTE
from services.referee.games.trains.moves.tickets import KEEP_TICKETS
from services.referee.games.trains.moves.turns import PASS
from services.referee.games.trains.pending_choices import TICKETS
from services.referee.games.trains.rulesets.usa import RULE_OPTIONS as USA_RULE_OPTIONS
from services.referee.games.trains.rulesets.usa import USA
from services.referee.games.trains.search.longest_path import longest_path
from services.referee.games.trains.setup.deal import (
    continue_after_seat_choice,
    offer_to_first,
    return_on_top,
)
from services.referee.games.trains.setup.validation import require_connections, require_tickets_in_turn

RULE_OPTIONS: Final = replace(
    USA_RULE_OPTIONS,
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
    rule_options=RULE_OPTIONS,
    bot_policies=USA.bot_policies | {"hold-10", "buy-now"},
    moves={ACTION: (REQUEST_CARDS, CLAIM_ROUTE, PASS), TICKETS: (KEEP_TICKETS,)},
    default_board="iberia",
    parts=replace(
        USA.parts,
        deal=offer_to_first,
        return_untaken=return_on_top,
        after_start_choice=continue_after_seat_choice,
        require_board=require_connections,
        require_enough_tickets=require_tickets_in_turn,
        measure_longest=longest_path,
        tie_breaks=(),
    ),
)
