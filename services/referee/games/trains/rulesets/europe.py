"""The AI-MAS competition's Europe game: ferries, tunnels, stations and clocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from services.referee.games.state import ACTION
from services.referee.games.trains.moves.market import shuffle_all_together
from services.referee.games.trains.moves.payment import require_ferry_locomotives, require_one_colour
from services.referee.games.trains.moves.stations import BUILD_STATION
from services.referee.games.trains.moves.tunnels import DECLINE_TUNNEL, PAY_TUNNEL
from services.referee.games.trains.pending_choices import TUNNEL
from services.referee.games.trains.rulesets.usa import RULE_OPTIONS as USA_RULE_OPTIONS
from services.referee.games.trains.rulesets.usa import USA
from services.referee.games.trains.scoring import longest_bonus, points_of_stations, points_of_tickets_made

RULE_OPTIONS: Final = replace(
    USA_RULE_OPTIONS,
    start_tickets={"long": 1, "regular": 3},
    start_return="out",
    route_points=(1, 2, 4, 7, None, 15, None, 21),
    tunnel_cards=3,
    station_costs=(1, 2, 3),
    station_points=4,
    play_off=5,
    clock_ms=120_000,
)

EUROPE: Final = replace(
    USA,
    name="europe",
    rule_options=RULE_OPTIONS,
    moves={
        **USA.moves,
        ACTION: (*USA.moves[ACTION], BUILD_STATION),
        TUNNEL: (PAY_TUNNEL, DECLINE_TUNNEL),
    },
    default_board="europe",
    parts=replace(
        USA.parts,
        route_kinds=frozenset({"rail", "ferry", "tunnel"}),
        rebuild_deck=shuffle_all_together,
        payment_checks=(require_one_colour, require_ferry_locomotives),
        tie_breaks=(points_of_tickets_made, points_of_stations, longest_bonus),
    ),
)
