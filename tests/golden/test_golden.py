"""Golden games: what was played once comes out the same for ever (P4)."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from schemas.codec import pack_entry, unpack_entry
from schemas.commands import CreateGame, Letter
from schemas.events import SeedSealed
from services.referee.rules import Table, faces, fold, judge, score
from services.telling import document

FILES = sorted(Path(__file__).parent.glob("*.json"))


def read(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    golden = json.loads(path.read_text())
    return golden["document"], [b64decode(line) for line in golden["log"]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_P4_an_old_log_folds_to_the_same_table_and_scores(path: Path) -> None:
    told, log = read(path)
    table = fold(log)
    assert document(table, told["events"], len(log)) == told
    assert table.over is not None
    assert table.over.scores == score(table)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_P4_every_old_command_is_decided_as_it_was_then(path: Path) -> None:
    _, log = read(path)
    entries = [unpack_entry(data) for data in log]
    (seed,) = [event.seed for event in entries[0].events if isinstance(event, SeedSealed)]
    table = Table()
    assert isinstance(entries[0].command, CreateGame)
    created = fold(log[:1]).created
    for data, entry in zip(log, entries, strict=True):
        letter = Letter(entry.id, path.stem, entry.seat, entry.command)
        events = judge(table, letter, created + entry.at, seed or "")
        assert events == entry.events
        assert pack_entry(entry, faces(events)) == data  # to the byte


def test_there_is_a_golden_game_for_every_way_to_end() -> None:
    ended = {read(path)[0]["ended"] for path in FILES}
    assert ended == {"last turns", "all passed", "out of time", "all gone"}
