"""P3: who follows a game whose streams go gets its last entries from its file, each once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.stored.entries import ViewEntry
from services.gateway.errors import NotYetError
from services.gateway.following import hub as hubs
from services.gateway.following.hub import FinishedPages
from services.ledger.engine import keys
from services.ledger.log.views import LogHead, ViewRequest
from services.ledger.ports import LogRewoundError
from tests.gateway.subscribed_hub import HubHarness, run_with_hub, until
from tests.gateway.test_hub import Silent
from tests.gateway.test_log_rewound import PARTITION, grow, head, public

LENGTH = 7


class GameFile:
    """The views of the game, as they follow from its file. It is away the first time, and counts who asks."""

    def __init__(self, branch: int = 0) -> None:
        self.branch, self.asked = branch, 0

    async def read(self, game: str, viewer: Seat | None) -> Sequence[ViewEntry] | None:
        self.asked += 1
        if self.asked == 1:
            raise NotYetError("the archive doesn't answer", 5)
        return [
            build_view_entry(number, public(number, self.branch), None, head(number, self.branch))
            for number in range(1, LENGTH + 1)
        ]


class Polled(Silent):
    """A ledger without notifications that counts how often heads were read."""

    polls = 0

    async def read_heads(self, games: Sequence[str]) -> list[LogHead | CorruptDataError | RedisError]:
        Polled.polls += 1
        return await super().read_heads(games)


@pytest.fixture(autouse=True)
def fast_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)


async def followed_to_4(harness: HubHarness) -> list[int]:
    """Two followers of the game have four entries when its streams go. Returns what the first gets then."""
    await grow(harness, 1, 4)
    subscription = harness.hub.subscribe("game", None, 0)
    assert await harness.numbers("game", subscription, 0, 4) == [1, 2, 3, 4]
    await harness.store.delete(keys.public_view(PARTITION, "game"), keys.chain_head(PARTITION, "game"))
    return await harness.numbers("game", subscription, 4, LENGTH - 4)


def test_P3_a_follower_gets_what_it_lacks_and_no_more_and_the_file_is_read_once() -> None:
    file = GameFile()

    async def scenario(harness: HubHarness) -> None:
        assert await followed_to_4(harness) == [5, 6, 7]
        asked = file.asked
        late = harness.hub.subscribe("game", None, 2)  # it attached before the streams went
        assert late.start == LENGTH
        assert await harness.numbers("game", late, 2, LENGTH - 2) == [3, 4, 5, 6, 7]
        seen = Polled.polls
        await until(lambda: Polled.polls > seen + 5)
        assert "game" in harness.hub.followed_games
        assert file.asked <= asked + 2  # for who came late

    run_with_hub(scenario, Polled, file.read)


def test_P3_a_file_with_another_entry_than_was_delivered_continues_nothing() -> None:
    async def scenario(harness: HubHarness) -> None:
        with pytest.raises(LogRewoundError, match="entry 4 isn't the one"):
            await followed_to_4(harness)

    run_with_hub(scenario, Silent, GameFile(branch=1).read)


def test_P3_a_file_with_another_entry_than_a_reader_names_gives_it_no_page() -> None:
    """Not every reader has a hub that compares heads, too."""

    async def scenario(harness: HubHarness) -> None:
        file = GameFile(branch=1)
        file.asked = 1  # it answers at once
        pages = FinishedPages(harness.ledger, file.read)
        with pytest.raises(LogRewoundError, match="entry 4 isn't the one"):
            await pages.read(ViewRequest("game", 4, (None,), head(4)))
        page = await pages.read(ViewRequest("game", 4, (None,), head(4, branch=1)))
        assert [entry.number for entry in page.views[None]] == [5, 6, 7]

    run_with_hub(scenario, Silent)


def test_P3_a_game_that_left_without_a_file_ends_its_followers() -> None:
    async def scenario(harness: HubHarness) -> None:
        with pytest.raises(LogRewoundError):
            await followed_to_4(harness)

    run_with_hub(scenario, Silent)
