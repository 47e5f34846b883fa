"""What each rule option means, in words for people who make a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, str]] = {
    "seats_least": "The fewest seats that a table may have.",
    "seats_most": "The most seats that a table may have.",
    "order": "Who begins: the turns go by seat, or by age from the oldest or the youngest.",
    "cars": "Train cars of each seat.",
    "cards": "The whole deck, by kind.",
    "hand": "Cards that each seat is dealt.",
    "market": "Cards that lie face up.",
    "flush": "So many of a kind face up sweep the market.",
    "flush_most": "Reshuffles for sweeps in a row, at most.",
    "start_tickets": "Tickets offered at the start, by deck.",
    "start_named": "Starting tickets in a mix of decks that the seat names; 0: the decks are given.",
    "start_keep": "How many of them must be kept.",
    "start_keep_most": "How many of them may be kept; null: all.",
    "start_return": "Where starting tickets go that are given back.",
    "draw_tickets": "Tickets offered later, by deck.",
    "draw_named": "Later tickets in a mix of decks that the seat names; 0: the decks are given.",
    "draw_keep": "How many of those must be kept.",
    "pair_tickets": "Every two cities are a ticket worth this; null: the board's tickets.",
    "route_points": "Points of a route by its spaces: of 1, of 2, and so on.",
    "points_at_once": "Routes score when they are claimed, else at the end.",
    "parallel_seats": "With fewer seats than this, a claim closes the routes beside it.",
    "parallel_owned": "One seat may own two routes side by side, and none ever closes.",
    "last_cars": "A seat that ends its turn with so few cars begins the last turns.",
    "last_turns": "Who has a last turn: all, or all others.",
    "longest_bonus": "Points for the longest route.",
    "most_tickets_bonus": "Points for the most tickets made.",
    "tunnel_cards": "Cards that are turned up for a tunnel.",
    "station_costs": "Cards for the first station, the second, and so on; none: no stations.",
    "station_points": "Points for each station that isn't built.",
    "passengers": "Passengers of each seat.",
    "merchandise": "The tokens at a city of each colour, the highest first.",
    "plus_four_least": 'Routes of so many spaces and more take a "+4" card.',
    "play_off": "A shared first place is played off in the best of so many games; 0: it stays shared.",
    "clock_ms": "Milliseconds of each seat for the whole game; null: no such limit.",
    "move_ms": "Milliseconds for one move; null: no such limit, and a game that nobody plays on never ends.",
    "strict": "An illegal command removes its seat.",
    "refusals_kept": "Refused commands of a seat that are kept in the log, each turn.",
}
