"""Webhooks: a seat's address is notified once of what the seat is asked, however often it fails, and of nothing hidden."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from schemas.events import TurnStarted
from schemas.web.webhooks import BodyForm, Webhook
from services.auditor import job_queue
from services.auditor.jobs import JOB_TYPES, JobType
from services.auditor.webhook_client import ADDRESS_REQUESTS
from services.auditor.webhook_job import notify_webhook
from services.ledger.engine import keys
from services.ledger.stores.webhook_store import WebhookStore
from services.runtime.executors import DaemonThreadPool
from tests.auditor.conftest import Server
from tests.auditor.given import play_out
from tests.auditor.test_jobs import given_back, killed
from tests.auditor.webhook_receiver import SECRET, receiving
from tests.auditor.webhook_table import LONG_S, PublicViews, Table
from tests.conftest import PARTITIONS
from tests.deploy.compose import wait_until
from tests.referee.running_referee import GAME, opening_commands, submit


@pytest.fixture
def table(server: Server) -> Iterator[Table]:
    with receiving() as receiver:
        made = Table(server, receiver)
        yield made
        made.auditor.deregister()


def test_P5_a_seat_is_notified_what_it_is_asked_and_nothing_else(table: Table) -> None:
    # given
    table.open()
    table.put(0)
    # when
    [request] = table.sent()
    # then
    assert request.json == {
        "type": "choice_to_make", "game": GAME, "seat": 0, "number": 2,
        "table": f"https://play.example/table/{GAME}",
    }  # fmt: skip
    assert request.is_signed_with(SECRET)
    assert (request.path, request.headers["content-type"]) == ("/hook", "application/json")
    assert int(request.headers["webhook-timestamp"]) == table.server.wall.now // 1000
    assert table.sent() == []


@pytest.mark.parametrize(("form", "field"), [("discord", "content"), ("slack", "text")])
def test_a_chat_is_told_in_its_own_form(table: Table, form: BodyForm, field: str) -> None:
    table.open()
    table.store.put(GAME, 1, Webhook(f"{table.receiver.url}/chat", SECRET, form))
    [request] = table.sent()
    assert request.json == {field: f"Seat B has a choice to make. https://play.example/table/{GAME}"}


def test_a_test_is_sent_once_and_the_next_turn_is_told_as_ever(table: Table) -> None:
    # given
    table.open()
    table.store.put(GAME, 0, Webhook(f"{table.receiver.url}/hook", SECRET, is_test=True))
    # when
    [test], again = table.sent(), table.sent()
    later: list[str] = []
    for _ in range(3):  # the choice of tickets, and a turn of each seat
        table.play()
        later += [request.json["type"] for request in table.sent()]
    # then
    assert (test.json["type"], test.id, again) == ("test", f"{GAME}_0_2_test", [])
    assert later[:1] == ["your_turn"]


@pytest.mark.long
def test_a_seat_is_notified_of_each_turn_once_and_of_the_end(table: Table) -> None:
    # given
    table.open()
    table.put(0)
    table.put(1, "/other")
    turns: dict[int, list[int]] = {0: [], 1: []}
    sent: dict[int, list[tuple[str, int]]] = {0: [], 1: []}
    # when
    while True:
        for request in table.sent():
            seat = request.json["seat"]
            assert request.path == ("/hook", "/other")[seat]
            sent[seat].append((request.json["type"], request.json["number"]))
        before = len(table.server.ledger.read_view(GAME, None))
        table.play()
        new = table.server.ledger.read_view(GAME, None, before)
        if not new:
            break
        for entry in new:
            for event in entry.events:
                if isinstance(event, TurnStarted):
                    turns[event.seat].append(entry.number)
    # then
    end = len(table.server.ledger.read_entries(GAME))
    for seat, numbers in turns.items():
        assert sent[seat] == [
            ("choice_to_make", 2),
            *(("your_turn", n) for n in numbers),
            ("game_over", end),
        ]


def test_P7_what_fails_is_notified_again_under_the_same_id(table: Table) -> None:
    # given
    table.open()
    webhook = table.put(0)
    table.receiver.status = 500
    # when
    requests = table.sent()
    table.server.wall.now += 60_000
    requests += table.again()
    stored = table.store.find(GAME, 0)
    table.receiver.status = 200
    requests += table.again()
    # then
    assert len(requests) == 3
    assert len({(request.id, request.body) for request in requests}) == 1
    assert len({request.headers["webhook-signature"] for request in requests}) == 2, "of the time of each"
    assert all(request.is_signed_with(SECRET) for request in requests)
    assert stored is not None and (stored.notified, stored.failure) == (0, "it answered 500")
    assert table.store.find(GAME, 0) == (webhook, 2, "")
    assert table.auditor.jobs.list_jobs() == []


def test_P8_a_receiver_that_is_busy_only_delays_a_notice(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    monkeypatch.setattr(job_queue, "BACK_OFF_S", (1,))
    table.open()
    table.put(0)
    with ExitStack() as busy:
        for number in range(ADDRESS_REQUESTS):
            busy.enter_context(table.webhooks.turns.take(f"{number}.invalid", ip_address("127.0.0.1")))
        # when
        delayed = [*table.sent(), *table.again(), *table.again(), *table.again()]
        [job] = table.auditor.jobs.list_jobs()
        stored = table.store.find(GAME, 0)
    # then
    assert delayed == []
    assert (job.state, job.tries, job.why) == ("later", 0, "")
    assert stored is not None and stored.failure == ""
    assert [request.json["seat"] for request in table.again()] == [0]
    call: Any = table.server.client
    assert not [*call.scan_iter("rq:job:*"), *call.scan_iter("rq:results:*")]


def test_what_fails_to_the_last_is_kept_for_an_operator(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_queue, "BACK_OFF_S", (1, 2))
    table.open()
    table.put(0)
    table.receiver.status = 302
    requests = table.sent()
    while more := table.again():
        requests += more
    assert {request.path for request in requests} == {"/hook"}, "no redirect is followed"
    assert len(requests) == 3
    assert table.sent() == []
    [job] = table.auditor.jobs.list_jobs()
    assert (job.id, job.state) == (f"webhook-{GAME}_0_2", "failed")
    assert job.why == "WebhookFailedError: it answered 302"
    table.receiver.status = 204
    table.auditor.jobs.retry(job.id)
    table.work()
    assert [request.id for request in table.receiver.taken()] == [requests[0].id]


def test_what_is_over_is_not_sent_any_more(table: Table) -> None:
    # given
    table.open()
    table.put(0)
    table.receiver.status = 500
    [first] = table.sent()
    table.receiver.status = 204
    # when
    table.play()
    # then
    assert table.again() == []
    assert first.json["type"] == "choice_to_make"
    assert [request.json["type"] for request in table.sent()] == ["your_turn"], "which is newer"


def test_P7_a_worker_killed_after_it_sent_sends_again_under_the_same_id(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    # given
    table.open()
    table.put(0)
    with monkeypatch.context() as patch:
        patch.setattr(WebhookStore, "mark_notified", die)
        with pytest.raises(Killed):
            notify_webhook(table.auditor.context, GAME, 0, 2)
    [first] = table.receiver.taken()
    # when
    [again] = table.sent()
    # then
    assert first.id == again.id == f"{GAME}_0_2"


NOTIFYING = """
from functools import partial
from services.auditor.webhook_client import WebhookClient
from services.ledger.stores.webhook_store import WebhookStore
from tests.auditor import conftest
from tests.auditor.webhook_receiver import HERE
conftest.JobContext = partial(JobContext, webhooks=WebhookClient(HERE))
JOB_TYPES["webhook"] = JOB_TYPES["webhook"]._replace(timeout_s=1)
{stopped} = stop
"""


@pytest.mark.long
@pytest.mark.parametrize(("stopped", "sent"), [("WebhookClient.post", 0), ("WebhookStore.mark_notified", 1)])
def test_P7_an_auditor_killed_anywhere_loses_no_notice(
    table: Table, tmp_path: Path, stopped: str, sent: int
) -> None:
    # given
    table.open()
    table.put(0)
    killed(table.server, tmp_path, NOTIFYING.format(stopped=stopped))
    first = table.receiver.taken()
    # when
    wait_until(lambda: given_back(table.auditor))
    [again] = table.again()
    # then
    assert [request.id for request in first] == [f"{GAME}_0_2"] * sent
    assert again.id == f"{GAME}_0_2"
    assert table.sent() == []


def test_P7_a_job_that_is_lost_is_enqueued_again(table: Table) -> None:
    table.open()
    table.put(0)
    assert table.auditor.enqueue_due() == 1
    call: Any = table.server.client
    call.delete(*call.scan_iter("rq:*"))
    table.auditor = table.new_auditor()
    assert [request.id for request in table.sent()] == [f"{GAME}_0_2"]


def test_an_address_that_is_gone_is_notified_no_more(table: Table) -> None:
    table.open()
    table.put(0)
    table.receiver.status = 410
    assert len(table.sent()) == 1
    assert table.store.find(GAME, 0) is None
    table.play()
    assert table.sent() == []
    assert table.auditor.jobs.list_jobs() == []


def test_a_new_address_is_notified_of_what_is_asked_now(table: Table) -> None:
    table.open()
    old = table.put(0)
    assert [request.path for request in table.sent()] == ["/hook"]
    table.put(0, "/new")
    table.store.mark_notified(GAME, 0, old, 2)  # a job that was at it meanwhile
    assert [request.path for request in table.sent()] == ["/new"]
    table.store.put(GAME, 0, Webhook(table.receiver.url, "a b", "push"), 1)
    table.store.remove(GAME, 0)
    assert table.store.find_all(GAME, 0) == {}
    table.play()
    assert table.sent() == []


def test_a_webhook_leaves_with_its_game(table: Table) -> None:
    # given
    play_out(table.server.ledger, table.server.referee)
    table.put(0)
    client: Any = table.server.client
    assert [request.json["type"] for request in table.sent()] == ["game_over"]
    # when
    table.server.ledger.archive_index().mark_archived(GAME, len(table.server.ledger.read_entries(GAME)), 0)
    table.server.wall.now += 40 * 86_400_000
    table.server.referee.evict()
    # then
    assert not table.server.ledger.read_entries(GAME)
    assert [name for name in client.keys("*webhooks*") if not name.startswith(b"rq:")] == []
    assert not table.store.put(GAME, 0, Webhook(table.receiver.url, SECRET))
    assert [name for name in client.keys("*webhooks*") if not name.startswith(b"rq:")] == []


def test_a_game_without_webhooks_is_not_read(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.open()
    monkeypatch.setattr(PublicViews, "read_views", None)
    assert table.sent() == []


def test_P8_a_receiver_that_answers_slowly_delays_no_other_job(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    done: list[str] = []
    monkeypatch.setitem(JOB_TYPES, "other", JobType(lambda _: done.append(GAME), 60))
    monkeypatch.setitem(JOB_TYPES, "webhook", JOB_TYPES["webhook"]._replace(timeout_s=round(LONG_S)))
    table.open()
    table.put(0)
    table.put(1)
    table.receiver.may_answer.clear()
    pool = DaemonThreadPool("test", 2)
    table.auditor.deregister()
    table.auditor = table.new_auditor(pool, seconds=60)
    # when
    table.auditor.enqueue_due()
    with table.working() as working:
        wait_until(lambda: table.unanswered() == 2)
        working.join()
        table.auditor.jobs.enqueue("other", GAME)
        table.work()
        # then
        assert done == [GAME]
        assert table.unanswered() == 2
    wait_until(lambda: not table.auditor.jobs.list_jobs())
    assert {request.json["seat"] for request in table.receiver.taken()} == {0, 1}
    pool.shutdown()


def test_P8_a_damaged_game_keeps_no_other_from_being_notified(table: Table) -> None:
    # given
    table.open()
    table.put(0)
    submit(table.server.ledger, opening_commands("game-two"))
    table.referee()
    for game in ("game-two", GAME):
        table.store.put(game, 0, Webhook(table.receiver.url, SECRET))
    client: Any = table.server.client
    client.xdel(keys.public_view(keys.partition_of("game-two", PARTITIONS), "game-two"), "1-0")
    client.hset(keys.webhooks(keys.partition_of("game-two", PARTITIONS), "game-two"), "1", b"\xc1")
    # then
    assert [request.json["game"] for request in table.sent()] == [GAME]
