"""Commands that break the referee that decides them, recognised by the command's id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import services.referee.decision_building
from tests.simulator.network import Crash

RAISES, KILLS = "poison-raises-", "poison-kills-"
POISONS: Final = (RAISES, KILLS)


@contextmanager
def poison() -> Iterator[None]:
    """Within the block, deciding a command with such an id raises, or ends the process."""
    processor: Any = services.referee.decision_building  # it doesn't export what it imports
    decide = processor.decide_envelope

    def decide_or_break(state: Any, envelope: Any, *more: Any, **named: Any) -> Any:
        if envelope.id.startswith(RAISES):
            raise ArithmeticError("a bug in the rules, planted")
        if envelope.id.startswith(KILLS):
            raise Crash("killed by a command")
        return decide(state, envelope, *more, **named)

    processor.decide_envelope = decide_or_break
    try:
        yield
    finally:
        processor.decide_envelope = decide
