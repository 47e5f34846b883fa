"""The numbers and choices of a ruleset, as the rule pages list them.

A game records all of them when it is created, so a replay never depends on today's defaults.
What a ruleset does with them is in services/referee/games.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from schemas.contract import Schema, contract
from schemas.field_types import Bool, Card, Int, Slug

TicketDestination = Literal["bottom", "out", "shuffled", "top"]  # of tickets that are given back
Count = Annotated[Int, Field(ge=0, le=1000)]


@contract()
class RuleOptions:
    """All rule options of one game. Times are milliseconds; None is 'no such limit'."""

    seats_least: Annotated[Int, Field(ge=1, le=8)]
    seats_most: Annotated[Int, Field(ge=1, le=8)]
    order: Literal["seated", "age", "youngest"]  # of the turns: by seat, or by age, oldest or youngest first
    cars: Annotated[Int, Field(ge=1, le=100)]  # more would make the longest trail a long search
    cards: Mapping[Card, Count]  # the whole deck, by kind
    hand: Annotated[Int, Field(ge=0, le=50)]  # cards dealt to each seat
    market: Annotated[Int, Field(ge=0, le=10)]  # cards face up
    flush: Mapping[Card, Annotated[Int, Field(ge=1, le=10)]]  # this many of a kind flush the market
    flush_most: Annotated[Int, Field(ge=1, le=20)]  # reshuffles for flushes in a row (MARKET-2)
    start_tickets: Mapping[Slug, Count]  # offered at the start, by deck
    start_named: Annotated[
        Int, Field(ge=0, le=10)
    ]  # so many, in a mix the seat names; 0: as start_tickets says
    start_keep: Count  # at least
    start_keep_most: Count | None
    start_return: TicketDestination  # where those given back go: see docs/rules
    draw_tickets: Mapping[Slug, Count]  # offered by a later draw, by deck
    draw_named: Annotated[Int, Field(ge=0, le=10)]
    draw_keep: Count
    # Every pair of joined cities is a ticket worth this.
    pair_tickets: Annotated[Int, Field(ge=1, le=100)] | None
    route_points: Annotated[
        tuple[Count | None, ...], Field(min_length=1, max_length=20)
    ]  # of length 1, 2, ..
    points_at_once: Bool  # routes score when claimed, not at the end (ROUTE-6)
    parallel_seats: Annotated[Int, Field(ge=1, le=9)]  # with fewer seats parallels close (DOUBLE-2)
    parallel_owned: Bool  # one seat may own two parallel routes, and none ever closes (DOUBLE-1)
    last_cars: Count  # a seat that ends its turn with so few begins the last turns (END-1)
    last_turns: Literal["all", "others"]  # who has one then: the seat that began them too, or not
    longest_bonus: Count
    most_tickets_bonus: Count
    tunnel_cards: Annotated[Int, Field(ge=0, le=10)]  # turned up for a tunnel (TUNNEL-1)
    station_costs: Annotated[
        tuple[Annotated[Int, Field(ge=1, le=20)], ...], Field(max_length=4)
    ]  # first, second, ..
    station_points: Count  # for one not built (SCORE-5)
    passengers: Annotated[Int, Field(ge=0, le=5)]  # of each seat; more would make their search long
    merchandise: Annotated[
        Mapping[Slug, Annotated[tuple[Annotated[Int, Field(ge=1, le=50)], ...], Field(max_length=10)]],
        Field(max_length=10),
    ]  # the tokens at a city of this colour, highest first (MERCH-1)
    plus_four_least: Annotated[Int, Field(ge=1, le=20)]  # spaces where a "+4" is wild (ROUTE-7)
    play_off: Annotated[Int, Field(ge=0, le=9)]  # best of so many new games for a shared first place; 0: none
    clock_ms: Annotated[Int, Field(ge=1, le=604_800_000)] | None  # per seat, whole game
    move_ms: Annotated[Int, Field(ge=1, le=2_592_000_000)] | None  # from when a seat is waited for, one move
    strict: Bool  # an illegal command removes its seat (CONDUCT-2)
    refusals_kept: Annotated[Int, Field(ge=1, le=1000)]  # per seat and turn; past it, answered but not kept


RULE_OPTIONS_SCHEMA: Schema[RuleOptions] = Schema(RuleOptions, "options")
