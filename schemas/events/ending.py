"""Events of how moves are taken back, and seats and games end: scores, play-offs; and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Protocol

from pydantic import Field

from schemas.commands import PlayOff
from schemas.contract import PUBLIC, WHOLE_EVENT, BroughtForms, EventContract, Private, contract, event
from schemas.field_types import Bool, GameId, Hex32, Int, Seat, Slug, Text
from schemas.game_options import ExitReason

EndReason = Annotated[Text, Field(max_length=60)]  # in the words of the game


@contract()
class SeatScore:
    """One seat's final score: its total in points, and what it is made of, each part by its name."""

    seat: Seat
    parts: Mapping[Slug, Int]
    total: Int
    place: Int  # from 1


class Score(Protocol):
    """What every game's final score of a seat says."""

    @property
    def seat(self) -> Seat:
        """Whose it is."""

    @property
    def total(self) -> Int:
        """In points."""

    @property
    def place(self) -> Int:
        """From 1."""


SCORE_FORMS: Final = BroughtForms(SeatScore)


@event(type="seat_gone", code=18, visibility=PUBLIC)
class SeatGone(EventContract):
    """The seat takes no further part."""

    seat: Seat
    why: ExitReason


@event(type="seat_cleared", code=23, visibility=PUBLIC)
class SeatCleared(EventContract):
    """What a removed seat held is out of the game, what it had claimed is free (CONDUCT-2)."""

    seat: Seat


@event(type="play_off_called", code=37, visibility=PUBLIC)
class PlayOffCalled(EventContract):
    """The first place is shared: these seats meet again, in a new game (TIE-1)."""

    game: GameId
    play_off: PlayOff
    seats: tuple[Seat, ...]  # who they are in this game


@event(type="play_off_ended", code=38, visibility=PUBLIC)
class PlayOffEnded(EventContract):
    """The play-off is decided, or came to its end with these level."""

    of: GameId
    winners: tuple[Seat, ...]  # as the seats of that game


@event(
    type="undo_asked",
    code=50,
    visibility=PUBLIC,
    sentence="{seat} asks to take the last move back.",
    in_move="follows",
)
class UndoAsked(EventContract):
    """The seat asks the others to let it take back its last move (UNDO-1)."""

    seat: Seat


@event(type="undo_answered", code=51, visibility=PUBLIC, in_move="follows")
class UndoAnswered(EventContract):
    """The seat lets the one that asked take back its move, or not; once all agree, it is taken back (UNDO-2)."""

    seat: Seat
    agrees: Bool


@event(
    type="move_undone",
    code=52,
    visibility=PUBLIC,
    sentence="{seat} takes the last move back.",
    in_move="follows",
)
class MoveUndone(EventContract):
    """The seat's last move is taken back: all is as it was before it, but for the time (UNDO-1)."""

    seat: Seat


@event(type="seed_revealed", code=41, visibility=PUBLIC)
class SeedRevealed(EventContract):
    """The game is over: with the seed every shuffle and every hidden part can be checked."""

    seed: Hex32


@event(type="game_ended", code=20, visibility=PUBLIC)
class GameEnded(EventContract):
    reason: EndReason
    scores: tuple[Annotated[Score, SCORE_FORMS], ...]  # in the words of its game, in seat order


@event(
    type="command_refused",
    code=21,
    visibility=Private(owner="seat", hides=WHOLE_EVENT, public_if_null="seat"),
    in_move="follows",
)
class CommandRefused(EventContract):
    """A rule refused a command. Private to its sender; those of system commands are public."""

    seat: Seat | None
    rule: Text
    why: Text
