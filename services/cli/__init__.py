"""The `ledgerline` command. It imports only its entry point, so that `ledgerline ask` starts fast."""

import gc
import os
import signal
import sys
from types import FrameType
from typing import Final

__all__ = ["main"]
SERVICES: Final = {"serve", "gateway", "referee", "bots", "auditor"}


def main() -> None:
    """Run the command of this process. SIGTERM and SIGHUP stop it in order, as Ctrl-C does.

    A service that is stopped ends with 0, also while it starts: until it has handlers of its own, nothing is open."""
    on_stop = signal.default_int_handler if SERVICES.isdisjoint(sys.argv[1:2]) else _end_service
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, on_stop)
    gc.disable()  # until all is imported
    from services.cli.main import run_process  # noqa: PLC0415 - it takes a while, and may be stopped meanwhile

    run_process()


def _end_service(signal_number: int, frame: FrameType | None) -> None:
    os._exit(0)
