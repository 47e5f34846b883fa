"""P1: which levels the packaged engine can give, as docs/reference/acknowledgements.md says."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from services.fast_path.engine_connection import engine_binary
from services.ledger.operations.engine_settings import MIN_SYNC_GAP_S
from tests.process_faults.engine_levels import try_levels

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "acknowledgements.md"


@pytest.mark.long
def test_P1_the_packaged_engine_gives_the_levels_that_the_page_says() -> None:
    levels = try_levels(engine_binary())
    assert (levels.durable_always, levels.replicated) == ("", "")
    assert "WAITAOF doesn't wait for the disk" in levels.durable_everysec
    assert levels.everysec_gap_s is not None
    assert levels.everysec_gap_s < MIN_SYNC_GAP_S
    [row] = [line for line in PAGE.read_text().splitlines() if line.startswith("| Valkey") and "9.1" in line]
    assert levels.product.split()[1] in row
    assert row.endswith("| yes | yes | no: 0.1 s at most | yes |")
