"""Tests have their folders in memory where many files fit and can be run, and elsewhere as pytest has them."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import ROOM_BYTES, has_room_for_programs

BLOCK_BYTES = 4096


@pytest.mark.parametrize(
    ("free_bytes", "flags", "is_taken"),
    [(ROOM_BYTES, 0, True), (ROOM_BYTES - BLOCK_BYTES, 0, False), (ROOM_BYTES, os.ST_NOEXEC, False)],
    ids=["room", "too little", "no programs"],
)
def test_a_folder_is_taken_where_there_is_room_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_bytes: int, flags: int, is_taken: bool
) -> None:
    system = SimpleNamespace(f_bavail=free_bytes // BLOCK_BYTES, f_frsize=BLOCK_BYTES, f_flag=flags)
    monkeypatch.setattr(os, "statvfs", lambda folder: system)
    assert has_room_for_programs(tmp_path) is is_taken


def test_a_folder_that_is_not_there_is_not_taken(tmp_path: Path) -> None:
    assert not has_room_for_programs(tmp_path / "nowhere")
