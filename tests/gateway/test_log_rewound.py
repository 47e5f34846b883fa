"""A fail-over may cost a log its last entries, and it may grow again: no viewer is shown two games in one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpx
import pytest

from schemas.codec import pack_public
from schemas.hash_chain import initial_head, next_head
from services.bootstrap.embedded import EmbeddedServer
from services.gateway import hub as hubs
from services.gateway.websocket_session import CLOSE_TRY_AGAIN_LATER, LOG_REWOUND_REASON
from services.ledger import RedisLedger, keys
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect_async
from services.ledger.view_merge import LogRewoundError
from services.ledger.view_queries import PAGE_SIZE, ViewPageOrError, ViewRequest
from tests.gateway.clients import Socket, closed_why, entries, in_turn
from tests.gateway.subscribed_hub import EMPTY, PARTITIONS, Scene, played, until

Fault = Callable[[Scene], Awaitable[None]]
PARTITION = keys.partition_of("game", PARTITIONS)


ALIKE = 2  # a branch whose fourth entry is another, and whose fifth has the same bytes


def public(number: int, branch: int = 0) -> bytes:
    """An entry; on another branch it has other bytes, from the fourth on."""
    parted = number == 4 if branch == ALIKE else number > 3
    return pack_public(number + 1000 * branch * parted, EMPTY)


def head(number: int, branch: int = 0) -> bytes:
    """The head after an entry of a branch."""
    found = initial_head("game")
    for earlier in range(1, number + 1):
        found = next_head(found, earlier, public(earlier, branch))
    return found


async def grow(here: Scene, first: int, last: int, branch: int = 0) -> None:
    for number in range(first, last + 1):
        told = {"e": public(number, branch), "h": head(number, branch)}
        await here.store.xadd(keys.public_view(PARTITION, "game"), told, f"{number}-0")


async def ring(here: Scene, number: int, branch: int) -> None:
    """The bell of an entry, which brings the heads before and after it, as append_entry.lua strikes it."""
    told = head(number - 1, branch), head(number, branch), public(number, branch)
    line = f"game {number} {len(told[0])} {len(told[1])} {len(told[2])}\n".encode()
    await here.store.publish(keys.notification_channel(PARTITION), line + b"".join(told))


async def shorter(here: Scene) -> None:
    await here.store.delete(keys.public_view(PARTITION, "game"))
    await grow(here, 1, 3)


async def grown_beyond_in_silence(here: Scene) -> None:
    await shorter(here)
    await grow(here, 4, 7, branch=1)


async def grown_by_an_entry_that_rings(here: Scene) -> None:
    await shorter(here)
    await grow(here, 4, 6, branch=1)
    await ring(here, 6, branch=1)


async def grown_to_where_it_was(here: Scene) -> None:
    await shorter(here)
    await grow(here, 4, 5, branch=1)
    await ring(here, 5, branch=1)


async def grown_alike_in_silence(here: Scene) -> None:
    """As long as it was, and its last entry has the same bytes; then it grows on."""
    await shorter(here)
    await grow(here, 4, 6, branch=ALIKE)
    assert public(5, ALIKE) == public(5)


async def grown_alike_with_a_bell(here: Scene) -> None:
    await grown_alike_in_silence(here)
    await ring(here, 6, branch=ALIKE)


async def grown_to_where_it_was_in_silence(here: Scene) -> None:
    await shorter(here)
    await grow(here, 4, 5, branch=1)


async def shorter_with_a_bell(here: Scene) -> None:
    await shorter(here)
    await grow(here, 4, 4, branch=1)
    await ring(here, 4, branch=1)


@pytest.mark.parametrize(
    ("fault", "look_s"),
    [
        (shorter, 0.05),
        (grown_beyond_in_silence, 0.05),
        (grown_by_an_entry_that_rings, 60),
        (grown_to_where_it_was, 60),
        (shorter_with_a_bell, 60),
        (grown_to_where_it_was_in_silence, 0.05),
        (grown_alike_in_silence, 0.05),
        (grown_alike_with_a_bell, 60),
    ],
)
def test_P3_a_log_that_was_taken_back_ends_its_sessions(
    monkeypatch: pytest.MonkeyPatch, fault: Fault, look_s: float
) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", look_s)

    async def story(here: Scene) -> None:
        await grow(here, 1, 5)
        read, came = here.hub.subscribe("game", None, 0), here.hub.subscribe("game", None, 0)
        assert await here.numbers("game", read, 0, 5) == [1, 2, 3, 4, 5]
        assert await here.numbers("game", came, 0, 5) == [1, 2, 3, 4, 5]
        await fault(here)
        for session in (read, came):
            with pytest.raises(LogRewoundError):
                await here.numbers("game", session, 5, 9)
            here.hub.unsubscribe("game", session)
        again = here.hub.subscribe("game", None, 0)
        length = await here.ledger.read_length("game")
        assert await here.numbers("game", again, 0, length) == list(range(1, length + 1))

    played(story)


def test_P3_a_viewer_that_comes_with_a_number_is_held_to_the_entry_of_that_number() -> None:
    async def story(here: Scene) -> None:
        await grow(here, 1, 5)
        session = here.hub.subscribe("game", None, 5)
        await until(lambda: bool(here.hub.followed_games["game"].head))
        await grown_by_an_entry_that_rings(here)
        with pytest.raises(LogRewoundError):
            await here.numbers("game", session, 5, 1)

    played(story)


class Slow(AsyncLedger):
    """A ledger that keeps the hub waiting for what follows the entry with a certain head."""

    head: bytes | None = None
    held: asyncio.Event

    async def read_views(self, wanted: Sequence[ViewRequest], most: int = PAGE_SIZE) -> list[ViewPageOrError]:
        if any(one.head == self.head for one in wanted if one.head is not None):
            await self.held.wait()
        return await super().read_views(wanted, most)


def slow(here: Scene, held: bytes) -> Slow:
    assert isinstance(here.ledger, Slow)
    here.ledger.head, here.ledger.held = held, asyncio.Event()
    return here.ledger


def test_P3_who_comes_is_handed_nothing_that_the_others_have_yet_to_be_handed() -> None:
    """Else an entry that the log loses then is its own, and what follows is from another branch."""

    async def story(here: Scene) -> None:
        await grow(here, 1, 3)
        early = here.hub.subscribe("game", None, 0)
        assert await here.numbers("game", early, 0, 3) == [1, 2, 3]
        ledger = slow(here, head(3))
        await grow(here, 4, 4)
        late = here.hub.follow("game", here.hub.subscribe("game", None, 0), 0)
        shown = [await anext(late) for _ in range(3)]
        fourth = asyncio.ensure_future(anext(late))
        await asyncio.sleep(0.05)
        await shorter(here)
        await grow(here, 4, 5, branch=1)
        ledger.held.set()
        shown += [await fourth, await anext(late)]
        assert [head(number, branch=1).hex() in text for number, _, text in shown] == [True] * 5

    played(story, Slow)


def test_P3_who_read_another_branch_than_the_others_are_handed_begins_anew() -> None:
    async def story(here: Scene) -> None:
        ledger = slow(here, b"")  # whoever comes with a number has no head yet
        await grow(here, 1, 5)
        here.hub.subscribe("game", None, 5)
        late = here.hub.follow("game", here.hub.subscribe("game", None, 0), 0)
        assert [(await anext(late))[0] for _ in range(5)] == [1, 2, 3, 4, 5]
        await shorter(here)
        await grow(here, 4, 6, branch=1)
        ledger.held.set()
        with pytest.raises(LogRewoundError):
            await anext(late)

    played(story, Slow)


def test_P3_who_reads_page_by_page_reads_one_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "PAGE_SIZE", 2)

    async def story(here: Scene) -> None:
        await grow(here, 1, 6)
        early = here.hub.subscribe("game", None, 0)
        assert await here.numbers("game", early, 0, 6) == [1, 2, 3, 4, 5, 6]
        late = here.hub.follow("game", here.hub.subscribe("game", None, 0), 0)
        assert [(await anext(late))[0] for _ in range(4)] == [1, 2, 3, 4]
        await shorter(here)
        await grow(here, 4, 6, branch=1)
        with pytest.raises(LogRewoundError):
            await anext(late)

    played(story)


def test_P3_an_entry_that_follows_what_was_handed_out_goes_on() -> None:
    async def story(here: Scene) -> None:
        await grow(here, 1, 5)
        session = here.hub.subscribe("game", None, 0)
        assert await here.numbers("game", session, 0, 5) == [1, 2, 3, 4, 5]
        await grow(here, 6, 6)
        await ring(here, 6, branch=0)
        assert await here.numbers("game", session, 5, 1) == [6]

    played(story)


async def cut(home: EmbeddedServer, name: str, instead: dict[str, bytes] | None = None) -> None:
    """A public view loses its last two entries, as in a fail-over, and may get another in the first's place."""
    client: Any = connect_async(home.settings.redis_url)
    entries = await client.xrange(name)
    await client.delete(name)
    for id_, fields in entries[:-2]:
        await client.xadd(name, fields, id_)
    if instead:
        await client.xadd(name, instead, entries[-2][0])
    await client.aclose()


def test_P3_clients_are_told_to_come_back_from_the_beginning(
    http: httpx.Client, home: EmbeddedServer, ledger: RedisLedger
) -> None:
    ada = in_turn(http)[0]
    name = keys.public_view(keys.partition_of(ada.game, ledger.partitions), ada.game)
    with Socket(http, ada.game, ada.token, 6) as socket:
        asyncio.run(cut(home, name))
        assert closed_why(socket) == (CLOSE_TRY_AGAIN_LATER, LOG_REWOUND_REASON)
    with Socket(http, ada.game, ada.token, 0) as socket:
        assert [entry["number"] for entry in socket.read(4)] == [1, 2, 3, 4]


def test_P3_who_asks_from_the_entry_before_its_last_sees_whether_that_is_another(
    http: httpx.Client, home: EmbeddedServer, ledger: RedisLedger
) -> None:
    """What a client that was away does, as docs/acknowledgements.md tells it."""
    ada = in_turn(http)[0]
    name = keys.public_view(keys.partition_of(ada.game, ledger.partitions), ada.game)
    view = f"/games/{ada.game}/view"
    known = entries(http, ada.game, None)
    assert entries(http, ada.game, None, 4)[0] == known[4], "as long as nothing was lost"
    asyncio.run(cut(home, name, {"e": public(5, branch=1)}))
    (another,) = entries(http, ada.game, None, 4)
    assert another["number"] == known[4]["number"] == 5
    assert another != known[4]
    with Socket(http, ada.game, None, 4) as socket:
        assert socket.read(1)[0] == another
        told = http.get(view, params={"after": 5}).json()
    assert (told["entries"], told["next"]) == ([], 5), "six was known"
    with Socket(http, ada.game, None, 6) as socket:
        socket.problem(None, 422, "SHAPE-1")
