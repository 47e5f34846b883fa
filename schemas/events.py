"""Events: facts, in the past tense. What happened can't be refused, changed or undone.

Every event has a public face, and some know more than the public may: a field may be
private to the event's seat, or secret until the game is over. `seen_by` (in the rules)
turns such a field face down for everybody else: a card becomes null, a row of cards a
row of as many nulls, so that counts stay public and contents don't.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from schemas.commands import SeatPlan
from schemas.contract import Contract, Shape, contract, field_names
from schemas.parameters import GoneBecause, Parameters
from schemas.words import Card, Cards, GameId, Int, Milliseconds, Name, RouteId, Seat, Text, TicketId, Word

Hex32 = Annotated[Text, Field(pattern=r"^[0-9a-f]{64}$")]
Slot = Annotated[Int, Field(ge=0, le=9)]
CardRow = tuple[Card | None, ...]
TicketRow = tuple[TicketId | None, ...]
EndReason = Literal["last turns", "all passed", "out of time", "all gone"]


@contract()
class SeatScore:
    """One seat's final reckoning, in points but for `longest` (spaces) and `place`."""

    seat: Seat
    routes: Int
    made: tuple[TicketId, ...]
    missed: tuple[TicketId, ...]
    tickets: Int  # points of tickets made less those missed
    longest: Int  # spaces of the seat's longest trail
    bonus: Int
    total: Int
    place: Int


@contract(code=1)
class GameCreated(Contract):
    """A table is laid, with every figure of its rules."""

    game: GameId
    ruleset: Word
    rules: Int  # the version of the ruleset's meaning
    board: Word
    board_digest: Hex32
    parameters: Parameters
    seats: tuple[SeatPlan, ...]
    created: Milliseconds  # since 1970; every entry's time counts from here


@contract(code=22)
class SeedSealed(Contract):
    """What all chance in this game follows from: its hash for all, itself for nobody yet."""

    commitment: Hex32
    seed: Hex32 | None  # secret


@contract(code=2)
class SeatTaken(Contract):
    seat: Seat
    name: Name
    policy: Word | None  # of a bot; null for a person
    luck: Hex32 | None  # private: what a bot's own dice start from


@contract(code=3)
class GameStarted(Contract):
    """Every seat is taken; all cards and tickets lie ready to be shuffled."""


@contract(code=4)
class DeckShuffled(Contract):
    """The discards, shuffled, now lie under what was left of the deck."""

    order: CardRow  # secret, top first


@contract(code=5)
class TicketsShuffled(Contract):
    deck: Word
    order: TicketRow  # secret, top first


@contract(code=6)
class HandDealt(Contract):
    seat: Seat
    cards: CardRow  # private


@contract(code=7)
class MarketFilled(Contract):
    """Cards from the deck were turned up into these places of the market."""

    slots: tuple[Slot, ...]
    cards: tuple[Card, ...]


@contract(code=8)
class MarketFlushed(Contract):
    """All face-up cards went to the discard pile (MARKET-2)."""


@contract(code=9)
class TicketsOffered(Contract):
    """Tickets from the tops of their decks; the seat keeps at least `least` of them."""

    seat: Seat
    decks: tuple[Word, ...]  # the deck of each, in order
    tickets: TicketRow  # private
    least: Annotated[Int, Field(ge=0, le=10)]


@contract(code=10)
class TicketsKept(Contract):
    seat: Seat
    kept: TicketRow  # private


@contract(code=11)
class TicketsReturned(Contract):
    """What was offered and not kept went to the bottom of its deck."""

    seat: Seat
    deck: Word
    tickets: TicketRow  # private


@contract(code=12)
class TurnStarted(Contract):
    seat: Seat


@contract(code=13)
class CardDrawn(Contract):
    """A card was taken blind from the deck."""

    seat: Seat
    card: Card | None  # private


@contract(code=14)
class MarketCardTaken(Contract):
    seat: Seat
    slot: Slot
    card: Card


@contract(code=15)
class RouteClaimed(Contract):
    """The cards are on the table for all to see."""

    seat: Seat
    route: RouteId
    cards: Cards
    points: Int


@contract(code=16)
class Passed(Contract):
    seat: Seat


@contract(code=17)
class LastTurnsBegan(Contract):
    """Each of these seats has one turn left (END-1)."""

    seats: tuple[Seat, ...]


@contract(code=18)
class SeatGone(Contract):
    """The seat takes no further part."""

    seat: Seat
    why: GoneBecause


@contract(code=23)
class SeatCleared(Contract):
    """A removed seat's cards and tickets are out of the game, its routes are free (CONDUCT-2)."""

    seat: Seat


@contract(code=19)
class TicketsShown(Contract):
    """The game is over and a seat's tickets lie open."""

    seat: Seat
    tickets: tuple[TicketId, ...]


@contract(code=20)
class GameEnded(Contract):
    reason: EndReason
    scores: tuple[SeatScore, ...]


@contract(code=21)
class CommandRefused(Contract):
    """A rule said no. Private to the seat that asked; the house's own are public."""

    seat: Seat | None
    rule: Text
    why: Text


Event: TypeAlias = (
    GameCreated | SeedSealed | SeatTaken | GameStarted | DeckShuffled | TicketsShuffled | HandDealt | MarketFilled
    | MarketFlushed | TicketsOffered | TicketsKept | TicketsReturned | TurnStarted | CardDrawn
    | MarketCardTaken | RouteClaimed | Passed | LastTurnsBegan | SeatGone | SeatCleared | TicketsShown | GameEnded
    | CommandRefused
)  # fmt: skip

EVENTS: Final[tuple[type[Event], ...]] = (
    GameCreated, SeedSealed, SeatTaken, GameStarted, DeckShuffled, TicketsShuffled, HandDealt, MarketFilled,
    MarketFlushed, TicketsOffered, TicketsKept, TicketsReturned, TurnStarted, CardDrawn,
    MarketCardTaken, RouteClaimed, Passed, LastTurnsBegan, SeatGone, SeatCleared, TicketsShown, GameEnded,
    CommandRefused,
)  # fmt: skip

SHAPES: Final[dict[str, Shape[Event]]] = {cls.type: Shape(cls, cls.type) for cls in EVENTS}
FIELDS: Final[dict[type[Event], tuple[str, ...]]] = {cls: field_names(cls) for cls in EVENTS}
BY_CODE: Final[dict[int, type[Event]]] = {cls.code: cls for cls in EVENTS}
assert len(BY_CODE) == len(EVENTS), "two events share a code"


def write_event(event: Event) -> dict[str, object]:
    """An event as a JSON object with its type first: the form of the web edge and of replays."""
    written: dict[str, object] = SHAPES[event.type].write(event)
    return {"type": event.type, **written}
