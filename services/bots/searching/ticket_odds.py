"""How likely another seat is to hold a ticket, by the routes that all see it own: those lead to the ticket's cities.

Fitted (a multinomial logit) to games of planners on the board `usa`, each at several moments; where others have few
routes yet, little follows from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Final

from services.bots.planning.board_graph import UNREACHABLE, least_costs
from services.bots.searching.compact_game import FREE, CompactGame
from services.bots.searching.compact_rules import TicketEnds

PER_END: Final = 1.95  # for each city of the ticket to which one of its routes leads
PER_WAY: Final = 1.2  # for the share of the way that is done
PER_POINT: Final = 0.06  # long tickets are kept rather
WHEN_MADE: Final = (
    1.9  # for a ticket that is made; this and the next in proportion to the cars that the seat has used
)
PER_MISSING_CAR: Final = -0.15
MOST_MISSING: Final = 20.0  # cars


def ticket_odds(game: CompactGame, seat: int, tickets: Sequence[TicketEnds]) -> list[float]:
    """By ticket how likely the seat holds it, of any sum. Of `game` only what all see is read."""
    graph, owners = game.rules.graph, game.owners
    lengths = [float(length) for length in graph.lengths]
    costs = [
        0.0 if owner == seat else length if owner == FREE else UNREACHABLE
        for owner, length in zip(owners, lengths, strict=True)
    ]
    cities = {city for route in game.routes[seat] for city in graph.ends[route]}
    laid = sum([lengths[route] for route in game.routes[seat]], 0.0)
    used = laid / max(1.0, laid + game.cars[seat])
    starts = {ticket.a for ticket in tickets}
    all_before = {start: least_costs(graph, lengths, start) for start in starts}
    all_missing = {start: least_costs(graph, costs, start) for start in starts}
    odds = list[float]()
    for ticket in tickets:
        before, missing = all_before[ticket.a][ticket.b], all_missing[ticket.a][ticket.b]
        ends = (ticket.a in cities) + (ticket.b in cities)
        way = max(0.0, 1 - missing / before) if before else 0.0
        late = WHEN_MADE if missing == 0 else PER_MISSING_CAR * min(missing, MOST_MISSING)
        odds.append(exp(PER_END * ends + PER_WAY * way + PER_POINT * ticket.points + used * late))
    return odds
