"""A game of two seats, of which a receiver is notified by an auditor that reads no view but the public one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from random import Random
from threading import Thread
from typing import Any, Final

from schemas.web.webhooks import Webhook
from services.auditor.webhook_client import WebhookClient
from services.auditor.worker import Auditor
from services.ledger import RedisLedger
from services.ledger.log.views import ViewPageOrError, ViewRequest
from tests.auditor.conftest import Server
from tests.auditor.webhook_receiver import HERE, SECRET, Receiver, Request
from tests.referee.running_referee import GAME, Players, opening_commands, submit

LONG_S: Final = 300.0  # for an answer, on a busy machine too


class PublicViews:
    """A ledger that reads no view but the public one."""

    def __init__(self, ledger: RedisLedger) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        assert name in ("archive_index", "disputes", "webhooks"), name
        return getattr(self._ledger, name)

    def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]:
        assert all(request.viewers == (None,) for request in requests)
        return self._ledger.read_views(requests)


class Table:
    """A server whose auditor notifies webhooks, a receiver, and the game that it is notified of."""

    def __init__(self, server: Server, receiver: Receiver) -> None:
        self.server, self.receiver, self.store = server, receiver, server.ledger.webhooks()
        self.players = Players(server.ledger, Random(3))
        server.auditor.deregister()
        self.auditor = self.new_auditor()

    def new_auditor(self, executor: Executor | None = None, seconds: float = LONG_S) -> Auditor:
        before = self.server.auditor.context
        self.webhooks = WebhookClient(HERE, seconds=seconds)
        settings = before.settings.model_copy(update={"public_url": "https://play.example/"})
        ledger: Any = PublicViews(self.server.ledger)
        context = before._replace(ledger=ledger, webhooks=self.webhooks, settings=settings, archive=None)
        auditor = Auditor(context, self.server.client, "notifying", executor)
        auditor.register()
        return auditor

    def open(self) -> None:
        """Create and start a game of two seats, who choose their tickets now."""
        submit(self.server.ledger, opening_commands(cars=5))
        self.referee()

    def referee(self) -> None:
        while self.server.referee.step(0):
            pass

    def play(self) -> None:
        """Let each seat that is asked act once."""
        self.players.step()
        self.referee()

    def put(self, seat: int, path: str = "/hook") -> Webhook:
        webhook = Webhook(self.receiver.url + path, SECRET)
        assert self.store.put(GAME, seat, webhook)
        return webhook

    def sent(self) -> list[Request]:
        """What comes in when the auditor does all its work."""
        self.auditor.enqueue_due()
        self.work()
        return self.receiver.taken()

    def work(self) -> None:
        while self.auditor.step():
            pass

    @contextmanager
    def working(self) -> Iterator[Thread]:
        """The auditor works on this thread during the block. Whatever waits for an answer gets it at the end."""
        thread = Thread(target=self.work)
        thread.start()
        try:
            yield thread
        finally:
            self.receiver.may_answer.set()
            thread.join()

    def unanswered(self) -> int:
        """How many notices are being sent."""
        jobs = self.auditor.jobs.list_jobs()
        return sum((job.kind, job.state) == ("webhook", "running") for job in jobs)

    def again(self) -> list[Request]:
        """What comes in when the jobs that wait for their next try are due."""
        client: Any = self.server.client
        for id_ in client.zrange("rq:scheduled:ledgerline-webhooks", 0, -1):
            client.zadd("rq:scheduled:ledgerline-webhooks", {id_: 0})
        self.auditor.maintain()
        self.work()
        return self.receiver.taken()
