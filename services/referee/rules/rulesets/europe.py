"""The AI-MAS competition's Europe game: ferries, tunnels, stations and clocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from services.referee.rules.moves.payment import ferries_take_locomotives, one_colour
from services.referee.rules.moves.stations import BUILD_STATION
from services.referee.rules.moves.tunnels import DECLINE_TUNNEL, PAY_TUNNEL
from services.referee.rules.rulesets.usa import FIGURES as USA_FIGURES
from services.referee.rules.rulesets.usa import USA
from services.referee.rules.scoring import longest_bonus, points_of_stations, points_of_tickets_made
from services.referee.rules.table import ACTION, TUNNEL

FIGURES: Final = replace(
    USA_FIGURES,
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
    board="europe",
    figures=FIGURES,
    kinds=frozenset({"rail", "ferry", "tunnel"}),
    moves={
        **USA.moves,
        ACTION: (*USA.moves[ACTION], BUILD_STATION),
        TUNNEL: (PAY_TUNNEL, DECLINE_TUNNEL),
    },
    payment=(one_colour, ferries_take_locomotives),
    tie_breaks=(points_of_tickets_made, points_of_stations, longest_bonus),
)
