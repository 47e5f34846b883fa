"""P3, P6: every entry is stored with the head of the chain after it; nothing is appended to another head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from schemas.stored.codec import join_entry
from schemas.stored.hash_chain import initial_head, next_head
from services.ledger import AppendRequest, AppendResult, AppendStatus, GameLog, MissingEntryError, RedisLedger
from services.ledger.engine import keys
from services.ledger.log.event_store import read_game_logs
from tests.ledger_contract.given import GAME, PARTITION, append_request, contents, public_entry, secret_of

LOG, PUBLIC = keys.log(PARTITION, GAME), keys.public_view(PARTITION, GAME)


def heads(publics: Sequence[bytes]) -> list[bytes]:
    """Of a game with these public entries: before the first, and after each."""
    found = [initial_head(GAME)]
    for number, public in enumerate(publics, 1):
        found.append(next_head(found[-1], number, public))
    return found


def branch(*shown_at: int) -> list[AppendRequest]:
    """Appends c1, c2 and so on, whose public entries have these times; nothing else differs."""
    publics = [public_entry(at) for at in shown_at]
    known = heads(publics)
    return [
        append_request(expected=n, id_=f"c{n + 1}", public=public, previous_head=known[n], head=known[n + 1])
        for n, public in enumerate(publics)
    ]


def entry_at(at: int) -> bytes:
    """The log entry of a branch that has this time."""
    return join_entry(public_entry(at), (), secret_of(f"c{at}"))


def test_P6_every_viewer_gets_the_head_after_each_entry(ledger: RedisLedger) -> None:
    ledger.append(branch(1, 2, 3))
    known = heads([public_entry(at) for at in (1, 2, 3)])
    for viewer in (0, 1, None):
        assert [entry.shown.head for entry in ledger.read_view(GAME, viewer)] == known[1:]
        assert [entry.shown.public for entry in ledger.read_view(GAME, viewer)] == [
            public_entry(at) for at in (1, 2, 3)
        ]
    assert ledger.head(GAME) == (3, known[3])
    assert ledger.read_log(GAME) == GameLog([entry_at(at) for at in (1, 2, 3)], known[3])
    assert ledger.read_logs([GAME, "game-two"]) == {
        GAME: ledger.read_log(GAME),
        "game-two": GameLog([], initial_head("game-two")),
    }


def test_an_unknown_game_has_the_initial_head(ledger: RedisLedger) -> None:
    assert ledger.head(GAME) == (0, b"")
    assert ledger.read_log(GAME) == GameLog([], initial_head(GAME))


def test_P3_branches_that_differ_further_back_are_distinguished(ledger: RedisLedger, client: Any) -> None:
    """Both have two entries, and the same bytes in the last: log, public view, and command."""
    mine, other = branch(1, 5, 9), branch(2, 5)
    assert (mine[1].secret, mine[1].public) == (other[1].secret, other[1].public)
    ledger.append(other)
    before = contents(client)
    assert ledger.append(mine[2:]) == [AppendResult(AppendStatus.CONFLICT, 2)]
    assert contents(client) == before


def test_P3_what_was_decided_on_this_branch_is_written(ledger: RedisLedger) -> None:
    ledger.append(branch(1, 5))
    assert ledger.append(branch(1, 5, 9)[2:]) == [AppendResult(AppendStatus.APPENDED, 3)]
    assert ledger.head(GAME) == (3, heads([public_entry(at) for at in (1, 5, 9)])[3])


class OneByOne:
    """A client whose pipeline sends call by call, and something else happens after the first."""

    def __init__(self, client: Any, happens: Callable[[], object]) -> None:
        self._client, self._happens = client, happens

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def pipeline(self, transaction: bool) -> Any:
        return Line(self._client, self._happens)


class Line:
    def __init__(self, client: Any, happens: Callable[[], object]) -> None:
        self._client, self._happens, self._replies = client, happens, list[Any]()

    def xrange(self, name: str) -> None:
        self._replies.append(self._client.xrange(name))
        if len(self._replies) == 1:
            self._happens()

    def exists(self, name: str) -> None:
        self._replies.append(self._client.exists(name))

    def execute(self, raise_on_error: bool) -> list[Any]:
        return self._replies


def test_P3_a_log_that_grows_while_it_is_read_comes_with_the_head_of_its_own_end(
    ledger: RedisLedger, client: Any
) -> None:
    whole = branch(1, 2)
    ledger.append(whole[:1])
    line = OneByOne(client, lambda: ledger.append(whole[1:]))
    [found] = read_game_logs(line, ledger.partitions, [GAME])
    assert found == GameLog([entry_at(1)], whole[0].head)


def test_P3_a_log_whose_view_lost_its_end_can_not_be_read(ledger: RedisLedger, client: Any) -> None:
    ledger.append(branch(1, 2))
    client.xdel(PUBLIC, "2-0")
    with pytest.raises(MissingEntryError, match="entry 2 is missing"):
        ledger.read_log(GAME)


def test_P3_a_log_whose_entry_is_missing_has_no_head_either(ledger: RedisLedger, client: Any) -> None:
    ledger.append(branch(1, 2, 3))
    client.xdel(LOG, "2-0")
    with pytest.raises(MissingEntryError):
        ledger.read_log(GAME)
    assert ledger.read_logs([GAME]) == {}
