"""Where a bot's commands go: straight onto the command queue."""

from __future__ import annotations

from typing import Protocol

from schemas.commands import CommandEnvelope
from services.ledger import CommandSubmitter


class CommandSink(Protocol):
    """Where a bot's commands go."""

    def send(self, envelope: CommandEnvelope) -> None:
        """Submit the command. Raises QueueFullError where this one must wait."""


class DirectSink:
    """Submits commands onto the command queue, as a gateway does."""

    def __init__(self, commands: CommandSubmitter) -> None:
        self.commands = commands

    def send(self, envelope: CommandEnvelope) -> None:
        """Submit the command. Raises QueueFullError."""
        self.commands.submit(envelope)
