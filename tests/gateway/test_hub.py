"""The hub, without a web: entries arrive though bells are lost, and slow viewers hold up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Away

from schemas.commands import CommandEnvelope, StartGame
from services.gateway import hub as hubs
from services.gateway.command_tracking import CommandProgress
from services.gateway.problem_details import HttpProblemError
from services.gateway.rate_limit import RateLimiter
from services.gateway.service import GatewayService
from services.gateway.subscriptions import (
    MAX_QUEUED_ENTRIES,
    EncodedEntry,
    SlowConsumerError,
    Subscription,
    ViewDamagedError,
)
from services.ledger import keys
from services.ledger.ack_levels import ACCEPTED
from services.ledger.async_ledger import AsyncLedger
from services.ledger.notifications import EntryNotification
from services.ledger.view_queries import PAGE_SIZE
from tests.gateway.subscribed_hub import PARTITIONS, SOON_S, Scene, played, until


class Silent(AsyncLedger):
    """A ledger whose bells never ring."""

    async def subscribe(self) -> AsyncIterator[EntryNotification]:
        await asyncio.Event().wait()
        yield EntryNotification("", 0)


class Cracked(AsyncLedger):
    """A ledger whose bells break off each time that somebody listens."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.heard = asyncio.Semaphore(0)

    async def subscribe(self) -> AsyncIterator[EntryNotification]:
        self.heard.release()
        if self.heard.locked():  # never: each listening is counted first
            yield EntryNotification("", 0)
        raise Away("the engine went away")


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow look looks more often, so that the tests needn't wait for it."""
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)


@pytest.mark.parametrize("kind", [Silent, Cracked])
@pytest.mark.usefixtures("often")
def test_entries_arrive_by_the_slow_look_when_no_bell_rings(kind: type[AsyncLedger]) -> None:
    async def story(here: Scene) -> None:
        await here.write("game", 1, 3, seats=(0,))
        public, mine = here.hub.subscribe("game", None, 0), here.hub.subscribe("game", 0, 1)
        reading = [
            asyncio.create_task(here.numbers("game", public, 0, 9)),
            asyncio.create_task(here.numbers("game", mine, 1, 8)),
        ]
        for number in range(4, 10):
            await asyncio.sleep(0.03)
            await here.write("game", number, number, seats=(0,))
        assert await reading[0] == list(range(1, 10))
        assert await reading[1] == list(range(2, 10))

    played(story, kind)


@pytest.mark.usefixtures("often")
def test_a_hub_goes_on_listening_for_bells_that_broke_off() -> None:
    async def story(here: Scene) -> None:
        assert isinstance(here.ledger, Cracked)
        async with asyncio.timeout(SOON_S):
            for _ in range(3):
                await here.ledger.heard.acquire()

    played(story, Cracked)


def test_a_bell_brings_an_entry_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 8.0)

    async def story(here: Scene) -> None:
        session = here.hub.subscribe("game", None, 0)
        reading = asyncio.create_task(here.numbers("game", session, 0, 1))
        await asyncio.sleep(0.1)
        began = asyncio.get_running_loop().time()
        await here.write("game", 1, 1, ring=True)
        assert await reading == [1]
        assert asyncio.get_running_loop().time() - began < hubs.POLL_INTERVAL_S / 2

    played(story)


def test_whoever_comes_later_gets_exactly_the_rest() -> None:
    async def story(here: Scene) -> None:
        await here.write("game", 1, 5, seats=(0, 1))
        first = here.hub.subscribe("game", 0, 0)
        assert await here.numbers("game", first, 0, 5) == [1, 2, 3, 4, 5]
        later = [
            (viewer, after, here.hub.subscribe("game", viewer, after))
            for viewer in (None, 0, 1)
            for after in range(6)
        ]
        await here.write("game", 6, 7, seats=(0, 1), ring=True)
        for _, after, session in later:
            assert await here.numbers("game", session, after, 7 - after) == list(range(after + 1, 8))

    played(story)


@pytest.mark.usefixtures("often")
def test_a_long_history_comes_whole_and_page_by_page() -> None:
    async def story(here: Scene) -> None:
        last = 2 * PAGE_SIZE + 7
        await here.write("game", 1, last)
        early = here.hub.subscribe("game", None, 0)
        assert await here.numbers("game", early, 0, last) == list(range(1, last + 1))
        late = here.hub.subscribe("game", None, 3)
        assert await here.numbers("game", late, 3, last - 3) == list(range(4, last + 1))

    played(story)


@pytest.mark.usefixtures("often")
def test_P8_a_slow_viewer_is_dropped_and_resumes_while_others_go_on() -> None:
    async def story(here: Scene) -> None:
        slow, quick = here.hub.subscribe("game", None, 0), here.hub.subscribe("game", 0, 0)
        await here.write("game", 1, 2, seats=(0,))
        assert await here.numbers("game", slow, 0, 1) == [1]
        last = MAX_QUEUED_ENTRIES + 10
        reading = asyncio.create_task(here.numbers("game", quick, 0, last))
        await here.write("game", 3, last, seats=(0,), ring=True)
        assert await reading == list(range(1, last + 1))
        assert slow.queue.qsize() <= MAX_QUEUED_ENTRIES
        with pytest.raises(SlowConsumerError):
            await here.numbers("game", slow, 1, last)
        here.hub.unsubscribe("game", slow)
        again = here.hub.subscribe("game", None, 1)
        assert await here.numbers("game", again, 1, last - 1) == list(range(2, last + 1))

    played(story, AsyncLedger)


def test_P8_a_session_holds_no_more_than_is_stated() -> None:
    async def story() -> None:
        session = Subscription(None, 0)
        for number in range(1, 5 * MAX_QUEUED_ENTRIES):
            session.deliver((number, None, "{}"))
            assert session.queue.qsize() <= MAX_QUEUED_ENTRIES

    asyncio.run(story())


def test_entries_go_straight_on_once_none_waits_and_in_order() -> None:
    async def story(here: Scene) -> None:
        handed: list[int] = []
        await here.write("game", 1, 3)
        session = here.hub.subscribe("game", None, 0)

        async def read() -> None:
            async for number, *_ in here.hub.follow("game", session, 0, hand):
                await asyncio.sleep(0.02)  # slowly, so that some wait when the next come
                handed.append(number)

        def hand(sent: EncodedEntry) -> bool:
            handed.append(sent[0])
            return True

        await until(lambda: session.queue.qsize() == 3)
        reading = asyncio.create_task(read())
        await here.write("game", 4, 20, ring=True)
        await until(lambda: len(handed) == 20)
        reading.cancel()
        assert handed == list(range(1, 21))
        assert session.queue.empty()

    played(story)


def test_P8_a_viewer_that_is_too_far_behind_is_dropped_though_nothing_is_queued() -> None:
    async def story(here: Scene) -> None:
        slow, quick = here.hub.subscribe("game", None, 0), here.hub.subscribe("game", None, 0)
        handed: list[int] = []

        def hand(sent: EncodedEntry) -> bool:
            handed.append(sent[0])
            return sent[0] != 3

        following = here.hub.follow("game", slow, 0, hand)
        told = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0.05)
        await here.write("game", 1, 5, ring=True)
        assert await here.numbers("game", quick, 0, 5) == [1, 2, 3, 4, 5]
        with pytest.raises(SlowConsumerError):
            await told
        assert handed == [1, 2, 3], "what comes after the drop goes nowhere"

    played(story)


@pytest.mark.usefixtures("often")
def test_P8_a_gap_ends_its_own_game_and_no_other() -> None:
    async def story(here: Scene) -> None:
        damaged, whole = here.hub.subscribe("damaged", None, 0), here.hub.subscribe("whole", None, 0)
        await here.write("damaged", 1, 1)
        await here.write("damaged", 3, 3)
        await here.write("whole", 1, 3)
        with pytest.raises(ViewDamagedError):
            await here.numbers("damaged", damaged, 0, 3)
        assert await here.numbers("whole", whole, 0, 3) == [1, 2, 3]

    played(story, Silent)


@pytest.mark.usefixtures("often")
def test_P9_a_game_that_nobody_follows_is_forgotten() -> None:
    async def story(here: Scene) -> None:
        await here.write("game", 1, 3)
        sessions = [here.hub.subscribe("game", None, 0) for _ in range(3)]
        with (
            here.hub.verdict_event("game", on_every_entry=True),
            here.hub.verdict_event("game", on_every_entry=False),
        ):
            assert await here.numbers("game", sessions[0], 0, 3) == [1, 2, 3]
        for session in sessions:
            here.hub.unsubscribe("game", session)
        assert (here.hub.followed_games, here.hub._waiters) == ({}, {})
        await asyncio.sleep(0.12)
        assert (here.hub.followed_games, here.hub._waiters) == ({}, {})

    played(story, Silent)


@pytest.mark.usefixtures("often")
def test_P1_a_verdict_whose_bell_was_lost_is_found_and_none_is_unknown() -> None:
    """The referee here is a hand that writes what a referee would."""

    async def story(here: Scene) -> None:
        door = GatewayService(here.ledger, here.hub, b"key", RateLimiter(1000, 1000, lambda: 0.0), 0.4)
        partition = keys.partition_of("game", PARTITIONS)
        asked = asyncio.create_task(
            door.execute(CommandEnvelope("mine", "game", 0, StartGame()), door.parse_ack_request(None, None))
        )
        await asyncio.sleep(0.1)
        await here.write("game", 1, 1, seats=(0,))
        await here.store.hset(keys.command_results(partition, "game", 0), "mine", 1)
        reached = await asked
        assert reached.entry is not None
        assert (str(reached.level), reached.sequence, reached.entry.number) == ("decided", 1, 1)
        unknown = await door.execute(
            CommandEnvelope("other", "game", 0, StartGame()), door.parse_ack_request(None, 100)
        )
        assert unknown == CommandProgress(ACCEPTED)

    played(story, Silent)


@pytest.mark.usefixtures("often")
def test_P1_without_a_referee_house_commands_say_how_to_ask_again() -> None:
    async def story(here: Scene) -> None:
        door = GatewayService(here.ledger, here.hub, b"key", RateLimiter(1000, 1000, lambda: 0.0), 0.1)
        body = {"seats": [{"kind": "human"}, {"kind": "human"}]}
        with pytest.raises(HttpProblemError) as told:
            await door.create(body, "0123456789abcdef", "here", door.parse_ack_request(None, None))
        assert told.value.status == 503
        assert told.value.extensions["id"] == "0123456789abcdef"
        assert (told.value.extensions["verdict"], told.value.extensions["level"]) == ("unknown", "accepted")
        assert "retry_after" in told.value.extensions
        assert await here.store.xlen(keys.commands(keys.partition_of("game", PARTITIONS))) <= 1

    played(story, Silent)
