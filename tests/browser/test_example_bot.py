"""examples/bot.mjs in Chromium, whose WebSocket and fetch are Node's: it plays whole games by `?legal=true` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.gateway.clients import CreatedGame, entries

pytestmark = pytest.mark.long


EXAMPLE = Path(__file__).parents[2] / "examples" / "bot.mjs"
RUN = """async ([url, game, invitation]) => {
  const bot = await import("/examples/bot.mjs");
  const { seat, token } = await bot.join(url, game, invitation);
  window.playing = bot.play(url, game, token);
  return [seat, token];
}"""


def sit_down(page: Any, url: str, game: str, invitation: str) -> list[Any]:
    """Give the page the example, which takes a seat and begins to play it."""
    page.route(
        "**/examples/bot.mjs", lambda route: route.fulfill(path=EXAMPLE, content_type="text/javascript")
    )
    seat: list[Any] = page.evaluate(RUN, [url, game, invitation])
    return seat


@pytest.mark.parametrize("rules", ["marklin", "trains"])
def test_the_example_in_javascript_plays_a_whole_game_though_it_is_cut(
    rules: str, open_page: OpenPage, http: httpx.Client, url: str
) -> None:
    # given: its third connection is cut on the way
    options = {"cars": 12, "clock_ms": None}
    created = CreatedGame(http, "human", "greedy", ruleset=rules, options=options, by_invitation=True)
    page, opened = open_page("/"), list[str]()

    def through(socket: Any) -> None:
        server = socket.connect_to_server()
        opened.append(socket.url)

        def on_message(message: str) -> None:
            socket.send(message)
            if len(opened) < 3 and '"legal"' in message:
                socket.close(code=4000 + len(opened), reason="cut")

        server.on_message(on_message)

    page.route_web_socket("**/play*", through)
    # when
    seat, token = sit_down(page, url, created.game, created.reply["invitations"][0]["invitation"])
    created.start()
    scores = page.evaluate("() => window.playing")
    # then
    view = entries(http, created.game, token)
    [ended] = [event for event in view[-1]["events"] if event["type"] == "game_ended"]
    assert scores == ended["scores"]
    assert len(opened) == 3
    own = [entry for entry in view if entry["answers"] is not None]
    assert len({entry["answers"] for entry in own}) == len(own) > 4
    assert all(entry["events"][0]["type"] != "command_refused" for entry in own)
    assert seat == 0
