"""P7: a finished game is whole wherever auditor and referee are killed while they make it one value."""

from __future__ import annotations

from typing import Any

import redis
from redis.exceptions import ConnectionError

from services.archive import decode_game_file
from services.auditor.archive_job import archive_game
from services.ledger import RedisLedger
from services.referee.worker import remove_streams
from services.verification.game_repository import GameRepository
from tests.auditor.conftest import Server
from tests.auditor.given import play_out, played
from tests.auditor.test_stored_games import FILE, keys_of_game
from tests.conftest import PARTITIONS
from tests.referee.running_referee import GAME


class CutOffError(ConnectionError):
    """The process ends here."""


class EndingClient:
    """A connection whose process ends before its command number `last`."""

    def __init__(self, client: redis.Redis, last: int) -> None:
        self._client: Any = client
        self.left = last

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._client, name)
        return self._counted(attribute) if name in ("zscore", "set", "zadd", "zrem") else attribute

    def pipeline(self, *args: Any, **options: Any) -> Any:
        pipe = self._client.pipeline(*args, **options)
        execute = pipe.execute

        def one_by_one(*execute_args: Any, **execute_options: Any) -> Any:
            for _ in pipe.command_stack:
                self._count()
            return execute(*execute_args, **execute_options)

        pipe.execute = one_by_one
        return pipe

    def _counted(self, attribute: Any) -> Any:
        def counted(*args: Any, **options: Any) -> Any:
            self._count()
            return attribute(*args, **options)

        return counted

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise CutOffError("killed")


def test_P7_killed_at_any_command_the_game_is_whole_and_the_next_run_ends_the_work(server: Server) -> None:
    play_out(server.ledger, server.referee)
    log, context, cuts = played().log, server.auditor.context, 0
    for last in range(40):
        ledger = RedisLedger(EndingClient(server.client, last), PARTITIONS)  # type: ignore[arg-type]  # it acts like one
        try:
            archive_game(context._replace(ledger=ledger), GAME)
            remove_streams(ledger, GAME)
        except CutOffError:
            cuts += 1
        repository = GameRepository(server.ledger, None)
        assert repository.read_entries(GAME) == log
        assert len(repository.read_view(GAME, 0)) == len(log)
        if keys_of_game(server.client) == {FILE}:
            break
    assert cuts > 8
    assert decode_game_file(server.archive.read(GAME) or b"").entries == log
    assert keys_of_game(server.client) == {FILE}


def test_P7_two_auditors_and_two_referees_at_once_do_it_once(server: Server) -> None:
    play_out(server.ledger, server.referee)
    archive_game(server.auditor.context, GAME)
    stored, game_log = server.ledger.read_stored_game(GAME), server.ledger.read_log(GAME)
    assert stored is not None
    archive_game(server.auditor.context, GAME)
    assert server.ledger.read_stored_game(GAME) == stored
    assert remove_streams(server.ledger, GAME)
    assert not remove_streams(server.ledger, GAME)
    assert not server.ledger.remove_streams(
        GAME, 2, game_log, stored.data
    )  # it had read before the other removed
    archive_game(server.auditor.context, GAME)
    assert keys_of_game(server.client) == {FILE}
