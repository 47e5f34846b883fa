"""Games of bots alone, created and started by commands that go straight onto the command queue, many in one round trip.

They need no gateway: nobody gets a token for them, and one request each cost a twentieth of the CPU that the whole game takes.
What a gateway checks of such a creation is checked here: its form, and whose boards may be played.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from schemas.commands import Command, CommandEnvelope, CreateGame, StartGame, read_command
from schemas.errors import InvalidInputError, plain_field
from schemas.events import CommandRefused
from services.cli.playing.following import StallWatch
from services.ledger import CommandBatchSubmitter, CommandSubmitter, QueueFullError, ViewReader
from services.runtime.settings import Settings

PAUSE_S: Final = 0.01  # between two looks for a verdict, or two tries where too many commands wait
RESEND_S: Final = 30.0  # without a verdict: a fail-over may have lost the command
BATCH: Final = 256  # commands in one round trip


class BotGameLedger(CommandBatchSubmitter, CommandSubmitter, ViewReader, Protocol):
    """The ledger, for creating games."""


def create_bot_games(
    ledger: BotGameLedger, bodies: Sequence[Mapping[str, object]], failure_reason: Callable[[], str]
) -> list[str]:
    """The ids of new games, which are started: one for each body of a creation. `failure_reason` says why the server
    can't go on.

    Raises InvalidInputError where one is wrong or refused, CommandLineError where the server fails."""
    commands = [_read_creation(body) for body in bodies]
    games = [secrets.token_hex(6) for _ in commands]
    stall_watch = StallWatch(failure_reason)
    for name, wave in (("create", commands), ("start", [StartGame()] * len(games))):
        envelopes = [
            CommandEnvelope(name, game, None, command) for game, command in zip(games, wave, strict=True)
        ]
        _submit(ledger, envelopes, stall_watch)
        for envelope in envelopes:
            _await_verdict(ledger, envelope, stall_watch)
    return games


def with_seeds(body: Mapping[str, object], game_count: int) -> Iterator[Mapping[str, object]]:
    """The bodies of so many games. Where the body names a seed, each game's own is derived from it."""
    for index in range(game_count):
        yield {**body, "seed": f"{body['seed']}/{index}"} if "seed" in body and index else body


def require_own_boards(settings: Settings) -> None:
    """Raises InvalidInputError (OPERATOR-1): by the settings nobody may create games on boards of one's own, or only
    who has the operator's key, and there is none."""
    if settings.own_boards == "nobody" or (
        settings.own_boards == "operator" and not settings.operator_key.get_secret_value()
    ):
        who = "nobody" if settings.own_boards == "nobody" else "only who has LEDGERLINE_OPERATOR_KEY"
        raise InvalidInputError(
            "--board",
            f"{who} may create games on boards of their own (LEDGERLINE_OWN_BOARDS={settings.own_boards})",
            "OPERATOR-1",
        )


def _read_creation(body: Mapping[str, object]) -> Command:
    """Raises InvalidInputError, in the words of a gateway."""
    try:
        return read_command({**body, "type": CreateGame.type})
    except InvalidInputError as error:
        raise InvalidInputError(error.rule, f"{plain_field(error.field)}: {error.reason}") from None


def _submit(
    ledger: CommandBatchSubmitter, envelopes: Sequence[CommandEnvelope], stall_watch: StallWatch
) -> None:
    """Queue all of these. Raises what the engine answers, or CommandLineError where the server fails."""
    waiting = list(envelopes)
    while waiting:
        sent = waiting[:BATCH]
        errors = ledger.submit_all(sent)
        refused = [envelope for envelope, error in zip(sent, errors, strict=True) if error]
        for error in errors:
            if error and not isinstance(error, QueueFullError):
                raise error
        if len(refused) < len(sent):
            stall_watch.note_progress()
        else:
            stall_watch.check("the referee")
            time.sleep(PAUSE_S)
        waiting = waiting[len(sent) :] + refused


def _await_verdict(ledger: BotGameLedger, envelope: CommandEnvelope, stall_watch: StallWatch) -> None:
    """Return when the command is decided. Raises InvalidInputError where it is refused, CommandLineError where the
    server fails."""
    sent_s = time.monotonic()
    while (result := ledger.read_result(envelope.game, None, envelope.id)) is None:
        stall_watch.check("the referee")
        if time.monotonic() - sent_s > RESEND_S:
            _submit(ledger, [envelope], stall_watch)
            sent_s = time.monotonic()
        time.sleep(PAUSE_S)
    stall_watch.note_progress()
    if not result.sequence:
        raise InvalidInputError(result.rule, result.reason)
    for entry in ledger.read_view(envelope.game, None, result.sequence - 1, 1):
        for event in entry.events:
            if isinstance(event, CommandRefused):
                raise InvalidInputError(event.rule, event.why)
