"""Tokens, each of which states the seat of a game that its holder has, and invitations to take a seat.

A token is signed (schemas/web/tokens.py). Whether it was withdrawn is read from the engine, at most once in
`GENERATIONS_KEPT_S` for each game: so long a gateway may take a token that was withdrawn at another one.

An invitation is signed like a token (schemas/web/tokens.py) and opens nothing but its seat, to be taken once. No
log holds it: the referee is sent the seat alone.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from schemas.commands import TakeSeat
from schemas.errors import InvalidInputError
from schemas.events import Event, GameCreated, SeatFreed, SeatTaken
from schemas.field_types import Seat
from schemas.web.tokens import DEFAULT_LIFE_S, Holder, Invitation, Token, TokenKeys, token_end_s
from services.gateway.errors import NotYoursError, RefusedError, TokenError
from services.gateway.games.game_creations import GameCreations
from services.gateway.models.response_models import SeatInvitation
from services.ledger.async_ledger import AsyncLedger
from services.ledger.ports import ENGINE_ERRORS
from services.ledger.stores.token_generations import UNKNOWN, Generations
from services.runtime.forgetful_mapping import Recent

GENERATIONS_KEPT_S: Final = 2.0
MAX_GAMES_KEPT: Final = 10_000  # whose generations are kept; more are read again
TOKEN_CHECK_S: Final = 6.0  # how often the token of an open socket is checked again
CHECKS_APART: Final = 10  # how often in that time those that are due are looked for
MAX_AT_ONCE: Final = 1_024  # tokens

Watched = tuple[Token, asyncio.Future[None]]  # done once nobody watches it any more
Refusals = Sequence[TokenError | None]  # why each token opens nothing any more


class TokenWatch:
    """Checks the tokens of open sockets now and then, all that are due by one read of the engine: a read for
    each costs a gateway more than the moves of its games. `check` answers why each token opens nothing any
    more, or None."""

    def __init__(self, check: Callable[[Sequence[Token]], Awaitable[Refusals]]) -> None:
        self._check = check
        self._due: deque[tuple[float, Token, asyncio.Future[None]]] = deque()  # by the loop's time
        self._watchers = 0
        self._checking: asyncio.Task[None] | None = None

    async def watch(self, token: Token, refused: asyncio.Future[None]) -> None:
        """Raise TokenError once the token has ended or is withdrawn, or whatever else is set to the future."""
        self._watchers += 1
        self._schedule(token, refused)
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_due())
        try:
            await refused
        finally:
            refused.cancel()
            self._watchers -= 1
            if not self._watchers:
                self._due.clear()
                if self._checking is not None:
                    self._checking.cancel()
                    self._checking = None

    def _schedule(self, token: Token, refused: asyncio.Future[None]) -> None:
        due_s = asyncio.get_running_loop().time() + TOKEN_CHECK_S  # later than all before: they wait as long
        self._due.append((due_s, token, refused))

    async def _check_due(self) -> None:
        due: list[Watched] = []
        try:
            while True:
                await asyncio.sleep(TOKEN_CHECK_S / CHECKS_APART)
                while due := self._take_due():
                    refusals = await self._check([token for token, _ in due])
                    for (token, refused), refusal in zip(due, refusals, strict=True):
                        if refusal is None:
                            self._schedule(token, refused)
                        elif not refused.done():
                            refused.set_exception(refusal)
        except Exception as error:  # a bug: no socket stays open unwatched
            self._checking = None
            for _, refused in (*due, *(waiting[1:] for waiting in self._due)):
                if not refused.done():
                    refused.set_exception(error)

    def _take_due(self) -> list[Watched]:
        """Take those whose time has come, and that somebody still watches."""
        now_s, taken = asyncio.get_running_loop().time(), list[Watched]()
        while self._due and self._due[0][0] <= now_s and len(taken) < MAX_AT_ONCE:
            _, token, refused = self._due.popleft()
            if not refused.done():
                taken.append((token, refused))
        return taken


class Authorization:
    """Issues, checks and withdraws tokens, with the server's keys."""

    def __init__(
        self,
        ledger: AsyncLedger,
        token_keys: TokenKeys,
        life_s: int = DEFAULT_LIFE_S,
        wall_clock_s: Callable[[], float] = time.time,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger, self._keys, self._life_s = ledger, token_keys, life_s
        self._wall_clock_s, self._clock_s = wall_clock_s, clock_s
        self._token_watch = TokenWatch(self._refusals)
        self._kept_generations = Recent[str, tuple[float, Generations]](MAX_GAMES_KEPT)

    async def issue(self, game: str, seat: Seat | None) -> str:
        """Mint a token of a seat, or of the game's host (None). It doesn't change for a day (a 30th of its
        life)."""
        return self._mint(game, seat, (await self._read_generations(game)).of(seat))

    async def issue_taken(self, game: str, seat: Seat, number: int) -> str:
        """Mint a token for the player that took the seat in entry `number`. Raises RefusedError if the host
        freed it since."""
        generations = await self._read_generations(game)
        if times_freed := generations.freed.get(seat, 0):
            entries = await self._ledger.read_view(game, None, 0, number)
            if sum(SeatFreed(seat) in entry.events for entry in entries) < times_freed:
                raise RefusedError(
                    "GAME-9", "the host has freed this seat since; to take it again, send another id"
                )
        return self._mint(game, seat, generations.of(seat))

    async def withdraw(self, token: Token) -> str:
        """Make all tokens of this one's holder void that were issued until now, and return a new one. Raises
        TokenError if this one was void already."""
        game, seat = token.holder
        generation = await self._ledger.token_generations().withdraw(game, seat, token.generation)
        self._kept_generations.pop(game, None)
        if generation is None:
            raise TokenError("this token was withdrawn")
        return self._mint(game, seat, generation)

    async def freed_seats(self, game: str) -> Mapping[Seat, int]:
        """How often each seat was freed until now; those that never were are left out."""
        return (await self._read_generations(game)).freed

    async def require_holder(self, game: str, bearer: str | None) -> Holder:
        """The seat that this token names, or None as its seat for the host. Raises as `require_token` does."""
        return (await self.require_token(game, bearer)).holder

    async def require_token(self, game: str, bearer: str | None) -> Token:
        """Check a token, and read it.

        Raises NotYoursError: it is of another game; or TokenError: there is none, it isn't signed by this
        server, it has ended, or it was withdrawn."""
        if not bearer:
            raise TokenError("send the seat's token: Authorization: Bearer <token>")
        token = self._keys.verify(bearer)
        if token is None:
            raise TokenError("this isn't a token of ours")
        if token.holder.game != game:
            raise NotYoursError("this token is for another game")
        refusal = self._refusal(token, UNKNOWN) or self._refusal(token, await self._generations(game))
        if refusal is not None:
            raise refusal
        return token

    async def require_seat(self, game: str, bearer: str | None) -> Seat:
        """The seat that the token names. Raises NotYoursError for the host's, which names none; else as `require_token`."""
        seat = (await self.require_holder(game, bearer)).seat
        if seat is None:
            raise NotYoursError("the host's token starts the game; it plays no seat")
        return seat

    async def times_freed(self, game: str, seat: Seat, bearer: str | None) -> int:
        """How often the seat was freed before the token's holder sat down there. Raises TokenError if it was freed
        since."""
        freed = await self.freed_seats(game)
        await self.require_token(game, bearer)  # by what was read just now
        return freed.get(seat, 0)

    async def watch(self, game: str, bearer: str | None, leaves: asyncio.Future[None]) -> None:
        """Raise TokenError once the token of an open socket of this game has ended or is withdrawn, which neither no token
        nor the operator's key does; or what is set to the future."""
        token = self._keys.verify(bearer) if bearer else None
        if token is None:
            await leaves
            return
        assert token.holder.game == game, "else it opened nothing"
        await self._token_watch.watch(token, leaves)

    async def _refusals(self, tokens: Sequence[Token]) -> list[TokenError | None]:
        """Why each of these opens nothing any more. An engine that is away withdraws none: nothing can be read or sent
        meanwhile either."""
        games = {token.holder.game for token in tokens}
        generations: dict[str, Generations] = {}
        with suppress(*ENGINE_ERRORS):
            generations = await self._ledger.token_generations().read_many(games)
        return [self._refusal(token, generations.get(token.holder.game, UNKNOWN)) for token in tokens]

    def _refusal(self, token: Token, generations: Generations) -> TokenError | None:
        if token.has_ended(self._wall_clock_s()):
            detail = "this token has ended; the id that you joined with gives another"
            return TokenError(detail)
        if token.generation < generations.of(token.holder.seat):
            return TokenError("this token was withdrawn")
        return None

    def _mint(self, game: str, seat: Seat | None, generation: int) -> str:
        end_s = token_end_s(self._wall_clock_s(), self._life_s)
        return self._keys.mint(Token(Holder(game, seat), generation, end_s))

    async def _generations(self, game: str) -> Generations:
        """The generations of a game's holders, as they were at most `GENERATIONS_KEPT_S` ago."""
        kept = self._kept_generations.get(game)
        if kept is not None and self._clock_s() < kept[0]:
            return kept[1]
        return await self._read_generations(game)

    async def _read_generations(self, game: str) -> Generations:
        until_s = self._clock_s() + GENERATIONS_KEPT_S
        generations = await self._ledger.token_generations().read(game)
        self._kept_generations[game] = until_s, generations
        return generations


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
