"""Events by which games begin and turns pass: creation, seats, seed, shuffles, hands, positions."""

from __future__ import annotations

from typing import Literal

from schemas.access import GameVisibility, SpectatorDelay, UndoPolicy
from schemas.commands import PlayOff, SeatPlan
from schemas.contract import PUBLIC, EventContract, Private, Secret, event
from schemas.field_types import (
    Age,
    Bool,
    CardNameRow,
    GameId,
    Hex32,
    Int,
    LoggedObject,
    Milliseconds,
    Name,
    Seat,
    Slug,
)
from schemas.forks import SequenceNumber


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
    """The game isn't simply public: this says who may watch it, how its seats are taken, whether they are helped, and
    whether they take moves back."""

    visible_to: GameVisibility
    spectator_delay: SpectatorDelay  # how many entries late the public view is, until the game is over
    by_invitation: Bool  # a seat is taken only with its invitation
    suggestions: Bool  # whether they are allowed while the game is played
    undo: UndoPolicy  # whether a seat takes its last move back: never, if the others agree, or freely


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
    """Every seat is taken; the cards are about to be shuffled."""

    order: tuple[Seat, ...]  # of the turns


@event(type="deck_shuffled", code=4, visibility=Secret(hides=("order",)))
class DeckShuffled(EventContract):
    """The discards were shuffled and put under the rest of the deck."""

    order: CardNameRow  # secret, top first
    root: Hex32  # of the commitments to its cards


@event(type="hand_dealt", code=6, visibility=Private(owner="seat", hides=("cards",)), draws="cards")
class HandDealt(EventContract):
    seat: Seat
    cards: CardNameRow  # private


# -- a fork ----------------------------------------------------------------------------------


@event(type="game_forked", code=45, visibility=PUBLIC)
class GameForked(EventContract):
    """The game goes on from the state of another one."""

    of: GameId
    at: SequenceNumber  # the entry after which it had that state
    asker: Seat | None  # by whose knowledge hidden cards were dealt; None: by everybody's
    afresh: Bool  # what is hidden was dealt afresh; else it is where it was


@event(type="play_resumed", code=49, visibility=PUBLIC)
class PlayResumed(EventContract):
    """Play goes on from the turn that was laid."""


@event(type="turn_started", code=12, visibility=PUBLIC, in_move="follows")
class TurnStarted(EventContract):
    seat: Seat


@event(type="passed", code=16, visibility=PUBLIC, in_move="begins")
class Passed(EventContract):
    seat: Seat
