"""Who may watch a game, how its seats are taken, whether they are helped, and whether they take moves back.

It is settled when the game is created, and stands in its log's first entry; a log that says nothing of it is of a
public game.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple, TypedDict, get_args

from pydantic import Field

from schemas.field_types import Int

MAX_SPECTATOR_DELAY: Final = 500  # entries

GameVisibility = Literal["public", "unlisted", "players"]
VISIBILITIES: Final[tuple[GameVisibility, ...]] = get_args(GameVisibility)
UndoPolicy = Literal["never", "consent", "free"]
UNDO_POLICIES: Final[tuple[UndoPolicy, ...]] = get_args(UndoPolicy)
SpectatorDelay = Annotated[Int, Field(ge=0, le=MAX_SPECTATOR_DELAY)]


class AccessFields(TypedDict):
    """The access fields of a command that creates a game; None for what is as usual."""

    visibility: GameVisibility | None
    spectator_delay: int | None
    by_invitation: bool | None
    suggestions: bool | None
    undo: UndoPolicy | None


class Access(NamedTuple):
    """The settled access of one game: its audience, its delay, its seats, its suggestions, its undo."""

    visibility: GameVisibility = "public"  # listed; or found by its id alone; or for who holds a token of it
    spectator_delay: int = 0  # how many entries late the public view is, until the game is over
    by_invitation: bool = False  # a seat is taken only with its invitation
    suggestions: bool = True  # a seat may ask what it might do while the game is played
    undo: UndoPolicy = "never"  # whether a seat takes its last move back: if the others agree, or freely

    @property
    def is_listed(self) -> bool:
        """Whether the game stands in the list of games."""
        return self.visibility == "public"

    def visible_length(self, length: int, *, is_over: bool) -> int:
        """Return how many of a game's `length` entries the public view shows. Its creation is shown at once: there is nothing
        to learn from it, because a fork begins with what everybody was shown."""
        return length if is_over else max(min(length, 1), length - self.spectator_delay)

    def fields(self) -> AccessFields:
        """The fields of a command that creates a game with this access."""
        return {
            "visibility": None if self.visibility == "public" else self.visibility,
            "spectator_delay": self.spectator_delay or None,
            "by_invitation": self.by_invitation or None,
            "suggestions": None if self.suggestions else False,
            "undo": None if self.undo == "never" else self.undo,
        }

    def of_fork(self) -> Access:
        """The access of a fork of this game: the same. The seats of a game for its players alone are not for
        anybody who finds the fork."""
        return self._replace(by_invitation=self.by_invitation or self.visibility == "players")


PUBLIC_ACCESS: Final = Access()
