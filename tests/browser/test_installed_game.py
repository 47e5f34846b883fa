"""A game of another package, installed into a fresh environment, is played in the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import STEP_MS
from tests.games.added_package import BIDS
from tests.games.installed import Environment

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server in an environment with bids."""
    environment = Environment(tmp_path_factory.mktemp("environment"))
    environment.install(BIDS)
    with environment.serving(tmp_path_factory.mktemp("data")) as opened:
        yield opened


def test_a_whole_game_of_bids_is_played_by_clicking(open_page: OpenPage) -> None:
    # given
    page = open_page("/")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("radio", name="Bids").check()
    page.locator(".own > summary").click()
    page.locator(".seat-list select").nth(1).select_option("random")
    page.get_by_role("button", name="Make the table").click()
    page.get_by_role("button", name="Start the game").click()
    # when
    for left in range(13, 0, -1):
        page.wait_for_function(
            "left => document.querySelectorAll('.parts button:not([disabled])').length === left", arg=left
        )
        page.locator(".parts button:not([disabled])").first.click(timeout=STEP_MS)
    # then
    page.locator(".result").wait_for()
    totals = page.locator(".result tbody td:nth-child(2)").all_inner_texts()
    assert 0 < sum(map(int, totals)) <= sum(range(14))
