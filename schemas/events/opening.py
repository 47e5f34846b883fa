"""Facts from a table that is laid to the first choices: seats, seed, shuffles, hands, positions."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.boards import BoardForm, TicketForm
from schemas.commands import PlayOff, SeatPlan
from schemas.contract import Contract, contract
from schemas.parameters import Parameters
from schemas.positions import Points, StationGiven
from schemas.words import (
    Age,
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
    TicketRow,
    Word,
)  # fmt: skip


@contract(code=40, version=2)
class GameCreated(Contract):
    """A table is laid, with every figure of its rules."""

    game: GameId
    ruleset: Word
    rules: Int  # the version of the ruleset's meaning
    board: Word
    board_digest: Hex32
    board_form: BoardForm | None  # of a board that doesn't come with the product
    parameters: Parameters
    seats: tuple[SeatPlan, ...]
    play_off: PlayOff | None
    created: Milliseconds  # since 1970, by the wall clock: told to people, and nothing counts by it
    opened: Milliseconds  # in the house's own time; every entry's time counts from here


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
    age: Age | None
    luck: Hex32 | None  # private: what a bot's own dice start from


@contract(code=3)
class GameStarted(Contract):
    """Every seat is taken; all cards and tickets lie ready to be shuffled."""

    order: tuple[Seat, ...]  # of the turns


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


@contract(code=33)
class PositionLaid(Contract):
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


@contract(code=34)
class DeckLaid(Contract):
    order: CardRow  # secret, top first


@contract(code=35)
class TicketsLaid(Contract):
    deck: Word
    order: TicketRow  # secret, top first


@contract(code=36)
class HandLaid(Contract):
    seat: Seat
    cards: CardRow  # private
    tickets: TicketRow  # private
