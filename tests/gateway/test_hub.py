"""The hub, without the web: entries arrive though notifications are lost, and slow viewers delay nobody."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Away

from schemas.commands import CommandEnvelope, StartGame
from schemas.stored.codec import digest_command
from schemas.web.tokens import TokenKeys
from services.gateway.errors import NotYetError
from services.gateway.following import hub as hubs
from services.gateway.following.entry_encoding import EncodedEntry
from services.gateway.following.subscriptions import (
    MAX_QUEUED_ENTRIES,
    SlowConsumerError,
    Subscription,
    ViewDamagedError,
)
from services.gateway.games.client_limits import ClientLimits
from services.gateway.games.command_tracking import CommandProgress
from services.gateway.games.service import GatewayService
from services.gateway.web.problem_details import problem_of
from services.gateway.web.rate_limit import RateLimiter
from services.ledger.acknowledgements import ACCEPTED
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.log.views import PAGE_SIZE
from services.ledger.notifications import GameChannels
from tests.gateway.subscribed_hub import PARTITIONS, SOON_S, HubHarness, run_with_hub, until


class Silent(AsyncLedger):
    """A ledger whose notifications never come."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.channels = SilentChannels(*parts)


class SilentChannels(GameChannels):
    async def listen(self, *_: object) -> None:
        await asyncio.Event().wait()


class Cracked(AsyncLedger):
    """A ledger whose notification channels fail at once, whenever the hub listens."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.channels: CrackedChannels = CrackedChannels(*parts)


class CrackedChannels(GameChannels):
    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.listened = asyncio.Semaphore(0)

    async def listen(self, *_: object) -> None:
        self.listened.release()
        raise Away("the engine went away")


@pytest.fixture
def fast_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub polls twenty times a second, so that tests needn't wait for it."""
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)


@pytest.mark.parametrize("ledger_type", [Silent, Cracked])
@pytest.mark.usefixtures("fast_polling")
def test_entries_arrive_by_polling_when_no_notification_comes(ledger_type: type[AsyncLedger]) -> None:
    async def scenario(harness: HubHarness) -> None:
        await harness.write("game", 1, 3, seats=(0,))
        public, mine = harness.hub.subscribe("game", None, 0), harness.hub.subscribe("game", 0, 1)
        reading = [
            asyncio.create_task(harness.numbers("game", public, 0, 9)),
            asyncio.create_task(harness.numbers("game", mine, 1, 8)),
        ]
        for number in range(4, 10):
            await asyncio.sleep(0.03)
            await harness.write("game", number, number, seats=(0,))
        assert await reading[0] == list(range(1, 10))
        assert await reading[1] == list(range(2, 10))

    run_with_hub(scenario, ledger_type)


@pytest.mark.usefixtures("fast_polling")
def test_a_hub_subscribes_again_when_its_channel_fails() -> None:
    async def scenario(harness: HubHarness) -> None:
        assert isinstance(harness.ledger, Cracked)
        async with asyncio.timeout(SOON_S):
            for _ in range(3):
                await harness.ledger.channels.listened.acquire()

    run_with_hub(scenario, Cracked)


def test_a_notification_delivers_an_entry_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 8.0)

    async def scenario(harness: HubHarness) -> None:
        subscription = harness.hub.subscribe("game", None, 0)
        reading = asyncio.create_task(harness.numbers("game", subscription, 0, 1))
        await asyncio.sleep(0.1)
        began = asyncio.get_running_loop().time()
        await harness.write("game", 1, 1, notify=True)
        assert await reading == [1]
        assert asyncio.get_running_loop().time() - began < hubs.POLL_INTERVAL_S / 2

    run_with_hub(scenario)


def test_a_later_subscription_gets_exactly_the_rest() -> None:
    async def scenario(harness: HubHarness) -> None:
        await harness.write("game", 1, 5, seats=(0, 1))
        first = harness.hub.subscribe("game", 0, 0)
        assert await harness.numbers("game", first, 0, 5) == [1, 2, 3, 4, 5]
        later = [
            (viewer, after, harness.hub.subscribe("game", viewer, after))
            for viewer in (None, 0, 1)
            for after in range(6)
        ]
        await harness.write("game", 6, 7, seats=(0, 1), notify=True)
        for _, after, subscription in later:
            assert await harness.numbers("game", subscription, after, 7 - after) == list(range(after + 1, 8))

    run_with_hub(scenario)


@pytest.mark.usefixtures("fast_polling")
def test_a_long_log_arrives_whole_and_page_by_page() -> None:
    async def scenario(harness: HubHarness) -> None:
        last = 2 * PAGE_SIZE + 7
        await harness.write("game", 1, last)
        early = harness.hub.subscribe("game", None, 0)
        assert await harness.numbers("game", early, 0, last) == list(range(1, last + 1))
        late = harness.hub.subscribe("game", None, 3)
        assert await harness.numbers("game", late, 3, last - 3) == list(range(4, last + 1))

    run_with_hub(scenario)


@pytest.mark.usefixtures("fast_polling")
def test_P8_a_slow_viewer_is_dropped_and_resumes_while_others_go_on() -> None:
    async def scenario(harness: HubHarness) -> None:
        slow, quick = harness.hub.subscribe("game", None, 0), harness.hub.subscribe("game", 0, 0)
        await harness.write("game", 1, 2, seats=(0,))
        assert await harness.numbers("game", slow, 0, 1) == [1]
        last = MAX_QUEUED_ENTRIES + 10
        reading = asyncio.create_task(harness.numbers("game", quick, 0, last))
        await harness.write("game", 3, last, seats=(0,), notify=True)
        assert await reading == list(range(1, last + 1))
        assert slow.queue.qsize() <= MAX_QUEUED_ENTRIES
        with pytest.raises(SlowConsumerError):
            await harness.numbers("game", slow, 1, last)
        harness.hub.unsubscribe("game", slow)
        again = harness.hub.subscribe("game", None, 1)
        assert await harness.numbers("game", again, 1, last - 1) == list(range(2, last + 1))

    run_with_hub(scenario, AsyncLedger)


def test_P8_a_subscription_queues_no_more_than_its_limit() -> None:
    async def scenario() -> None:
        subscription = Subscription(None, 0)
        for number in range(1, 5 * MAX_QUEUED_ENTRIES):
            subscription.deliver(EncodedEntry(number, None, b"", b""))
            assert subscription.queue.qsize() <= MAX_QUEUED_ENTRIES

    asyncio.run(scenario())


def test_entries_are_sent_directly_once_none_waits_and_in_order() -> None:
    async def scenario(harness: HubHarness) -> None:
        sent: list[int] = []
        await harness.write("game", 1, 3)
        subscription = harness.hub.subscribe("game", None, 0)

        async def read() -> None:
            async for number, *_ in harness.hub.follow("game", subscription, 0, send):
                await asyncio.sleep(0.02)  # slowly, so that some wait when the next are delivered
                sent.append(number)

        def send(encoded: EncodedEntry) -> bool:
            sent.append(encoded[0])
            return True

        await until(lambda: subscription.queue.qsize() == 3)
        reading = asyncio.create_task(read())
        await harness.write("game", 4, 20, notify=True)
        await until(lambda: len(sent) == 20)
        reading.cancel()
        assert sent == list(range(1, 21))
        assert subscription.queue.empty()

    run_with_hub(scenario)


def test_P8_a_viewer_that_is_too_far_behind_is_dropped_though_nothing_is_queued() -> None:
    async def scenario(harness: HubHarness) -> None:
        slow, quick = harness.hub.subscribe("game", None, 0), harness.hub.subscribe("game", None, 0)
        sent: list[int] = []

        def send(encoded: EncodedEntry) -> bool:
            sent.append(encoded[0])
            return encoded[0] != 3

        following = harness.hub.follow("game", slow, 0, send)
        first = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0.05)
        await harness.write("game", 1, 5, notify=True)
        assert await harness.numbers("game", quick, 0, 5) == [1, 2, 3, 4, 5]
        with pytest.raises(SlowConsumerError):
            await first
        assert sent == [1, 2, 3], "nothing is sent after the drop"

    run_with_hub(scenario)


@pytest.mark.usefixtures("fast_polling")
def test_P8_a_gap_ends_its_own_game_and_no_other() -> None:
    async def scenario(harness: HubHarness) -> None:
        damaged, whole = harness.hub.subscribe("damaged", None, 0), harness.hub.subscribe("whole", None, 0)
        await harness.write("damaged", 1, 1)
        await harness.write("damaged", 3, 3)
        await harness.write("whole", 1, 3)
        with pytest.raises(ViewDamagedError):
            await harness.numbers("damaged", damaged, 0, 3)
        assert await harness.numbers("whole", whole, 0, 3) == [1, 2, 3]

    run_with_hub(scenario, Silent)


@pytest.mark.usefixtures("fast_polling")
def test_P9_a_game_without_subscriptions_is_forgotten() -> None:
    async def scenario(harness: HubHarness) -> None:
        await harness.write("game", 1, 3)
        subscriptions = [harness.hub.subscribe("game", None, 0) for _ in range(3)]
        with (
            harness.hub.verdict_waiters.waiting("game", on_every_entry=True),
            harness.hub.verdict_waiters.waiting("game", on_every_entry=False),
        ):
            assert await harness.numbers("game", subscriptions[0], 0, 3) == [1, 2, 3]
        for subscription in subscriptions:
            harness.hub.unsubscribe("game", subscription)
        assert (harness.hub.followed_games, harness.hub.verdict_waiters.by_game) == ({}, {})
        await asyncio.sleep(0.12)
        assert (harness.hub.followed_games, harness.hub.verdict_waiters.by_game) == ({}, {})

    run_with_hub(scenario, Silent)


@pytest.mark.usefixtures("fast_polling")
def test_P1_a_verdict_whose_notification_was_lost_is_found_and_none_is_unknown() -> None:
    """The test writes what a referee would."""

    async def scenario(harness: HubHarness) -> None:
        service = GatewayService(
            harness.ledger,
            harness.hub,
            TokenKeys(b"key"),
            ClientLimits(RateLimiter(1000, 1000, lambda: 0.0), 0.4),
        )
        partition = keys.partition_of("game", PARTITIONS)
        command = asyncio.create_task(
            service.execute(
                CommandEnvelope("mine", "game", 0, StartGame()), service.parse_ack_request(None, None)
            )
        )
        await asyncio.sleep(0.1)
        await harness.write("game", 1, 1, seats=(0,))
        verdict = f"1 {digest_command(StartGame())}"
        await harness.store.hset(keys.command_results(partition, "game", 0), "mine", verdict)
        reached = await command
        assert reached.entry is not None
        assert (str(reached.level), reached.sequence, reached.entry.number) == ("decided", 1, 1)
        unknown = await service.execute(
            CommandEnvelope("other", "game", 0, StartGame()), service.parse_ack_request(None, 100)
        )
        assert unknown == CommandProgress(ACCEPTED)

    run_with_hub(scenario, Silent)


@pytest.mark.usefixtures("fast_polling")
def test_P1_without_a_referee_system_commands_report_how_to_ask_again() -> None:
    async def scenario(harness: HubHarness) -> None:
        service = GatewayService(
            harness.ledger,
            harness.hub,
            TokenKeys(b"key"),
            ClientLimits(RateLimiter(1000, 1000, lambda: 0.0), 0.1),
        )
        body = {"seats": [{"kind": "human"}, {"kind": "human"}]}
        with pytest.raises(NotYetError) as raised:
            await service.create(body, "0123456789abcdef", "here", service.parse_ack_request(None, None))
        assert problem_of(raised.value).status == 503
        assert raised.value.extensions["id"] == "0123456789abcdef"
        assert (raised.value.extensions["verdict"], raised.value.extensions["level"]) == (
            "unknown",
            "accepted",
        )
        assert "retry_after" in raised.value.extensions
        assert await harness.store.xlen(keys.commands(keys.partition_of("game", PARTITIONS))) <= 1

    run_with_hub(scenario, Silent)
