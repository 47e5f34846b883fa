"""Commands that break who judges them: a bug of ours, recognised by the command's id."""

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
    """Within the block, judging an envelope under such an id raises, or ends the process."""
    processor: Any = services.referee.command_processor  # it doesn't export what it imports
    judge = processor.decide_envelope

    def judged(table: Any, envelope: Any, *more: Any, **named: Any) -> Any:
        if envelope.id.startswith(RAISES):
            raise ArithmeticError("a bug in the rules, planted")
        if envelope.id.startswith(KILLS):
            raise Crash("killed by a letter")
        return judge(table, envelope, *more, **named)

    processor.decide_envelope = judged
    try:
        yield
    finally:
        processor.decide_envelope = judge
