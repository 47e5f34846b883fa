"""A bots' worker among bad notes, failing policies and a gateway that goes away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import fakeredis
import pytest
from structlog.testing import capture_logs

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan
from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.hash_chain import next_head
from schemas.rows import pack, unpack
from services.bots import worker
from services.bots.gateway_client import GatewayUnreachableError
from services.bots.policies import POLICIES, Policy
from services.bots.policies.random_source import SeatRandom
from services.bots.worker import BotWorker
from services.ledger import MissingEntryError, RedisLedger, keys
from services.referee.rules import GameState, legal
from services.referee.worker import Referee
from tests.referee.running_referee import GAME, Player, left_over, opening, partition_of, referee_at, submit

TURNS = keys.bot_tasks(partition_of(GAME))
BAD_NOTES: Mapping[str, dict[str, bytes]] = {
    "no field": {"x": b"1"},
    "no bytes": {"t": b""},
    "no msgpack": {"t": b"\xc1"},
    "cut short": {"t": pack((GAME, 0, 1, "random"))[:-3]},
    "a number": {"t": pack(7)},
    "a policy too few": {"t": pack((GAME, 0, 1))},
    "a part too many": {"t": pack((GAME, 0, 1, "random", 1))},
    "no such seat": {"t": pack((GAME, 99, 1, "random"))},
    "a key that is a map": {"t": b"\x81\x80\x01"},
    "no text": {"t": b"\x94\xa1\xff\x00\x01\xa1x"},
    "too deep": {"t": b"\x91" * 2000},
}


class Sent:
    """An outlet that keeps what it gets, and is away when it has had so many."""

    def __init__(self, most: int = 1000) -> None:
        self.letters: list[CommandEnvelope] = []
        self.most = most

    def send(self, letter: CommandEnvelope) -> None:
        if len(self.letters) == self.most:
            raise GatewayUnreachableError("gone")
        self.letters.append(letter)


@pytest.fixture
def opened(ledger: RedisLedger) -> Referee:
    """A game of two bots; both have a note that their starting tickets wait."""
    referee = referee_at(ledger)
    submit(ledger, opening())
    referee.step(0)
    return referee


def errors(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    return [line["event"] for line in lines if line["log_level"] == "error"]


def first_legal(ledger: RedisLedger, seat: Seat) -> Command:
    player = Player(ledger, GAME, seat)
    player.choose(Random())  # looks
    return legal(player.table, seat)[0]


@pytest.mark.parametrize("fields", BAD_NOTES.values(), ids=BAD_NOTES.keys())
def test_P8_a_note_that_cannot_be_read_is_finished_and_the_others_are_answered(
    ledger: RedisLedger, opened: Referee, client: Any, fields: dict[str, bytes]
) -> None:
    client.xadd(TURNS, fields)
    outlet = Sent()
    with capture_logs() as lines:
        BotWorker(ledger, outlet, "one").step(0)
    assert errors(lines) == ["bot task can't be read"]
    assert {letter.seat for letter in outlet.letters} == {0, 1}
    assert left_over(client) == {}


def test_P8_a_bad_note_that_another_worker_took_is_finished_too(
    ledger: RedisLedger, other_ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    client.xadd(TURNS, {"t": b"\xc1"})
    ledger.reclaim_tasks("early", 60_000)  # makes the group
    client.xreadgroup(keys.BOT_GROUP, "crashed", {TURNS: ">"})
    outlet = Sent()
    with capture_logs() as lines:
        BotWorker(other_ledger, outlet, "two").reclaim(0)
    assert errors(lines) == ["bot task can't be read"]
    assert len(outlet.letters) == 2
    assert left_over(client) == {}


def with_policy(monkeypatch: pytest.MonkeyPatch, policy: Policy) -> None:
    monkeypatch.setattr(worker, "POLICIES", {**POLICIES, "random": policy})


def test_a_policy_that_fails_once_is_asked_again(
    ledger: RedisLedger, opened: Referee, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables: list[GameState] = []

    def stumbles(table: GameState, seat: Seat, commands: Sequence[Command], dice: SeatRandom) -> Command:
        tables.append(table)
        if len(tables) == 1:
            raise ZeroDivisionError
        return commands[-1]

    with_policy(monkeypatch, stumbles)
    outlet = Sent()
    with capture_logs() as lines:
        BotWorker(ledger, outlet, "one").step(0)
    assert errors(lines) == ["bot can't choose"]
    assert len(outlet.letters) == 2
    assert outlet.letters[0].command != first_legal(ledger, 0)
    assert tables[1] is not tables[0]  # fresh eyes
    assert left_over(client) == {}


@pytest.mark.parametrize(
    "fault", [ValueError, KeyError, AssertionError, RecursionError, OverflowError, CorruptDataError]
)
def test_where_a_policy_only_fails_the_first_legal_command_is_played(
    ledger: RedisLedger,
    opened: Referee,
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    fault: type[Exception],
) -> None:
    def fails(table: GameState, seat: Seat, commands: Sequence[Command], dice: SeatRandom) -> Command:
        raise fault

    with_policy(monkeypatch, fails)
    outlet = Sent()
    with capture_logs() as lines:
        BotWorker(ledger, outlet, "one").step(0)
    assert errors(lines) == ["bot can't choose"] * 4  # two tries of each seat
    assert [letter.command for letter in outlet.letters] == [first_legal(ledger, seat) for seat in (0, 1)]
    assert left_over(client) == {}


def test_P7_a_bot_that_saw_what_a_fail_over_took_looks_anew(ledger: RedisLedger, opened: Referee) -> None:
    """The engine that took over had lost the game, and it was created again otherwise."""
    heir = RedisLedger(fakeredis.FakeRedis(), ledger.partitions)
    plans = (SeatPlan("bot", "random"),) * 2
    create = CommandEnvelope("create", GAME, None, CreateGame(plans, seed="another"))
    submit(heir, [create, opening()[1]])
    referee_at(heir, "heir").step(0)
    outlet = Sent()
    bots = BotWorker(ledger, outlet, "one")
    bots.step(0)
    bots.ledger = heir
    with capture_logs() as lines:
        bots.step(0)
    assert {line["event"] for line in lines if line["log_level"] != "debug"} == {"bot looks anew"}
    assert len(outlet.letters) == 4
    assert outlet.letters[2].command in legal(Player(heir, GAME, 0).look(), 0)


def alike(client: Any) -> None:
    """Another branch has the game's place: its last entry has the same bytes, and another head."""
    name = keys.public_view(partition_of(GAME), GAME)
    *before, (last, fields) = client.xrange(name)
    other = next_head(b"\0" * 32, 2, fields[b"e"])
    client.delete(name)
    for id_, kept in (*before, (last, {**fields, b"h": other})):
        client.xadd(name, kept, id_)


def test_P7_a_bot_whose_last_entry_is_the_same_on_another_branch_looks_anew(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    outlet = Sent()
    bots = BotWorker(ledger, outlet, "one")
    bots.step(0)
    eyes = bots.projections[GAME, 0]
    alike(client)
    with pytest.raises(MissingEntryError, match="isn't what seat 0 saw"):
        eyes.refresh(ledger)


def test_P6_a_bot_does_not_play_on_what_the_house_can_not_have_committed_to(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    own = keys.private_view(partition_of(GAME), GAME, 0)
    [*before, (last, fields)] = client.xrange(own)
    form, previous, answers, rows, salts = unpack(fields[b"e"])
    forged = pack((form, previous, answers, rows, salts[::-1]))
    client.delete(own)
    for id_, kept in (*before, (last, {b"e": forged})):
        client.xadd(own, kept, id_)
    outlet = Sent()
    with capture_logs() as lines:
        BotWorker(ledger, outlet, "one").step(0)
    assert errors(lines) == [*["THE HOUSE IS NOT TO BE BELIEVED"] * 3, "note given up"]
    assert [letter.seat for letter in outlet.letters] == [1], "the other seat was shown what is true"


def test_an_unknown_policy_plays_the_first_legal_command(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    for id_, _ in client.xrange(TURNS):
        client.xdel(TURNS, id_)
    client.xadd(TURNS, {"t": pack((GAME, 1, 2, "clairvoyant"))})
    outlet = Sent()
    BotWorker(ledger, outlet, "one").step(0)
    assert [(letter.seat, letter.command) for letter in outlet.letters] == [(1, first_legal(ledger, 1))]
    assert left_over(client) == {}


def test_P8_a_note_of_a_damaged_view_is_given_up_and_no_other(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    own = keys.private_view(partition_of(GAME), GAME, 0)
    ids = [id_ for id_, _ in client.xrange(own)]
    client.delete(own)
    for id_ in ids:
        client.xadd(own, {"e": b"\xc1"}, id_)
    outlet = Sent()
    with capture_logs() as lines:
        BotWorker(ledger, outlet, "one").step(0)
    assert errors(lines)[-1] == "note given up"
    assert [letter.seat for letter in outlet.letters] == [1]
    assert left_over(client) == {}


def test_when_the_gateway_goes_away_in_a_batch_only_what_was_not_sent_stays(
    ledger: RedisLedger, other_ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    with pytest.raises(GatewayUnreachableError):
        BotWorker(ledger, Sent(1), "one").step(0)
    assert left_over(client) == {TURNS: 1}
    back = Sent()
    BotWorker(other_ledger, back, "two").reclaim(0)
    assert [letter.seat for letter in back.letters] == [1]
    assert left_over(client) == {}
