"""Events of train games: cards, market, tickets, routes, tunnels, stations, passengers; and what lays a moment of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from schemas.contract import PUBLIC, EventContract, PileMove, Private, Secret, contract, event
from schemas.events import SCORE_FORMS
from schemas.field_types import Bool, Hex32, Int, Seat, Slug, Text
from schemas.game_options import ExitReason
from schemas.trains.boards.form import TicketForm
from schemas.trains.commands import ClaimRoute
from schemas.trains.field_types import Card, CardRow, Cards, CityId, RouteId, Slot, TicketId, TicketRow
from schemas.trains.positions import Points, StationGiven


@event(type="market_filled", code=7, visibility=PUBLIC, draws="cards")
class MarketFilled(EventContract):
    """Cards from the deck were turned up into these slots of the market."""

    slots: tuple[Slot, ...]
    cards: tuple[Card, ...]


@event(type="market_flushed", code=8, visibility=PUBLIC, sentence="The market is swept and laid anew.")
class MarketFlushed(EventContract):
    """All face-up cards went to the discard pile (MARKET-2)."""


@event(type="tickets_offered", code=9, visibility=Private(owner="seat", hides=("tickets",)))
class TicketsOffered(EventContract):
    """Tickets from the tops of their decks; the seat keeps at least `least` of them."""

    piles = PileMove("taken", "tickets", "decks")
    seat: Seat
    decks: tuple[Slug, ...]  # the deck of each, in order
    tickets: TicketRow  # private
    least: Annotated[Int, Field(ge=0, le=10)]


@event(type="tickets_kept", code=10, visibility=Private(owner="seat", hides=("kept",)))
class TicketsKept(EventContract):
    seat: Seat
    kept: TicketRow  # private


@event(type="tickets_returned", code=11, visibility=Private(owner="seat", hides=("tickets",)))
class TicketsReturned(EventContract):
    """The seat gave back the offered tickets that it didn't keep."""

    piles = PileMove("returned", "tickets", "deck")
    seat: Seat
    deck: Slug
    to: Literal["bottom", "out", "shuffled", "top"]  # of its deck; shuffled: among it, or out of the game
    tickets: TicketRow  # private


@event(type="mix_asked", code=39, visibility=PUBLIC)
class MixAsked(EventContract):
    """The seat must name how many starting tickets of each deck it wants (SETUP-3)."""

    seat: Seat


@event(type="tickets_named", code=24, visibility=Private(owner="seat", hides=("decks",)))
class TicketsNamed(EventContract):
    """The seat named how many tickets of each deck it wants; they are offered when all have (SETUP-3)."""

    seat: Seat
    decks: Mapping[Slug, Int] | None  # private


@event(type="card_drawn", code=13, visibility=Private(owner="seat", hides=("card",)), draws="card")
class CardDrawn(EventContract):
    """A card was taken blind from the deck."""

    seat: Seat
    card: Card | None  # private


@event(type="market_card_taken", code=14, visibility=PUBLIC)
class MarketCardTaken(EventContract):
    seat: Seat
    slot: Slot
    card: Card


@event(type="route_claimed", code=15, visibility=PUBLIC, in_move="begins")
class RouteClaimed(EventContract):
    """A route was paid for and taken; all see the cards."""

    repeats = ClaimRoute
    seat: Seat
    route: RouteId
    cards: Cards
    points: Int


@event(type="tunnel_revealed", code=25, visibility=PUBLIC, draws="revealed")
class TunnelRevealed(EventContract):
    """A tunnel was begun: these cards lie beside it, and ask for so many more (TUNNEL-1, TUNNEL-2)."""

    seat: Seat
    route: RouteId
    cards: Cards  # the base payment, which stays in hand until the tunnel is paid or declined
    revealed: tuple[Card, ...]
    extra: Int


@event(type="tunnel_declined", code=26, visibility=PUBLIC)
class TunnelDeclined(EventContract):
    seat: Seat


@event(type="revealed_discarded", code=27, visibility=PUBLIC)
class RevealedDiscarded(EventContract):
    """The cards that were turned up for a tunnel went to the discard pile (TUNNEL-4)."""


@event(type="station_built", code=28, visibility=PUBLIC, in_move="begins")
class StationBuilt(EventContract):
    seat: Seat
    city: CityId
    cards: Cards
    neighbour: CityId | None  # whose route it borrows; null leaves that to the end


@event(type="passenger_placed", code=29, visibility=PUBLIC, in_move="follows")
class PassengerPlaced(EventContract):
    seat: Seat
    city: CityId


@event(type="passenger_moved", code=30, visibility=PUBLIC, in_move="begins")
class PassengerMoved(EventContract):
    """A passenger travelled, took the top token of these cities, and left the game."""

    seat: Seat
    city: CityId
    path: tuple[RouteId, ...]
    cards: Int  # passenger cards played for others' routes
    taken: tuple[CityId, ...]
    points: Int


@event(type="cards_given", code=31, visibility=Private(owner="seat", hides=("cards",)), draws="cards")
class CardsGiven(EventContract):
    """The next cards of the deck went to the seat that asked (CARD-6)."""

    seat: Seat
    cards: CardRow  # private


@event(type="request_unmet", code=32, visibility=PUBLIC)
class RequestUnmet(EventContract):
    """The deck has too few cards for the seat that asked (CARD-6)."""

    seat: Seat


@event(
    type="last_turns_began", code=17, visibility=PUBLIC, in_move="follows", sentence="The last turns begin."
)
class LastTurnsBegan(EventContract):
    """Each of these seats has one turn left (END-1)."""

    seats: tuple[Seat, ...]


@event(type="tickets_shown", code=19, visibility=PUBLIC)
class TicketsShown(EventContract):
    """The game is over: a seat's tickets are shown to all."""

    seat: Seat
    tickets: tuple[TicketId, ...]


@SCORE_FORMS.bring
@contract()
class TrainScore:
    """One seat's final score of a train game, in points but for `longest` (spaces) and `place`."""

    seat: Seat
    routes: Int
    made: tuple[TicketId, ...]
    missed: tuple[TicketId, ...]
    tickets: Int  # points of tickets made less those missed
    won: Int  # points of tickets made
    lent: tuple[RouteId | None, ...]  # what each station borrows, in the order they were built
    longest: Int  # spaces of the seat's longest trail or path
    bonus: Int  # for the longest of all
    most: Int  # for the most tickets made
    stations: Int  # for those not built
    merchandise: Int
    total: Int
    place: Int

    @property
    def parts(self) -> Mapping[str, int]:
        """What the total is made of: points by their source."""
        return {
            "routes": self.routes,
            "tickets": self.tickets,
            "bonuses": self.bonus + self.most,  # for the longest route and for the most tickets
            "stations": self.stations,
            "merchandise": self.merchandise,
        }

    @property
    def shares(self) -> Mapping[str, tuple[int, int]]:
        """The tickets that it made, of all that it kept."""
        return {"tickets made": (len(self.made), len(self.made) + len(self.missed))}


@event(
    type="deck_recreated",
    code=42,
    visibility=Secret(hides=("order",)),
    sentence="What is left of the deck and the discards are shuffled together.",
)
class DeckRecreated(EventContract):
    """The rest of the deck and the discards were shuffled together: they are the deck."""

    piles = PileMove("shuffled", "order")
    order: CardRow  # secret, top first
    root: Hex32  # of the commitments to its cards


@event(type="tickets_shuffled", code=5, visibility=Secret(hides=("order",)))
class TicketsShuffled(EventContract):
    piles = PileMove("shuffled", "order", "deck")
    deck: Slug
    order: TicketRow  # secret, top first
    root: Hex32  # of the commitments to its tickets


@event(type="hand_returned", code=43, visibility=Private(owner="seat", hides=("cards",)))
class HandReturned(EventContract):
    """What a removed seat had not taken went back on top of the deck: its hand before it had chosen its tickets, or the
    cards of its request while the next seat had not acted."""

    piles = PileMove("returned", "cards")
    seat: Seat
    cards: CardRow  # private, top first


# -- a game that starts in its middle --------------------------------------------------------


@event(type="position_laid", code=33, visibility=PUBLIC)
class PositionLaid(EventContract):
    """The game starts from here: what all can see (rows by seat have every seat)."""

    lays = True
    turn: Seat | None  # None: hands and starting tickets are dealt first
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
    lays, piles = True, PileMove("laid", "order")
    order: CardRow  # secret, top first


@event(type="tickets_laid", code=35, visibility=Secret(hides=("order",)))
class TicketsLaid(EventContract):
    lays, piles = True, PileMove("laid", "order", "deck")
    deck: Slug
    order: TicketRow  # secret, top first


@event(type="hand_laid", code=36, visibility=Private(owner="seat", hides=("cards", "tickets")))
class HandLaid(EventContract):
    lays = True
    seat: Seat
    cards: CardRow  # private
    tickets: TicketRow  # private


PendingChoiceRow = tuple[Seat, Annotated[Text, Field(max_length=40)], Int | None]
TunnelInProgress = tuple[RouteId, Cards, tuple[Card, ...], Int]


@event(type="moment_laid", code=46, visibility=PUBLIC)
class MomentLaid(EventContract):
    """The turn in progress, as far as all can see it (rows by seat have every seat)."""

    lays = True
    order: tuple[Seat, ...]  # of the turns
    turn: Seat | None
    # The pending choices: seat, kind, and the milliseconds left for it.
    awaits: tuple[PendingChoiceRow, ...]
    # Its route, the base payment, the cards turned up, and how many it asks for.
    tunnel: TunnelInProgress | None
    ending: Bool
    last: tuple[Seat, ...]  # who has a last turn to come
    passed: tuple[Seat, ...]
    chosen: tuple[Bool, ...]  # starting tickets
    gone: tuple[ExitReason | None, ...]
    clocks: tuple[Int, ...]  # milliseconds left, where there are clocks
    passengers: tuple[Int, ...]  # still to be placed
    shown: tuple[Cards, ...]  # the cards of each hand that all have seen


@event(type="choice_laid", code=47, visibility=Private(owner="seat", hides=("offer", "mix")))
class ChoiceLaid(EventContract):
    """The tickets that a seat is offered, or the mix of tickets that it has named."""

    lays = True
    seat: Seat
    offer: TicketRow  # private
    least: Annotated[Int, Field(ge=0, le=10)]
    named: Bool
    mix: Mapping[Slug, Int] | None  # private


@event(type="deck_known", code=48, visibility=Private(owner="seat", hides=("order",)))
class DeckKnown(EventContract):
    """A seat has seen these tickets of a deck, and knows where in the deck they are."""

    lays = True
    seat: Seat
    deck: Slug
    order: TicketRow  # private, top first; null for those that it doesn't know
