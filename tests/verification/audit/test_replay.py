"""Every check of an audit, its explanation and its page read one replay of the log."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgpack
import pytest

from schemas.errors import CorruptDataError
from schemas.events import CommandRefused
from services.archive import Signer, decode_game_file, encode_game_file
from services.cli.games.audit import load_game, run_audit
from services.ledger import RedisLedger
from services.referee.games import fold
from services.verification.audit import audit, audit_json
from services.verification.explanation import explain
from services.verification.game_repository import GameRepository
from services.verification.log_check import check_file
from services.verification.replay import Replay, reseal_log
from services.verification.report.page import render_page
from tests.referee.running_referee import GAME
from tests.verification.audit.given import NAMES, USA, entries, golden, rewritten


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often each value of bytes was decoded since the test began."""
    counts: Counter[bytes] = Counter()
    unpackb = msgpack.unpackb

    def count(data: bytes, **options: Any) -> Any:
        counts[bytes(data)] += 1
        return unpackb(data, **options)

    monkeypatch.setattr(msgpack, "unpackb", count)
    return counts


def test_an_audit_of_a_file_with_its_page_decodes_every_entry_once(decoded: Counter[bytes]) -> None:
    log = golden()
    heads = [resealed.sealed.head for resealed in reseal_log(USA, log)]
    file = decode_game_file(encode_game_file(USA, log, heads, Signer("5e" * 32)))
    decoded.clear()
    replayed = Replay(file.game, file.entries)
    result = audit(replayed, check_file(file, replay=replayed))
    assert result.ok
    render_page(result, replayed, explain(replayed, 20))
    audit_json(result, replayed, 20)
    assert {decoded[data] for data in log} == {1}


def test_an_audit_of_the_engine_with_its_page_decodes_every_entry_once(
    ledger: RedisLedger, decoded: Counter[bytes], tmp_path: Path
) -> None:
    log = ledger.read_entries(GAME)
    repository = GameRepository(ledger, None)
    decoded.clear()
    page = tmp_path / "page.html"
    assert run_audit(load_game(GAME, repository), 5, True, page)
    assert page.exists()
    assert {decoded[data] for data in log} == {1}


@pytest.mark.parametrize("game", NAMES[::9])
def test_a_replay_has_what_the_log_has(game: str) -> None:
    log = golden(game)
    replayed = Replay(game, log)
    assert replayed.decoded == ((*entries(game),), None)
    assert [each.entry for each in replayed.redecided.entries] == entries(game)
    assert all(each.decision.agrees_with(each.entry.events) for each in replayed.redecided.entries)
    assert replayed.resealed == ((*reseal_log(game, log),), None)
    assert replayed.state_after(len(log)).result == fold(log).result


def test_every_pass_ends_at_an_entry_that_can_not_be_decoded() -> None:
    log = golden()
    log[40] = b"\xc1"
    replayed = Replay(USA, log)
    passes = (replayed.decoded, replayed.resealed, replayed.redecided)
    assert [len(each.entries) for each in passes] == [40, 40, 40]
    assert isinstance(replayed.decoded.error, CorruptDataError)
    assert {each.error for each in passes} == {replayed.decoded.error}


def test_a_pass_that_ends_earlier_keeps_its_own_error() -> None:
    log = golden()
    log[40] = b"\xc1"
    replayed = Replay("another-game", log)
    assert (replayed.resealed.entries, len(replayed.redecided.entries)) == ((), 40)
    assert "is of the game usa-four-mixed" in str(replayed.resealed.error)
    assert replayed.redecided.error is replayed.decoded.error


def test_commands_are_decided_again_where_entries_can_not_be_sealed() -> None:
    replayed = Replay("another-game", golden())
    assert (len(replayed.redecided.entries), replayed.redecided.error) == (len(golden()), None)
    assert "is of the game usa-four-mixed" in str(replayed.resealed.error)


def test_entries_are_sealed_again_where_commands_can_not_be_decided() -> None:
    created, *rest = entries()[0].events
    refused = CommandRefused(0, "ROUTE-1", "out of place")
    replayed = Replay(USA, rewritten(golden(), 1, created, refused, *rest))
    assert "a log begins with a game's creation" in str(replayed.redecided.error)
    assert replayed.redecided.entries == ()
    assert (len(replayed.resealed.entries), replayed.resealed.error) == (len(golden()), None)


def test_what_nobody_asks_for_is_not_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unasked(*_: object) -> None:
        raise AssertionError("nobody asked")

    monkeypatch.setattr("services.verification.replay.reseal_entries", unasked)
    assert audit(Replay(USA, golden())).ok


def test_a_bug_in_a_check_is_not_reported_as_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    log = rewritten(golden(), 100, at=7)

    def mistaken(*_: object) -> str:
        raise KeyError("a bug")

    monkeypatch.setattr("services.verification.log_check.difference", mistaken)
    monkeypatch.setattr("services.verification.replay.ReplayedDecision.agrees_with", lambda *_: False)
    with pytest.raises(KeyError, match="a bug"):
        audit(Replay(USA, log))
