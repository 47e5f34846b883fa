"""P7, P9: a finished game becomes one value in the engine, and everything that could be read of it still can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import redis

from schemas.commands import CommandEnvelope
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import SaltedName
from services.archive import encode_game_file
from services.auditor.job_queue import RecheckThrottle
from services.auditor.webhook_job import SeatAsks
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.log.game_indexes import ArchiveIndex
from services.verification import audit
from services.verification.game_repository import FinishedGameReader, GameRepository
from tests.auditor.conftest import STREAMS_STAY_S, Server
from tests.auditor.given import SIGNER, TRUSTED, play_out, played
from tests.referee.running_referee import GAME, opening_commands, partition_of, submit

VIEWERS = (None, 0, 1)
LONG_MS = 40 * 86_400_000
PARTITION = partition_of(GAME)
FILE = keys.game_file(PARTITION, GAME)


class Shown(NamedTuple):
    """All that can be read of a game."""

    log: list[bytes]
    views: list[list[ViewEntry]]
    audit: Any
    games: list[str]


def shown(server: Server, *, archived: bool = True) -> Shown:
    repository = GameRepository(
        server.ledger, FinishedGameReader(server.archive, TRUSTED) if archived else None
    )
    audits = audit.FinishedGameAudits(server.archive, TRUSTED)
    return Shown(
        repository.read_entries(GAME),
        [repository.read_view(GAME, viewer) for viewer in VIEWERS],
        audits.audit(GAME, 3, server.ledger.read_stored_game(GAME)),
        repository.games(),
    )


def keys_of_game(client: redis.Redis) -> set[str]:
    found: Any = client.scan_iter(f"*:g:{GAME}:*")
    return {key.decode() for key in found}


def remove(server: Server) -> None:
    """Let the time pass that streams stay, and the referee remove them."""
    server.wall.now += round(STREAMS_STAY_S * 1000)
    server.referee.remove_streams()


def scan_anew(server: Server) -> None:
    """Forget which games were looked at lately."""
    server.auditor.finished_games.throttle = RecheckThrottle(0.0, lambda: 0.0)
    server.work()


def test_P9_a_finished_game_is_one_value_a_minute_later(server: Server) -> None:
    play_out(server.ledger, server.referee)
    server.work()
    before = shown(server)
    server.referee.remove_streams()
    assert server.ledger.read_entries(GAME) == before.log
    # when
    remove(server)
    # then
    assert keys_of_game(server.client) == {FILE}
    assert server.ledger.read_log(GAME).is_stored
    assert shown(server) == before
    scan_anew(server)
    assert server.auditor.jobs.list_jobs() == []


def test_P9_without_an_archive_too_until_its_retention_has_passed(server: Server) -> None:
    context = server.auditor.context._replace(archive=None)
    server.auditor.context = server.auditor.finished_games.context = context
    server.referee.read_archived_length = None
    play_out(server.ledger, server.referee)
    scan_anew(server)
    before = shown(server, archived=False)
    remove(server)
    assert keys_of_game(server.client) == {FILE}
    assert shown(server, archived=False) == before
    server.wall.now += LONG_MS
    server.referee.evict()
    assert not keys_of_game(server.client)


def test_P9_one_value_stays_until_the_archive_has_it(server: Server) -> None:
    play_out(server.ledger, server.referee)
    server.work()
    marks: Any = server.client
    marks.zrem(keys.archived_lengths(PARTITION), GAME)  # as before the archive could be written
    remove(server)
    server.wall.now += LONG_MS
    server.referee.evict()
    assert keys_of_game(server.client) == {FILE}
    scan_anew(server)
    server.wall.now += LONG_MS
    server.referee.evict()
    assert not keys_of_game(server.client)
    assert shown(server).log == played().log


def test_P7_a_webhook_that_failed_is_still_notified_of_the_end(server: Server) -> None:
    play_out(server.ledger, server.referee)
    asks = SeatAsks(GAME)
    asks.read_on(server.ledger)
    server.work()
    remove(server)
    later = SeatAsks(GAME)
    later.read_on(server.ledger)
    assert later.notice(0) == asks.notice(0)
    assert asks.notice(0) is not None


def test_names_beside_one_value_can_be_erased(server: Server) -> None:
    ada = SaltedName(bytes(32), "Ada")
    untyped: Any = server.client
    play_out(server.ledger, server.referee)
    untyped.hset(keys.player_names(PARTITION, GAME), bytes.fromhex(ada.commitment), ada.salt + b"Ada")
    server.work()
    remove(server)
    stored = server.ledger.read_stored_game(GAME)
    assert stored is not None
    assert stored.names == {ada.commitment: ada}
    assert b"Ada" not in stored.data
    server.ledger.erase_names(GAME, [ada.commitment])
    assert keys_of_game(server.client) == {FILE}


def _is_of_another_game(server: Server) -> None:
    other = played()._replace(game="game-two")
    server.ledger.store_game_file(GAME, encode_game_file(*other, SIGNER), server.wall.now)


def _lacks_the_last_entry(server: Server) -> None:
    game, log, heads = played()
    server.ledger.store_game_file(GAME, encode_game_file(game, log[:-1], heads[:-1], SIGNER), server.wall.now)


def _ends_otherwise(server: Server) -> None:
    game, log, heads = played()
    server.ledger.store_game_file(
        GAME, encode_game_file(game, [*log[:-1], log[-2]], heads, SIGNER), server.wall.now
    )


def _is_damaged(server: Server) -> None:
    untyped: Any = server.client
    untyped.setrange(FILE, 40, b"damage")


@pytest.mark.parametrize("change", [_is_of_another_game, _lacks_the_last_entry, _ends_otherwise, _is_damaged])
def test_P7_streams_stay_where_the_file_is_not_theirs_until_it_is_stored_anew(
    server: Server, change: Callable[[Server], None]
) -> None:
    play_out(server.ledger, server.referee)
    server.work()
    before = keys_of_game(server.client)
    change(server)
    remove(server)
    assert keys_of_game(server.client) == before
    scan_anew(server)
    remove(server)
    assert keys_of_game(server.client) == {FILE}
    assert shown(server).log == played().log


def test_P10_streams_stay_while_a_play_off_is_to_come(server: Server) -> None:
    play_out(server.ledger, server.referee)
    server.work()
    server.ledger.set_deadline(GAME, 0)
    remove(server)
    assert server.ledger.read_entries(GAME)
    server.ledger.set_deadline(GAME, None)
    remove(server)
    assert keys_of_game(server.client) == {FILE}


def test_P7_what_is_stored_is_what_is_read_back(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    play_out(server.ledger, server.referee)
    store = RedisLedger.store_game_file
    with monkeypatch.context() as patch:
        patch.setattr(
            RedisLedger, "store_game_file", lambda self, game, data, at: store(self, game, data[:-1], at)
        )
        server.work()
    [job] = server.auditor.jobs.list_jobs()
    assert "isn't what was stored" in job.why


def test_P7_a_log_whose_views_do_not_follow_from_it_keeps_its_streams(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_out(server.ledger, server.referee)
    log = server.ledger.read_entries(GAME)
    untyped: Any = server.client
    last = untyped.xrange(keys.log(PARTITION, GAME))[-1]
    heads = played().heads
    with monkeypatch.context() as patch:  # as if viewers had been sent another end
        patch.setattr(ArchiveIndex, "read_heads", lambda *_: [*heads[:-1], bytes(32)])
        server.work()
    [job] = server.auditor.jobs.list_jobs()
    assert "isn't as it was signed" in job.why
    assert server.ledger.read_stored_game(GAME) is None
    assert (server.ledger.read_entries(GAME), last[0].decode()) == (log, f"{len(log)}-0")


def test_P2_a_command_that_comes_late_gets_no_entry_and_creates_no_game(server: Server) -> None:
    play_out(server.ledger, server.referee)
    server.work()
    remove(server)
    creation, *_ = opening_commands(cars=5)
    late = CommandEnvelope("late", GAME, 0, played_command())
    submit(server.ledger, [creation, late])
    while server.referee.step(0):
        pass
    for envelope in (creation, late):
        result = server.ledger.read_result(GAME, envelope.seat, envelope.id)
        assert result is not None
        assert (result.sequence, result.rule) == (0, "GAME-3")
    assert not server.ledger.read_entries(GAME)
    answer = FinishedGameReader(None, TRUSTED).find_answer(
        GAME, creation.seat, creation.id, server.ledger.read_stored_game(GAME)
    )
    assert answer is not None
    assert answer.sequence == 1


def played_command() -> Any:
    return opening_commands(cars=5)[-1].command
