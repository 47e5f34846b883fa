"""Facts from a table that is laid to the first choices: seats, seed, shuffles, hands, positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from schemas.boards.form import BoardForm, TicketForm
from schemas.commands import PlayOff, SeatPlan
from schemas.contract import EventContract, event
from schemas.field_types import (  # fmt: skip
    Age,
    Bool,
    Card,
    CardRow,
    Cards,
    CityId,
    GameId,
    Hex32,
    Int,
    Milliseconds,
    Name,
    RouteId,
    Seat,
    Slug,
    TicketRow,
)
from schemas.forks import SequenceNumber
from schemas.positions import Points, StationGiven
from schemas.rule_options import ExitReason, RuleOptions
from schemas.visibility import PUBLIC, Private, Secret


@event(type="game_created", code=40, version=2, visibility=PUBLIC)
class GameCreated(EventContract):
    """A table is laid, with every figure of its rules."""

    game: GameId
    ruleset: Slug
    rules: Int  # the version of the ruleset's meaning
    board: Slug
    board_digest: Hex32
    board_form: BoardForm | None  # of a board that doesn't come with the product
    parameters: RuleOptions
    seats: tuple[SeatPlan, ...]
    play_off: PlayOff | None
    created: Milliseconds  # since 1970, by the wall clock: told to people, and nothing counts by it
    opened: Milliseconds  # in the house's own time; every entry's time counts from here


Contributor = Literal["seat", "nobody", "house", "seed"]


@event(type="seed_sealed", code=43, version=2, visibility=Secret(hides=("seed",)))
class SeedSealed(EventContract):
    """The house's part in all chance of this game: its hash for all, itself for nobody yet."""

    commitment: Hex32
    given: Bool | None  # whoever created the game named the seed, so may know it; null in old games
    seed: Hex32 | None  # secret


@event(
    type="seat_taken",
    code=42,
    version=2,
    visibility=Private(owner="seat", hides=("luck",), public_if_null="luck"),
)
class SeatTaken(EventContract):
    seat: Seat
    name: Name
    policy: Slug | None  # of a bot; null for a person
    age: Age | None
    luck: Hex32 | None  # private: what a bot's own dice, and the salts of the seat's own parts, start from
    contribution: Hex32 | None  # the seat's part in all chance of this game; null in old games
    by: Contributor | None  # who made it


@event(type="game_started", code=3, visibility=PUBLIC)
class GameStarted(EventContract):
    """Every seat is taken; all cards and tickets lie ready to be shuffled."""

    order: tuple[Seat, ...]  # of the turns


@event(type="deck_shuffled", code=41, version=2, visibility=Secret(hides=("order",)))
class DeckShuffled(EventContract):
    """The discards, shuffled, now lie under what was left of the deck."""

    order: CardRow  # secret, top first
    root: Hex32 | None  # of what its cards are committed to by; null in old games


@event(type="tickets_shuffled", code=45, version=2, visibility=Secret(hides=("order",)))
class TicketsShuffled(EventContract):
    deck: Slug
    order: TicketRow  # secret, top first
    root: Hex32 | None  # as of a deck's


@event(type="hand_dealt", code=6, visibility=Private(owner="seat", hides=("cards",)))
class HandDealt(EventContract):
    seat: Seat
    cards: CardRow  # private


@event(type="position_laid", code=33, visibility=PUBLIC)
class PositionLaid(EventContract):
    """The game starts from here: what lies open on the table (rows by seat have every seat)."""

    turn: Seat
    market: tuple[Card | None, ...]
    discards: Cards
    owners: Mapping[RouteId, Seat]
    cars: tuple[Int, ...]
    points: tuple[Points, ...]
    stations: Mapping[CityId, StationGiven]
    passengers: Mapping[CityId, Seat]
    tokens: Mapping[CityId, tuple[Int, ...]]
    merchandise: tuple[Int, ...]
    tickets: tuple[TicketForm, ...]  # that the board doesn't have


@event(type="deck_laid", code=34, visibility=Secret(hides=("order",)))
class DeckLaid(EventContract):
    order: CardRow  # secret, top first


@event(type="tickets_laid", code=35, visibility=Secret(hides=("order",)))
class TicketsLaid(EventContract):
    deck: Slug
    order: TicketRow  # secret, top first


@event(type="hand_laid", code=36, visibility=Private(owner="seat", hides=("cards", "tickets")))
class HandLaid(EventContract):
    seat: Seat
    cards: CardRow  # private
    tickets: TicketRow  # private


# -- a fork: more of a table than a position can say -----------------------------------------

PendingChoiceRow = tuple[Seat, Literal["action", "second card", "tickets", "mix", "tunnel"], Int | None]
TunnelInProgress = tuple[RouteId, Cards, tuple[Card, ...], Int]


@event(type="game_forked", code=50, visibility=PUBLIC)
class GameForked(EventContract):
    """The game goes on from where another one stood."""

    of: GameId
    at: SequenceNumber  # the entry after which it stood so
    asker: Seat | None  # by whose knowledge it was dealt; None: by everybody's
    afresh: Bool  # what lies face down was dealt afresh; else it lies as it lay


@event(type="moment_laid", code=51, visibility=PUBLIC)
class MomentLaid(EventContract):
    """What is going on at this moment, for all to see (rows by seat have every seat)."""

    order: tuple[Seat, ...]  # of the turns
    turn: Seat | None
    awaits: tuple[
        PendingChoiceRow, ...
    ]  # whom the table waits for, for what, and the milliseconds left for it
    # Its route, the base payment, the cards turned up, and how many it asks for.
    tunnel: TunnelInProgress | None
    ending: Bool
    last: tuple[Seat, ...]  # who has a last turn to come
    passed: tuple[Seat, ...]
    chosen: tuple[Bool, ...]  # starting tickets
    gone: tuple[ExitReason | None, ...]
    clocks: tuple[Int, ...]  # milliseconds left, where there are clocks
    passengers: tuple[Int, ...]  # still to be placed
    shown: tuple[Cards, ...]  # the part of each hand that all have seen


@event(type="choice_laid", code=52, visibility=Private(owner="seat", hides=("offer", "mix")))
class ChoiceLaid(EventContract):
    """Tickets before a seat that it may still choose from, or the mix that it has named."""

    seat: Seat
    offer: TicketRow  # private
    least: Annotated[Int, Field(ge=0, le=10)]
    named: Bool
    mix: Mapping[Slug, Int] | None  # private


@event(type="deck_known", code=53, visibility=Private(owner="seat", hides=("order",)))
class DeckKnown(EventContract):
    """Which tickets of a deck a seat has seen in their places."""

    seat: Seat
    deck: Slug
    order: TicketRow  # private, top first; null for those that it doesn't know


@event(type="play_resumed", code=54, visibility=PUBLIC)
class PlayResumed(EventContract):
    """The moment that was laid goes on from here."""
