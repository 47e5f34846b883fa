"""How likely another seat is to hold a ticket, by the routes that all see it own: those lead to the ticket's cities.

Fitted (a multinomial logit) to games of planners, each at several moments; where others have few routes yet,
little follows from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Final

from services.bots.planning.board_graph import UNREACHABLE, shortest_path
from services.bots.searching.compact_game import FREE, CompactGame
from services.bots.searching.compact_rules import TicketEnds

PER_END: Final = 1.65  # that one of its routes has an end in a city of the ticket
PER_WAY: Final = 1.6  # for the share of the cars that it needs no more: 1 where the ticket is made
PER_POINT: Final = 0.06  # long tickets are kept rather


def ticket_odds(game: CompactGame, seat: int, tickets: Sequence[TicketEnds]) -> list[float]:
    """By ticket how likely the seat holds it, of any sum. Of `game` only what all see is read."""
    graph, owners = game.rules.graph, game.owners
    lengths = [float(length) for length in graph.lengths]
    costs = [
        0.0 if owner == seat else length if owner == FREE else UNREACHABLE
        for owner, length in zip(owners, lengths, strict=True)
    ]
    cities = {city for route in game.routes[seat] for city in graph.ends[route]}
    odds = list[float]()
    for ticket in tickets:
        before, _ = shortest_path(graph, lengths, ticket.a, ticket.b)
        after, _ = shortest_path(graph, costs, ticket.a, ticket.b)
        way = max(0.0, 1 - after / before) if before else 0.0
        ends = (ticket.a in cities) + (ticket.b in cities)
        odds.append(exp(PER_END * ends + PER_WAY * way + PER_POINT * ticket.points))
    return odds
