"""An auditor shows how much room is on the disks that it sees: in containers no gateway sees the engine's."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event, Thread

from services.bootstrap import composition
from services.metrics import declared as metrics
from services.runtime.settings import read_settings


def test_an_auditor_shows_the_room_on_the_disks_that_it_sees(engine_url: str, tmp_path: Path) -> None:
    # given
    metrics.DISK_FREE.read_from(dict)
    settings = read_settings(redis_url=engine_url, archive_url=tmp_path.as_uri(), signing_key="5e" * 32)
    stop = Event()
    # when
    running = Thread(target=composition.run_auditor, args=(settings, stop))
    running.start()
    # then
    try:
        while ("archive",) not in metrics.DISK_FREE.read():
            assert running.is_alive()
            time.sleep(0.02)
    finally:
        stop.set()
        running.join()
