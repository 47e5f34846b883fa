"""Sizes and seeds of the runs with real faults: short, `long`, and the longest for `make soak`.

A seed fixes what a test chooses, not how the processes interleave."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from typing import Final

import pytest

SOAK: Final = os.environ.get("LEDGERLINE_SOAK", "") not in ("", "0")
SEED: Final = "faults"


def run_seed() -> str:
    """The seed of this run: `LEDGERLINE_SEED`, a new one in a soak, else always the same one. It is
    printed, and pytest shows it on a failure."""
    seed = os.environ.get("LEDGERLINE_SEED") or (secrets.token_hex(4) if SOAK else SEED)
    print(f"repeat with LEDGERLINE_SEED={seed}")
    return seed


def sizes(
    short: Sequence[object], long: Sequence[object], soak: Sequence[object]
) -> list[pytest.ParameterSet]:
    """Parameters of a test that is run in two sizes, of which the second is marked `long`; in a soak
    only in the largest."""
    if SOAK:
        return [pytest.param(*soak, id="soak")]
    return [pytest.param(*short, id="short"), pytest.param(*long, id="long", marks=pytest.mark.long)]
