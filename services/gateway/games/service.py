"""The plain calls of a gateway: create, join, start, send a command.

The service knows no rules. It checks the form, the size, the token and the rate, submits the command
envelope, and reads the verdict from the sender's own view.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from schemas.commands import (
    TYPES_BY_RULESET,
    Command,
    CommandEnvelope,
    CreateGame,
    StartGame,
    TakeSeat,
    UnknownCommandError,
    read_command,
    unknown_command,
)
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import GameStarted, SeatTaken
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import commitment_field
from schemas.web.tokens import TokenKeys
from services.gateway.errors import (
    EngineFullError,
    GameOverError,
    NotYetError,
    NotYoursError,
    RefusedError,
    RequestError,
)
from services.gateway.following.gateway_stop import Stopping
from services.gateway.following.hub import Hub
from services.gateway.games.authorization import Authorization, Invitations, take_invitation
from services.gateway.games.client_limits import HEAVY_COST, ClientLimits, CommandBudgets, CommandSender
from services.gateway.games.command_tracking import (
    RETRY_HINT,
    AckRequest,
    CommandProgress,
    CommandTracker,
    LoggedIds,
    parse_ack_request,
    read_command_id,
    read_secret_command_id,
    read_system_command_id,
)
from services.gateway.games.finished_games import FinishedGames
from services.gateway.games.game_creations import GameCreations
from services.gateway.games.game_views import GameViews
from services.gateway.games.open_games import (
    OPERATOR,
    OWN_BOARD_BYTES,
    PLAYED_BYTES,
    Creator,
    OpenGames,
)
from services.gateway.models import response_models as responses
from services.ledger import MissingEntryError
from services.ledger.acknowledgements import ACCEPTED, DECIDED
from services.ledger.async_ledger import AsyncLedger
from services.ledger.log.game_indexes import GameIds, GamePlace

DEFAULT_VISIBILITY: Final = "unlisted"  # of a game whose creator says nothing of it
SystemCommandT = TypeVar("SystemCommandT", bound=Command)


class GatewayService:
    """The gateway without its web. Raises RequestError or InvalidInputError."""

    def __init__(
        self,
        ledger: AsyncLedger,
        hub: Hub,
        token_keys: TokenKeys,
        limits: ClientLimits,
        finished_games: FinishedGames | None = None,
    ) -> None:
        self.ledger, self.hub = ledger, hub
        self.limits, self.rate_limiter, self.own_boards = limits, limits.rate_limiter, limits.own_boards
        self.finished_games = finished_games or FinishedGames(ledger)
        self.creations = GameCreations(ledger, self.finished_games)
        self.authorization = Authorization(
            ledger,
            token_keys,
            limits.token_life_s,
        )
        self.views = GameViews(ledger, self.finished_games, self.creations, self.authorization, limits)
        self.invitations = Invitations(token_keys, self.creations, self.authorization, limits.token_life_s)
        self.logged_ids = LoggedIds(ledger, token_keys)
        self.stopping = Stopping()
        self.command_tracker = CommandTracker(ledger, hub, self.stopping)
        self.open_games = OpenGames(limits.max_open_games, ledger, self.finished_games)
        self.budgets = CommandBudgets(limits.rate_limiter, self.open_games.creators_of)
        self._followed: set[asyncio.Task[None]] = set()

    # -- games ---------------------------------------------------------------------------

    async def create(
        self,
        body: Mapping[str, object],
        id_: str | None,
        client: str,
        ack_request: AckRequest,
        operator_key: str | None = None,
    ) -> responses.GameCreated:
        """A new game. The same id again gives the same game and the same host's token."""
        command = _read_system_command(CreateGame, body)
        if command.visibility is None:
            command = replace(command, visibility=DEFAULT_VISIBILITY)
        creators = [Creator.at(client), *([OPERATOR] if self.own_boards.is_operator(operator_key) else ())]
        created, _ = await self.create_from(command, id_, creators, ack_request)
        return created

    async def create_from(
        self, command: Command, id_: str | None, creators: Sequence[Creator], ack_request: AckRequest
    ) -> tuple[responses.GameCreated, ViewEntry]:
        """A new game by the command that creates it, and its first entry. The game's id follows from `id_`; the first
        of `creators` is the address."""
        requested_id, id_ = id_, read_secret_command_id(id_)
        is_light = (
            isinstance(command, CreateGame)
            and isinstance(command.board, str | None)
            and command.position is None
        )
        self.budgets.charge(creators, 1 if is_light else HEAVY_COST)
        game = await self._find_created_game(requested_id) or self.logged_ids.derive_game_id(id_)
        if (await self.ledger.read_memory(game)).is_nearly_full and not await self.ledger.read_length(game):
            raise EngineFullError
        async with self.open_games.creating(creators, game, PLAYED_BYTES if is_light else OWN_BOARD_BYTES):
            entry, level = await self._find_archived_creation(
                game, requested_id
            ) or await self.execute_decided(game, id_, command, ack_request, str(creators[0].identity))
        await self.ledger.record_creator(game, self.logged_ids.derive_creator(creators[0].identity))
        created = responses.GameCreated(
            game=game,
            token=await self.authorization.issue(game, None),
            taken=[
                responses.TakenSeat(seat=event.seat, name=event.name or "", policy=event.policy)
                for event in entry.events
                if isinstance(event, SeatTaken)
            ],
            invitations=await self.invitations.issue(game, entry.events),
            number=entry.number,
            level=level,
            head=hex_head(entry),
        )
        return created, entry

    async def join(
        self, game: str, body: Mapping[str, object], id_: str | None, client: str, ack_request: AckRequest
    ) -> responses.SeatJoined:
        """Take a seat. The same id again gives the same seat and token, until the game is over."""
        if (await self.views.locate(game, client)).archived:
            raise GameOverError(id_)
        invitation, body = take_invitation(body)
        id_, command = read_secret_command_id(id_), _read_system_command(TakeSeat, body)
        self.budgets.charge([Creator.at(client)], 1)
        command = await self.invitations.admit(game, invitation, command)
        entry, level = await self.execute_decided(game, id_, command, ack_request, client)
        seat_taken = entry.events[0]
        if not isinstance(seat_taken, SeatTaken):  # another command's: a creation also seats bots, say
            raise reused_id_error()
        await self.require_unfinished(game, id_)
        return responses.SeatJoined(
            game=game,
            seat=seat_taken.seat,
            token=await self.authorization.issue_taken(game, seat_taken.seat, entry.number),
            number=entry.number,
            level=level,
            head=hex_head(entry),
        )

    async def start(
        self, game: str, bearer: str | None, id_: str | None, client: str, ack_request: AckRequest
    ) -> responses.GameStarted:
        """Shuffle and deal; the host and every seat may ask for it."""
        await self.views.locate(game, client)
        holder = await self.authorization.require_holder(game, bearer)
        id_ = read_system_command_id(id_)
        self.rate_limiter.require((game, holder.seat))
        entry, level = await self.execute_decided(game, id_, StartGame(), ack_request, client)
        if not isinstance(entry.events[0], GameStarted):
            raise reused_id_error()
        return responses.GameStarted(game=game, number=entry.number, level=level, head=hex_head(entry))

    async def withdraw_token(self, game: str, bearer: str | None, client: str) -> responses.TokenIssued:
        """Make all tokens void that the token's holder was given until now, and give it a new one."""
        await self.views.locate(game, client)
        token = await self.authorization.require_token(game, bearer)
        seat = token.holder.seat
        self.rate_limiter.require((game, seat))
        new_token = await self.authorization.withdraw(token)
        return responses.TokenIssued(game=game, seat=seat, token=new_token)

    async def list_games(self, limit: int, client: str, after: GamePlace | None) -> GameIds:
        """The latest games after a place. It reads every partition, so it costs as much as many commands."""
        self.budgets.charge([Creator.at(client)], HEAVY_COST)
        return await self.ledger.games(limit, after)

    async def require_unfinished(self, game: str, id_: str | None) -> None:
        """Raise GameOverError if the game is over: tokens are issued no more."""
        if await self.finished_games.is_over(game):
            raise GameOverError(id_)

    # -- commands --------------------------------------------------------------------------

    def build_envelope(self, game: str, seat: Seat, body: object, id_: str | None) -> CommandEnvelope:
        """A seat's command in its envelope, after the checks of its form and the seat it names."""
        if isinstance(body, dict) and "seat" in body:
            body = dict(body)
            claimed_seat = body.pop("seat")
            if claimed_seat.__class__ is not int or claimed_seat != seat:
                raise NotYoursError(f"your token is for seat {seat}")
        command = read_command(body, players_only=True)
        return CommandEnvelope(read_command_id(id_), game, seat, command)

    async def read_command(self, game: str, seat: Seat, body: object, id_: str | None) -> CommandEnvelope:
        """A seat's command in its envelope, after the checks of its form and the seat it names. The error for a command
        that there isn't names those of the game."""
        try:
            return self.build_envelope(game, seat, body, id_)
        except UnknownCommandError:
            ruleset = (await self.creations.find(game)).ruleset or ""
            if types := TYPES_BY_RULESET.get(ruleset):
                raise unknown_command(types) from None
            raise

    def parse_ack_request(self, level: object, wait_ms: object) -> AckRequest:
        """The level of acknowledgement that a caller asks for, and its time. Raises InvalidInputError."""
        return parse_ack_request(level, wait_ms, self.limits.answer_timeout_s)

    async def execute(
        self, envelope: CommandEnvelope, ack_request: AckRequest, client: str = ""
    ) -> CommandProgress:
        """Submit a command from an address, in its turn, and follow it to a level, or as far as it gets within the time.

        Raises RequestError if it was refused, or the engine can't give the level."""
        sender = self.budgets.sender(envelope.game, envelope.seat, client)
        await sender.take_within(ack_request.wait_s)
        try:
            progress = await self._track(envelope, ack_request)
        except (RequestError, InvalidInputError) as error:
            sender.answered(is_refused=True if isinstance(error, RefusedError) else None)
            raise
        except BaseException:
            self.follow_unheard(envelope, sender)
            raise
        if progress.entry is None:
            self.follow_unheard(envelope, sender)
        else:
            sender.answered(is_refused=False)
        return progress

    async def _track(self, envelope: CommandEnvelope, ack_request: AckRequest) -> CommandProgress:
        try:
            progress = await self.command_tracker.track(envelope, ack_request)
        except RequestError as rejection:
            found = await self.finished_games.find_progress(envelope, rejected_by=rejection.rule)
            if found is None:
                raise
            progress = found
        return progress.require_accepted(envelope.id)

    def follow_unheard(self, envelope: CommandEnvelope, sender: CommandSender) -> None:
        """Keep the place of a command until it has the verdict for which its client waits no more, or a while."""

        async def follow() -> None:
            is_refused = None
            try:
                progress = await self.command_tracker.resume(envelope, self.parse_ack_request(None, None))
                if progress.entry is not None:
                    progress.require_accepted(envelope.id)
                    is_refused = False
            except RefusedError:
                is_refused = True
            except (RequestError, InvalidInputError, MissingEntryError, CorruptDataError):
                pass
            finally:
                sender.answered(is_refused=is_refused)

        task = asyncio.create_task(follow())
        self._followed.add(task)
        task.add_done_callback(self._followed.discard)

    def close(self) -> None:
        """Follow no command any more."""
        for task in self._followed:
            task.cancel()

    async def _find_created_game(self, id_: str | None) -> str | None:
        """The game that this id created while another token key signed, if there is one."""
        for game in self.logged_ids.derive_other_game_ids(id_) if id_ else ():
            if await self.ledger.read_length(game) or await self.finished_games.read_view(game, None):
                return game
        return None

    async def _find_archived_creation(self, game: str, id_: str | None) -> tuple[ViewEntry, str] | None:
        """The verdict on the creation of a game that the engine no longer has: the same id must not
        create it again."""
        if id_ is None or await self.ledger.read_length(game):
            return None
        entries = await self.finished_games.read_view(game, None)
        return (entries[0], str(DECIDED)) if entries else None

    async def execute_decided(
        self, game: str, id_: str, command: Command, ack_request: AckRequest, client: str
    ) -> tuple[ViewEntry, str]:
        """The verdict on a system command from an address, and its level. Raises RefusedError, or NotYetError: there is none
        in time.

        The log has it under an id that is derived from `id_`; answers name `id_` itself."""
        if ack_request.level == ACCEPTED:
            raise InvalidInputError(
                "level", "must be decided or more here: the answer is what the verdict says"
            )
        envelope = CommandEnvelope(await self.logged_ids.find(game, id_), game, None, command)
        try:
            progress = await self.execute(envelope, ack_request, client)
        except RequestError as error:
            if "id" in error.extensions:
                error.extensions["id"] = id_
            raise
        if progress.entry is None:
            detail = f"no verdict at level {ack_request.level} within {ack_request.wait_s:g} s; Idempotency-Key: {id_}; {RETRY_HINT}"
            raise NotYetError(detail, 1, id=id_, verdict="unknown", **progress.json_fields())
        return progress.entry, str(progress.level)


def hex_head(entry: ViewEntry) -> str | None:
    """The head of the chain after an entry, in hex; None if it isn't known."""
    return entry.shown.head.hex() or None


def reused_id_error() -> InvalidInputError:
    """The error of an id whose verdict is on another command."""
    return InvalidInputError("Idempotency-Key", "is the id of another command in this game")


def _read_system_command(command_type: type[SystemCommandT], body: Mapping[str, object]) -> SystemCommandT:
    """The system command that a body holds; the path gives its type. Only the referee sets `play_off` and
    `fork`."""
    for field in ("type", "play_off", "fork"):
        if field in body:
            raise InvalidInputError(field, "there is no such field")
    command = read_command({**body, "type": command_type.type})
    assert isinstance(command, command_type), "its type is the path's"
    if field := commitment_field(command):
        raise InvalidInputError(field, "there is no such field")
    return command
