"""The rules of the train games, each in one sentence; and the numbers and choices of a ruleset, as the rule pages list
them.

A game records all of them when it is created, so a replay never depends on today's defaults.
What a ruleset does with them is in services/referee/games.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.contract import Schema, contract
from schemas.field_types import Bool, Int, Slug
from schemas.game_options import (
    ClockMs,
    LeastSeats,
    MostSeats,
    MoveMs,
    PlayOffGames,
    RefusalsKept,
    Strict,
    TurnOrder,
)
from schemas.trains.field_types import Card

TRAIN_RULES: Final[dict[str, str]] = {
    "SETUP-2": "Starting tickets are chosen once, from what was offered.",
    "SETUP-3": "At least the least number of starting tickets is kept.",
    "SETUP-4": "Exactly so many destinations are kept, and a map has enough of them for all seats.",
    "TURN-4": "A seat that can act may not pass, unless it could only build a station.",
    "CARD-1": "A draw is two cards, each from the market or blind from the deck.",
    "CARD-2": "A face-up locomotive is a whole draw: it can't be the second card.",
    "CARD-4": "A card can be drawn only while deck and discard pile have one.",
    "ROUTE-1": "The route is on the board, nobody owns it, and it isn't closed.",
    "ROUTE-2": "As many cards as the route has spaces, of one colour that suits it, locomotives wild.",
    "ROUTE-3": "A seat pays with cards that it holds.",
    "ROUTE-4": "The seat has a train car for every space of the route.",
    "ROUTE-7": 'A "+4" locomotive is wild on long routes only, and a passenger card pays for none.',
    "DOUBLE-1": "One seat never owns two parallel routes.",
    "DOUBLE-2": "At a small table, parallel routes close when one of them is claimed.",
    "FERRY-1": "A ferry is paid with at least as many locomotives as it shows.",
    "TUNNEL-3": "A tunnel that asks for more is paid with exactly that, or declined.",
    "TICKET-1": "Of drawn tickets at least the least number is kept; with none left there is no draw.",
    "TICKET-3": "Where there are several decks of tickets, the draw names how many of each.",
    "STATION-1": "A city holds one station at most, and a seat builds no more than it has.",
    "STATION-2": "Each further station costs a card more, all of one colour, locomotives wild.",
    "STATION-3": "A station borrows a route from a neighbouring city.",
    "PASSENGER-1": "A passenger is placed with a claim, in a city of that route where none stands.",
    "PASSENGER-2": "A passenger moves along claimed routes, each once, paying a card for those of others.",
}


TicketDestination = Literal["bottom", "out", "shuffled", "top"]  # of tickets that are given back
Count = Annotated[Int, Field(ge=0, le=1000)]


@contract()
class RuleOptions:
    """All rule options of one game, each with its meaning. Times are milliseconds; None is 'no such limit'."""

    seats_least: LeastSeats
    seats_most: MostSeats
    order: TurnOrder
    cars: Annotated[
        Int, Field(ge=1, le=100, description="Train cars of each seat.")
    ]  # more would make the longest trail a long search
    cards: Annotated[Mapping[Card, Count], Field(description="The whole deck, by kind.")]
    hand: Annotated[Int, Field(ge=0, le=50, description="Cards that each seat is dealt.")]
    market: Annotated[Int, Field(ge=0, le=10, description="Cards that lie face up.")]
    flush: Annotated[
        Mapping[Card, Annotated[Int, Field(ge=1, le=10)]],
        Field(description="So many of a kind face up sweep the market."),
    ]
    flush_most: Annotated[
        Int, Field(ge=1, le=20, description="Reshuffles for sweeps in a row, at most.")
    ]  # MARKET-2
    start_tickets: Annotated[
        Mapping[Slug, Count], Field(description="Tickets offered at the start, by deck.")
    ]
    start_named: Annotated[
        Int,
        Field(
            ge=0,
            le=10,
            description="Starting tickets in a mix of decks that the seat names; 0: the decks are given.",
        ),
    ]
    start_keep: Annotated[Count, Field(description="How many of them must be kept.")]
    start_keep_most: Annotated[Count | None, Field(description="How many of them may be kept; null: all.")]
    start_return: Annotated[
        TicketDestination, Field(description="Where starting tickets go that are given back.")
    ]  # see docs/reference/rules
    draw_tickets: Annotated[Mapping[Slug, Count], Field(description="Tickets offered later, by deck.")]
    draw_named: Annotated[
        Int,
        Field(
            ge=0,
            le=10,
            description="Later tickets in a mix of decks that the seat names; 0: the decks are given.",
        ),
    ]
    draw_keep: Annotated[Count, Field(description="How many of those must be kept.")]
    pair_tickets: Annotated[
        Annotated[Int, Field(ge=1, le=100)] | None,
        Field(description="Every two cities are a ticket worth this; null: the board's tickets."),
    ]  # every pair of joined cities
    route_points: Annotated[
        tuple[Count | None, ...],
        Field(
            min_length=1, max_length=20, description="Points of a route by its spaces: of 1, of 2, and so on."
        ),
    ]
    points_at_once: Annotated[
        Bool, Field(description="Routes score when they are claimed, else at the end.")
    ]  # ROUTE-6
    parallel_seats: Annotated[
        Int, Field(ge=1, le=9, description="With fewer seats than this, a claim closes the routes beside it.")
    ]  # DOUBLE-2
    parallel_owned: Annotated[
        Bool, Field(description="One seat may own two routes side by side, and none ever closes.")
    ]  # DOUBLE-1
    last_cars: Annotated[
        Count, Field(description="A seat that ends its turn with so few cars begins the last turns.")
    ]  # END-1
    last_turns: Annotated[
        Literal["all", "others"], Field(description="Who has a last turn: all, or all others.")
    ]  # without the seat that began them, or with it
    longest_bonus: Annotated[Count, Field(description="Points for the longest route.")]
    most_tickets_bonus: Annotated[Count, Field(description="Points for the most tickets made.")]
    tunnel_cards: Annotated[
        Int, Field(ge=0, le=10, description="Cards that are turned up for a tunnel.")
    ]  # TUNNEL-1
    station_costs: Annotated[
        tuple[Annotated[Int, Field(ge=1, le=20)], ...],
        Field(
            max_length=4, description="Cards for the first station, the second, and so on; none: no stations."
        ),
    ]
    station_points: Annotated[
        Count, Field(description="Points for each station that isn't built.")
    ]  # SCORE-5
    passengers: Annotated[
        Int, Field(ge=0, le=5, description="Passengers of each seat.")
    ]  # more would make their search long
    merchandise: Annotated[
        Mapping[Slug, Annotated[tuple[Annotated[Int, Field(ge=1, le=50)], ...], Field(max_length=10)]],
        Field(max_length=10, description="The tokens at a city of each colour, the highest first."),
    ]  # MERCH-1
    plus_four_least: Annotated[
        Int, Field(ge=1, le=20, description='Routes of so many spaces and more take a "+4" card.')
    ]  # ROUTE-7
    play_off: PlayOffGames
    clock_ms: ClockMs
    move_ms: MoveMs
    strict: Strict
    refusals_kept: RefusalsKept


RULE_OPTIONS_SCHEMA: Schema[RuleOptions] = Schema(RuleOptions, "options")
