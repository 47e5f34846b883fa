"""What a referee logs of its decisions, for operators. (The log of a game is something else.)"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import structlog

from schemas.commands import CommandEnvelope
from schemas.events import CommandRefused, Event, GameCreated, GameEnded, GameStarted, SeatGone

MAX_REMEMBERED_FAILURES: Final = 64
LOGGED_EVENTS: Final = frozenset((CommandRefused, GameCreated, GameStarted, SeatGone, GameEnded))


def log_fields(envelope: CommandEnvelope) -> dict[str, object]:
    """The fields by which every line names a command."""
    return {
        "game": envelope.game,
        "seat": envelope.seat,
        "command": envelope.id,
        "type": envelope.command.type,
    }


def log_decision(
    log: structlog.typing.FilteringBoundLogger,
    envelope: CommandEnvelope,
    events: Iterable[Event],
    sequence: int,
    *,
    verbose: bool,
) -> None:
    """What an operator looks for, at info level; if `verbose`, one line an entry at debug level."""
    for event in events:
        if event.__class__ in LOGGED_EVENTS:
            fields = {**log_fields(envelope), "sequence": sequence}
            if isinstance(event, CommandRefused):
                log.info("command refused", **fields, rule=event.rule, why=event.why)
            else:
                log.info(event.type.replace("_", " "), **fields)
    if verbose:
        types = [event.type for event in events]
        log.debug("entry appended", **log_fields(envelope), sequence=sequence, events=types)


class FailureLog:
    """Remembers which failures were logged with their traceback: a thousand commands that fail in one
    line are one traceback. It starts anew when it is full."""

    def __init__(self) -> None:
        self._failures: set[object] = set()

    def is_new(self, error: Exception) -> bool:
        """Whether no error of this type was raised in this line of code lately."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_next is not None:
            traceback = traceback.tb_next
        failure = type(error), traceback and (traceback.tb_frame.f_code, traceback.tb_lineno)
        if failure in self._failures:
            return False
        if len(self._failures) >= MAX_REMEMBERED_FAILURES:
            self._failures.clear()
        self._failures.add(failure)
        return True
