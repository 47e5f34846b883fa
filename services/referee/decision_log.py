"""What a referee logs of its decisions, for operators. (The log of a game is something else.)"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import structlog

from schemas.commands import CommandEnvelope
from schemas.events import CommandRefused, Event, GameCreated, GameEnded, GameStarted, SeatGone

MAX_REMEMBERED_FAILURES: Final = 64


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
) -> None:
    """One line an entry at debug level; what an operator looks for at info."""
    fields = {**log_fields(envelope), "sequence": sequence}
    for event in events:
        if isinstance(event, CommandRefused):
            log.info("command refused", **fields, rule=event.rule, why=event.why)
        elif isinstance(event, GameCreated | GameStarted | SeatGone | GameEnded):
            log.info(event.type.replace("_", " "), **fields)
    log.debug("entry appended", **fields, events=[event.type for event in events])


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
