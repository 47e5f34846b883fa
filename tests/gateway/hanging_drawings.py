"""A drawing that never ends. A process imports it by name."""

from __future__ import annotations

import time
from typing import NoReturn


def hangs(text: bytes) -> NoReturn:
    """Never draw."""
    while True:
        time.sleep(60)
