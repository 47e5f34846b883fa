"""The gateway's business, without its web: who speaks, may they, what did the referee say.

It knows no rules. It checks the form, the size, the token and the rate, puts the letter
on its way, and reads the verdict from the speaker's own view.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from schemas import tokens
from schemas.commands import Command, CommandEnvelope, CreateGame, StartGame, TakeSeat, read_command
from schemas.contract import Schema
from schemas.entries import ViewEntry
from schemas.errors import InvalidInputError
from schemas.events import GameStarted, SeatTaken
from schemas.field_types import CommandId, GameId, Seat
from services.gateway.archive_views import ArchiveViews
from services.gateway.command_tracking import (
    RETRY_HINT,
    AckRequest,
    CommandProgress,
    CommandTracker,
    parse_ack_request,
)
from services.gateway.hub import Hub
from services.gateway.problem_details import HttpProblemError
from services.gateway.rate_limit import RateLimiter
from services.ledger.ack_levels import ACCEPTED, DECIDED
from services.ledger.async_ledger import AsyncLedger

MIN_SECRET_ID_LENGTH: Final = 16  # an id that a new token hangs on must not be guessable

# How the house's own ids begin: one that is used up would stop a clock, or a play-off.
RESERVED_ID_PREFIXES: Final = ("clock:", "play-off:")

_COMMAND_ID: Final[Schema[str]] = Schema(CommandId, "Idempotency-Key")
_GAME_ID: Final[Schema[str]] = Schema(GameId, "game")


class GameLocation(NamedTuple):
    """A game that there is."""

    length: int  # how many entries it has
    archived: bool  # the engine, for the archive: it is over


class GatewayService:
    """Everything that a client may ask for, as plain calls. Raises Problem or Malformed."""

    def __init__(
        self,
        ledger: AsyncLedger,
        hub: Hub,
        token_key: bytes,
        rate_limiter: RateLimiter,
        answer_timeout_s: float,
        archive_views: ArchiveViews | None = None,
    ) -> None:
        self.ledger, self.hub, self.token_key = ledger, hub, token_key
        self.archive_views = archive_views or ArchiveViews(None)
        self.command_tracker = CommandTracker(ledger, hub)
        self.rate_limiter, self.answer_timeout_s = rate_limiter, answer_timeout_s

    # -- games ---------------------------------------------------------------------------

    async def create(
        self, body: Mapping[str, Any], id_: str | None, client: str, ack_request: AckRequest
    ) -> dict[str, Any]:
        """Lay a table. The same id again gives the same game and the same host's token."""
        result, _ = await self.create_from(_read_system_command(CreateGame, body), id_, client, ack_request)
        return result

    async def create_from(
        self, command: Command, id_: str | None, client: str, ack_request: AckRequest
    ) -> tuple[dict[str, Any], ViewEntry]:
        """A new game, and its first entry, by the command that lays it. Its id follows from the command's."""
        requested_id, id_ = id_, self._secret_command_id(id_)
        self.enforce_rate_limit(("house", client))
        game = hmac.new(self.token_key, b"game" + id_.encode(), sha256).hexdigest()[:12]
        entry, level = await self._find_archived_creation(game, requested_id) or await self._execute_decided(
            CommandEnvelope(id_, game, None, command), ack_request
        )
        seats = [
            {"seat": event.seat, "name": event.name, "policy": event.policy}
            for event in entry.events
            if isinstance(event, SeatTaken)
        ]
        host_token = tokens.mint(self.token_key, game, None)
        return {"game": game, "token": host_token, "taken": seats, **_verdict_fields(entry, level)}, entry

    async def join(
        self, game: str, body: Mapping[str, Any], id_: str | None, client: str, ack_request: AckRequest
    ) -> dict[str, Any]:
        """Sit down. The same id again gives the same seat and token."""
        await self.require_game(game)
        envelope = CommandEnvelope(
            self._secret_command_id(id_), game, None, _read_system_command(TakeSeat, body)
        )
        self.enforce_rate_limit(("house", client))
        entry, level = await self._execute_decided(envelope, ack_request)
        seat_taken = entry.events[0]
        if not isinstance(seat_taken, SeatTaken):  # the creation, say, whose bots' tokens are nobody's
            raise reused_id_error()
        token = tokens.mint(self.token_key, game, seat_taken.seat)
        return {
            "game": game,
            "seat": seat_taken.seat,
            "token": token,
            **_verdict_fields(entry, level),
        }

    async def start(
        self, game: str, bearer: str | None, id_: str | None, ack_request: AckRequest
    ) -> dict[str, Any]:
        """Shuffle and deal; the host or any seat may ask."""
        await self.require_game(game)
        holder = self.require_holder(game, bearer)
        envelope = CommandEnvelope(self._system_command_id(id_), game, None, StartGame())
        self.enforce_rate_limit((game, holder.seat))
        entry, level = await self._execute_decided(envelope, ack_request)
        if not isinstance(entry.events[0], GameStarted):
            raise reused_id_error()
        return {"game": game, **_verdict_fields(entry, level)}

    async def list_games(self, limit: int, client: str) -> list[str]:
        """The latest games. Every partition is asked, so nobody may ask without end."""
        self.enforce_rate_limit(("games", client))
        return await self.ledger.games(limit)

    async def read_page(
        self, game: str, bearer: str | None, after: int, limit: int, client: str
    ) -> tuple[Seat | None, Sequence[ViewEntry], int]:
        """Who asks, a page of what that viewer may see, and how many entries there are; of a game in the
        engine or in the archive. Raises Problem."""
        length, archived = await self.locate_game(game, client)
        viewer = self.resolve_viewer(game, bearer)
        if after >= length:
            return viewer, (), length
        if archived:
            entries = await self.archive_views.read_view(game, viewer) or ()
            return viewer, entries[after : after + limit], length
        return viewer, await self.ledger.read_view(game, viewer, after, limit), length

    async def require_game(self, game: str) -> int:
        """The number of the game's last entry. Raises Problem where there is no such game."""
        try:
            length = await self.ledger.read_length(_GAME_ID.read(game))
        except InvalidInputError:
            length = 0
        if not length:
            raise HttpProblemError(404, "GAME-1", f"there is no game {game[:40]}")
        return length

    async def locate_game(self, game: str, client: str) -> GameLocation:
        """How long the game is, and where. Raises Problem: it is neither in the engine nor in the archive,
        or this client looks into that too often."""
        try:
            return GameLocation(await self.require_game(game), archived=False)
        except HttpProblemError as not_found:
            self.enforce_rate_limit(("archive", client))
            entries = await self.archive_views.read_view(game, None)
            if entries is None:
                raise not_found from None
            return GameLocation(len(entries), archived=True)

    # -- who speaks ------------------------------------------------------------------------

    def require_holder(self, game: str, bearer: str | None) -> tokens.Holder:
        """Whose token this is. Raises Problem: none, not ours, or another game's."""
        if not bearer:
            raise HttpProblemError(401, "TOKEN-1", "send the seat's token: Authorization: Bearer <token>")
        holder = tokens.verify(self.token_key, bearer)
        if holder is None:
            raise HttpProblemError(401, "TOKEN-1", "this isn't a token of ours")
        if holder.game != game:
            raise HttpProblemError(403, "TOKEN-1", "this token is for another game")
        return holder

    def require_seat(self, game: str, bearer: str | None) -> Seat:
        """The seat that the token holds. The host's token holds none."""
        seat = self.require_holder(game, bearer).seat
        if seat is None:
            raise HttpProblemError(403, "TOKEN-1", "the host's token starts the game; it plays no seat")
        return seat

    def resolve_viewer(self, game: str, bearer: str | None) -> Seat | None:
        """Whose view a request may read: the token's seat, or without a token the public's."""
        return self.require_holder(game, bearer).seat if bearer else None

    # -- commands --------------------------------------------------------------------------

    def build_envelope(self, game: str, seat: Seat, body: object, id_: str | None) -> CommandEnvelope:
        """A seat's command on its way, checked in form, size and rate, and for whom it speaks."""
        if isinstance(body, dict) and "seat" in body:
            body = dict(body)
            claimed_seat = body.pop("seat")
            if claimed_seat.__class__ is not int or claimed_seat != seat:
                raise HttpProblemError(403, "TOKEN-1", f"your token is for seat {seat}")
        command = read_command(body, players_only=True)
        envelope = CommandEnvelope(self._command_id(id_), game, seat, command)
        self.enforce_rate_limit((game, seat))
        return envelope

    def parse_ack_request(self, level: object, wait_ms: object) -> AckRequest:
        """How sure a caller wants to be, within what time. Raises Malformed."""
        return parse_ack_request(level, wait_ms, self.answer_timeout_s)

    async def execute(self, envelope: CommandEnvelope, ack_request: AckRequest) -> CommandProgress:
        """Send a letter and follow it to a level, or as far as it comes within the time.

        Raises Problem if it was refused, or the level can't be had."""
        progress = await self.command_tracker.track(envelope, ack_request)
        if (problem := progress.refusal(envelope.id)) is not None:
            raise problem
        return progress

    async def _find_archived_creation(self, game: str, id_: str | None) -> tuple[ViewEntry, str] | None:
        """The verdict on the creation of a game that has left the engine since: the same id must not
        make it anew."""
        if id_ is None or await self.ledger.read_length(game):
            return None
        entries = await self.archive_views.read_view(game, None)
        return (entries[0], str(DECIDED)) if entries else None

    async def _execute_decided(
        self, envelope: CommandEnvelope, ack_request: AckRequest
    ) -> tuple[ViewEntry, str]:
        """The verdict on a command of the house, whose answer it is, and the level that it has."""
        if ack_request.level == ACCEPTED:
            raise InvalidInputError(
                "level", "must be decided or more here: the answer is what the verdict says"
            )
        progress = await self.execute(envelope, ack_request)
        if progress.entry is None:
            detail = f"no verdict at level {ack_request.level} within {ack_request.wait_s:g} s; Idempotency-Key: {envelope.id}; {RETRY_HINT}"
            raise HttpProblemError(
                503,
                "WAIT-1",
                detail,
                retry_after=1,
                id=envelope.id,
                verdict="unknown",
                **progress.json_fields(),
            )
        return progress.entry, str(progress.level)

    # -- small checks ------------------------------------------------------------------------

    def enforce_rate_limit(self, sender: object) -> None:
        """Count a request of this speaker's. Raises Problem: it has made too many."""
        if retry_after_s := self.rate_limiter.acquire(sender):
            raise HttpProblemError(
                429,
                "RATE-1",
                f"more than {self.rate_limiter.rate:g} commands a second",
                retry_after=max(1, round(retry_after_s)),
            )

    def _command_id(self, id_: str | None) -> str:
        return secrets.token_hex(12) if id_ is None else _COMMAND_ID.read(id_)

    def _system_command_id(self, id_: str | None) -> str:
        command_id = self._command_id(id_)
        if command_id.startswith(RESERVED_ID_PREFIXES):
            raise InvalidInputError(
                "Idempotency-Key", f"can't begin with {' or '.join(RESERVED_ID_PREFIXES)} here"
            )
        return command_id

    def _secret_command_id(self, id_: str | None) -> str:
        command_id = self._system_command_id(id_)
        if len(command_id) < MIN_SECRET_ID_LENGTH:
            raise InvalidInputError(
                "Idempotency-Key", f"needs {MIN_SECRET_ID_LENGTH} characters here, chosen at random"
            )
        return command_id


def _read_system_command(command_type: type[Command], body: Mapping[str, Any]) -> Command:
    """The command of the house that a body spells, its type being told by the address. That a game belongs
    to a play-off, or how another one stood, is for the referee alone to say."""
    for field in ("type", "play_off", "fork"):
        if field in body:
            raise InvalidInputError(field, "there is no such field")
    return read_command({**body, "type": command_type.type})


def _verdict_fields(entry: ViewEntry, level: str) -> dict[str, Any]:
    return {"number": entry.number, "level": level, "head": entry.shown.head.hex() or None}


def reused_id_error() -> InvalidInputError:
    """What is wrong with an id whose verdict answers something else."""
    return InvalidInputError("Idempotency-Key", "is the id of another command in this game")
