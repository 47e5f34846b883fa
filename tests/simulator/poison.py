"""Commands that break whoever judges them: a bug of ours, told apart by the command's id."""

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
    """Within the block, judging a letter under such an id raises, or ends the process."""
    desk: Any = services.referee.command_processor  # it doesn't export what it imports
    judge = desk.decide_envelope

    def judged(table: Any, letter: Any, *more: Any, **named: Any) -> Any:
        if letter.id.startswith(RAISES):
            raise ArithmeticError("a bug in the rules, planted")
        if letter.id.startswith(KILLS):
            raise Crash("killed by a letter")
        return judge(table, letter, *more, **named)

    desk.decide_envelope = judged
    try:
        yield
    finally:
        desk.decide_envelope = judge
