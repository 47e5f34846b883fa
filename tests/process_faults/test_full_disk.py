"""P1, P7: an engine whose real, small disk is full loses nothing that was acknowledged, and goes on once there is room."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.small_disk import run_on_small_disk


def on_a_full_disk(folder: Path, policy: str) -> dict[str, Any]:
    """What was found before, while and after the disk was full."""
    result = run_on_small_disk("tests.process_faults.full_disk_run", folder / "engine", 4, policy)
    assert result.returncode == 0, result.stderr[-4000:]
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    print(found)
    assert (found["lost"], found["spoilt"]) == (0, [])
    assert found["acknowledged"] >= 60, "play went on"
    return found


@pytest.mark.long
@pytest.mark.timeout(600)
def test_P1_an_engine_that_syncs_always_ends_on_a_full_disk_and_at_every_start_until_there_is_room(
    tmp_path: Path,
) -> None:
    found = on_a_full_disk(tmp_path, "always")
    assert (found["exit code"], found["exit code of a second start"]) == (1, 1)
    assert found["said"], "its last line names the reason"
    assert "the engine: away" in found["problems"]
    [[part, says]] = found["doctor"]
    assert (part, says.startswith("the engine doesn't answer")) == ("engine", True)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_P7_an_engine_that_syncs_each_second_refuses_writes_and_goes_on_by_itself(tmp_path: Path) -> None:
    found = on_a_full_disk(tmp_path, "everysec")
    assert "the engine: refusing writes" in found["problems"]
    assert ["persistence", "the last write to the AOF failed"] in found["doctor"]
    assert "disk" in {part for part, _ in found["doctor"]}
