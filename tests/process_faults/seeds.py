"""Seeds of the runs with faults: printed, so that a run that fails can be repeated."""

from __future__ import annotations

import os
import secrets

SOAK = os.environ.get("LEDGERLINE_SOAK", "") not in ("", "0")


def new_seed() -> str:
    """The seed of this run: the one that is given, or a new one. Pytest shows it on a failure."""
    seed = os.environ.get("LEDGERLINE_SEED") or secrets.token_hex(4)
    print(f"repeat with LEDGERLINE_SEED={seed}")
    return seed
