"""How long a thread computes before another one of its process has its turn.

A thread that waits for an engine or a socket gives the interpreter away, and gets it back when the one that took it has had
its turn: 5 ms, as Python comes. Beside a bot that thinks, or a list of moves on a large board, a request that asks the
engine ten times then takes 50 ms more, and a referee that answers a command waits as long for each step.
"""

from __future__ import annotations

import sys
from typing import Final

TURN_S: Final = 0.0005


def shorten_turns() -> None:
    """Shorten the turns of all threads of this process."""
    sys.setswitchinterval(TURN_S)
