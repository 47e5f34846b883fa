"""A game that is over becomes a stored one: its streams are removed, once its file in the engine was checked again.

An auditor made the file of the log, and a referee, which alone may remove a log, believes nobody: it decodes the
file, compares it with the log entry by entry, and its head with that of the log (P7, P9).
"""

from __future__ import annotations

from typing import Final, Protocol

from schemas.errors import CorruptDataError
from schemas.events import GameEnded
from schemas.stored.codec import unpack_for_fold
from services.archive import GameFile, GameFileError, decode_game_file
from services.ledger import DeadlineIndex, EventReader, GameLog, StoredGame, StreamRemovalIndex
from services.referee.games import fold
from services.runtime.logging_setup import get_logger

log: Final = get_logger("referee")


class RemovalLedger(EventReader, DeadlineIndex, StreamRemovalIndex, Protocol):
    """What removing streams needs of the ledger."""


def remove_streams(ledger: RemovalLedger, game: str) -> bool:
    """Remove the streams of a finished game if the engine's file of it has all that they have; returns whether they
    are removed. Where the file is another game's, or an earlier end's, they stay until it is stored anew.

    Raises MissingEntryError or CorruptDataError: the log can't be read."""
    if ledger.has_deadline(game):
        return False  # its play-off is still to come
    stored, game_log = ledger.read_stored_game(game), ledger.read_log(game)
    if stored is None or not game_log.entries:
        ledger.schedule_removal(game, None)
    elif not _is_made_of(stored, game, game_log):
        log.error(
            "the file of a finished game isn't that of its log", game=game, sequence=len(game_log.entries)
        )
        ledger.schedule_removal(game, None)
    elif ledger.remove_streams(game, len(fold(game_log.entries[:1]).seats), game_log, stored.data):
        log.info("game stored", game=game, sequence=len(game_log.entries), bytes=len(stored.data))
        return True
    return False


def decode_stored(stored: StoredGame, game: str) -> GameFile:
    """The file that the engine has of a game. Raises CorruptDataError."""
    try:
        return decode_game_file(stored.data)
    except GameFileError as error:
        raise CorruptDataError(f"the engine's file of {game}: {error}") from None


def _is_made_of(stored: StoredGame, game: str, game_log: GameLog) -> bool:
    try:
        file = decode_stored(stored, game)
    except CorruptDataError:
        return False
    *_, events = unpack_for_fold(game_log.entries[-1])
    return (
        (file.game, file.number, file.head) == (game, len(game_log.entries), game_log.head)
        and file.entries == [*game_log.entries]
        and any(isinstance(event, GameEnded) for event in events)
    )
