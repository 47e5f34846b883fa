"""What Python runs first in a service that chaos starts: at SIGUSR1 its wall clock jumps ahead, at the next one back."""

import signal
import time

JUMP_S = 1_800  # less than games that nobody starts may stay
_jumped_s = 0
_time, _time_ns = time.time, time.time_ns


def _jump(*_: object) -> None:
    global _jumped_s  # noqa: PLW0603 - it is the clock
    _jumped_s = JUMP_S - _jumped_s


time.time = lambda: _time() + _jumped_s
time.time_ns = lambda: _time_ns() + _jumped_s * 1_000_000_000
signal.signal(signal.SIGUSR1, _jump)
