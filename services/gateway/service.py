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
from schemas.commands import Command, CreateGame, Letter, StartGame, TakeSeat, read_command
from schemas.contract import Malformed, Shape
from schemas.entries import ViewEntry
from schemas.events import GameStarted, SeatTaken
from schemas.field_types import CommandId, GameId, Seat
from services.gateway.archive_views import Archived
from services.gateway.command_tracking import AGAIN, Ask, Reached, Verdicts, read_ask
from services.gateway.hub import Hub
from services.gateway.problem_details import Problem
from services.gateway.rate_limit import Limits
from services.ledger.ack_levels import ACCEPTED, DECIDED
from services.ledger.async_ledger import AsyncLedger

SECRET_ID_LEAST: Final = 16  # an id that a new token hangs on must not be guessable

# How the house's own ids begin: one that is used up would stop a clock, or a play-off.
OWN_IDS: Final = ("clock:", "play-off:")

_COMMAND_ID: Final[Shape[str]] = Shape(CommandId, "Idempotency-Key")
_GAME_ID: Final[Shape[str]] = Shape(GameId, "game")


class Standing(NamedTuple):
    """A game that there is."""

    length: int  # how many entries it has
    left: bool  # the engine, for the archive: it is over


class Door:
    """Everything that a client may ask for, as plain calls. Raises Problem or Malformed."""

    def __init__(
        self,
        ledger: AsyncLedger,
        hub: Hub,
        key: bytes,
        limits: Limits,
        answer_s: float,
        archived: Archived | None = None,
    ) -> None:
        self.ledger, self.hub, self.key = ledger, hub, key
        self.archived = archived or Archived(None)
        self.verdicts = Verdicts(ledger, hub)
        self.limits, self.answer_s = limits, answer_s

    # -- games ---------------------------------------------------------------------------

    async def create(self, body: Mapping[str, Any], id_: str | None, client: str, ask: Ask) -> dict[str, Any]:
        """Lay a table. The same id again gives the same game and the same host's token."""
        told, _ = await self.lay(_read_house(CreateGame, body), id_, client, ask)
        return told

    async def lay(
        self, command: Command, id_: str | None, client: str, ask: Ask
    ) -> tuple[dict[str, Any], ViewEntry]:
        """A new game, and its first entry, by the command that lays it. Its id follows from the command's."""
        said, id_ = id_, self._secret_id(id_)
        self.limit(("house", client))
        game = hmac.new(self.key, b"game" + id_.encode(), sha256).hexdigest()[:12]
        entry, level = await self._made_before(game, said) or await self._decided(
            Letter(id_, game, None, command), ask
        )
        seats = [
            {"seat": event.seat, "name": event.name, "policy": event.policy}
            for event in entry.events
            if isinstance(event, SeatTaken)
        ]
        host = tokens.mint(self.key, game, None)
        return {"game": game, "token": host, "taken": seats, **_reached(entry, level)}, entry

    async def join(
        self, game: str, body: Mapping[str, Any], id_: str | None, client: str, ask: Ask
    ) -> dict[str, Any]:
        """Sit down. The same id again gives the same seat and token."""
        await self.require_game(game)
        letter = Letter(self._secret_id(id_), game, None, _read_house(TakeSeat, body))
        self.limit(("house", client))
        entry, level = await self._decided(letter, ask)
        taken = entry.events[0]
        if not isinstance(taken, SeatTaken):  # the creation, say, whose bots' tokens are nobody's
            raise used_for_another()
        token = tokens.mint(self.key, game, taken.seat)
        return {
            "game": game,
            "seat": taken.seat,
            "token": token,
            **_reached(entry, level),
        }

    async def start(self, game: str, bearer: str | None, id_: str | None, ask: Ask) -> dict[str, Any]:
        """Shuffle and deal; the host or any seat may ask."""
        await self.require_game(game)
        holder = self.holder(game, bearer)
        letter = Letter(self._house_id(id_), game, None, StartGame())
        self.limit((game, holder.seat))
        entry, level = await self._decided(letter, ask)
        if not isinstance(entry.events[0], GameStarted):
            raise used_for_another()
        return {"game": game, **_reached(entry, level)}

    async def games(self, most: int, client: str) -> list[str]:
        """The latest games. Every partition is asked, so nobody may ask without end."""
        self.limit(("games", client))
        return await self.ledger.games(most)

    async def page(
        self, game: str, bearer: str | None, after: int, most: int, client: str
    ) -> tuple[Seat | None, Sequence[ViewEntry], int]:
        """Who asks, a page of what that viewer may see, and how many entries there are; of a game in the
        engine or in the archive. Raises Problem."""
        length, left = await self.standing(game, client)
        viewer = self.viewer(game, bearer)
        if after >= length:
            return viewer, (), length
        if left:
            whole = await self.archived.view(game, viewer) or ()
            return viewer, whole[after : after + most], length
        return viewer, await self.ledger.seen(game, viewer, after, most), length

    async def require_game(self, game: str) -> int:
        """The number of the game's last entry. Raises Problem where there is no such game."""
        try:
            length = await self.ledger.length(_GAME_ID.read(game))
        except Malformed:
            length = 0
        if not length:
            raise Problem(404, "GAME-1", f"there is no game {game[:40]}")
        return length

    async def standing(self, game: str, client: str) -> Standing:
        """How long the game is, and where. Raises Problem: it is neither in the engine nor in the archive,
        or this client looks into that too often."""
        try:
            return Standing(await self.require_game(game), left=False)
        except Problem as unknown:
            self.limit(("archive", client))
            whole = await self.archived.view(game, None)
            if whole is None:
                raise unknown from None
            return Standing(len(whole), left=True)

    # -- who speaks ------------------------------------------------------------------------

    def holder(self, game: str, bearer: str | None) -> tokens.Holder:
        """Whose token this is. Raises Problem: none, not ours, or another game's."""
        if not bearer:
            raise Problem(401, "TOKEN-1", "send the seat's token: Authorization: Bearer <token>")
        holder = tokens.read(self.key, bearer)
        if holder is None:
            raise Problem(401, "TOKEN-1", "this isn't a token of ours")
        if holder.game != game:
            raise Problem(403, "TOKEN-1", "this token is for another game")
        return holder

    def seat(self, game: str, bearer: str | None) -> Seat:
        """The seat that the token holds. The host's token holds none."""
        seat = self.holder(game, bearer).seat
        if seat is None:
            raise Problem(403, "TOKEN-1", "the host's token starts the game; it plays no seat")
        return seat

    def viewer(self, game: str, bearer: str | None) -> Seat | None:
        """Whose view a request may read: the token's seat, or without a token the public's."""
        return self.holder(game, bearer).seat if bearer else None

    # -- commands --------------------------------------------------------------------------

    def letter(self, game: str, seat: Seat, body: object, id_: str | None) -> Letter:
        """A seat's command on its way, checked in form, size and rate, and for whom it speaks."""
        if isinstance(body, dict) and "seat" in body:
            body = dict(body)
            said = body.pop("seat")
            if said.__class__ is not int or said != seat:
                raise Problem(403, "TOKEN-1", f"your token is for seat {seat}")
        command = read_command(body, players_only=True)
        letter = Letter(self._id(id_), game, seat, command)
        self.limit((game, seat))
        return letter

    def ask(self, level: object, wait_ms: object) -> Ask:
        """How sure a caller wants to be, within what time. Raises Malformed."""
        return read_ask(level, wait_ms, self.answer_s)

    async def command(self, letter: Letter, ask: Ask) -> Reached:
        """Send a letter and follow it to a level, or as far as it comes within the time.

        Raises Problem if it was refused, or the level can't be had."""
        reached = await self.verdicts.reach(letter, ask)
        if (problem := reached.refusal(letter.id)) is not None:
            raise problem
        return reached

    async def _made_before(self, game: str, id_: str | None) -> tuple[ViewEntry, str] | None:
        """The verdict on the creation of a game that has left the engine since: the same id must not
        make it anew."""
        if id_ is None or await self.ledger.length(game):
            return None
        whole = await self.archived.view(game, None)
        return (whole[0], str(DECIDED)) if whole else None

    async def _decided(self, letter: Letter, ask: Ask) -> tuple[ViewEntry, str]:
        """The verdict on a command of the house, whose answer it is, and the level that it has."""
        if ask.level == ACCEPTED:
            raise Malformed("level", "must be decided or more here: the answer is what the verdict says")
        reached = await self.command(letter, ask)
        if reached.entry is None:
            why = f"no verdict at level {ask.level} within {ask.wait_s:g} s; Idempotency-Key: {letter.id}; {AGAIN}"
            raise Problem(
                503, "WAIT-1", why, retry_after=1, id=letter.id, verdict="unknown", **reached.body()
            )
        return reached.entry, str(reached.level)

    # -- small checks ------------------------------------------------------------------------

    def limit(self, speaker: object) -> None:
        """Count a request of this speaker's. Raises Problem: it has made too many."""
        if wait := self.limits.wait_s(speaker):
            raise Problem(
                429,
                "RATE-1",
                f"more than {self.limits.rate:g} commands a second",
                retry_after=max(1, round(wait)),
            )

    def _id(self, id_: str | None) -> str:
        return secrets.token_hex(12) if id_ is None else _COMMAND_ID.read(id_)

    def _house_id(self, id_: str | None) -> str:
        checked = self._id(id_)
        if checked.startswith(OWN_IDS):
            raise Malformed("Idempotency-Key", f"can't begin with {' or '.join(OWN_IDS)} here")
        return checked

    def _secret_id(self, id_: str | None) -> str:
        checked = self._house_id(id_)
        if len(checked) < SECRET_ID_LEAST:
            raise Malformed("Idempotency-Key", f"needs {SECRET_ID_LEAST} characters here, chosen at random")
        return checked


def _read_house(kind: type[Command], body: Mapping[str, Any]) -> Command:
    """The command of the house that a body spells, its type being told by the address. That a game belongs
    to a play-off, or how another one stood, is for the referee alone to say."""
    for field in ("type", "play_off", "fork"):
        if field in body:
            raise Malformed(field, "there is no such field")
    return read_command({**body, "type": kind.type})


def _reached(entry: ViewEntry, level: str) -> dict[str, Any]:
    return {"number": entry.number, "level": level, "head": entry.shown.head.hex() or None}


def used_for_another() -> Malformed:
    """What is wrong with an id whose verdict answers something else."""
    return Malformed("Idempotency-Key", "is the id of another command in this game")
