"""Where a bot's commands go when no gateway is set: straight onto the command queue."""

from __future__ import annotations

from typing import Protocol

from schemas.commands import CommandEnvelope
from services.ledger import (
    CommandSubmitter,
)


class CommandSink(Protocol):
    """Where a bot's commands go: straight to the commands stream, or through the gateway."""

    def send(self, envelope: CommandEnvelope) -> None:
        """Submit the command. Raises QueueFullError or RetryLaterError where this one must wait,
        ConnectionError where all must."""


class DirectSink:
    """Submits commands straight to the commands stream."""

    def __init__(self, commands: CommandSubmitter) -> None:
        self.commands = commands

    def send(self, envelope: CommandEnvelope) -> None:
        """Submit the command. Raises QueueFullError."""
        self.commands.submit(envelope)
