"""`ledgerline gateway`, with a task on its loop that notes how long the loop stood still.

It adds a line to the file that LEDGERLINE_BENCH_PROBE names, each second: the longest time between two turns of the
task in that second, in milliseconds, as a clock has it and as CPU of the loop's thread. The second says what
the gateway does, whatever else the machine is busy with.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from pathlib import Path
from typing import Final

import uvicorn

from services.cli import main

TURN_S: Final = 0.002


async def probe(path: Path) -> None:
    while True:
        wall_s = cpu_s = 0.0
        until_s = time.monotonic() + 1
        while time.monotonic() < until_s:
            began_s, began_cpu_s = time.monotonic(), time.thread_time()
            await asyncio.sleep(TURN_S)
            wall_s = max(wall_s, time.monotonic() - began_s - TURN_S)
            cpu_s = max(cpu_s, time.thread_time() - began_cpu_s)
        with path.open("a") as lines:
            lines.write(f"{wall_s * 1e3:.1f} {cpu_s * 1e3:.1f}\n")


class ProbedServer(uvicorn.Server):
    """uvicorn's, with the task."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.probing = asyncio.create_task(probe(Path(os.environ["LEDGERLINE_BENCH_PROBE"])))


if __name__ == "__main__":
    vars(uvicorn)["Server"] = ProbedServer
    main()
