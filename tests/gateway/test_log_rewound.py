"""A fail-over may lose a log's last entries, and the log may grow again: no viewer is shown a mix of both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from schemas.stored.codec import Proofs, pack_public
from schemas.stored.hash_chain import initial_head, next_head
from services.gateway.following import hub as hubs
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.log.views import PAGE_SIZE, ViewPageOrError, ViewRequest
from services.ledger.ports import LogRewoundError
from services.ledger.scripts.stored_entries import require_same_head
from tests.gateway.subscribed_hub import EMPTY, PARTITIONS, HubHarness, run_with_hub, until
from tests.gateway.test_hub import Silent

Fault = Callable[[HubHarness], Awaitable[None]]
PARTITION = keys.partition_of("game", PARTITIONS)


LONG_S = 5  # between polls that aren't to be the ones who notice; a server of other tests may run beside
ALIKE = 2  # a branch whose fourth entry differs, and whose fifth has the same bytes


def public(number: int, branch: int = 0) -> bytes:
    """The public bytes of an entry; on another branch they differ from the fourth entry on."""
    differs = number == 4 if branch == ALIKE else number > 3
    return pack_public(number + 1000 * branch * differs, EMPTY, Proofs(b""))


def head(number: int, branch: int = 0) -> bytes:
    """The head after an entry of a branch."""
    found = initial_head("game")
    for earlier in range(1, number + 1):
        found = next_head(found, earlier, public(earlier, branch))
    return found


async def grow(harness: HubHarness, first: int, last: int, branch: int = 0) -> None:
    for number in range(first, last + 1):
        fields = {"p": public(number, branch)}
        await harness.store.xadd(keys.public_view(PARTITION, "game"), fields, f"{number}-0")
        await harness.store.set(keys.chain_head(PARTITION, "game"), b"%d " % number + head(number, branch))


async def notify(harness: HubHarness, number: int, branch: int) -> None:
    """Publish the notification of an entry, with the heads before and after it, as append_entry.lua does."""
    parts = head(number - 1, branch), head(number, branch), public(number, branch)
    line = f"game {number} {len(parts[0])} {len(parts[1])} {len(parts[2])}\n".encode()
    await harness.store.publish(keys.notification_channel(PARTITION, "game"), line + b"".join(parts))


async def shorter(harness: HubHarness) -> None:
    await harness.store.delete(keys.public_view(PARTITION, "game"))
    await grow(harness, 1, 3)


async def grown_beyond_in_silence(harness: HubHarness) -> None:
    await shorter(harness)
    await grow(harness, 4, 7, branch=1)


async def grown_by_an_entry_with_a_notification(harness: HubHarness) -> None:
    await shorter(harness)
    await grow(harness, 4, 6, branch=1)
    await notify(harness, 6, branch=1)


async def grown_to_where_it_was(harness: HubHarness) -> None:
    await shorter(harness)
    await grow(harness, 4, 5, branch=1)
    await notify(harness, 5, branch=1)


async def grown_alike_in_silence(harness: HubHarness) -> None:
    """As long as it was, and its last entry has the same bytes; then it grows on."""
    await shorter(harness)
    await grow(harness, 4, 6, branch=ALIKE)
    assert public(5, ALIKE) == public(5)


async def grown_alike_with_a_notification(harness: HubHarness) -> None:
    await grown_alike_in_silence(harness)
    await notify(harness, 6, branch=ALIKE)


async def grown_to_where_it_was_in_silence(harness: HubHarness) -> None:
    await shorter(harness)
    await grow(harness, 4, 5, branch=1)


async def shorter_with_a_notification(harness: HubHarness) -> None:
    await shorter(harness)
    await grow(harness, 4, 4, branch=1)
    await notify(harness, 4, branch=1)


@pytest.mark.parametrize(
    ("fault", "poll_interval_s"),
    [
        (shorter, 0.05),
        (grown_beyond_in_silence, 0.05),
        (grown_by_an_entry_with_a_notification, LONG_S),
        (grown_to_where_it_was, LONG_S),
        (shorter_with_a_notification, LONG_S),
        (grown_to_where_it_was_in_silence, 0.05),
        (grown_alike_in_silence, 0.05),
        (grown_alike_with_a_notification, LONG_S),
    ],
)
def test_P3_a_rewound_log_ends_its_subscriptions(
    monkeypatch: pytest.MonkeyPatch, fault: Fault, poll_interval_s: float
) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", poll_interval_s)

    async def scenario(harness: HubHarness) -> None:
        await grow(harness, 1, 5)
        first, second = harness.hub.subscribe("game", None, 0), harness.hub.subscribe("game", None, 0)
        assert await harness.numbers("game", first, 0, 5) == [1, 2, 3, 4, 5]
        assert await harness.numbers("game", second, 0, 5) == [1, 2, 3, 4, 5]
        await fault(harness)
        for subscription in (first, second):
            with pytest.raises(LogRewoundError):
                await harness.numbers("game", subscription, 5, 9)
            harness.hub.unsubscribe("game", subscription)
        again = harness.hub.subscribe("game", None, 0)
        length = await harness.ledger.read_length("game")
        assert await harness.numbers("game", again, 0, length) == list(range(1, length + 1))

    run_with_hub(scenario)


def test_P3_a_page_follows_only_the_entry_whose_head_is_known() -> None:
    """Every 16th entry has its head stored, so the page itself shows another branch, though the chain head be lost."""
    following = (17, public(17), head(17))
    assert require_same_head(16, head(16), [(16, public(16), head(16)), following]) == [following]
    with pytest.raises(LogRewoundError, match="isn't the one that was read"):
        require_same_head(16, head(16), [(16, public(16, 1), head(16, 1)), following])
    with pytest.raises(LogRewoundError, match="isn't there any more"):
        require_same_head(16, head(16), [following])


def test_P3_a_viewer_that_subscribes_after_a_number_must_have_that_very_entry() -> None:
    async def scenario(harness: HubHarness) -> None:
        await grow(harness, 1, 5)
        subscription = harness.hub.subscribe("game", None, 5)
        await until(lambda: bool(harness.hub.followed_games["game"].head))
        await grown_by_an_entry_with_a_notification(harness)
        with pytest.raises(LogRewoundError):
            await harness.numbers("game", subscription, 5, 1)

    run_with_hub(scenario)


class Slow(AsyncLedger):
    """A ledger that delays the hub's read of what follows the entry with a certain head."""

    head: bytes | None = None
    released: asyncio.Event

    async def read_views(self, wanted: Sequence[ViewRequest], most: int = PAGE_SIZE) -> list[ViewPageOrError]:
        if any(request.head == self.head for request in wanted if request.head is not None):
            await self.released.wait()
        return await super().read_views(wanted, most)


def slow(harness: HubHarness, head: bytes) -> Slow:
    assert isinstance(harness.ledger, Slow)
    harness.ledger.head, harness.ledger.released = head, asyncio.Event()
    return harness.ledger


def test_P3_a_new_subscriber_reads_nothing_that_the_hub_has_yet_to_deliver() -> None:
    """Otherwise it alone has an entry that the log loses then, and what follows is from another branch."""

    async def scenario(harness: HubHarness) -> None:
        await grow(harness, 1, 3)
        early = harness.hub.subscribe("game", None, 0)
        assert await harness.numbers("game", early, 0, 3) == [1, 2, 3]
        ledger = slow(harness, head(3))
        await grow(harness, 4, 4)
        late = harness.hub.follow("game", harness.hub.subscribe("game", None, 0), 0)
        shown = [await anext(late) for _ in range(3)]
        fourth = asyncio.ensure_future(anext(late))
        await asyncio.sleep(0.05)
        await shorter(harness)
        await grow(harness, 4, 5, branch=1)
        ledger.released.set()
        shown += [await fourth, await anext(late)]
        assert [head(entry.number, branch=1).hex() in entry.text for entry in shown] == [True] * 5

    run_with_hub(scenario, Slow)


def test_P3_a_subscriber_who_read_another_branch_than_the_hub_delivers_is_ended() -> None:
    async def scenario(harness: HubHarness) -> None:
        ledger = slow(harness, b"")  # who subscribes after a number has no head yet
        await grow(harness, 1, 5)
        harness.hub.subscribe("game", None, 5)
        late = harness.hub.follow("game", harness.hub.subscribe("game", None, 0), 0)
        assert [(await anext(late))[0] for _ in range(5)] == [1, 2, 3, 4, 5]
        await shorter(harness)
        await grow(harness, 4, 6, branch=1)
        ledger.released.set()
        with pytest.raises(LogRewoundError):
            await anext(late)

    run_with_hub(scenario, Slow)


def test_P3_a_subscriber_who_reads_page_by_page_reads_one_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "PAGE_SIZE", 2)

    async def scenario(harness: HubHarness) -> None:
        await grow(harness, 1, 6)
        early = harness.hub.subscribe("game", None, 0)
        assert await harness.numbers("game", early, 0, 6) == [1, 2, 3, 4, 5, 6]
        late = harness.hub.follow("game", harness.hub.subscribe("game", None, 0), 0)
        assert [(await anext(late))[0] for _ in range(4)] == [1, 2, 3, 4]
        await shorter(harness)
        await grow(harness, 4, 6, branch=1)
        with pytest.raises(LogRewoundError):
            await anext(late)

    run_with_hub(scenario)


def test_P3_an_entry_that_follows_what_was_delivered_is_delivered() -> None:
    async def scenario(harness: HubHarness) -> None:
        await grow(harness, 1, 5)
        subscription = harness.hub.subscribe("game", None, 0)
        assert await harness.numbers("game", subscription, 0, 5) == [1, 2, 3, 4, 5]
        await grow(harness, 6, 6)
        await notify(harness, 6, branch=0)
        assert await harness.numbers("game", subscription, 5, 1) == [6]

    run_with_hub(scenario)


@pytest.mark.parametrize("hub_is_at", [3, 5])
def test_P3_a_subscriber_who_names_the_head_of_another_branch_is_ended(hub_is_at: int) -> None:
    """The log was lost and grew again between the check of what the client has, and its subscription."""

    async def scenario(harness: HubHarness) -> None:
        await grow(harness, 1, 3)
        early = harness.hub.subscribe("game", None, 0)
        assert await harness.numbers("game", early, 0, 3) == [1, 2, 3]
        await grow(harness, 4, hub_is_at, branch=1)
        await harness.numbers("game", early, 3, hub_is_at - 3)
        await grow(harness, hub_is_at + 1, 6, branch=1)
        late = harness.hub.subscribe("game", None, 5)
        assert late.start == hub_is_at
        with pytest.raises(LogRewoundError):
            await anext(harness.hub.follow("game", late, 5, None, head(5)))

    run_with_hub(scenario, Silent)


@pytest.mark.parametrize("hub_is_at", [3, 5])
def test_P3_a_subscriber_who_names_the_head_of_the_log_gets_what_follows(hub_is_at: int) -> None:
    async def scenario(harness: HubHarness) -> None:
        await grow(harness, 1, hub_is_at)
        early = harness.hub.subscribe("game", None, 0)
        await harness.numbers("game", early, 0, hub_is_at)
        await grow(harness, hub_is_at + 1, 6)
        late = harness.hub.subscribe("game", None, 5)
        assert late.start == hub_is_at
        entry = await anext(harness.hub.follow("game", late, 5, None, head(5)))
        assert (entry.number, entry.head) == (6, head(6))

    run_with_hub(scenario, Silent)
