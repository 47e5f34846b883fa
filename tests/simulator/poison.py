"""Commands that break the referee that decides them, recognised by the command's id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import services.referee.command_processor
from tests.simulator.network import Crash

RAISES, KILLS = "poison-raises-", "poison-kills-"
POISONS: Final = (RAISES, KILLS)


@contextmanager
def poison() -> Iterator[None]:
    """Within the block, deciding a command with such an id raises, or ends the process."""
    processor: Any = services.referee.command_processor  # it doesn't export what it imports
    build = processor.build_decision

    def build_or_break(command: Any, *more: Any) -> Any:
        if command.envelope.id.startswith(RAISES):
            raise ArithmeticError("a bug in the rules, planted")
        if command.envelope.id.startswith(KILLS):
            raise Crash("killed by a command")
        return build(command, *more)

    processor.build_decision = build_or_break
    try:
        yield
    finally:
        processor.build_decision = build
