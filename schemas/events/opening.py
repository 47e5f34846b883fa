"""Events from a game's creation to the first choices: seats, seed, shuffles, hands, positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from schemas.access import GameVisibility, SpectatorDelay
from schemas.commands import PlayOff, SeatPlan
from schemas.contract import PUBLIC, EventContract, Private, Secret, event
from schemas.field_types import (  # fmt: skip
    Age,
    Bool,
    Card,
    CardNameRow,
    CardRow,
    Cards,
    CityId,
    GameId,
    Hex32,
    Int,
    LoggedObject,
    Milliseconds,
    Name,
    RouteId,
    Seat,
    Slug,
    Text,
    TicketRow,
)
from schemas.game_options import ExitReason
from schemas.positions import Points, SequenceNumber, StationGiven
from schemas.trains.boards.form import TicketForm


@event(type="game_created", code=1, visibility=PUBLIC)
class GameCreated(EventContract):
    """A game is created, with all its rule options."""

    game: GameId
    ruleset: Slug
    rules: Int  # the version of the ruleset's meaning
    board: Slug | None  # where the game is played on one
    board_digest: Hex32 | None
    board_form: LoggedObject | None  # of a board that doesn't come with the product
    parameters: LoggedObject  # all options, as the ruleset's class of options reads them
    seats: tuple[SeatPlan, ...]
    play_off: PlayOff | None
    created: Milliseconds  # since 1970, by the wall clock: for people, no rule depends on it
    opened: Milliseconds  # by the game clock; every entry's time counts from here


@event(type="access_set", code=40, visibility=PUBLIC)
class AccessSet(EventContract):
    """The game isn't simply public: this says who may watch it, how its seats are taken, and whether they are helped."""

    visible_to: GameVisibility
    spectator_delay: SpectatorDelay  # how many entries late the public view is, until the game is over
    by_invitation: Bool  # a seat is taken only with its invitation
    suggestions: Bool  # whether they are allowed while the game is played


Contributor = Literal["seat", "nobody", "server", "seed"]


@event(type="seed_sealed", code=22, visibility=Secret(hides=("seed",)))
class SeedSealed(EventContract):
    """The server's seed of this game's randomness: its hash for all, itself for nobody yet."""

    commitment: Hex32
    given: Bool  # the game's creator named the seed, so may know it
    seed: Hex32 | None  # secret


@event(
    type="seat_taken",
    code=2,
    visibility=Private(owner="seat", hides=("luck",)),
)
class SeatTaken(EventContract):
    """A seat is taken. A player's name isn't in the log, which is for ever: a commitment to it is."""

    seat: Seat
    name: Name | None  # of a bot, by the server; of a player, only where it is shown to viewers
    policy: Slug | None  # of a bot; null for a human
    age: Age | None
    luck: (
        Hex32 | None
    )  # private: the seat secret; a bot's random source and the salts of its parts derive from it
    contribution: Hex32  # the seat's part of the game's randomness
    by: Contributor  # who made it
    name_commitment: Hex32 | None = None  # to the player's name: see schemas/stored/player_names.py


@event(type="seat_freed", code=44, visibility=PUBLIC)
class SeatFreed(EventContract):
    """The host freed the seat. The next player gets a new seat secret."""

    seat: Seat


@event(type="game_started", code=3, visibility=PUBLIC)
class GameStarted(EventContract):
    """Every seat is taken; the cards and tickets are about to be shuffled."""

    order: tuple[Seat, ...]  # of the turns


@event(type="deck_shuffled", code=4, visibility=Secret(hides=("order",)))
class DeckShuffled(EventContract):
    """The discards were shuffled and put under the rest of the deck."""

    order: CardNameRow  # secret, top first
    root: Hex32  # of the commitments to its cards


@event(type="deck_recreated", code=42, visibility=Secret(hides=("order",)))
class DeckRecreated(EventContract):
    """The rest of the deck and the discards were shuffled together: they are the deck."""

    order: CardRow  # secret, top first
    root: Hex32  # of the commitments to its cards


@event(type="tickets_shuffled", code=5, visibility=Secret(hides=("order",)))
class TicketsShuffled(EventContract):
    deck: Slug
    order: TicketRow  # secret, top first
    root: Hex32  # of the commitments to its tickets


@event(type="hand_dealt", code=6, visibility=Private(owner="seat", hides=("cards",)), draws="cards")
class HandDealt(EventContract):
    seat: Seat
    cards: CardNameRow  # private


@event(type="hand_returned", code=43, visibility=Private(owner="seat", hides=("cards",)))
class HandReturned(EventContract):
    """What a removed seat had not taken went back on top of the deck: its hand before it had chosen its tickets, or the
    cards of its request while the next seat had not acted."""

    seat: Seat
    cards: CardRow  # private, top first


@event(type="position_laid", code=33, visibility=PUBLIC, lays=True)
class PositionLaid(EventContract):
    """The game starts from here: what all can see (rows by seat have every seat)."""

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


@event(type="deck_laid", code=34, visibility=Secret(hides=("order",)), lays=True)
class DeckLaid(EventContract):
    order: CardRow  # secret, top first


@event(type="tickets_laid", code=35, visibility=Secret(hides=("order",)), lays=True)
class TicketsLaid(EventContract):
    deck: Slug
    order: TicketRow  # secret, top first


@event(type="hand_laid", code=36, visibility=Private(owner="seat", hides=("cards", "tickets")), lays=True)
class HandLaid(EventContract):
    seat: Seat
    cards: CardRow  # private
    tickets: TicketRow  # private


# -- a fork: more of a state than a position can hold -----------------------------------------

PendingChoiceRow = tuple[Seat, Annotated[Text, Field(max_length=40)], Int | None]
TunnelInProgress = tuple[RouteId, Cards, tuple[Card, ...], Int]


@event(type="game_forked", code=45, visibility=PUBLIC)
class GameForked(EventContract):
    """The game goes on from the state of another one."""

    of: GameId
    at: SequenceNumber  # the entry after which it had that state
    asker: Seat | None  # by whose knowledge hidden cards were dealt; None: by everybody's
    afresh: Bool  # hidden cards and tickets were dealt afresh; else they are where they were


@event(type="moment_laid", code=46, visibility=PUBLIC, lays=True)
class MomentLaid(EventContract):
    """The turn in progress, as far as all can see it (rows by seat have every seat)."""

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


@event(type="choice_laid", code=47, visibility=Private(owner="seat", hides=("offer", "mix")), lays=True)
class ChoiceLaid(EventContract):
    """The tickets that a seat is offered, or the mix of tickets that it has named."""

    seat: Seat
    offer: TicketRow  # private
    least: Annotated[Int, Field(ge=0, le=10)]
    named: Bool
    mix: Mapping[Slug, Int] | None  # private


@event(type="deck_known", code=48, visibility=Private(owner="seat", hides=("order",)), lays=True)
class DeckKnown(EventContract):
    """A seat has seen these tickets of a deck, and knows where in the deck they are."""

    seat: Seat
    deck: Slug
    order: TicketRow  # private, top first; null for those that it doesn't know


@event(type="play_resumed", code=49, visibility=PUBLIC)
class PlayResumed(EventContract):
    """Play goes on from the turn that was laid."""
