"""Invitations: a host gives them to the people that may take the seats of a game.

An invitation is signed like a token (schemas/web/tokens.py) and opens nothing but its seat, to be taken once. No
log holds it: the referee is sent the seat alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from schemas.commands import TakeSeat
from schemas.errors import InvalidInputError
from schemas.events import Event, GameCreated, SeatTaken
from schemas.field_types import Seat
from schemas.web.tokens import DEFAULT_LIFE_S, Invitation, TokenKeys, token_end_s
from services.gateway.errors import NotYoursError, TokenError
from services.gateway.games.authorization import Authorization
from services.gateway.games.game_creations import GameCreations
from services.gateway.models.response_models import SeatInvitation

FIELD: Final = "invitation"  # of the body of a join


class Invitations:
    """Issues invitations, and admits the players that take seats."""

    def __init__(
        self,
        token_keys: TokenKeys,
        creations: GameCreations,
        authorization: Authorization,
        life_s: int = DEFAULT_LIFE_S,
        wall_clock_s: Callable[[], float] = time.time,
    ) -> None:
        self._keys, self._creations, self._authorization = token_keys, creations, authorization
        self._life_s, self._wall_clock_s = life_s, wall_clock_s

    async def issue(self, game: str, creation: Collection[Event]) -> list[SeatInvitation]:
        """An invitation to each seat that its creation leaves free."""
        return await self.issue_to(game, _free_seats(creation))

    async def issue_to(self, game: str, seats: Sequence[Seat]) -> list[SeatInvitation]:
        """Mint an invitation to each of these seats. It doesn't change for a day, as tokens don't. Once a
        seat is freed, earlier ones to it are void."""
        end_s = token_end_s(self._wall_clock_s(), self._life_s)
        freed = await self._authorization.freed_seats(game) if seats else {}
        invitations = [Invitation(game, seat, end_s, freed.get(seat, 0)) for seat in seats]
        return [
            SeatInvitation(seat=each.seat, invitation=self._keys.mint_invitation(each))
            for each in invitations
        ]

    async def admit(self, game: str, invitation: object, command: TakeSeat) -> TakeSeat:
        """The command with the seat that its sender is invited to; unchanged if anybody may take a seat.

        Raises InvalidInputError; TokenError: an invitation is needed, or this one is void; or NotYoursError."""
        if invitation is None:
            if (await self._creations.find(game)).access.by_invitation:
                raise TokenError("this game's seats are taken by invitation: send yours")
            return command
        if not isinstance(invitation, str):
            raise InvalidInputError(FIELD, "must be a string")
        seat = await self._invited_seat(game, invitation)
        if command.seat not in (None, seat):
            raise NotYoursError(f"your invitation is to seat {seat}")
        return replace(command, seat=seat)

    async def _invited_seat(self, game: str, text: str) -> Seat:
        """The seat that an invitation is to; or in a fork, whose token this is in the game that it goes on from."""
        invitation = self._keys.verify_invitation(text)
        if invitation is None:
            source = (await self._creations.find(game)).source
            if source is not None and self._keys.verify(text) is not None:
                return await self._authorization.require_seat(source, text)
            raise TokenError("this isn't an invitation of ours")
        if invitation.game != game:
            raise NotYoursError("this invitation is to another game")
        freed = await self._authorization.freed_seats(game)
        is_void = invitation.times_freed < freed.get(invitation.seat, 0)
        if is_void or invitation.ends_at_s <= self._wall_clock_s():
            raise TokenError("this invitation has ended; the host can have another")
        return invitation.seat


def take_invitation(body: Mapping[str, object]) -> tuple[object, dict[str, object]]:
    """The invitation in the body of a join, and the rest of the body, which is logged."""
    rest = dict(body)
    return rest.pop(FIELD, None), rest


def _free_seats(creation: Collection[Event]) -> list[Seat]:
    taken = {event.seat for event in creation if isinstance(event, SeatTaken)}
    seat_counts = [len(event.seats) for event in creation if isinstance(event, GameCreated)]
    return [seat for count in seat_counts for seat in range(count) if seat not in taken]
